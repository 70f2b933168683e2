"""Design points: the points of the limit surface that are nearest to the origin, in the space of
independent standard normal variables u.

Sequential quadratic programming converges to one of them, depending on its initial point. Further
ones are searched for along rays from the origin: where a ray meets the limit before the tangent
planes of all known points, another search starts. A point at which the limit bends around the
origin is not a local minimum of the distance, and counts only if no other point is much nearer;
much less likely points are neglected.

A limit on a peak has a kink wherever another peak becomes the largest one. If exceeding the limit
by one peak is enough, such kinks are no local minima of the distance, and each peak has its own
design point; if all peaks have to stay below the limit, a kink may be the nearest point, which is
reported (`DesignPoint.stationary`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..core.errors import ModelError, VarimechError
from .half_spaces import beyond_all
from .openturns_distributions import openturns
from .tangent_planes import TangentPlanes

if TYPE_CHECKING:
    from .limits import Limit

FORMULAS = ("Breitung", "Hohenbichler", "Tvedt")
ERROR = 1e-6
"""Tolerance of a design point, and of the limit there, in standard deviations; a round value."""
MOST = 200
"""Maximum number of runs of a search; it takes some ten if there is a design point."""
ENOUGH = 1e-3
"""Accepted distance from the limit: errors of runs may prevent a search from reaching a smaller
one.
"""
RADII = np.array([1.5, 3.0, 4.5, 6.0])
"""Radii at which rays are evaluated: beyond 6 a probability is below 1e-9."""
RAYS = 32
"""Number of random rays, in addition to those along the axes and the gradient; a round value."""
SEARCHES = 8
"""Maximum number of searches that start from rays."""
SOONER = 0.9
"""A ray that meets the limit before this fraction of the distance to the tangent planes leads to
another design point.
"""
NEGLIGIBLE = 1e-3
"""Design points whose probability is below this fraction of that of the likeliest one are
neglected.
"""
BENDING = 0.5
"""Points at which the limit bends around the origin are neglected if their probability is below
this fraction of that of the likeliest design point.
"""
ATTEMPTS = 4
"""Searches from one initial point, each starting where the last one ended, until a design point is
reached.
"""
ALIGNED = 0.999
"""Least cosine between a design point and the gradient of the limit there; errors of searches are
below 1e-3 rad.
"""
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
    """Second-order probabilities by formula; NaN if the curvature of the limit is too large for a
    formula.
    """
    curvatures: np.ndarray
    """Curvatures of the limit in the standard space."""
    result: object = field(repr=False)
    """`openturns.SORMResult`; `openturns.FORMResult` where there are no second derivatives, and
    None for several limits at once.
    """
    planes: TangentPlanes = field(repr=False)
    """Tangent planes of the limits at the point: one, or all limits that have to be exceeded."""
    rough: str = ""
    """Reason why there are no second derivatives; empty if there are."""

    @property
    def form(self) -> float:
        """First-order probability."""
        return beyond_all(self.planes.directions, self.planes.distances)

    @property
    def nearest(self) -> bool:
        """Whether all neighbouring points of the limit are farther from the origin, which holds if
        the limit is curved less than a sphere.
        """
        unknown = bool(self.rough) or not self.stationary
        return unknown or math.isfinite(self.sorms["Breitung"])

    @property
    def stationary(self) -> bool:
        """Whether the gradient of the limit points away from the origin, as it does at a design
        point of a smooth limit; joint points of several limits are stationary by construction.
        """
        if self.result is None or self.beta == 0 or not len(self.planes.directions):
            return True
        return float(self.planes.directions[0] @ self.standard) > ALIGNED * self.beta

    @property
    def importance(self) -> np.ndarray:
        """α_i² = (u*_i/β)²."""
        return (self.standard / self.beta) ** 2 if self.beta > 0 else np.zeros_like(self.standard)


def search(limit: Limit, start: np.ndarray, scale: float) -> DesignPoint:
    """Search for a design point of a limit.

    If the search ends at a point where the gradient does not point away from the origin (a kink of
    the limit, for example where another peak becomes the largest one), it restarts along the
    gradient there, and then by another method.

    Args:
        limit: the limit.
        start: initial point in the standard space.
        scale: standard deviation of the objective, which scales errors.

    Raises:
        VarimechError: if the search does not end on the limit.
    """
    event = _event(limit, scale)
    best: DesignPoint | None = None
    failure: VarimechError | None = None
    for attempt in range(ATTEMPTS):
        method = "SLSQP" if attempt < ATTEMPTS - 1 else "Abdo-Rackwitz"
        try:
            point = _searched(limit, event, start, method)
        except VarimechError as error:
            if limit.study.runs.error is not None:
                raise
            failure = failure or error
            continue
        if best is None or (point.stationary, -point.beta) > (best.stationary, -best.beta):
            best = point
        if point.stationary:
            break
        start = point.beta * point.planes.directions[0]
    if best is None:
        assert failure is not None
        raise failure
    return best


def _event(limit: Limit, scale: float) -> Any:
    """Define the event for OpenTURNS, of an objective in units of its standard deviation."""
    ot, study = openturns(), limit.study
    # not by getMarginal, which omits the diagonals of Hessians (OpenTURNS 1.27)
    only = np.eye(len(study.objective_names))[limit.objective]
    scaled = ot.ComposedFunction(
        ot.LinearFunction(limit.limit * only, [0.0], ot.Matrix([(only / scale).tolist()])),
        study.function,
    )
    return ot.ThresholdEvent(
        ot.CompositeRandomVector(scaled, ot.RandomVector(study.distribution)),
        ot.Greater() if limit.above else ot.Less(),
        0.0,
    )


def _searched(limit: Limit, event: Any, start: np.ndarray, method: str) -> DesignPoint:
    """Compute the design point by exact gradients, and the curvatures there by the exact
    Hessian.
    """
    ot, study = openturns(), limit.study
    solver = ot.NLopt("LD_SLSQP") if method == "SLSQP" else ot.AbdoRackwitz()
    solver.setStartingPoint(study.distributions.from_normal(start[None])[0])
    solver.setMaximumCallsNumber(MOST)
    for kind in ("Absolute", "Relative", "Residual", "Constraint"):
        getattr(solver, f"setMaximum{kind}Error")(ERROR)
    algorithm = ot.FORM(solver, event)
    try:
        algorithm.run()
        first = algorithm.getResult()
        missed = first.getOptimizationResult().getConstraintError()
        outcome = f"is {missed:.2g} standard deviations of the objective away from it"
    except (RuntimeError, TypeError) as error:
        if study.runs.error is not None:
            raise
        missed, outcome = math.inf, f"failed ({str(error).strip()})"
    if not missed < ENOUGH:
        raise VarimechError(
            f"{limit.what}: no design point was found near the medians of the parameters;"
            f" the search {outcome}. The limit may be out of reach;"
            " monte_carlo(…) shows the range of values"
        )
    u, x = (
        np.array(first.getStandardSpaceDesignPoint()),
        np.array(first.getPhysicalSpaceDesignPoint()),
    )
    gradient = limit.sign * np.array(study.function.gradient(x))[:, limit.objective]
    planes = TangentPlanes.at(study.distributions, u, gradient[None], np.zeros(1))
    β = float(first.getHasoferReliabilityIndex())
    result, sorms, curvatures, why = _second_order(ot, limit, event, first)
    return DesignPoint(β, u, x, sorms, curvatures, result, planes, why)


def _second_order(
    ot: Any, limit: Limit, event: Any, first: Any
) -> tuple[Any, dict[str, float], np.ndarray, str]:
    """Second-order probabilities and curvatures; for a limit without second derivatives, the
    reason.
    """
    runs = limit.study.runs
    try:
        result = ot.SORMResult(
            first.getStandardSpaceDesignPoint(),
            event,
            first.getIsStandardPointOriginInFailureSpace(),
        )
        sorms = {formula: _second(result, formula) for formula in FORMULAS}
        return result, sorms, np.array(result.getSortedCurvatures()), ""
    except (RuntimeError, TypeError, VarimechError) as error:
        if isinstance(runs.error, KeyboardInterrupt):
            raise
        why = str(runs.error or error).strip()
        runs.error = None
        curvatures = np.full(max(len(limit.study.names) - 1, 0), np.nan)
        return first, dict.fromkeys(FORMULAS, math.nan), curvatures, why


def design_points(limit: Limit, rng: np.random.Generator) -> list[DesignPoint]:
    """Find all design points, the nearest first.

    Raises:
        VarimechError: if there is none.
    """
    points = list[DesignPoint]()
    failure: Exception | None = None
    rays, met, scale = _rays(limit, rng)
    if limit.gradient.any():
        try:
            points.append(search(limit, np.zeros(rays.shape[1]), scale))
        except (VarimechError, RuntimeError) as error:
            failure = _noted(limit, error)
    for _ in range(SEARCHES):
        sooner = met < SOONER * to_planes(points, rays)
        if not sooner.any():
            break
        first = int(np.argmin(np.where(sooner, met, np.inf)))
        try:
            point = search(limit, met[first] * rays[first], scale)
            if all(np.linalg.norm(point.standard - other.standard) > APART for other in points):
                points.append(point)
        # runs may fail beyond the end of the ray; there is no design point then
        except (VarimechError, RuntimeError) as error:
            failure = _noted(limit, error)
        met[rays @ rays[first] > np.cos(np.pi / 6)] = np.inf
    if not points:
        raise failure or _no_point(limit)
    return _significant(points)


def _noted(limit: Limit, error: Exception) -> Exception:
    """Return the error of a search, which is the error of a failed run if there is one; raise
    Ctrl-C again.
    """
    own = limit.study.runs.error
    if isinstance(own, KeyboardInterrupt):
        raise error
    limit.study.runs.error = None
    return own or error


def scale_of(limit: Limit) -> float:
    """Standard deviation of the objective by its gradient at the medians; 0 if the gradient
    vanishes.
    """
    C = limit.study.distributions.covariance
    return math.sqrt(max(limit.gradient @ C @ limit.gradient, 0.0))


def _rays(limit: Limit, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, float]:
    """Directions, (ray, d), the distance at which each ray first meets the limit, and a standard
    deviation of the objective.
    """
    d, study = len(limit.study.names), limit.study
    σ = scale_of(limit)
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
    infinite if they stay negative.
    """
    met, before, r_before = np.full(at_origin.size, np.inf), at_origin, 0.0
    for r, values in zip(RADII, beyond, strict=True):
        crossed = np.isinf(met) & (before < 0) & (values >= 0)
        share = before[crossed] / (before[crossed] - values[crossed])
        met[crossed] = r_before + share * (r - r_before)
        before, r_before = values, r
    return met


def to_planes(points: Sequence[HasBeta], rays: np.ndarray) -> np.ndarray:
    """Distance along each ray to the nearest tangent plane."""
    nearest = np.full(len(rays), np.inf)
    for p in points:
        along = rays @ p.standard
        nearest[along > 0] = np.minimum(nearest[along > 0], p.beta**2 / along[along > 0])
    return nearest


def _significant(points: list[DesignPoint]) -> list[DesignPoint]:
    """Local minima of the distance that are not negligible; points at which the limit bends around
    the origin only if they are about as near, because the limit may follow a sphere there.
    """
    minima = [p for p in points if p.nearest]
    least = BENDING * max((p.form for p in minima), default=0.0)
    candidates = minima + [p for p in points if not p.nearest and p.form >= least]
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
    # raised if the limit is curved around the origin as much as a sphere
    except (RuntimeError, TypeError):
        return math.nan
