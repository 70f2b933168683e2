"""Reliability: the probability that an objective lies beyond a limit.

In the space of independent standard normal variables u behind the parameters, the design point u* is the point of the limit ψ = ψ_lim that is
nearest to the origin, and β = |u*|. FORM replaces the limit by its tangent plane there, P ≈ Φ(−β); SORM by a paraboloid with the same
curvatures (formulas of Breitung, of Hohenbichler and Rackwitz, and of Tvedt). Both know nothing of other points of the limit that are nearly
as close; samples drawn around u* tell.

    importance factors   α_i² = (u*_i/β)²

Of an event that holds at the origin, the contrary is looked at: it is the rarer one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ModelError, VarimechError
from ..sensitivity.comparison import Constraint
from ..view.table import table
from .distributions import openturns
from .global_study import seeded

if TYPE_CHECKING:
    import pandas as pd

    from .function import Runs
    from .global_study import GlobalStudy

FORMULAS = ("Breitung", "Hohenbichler", "Tvedt")
ERROR = 1e-6
"""Of the design point, and of the limit there, in standard deviations."""
MOST = 200
"""Runs of a search; it takes some ten where there is a design point."""
ENOUGH = 1e-3
"""What the limit may be missed by: some runs have errors that keep a search from more."""
BLOCK = 4096
"""Samples run together."""


@dataclass(frozen=True)
class Sampled:
    """A probability from samples, with its confidence interval."""

    probability: float
    lower: float
    upper: float
    samples: int


@dataclass(frozen=True, eq=False)
class Reliability:
    """The probability of an event, and the values of the parameters by which it is most likely to happen."""

    label: str
    event: str
    beta: float
    """Reliability index; negative where the event is more likely than not."""
    form: float
    """Probability of first order."""
    sorms: dict[str, float]
    """Probabilities of second order, by formula; not a number where the limit is curved too much for one."""
    design: dict[str, float]
    """The design point: parameter → value."""
    importance: dict[str, float]
    """Parts of 1 by which the variables behind the parameters share in it; of correlated ones, in order, what those before leave over."""
    units: tuple[str, ...]
    curvatures: np.ndarray = field(repr=False)
    """Of the limit at the design point, in the standard space."""
    sampled: Sampled | None
    calls: dict[str, int]
    """Values, gradients and Hessians that were computed."""
    result: Any = field(repr=False)
    """`openturns.SORMResult`; of the contrary event where β is negative."""

    @property
    def sorm(self) -> float:
        """Probability of second order, by Hohenbichler and Rackwitz."""
        return self.sorms["Hohenbichler"]

    @property
    def nearest(self) -> bool:
        """Whether the design point is the nearest one around it: the limit is curved less than a sphere about the origin would be there."""
        return math.isfinite(self.sorms["Breitung"])

    def table(self) -> pd.DataFrame:
        """Probabilities, a row a method."""
        import pandas as pd

        rows: dict[str, list[float]] = {"FORM": [self.form]}
        rows |= {f"SORM, {name}": [p] for name, p in self.sorms.items()}
        frame = pd.DataFrame.from_dict(rows, orient="index", columns=["probability"])
        if self.sampled is not None:
            s = self.sampled
            frame.loc[f"{s.samples} samples", ["probability", "lower", "upper"]] = [s.probability, s.lower, s.upper]
        return frame

    def __repr__(self) -> str:
        calls = ", ".join(f"{n} {what}" for what, n in self.calls.items())
        lines = [f"<Reliability of {self.label!r}: {self.event}; β = {self.beta:.6g}; {calls}>"]
        frame = self.table()
        rows = [
            [name, *(float(f"{x:.5g}") for x in row)] for name, row in zip(frame.index, frame.to_numpy().tolist(), strict=True)
        ]
        lines.append(table(["method", *frame.columns], rows))
        points = zip(self.design, self.design.values(), self.units, self.importance.values(), strict=True)
        lines.append(
            table(["parameter", "design point", "unit", "importance"], [[n, x, u, f"{100 * a:.1f} %"] for n, x, u, a in points])
        )
        if not self.nearest:
            lines.append("  the limit bends around the origin at this point, so others are nearer: believe samples only")
        return "\n".join(lines)


def reliability(study: GlobalStudy, event: Constraint, samples: int, level: float, seed: int) -> Reliability:
    """FORM and SORM, and samples around the design point."""
    ot, runs = openturns(), study.runs
    k, limit, above = _limit(study, event)
    name, function = study.objective_names[k], study.function
    before = runs.calls.copy()
    with seeded(seed), runs.own_errors(f"probability of {name} {event.rule}"):
        middle = study.spreads.from_normal(np.zeros((1, len(study.names))))[0]
        there, slope = function(middle)[k], np.array(function.gradient(middle))[:, k]
        σ = math.sqrt(slope @ study.spreads.covariance @ slope)
        if not σ > 0:
            raise ModelError(
                f"probability: the gradient of {name!r} vanishes at the medians of {', '.join(study.names)}; FORM has no direction to go"
            )
        likely = (there >= limit) == above
        # in standard deviations of the objective, by which errors of the search are measured; and not by getMarginal, which leaves the
        # diagonals of Hessians out (OpenTURNS 1.27)
        only = np.eye(len(study.objective_names))[k]
        scaled = ot.ComposedFunction(ot.LinearFunction(limit * only, [0.0], ot.Matrix([(only / σ).tolist()])), function)
        beyond = ot.Greater() if above != likely else ot.Less()
        rare = ot.ThresholdEvent(ot.CompositeRandomVector(scaled, ot.RandomVector(study.distribution)), beyond, 0.0)
        result = _sorm(ot, runs, f"probability of {name} {event.rule}", rare, middle)
        drawn = _sampled(ot, result, samples, level) if samples else None
    u, β = np.array(result.getStandardSpaceDesignPoint()), result.getHasoferReliabilityIndex()
    first = float(ot.Normal().computeCDF([-β]))
    sorms = {formula: _second(result, formula) for formula in FORMULAS}
    if likely:
        β, first, sorms = -β, 1 - first, {formula: 1 - p for formula, p in sorms.items()}
        drawn = drawn and Sampled(1 - drawn.probability, 1 - drawn.upper, 1 - drawn.lower, drawn.samples)
    size = float(u @ u)
    return Reliability(
        study.label,
        f"{name} {event.rule}",
        β,
        first,
        sorms,
        dict(zip(study.names, map(float, result.getPhysicalSpaceDesignPoint()), strict=True)),
        dict(zip(study.names, (u**2 / size if size > 0 else u).tolist(), strict=True)),
        study.spreads.units,
        np.array(result.getSortedCurvatures()),
        drawn,
        dict(runs.calls - before),
        result,
    )


def _limit(study: GlobalStudy, event: Any) -> tuple[int, float, bool]:
    """Which objective, its limit, and whether the event is above it."""
    if not isinstance(event, Constraint):
        raise ModelError(f"probability: {event!r} is no event; compare an objective of the study with a number, as in ψ >= 3.0")
    objectives = list(study.runs.objectives.values())
    if event.of not in objectives:
        names = ", ".join(map(repr, study.objective_names))
        raise ModelError(
            f"probability: what is compared is none of the objectives of this study ({names}); compare the same object that openturns(…) got"
        )
    above, below = math.isfinite(event.lower), math.isfinite(event.upper)
    if above and below:
        raise ModelError(
            f"probability: {event.rule} has two limits, and FORM takes one: ask for both and subtract, or use monte_carlo(…)"
        )
    return objectives.index(event.of), event.lower if above else event.upper, above


def _sorm(ot: Any, runs: Runs, what: str, event: Any, start: np.ndarray) -> Any:
    """The design point by sequential quadratic programming with exact gradients, and curvatures there by the exact Hessian."""
    solver = ot.NLopt("LD_SLSQP")
    solver.setStartingPoint(start)
    solver.setMaximumCallsNumber(MOST)
    for kind in ("Absolute", "Relative", "Residual", "Constraint"):
        getattr(solver, f"setMaximum{kind}Error")(ERROR)
    algorithm = ot.SORM(solver, event)
    try:
        algorithm.run()
        result = algorithm.getResult()
        missed = f"is {result.getOptimizationResult().getConstraintError():.2g} standard deviations of the objective away from it"
        found = result.getOptimizationResult().getConstraintError() < ENOUGH
    except (RuntimeError, TypeError) as error:
        if runs.error is not None:
            raise
        found, missed = False, f"gave up ({str(error).strip()})"
    if not found:
        raise VarimechError(
            f"{what}: no point with this limit was found near the middle of the spreads; the search {missed}. Is it within reach of the "
            "parameters at all? monte_carlo(…) tells which values there are"
        )
    return result


def _second(result: Any, formula: str) -> float:
    try:
        return float(getattr(result, f"getEventProbability{formula}")())
    except (RuntimeError, TypeError):  # a limit that is curved towards the origin as much as a sphere about it
        return math.nan


def _sampled(ot: Any, result: Any, samples: int, level: float) -> Sampled:
    """Importance sampling with normal variables about the design point."""
    blocks = -(-samples // BLOCK)
    algorithm = ot.PostAnalyticalImportanceSampling(result)
    algorithm.setBlockSize(-(-samples // blocks))
    algorithm.setMaximumOuterSampling(blocks)
    algorithm.setMaximumCoefficientOfVariation(-1.0)  # all of them, however soon it is known well
    algorithm.run()
    found = algorithm.getResult()
    p, half = found.getProbabilityEstimate(), ot.Normal().computeScalarQuantile((1 + level) / 2) * found.getStandardDeviation()
    return Sampled(p, max(0.0, p - half), min(1.0, p + half), found.getOuterSampling() * found.getBlockSize())
