"""Design points: the points of a limit that are nearest to the origin, in the space of independent
standard normal variables u.

A search by sequential quadratic programming ends at one of them, the one on whose side it began.
Others are looked for along rays from the origin: where a ray meets the limit sooner than the
tangent planes of all points known so far say, another search begins. A point at which the limit
bends around the origin is no nearest one, and counts only where there is no other; so do points
that are less likely by far.

The probability of first order is that of the union of the half-spaces beyond all tangent planes,
P_i = Φ(−β_i), P_ij that of two of them at once: Ditlevsen's upper bound

    P = Σ s_i P_i,      s_i = 1 − max_{j<i} P_ij / P_i,

and likewise that of second order, with each P_i in the sum by its own formula. O. Ditlevsen, J.
Struct. Mech. 7 (1979).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import ModelError, VarimechError
from .openturns_distributions import openturns

if TYPE_CHECKING:
    from .global_study import GlobalStudy

FORMULAS = ("Breitung", "Hohenbichler", "Tvedt")
ERROR = 1e-6
"""Of a design point, and of the limit there, in standard deviations."""
MOST = 200
"""Runs of a search; it takes some ten where there is a design point."""
ENOUGH = 1e-3
"""What the limit may be missed by: some runs have errors that keep a search from more."""
RADII = np.array([1.5, 3.0, 4.5, 6.0])
"""Where rays are evaluated: beyond 6 a probability is below 1e-9."""
RAYS = 32
"""Random rays, besides those along the axes and the gradient."""
SEARCHES = 8
"""That begin from rays, at most."""
SOONER = 0.9
"""A ray that meets the limit before this part of the distance to the tangent planes has another
design point behind it.
"""
NEGLIGIBLE = 1e-3
"""Design points less likely than this part of the likeliest one are left out."""
OPPOSITE = 1 - 1e-12
"""Largest correlation, for a covariance that is no matrix of rank one."""
APART = 0.1
"""Distance from which two design points are two."""


@dataclass(frozen=True, eq=False)
class DesignPoint:
    """A point of the limit that is nearest to the origin, as far as its neighbours go."""

    beta: float
    """Its distance from the origin."""
    standard: np.ndarray
    """u*, in the standard space."""
    values: np.ndarray
    """Of the parameters that vary."""
    sorms: dict[str, float]
    """Probabilities of second order, by formula; not a number where the limit is curved too much
    for one.
    """
    curvatures: np.ndarray
    """Of the limit, in the standard space."""
    result: Any = field(repr=False)
    """`openturns.SORMResult`."""

    @property
    def form(self) -> float:
        """Probability of first order."""
        return float(openturns().Normal().computeCDF([-self.beta]))

    @property
    def nearest(self) -> bool:
        """Whether all points around it are farther: the limit is curved less than a sphere about
        the origin would be.
        """
        return math.isfinite(self.sorms["Breitung"])

    @property
    def importance(self) -> np.ndarray:
        """α_i² = (u*_i/β)²."""
        return (self.standard / self.beta) ** 2 if self.beta > 0 else np.zeros_like(self.standard)


@dataclass(eq=False)
class Limit:
    """The limit of an event that does not hold at the origin; its function is positive where the
    event happens.
    """

    study: GlobalStudy
    what: str
    """In words, for errors."""
    objective: int
    limit: float
    above: bool
    """Whether the event is above the limit."""

    def __call__(self, u: np.ndarray) -> np.ndarray:
        """How far beyond the limit points are, (n, d), in units of the objective; NaN where a run
        fails.
        """
        values = self.study.runs.reachable(self.study.spreads.from_normal(u))[:, self.objective]
        return values - self.limit if self.above else self.limit - values

    @cached_property
    def middle(self) -> np.ndarray:
        """The medians of the parameters, the origin of the standard space."""
        return self.study.spreads.from_normal(np.zeros((1, len(self.study.names))))[0]

    @cached_property
    def slope(self) -> np.ndarray:
        """The gradient of the objective there."""
        return np.array(self.study.function.gradient(self.middle))[:, self.objective]

    def search(self, start: np.ndarray, scale: float) -> DesignPoint:
        """From a point in the standard space; `scale` is a standard deviation of the objective, by
        which errors are measured.

        Raises:
            VarimechError: where the search ends beside the limit.
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
        result = self._sorm(ot, event, study.spreads.from_normal(start[None])[0])
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
        """The design point with exact gradients, and curvatures there by the exact Hessian."""
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
            missed, outcome = math.inf, f"gave up ({str(error).strip()})"
        if not missed < ENOUGH:
            raise VarimechError(
                f"{self.what}: no point with this limit was found near the middle of the spreads;"
                f" the search {outcome}. Is it within reach of the parameters at all?"
                " monte_carlo(…) shows which values are reached"
            )
        return result


