"""Search for local optima: from one or several initial designs, with a search for feasible designs
if constraints are not met.
"""

from __future__ import annotations

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
from .saddle_escape import settled
from .scaled import Scaled
from .settings import Settings

SAME = 1e-3
"""Distance of two designs, in ranges of parameters (or their initial sizes), below which they are
the same optimum; a round value.
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


class Stopped(KeyboardInterrupt):
    """Ctrl-C with a best design so far."""

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
    """The best attempt, and all of them.

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
        for k, start in enumerate(starts):
            done = k * settings.max_iterations

            def show(iteration: int, objective: float, done: int = done, k: int = k) -> None:
                which = f"start {k + 1} of {len(starts)}, " if len(starts) > 1 else ""
                report(
                    done + iteration,
                    f"{which}iteration {iteration}, {problem.name} = {objective:.6g}",
                )

            _begin(problem, settings, start, searches, show, alone=len(starts) == 1)
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


def _begin(
    problem: DesignProblem,
    settings: Settings,
    start: np.ndarray,
    searches: Searches,
    show: Show,
    *,
    alone: bool,
) -> None:
    """One search, checked to second order if it ends at a new optimum."""
    if problem.outcome(start) is None:
        searches.failed.append(
            FailedStart(start, next(e for x, e in problem.failures if np.array_equal(x, start)))
        )
        return
    try:
        result = attempt(problem, settings, start, show)
    except VarimechError as error:
        if alone:
            raise
        searches.failed.append(FailedStart(start, error))
        return
    known = next(
        (a for a in searches.attempts if a.converged and same_optimum(problem, a, result)), None
    )
    searches.attempts.append(result)
    if known is not None and result.converged:
        _replaced(searches.attempts, result, replace(result, curvature=known.curvature))
    else:
        _replaced(searches.attempts, result, settled(problem, settings, result))


def _replaced(attempts: list[Attempt], old: Attempt, new: Attempt) -> Attempt:
    attempts[next(k for k, a in enumerate(attempts) if a is old)] = new
    return new


def _feasible_design(problem: DesignProblem, near: Attempt) -> np.ndarray:
    """A feasible design, by least squares of the constraint violations.

    Raises:
        InfeasibleError: if there is none nearby.
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
    # strictly inside, as least_squares demands; variables are of magnitude one, so that 1e-12 is
    # little above rounding
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
        ModelError: if one is invalid.
    """
    check_whole("optimize", 1, max_iterations=max_iterations)
    if not isinstance(tolerance, (int, float)) or not 0 < tolerance < 1:
        problem = "must be a number between 0 and 1"
        raise ModelError(problem, field="tolerance_optimality", value=tolerance)
