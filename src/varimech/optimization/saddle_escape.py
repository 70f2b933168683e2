"""Leave stationary designs that are not local minima: a step in a direction of decrease, then a new
search.

Second derivatives propose the direction, and values of the Lagrangian confirm it: both have to
agree before a design counts as a saddle point.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .attempt import SETTLED, Attempt, Broken, Stationary, attempt, silently
from .curvature import Curvature, curvature, unchecked
from .design_problem import DesignProblem
from .settings import Settings

REACH = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Steps from a stationary design, in scaled variables, the shortest first: from 0.01 on, a
fourth-order term of the objective, 1e-8, exceeds the noise of runs; steps longer than a range help
if the initial size scales an unbounded variable badly.
"""
NEAR = 0.3
"""Preferred step, if the objective decreases that far: solvers are slow close to a stationary
design.
"""
AGREE = 0.1
"""Fraction of the decrease predicted by second derivatives that values must confirm."""
MOST = 5
"""Maximum number of stationary designs that are left one after another."""
TRIED = 8
"""Maximum number of points from which the search continues at each stationary design."""


def settled(problem: DesignProblem, settings: Settings, first: Attempt) -> Attempt:
    """Return the attempt, checked to second order, or the attempt that continues it if it ended at
    a saddle point or a maximum.
    """
    current = first
    for _ in range(MOST):
        if not current.converged:
            return current
        check = curvature(current.scaled, current.z, current.optimality, exact=settings.exact)
        current = replace(current, curvature=check)
        if not check.directions:
            return current
        falls, again = _onward(problem, settings, current, check)
        if again is None:
            doubt = unchecked(
                "second derivatives are negative in some direction, in which values do not decrease"
            )
            contradicted = check.kind in ("saddle", "maximum") and not falls
            return replace(current, converged=not falls, curvature=doubt if contradicted else check)
        current = _joined(settings, current, again, check)
    return replace(
        current, curvature=unchecked(f"{MOST} stationary designs were left, which is the limit")
    )


def _onward(
    problem: DesignProblem, settings: Settings, there: Attempt, check: Curvature
) -> tuple[bool, Attempt | None]:
    """Whether the objective decreases in some direction, and the search from there; None if no
    search ended lower.
    """
    falls = [(d, α) for d, κ in check.directions for α in _falls(problem, there, d, κ)]
    rough, lower = problem.evaluator.roughness * abs(there.objective), []
    for d, α in falls[:TRIED]:
        try:
            again = attempt(
                problem, replace(settings, warm=False), there.scaled.x_of(there.z + α * d), silently
            )
        except Broken:  # the previous design is more accurate
            raise KeyboardInterrupt from None
        if again.feasible and again.objective < there.objective - rough:
            lower.append(again)
            if again.converged:
                return True, again
    return bool(falls), min(lower, key=lambda a: a.objective, default=None)


def _joined(settings: Settings, before: Attempt, again: Attempt, check: Curvature) -> Attempt:
    """Combine both attempts: the stationary design is recorded, and convergence is relative to the
    larger initial gradient.
    """
    kind = check.kind if check.kind != "flat" else "stationary"
    point = Stationary(kind, before.x, before.objective)
    ratio = min(1.0, again.scaled.objective_size / before.scaled.objective_size)
    residual = again.optimality.residual * ratio
    return replace(
        again,
        start=before.start,
        optimality=replace(again.optimality, residual=residual),
        converged=again.feasible and residual <= max(SETTLED, 100 * settings.tolerance),
        iterations=before.iterations + again.iterations,
        trace=np.vstack([before.trace, again.trace]),
        left=(*before.left, point),
    )


def _falls(problem: DesignProblem, there: Attempt, d: np.ndarray, κ: float) -> list[float]:
    """Steps of `REACH` along d over which the Lagrangian decreases monotonically, those near `NEAR`
    first; none if it increases at first.
    """
    scaled, z = there.scaled, there.z
    rows = there.optimality.scaled[: scaled.row_lower.size]

    def value(at: np.ndarray) -> float:
        return scaled.objective(at) + float(rows @ scaled.constraints(at))

    base, rough = value(z), problem.evaluator.roughness * abs(scaled.objective(z))
    # without negative curvature only values count: add their noise, at a scaled size of one
    flat = problem.evaluator.roughness if κ >= 0 else 0.0
    ahead = np.where(d > 0, scaled.upper, scaled.lower) - z
    moving = np.abs(d) > 1e-9  # components below are rounding
    limit = float((ahead[moving] / d[moving]).min(initial=np.inf))
    steps: list[float] = []
    lowest = 0.0
    for α in [a for a in REACH if a <= limit] or [limit]:
        if α <= 0 or not scaled.works(z + α * d):
            break
        change = value(z + α * d) - base
        if change > rough + flat or (steps and change >= lowest):
            break
        if change < -max(AGREE * abs(κ) * α**2 / 2, rough, flat):
            steps, lowest = [*steps, α], change
    return sorted(steps, key=lambda α: abs(np.log(α / NEAR)))
