"""A search from one initial design: the design that a solver returns, judged independently of the
solver.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..core.errors import VarimechError
from .curvature import Curvature
from .design_problem import DesignProblem
from .optimality import Optimality, optimality
from .scaled import FLAT, Scaled
from .settings import Settings
from .solvers import solve

FEASIBLE = 1e-6
"""Violation of scaled constraints up to which a design counts as feasible; a round value, above the
solvers' tolerance of 1e-8.
"""
SHRUNK = 0.1
"""Ratio of the gradient at the optimum to that at the initial design below which the search is
repeated with new scales.
"""
SETTLED = 1e-6
"""Scaled optimality residual that counts as converged even if a solver's tolerance is smaller: the
noise of runs limits it.
"""
Show = Callable[[int, float], None]
"""Called with iteration and objective."""


@dataclass(frozen=True, eq=False)
class Stationary:
    """A stationary design that is not a local minimum and that the search left."""

    kind: str
    x: np.ndarray
    objective: float


@dataclass(frozen=True, eq=False)
class Attempt:
    """A search from one initial design."""

    start: np.ndarray
    x: np.ndarray
    objective: float
    scaled: Scaled
    """The scaled problem that the solver received."""
    z: np.ndarray
    """The design in scaled variables."""
    optimality: Optimality
    violation: float
    """Largest violation of the scaled constraints."""
    converged: bool
    message: str
    iterations: int
    exhausted: bool
    trace: np.ndarray
    """History, (iteration; objective, infeasibility, parameters)."""
    stopped: bool = False
    """Whether Ctrl-C ended the search."""
    curvature: Curvature | None = None
    """Second-order check; None before the check, or if the search has not converged."""
    left: tuple[Stationary, ...] = ()
    """Saddle points and maxima that the search reached and left."""

    @property
    def feasible(self) -> bool:
        """Whether all constraints are satisfied."""
        return self.violation <= FEASIBLE


class Broken(KeyboardInterrupt):
    """Ctrl-C after at least one iteration."""

    def __init__(self, attempt: Attempt):
        super().__init__()
        self.attempt = attempt


def stopped(attempt: Attempt) -> Attempt:
    """Return the attempt, marked as interrupted."""
    return replace(attempt, converged=False, message="stopped", stopped=True)


def best_of(attempts: list[Attempt]) -> Attempt:
    """Return the feasible attempt with the smallest objective or, if there is none, that with the
    smallest violation.
    """
    return min(attempts, key=lambda a: (0.0 if a.feasible else a.violation, a.objective))


def attempt(problem: DesignProblem, settings: Settings, start: np.ndarray, show: Show) -> Attempt:
    """Solve from one initial design and judge the result.

    Raises:
        Broken: on Ctrl-C after at least one iteration.
        VarimechError: if the solver fails.
    """
    scaled, trace = Scaled(problem, start), [_point(problem, start)]
    shortfalls = [scaled.shortfall(start)]

    def record(z: np.ndarray) -> None:
        x = scaled.x_of(z)
        if problem.outcome(x) is not None and not np.array_equal(x, trace[-1][2:]):
            shortfalls.append(scaled.shortfall(x))
            trace.append(_point(problem, x))
        show(len(trace) - 1, trace[-1][0])

    try:
        ended = solve(scaled, settings, record)
    except KeyboardInterrupt:
        if len(trace) == 1:
            raise
        raise Broken(_best_so_far(scaled, trace, shortfalls)) from None
    except VarimechError:
        raise
    except (RuntimeError, ValueError) as error:  # raised by solvers
        raise VarimechError(f"solver {settings.solver!r} failed: {error}") from error
    z = ended.z
    if not scaled.works(z):  # the solver ended within a line search
        z = np.concatenate([(trace[-1][2:] - start) / scaled.sizes, z[start.size :]])
    result = judged(scaled, z, ended.message, ended.iterations, trace)
    converged = result.feasible and result.optimality.residual <= max(
        SETTLED, 100 * settings.tolerance
    )
    return replace(result, converged=converged, exhausted=ended.exhausted)


def continued(problem: DesignProblem, settings: Settings, first: Attempt, x: np.ndarray) -> Attempt:
    """Continue a search from another design; both count as one search from the original initial
    design.
    """

    def joined(again: Attempt) -> Attempt:
        trace, iterations = (
            np.vstack([first.trace, again.trace]),
            first.iterations + again.iterations,
        )
        return replace(again, start=first.start, trace=trace, iterations=iterations)

    try:
        return joined(attempt(problem, settings, x, silently))
    except Broken as broken:
        raise Broken(joined(broken.attempt)) from None


def sharpened(problem: DesignProblem, settings: Settings, best: Attempt) -> Attempt:
    """Repeat the search from its optimum if the remaining gradient, before bounds and constraints,
    is much smaller than the initial gradient that scaled the search.
    """
    if not best.feasible or settings.warm:
        return best
    first, last = (Scaled(problem, x).objective_size for x in (best.start, best.x))
    if last <= max(FLAT * abs(best.objective), SETTLED * first) or last > SHRUNK * first:
        return best  # the gradient is zero, or still large
    try:
        again = attempt(problem, replace(settings, warm=True), best.x, silently)
    except Broken:  # the initial attempt is nearly optimal already
        raise KeyboardInterrupt from None
    if not again.feasible or again.objective > best.objective:
        return best
    trace = np.vstack([best.trace, again.trace[1:]])
    return replace(
        again, start=best.start, iterations=best.iterations + again.iterations, trace=trace
    )


def silently(iteration: int, objective: float) -> None:
    """Show nothing; for searches that continue another one."""


def judged(
    scaled: Scaled, z: np.ndarray, message: str, iterations: int, trace: list[np.ndarray]
) -> Attempt:
    """Evaluate a design independently of the solver."""
    problem = scaled.problem
    if scaled.slack:
        z = np.concatenate(
            [z[: scaled.start.size], [problem.fun(scaled.x_of(z)) / scaled.objective_size]]
        )
    x, multipliers, violation = scaled.x_of(z), optimality(scaled, z), scaled.violation(z)
    return Attempt(
        scaled.start,
        x,
        problem.fun(x),
        scaled,
        z,
        multipliers,
        violation,
        False,
        message,
        iterations,
        False,
        np.array(trace),
    )


def _best_so_far(scaled: Scaled, trace: list[np.ndarray], shortfalls: list[float]) -> Attempt:
    """Best design of an interrupted search: the feasible one with the smallest objective or, if
    there is none, the nearest to feasible.
    """
    best = min(
        range(len(trace)),
        key=lambda k: (shortfalls[k] if shortfalls[k] > FEASIBLE else 0.0, trace[k][0]),
    )
    z = (trace[best][2:] - scaled.start) / scaled.sizes
    return stopped(judged(scaled, z, "", len(trace) - 1, trace))


def _point(problem: DesignProblem, x: np.ndarray) -> np.ndarray:
    return np.array([problem.fun(x), problem.infeasibility(x), *x])
