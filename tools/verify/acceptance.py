"""What an acceptance figure is, and the page of all figures."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "compare"))

from pages import machine

PAGE = Path(__file__).parents[2] / "docs" / "acceptance.md"
INTRODUCTION = """\
# Acceptance values

`make verify` runs the slow tests, then computes the {count} acceptance values on this page and compares each with its limit. {summary} Unless
its name says otherwise, each value is the error of a result relative to an independent reference: a closed-form solution, another program, other
coordinates or finite differences. Times depend on the machine.

{machine}Measured on {date}.
"""


@dataclass(frozen=True)
class Figure:
    """A measured number and the bound it must keep."""

    what: str
    value: float
    bound: float
    at_least: bool = False
    shown: str = "{:.2e}"

    @property
    def holds(self) -> bool:
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    @property
    def measured(self) -> str:
        """The value as text."""
        return self.shown.format(self.value)

    @property
    def limit(self) -> str:
        """The bound as text."""
        return ("≥ " if self.at_least else "≤ ") + self.shown.format(self.bound)


def write_page(found: Mapping[str, Sequence[Figure]]) -> None:
    """Write docs/acceptance.md: a table for each capability, by its title."""
    figures = [figure for each in found.values() for figure in each]
    missed = sum(not figure.holds for figure in figures)
    parts = [
        INTRODUCTION.format(
            count=len(figures),
            summary="All limits are met." if not missed else f"Limits missed: {missed}.",
            machine=machine({"varimech": version("varimech")}),
            date=date.today().isoformat(),
        )
    ]
    for title, each in found.items():
        rows = [
            f"| {_cell(f.what)} | {f.measured} | {f.limit} | {'yes' if f.holds else '**no**'} |\n"
            for f in each
        ]
        heading = title.rstrip(".")
        parts.append(f"## {heading}\n\n| figure | measured | limit | met |\n|---|--:|--:|:-:|\n")
        parts[-1] += "".join(rows)
    PAGE.write_text("\n".join(parts), encoding="utf-8")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
