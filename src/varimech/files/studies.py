"""Studies in model files: objectives, and what is computed of them, by the keywords of the verbs of
`Mechanism`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictFloat, StrictInt, StrictStr

from ..core.errors import MOST, ModelError
from ..core.expressions import fixed_number
from ..optimization.quantities import Goal, Path, path, peak
from ..results.catalog import OUTPUTS
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
from .measured_data import DataEntry

Text = StrictStr | StrictFloat | StrictInt
Constants = dict[StrictStr, Any]
"""Of an integrator, formulation or coordinates."""
MEASURED = tuple(kind for kind, what in OUTPUTS.items() if not what.spatial_only)
Show = dict[Literal[(*MEASURED, "trace")], list[ft.Name]]  # type: ignore[valid-type]


Place = Literal["equilibrium", "steady", "start"]
MODE_OBJECTIVES: dict[str, Callable[..., StabilityObjective]] = {
    "growth_rate": growth_rate,
    "frequency": frequency,
    "damping_ratio": damping_ratio,
}
OF_RUNS = ("integral", "final", "path", "peak", "lowest", "range", "at", "time_of")
BESIDES = ("unit", "event", "occurrence", "near", "between", "about")
"""Keys of an objective that choose none."""


class ObjectiveEntry(ft.Strict):
    """A number that a run yields: an expression of the state, integrated over time, at the end, at
    all times, at its largest or smallest, or at an event; or the time of an event. Or a number of
    small motions about an equilibrium, a steady motion or the start.
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
    near: ft.Number | None = Field(None, description="Frequency (Hz) of the mode that counts.")
    critical_speed: ft.Name | None = Field(
        None, description="Parameter: its value at which the largest growth rate passes zero."
    )
    between: list[ft.Number] | None = Field(
        None, description="Two values of that parameter, on both sides."
    )
    about: Place | None = Field(None, description="Motion of critical_speed; start if not given.")
    unit: StrictStr = ""

    def made(self) -> Goal | Path:
        """As analyses have it."""
        if small := self.given(*BESIDES, *OF_RUNS):
            return self._of_small_motions(small)
        return self._of_runs()

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


class Solving(ft.Strict):
    """How runs are made; what is not said is chosen."""

    duration: ft.Number | None = Field(None, description="s")
    step: ft.Number | None = Field(None, description="Equal time steps, s.")
    every: ft.Every | None = Field(None, description="Store every so many of them.")
    tolerance: ft.Share | None = Field(
        None, description="Relative error for which steps are chosen, instead of a step."
    )
    longest_step: ft.Number | None = Field(
        None, description="Longest step that a tolerance may choose, s."
    )
    output: ft.Number | list[ft.Number] | None = Field(
        None, description="Time between stored results, or the times themselves, s."
    )
    integrator: StrictStr | dict[StrictStr, Constants] | None = Field(
        None, description="Name, or {newmark: {gamma: 0.7}}."
    )
    formulation: StrictStr | dict[StrictStr, Constants] | None = Field(
        None, description="Name, or {penalty: {factor: 1e8}}."
    )
    coordinates: StrictStr | dict[StrictStr, Constants] | None = Field(
        None, description="Name, or {rtdyn1: {cut: [C]}}."
    )
    backend: Literal["auto", "native", "interpreted"] | None = None
    parameters: dict[ft.Name, ft.Number] | None = Field(
        None, description="Values that differ from the nominal ones."
    )


class SimulateStudy(Solving):
    """A run; its settings hold for the other studies too."""


class SensitivityStudy(Solving):
    """Objectives and their derivatives."""

    objectives: list[ft.Name] | None = Field(None, description="All if not given.")
    wrt: list[ft.Name] | None = Field(None, description="Parameters; all if not given.")
    method: StrictStr | None = Field(
        None,
        description="auto (if not given), direct, adjoint, composite, finite-difference or complex-step.",
    )
    memory: ft.Positive | None = Field(None, description="MB, of an adjoint.")
    certify: StrictBool = Field(False, description="Tell how many digits can be trusted.")


class Correlation(ft.Strict):
    """How two parameters hang together."""

    between: ft.Pair
    value: Annotated[StrictFloat | StrictInt, Field(ge=-1, le=1)]


