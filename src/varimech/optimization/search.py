"""Search for local optima from one or several initial designs, preceded by a search for a feasible
design if constraints are violated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ..core.errors import InfeasibleError, ModelError, VarimechError, check_whole
from ..core.messages import Message
from ..core.progress import progress_bar
from .attempt import (
    FEASIBLE,
    Attempt,
    Broken,
    Show,
    attempt,
    best_of,
    continued,
    sharpened,
    stopped,
)
from .design_problem import DesignProblem
from .evaluation import MechanismEvaluator
from .lockstep import FEWEST, ManyEvaluator, side_by_side
from .saddle_escape import settled
from .scaled import Scaled
from .settings import Settings

SAME = 1e-3
"""Distance of two designs, relative to the ranges of parameters (or their initial sizes), below
which they are the same optimum; a round value.
"""


@dataclass(frozen=True, eq=False)
class FailedStart:
    """An initial design at which the mechanism does not run."""

    x: np.ndarray
    error: VarimechError


@dataclass(eq=False)
class Searches:
    """The searches from all initial designs."""

    attempts: list[Attempt] = field(default_factory=list)
    failed: list[FailedStart] = field(default_factory=list)

    def add(self, result: Attempt | FailedStart) -> None:
        """Add the result of a search."""
        if isinstance(result, FailedStart):
            self.failed.append(result)
        else:
            self.attempts.append(result)


class Stopped(KeyboardInterrupt):
    """Ctrl-C, with the best design so far."""

    def __init__(self, problem: DesignProblem, best: Attempt, searches: Searches):
        super().__init__()
        self.problem = problem
        self.best = stopped(best)
        self.searches = Searches(
            [self.best if a is best else a for a in searches.attempts], searches.failed
        )


def search(
    problem: DesignProblem,
    settings: Settings,
    starts: list[np.ndarray],
    label: str,
    progress: bool | None,
) -> tuple[Attempt, Searches]:
    """Return the best attempt and all searches.

    Raises:
        Stopped: on Ctrl-C, with the attempts so far; a plain KeyboardInterrupt before the first
            iteration.
    """
    searches = Searches()
    try:
        return _search(problem, settings, starts, searches, label, progress), searches
    except Broken as broken:
        searches.attempts.append(broken.attempt)
    except KeyboardInterrupt:
        if not searches.attempts:
            raise KeyboardInterrupt from None
    raise Stopped(problem, best_of(searches.attempts), searches)


def same_optimum(problem: DesignProblem, one: Attempt, other: Attempt) -> bool:
    """Whether two searches ended at the same design."""
    return bool((np.abs(one.x - other.x) <= SAME * problem.space.sizes).all())


def _search(
    problem: DesignProblem,
    settings: Settings,
    starts: list[np.ndarray],
    searches: Searches,
    label: str,
    progress: bool | None,
) -> Attempt:
    attempts = searches.attempts
    with progress_bar(
        f"{label}: optimisation", len(starts) * settings.max_iterations, progress
    ) as report:
        together = _evaluator_of_many(problem) if len(starts) >= FEWEST else None
        if together is None:
            for k, start in enumerate(starts):
                show = _shown(problem, settings, len(starts), report, k)
                result = _begun(problem, settings, start, show, alone=len(starts) == 1)
                searches.add(result)
                if isinstance(result, Attempt):
                    _check(problem, settings, attempts, result)
        else:
            _begin_all(problem, settings, starts, searches, together, report)
        if not attempts:
            raise searches.failed[0].error
        best = best_of(attempts)
        if not best.feasible:
            best = _replaced(
                attempts, best, continued(problem, settings, best, _feasible_design(problem, best))
            )
            best = _replaced(attempts, best, settled(problem, settings, best))
        sharp = sharpened(problem, settings, best)
        if sharp is not best:
            best = _replaced(attempts, best, settled(problem, settings, sharp))
    return best


def _shown(
    problem: DesignProblem, settings: Settings, starts: int, report: Callable[..., None], k: int
) -> Show:
    """Return a callback that reports iterations of the search from one initial design."""

    def show(iteration: int, objective: float) -> None:
        which = f"start {k + 1} of {starts}, " if starts > 1 else ""
        done = k * settings.max_iterations + iteration
        report(done, f"{which}iteration {iteration}, {problem.name} = {objective:.6g}")

    return show


def _evaluator_of_many(problem: DesignProblem) -> ManyEvaluator | None:
    """Return the evaluator if it runs many designs in batches."""
    evaluator = problem.evaluator
    if isinstance(evaluator, MechanismEvaluator) and evaluator.has_vectors:
        return evaluator
    return None


def _begin_all(
    problem: DesignProblem,
    settings: Settings,
    starts: list[np.ndarray],
    searches: Searches,
    evaluator: ManyEvaluator,
    report: Callable[..., None],
) -> None:
    """Run searches concurrently; add their results in the order of the initial designs.

    Raises:
        KeyboardInterrupt: on Ctrl-C, after all attempts so far are added.
    """
    iterations = [0] * len(starts)

    def begun(own: DesignProblem, k: int) -> Attempt | FailedStart:
        def show(iteration: int, objective: float) -> None:
            iterations[k] = iteration
            note = f"{len(starts)} starts side by side, {problem.name} = {objective:.6g}"
            report(sum(iterations), note)

        return _begun(own, settings, starts[k], show, alone=False)

    results = side_by_side(problem, evaluator, starts, begun)
    for result in results:
        if isinstance(result, Broken):
            searches.attempts.append(result.attempt)
        elif isinstance(result, (Attempt, FailedStart)):
            searches.add(result)
        elif not isinstance(result, KeyboardInterrupt):
            raise result
    if any(isinstance(result, KeyboardInterrupt) for result in results):
        raise KeyboardInterrupt
    for result in [r for r in results if isinstance(r, Attempt)]:
        _check(problem, settings, searches.attempts, result)


def _begun(
    problem: DesignProblem, settings: Settings, start: np.ndarray, show: Show, *, alone: bool
) -> Attempt | FailedStart:
    """Run one search."""
    if problem.outcome(start) is None:
        return FailedStart(start, next(e for x, e in problem.failures if np.array_equal(x, start)))
    try:
        return attempt(problem, settings, start, show)
    except VarimechError as error:
        if alone:
            raise
        return FailedStart(start, error)


def _check(
    problem: DesignProblem, settings: Settings, attempts: list[Attempt], result: Attempt
) -> None:
    """Check an attempt to second order, unless an earlier one ended at the same optimum."""
    earlier = attempts[: next(k for k, a in enumerate(attempts) if a is result)]
    known = next((a for a in earlier if a.converged and same_optimum(problem, a, result)), None)
    if known is not None and result.converged:
        _replaced(attempts, result, replace(result, curvature=known.curvature))
    else:
        _replaced(attempts, result, settled(problem, settings, result))


def _replaced(attempts: list[Attempt], old: Attempt, new: Attempt) -> Attempt:
    attempts[next(k for k, a in enumerate(attempts) if a is old)] = new
    return new


def _feasible_design(problem: DesignProblem, near: Attempt) -> np.ndarray:
    """Find a feasible design by least squares of the constraint violations.

    Raises:
        InfeasibleError: if there is no feasible design nearby.
    """
    from scipy.optimize import least_squares

    scaled = Scaled(problem, near.x)

    def violations(z: np.ndarray) -> np.ndarray:
        return problem.violations(scaled.x_of(z)) / scaled.row_sizes

    def derivatives(z: np.ndarray) -> np.ndarray:
        x = scaled.x_of(z)
        lower, upper = problem.constraint_bounds
        c = problem.constraints(x)
        signs = np.where(c > upper, 1.0, np.where(c < lower, -1.0, 0.0)) / scaled.row_sizes
        return signs[:, None] * problem.constraints_jac(x) * scaled.sizes

    size = near.x.size
    low, high = scaled.lower[:size], scaled.upper[:size]
    # strictly inside, as least_squares requires; variables are of magnitude one, so that 1e-12 is
    # just above rounding
    z0 = np.clip(np.zeros(size), low + 1e-12, high - 1e-12)
    solution = least_squares(
        violations, z0, derivatives, (low, high), xtol=1e-12, ftol=1e-12, gtol=1e-12, max_nfev=100
    )
    x = scaled.x_of(solution.x)
    remaining = problem.violations(x)
    if (remaining / scaled.row_sizes).max(initial=0.0) <= FEASIBLE:
        return x
    values = problem.constraints(x)
    amounts = {
        r.name: float(remaining[r.rows].max())
        for r in problem.rows
        if (remaining / scaled.row_sizes)[r.rows].max() > FEASIBLE
    }
    descriptions = []
    for r in problem.rows:
        if r.name in amounts:
            k = int(remaining[r.rows].argmax())
            when = f" at t = {problem.time[k]:.4g} s" if r.name in problem.paths else ""
            descriptions.append(
                f"{r.name!r} ({r.constraint.rule}) is {values[r.rows][k]:.6g}{when}, violated by"
                f" {amounts[r.name]:.3g}"
            )
    nearest = dict(zip(problem.names, x.tolist(), strict=True))
    at = ", ".join(f"{name} = {value:.6g}" for name, value in nearest.items())
    raise InfeasibleError(
        f"optimize: no design was found that meets all constraints; the nearest one, {at}:"
        f" {'; '.join(descriptions)}",
        amounts,
        nearest,
        remedy=Message(
            "relax that bound, add parameters to {over}, widen {bounds}, or try other starts"
            " ({start}, {starts})",
            start=...,
            starts=8,
        ),
    )


def check_settings(max_iterations: int, tolerance: float) -> None:
    """Check the number of iterations and the tolerance.

    Raises:
        ModelError: if one of them is invalid.
    """
    check_whole("optimize", 1, max_iterations=max_iterations)
    if not isinstance(tolerance, (int, float)) or not 0 < tolerance < 1:
        problem = "must be a number between 0 and 1"
        raise ModelError(problem, field="tolerance_optimality", value=tolerance)
