"""Problem statement from user input, and its optimisation."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TypedDict, Unpack

from ..analyses.simulation import Simulation
from ..core.errors import Interrupted, ModelError, unknown_name
from .attempt import Attempt
from .checks import check_derivatives, check_influence
from .design_problem import DesignProblem, quantities_of
from .evaluation import MechanismEvaluator
from .optima import LocalOptimum, distinct, refined_optima
from .optimum import Optimum
from .quantities import Constraints, Goal, named_constraints
from .search import Searches, Stopped, check_settings, search
from .settings import Settings
from .solvers import HESSIANS, find_solver
from .space import Bounds, Over, space_of


class DesignOptions(TypedDict, total=False):
    """Arguments of `Problem.design_problem` beside the objective."""

    constraints: Constraints
    bounds: Bounds | None
    start: Mapping[str, float | str] | None
    method: str


class SearchOptions(DesignOptions, total=False):
    """The same with options of the search: arguments of `Problem.optimize`."""

    starts: int
    solver: str
    hessian: str
    max_iterations: int
    tolerance_optimality: float
    seed: int


def design_problem(
    s: Simulation,
    name: str,
    goal: Goal,
    over: Over,
    *,
    constraints: Constraints = (),
    bounds: Bounds | None = None,
    start: Mapping[str, float | str] | None = None,
    method: str = "auto",
    analysis: str = "design_problem",
) -> DesignProblem:
    """Check the input and state the problem; runs the mechanism once, at the initial design."""
    named = named_constraints(constraints)
    space = space_of(analysis, s.solvers.data.parameter_set, over, bounds, start, s.given)
    scalars, paths = quantities_of(name, goal, named)
    if paths and method == "adjoint":
        late = (
            f"provides derivatives at the end of a run only, and {next(iter(paths))!r} is needed"
            " during the run"
        )
        raise ModelError(late, element=analysis, field="method", value=method)
    evaluator = MechanismEvaluator(s, space.names, method, scalars, paths)
    with_jumps = check_derivatives(evaluator.equations, evaluator.of_runs, paths)
    problem = DesignProblem(evaluator, space, name, goal, named)
    check_influence(analysis, problem, with_jumps)
    return problem


def optimize(
    s: Simulation,
    name: str,
    goal: Goal,
    over: Over,
    *,
    starts: int = 1,
    solver: str = "ipopt",
    hessian: str = "approximate",
    max_iterations: int = 100,
    tolerance_optimality: float = 1e-9,
    seed: int = 0,
    **design: Unpack[DesignOptions],
) -> Optimum:
    """State the problem and solve it."""
    check_settings(max_iterations, tolerance_optimality)
    began = time.perf_counter()
    problem = design_problem(s, name, goal, over, **design, analysis="optimize")
    initial_designs = problem.space.starts(starts, seed)
    settings = settings_for(problem, solver, hessian, max_iterations, tolerance_optimality)

    def outcome(
        problem: DesignProblem, best: Attempt, searches: Searches, optima: list[LocalOptimum]
    ) -> Optimum:
        seconds = time.perf_counter() - began
        return Optimum(
            s.name,
            problem,
            settings,
            best,
            tuple(searches.attempts),
            tuple(searches.failed),
            tuple(optima),
            seconds,
        )

    try:
        best, searches = search(problem, settings, initial_designs, s.name, s.progress)
        problem, best, optima = refined_optima(
            problem, settings, best, searches, s.name, s.progress
        )
    except Stopped as stopped:
        raise Interrupted(
            f"{s.name!r}: stopped after {stopped.best.iterations} iterations",
            outcome(
                stopped.problem,
                stopped.best,
                stopped.searches,
                distinct(stopped.problem, stopped.searches),
            ),
            "the best design up to then is the `result` of this interrupt",
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