class UncertaintyStudy(Solving):
    """Distributions of objectives that follow from those of the parameters."""

    method: Literal["moments", "monte-carlo"] = Field(
        "moments", description="By derivatives, or by many runs."
    )
    objectives: list[ft.Name] | None = Field(None, description="All if not given.")
    correlation: list[Correlation] | None = None
    order: Literal[1, 2] | None = Field(None, description="Of moments.")
    accuracy: ft.Positive | None = Field(
        None, description="Of moments: error in standard deviations that counts as good."
    )
    samples: ft.Samples | None = None
    sampling: Literal["random", "latin-hypercube", "sobol"] | None = None
    seed: ft.Seed | None = None
    control: StrictBool | None = Field(None, description="Correct means by the first-order model.")
    target: ft.Positive | dict[ft.Name, ft.Positive] | None = Field(
        None, description="Half of the confidence interval to stop at."
    )
    allowed_failures: Annotated[StrictFloat | StrictInt, Field(ge=0, lt=1)] | None = None
    keep: StrictBool | None = None
    chunk: ft.Chunk | None = None


class Bound(ft.Strict):
    """What an objective may be."""

    at_least: ft.Finite | None = None
    at_most: ft.Finite | None = None
    equals: ft.Finite | None = None


class FailureLimit(ft.Strict):
    """Values of an objective at which the mechanism fails; those of a path at any time."""

    above: ft.Finite | None = Field(None, description="It fails at this value and above.")
    below: ft.Finite | None = Field(None, description="It fails at this value and below.")


class ReliabilityStudy(Solving):
    """The probability that limits are exceeded, at the end or at any time of a run."""

    limits: dict[ft.Name, FailureLimit] | None = Field(
        None, description="Objective: {above, below}."
    )
    system: Literal["any", "all"] | None = Field(
        None, description="Whether one exceeded limit is a failure (any), or all of them together."
    )
    method: Literal["form", "importance", "subset", "samples"] | None = Field(
        None, description="form if not given."
    )
    correlation: list[Correlation] | None = None
    samples: ft.Samples | None = None
    level: Annotated[StrictFloat | StrictInt, Field(gt=0, lt=1)] | None = Field(
        None, description="Of the confidence interval; 0.95 if not given."
    )
    seed: ft.Seed | None = None


class OptimizeStudy(Solving):
    """Parameter values that minimise an objective and meet constraints."""

    minimize: ft.Name = Field(description="Objective.")
    over: list[ft.Name] | None = Field(
        None, description="Parameters that may change; all if not given."
    )
    bounds: dict[ft.Name, ft.TwoOpen] | None = Field(None, description="Parameter: [lower, upper].")
    constraints: dict[ft.Name, Bound] | None = Field(
        None, description="Objective: {at_least, at_most, equals}."
    )
    start: dict[ft.Name, ft.Number] | None = None
    starts: ft.Starts | None = None
    solver: StrictStr | None = None
    hessian: Literal["approximate", "exact"] | None = None
    max_iterations: ft.Iterations | None = None
    tolerance_optimality: ft.Share | None = None
    method: StrictStr | None = None
    seed: ft.Seed | None = None


class FitStudy(Solving):
    """Parameter values for which the motion meets measured data."""

    data: dict[ft.Name, DataEntry] = Field(description="Measured samples, by name.")
    over: list[ft.Name] | None = Field(None, description="Parameters to find; all if not given.")
    bounds: dict[ft.Name, ft.TwoOpen] | None = Field(None, description="Parameter: [lower, upper].")
    start: dict[ft.Name, ft.Number] | None = None
    level: ft.Share | None = Field(None, description="Of confidence intervals; 0.95 if not given.")
    max_iterations: ft.Iterations | None = None
    method: StrictStr | None = None
    posterior: Literal["laplace", "nuts"] | None = Field(
        None,
        description="Also the posterior distribution, by this method; priors are the distributions"
        " of the parameters, or flat.",
    )
    draws: Annotated[StrictInt, Field(ge=4, le=MOST["draws"])] | None = None
    chains: Annotated[StrictInt, Field(ge=1, le=MOST["chains"])] | None = None
    warmup: Annotated[StrictInt, Field(ge=1, le=MOST["warmup"])] | None = None
    seed: ft.Seed | None = None


class Studies(ft.Strict):
    """What is computed of a mechanism, and what reports show."""

    objectives: dict[ft.Name, ObjectiveEntry] = Field(
        {}, description="Numbers that studies are about."
    )
    simulate: SimulateStudy | None = None
    sensitivity: SensitivityStudy | None = None
    uncertainty: UncertaintyStudy | None = None
    reliability: ReliabilityStudy | None = None
    optimize: OptimizeStudy | None = None
    fit: FitStudy | None = None
    show: Show | None = Field(
        None, description="Measures that reports plot, and points whose traces they draw."
    )


KINDS = ("simulate", "sensitivity", "uncertainty", "reliability", "optimize", "fit")
