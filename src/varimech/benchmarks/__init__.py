"""Published problems with their reference values, solved through the public interface only.

Each benchmark is one file with a function `run(step) → Outcome`; its name and title stand here, so that listing them loads nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from ..errors import unknown_name


class Outcome(Protocol):
    """What every benchmark yields."""

    @property
    def passed(self) -> bool:
        """Whether all its tolerances are met."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Its figures as plain data."""
        ...

    def tables(self) -> list[Any]:
        """Its figures as rich tables."""
        ...

    def write(self, folder: Path) -> list[Path]:
        """Write its result files and pictures; returns what was written."""
        ...


@dataclass(frozen=True)
class Entry:
    """A benchmark that can be run by name."""

    title: str
    module: str
    default_step: float

    @property
    def run(self) -> Callable[[float], Outcome]:
        """Loads the benchmark."""
        function: Callable[[float], Outcome] = import_module(f".{self.module}", __package__).run
        return function


BENCHMARKS: dict[str, Entry] = {
    "five-bar": Entry("Sensitivity analysis of a five-bar mechanism (Dopico 2023)", "five_bar", 1e-3),
}


def find_benchmark(name: str) -> Entry:
    """A benchmark by name."""
    if name not in BENCHMARKS:
        raise unknown_name("benchmark", name, BENCHMARKS)
    return BENCHMARKS[name]
