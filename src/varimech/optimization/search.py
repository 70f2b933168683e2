"""The search for an optimum: from one start or many, with a look for feasible designs where constraints are not met."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..errors import InfeasibleError, ModelError, VarimechError, check_whole
from ..progress import progress_bar
from .optimality import Optimality, optimality
from .problem import DesignProblem
from .scaled import FLAT, Scaled
from .settings import Settings
from .solvers import solve

FEASIBLE = 1e-6
"""Violation of scaled constraints that counts as none."""
SHRUNK = 0.1
"""Slope at an optimum, over that at the start, from which on the search goes on with new measures."""
SETTLED = 1e-6
"""What may be left of the scaled gradient where a solver cannot get below: the roughness of runs."""


@dataclass(frozen=True, eq=False)
class Attempt:
    """The search from one start."""

    start: np.ndarray
    x: np.ndarray
    objective: float
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

    @property
    def feasible(self) -> bool:
        """Whether all constraints are met."""
        return self.violation <= FEASIBLE


class Stopped(KeyboardInterrupt):
    """Ctrl-C came, with some design to show already."""

    def __init__(self, problem: DesignProblem, best: Attempt, attempts: list[Attempt]):
        super().__init__()
        self.problem = problem
        self.best = stopped(best)
        self.attempts = [self.best if attempt is best else attempt for attempt in attempts]


def stopped(attempt: Attempt) -> Attempt:
    """The same as one that was not carried to its end."""
    return replace(attempt, converged=False, message="stopped", stopped=True)


def search(
    problem: DesignProblem, settings: Settings, starts: list[np.ndarray], label: str, progress: bool | None
) -> tuple[Attempt, list[Attempt]]:
    """The best attempt, and all of them.

    Raises:
        Stopped: on Ctrl-C, with those up to then; a plain KeyboardInterrupt before the first iteration.
    """
    attempts: list[Attempt] = []
    try:
        return _search(problem, settings, starts, attempts, label, progress)
    except _Broken as broken:
        attempts.append(broken.attempt)
    except KeyboardInterrupt:
        if not attempts:
            raise KeyboardInterrupt from None
    raise Stopped(problem, _best(attempts), attempts)


def _search(
    problem: DesignProblem,
    settings: Settings,
    starts: list[np.ndarray],
    attempts: list[Attempt],
    label: str,
    progress: bool | None,
) -> tuple[Attempt, list[Attempt]]:
    with progress_bar(f"{label}: optimisation", len(starts) * settings.max_iterations, progress) as tell:
        for k, start in enumerate(starts):
            done = k * settings.max_iterations

            def show(iteration: int, objective: float, done: int = done, k: int = k) -> None:
                which = f"start {k + 1} of {len(starts)}, " if len(starts) > 1 else ""
                tell(done + iteration, f"{which}iteration {iteration}, {problem.name} = {objective:.6g}")

            if problem.outcome(start) is not None:
                attempts.append(_attempt(problem, settings, start, show))
        best = _best(attempts)
        if not best.feasible:
            attempts.append(_continued(problem, settings, best, _feasible_design(problem, best)))
            best = _best(attempts)
        where = next(k for k, attempt in enumerate(attempts) if attempt is best)
        attempts[where] = best = _sharpened(problem, settings, best)
    return best, attempts


def _continued(problem: DesignProblem, settings: Settings, first: Attempt, x: np.ndarray) -> Attempt:
    """The search from another design, and the one before: one search still, which began where the user said."""

    def joined(again: Attempt) -> Attempt:
        trace, iterations = np.vstack([first.trace, again.trace]), first.iterations + again.iterations
        return replace(again, start=first.start, trace=trace, iterations=iterations)

    try:
        return joined(_attempt(problem, settings, x, _silently))
    except _Broken as broken:
        raise _Broken(joined(broken.attempt)) from None


def _sharpened(problem: DesignProblem, settings: Settings, best: Attempt) -> Attempt:
    """The same once more from where it ended, where the slope that is left there, against bounds and constraints, is so small beside that
    at the start, by which the search measures, that it has hardly seen it."""
    if not best.feasible or settings.warm:
        return best
    first, last = (Scaled(problem, x).objective_size for x in (best.start, best.x))
    if last <= max(FLAT * abs(best.objective), SETTLED * first) or last > SHRUNK * first:
        return best  # none is left, or much
    try:
        again = _attempt(problem, replace(settings, warm=True), best.x, _silently)
    except _Broken:  # what it began with is an optimum already, nearly
        raise KeyboardInterrupt from None
    if not again.feasible or again.objective > best.objective:
        return best
    trace = np.vstack([best.trace, again.trace[1:]])
    return replace(again, start=best.start, iterations=best.iterations + again.iterations, trace=trace)


def _silently(iteration: int, objective: float) -> None:
    """Of a search that goes on, nothing more is shown."""


class _Broken(KeyboardInterrupt):
    """Ctrl-C came after an iteration or more."""

    def __init__(self, attempt: Attempt):
        super().__init__()
        self.attempt = attempt


def _attempt(problem: DesignProblem, settings: Settings, start: np.ndarray, show: Callable[[int, float], None]) -> Attempt:
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
        raise _Broken(_best_so_far(scaled, trace, missed)) from None
    except VarimechError:
        raise
    except (RuntimeError, ValueError) as error:  # as solvers raise them
        raise VarimechError(f"solver {settings.solver!r} broke off: {error}") from error
    z = ended.z
    if not scaled.works(z):  # it gave up in the middle of a line search
        z = np.concatenate([(trace[-1][2:] - start) / scaled.sizes, z[start.size :]])
    found = _judged(scaled, z, ended.message, ended.iterations, trace)
    converged = found.feasible and found.optimality.residual <= max(SETTLED, 100 * settings.tolerance)
    return replace(found, converged=converged, exhausted=ended.exhausted)


def _judged(scaled: Scaled, z: np.ndarray, message: str, iterations: int, trace: list[np.ndarray]) -> Attempt:
    """What a design is worth, measured apart from the solver."""
    problem = scaled.problem
    if scaled.slack:
        z = np.concatenate([z[: scaled.start.size], [problem.fun(scaled.x_of(z)) / scaled.objective_size]])
    x, found, violation = scaled.x_of(z), optimality(scaled, z), scaled.violation(z)
    return Attempt(scaled.start, x, problem.fun(x), found, violation, False, message, iterations, False, np.array(trace))


def _best_so_far(scaled: Scaled, trace: list[np.ndarray], missed: list[float]) -> Attempt:
    """The best design that meets all constraints, or that comes nearest to it, among those of a search that was broken off."""
    best = min(range(len(trace)), key=lambda k: (missed[k] if missed[k] > FEASIBLE else 0.0, trace[k][0]))
    z = (trace[best][2:] - scaled.start) / scaled.sizes
    return stopped(_judged(scaled, z, "", len(trace) - 1, trace))


def _point(problem: DesignProblem, x: np.ndarray) -> np.ndarray:
    return np.array([problem.fun(x), problem.infeasibility(x), *x])


def _best(attempts: list[Attempt]) -> Attempt:
    return min(attempts, key=lambda a: (0.0 if a.feasible else a.violation, a.objective))


def _feasible_design(problem: DesignProblem, near: Attempt) -> np.ndarray:
    """A design that meets all constraints, by least squares of their violations; raises `InfeasibleError` where there is none nearby."""
    from scipy.optimize import least_squares

    scaled = Scaled(problem, near.x)

    def short(z: np.ndarray) -> np.ndarray:
        return problem.violations(scaled.x_of(z)) / scaled.row_sizes

    def slopes(z: np.ndarray) -> np.ndarray:
        x = scaled.x_of(z)
        lower, upper = problem.constraint_bounds
        c = problem.constraints(x)
        signs = np.where(c > upper, 1.0, np.where(c < lower, -1.0, 0.0)) / scaled.row_sizes
        return signs[:, None] * problem.constraints_jac(x) * scaled.sizes

    size = near.x.size
    low, high = scaled.lower[:size], scaled.upper[:size]
    z0 = np.clip(np.zeros(size), low + 1e-12, high - 1e-12)
    found = least_squares(short, z0, slopes, (low, high), xtol=1e-12, ftol=1e-12, gtol=1e-12, max_nfev=100)
    x = scaled.x_of(found.x)
    left = problem.violations(x)
    if (left / scaled.row_sizes).max(initial=0.0) <= FEASIBLE:
        return x
    values = problem.constraints(x)
    missed = {r.name: float(left[r.rows].max()) for r in problem.rows if (left / scaled.row_sizes)[r.rows].max() > FEASIBLE}
    words = []
    for r in problem.rows:
        if r.name in missed:
            k = int(left[r.rows].argmax())
            when = f" at t = {problem.time[k]:.4g} s" if r.name in problem.paths else ""
            words.append(f"{r.name!r} ({r.constraint.rule}) is {values[r.rows][k]:.6g}{when}, short by {missed[r.name]:.3g}")
    nearest = dict(zip(problem.names, x.tolist(), strict=True))
    at = ", ".join(f"{name} = {value:.6g}" for name, value in nearest.items())
    raise InfeasibleError(
        f"optimize: no design was found that meets all constraints; the nearest one, {at}: {'; '.join(words)}; "
        "loosen that bound, give more parameters in over=, wider bounds=, or other starts (start=…, starts=8)",
        missed,
        nearest,
    )


def check_settings(max_iterations: int, tolerance: float) -> None:
    """They have to be a number of iterations and a positive number."""
    check_whole("optimize", 1, max_iterations=max_iterations)
    if not isinstance(tolerance, (int, float)) or not 0 < tolerance < 1:
        raise ModelError(f"tolerance_optimality = {tolerance!r} must be a number between 0 and 1")
