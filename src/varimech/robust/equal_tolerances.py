"""Equal tolerances at equal risk: what an allocation is compared with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..optimization.scaled import Scaled
from .allocating import AllocationTask

CLOSE = 1e-4
"""Accuracy of the factor of equal tolerances, and so of their cost, which is a comparison only."""


@dataclass(frozen=True, eq=False)
class Equal:
    """Equal tolerances at equal risk."""

    rule: str
    """In what they are equal."""
    widths: np.ndarray
    cost: float


def equal_tolerances(task: AllocationTask, x: np.ndarray) -> Equal | None:
    """The widest equal tolerances that meet the constraints, at the nominal values of a design:
    equal widths where all have one unit, equal shares of the nominal values otherwise.

    Bounds of tolerances hold for them too. None where no factor meets the constraints.
    """
    one_unit = len({c.unit for c in task.choices}) == 1
    nominal = np.array([abs(c.nominal) for c in task.choices])
    shares = not one_unit and bool((nominal > 0).all())
    if one_unit:
        ratios, rule = np.ones(nominal.size), "equal widths"
    elif shares:
        ratios, rule = nominal, "equal shares of the nominal values"
    else:
        ratios, rule = (
            np.array([c.width for c in task.choices]),
            "equal shares of the widths before",
        )
    low, high = task.variables.lower[task.widths], task.variables.upper[task.widths]

    def widths(k: float) -> np.ndarray:
        return np.clip(np.exp(k) * ratios, low, high)

    problem = task.problem(x)
    sizes = Scaled(problem, problem.space.start).row_sizes

    def margin(k: float) -> float:
        y = x.copy()
        y[task.widths] = widths(k)
        c = problem.constraints(task.variables.z_of(y))
        lower, upper = problem.constraint_bounds
        return float((np.minimum(c - lower, upper - c) / sizes).min())

    k = _widest(margin, float(np.log((low / ratios).min())), float(np.log((high / ratios).max())))
    if k is None:
        return None
    y = x.copy()
    y[task.widths] = widths(k)
    return Equal(rule, y[task.widths], task.cost_at(y))


def _widest(margin: Callable[[float], float], low: float, high: float) -> float | None:
    """The largest k with a margin, which falls with k."""
    from scipy.optimize import brentq

    if margin(high) >= 0:
        return high
    if margin(low) < 0:
        return None
    return float(brentq(margin, low, high, xtol=CLOSE, rtol=CLOSE)) - CLOSE
