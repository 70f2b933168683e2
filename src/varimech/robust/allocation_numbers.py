"""Figures of an allocation: statistics, multipliers, and the effect of each tolerance."""

from __future__ import annotations

import numpy as np

from .allocating import AllocationTask, Found
from .allocation import Allocation, Bounded
from .before_after import TwoDesigns
from .equal_tolerances import Equal
from .evaluator import StatisticsEvaluator
from .grade_search import Graded
from .verification import Verification


def allocation_of(
    evaluator: StatisticsEvaluator,
    stated: AllocationTask,
    task: AllocationTask,
    best: Found,
    corrections: int,
    equal: Equal | None,
    graded: Graded | None,
    verification: Verification | None,
    seconds: float,
) -> Allocation:
    """Build the result of a search.

    Args:
        evaluator: evaluator of the statistics, which counts its runs.
        stated: the allocation task as stated by the user.
        task: the allocation task with corrected targets.
        best: the cheapest continuous design.
        corrections: number of corrections of targets.
        equal: equal tolerances at equal risk.
        graded: the design in grades, if tolerances are in grades.
        verification: verification of the resulting design by independent samples.
        seconds: total wall time.
    """
    widths, x = task.widths, best.x if graded is None else graded.x
    start = task.variables.start
    outcome = best.outcome if graded is None else task.evaluator.run(x)
    before = task.evaluator.run(start)
    constraints, risk = [], []
    for name, c in stated.constraints.items():
        values, derivatives = task.values(outcome, name)
        k = int(np.argmin(np.minimum(values - c.lower, c.upper - values)))
        value = stated.uncorrected(task, name, values)[k]
        first = stated.uncorrected(task, name, task.values(before, name)[0])
        λ = _multiplier(stated, task, best, name)
        own = first[int(np.argmin(np.minimum(first - c.lower, c.upper - first)))]
        bounds = c.lower, c.upper
        unit = c.of.unit
        constraints.append(Bounded(name, c.rule, unit, float(own), float(value), *bounds, λ))
        share = stated.uncorrected_derivatives(task, name, values)[k]
        risk.append(share * derivatives[k, widths])
    runs = {
        "runs": evaluator.counts.total,
        "gradient_runs": evaluator.counts.gradients,
        "second_order_runs": evaluator.counts.products,
    }
    continuous = task.cost_at(best.x)
    return Allocation(
        task.label,
        task.choices,
        start[widths],
        x[widths],
        task.variables.lower[widths],
        task.variables.upper[widths],
        {name: (float(start[k]), float(x[k])) for k, name in enumerate(task.nominals)},
        tuple(constraints),
        np.array(risk).reshape(len(constraints), -1),
        np.array([_brings(task, best, y) for y in (start, x)]),
        equal,
        {} if graded is None else graded.grades,
        continuous,
        ", ".join(sorted(set(evaluator.titles.values()))),
        runs,
        corrections,
        best.attempt.converged,
        best.attempt.message,
        verification,
        seconds,
        TwoDesigns(evaluator.task, start, x),
    )


def _multiplier(stated: AllocationTask, task: AllocationTask, best: Found, name: str) -> float:
    """λ of a constraint in the user's units, at the target that the user stated, with its
    correction held fixed; zero if the constraint is inactive.
    """
    if not task.is_active(best, name):
        return 0.0
    rows = next(r.rows for r in best.problem.rows if r.name == name)
    λ = best.attempt.optimality.rows[rows]
    values, _ = task.values(best.outcome, name)
    values = stated.uncorrected(task, name, values)
    return float((λ * stated.search_derivatives(name, values)).sum())


def _brings(task: AllocationTask, best: Found, x: np.ndarray) -> np.ndarray:
    """Effect of each tolerance, Σ λ ∂s/∂t, at a design, with the multipliers of the optimum."""
    problem = task.problem(x)
    J = problem.constraints_jac(problem.space.start)
    active = np.concatenate(
        [np.full(r.rows.stop - r.rows.start, task.is_active(best, r.name)) for r in problem.rows]
    )
    λ = np.where(active, best.attempt.optimality.rows, 0.0)
    return (λ @ J)[task.widths] / x[task.widths]
