"""Design points by exact gradients: the points nearest to the origin of the standard normal space
on a limit  y(u) = c,  and the largest value of y on a sphere  |u| = β.

Nearest points are computed by the iteration of Hasofer, Lind, Rackwitz and Fiessler,

    u⁺ = [∇y·u − (y − c)] ∇y / |∇y|²,

with step lengths that decrease  ½|u|² + κ |y − c|,  κ > |u|/|∇y|  (Y. Zhang and A. Der Kiureghian,
Reliability and Optimization of Structural Systems (1995)). Where the limit is curved nearly as much
as the sphere, or more, as with bounded or strongly correlated parameters, that iteration oscillates
along the limit; after a few iterations the search continues with steps of sequential quadratic
programming,

    (I − λ∇²y) du − ∇y dλ = λ∇y − u,   ∇y·du = c − y,   λ = u·∇y/|∇y|²,

in which curvatures along the limit enter by magnitude. The largest value on a sphere is computed by
u⁺ = β ∇y/|∇y|, with the step halved while y gets worse (B. D. Youn, K. K. Choi and Y. H. Park, J.
Mech. Des. 125 (2003)). That iteration oscillates where y is curved more than the sphere, as with
bounded parameters; after a few iterations the search continues with Newton's method for  ∇y = λu,
u·u = β²:

    (∇²y − λI) du − u dλ = −(∇y − λu),   u·du = 0,   λ = ∇y·u/β² .
At a design point, with s = 1 where y > c fails and −1 where y < c does,

    α = s ∇y/|∇y|,   β = α·u*,   dβ/dx = −s (∂y/∂x)/|∇y|,

and dα/dx from  (I − λ∇²y) du − ∇y dλ = λ ∇_x∇y dx,  ∇y·du = −∂y/∂x dx,  λ = u·∇y/|∇y|².
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..core.errors import VarimechError
from .method import StatisticsTask
from .random_design import RandomPoint

CONVERGED = 1e-7
"""Tolerance of design points in standard deviations: derivatives are then as accurate as the
gradients of runs.
"""
FIRST = 10
"""Iterations of both searches without second derivatives; most searches need fewer."""
FLATTEST = 0.1
"""Least curvature of ½|u|² along the limit that a step assumes, relative to a sphere: a smaller one
would cause steps of many standard deviations.
"""
ON_LIMIT = 1e-2
"""Distance from the limit, in standard deviations, below which even a search that did not converge
has reached the limit; a round value.
"""
MOST = 60
"""Maximum number of iterations of a search; it takes some five to ten."""
SHORTEST = 2.0**-10
"""Shortest step of a search, relative to the full step."""
ROUGH = 1e-9
"""Relative noise of values from the tolerance of runs (1e-10): close to the solution, it would
cause good steps to be rejected.
"""
STEP = 1e-3
"""Step of finite differences of gradients in the standard normal space: truncation h² and the noise
of gradients (1e-10) divided by h are then both at most 1e-6.
"""


@dataclass(frozen=True, eq=False)
class At:
    """Value and derivatives of one column at a point of the standard normal space."""

    u: np.ndarray
    y: float
    slope: np.ndarray
    """∂y/∂u, (d,)"""
    by_variable: np.ndarray
    """∂y/∂x, (variable,)"""

    @property
    def length(self) -> float:
        """|∇y|"""
        return float(np.linalg.norm(self.slope))


@dataclass(eq=False)
class StandardColumn:
    """A column as a function of the standard normal variables, at one design."""

    task: StatisticsTask
    point: RandomPoint
    column: int
    label: str
    """Label in error messages."""
    _kept: dict[bytes, At] = field(default_factory=dict)

    def at(self, u: np.ndarray) -> At:
        """Value and derivatives at a point, by one run with gradients."""
        if (key := u.tobytes()) not in self._kept:
            self._kept[key] = self.many(u[None])[0]
        return self._kept[key]

    def many(self, u: np.ndarray) -> list[At]:
        """Values and derivatives at many points, in one batch."""
        values, J = self.task.runs.first(self.point.rows(self.point.values(u)))
        only = J[:, self.column : self.column + 1]
        gradients = self.point.in_standard(u, only)[:, 0]
        by_variable = self.point.in_variables(u, only)[:, 0]
        return [
            At(*each)
            for each in zip(u, values[:, self.column], gradients, by_variable, strict=True)
        ]

    @cached_property
    def value_at_medians(self) -> float:
        """Value at the origin (the medians); NaN if the run fails."""
        return float(self.values(np.zeros((1, len(self.point.mean))))[0])

    def values(self, u: np.ndarray) -> np.ndarray:
        """Values without derivatives; NaN where a run fails."""
        y, _ = self.task.runs.reachable(self.point.rows(self.point.values(u)))
        return y[:, self.column]


@dataclass(frozen=True, eq=False)
class Curved:
    """Second derivatives of a column at a point, by finite differences of gradients."""

    H: np.ndarray
    """∇²y, (d, d)"""
    mixed: np.ndarray
    """∂²y/∂u∂x, (d, variable)"""


@dataclass(frozen=True, eq=False)
class FormPoint:
    """A design point, and the half-space  α·u ≤ β  that approximates the safe domain."""

    at: At
    sign: float
    """1 if larger values fail, −1 if smaller values fail."""

    @property
    def standard(self) -> np.ndarray:
        """u*"""
        return self.at.u

    @property
    def alpha(self) -> np.ndarray:
        """Unit normal of the limit, towards failure."""
        return np.asarray(self.sign * self.at.slope / self.at.length)

    @property
    def beta(self) -> float:
        """Reliability index: distance from the origin, negative if the origin fails."""
        return float(self.alpha @ self.at.u)

    @property
    def beta_derivatives(self) -> np.ndarray:
        """(variable,)"""
        return np.asarray(-self.sign * self.at.by_variable / self.at.length)

    def alpha_derivatives(self, curved: Curved) -> np.ndarray:
        """(d, variable)"""
        u, n = self.at.u, self.at.slope
        d, λ = u.size, float(u @ n) / self.at.length**2
        K = np.zeros((d + 1, d + 1))
        K[:d, :d] = np.eye(d) - λ * curved.H
        K[:d, d], K[d, :d] = -n, n
        right = np.vstack([λ * curved.mixed, -self.at.by_variable])
        du = np.linalg.solve(K, right)[:d]
        moved = self.sign * (curved.H @ du + curved.mixed) / self.at.length
        return np.asarray(moved - np.outer(self.alpha, self.alpha @ moved))

    def second_order(self, curved: Curved) -> float:
        """Failure probability of second order (M. Hohenbichler and R. Rackwitz, J. Eng. Mech. 114
        (1988)); NaN if the limit is curved around the origin as much as a sphere.
        """
        from scipy.special import log_ndtr, ndtr

        β, α = self.beta, self.alpha
        along = np.eye(α.size) - np.outer(α, α)
        a = np.linalg.eigvalsh(along @ (self.sign * curved.H / self.at.length) @ along)
        hazard = math.exp(-β * β / 2 - float(log_ndtr(-β))) / math.sqrt(2 * math.pi)
        factors = 1 - hazard * a
        return (
            float(ndtr(-β)) / math.sqrt(float(np.prod(factors)))
            if (factors > 0).all()
            else math.nan
        )


def curved_at(column: StandardColumn, u: np.ndarray) -> Curved:
    """Compute second derivatives at a point by central differences of gradients."""
    steps = STEP * np.eye(u.size)
    sides = column.many(np.concatenate([u + steps, u - steps]))
    plus, minus = sides[: u.size], sides[u.size :]
    pairs = list(zip(plus, minus, strict=True))
    H = np.array([(p.slope - m.slope) / (2 * STEP) for p, m in pairs])
    mixed = np.array([(p.by_variable - m.by_variable) / (2 * STEP) for p, m in pairs])
    return Curved((H + H.T) / 2, mixed)


def nearest_point(
    column: StandardColumn, limit: float, sign: float, start: np.ndarray
) -> FormPoint:
    """Search for a design point from an initial point.

    Raises:
        LostSearch: if it does not converge.
    """
    here = column.at(start)
    for k in range(MOST):
        _check_slope(column, here)
        n, length = here.slope, here.length
        target = (float(n @ here.u) - (here.y - limit)) / length**2 * n
        step = target - here.u
        if np.linalg.norm(step) <= CONVERGED * max(1.0, float(np.linalg.norm(here.u))):
            return FormPoint(here, sign)
        if k >= FIRST:
            step = _quadratic_step(column, limit, here, step)
            target = here.u + step
        κ = 2 * max(float(np.linalg.norm(target)), float(np.linalg.norm(here.u)), 1.0) / length

        def merit(at: At, κ: float = κ) -> float:
            return 0.5 * float(at.u @ at.u) + κ * abs(at.y - limit)

        share, there = 1.0, _reached(column, here.u + step)
        most = merit(here) * (1 + ROUGH) + κ * ROUGH * abs(limit)
        while there is None or merit(there) > most:
            share /= 2
            if share < SHORTEST:
                raise _lost(column, limit, here)
            there = _reached(column, here.u + share * step)
        here = there
    raise _lost(column, limit, here)


def _quadratic_step(
    column: StandardColumn, limit: float, here: At, plain: np.ndarray
) -> np.ndarray:
    """Compute a step of sequential quadratic programming; return the plain step if a run fails."""
    u, n = here.u, here.slope
    try:
        H = curved_at(column, u).H
    except VarimechError:
        return plain
    λ = float(u @ n) / here.length**2
    onto = -(here.y - limit) / here.length**2 * n
    W = np.eye(u.size) - λ * H
    along = np.linalg.svd(n[None])[2][1:].T
    w, V = np.linalg.eigh(along.T @ W @ along)
    along = along @ V
    right = -along.T @ (u + W @ onto)
    return np.asarray(onto + along @ (right / np.maximum(np.abs(w), FLATTEST)))


def extreme_on_sphere(
    column: StandardColumn, β: float, sign: float, start: np.ndarray | None
) -> At:
    """Find the largest (sign 1) or smallest value on a sphere.

    Raises:
        VarimechError: if the search does not converge.
    """
    d = len(column.point.mean)
    here = column.at(np.zeros(d) if start is None else start)
    if start is None:
        _check_slope(column, here)
        here = column.at(β * sign * here.slope / here.length)
    for k in range(MOST):
        _check_slope(column, here)
        target = β * sign * here.slope / here.length
        if np.linalg.norm(target - here.u) <= CONVERGED * max(1.0, β):
            return here
        if k >= FIRST:
            target = _by_newton(column, here, sign, target)
        share, there = 1.0, _reached(column, target)
        while there is None or sign * there.y < sign * here.y - ROUGH * abs(here.y):
            share /= 2
            if share < SHORTEST:
                raise _lost_on_sphere(column, β)
            turned = here.u + share * (target - here.u)
            size = float(np.linalg.norm(turned))  # 0 halfway between opposite points
            there = _reached(column, β * turned / size) if size > 0 else None
        here = there
    raise _lost_on_sphere(column, β)


def _by_newton(column: StandardColumn, here: At, sign: float, target: np.ndarray) -> np.ndarray:
    """Compute the next point of Newton's method on a sphere; return `target` if y has no largest
    (sign 1) or smallest value on the sphere nearby, or if a run fails.
    """
    u, d = here.u, here.u.size
    λ = float(here.slope @ u) / float(u @ u)
    try:
        K = curved_at(column, u).H - λ * np.eye(d)
    except VarimechError:
        return target
    along = np.linalg.svd(u[None])[2][1:].T
    if (np.linalg.eigvalsh(sign * along.T @ K @ along) >= 0).any():
        return target
    step = along @ np.linalg.solve(along.T @ K @ along, -along.T @ here.slope)
    turned = u + step
    return np.asarray(turned * (np.linalg.norm(u) / np.linalg.norm(turned)))


def _reached(column: StandardColumn, u: np.ndarray) -> At | None:
    """Value and derivatives of the column at a point; None if the run fails."""
    try:
        return column.at(u)
    except VarimechError:
        return None


def _check_slope(column: StandardColumn, here: At) -> None:
    if not here.length > 0:
        raise VarimechError(
            f"{column.label}: it does not change with the random parameters at a point of the search"
            " for the design point",
            remedy="use statistics='samples'",
        )


class LostSearch(VarimechError):
    """A search for a design point that did not converge."""

    last: At | None = None
    """Point at which the search ended, if it lies on the limit."""


def _lost(column: StandardColumn, limit: float, here: At) -> LostSearch:
    missing = abs(here.y - limit) / here.length if here.length > 0 else math.inf
    where = (
        f"on it, at a point {np.linalg.norm(here.u):.3g} standard deviations from the medians that"
        " is not the nearest"
        if missing < ON_LIMIT
        else f"{missing:.2g} standard deviations away from it. The limit may be out of reach"
    )
    lost = LostSearch(
        f"{column.label}: no design point was found; the search for {limit:g} ended {where}",
        remedy="use statistics='samples'",
    )
    lost.last = here if missing < ON_LIMIT else None
    return lost


def _lost_on_sphere(column: StandardColumn, β: float) -> VarimechError:
    return VarimechError(
        f"{column.label}: no extreme value was found {β:.3g} standard deviations away from the"
        " medians of the parameters",
        remedy="use statistics='samples'",
    )
