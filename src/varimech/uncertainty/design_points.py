"""Design points: the points of the limit surface that are nearest to the origin, in the space of
independent standard normal variables u.

Sequential quadratic programming converges to one of them, depending on its initial point. Others
are searched along rays from the origin: where a ray meets the limit before the tangent planes of
all known points, another search begins. A point at which the limit bends around the origin is not a
local minimum of the distance, and counts only if there is no other; much less likely points are
neglected.

The probability of first order is that of the union of the half-spaces beyond all tangent planes,
P_i = Φ(−β_i), P_ij that of two of them at once: Ditlevsen's upper bound

    P = Σ s_i P_i,      s_i = 1 − max_{j<i} P_ij / P_i,

and likewise that of second order, with each P_i in the sum by its own formula. O. Ditlevsen, J.
Struct. Mech. 7 (1979).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..core.errors import ModelError, VarimechError
from .openturns_distributions import openturns

if TYPE_CHECKING:
    from .global_study import GlobalStudy

FORMULAS = ("Breitung", "Hohenbichler", "Tvedt")
ERROR = 1e-6
"""Tolerance of a design point, and of the limit there, in standard deviations; a round value."""
MOST = 200
"""Most runs of a search; it takes some ten if there is a design point."""
ENOUGH = 1e-3
"""Accepted distance from the limit: errors of runs may keep a search from a smaller one."""
RADII = np.array([1.5, 3.0, 4.5, 6.0])
"""Radii at which rays are evaluated: beyond 6 a probability is below 1e-9."""
RAYS = 32
"""Random rays, besides those along the axes and the gradient; a round value."""
SEARCHES = 8
"""Most searches that begin from rays."""
SOONER = 0.9
"""A ray that meets the limit before this share of the distance to the tangent planes leads to
another design point.
"""
NEGLIGIBLE = 1e-3
"""Design points less likely than this share of the likeliest one are neglected."""
OPPOSITE = 1 - 1e-12
"""Largest correlation, so that the covariance matrix stays regular."""
APART = 0.1
"""Smallest distance of two distinct design points."""


class HasBeta(Protocol):
    """A point of the standard space with its distance from the origin."""

    @property
    def beta(self) -> float: ...  # noqa: D102
    @property
    def standard(self) -> np.ndarray: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class DesignPoint:
    """A point of the limit that is locally nearest to the origin."""

    beta: float
    """Distance from the origin (reliability index)."""
    standard: np.ndarray
    """u*, in the standard space."""
    values: np.ndarray
    """Values of the varying parameters."""
    sorms: dict[str, float]
    """Second-order probabilities by formula; NaN if the curvature of the limit is too large for
    one.
    """
    curvatures: np.ndarray
    """Curvatures of the limit in the standard space."""
    result: object = field(repr=False)
    """`openturns.SORMResult`."""

    @property
    def form(self) -> float:
        """First-order probability."""
        return float(openturns().Normal().computeCDF([-self.beta]))

    @property
    def nearest(self) -> bool:
        """Whether all neighbouring points of the limit are farther from the origin: it is curved
        less than a sphere.
        """
        return math.isfinite(self.sorms["Breitung"])

    @property
    def importance(self) -> np.ndarray:
        """α_i² = (u*_i/β)²."""
        return (self.standard / self.beta) ** 2 if self.beta > 0 else np.zeros_like(self.standard)


@dataclass(eq=False)
class Limit:
    """The limit of an event that does not occur at the origin; its function is positive where the
    event occurs.
    """

    study: GlobalStudy
    what: str
    """Description for error messages."""
    objective: int
    limit: float
    above: bool
    """Whether the event is above the limit."""

    def __call__(self, u: np.ndarray) -> np.ndarray:
        """Distance of points, (n, d), beyond the limit, in units of the objective; NaN if a run
        fails.
        """
        values = self.study.runs.reachable(self.study.distributions.from_normal(u))[
            :, self.objective
        ]
        return values - self.limit if self.above else self.limit - values

    @cached_property
    def middle(self) -> np.ndarray:
        """Medians of the parameters, the origin of the standard space."""
        return self.study.distributions.from_normal(np.zeros((1, len(self.study.names))))[0]

    @cached_property
    def gradient(self) -> np.ndarray:
        """Gradient of the objective at the medians."""
        return np.array(self.study.function.gradient(self.middle))[:, self.objective]

    def search(self, start: np.ndarray, scale: float) -> DesignPoint:
        """Search for a design point.

        Args:
            start: initial point in the standard space.
            scale: standard deviation of the objective, which scales errors.

        Raises:
            VarimechError: if the search does not end on the limit.
        """
        ot, study = openturns(), self.study
        # not by getMarginal, which leaves the diagonals of Hessians out (OpenTURNS 1.27)
        only = np.eye(len(study.objective_names))[self.objective]
        scaled = ot.ComposedFunction(
            ot.LinearFunction(self.limit * only, [0.0], ot.Matrix([(only / scale).tolist()])),
            study.function,
        )
        beyond = ot.Greater() if self.above else ot.Less()
        event = ot.ThresholdEvent(
            ot.CompositeRandomVector(scaled, ot.RandomVector(study.distribution)), beyond, 0.0
        )
        result = self._sorm(ot, event, study.distributions.from_normal(start[None])[0])
        sorms = {formula: _second(result, formula) for formula in FORMULAS}
        u, x = (
            np.array(result.getStandardSpaceDesignPoint()),
            np.array(result.getPhysicalSpaceDesignPoint()),
        )
        return DesignPoint(
            float(result.getHasoferReliabilityIndex()),
            u,
            x,
            sorms,
            np.array(result.getSortedCurvatures()),
            result,
        )

    def _sorm(self, ot: Any, event: Any, start: np.ndarray) -> Any:
        """The design point by exact gradients, and its curvatures by the exact Hessian."""
        solver = ot.NLopt("LD_SLSQP")
        solver.setStartingPoint(start)
        solver.setMaximumCallsNumber(MOST)
        for kind in ("Absolute", "Relative", "Residual", "Constraint"):
            getattr(solver, f"setMaximum{kind}Error")(ERROR)
        algorithm = ot.SORM(solver, event)
        try:
            algorithm.run()
            result = algorithm.getResult()
            missed = result.getOptimizationResult().getConstraintError()
            outcome = f"is {missed:.2g} standard deviations of the objective away from it"
        except (RuntimeError, TypeError) as error:
            if self.study.runs.error is not None:
                raise
            missed, outcome = math.inf, f"failed ({str(error).strip()})"
        if not missed < ENOUGH:
            raise VarimechError(
                f"{self.what}: no design point was found near the medians of the parameters;"
                f" the search {outcome}. The limit may be out of reach;"
                " monte_carlo(…) shows the range of values"
            )
        return result


def design_points(limit: Limit, rng: np.random.Generator) -> list[DesignPoint]:
    """All design points, the nearest first.

    Raises:
        VarimechError: if there is none.
    """
    points = list[DesignPoint]()
    failure: Exception | None = None
    rays, met, scale = _rays(limit, rng)
    if limit.gradient.any():
        try:
            points.append(limit.search(np.zeros(rays.shape[1]), scale))
        except VarimechError as error:
            if limit.study.runs.error is not None:
                raise
            failure = error
    for _ in range(SEARCHES):
        sooner = met < SOONER * to_planes(points, rays)
        if not sooner.any():
            break
        first = int(np.argmin(np.where(sooner, met, np.inf)))
        try:
            point = limit.search(met[first] * rays[first], scale)
            if all(np.linalg.norm(point.standard - other.standard) > APART for other in points):
                points.append(point)
        # runs may fail beyond the ray; then there is no point
        except (VarimechError, RuntimeError) as error:
            if isinstance(limit.study.runs.error, KeyboardInterrupt):
                raise
            limit.study.runs.error, failure = None, error
        met[rays @ rays[first] > np.cos(np.pi / 6)] = np.inf
    if not points:
        raise failure or _no_point(limit)
    return _significant(points)


def union(points: list[DesignPoint], probabilities: list[float]) -> float:
    """Probability of the union of the events beyond each point, from their probabilities by some
    formula.
    """
    ot, total = openturns(), 0.0
    for i, (a, p) in enumerate(zip(points, probabilities, strict=True)):
        both = max((_both(ot, a, b) for b in points[:i]), default=0.0)
        total += p * (1 - both / a.form if a.form > 0 else 1.0)
    return min(total, 1.0)


def _both(ot: Any, a: DesignPoint, b: DesignPoint) -> float:
    """Probability of being beyond both tangent planes."""
    cosine = float(a.standard @ b.standard) / (a.beta * b.beta) if a.beta * b.beta > 0 else 0.0
    correlation = ot.CorrelationMatrix(2)
    correlation[0, 1] = max(-OPPOSITE, min(OPPOSITE, cosine))
    return min(
        a.form, float(ot.Normal([0.0, 0.0], [1.0, 1.0], correlation).computeCDF([-a.beta, -b.beta]))
    )


def _rays(limit: Limit, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, float]:
    """Directions, (ray, d), the distance at which each first meets the limit, and a standard
    deviation of the objective.
    """
    d, study = len(limit.study.names), limit.study
    σ = math.sqrt(max(limit.gradient @ study.distributions.covariance @ limit.gradient, 0.0))
    step = 0.1 * np.eye(d)
    steepest = (
        study.distributions.from_normal(step) - study.distributions.from_normal(-step)
    ) @ limit.gradient
    drawn = np.concatenate([np.eye(d), steepest[None], rng.standard_normal((RAYS // 2, d))])
    size = np.linalg.norm(drawn, axis=1)
    half = drawn[size > 0] / size[size > 0, None]
    rays = np.concatenate([half, -half])
    beyond = limit((RADII[:, None, None] * rays).reshape(-1, d)).reshape(RADII.size, -1)
    at_origin = limit(np.zeros((1, d)))[0]
    if not σ > 0:
        σ = float(np.nanmax(np.abs(beyond - at_origin), initial=0.0)) / RADII[-1]
    if not σ > 0:
        names = ", ".join(study.names)
        problem = (
            f"the gradient of {study.objective_names[limit.objective]!r} vanishes at the medians of"
            f" {names}, and it does not change within six standard deviations"
        )
        raise ModelError(problem, element="probability")
    return rays, first_crossing(np.full(len(rays), at_origin), beyond), σ


def first_crossing(at_origin: np.ndarray, beyond: np.ndarray) -> np.ndarray:
    """Radius at which values along each ray first become positive, by linear interpolation;
    infinite if they do not.
    """
    met, before, r_before = np.full(at_origin.size, np.inf), at_origin, 0.0
    for r, values in zip(RADII, beyond, strict=True):
        crossed = np.isinf(met) & (before < 0) & (values >= 0)
        share = before[crossed] / (before[crossed] - values[crossed])
        met[crossed] = r_before + share * (r - r_before)
        before, r_before = values, r
    return met


def to_planes(points: Sequence[HasBeta], rays: np.ndarray) -> np.ndarray:
    """Distance along each ray to the first tangent plane."""
    nearest = np.full(len(rays), np.inf)
    for p in points:
        along = rays @ p.standard
        nearest[along > 0] = np.minimum(nearest[along > 0], p.beta**2 / along[along > 0])
    return nearest


def _significant(points: list[DesignPoint]) -> list[DesignPoint]:
    """Local minima of the distance, if there are any, that are not negligible."""
    candidates = [p for p in points if p.nearest] or points
    candidates.sort(key=lambda p: p.beta)
    return [p for p in candidates if p.form >= NEGLIGIBLE * candidates[0].form]


def _no_point(limit: Limit) -> VarimechError:
    return VarimechError(
        f"{limit.what}: no design point was found within six standard deviations of the medians of"
        " the parameters. The limit may be out of reach; monte_carlo(…) shows the range of values"
    )


def _second(result: object, formula: str) -> float:
    try:
        return float(getattr(result, f"getEventProbability{formula}")())
    # the limit is curved around the origin as much as a sphere
    except (RuntimeError, TypeError):
        return math.nan
