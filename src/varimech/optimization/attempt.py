"""The search from one start: what a solver finds, judged apart from it."""

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
"""Violation of scaled constraints that counts as none."""
SHRUNK = 0.1
"""Slope at an optimum, over that at the start, from which on the search goes on with
new measures.
"""
SETTLED = 1e-6
"""What may be left of the scaled gradient where a solver cannot get below: the
roughness of runs.
"""
Show = Callable[[int, float], None]
"""Called with iteration and objective."""


@dataclass(frozen=True, eq=False)
class Stationary:
    """A stationary design that is no local minimum, and that the search left."""

    kind: str
    x: np.ndarray
    objective: float


@dataclass(frozen=True, eq=False)
class Attempt:
    """The search from one start."""

    start: np.ndarray
    x: np.ndarray
    objective: float
    scaled: Scaled
    """The problem as the solver saw it."""
    z: np.ndarray
    """The design in its variables."""
    optimality: Optimality
    violation: float
    """Of scaled constraints."""
    converged: bool
    message: str
    iterations: int
    exhausted: bool
    trace: np.ndarray
    """(iteration; objective, infeasibility, parameters)"""
    stopped: bool = False
    """Whether Ctrl-C ended it."""
    curvature: Curvature | None = None
    """The check to second order; None before it, and where the search has not converged."""
    left: tuple[Stationary, ...] = ()
    """Saddle points and maxima on the way, which the search left."""

    @property
    def feasible(self) -> bool:
        """Whether all constraints are met."""
        return self.violation <= FEASIBLE


class Broken(KeyboardInterrupt):
    """Ctrl-C came after an iteration or more."""

    def __init__(self, attempt: Attempt):
        super().__init__()
        self.attempt = attempt


def stopped(attempt: Attempt) -> Attempt:
    """The same as one that was interrupted before its end."""
    return replace(attempt, converged=False, message="stopped", stopped=True)


def best_of(attempts: list[Attempt]) -> Attempt:
    """The one with the least objective that meets all constraints, or that comes nearest to it."""
    return min(attempts, key=lambda a: (0.0 if a.feasible else a.violation, a.objective))


def attempt(problem: DesignProblem, settings: Settings, start: np.ndarray, show: Show) -> Attempt:
    """Solve from one start, and judge what the solver ended with."""
    scaled, trace = Scaled(problem, start), [_point(problem, start)]
    missed = [scaled.shortfall(start)]

    def tell(z: np.ndarray) -> None:
        x = scaled.x_of(z)
        if problem.outcome(x) is not None and not np.array_equal(x, trace[-1][2:]):
            missed.append(scaled.shortfall(x))
            trace.append(_point(problem, x))
        show(len(trace) - 1, trace[-1][0])

    try:
        ended = solve(scaled, settings, tell)
    except KeyboardInterrupt:
        if len(trace) == 1:
            raise
        raise Broken(_best_so_far(scaled, trace, missed)) from None
    except VarimechError:
        raise
    except (RuntimeError, ValueError) as error:  # as solvers raise them
        raise VarimechError(f"solver {settings.solver!r} broke off: {error}") from error
    z = ended.z
    if not scaled.works(z):  # it gave up in the middle of a line search
        z = np.concatenate([(trace[-1][2:] - start) / scaled.sizes, z[start.size :]])
    found = _judged(scaled, z, ended.message, ended.iterations, trace)
    converged = found.feasible and found.optimality.residual <= max(
        SETTLED, 100 * settings.tolerance
    )
    return replace(found, converged=converged, exhausted=ended.exhausted)


def continued(problem: DesignProblem, settings: Settings, first: Attempt, x: np.ndarray) -> Attempt:
    """The search from another design, and the one before: one search still, which began where the
    user said.
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
    """The same once more from where it ended, where the slope that is left there, against bounds
    and constraints, is so small beside that at the start, by which the search measures, that it has
    hardly seen it.
    """
    if not best.feasible or settings.warm:
        return best
    first, last = (Scaled(problem, x).objective_size for x in (best.start, best.x))
    if last <= max(FLAT * abs(best.objective), SETTLED * first) or last > SHRUNK * first:
        return best  # none is left, or much
    try:
        again = attempt(problem, replace(settings, warm=True), best.x, silently)
    except Broken:  # what it began with is an optimum already, nearly
        raise KeyboardInterrupt from None
    if not again.feasible or again.objective > best.objective:
        return best
    trace = np.vstack([best.trace, again.trace[1:]])
    return replace(
        again, start=best.start, iterations=best.iterations + again.iterations, trace=trace
    )


def silently(iteration: int, objective: float) -> None:
    """Of a search that goes on, nothing more is shown."""


def _judged(
    scaled: Scaled, z: np.ndarray, message: str, iterations: int, trace: list[np.ndarray]
) -> Attempt:
    """What a design is worth, measured apart from the solver."""
    problem = scaled.problem
    if scaled.slack:
        z = np.concatenate(
            [z[: scaled.start.size], [problem.fun(scaled.x_of(z)) / scaled.objective_size]]
        )
    x, found, violation = scaled.x_of(z), optimality(scaled, z), scaled.violation(z)
    return Attempt(
        scaled.start,
        x,
        problem.fun(x),
        scaled,
        z,
        found,
        violation,
        False,
        message,
        iterations,
        False,
        np.array(trace),
    )


def _best_so_far(scaled: Scaled, trace: list[np.ndarray], missed: list[float]) -> Attempt:
    """The best design that meets all constraints, or that comes nearest to it, among those of a
    search that was broken off.
    """
    best = min(
        range(len(trace)), key=lambda k: (missed[k] if missed[k] > FEASIBLE else 0.0, trace[k][0])
    )
    z = (trace[best][2:] - scaled.start) / scaled.sizes
    return stopped(_judged(scaled, z, "", len(trace) - 1, trace))


def _point(problem: DesignProblem, x: np.ndarray) -> np.ndarray:
    return np.array([problem.fun(x), problem.infeasibility(x), *x])
