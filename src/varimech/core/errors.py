"""The ways in which Varimech says no."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from numbers import Integral, Real
from pathlib import Path
from typing import Any


class VarimechError(Exception):
    """Root of all errors raised on purpose by Varimech."""


class ModelError(VarimechError, ValueError):
    """Bad input: the message names the thing, the value and the remedy. Raised at the call, which
    changes nothing.
    """


class FileError(ModelError):
    """A file that cannot be read, or something in it that makes no sense.

    Attributes:
        path: of the file.
        line: counted from 1; None where the file as a whole is meant.
        field: keys on the way to it, joined by dots.
        reason: what is wrong, and the remedy.
    """

    def __init__(self, message: str, path: Path, line: int | None = None, field: str = ""):
        place = f"{path}:{line}" if line is not None else f"{path}"
        super().__init__(f"{place}: {field}: {message}" if field else f"{place}: {message}")
        self.path = path
        self.line = line
        self.field = field
        self.reason = message


class InfeasibleError(ModelError):
    """No design was found that meets all constraints.

    Attributes:
        violations: constraint → by how much it is missed by the design that comes nearest.
        nearest: that design, parameter → value.
    """

    def __init__(self, message: str, violations: dict[str, float], nearest: dict[str, float]):
        super().__init__(message)
        self.violations = violations
        self.nearest = nearest


class AssemblyError(VarimechError):
    """The mechanism cannot be put together at its start.

    Attributes:
        gaps: joint (or driver, or start value) → how far it stays open, in metres or radians.
    """

    def __init__(self, message: str, gaps: dict[str, float] | None = None):
        super().__init__(message)
        self.gaps = gaps or {}


class SimulationError(VarimechError):
    """The run broke off.

    Attributes:
        time: simulated time of the failed step, in seconds.
        step: its number, counted from 1.
        residual: the largest constraint residual when it was given up.
        worst: name of the constraint or force to look at.
    """

    def __init__(self, message: str, *, time: float, step: int, residual: float, worst: str):
        super().__init__(message)
        self.time = time
        self.step = step
        self.residual = residual
        self.worst = worst


class StudyError(VarimechError):
    """Too many samples of a study failed, or the cluster that ran them was lost.

    Attributes:
        study: what is known from the samples up to then, `study.failures` among it.
    """

    def __init__(self, message: str, study: Any):
        super().__init__(message)
        self.study = study


class Interrupted(KeyboardInterrupt):
    """Ctrl-C came, and something was computed before: the message says how far it is.

    Who does not ask for it stops as by any KeyboardInterrupt.

    Attributes:
        result: what the verb would have given, as far as it came: `Run`, `Gradient`, `Study` or
            `Optimum`.
    """

    def __init__(self, message: str, result: Any):
        super().__init__(message)
        self.result = result


@contextmanager
def all_or_nothing() -> Iterator[None]:
    """Where a part of a larger work is broken off, what came of the part is not what was asked for:
    a plain KeyboardInterrupt is left.
    """
    try:
        yield
    except Interrupted:
        raise KeyboardInterrupt from None


def check_numbers(owner: str, **values: object) -> None:
    """Constants have to be finite numbers; NaN is left to the checks of their ranges."""
    for label, value in values.items():
        if not isinstance(value, Real) or isinstance(value, bool) or math.isinf(value):
            raise ModelError(f"{owner}: {label} = {value!r} is not a finite number")


def check_named(label: str, values: object, example: str) -> None:
    """What is given by name has to be so."""
    if values is not None and not isinstance(values, Mapping):
        raise ModelError(f"{label} = {values!r} must be a dictionary, such as {example}")


MOST = {
    "samples": 10**12,
    "chunk": 10**8,
    "starts": 10**5,
    "runs": 10**7,
    "checks": 10**7,
    "degree": 100,
    "max_iterations": 10**6,
    "threads": 4096,
    "executor": 4096,
    "segments": 20_000,
    "every": 10**12,
    "seed": 2**63 - 1,
}
"""Largest counts that are taken, in Python and in files: far beyond what a machine does in a year,
or what other programs can count.
"""


def check_whole(owner: str, least: int, **values: object) -> None:
    """Counts have to be whole numbers, from the least one on, and no more than there may be of
    them.
    """
    for label, value in values.items():
        if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < least:
            raise ModelError(
                f"{owner}: {label} = {value!r:.60} must be a whole number, {least} or more"
            )
        if int(value) > MOST[label]:
            raise ModelError(
                f"{owner}: {label} = {value!r:.60} is too large; use {MOST[label]} at most"
            )


def check_level(owner: str, level: object) -> None:
    """Levels of confidence have to be probabilities."""
    if not isinstance(level, Real) or not 0 < float(level) < 1:
        raise ModelError(
            f"{owner}: level = {level!r} must be a probability between 0 and 1, such as 0.95"
        )


MOST_COMPARED, LONGEST_COMPARED = 1000, 200
"""Names that one is compared with for a suggestion, and characters that it may have: together some
0.1 s.
"""


def near_names(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """Known names that are spelt much alike, the nearest first; of very many, and for a very long
    one, none are looked for.
    """
    if len(name) > LONGEST_COMPARED:
        return []
    of_like_length = (
        each for each in known if len(name) <= 2 * len(each) + 1 and len(each) <= 2 * len(name) + 1
    )
    return difflib.get_close_matches(name, islice(of_like_length, MOST_COMPARED), n=most)


def unknown_name(kind: str, name: object, known: Iterable[str]) -> ModelError:
    """An error for a name that does not exist, with the nearest ones that do."""
    names = sorted(known)
    near = near_names(str(name), names, 3)
    if near:
        hint = "did you mean " + " or ".join(repr(n) for n in near) + "?"
    elif names:
        hint = (
            "known: " + ", ".join(repr(n) for n in names[:12]) + (", …" if len(names) > 12 else "")
        )
    else:
        hint = "there is none yet"
    return ModelError(f"no {kind} is called {name!r}; {hint}")
