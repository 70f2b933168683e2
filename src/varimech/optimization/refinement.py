"""Between stored times: where a path breaks its bound there, the instant is stored too, and the search goes on from where it ended."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .evaluation import MechanismEvaluator
from .problem import DesignProblem
from .search import Attempt, search
from .solvers import Settings

FINER = 10
"""How many times as often as in the optimisation a path is looked at."""
PASSES = 4
MISSED = 1e-8
"""Violation between stored times, relative to the size of the path, that counts."""


def refined_search(
    problem: DesignProblem, settings: Settings, best: Attempt, label: str, progress: bool | None
) -> tuple[DesignProblem, Attempt]:
    """The problem with more instants, and its optimum; both as they are where nothing is missed."""
    for _ in range(PASSES):
        if not problem.paths or not best.feasible or not isinstance(problem.evaluator, MechanismEvaluator):
            break
        times = _missed(problem, best.x)
        evaluator = problem.evaluator.storing(times)
        if not times.size or evaluator is None:
            break
        finer = DesignProblem(
            evaluator, replace(problem.space, start=best.x), problem.name, problem.goal, problem.named_constraints
        )
        finer.evaluations += problem.evaluations
        finer.failures[:0] = problem.failures
        again, _ = search(finer, settings, [best.x], label, progress)
        if not again.feasible:
            break
        trace = np.vstack([best.trace, again.trace[1:]])
        problem, best = finer, replace(again, start=best.start, iterations=best.iterations + again.iterations, trace=trace)
    return problem, best


def _missed(problem: DesignProblem, x: np.ndarray) -> np.ndarray:
    """Instants at which paths go furthest beyond their bounds (or beyond their peak), by a parabola through three results."""
    assert isinstance(problem.evaluator, MechanismEvaluator)
    run = problem.evaluator.simulate(x, finer=FINER)
    bounds = {r.name: (r.constraint.lower, r.constraint.upper) for r in problem.rows}
    bounds[problem.name] = (-np.inf, problem.fun(x))
    found: list[float] = []
    for name, path in problem.paths.items():
        h, t = run.measure(path.function, name=name).to_numpy(), run.time
        lower, upper = bounds[name]
        for beyond in (h - upper, lower - h):
            inner = beyond[1:-1]
            top = (inner >= beyond[:-2]) & (inner > beyond[2:]) & (inner > MISSED * np.abs(h).max())
            found += [_vertex(t[k : k + 3], beyond[k : k + 3]) for k in np.flatnonzero(top)]
    known = problem.time
    return np.array([s for s in found if np.abs(known - s).min() > 1e-9 * known[-1]])


def _vertex(t: np.ndarray, h: np.ndarray) -> float:
    """Where the parabola through three points is largest."""
    left, right = t[1] - t[0], t[2] - t[1]
    before, after = (h[1] - h[0]) / left, (h[2] - h[1]) / right
    bend, slope = (after - before) / (left + right), (before * right + after * left) / (left + right)
    return float(np.clip(t[1] - slope / (2 * bend), t[0], t[2])) if bend < 0 else float(t[1])
