"""Studies in model files: objectives, and analyses by the names of their methods in `Mechanism`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictFloat, StrictInt, StrictStr

from ..core.errors import MOST
from ..results.catalog import OUTPUTS
from . import field_types as ft
from .measured_data import DataEntry
from .objective_fields import Bound, ObjectiveEntry

Constants = dict[StrictStr, Any]
"""Constants of an integrator, formulation or coordinates."""
MEASURED = tuple(kind for kind, definition in OUTPUTS.items() if not definition.spatial_only)
Show = dict[Literal[(*MEASURED, "trace")], list[ft.Name]]  # type: ignore[valid-type]


class Solving(ft.Strict):
    """Options of runs; those that are omitted are chosen automatically."""

    duration: ft.Number | None = Field(None, description="s")
    step: ft.Number | None = Field(None, description="Equal time steps, s.")
    every: ft.Every | None = Field(None, description="Store one row for this number of steps.")
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
    memory: ft.Positive | None = Field(None, description="Memory of an adjoint, MB.")
    certify: StrictBool = Field(False, description="Determine how many digits can be trusted.")


class Correlation(ft.Strict):
    """Correlation of two parameters."""

    between: ft.Pair
    value: Annotated[StrictFloat | StrictInt, Field(ge=-1, le=1)]


class UncertaintyStudy(Solving):
    """Distributions of objectives that result from those of the parameters."""

    method: Literal["moments", "monte-carlo"] = Field(
        "moments", description="By derivatives, or by many runs."
    )
    objectives: list[ft.Name] | None = Field(None, description="All if not given.")
    correlation: list[Correlation] | None = None
    order: Literal[1, 2] | None = Field(None, description="Order of the moments.")
    accuracy: ft.Positive | None = Field(
        None, description="Accuracy of moments: acceptable error, in standard deviations."
    )
    samples: ft.Samples | None = None
    sampling: Literal["random", "latin-hypercube", "sobol"] | None = None
    seed: ft.Seed | None = None
    control: StrictBool | None = Field(None, description="Correct means by the first-order model.")
    target: ft.Positive | dict[ft.Name, ft.Positive] | None = Field(
        None, description="Half-width of the confidence interval at which sampling stops."
    )
    allowed_failures: Annotated[StrictFloat | StrictInt, Field(ge=0, lt=1)] | None = None
    keep: StrictBool | None = None
    chunk: ft.Chunk | None = None


class FailureLimit(ft.Strict):
    """Values of an objective at which the mechanism fails; for a path, at any time."""

    above: ft.Number | None = Field(None, description="It fails at this value and above.")
    below: ft.Number | None = Field(None, description="It fails at this value and below.")


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
        None, description="Level of the confidence interval; 0.95 if not given."
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
    level: ft.Share | None = Field(
        None, description="Level of confidence intervals; 0.95 if not given."
    )
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


class OfTolerances(Solving):
    """Common options of studies of statistics over the tolerances."""

    over: list[ft.Name] | None = Field(
        None, description="Parameters whose nominal values may change."
    )
    bounds: dict[ft.Name, ft.TwoOpen] | None = Field(None, description="Parameter: [lower, upper].")
    constraints: dict[ft.Name, Bound] | None = Field(
        None, description="Objective, also a statistic: {at_least, at_most, equals}."
    )
    start: dict[ft.Name, ft.Number] | None = None
    correlation: list[Correlation] | None = None
    statistics: Literal["auto", "moments", "samples", "form", "chaos"] | None = Field(
        None, description="Method of the statistics; auto if not given."
    )
    order: Literal[1, 2] | None = Field(None, description="Order of the moments.")
    samples: ft.Samples | None = Field(
        None, description="Number of samples, also for polynomial chaos."
    )
    degree: ft.Iterations | None = Field(None, description="Degree of polynomial chaos.")
    verify: StrictBool | ft.Samples | None = Field(
        None, description="Number of independent samples that verify the result; false for none."
    )
    solver: StrictStr | None = None
    max_iterations: ft.Iterations | None = None
    tolerance_optimality: ft.Share | None = None
    seed: ft.Seed | None = None


class RobustStudy(OfTolerances):
    """Statistics over the tolerances with their derivatives; or a design that minimises one of
    them, or keeps some within bounds.
    """

    objectives: list[ft.Name] | None = Field(
        None, description="Statistics; all if not given. Not with minimize."
    )
    minimize: ft.Name | None = Field(
        None, description="Objective or statistic; without it, statistics are computed only."
    )
    starts: ft.Starts | None = None


class AllocateStudy(OfTolerances):
    """The cheapest tolerances that satisfy constraints on statistics."""

    tolerances: list[ft.Name] | None = Field(
        None, description="Parameters whose tolerances are chosen; all with a cost if not given."
    )
    grades: StrictBool | list[ft.Name] | None = Field(
        None, description="true, or parameters: tolerances in grades of ISO 286-1."
    )
    correct: StrictBool | None = Field(
        None,
        description="Move targets where samples show that the method is off; true if not given.",
    )
    curve: dict[ft.Name, list[ft.Finite]] | None = Field(
        None,
        description="Cost against risk: one of the constraints, and further values of its bound.",
    )


class Studies(ft.Strict):
    """Analyses of a mechanism, and contents of reports."""

    objectives: dict[ft.Name, ObjectiveEntry] = Field({}, description="Objectives of the studies.")
    simulate: SimulateStudy | None = None
    sensitivity: SensitivityStudy | None = None
    uncertainty: UncertaintyStudy | None = None
    reliability: ReliabilityStudy | None = None
    optimize: OptimizeStudy | None = None
    robust: RobustStudy | None = None
    allocate: AllocateStudy | None = None
    fit: FitStudy | None = None
    show: Show | None = Field(
        None, description="Outputs that reports plot, and points whose paths they draw."
    )


KINDS = (
    *("simulate", "sensitivity", "uncertainty", "reliability", "optimize"),
    *("robust", "allocate", "fit"),
)
