"""Problem statement from user input, and its optimisation."""

from __future__ import annotations

import time
from collections.abc import Mapping

from ..analyses.hessians import TwiceDifferentiable
from ..core.errors import Interrupted, ModelError, unknown_name
from ..schemes import RunOptions
from .attempt import Attempt
from .checks import check_derivatives, check_influence
from .evaluation import MechanismEvaluator
from .optima import LocalOptimum, distinct, refined_optima
from .optimum import Optimum
from .problem import DesignProblem, quantities_of
from .quantities import Constraints, Goal, named_constraints, named_goal
from .search import Searches, Stopped, check_settings, search
from .settings import Settings
from .solvers import HESSIANS, find_solver
from .space import Bounds, Over, space_of


def stated(
    analysis: str,
    mechanism: TwiceDifferentiable,
    objective: Goal | Mapping[str, Goal],
    over: Over,
    duration: float,
    constraints: Constraints,
    bounds: Bounds | None,
    start: Mapping[str, float] | None,
    *,
    method: str,
    held: Mapping[str, float] | None,
    how: RunOptions,
) -> DesignProblem:
    """Check the input and state the problem; runs the mechanism once, at the initial design."""
    name, goal = named_goal(objective)
    named = named_constraints(constraints)
    space = space_of(analysis, mechanism.data.parameter_set, over, bounds, start, held)
    scalars, paths = quantities_of(name, goal, named)
    if paths and method == "adjoint":
        raise ModelError(
            f"{analysis}: method='adjoint' provides derivatives at the end of a run only, and"
            f" {next(iter(paths))!r} is needed during the run"
        )
    evaluator = MechanismEvaluator(
        mechanism, space.names, duration, how, method, scalars, paths, space.held
    )
    with_jumps = check_derivatives(evaluator.equations, scalars, paths)
    problem = DesignProblem(evaluator, space, name, goal, named)
    check_influence(analysis, problem, with_jumps)
    return problem


def optimize(
    mechanism: TwiceDifferentiable,
    objective: Goal | Mapping[str, Goal],
    over: Over,
    duration: float,
    constraints: Constraints,
    bounds: Bounds | None,
    start: Mapping[str, float] | None,
    *,
    starts: int,
    solver: str,
    hessian: str,
    max_iterations: int,
    tolerance: float,
    method: str,
    seed: int,
    held: Mapping[str, float] | None,
    how: RunOptions,
) -> Optimum:
    """State the problem and solve it; `Mechanism.optimize` documents the arguments."""
    check_settings(max_iterations, tolerance)
    began, progress = time.perf_counter(), how.get("progress")
    problem = stated(
        "optimize",
        mechanism,
        objective,
        over,
        duration,
        constraints,
        bounds,
        start,
        method=method,
        held=held,
        how=how,
    )
    initial_designs = problem.space.starts(starts, seed)
    settings = settings_for(problem, solver, hessian, max_iterations, tolerance)

    def outcome(
        problem: DesignProblem, best: Attempt, searches: Searches, optima: list[LocalOptimum]
    ) -> Optimum:
        seconds = time.perf_counter() - began
        return Optimum(
            mechanism.name,
            problem,
            settings,
            best,
            tuple(searches.attempts),
            tuple(searches.failed),
            tuple(optima),
            seconds,
        )

    try:
        best, searches = search(problem, settings, initial_designs, mechanism.name, progress)
        problem, best, optima = refined_optima(
            problem, settings, best, searches, mechanism.name, progress
        )
    except Stopped as stopped:
        raise Interrupted(
            f"{mechanism.name!r}: stopped after {stopped.best.iterations} iterations; the best"
            " design up to then is the `result` of this interrupt",
            outcome(
                stopped.problem,
                stopped.best,
                stopped.searches,
                distinct(stopped.problem, stopped.searches),
            ),
        ) from None
    return outcome(problem, best, searches, optima)


def settings_for(
    problem: DesignProblem, solver: str, hessian: str, max_iterations: int, tolerance: float
) -> Settings:
    """Checked settings of a solver for a problem."""
    if hessian not in HESSIANS:
        raise unknown_name("kind of hessian", hessian, HESSIANS)
    bounded = any(abs(b) != float("inf") for pair in problem.bounds for b in pair)
    constrained = bool(problem.rows) or problem.is_peak
    name = find_solver(solver, constrained=constrained, bounded=bounded, exact=hessian == "exact")
    return Settings(name, hessian == "exact", max_iterations, tolerance)
