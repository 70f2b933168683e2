"""Errors and warnings: what is wrong, with what, and what to do, as fields that interfaces render.

    raise ModelError("must be positive", element="bar 'rod'", field="mass", value=-1.0)
    raise ModelError("the motion is stiff", remedy=Message("use {integrator}", integrator="cvodes"))

Their text is composed when it is read:  element: field = value problem; remedy.  Nothing reads the
text: a file finds the line by `field` and `value`, a command writes remedies as options (`syntax`).
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from .messages import PYTHON, PythonSyntax, Text, rendered


class Label(str):
    """Name of an element's field in messages: `Label("bar 'rod'", "mass")` is "bar 'rod': mass".

    `shown` is the name of the field in messages if it differs from `field`: "point 'A'" of
    `points`.
    """

    element: str
    field: str
    shown: str

    def __new__(cls, element: str, field: str, shown: str = "") -> Label:
        """Create the text and keep its parts."""
        label = super().__new__(cls, f"{element}: {shown or field}")
        label.element, label.field, label.shown = element, field, shown or field
        return label

    def component(self, k: int) -> Label:
        """Return the label of a component of the field, counted from 0."""
        return Label(self.element, self.field, f"{self.shown}[{k}]")


UNKNOWN = object()
"""Value of an error that concerns no value."""


class VarimechError(Exception):
    """Base class of all errors that Varimech raises on purpose.

    Attributes:
        problem: what is wrong.
        element: name of the faulty element or analysis in messages: "bar 'rod'", "monte_carlo".
        field: the faulty argument, or key of a file; empty if there is none.
        value: value that the user gave for the field.
        remedy: what to do.
        shown: name of the field in the text if it differs from `field`.
        syntax: syntax in which the text writes arguments: Python, unless an interface sets its own.
        result: a result that was complete before the error, such as the fit of a failed posterior.
    """

    syntax: PythonSyntax = PYTHON
    result: Any = None

    def __init__(
        self,
        problem: Text,
        *,
        element: str = "",
        field: str = "",
        value: object = UNKNOWN,
        remedy: Text = "",
        label: str = "",
    ):
        super().__init__(problem)
        if isinstance(label, Label):
            element, field = label.element, label.field
        self.problem = problem
        self.element = element
        self.field = field or label
        self.shown = label.shown if isinstance(label, Label) else self.field
        self.value = value
        self.remedy = remedy

    def without_remedy(self) -> str:
        """Compose the message without its remedy, in the syntax of the interface.

        Returns:
            The message without its remedy.
        """
        problem = rendered(self.problem, self.syntax)
        if self.shown:
            known = self.value is not UNKNOWN
            subject = self.syntax.given(self.shown, self.value) if known else self.shown
            problem = f"{subject}{problem if problem[:1] in ':,' else f' {problem}'}"
        return f"{self.element}: {problem}" if self.element else str(problem)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __str__(self) -> str:
        remedy = rendered(self.remedy, self.syntax)
        return f"{self.without_remedy()}; {remedy}" if remedy else self.without_remedy()


class ModelError(VarimechError, ValueError):
    """Bad input. The message names the faulty element or argument, its value and the remedy; the
    call that raises it changes nothing.
    """


class FileError(ModelError):
    """A file that cannot be read, or invalid content in it.

    Attributes:
        path: path of the file.
        line: line number, counted from 1; None if the error concerns the file as a whole.
        field: keys that lead to the faulty value, joined by dots.
        reason: what is wrong, and the remedy.
    """

    def __init__(self, reason: str, path: Path, line: int | None = None, field: str = ""):
        super().__init__(reason, field=field)
        self.path = path
        self.line = line
        self.reason = reason

    def __str__(self) -> str:
        place = f"{self.path}" if self.line is None else f"{self.path}:{self.line}"
        return ": ".join(filter(None, (place, self.field, self.reason)))


class InfeasibleError(ModelError):
    """No design was found that meets all constraints.

    Attributes:
        violations: constraint → its violation at the nearest design.
        nearest: the design with the smallest violation, parameter → value.
    """

    def __init__(
        self,
        problem: Text,
        violations: dict[str, float],
        nearest: dict[str, float],
        *,
        remedy: Text = "",
    ):
        super().__init__(problem, remedy=remedy)
        self.violations = violations
        self.nearest = nearest


class AssemblyError(VarimechError):
    """The mechanism cannot be assembled at its initial position.

    Attributes:
        gaps: joint (or driver, or initial value) → remaining gap, in metres or radians.
    """

    def __init__(
        self,
        problem: Text,
        gaps: dict[str, float] | None = None,
        *,
        element: str = "",
        remedy: Text = "",
    ):
        super().__init__(problem, element=element, remedy=remedy)
        self.gaps = gaps or {}


class SimulationError(VarimechError):
    """A simulation failed before its end.

    Attributes:
        time: simulated time of the failed step, in seconds.
        step: number of the failed step, counted from 1.
        residual: largest constraint residual of the failed step.
        worst: name of the constraint or force to look at.
    """

    def __init__(
        self,
        problem: Text,
        *,
        time: float = math.nan,
        step: int = 0,
        residual: float = math.nan,
        worst: str = "",
        remedy: Text = "",
    ):
        super().__init__(problem, remedy=remedy)
        self.time = time
        self.step = step
        self.residual = residual
        self.worst = worst


class StudyError(VarimechError):
    """Too many samples of a study failed, or the cluster that ran them was lost.

    Attributes:
        study: the statistics of the samples so far, including `study.failures`.
    """

    def __init__(self, problem: Text, study: Any, *, remedy: Text = ""):
        super().__init__(problem, remedy=remedy)
        self.study = study


class VarimechWarning(UserWarning):
    """Base class of all warnings.

    Attributes:
        message: what to know, and what to do.
        syntax: syntax in which the text writes arguments: Python, unless an interface sets its own.
    """

    syntax: PythonSyntax = PYTHON

    def __init__(self, message: Text):
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return str(rendered(self.message, self.syntax))


class Interrupted(KeyboardInterrupt):
    """Ctrl-C interrupted a computation with partial results; the message describes its progress.

    Code that does not catch it stops as with any KeyboardInterrupt.

    Attributes:
        reached: the progress of the computation.
        result: the partial result of the analysis: `Run`, `Gradient`, `Study` or `Optimum`.
    """

    def __init__(self, reached: str, result: Any, kept: str = ""):
        super().__init__(f"{reached}; {kept}" if kept else reached)
        self.reached = reached
        self.result = result


@contextmanager
def about(label: str) -> Iterator[None]:
    """Assign the field of a label to errors raised in this block that name no field."""
    try:
        yield
    except VarimechError as error:
        if isinstance(label, Label) and not error.field:
            error.field = label.field
        raise


@contextmanager
def all_or_nothing() -> Iterator[None]:
    """Raise a plain KeyboardInterrupt in place of `Interrupted` in this block: the partial result
    of a part of a larger computation is not the result that the caller asked for.
    """
    try:
        yield
    except Interrupted:
        raise KeyboardInterrupt from None


def check_numbers(owner: str, **values: object) -> None:
    """Check that constants are finite numbers; NaN is left to the checks of their ranges.

    Raises:
        ModelError: for the first one that is not.
    """
    for label, value in values.items():
        if not isinstance(value, Real) or isinstance(value, bool) or math.isinf(value):
            raise ModelError("is not a finite number", element=owner, field=label, value=value)


def check_between(owner: str, low: float, high: float, problem: str, **values: float) -> None:
    """Check constants for finite numbers between two bounds, these included.

    Raises:
        ModelError: with the problem, such as "must be positive", for the first one that is not.
    """
    check_numbers(owner, **values)
    for label, value in values.items():
        if not low <= value <= high:
            raise ModelError(problem, element=owner, field=label, value=value)


def check_named(label: str, values: object, example: str) -> None:
    """Check that an argument whose entries are given by name is a dictionary, or None."""
    if values is not None and not isinstance(values, Mapping):
        raise ModelError(f"must be a dictionary, such as {example}", field=label, value=values)


MOST = {
    "samples": 10**12,
    "verify": 10**12,
    "chunk": 10**8,
    "starts": 10**5,
    "runs": 10**7,
    "checks": 10**7,
    "degree": 100,
    "max_iterations": 10**6,
    "threads": 4096,
    "executor": 4096,
    "segments": 20_000,
    "order": 10,  # of Padé approximations: coefficients of higher ones are ill-conditioned
    "every": 10**12,
    "draws": 10**8,
    "chains": 10**4,
    "warmup": 10**8,
    "seed": 2**63 - 1,
}
"""Largest accepted counts, in Python and in files: far beyond what a machine computes in a year, or
what other programs can count.
"""


def check_whole(owner: str, least: int, **values: object) -> None:
    """Check that counts are whole numbers between `least` and their limit in `MOST`."""
    for label, value in values.items():
        if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < least:
            problem = f"must be a whole number, {least} or more"
            raise ModelError(problem, element=owner, field=label, value=value)
        if int(value) > MOST[label]:
            problem = f"is too large; use {MOST[label]} at most"
            raise ModelError(problem, element=owner, field=label, value=value)


def check_level(owner: str, level: object) -> None:
    """Check that a confidence level is a probability."""
    if not isinstance(level, Real) or not 0 < float(level) < 1:
        problem = "must be a probability between 0 and 1, such as 0.95"
        raise ModelError(problem, element=owner, field="level", value=level)


MOST_COMPARED, LONGEST_COMPARED = 1000, 200
"""Number of names that are compared with an unknown one for a suggestion, and most characters of
that name: together they limit the comparison to some 0.1 s.
"""


def component(label: str, k: int) -> str:
    """Return the label of a component, counted from 0."""
    return label.component(k) if isinstance(label, Label) else f"{label}[{k}]"


def near_names(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """Return known names that are spelt similarly, the nearest first.

    At most `MOST_COMPARED` names are compared, and none with a name longer than `LONGEST_COMPARED`.
    """
    if len(name) > LONGEST_COMPARED:
        return []
    of_like_length = (
        each for each in known if len(name) <= 2 * len(each) + 1 and len(each) <= 2 * len(name) + 1
    )
    return difflib.get_close_matches(name, islice(of_like_length, MOST_COMPARED), n=most)


def unknown_name(kind: str, name: object, known: Iterable[str]) -> ModelError:
    """Create an error for a name that does not exist, with the nearest names that do."""
    names = sorted(known)
    if near := near_names(str(name), names, 3):
        hint = "did you mean " + " or ".join(repr(n) for n in near) + "?"
    elif names:
        more = ", …" if len(names) > 12 else ""
        hint = f"known: {', '.join(map(repr, names[:12]))}{more}"
    else:
        hint = "there is none yet"
    return ModelError(f"no {kind} is called {name!r}", value=name, remedy=hint)