def design_points(limit: Limit, rng: np.random.Generator) -> list[DesignPoint]:
    """All that are found, the nearest first.

    Raises:
        VarimechError: if there is none.
    """
    points = list[DesignPoint]()
    failure: Exception | None = None
    rays, met, scale = _rays(limit, rng)
    if limit.slope.any():
        try:
            points.append(limit.search(np.zeros(rays.shape[1]), scale))
        except VarimechError as error:
            if limit.study.runs.error is not None:
                raise
            failure = error
    for _ in range(SEARCHES):
        sooner = met < SOONER * _to_planes(points, rays)
        if not sooner.any():
            break
        first = int(np.argmin(np.where(sooner, met, np.inf)))
        try:
            point = limit.search(met[first] * rays[first], scale)
            if all(np.linalg.norm(point.standard - other.standard) > APART for other in points):
                points.append(point)
        except (
            VarimechError,
            RuntimeError,
        ) as error:  # beyond the ray runs may fail, and then there is nothing to be found
            if isinstance(limit.study.runs.error, KeyboardInterrupt):
                raise
            limit.study.runs.error, failure = None, error
        met[rays @ rays[first] > np.cos(np.pi / 6)] = np.inf
    if not points:
        raise failure or _no_point(limit)
    return _that_count(points)


def union(points: list[DesignPoint], probabilities: list[float]) -> float:
    """Of the events beyond each point, whose probabilities by some formula these are."""
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
    """Directions, (ray, d), how far along each the limit is met first, and a standard deviation of
    the objective.
    """
    d, study = len(limit.study.names), limit.study
    σ = math.sqrt(max(limit.slope @ study.spreads.covariance @ limit.slope, 0.0))
    step = 0.1 * np.eye(d)
    steepest = (study.spreads.from_normal(step) - study.spreads.from_normal(-step)) @ limit.slope
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
        raise ModelError(
            f"probability: the gradient of {study.objective_names[limit.objective]!r} vanishes at"
            f" the medians of {names}, and nothing changes it within six standard deviations"
        )
    return rays, _first_crossing(np.full(len(rays), at_origin), beyond), σ


def _first_crossing(at_origin: np.ndarray, beyond: np.ndarray) -> np.ndarray:
    """Where values along each ray first get positive, by straight lines between the radii; infinite
    where they do not.
    """
    met, before, r_before = np.full(at_origin.size, np.inf), at_origin, 0.0
    for r, values in zip(RADII, beyond, strict=True):
        crossed = np.isinf(met) & (before < 0) & (values >= 0)
        share = before[crossed] / (before[crossed] - values[crossed])
        met[crossed] = r_before + share * (r - r_before)
        before, r_before = values, r
    return met


def _to_planes(points: list[DesignPoint], rays: np.ndarray) -> np.ndarray:
    """How far along each ray the first of the tangent planes is met."""
    nearest = np.full(len(rays), np.inf)
    for p in points:
        along = rays @ p.standard
        nearest[along > 0] = np.minimum(nearest[along > 0], p.beta**2 / along[along > 0])
    return nearest


def _that_count(points: list[DesignPoint]) -> list[DesignPoint]:
    """The nearest ones, as far as there are such, that are not negligible."""
    some = [p for p in points if p.nearest] or points
    some.sort(key=lambda p: p.beta)
    return [p for p in some if p.form >= NEGLIGIBLE * some[0].form]


def _no_point(limit: Limit) -> VarimechError:
    return VarimechError(
        f"{limit.what}: no point with this limit was found within six standard deviations of the"
        " middle of the spreads. Is it within reach of the parameters at all? monte_carlo(…) shows"
        " which values are reached"
    )


def _second(result: Any, formula: str) -> float:
    try:
        return float(getattr(result, f"getEventProbability{formula}")())
    except (
        RuntimeError,
        TypeError,
    ):  # a limit that is curved towards the origin as much as a sphere about it
        return math.nan
