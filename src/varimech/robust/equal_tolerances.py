"""Equal tolerances at equal risk: the reference for the cost of an allocation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..optimization.design_problem import DesignProblem
from ..optimization.scaled import Scaled
from .allocating import AllocationTask, Found
from .sequential import ExplicitStatistics

CLOSE, MOST = 1e-5, 12
"""Relative accuracy of the factor of equal tolerances, which is sufficient because their cost
serves for comparison only; and maximum number of evaluations.
"""


@dataclass(frozen=True, eq=False)
class Equal:
    """Equal tolerances at equal risk."""

    rule: str
    """Quantity in which the tolerances are equal."""
    widths: np.ndarray
    cost: float


def equal_tolerances(task: AllocationTask, best: Found) -> Equal | None:
    """Find the widest equal tolerances that satisfy the constraints at the nominal values of a
    design: equal widths if all have the same unit, otherwise equal widths relative to the nominal
    values.

    Bounds of tolerances apply here too. None if no factor satisfies the constraints. Between
    evaluations the statistics are assumed to vary as those of linear functions do, so that a few
    evaluations suffice.
    """
    ratios, rule = _ratios(task)
    low, high = task.variables.lower[task.widths], task.variables.upper[task.widths]
    problem = task.problem(best.x)
    sizes = Scaled(problem, problem.space.start).row_sizes

    def design(k: float) -> np.ndarray:
        x = best.x.copy()
        x[task.widths] = np.clip(np.exp(k) * ratios, low, high)
        return x

    def margin(p: DesignProblem, k: float) -> float:
        c = p.constraints(task.variables.z_of(design(k)))
        lower, upper = p.constraint_bounds
        return float((np.minimum(c - lower, upper - c) / sizes).min())

    ends = float(np.log((low / ratios).min())), float(np.log((high / ratios).max()))
    k = float(np.log(best.x[task.widths] / ratios).mean())
    for _ in range(MOST):
        z = task.variables.z_of(design(k))
        outcome = problem.outcome(z)
        if outcome is None:
            return None
        explicit = problem.with_evaluator(ExplicitStatistics(problem, z, outcome))
        before, k = k, _widest(lambda k, p=explicit: margin(p, k), *ends)  # type: ignore[misc]
        if abs(k - before) < CLOSE:
            break
    if margin(problem, k) < -CLOSE:
        return None
    x = design(k)
    return Equal(rule, x[task.widths], task.cost_at(x))


def _ratios(task: AllocationTask) -> tuple[np.ndarray, str]:
    """Equal tolerances up to a common factor, and the quantity in which they are equal."""
    nominal = np.array([abs(c.nominal) for c in task.choices])
    if len({c.unit for c in task.choices}) == 1:
        return np.ones(nominal.size), "equal widths"
    if (nominal > 0).all():
        return nominal, "equal shares of the nominal values"
    widths = np.array([c.width for c in task.choices])
    return widths, "equal shares of the widths before"


def _widest(margin: Callable[[float], float], low: float, high: float) -> float:
    """Return the largest k with a nonnegative margin, which decreases with k; the smallest k if
    there is none.
    """
    from scipy.optimize import brentq

    if margin(high) >= 0:
        return high
    return float(brentq(margin, low, high, xtol=1e-12)) if margin(low) > 0 else low
