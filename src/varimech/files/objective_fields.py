"""Objectives in model files: numbers of a run or of small motions, and statistics of them over the
tolerances of parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, StrictFloat, StrictInt, StrictStr, Tag

from ..core.errors import ModelError, unknown_name
from ..core.expressions import fixed_number
from ..optimization.quantities import Goal, Path, path, peak
from ..robust.statistic import Statistic, mean, probability, quantile, std, worst
from ..sensitivity.comparison import Constraint
from ..sensitivity.objective import Objective, at, final, integral, lowest, time_of
from ..sensitivity.objective import range as range_of
from ..sensitivity.stability_objective import (
    StabilityObjective,
    critical_speed,
    damping_ratio,
    frequency,
    growth_rate,
)
from . import field_types as ft

Text = StrictStr | StrictFloat | StrictInt
Place = Literal["equilibrium", "steady", "start"]
MODE_OBJECTIVES: dict[str, Callable[..., StabilityObjective]] = {
    "growth_rate": growth_rate,
    "frequency": frequency,
    "damping_ratio": damping_ratio,
}
OF_RUNS = ("integral", "final", "path", "peak", "lowest", "range", "at", "time_of")
STATISTICS: dict[str, Callable[..., Statistic]] = {
    "mean": mean,
    "std": std,
    "quantile": quantile,
    "worst": worst,
}
"""Statistics of one objective."""
NUMBERS = {"p": "quantile", "sigma": "worst"}
"""Key of the number that a statistic takes → the statistic."""
BESIDES = ("unit", "event", "occurrence", "near", "between", "about")
"""Keys of an objective that do not select its kind."""


def limit_of(quantity: Any, given: float | str | None, label: str) -> float | None:
    """Convert a limit of a quantity to the unit of the quantity.

    Args:
        quantity: the limited quantity.
        given: the limit; a text is a quantity or an expression of numbers.
        label: of the limit, for errors.

    Raises:
        ModelError: for a unit of another dimension, and values that are not finite numbers.
    """
    if given is None:
        return None
    unit = (quantity.unit if hasattr(quantity, "unit") else "") or ""
    if isinstance(given, str):
        return fixed_number(given, unit, label)
    if not math.isfinite(given):
        raise ModelError("must be a finite number", label=label, value=given)
    return given


class Bound(ft.Strict):
    """Bounds on an objective."""

    at_least: ft.Number | None = None
    at_most: ft.Number | None = None
    equals: ft.Number | None = None

    def constraint(self, quantity: Any, name: str) -> Constraint:
        """Return the comparison of a quantity with these bounds.

        Args:
            quantity: the compared quantity.
            name: its name, for errors.

        Raises:
            ModelError: unless there is one bound, or a lower and an upper one.
        """
        low, high, value = (
            limit_of(quantity, getattr(self, key), f"bound of {name!r}: {key}")
            for key in ("at_least", "at_most", "equals")
        )
        ranged = isinstance(quantity, (Goal, Path, Statistic))
        if value is not None and low is None and high is None and ranged:
            return quantity.equals(value)
        if value is None and low is not None and high is not None and ranged:
            return quantity.between(low, high)
        if value is None and (low is None) != (high is None):
            return quantity >= low if high is None else quantity <= high
        raise ModelError(
            f"constraint {name!r} needs at_least, at_most, both of them, or equals",
            remedy="a peak takes at_most only",
        )


NameOrObjective = Annotated[
    Annotated[ft.Name, Tag("name")] | Annotated["ObjectiveEntry", Tag("entry")],
    Discriminator(lambda given: "entry" if isinstance(given, (dict, ObjectiveEntry)) else "name"),
]
"""Objective of a statistic: the name of another objective, or an objective that only the statistic
uses.
"""


class ObjectiveEntry(ft.Strict):
    """A scalar result of a run: an expression of the state, integrated over time, at the end, at
    all times, at its largest or smallest value, or at an event; or the time of an event. Or a
    scalar result of small motions about an equilibrium, a steady motion or the initial conditions.
    Or a statistic of such results over the tolerances of the parameters.
    """

    integral: Text | None = Field(None, description="Integrated over time.")
    final: Text | None = Field(None, description="At the end of the run.")
    path: Text | None = Field(None, description="At all times, to be bounded.")
    peak: Text | None = Field(None, description="Largest value over the run.")
    lowest: Text | None = Field(None, description="Smallest value over the run.")
    range: Text | None = Field(None, description="Largest minus smallest value over the run.")
    at: Text | None = Field(None, description="At an event, which `event` names.")
    time_of: ft.Name | None = Field(None, description="Time of an event: its name.")
    event: ft.Name | None = Field(None, description="Contact, friction or event of `at`.")
    occurrence: ft.Occurrence | None = Field(
        None, description="Which event of that name, from 1 on; 0 for the last one."
    )
    growth_rate: Place | None = Field(None, description="Largest growth rate of small motions.")
    frequency: Place | None = Field(None, description="Frequency (Hz) of a mode.")
    damping_ratio: Place | None = Field(None, description="Least damping ratio of a mode.")
    near: ft.Number | None = Field(None, description="Approximate frequency (Hz) of the mode.")
    critical_speed: ft.Name | None = Field(
        None, description="Parameter: its value at which the largest growth rate passes zero."
    )
    between: list[ft.Number] | None = Field(
        None, description="Two values of that parameter, on both sides."
    )
    about: Place | None = Field(None, description="Motion of critical_speed; start if not given.")
    mean: NameOrObjective | None = Field(
        None, description="Mean over the tolerances, of an objective by its name: {mean: force}."
    )
    std: NameOrObjective | None = Field(
        None, description="Standard deviation over the tolerances: {std: force}."
    )
    quantile: NameOrObjective | None = Field(
        None,
        description="Value below which it stays with probability p: {quantile: force, p: 0.999}.",
    )
    p: ft.Share | None = Field(None, description="Probability of a quantile.")
    worst: NameOrObjective | None = Field(
        None, description="Mean plus sigma standard deviations: {worst: force, sigma: 3}."
    )
    sigma: ft.Finite | None = Field(
        None,
        description="Number of standard deviations of worst; 3 if not given, negative for the lower side.",
    )
    probability: dict[ft.Name, Bound] | None = Field(
        None,
        description="Probability that objectives stay within bounds, all at once: {probability:"
        " {force: {at_most: 500}}}.",
    )
    unit: StrictStr = ""

    @property
    def is_statistic(self) -> bool:
        """Whether it is a statistic over the tolerances rather than a result of a single run."""
        return bool(set(self.given()) & {*STATISTICS, "probability"})

    def made(
        self, objectives: Mapping[str, ObjectiveEntry] | None = None
    ) -> Goal | Path | Statistic:
        """Build the objective for analyses.

        Args:
            objectives: objectives of the file, to which statistics refer by name.
        """
        if self.is_statistic:
            return self._of_tolerances(objectives or {})
        for number, kind in NUMBERS.items():
            if getattr(self, number) is not None:
                remedy = f"give it with {kind}, or leave it out"
                raise ModelError(f"{number} belongs to statistics", remedy=remedy)
        if small := self.given(*BESIDES, *OF_RUNS):
            return self._of_small_motions(small)
        return self._of_runs()

    def _of_tolerances(self, objectives: Mapping[str, ObjectiveEntry]) -> Statistic:
        """Build a statistic of one objective or of comparisons."""
        statistic = self.given()
        kind = next(k for k in (*STATISTICS, "probability") if k in statistic)
        allowed = {kind, *(number for number, of in NUMBERS.items() if of == kind)}
        if wrong := [key for key in statistic if key not in allowed]:
            raise ModelError(
                f"{wrong[0]} does not go with {kind}, a statistic over the tolerances",
                remedy="an objective has one statistic; unit and event belong to its objective",
            )
        if self.probability is not None:
            if not self.probability:
                raise ModelError("probability has no bounds", remedy=EXAMPLE)
            return probability(
                [
                    bound.constraint(_named(name, objectives), name)
                    for name, bound in self.probability.items()
                ]
            )
        of = statistic.pop(kind)
        if kind == "quantile" and self.p is None:
            raise ModelError("quantile needs p", remedy="{quantile: force, p: 0.999} is one")
        made = of.made() if isinstance(of, ObjectiveEntry) else _named(of, objectives)
        return STATISTICS[kind](made, **statistic)

    def _of_small_motions(self, given: dict[str, Any]) -> StabilityObjective:
        beside = self.given(*given)
        allowed = {"between", "about"} if "critical_speed" in given else {"near"}
        if len(given) > 1 or set(beside) - allowed:
            raise ModelError(
                "an objective of small motions has one of growth_rate, frequency and damping_ratio,"
                " with near; or critical_speed with between and about",
            )
        if self.critical_speed is not None:
            place = {} if self.about is None else {"at": self.about}
            return critical_speed(self.critical_speed, self.between or (), **place)
        kind, place_of_mode = next(iter(given.items()))
        near = None if self.near is None else fixed_number(self.near, "Hz", "near")
        return MODE_OBJECTIVES[kind](place_of_mode, near=near)

    def _of_runs(self) -> Objective | Path:
        for name in self.given(*OF_RUNS, "unit", "event", "occurrence"):
            raise ModelError(
                f"{name} belongs to objectives of small motions",
                remedy="leave it out, or give growth_rate, frequency, damping_ratio or"
                " critical_speed",
            )
        makers: dict[str, Callable[..., Any]] = {
            "integral": integral,
            "final": final,
            "path": path,
            "peak": peak,
            "lowest": lowest,
            "range": range_of,
            "at": self._at,
            "time_of": self._time_of,
        }
        made = [
            makers[kind](str(text), unit=self.unit) for kind, text in self.given(*BESIDES).items()
        ]
        if len(made) == 1:
            return made[0]
        if len(made) == 2 and {type(each) for each in made} == {Objective}:
            return made[0] + made[1]
        raise ModelError(
            "an objective has one of integral, final, path, peak, lowest, range, at and time_of, or"
            " both of the first two, which are added; or one of growth_rate, frequency,"
            " damping_ratio and critical_speed"
        )

    def _at(self, text: str, unit: str) -> Objective:
        if self.event is None:
            raise ModelError("at needs an event", remedy="name one: {at: …, event: stop}")
        return at(self.event, text, unit=unit, **self._which)

    def _time_of(self, event: str, unit: str) -> Objective:
        return time_of(event, **self._which)

    @property
    def _which(self) -> dict[str, int]:
        return {} if self.occurrence is None else {"occurrence": self.occurrence}


EXAMPLE = "{probability: {force: {at_most: 500}}} is one"


def _named(name: str, objectives: Mapping[str, ObjectiveEntry]) -> Goal | Path | Statistic:
    """Look up the objective of a statistic by name."""
    if name not in objectives:
        raise unknown_name("objective", name, objectives)
    if objectives[name].is_statistic:
        raise ModelError(
            f"objective {name!r} is a statistic itself", remedy="name an objective of a run"
        )
    return objectives[name].made()
