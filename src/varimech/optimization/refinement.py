"""Refinement between stored times: where a path violates its bound between them, the instant is
stored, too, and the search continues.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .attempt import Attempt
from .design_problem import DesignProblem
from .evaluation import MechanismEvaluator
from .quantities import Path
from .search import Searches, Stopped, search
from .settings import Settings

FINER = 10
"""Factor by which stored times are refined to check paths; a round value."""
PASSES = 10
"""Maximum number of refinements; a round value."""
NEW = 1e-7
"""Smallest distance of an additional instant from stored ones, relative to the duration of the
run.
"""
MISSED = 1e-8
"""Smallest violation between stored times, relative to the size of the path, that counts; well
above rounding.
"""


def refined_search(
    problem: DesignProblem, settings: Settings, best: Attempt, label: str, progress: bool | None
) -> tuple[DesignProblem, Attempt]:
    """Return the problem with additional instants, and its optimum; both unchanged if there are no
    violations.

    Raises:
        Stopped: on Ctrl-C, with the last completed search.
    """
    try:
        for _ in range(PASSES):
            if (
                not problem.paths
                or not best.feasible
                or not isinstance(problem.evaluator, MechanismEvaluator)
            ):
                return problem, best
            times = _missed(problem, best.x)
            evaluator = problem.evaluator.storing(times)
            if not times.size or evaluator is None:
                return problem, best
            finer = problem.with_evaluator(evaluator)
            again, _ = search(finer, replace(settings, warm=True), [best.x], label, progress)
            if not again.feasible:
                return problem, replace(best, converged=False)
            trace = np.vstack([best.trace, again.trace[1:]])
            problem, best = (
                finer,
                replace(
                    again,
                    start=best.start,
                    iterations=best.iterations + again.iterations,
                    trace=trace,
                    left=(*best.left, *again.left),
                ),
            )
        return problem, replace(
            best, converged=best.converged and not _missed(problem, best.x).size
        )
    except KeyboardInterrupt:
        raise Stopped(problem, best, Searches()) from None


def _missed(problem: DesignProblem, x: np.ndarray) -> np.ndarray:
    """Instants of the largest violations of path bounds (or of the peak), and neighbouring
    instants, because maxima move.
    """
    assert isinstance(problem.evaluator, MechanismEvaluator)
    run = problem.evaluator.simulate(x, finer=FINER)
    bounds = {r.name: (r.constraint.lower, r.constraint.upper) for r in problem.rows}
    bounds[problem.name] = (-np.inf, problem.fun(x))
    instants: list[float] = []
    for name, path in problem.paths.items():
        assert isinstance(path, Path)  # paths of a mechanism only
        h = run.measure(path.function, name=name).to_numpy()
        lower, upper = bounds[name]
        for beyond in (h - upper, lower - h):
            times, heights = summits(run.time, beyond)
            for s in times[heights > MISSED * np.abs(h).max()]:
                k = min(int(np.searchsorted(run.time, s)), run.time.size - 1)
                spacing = run.time[k] - run.time[k - 1] if k else 0.0
                instants += [s - spacing, s, s + spacing]
    known, inside = problem.time, np.clip(instants, 0.0, problem.time[-1])
    return np.array([s for s in inside if np.abs(known - s).min() > NEW * known[-1]])


def summits(t: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Times and heights of the local maxima of a curve: vertices of parabolas through three points,
    and both ends.
    """
    k = 1 + np.flatnonzero((h[1:-1] >= h[:-2]) & (h[1:-1] > h[2:]))
    left, right = t[k] - t[k - 1], t[k + 1] - t[k]
    before, after = (h[k] - h[k - 1]) / left, (h[k + 1] - h[k]) / right
    curvature, slope = (
        (after - before) / (left + right),
        (before * right + after * left) / (left + right),
    )
    shift = np.clip(-slope / (2 * curvature), -left, right)
    return np.array([t[0], *(t[k] + shift), t[-1]]), np.array(
        [h[0], *(h[k] + shift * (slope + curvature * shift)), h[-1]]
    )
