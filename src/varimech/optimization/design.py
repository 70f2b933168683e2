"""Statement of a design problem from user input, and its optimisation."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, TypedDict, TypeVar, Unpack

from ..analyses.simulation import Simulation
from ..core.errors import Interrupted, ModelError, unknown_name
from .attempt import Attempt
from .checks import check_derivatives, check_influence
from .design_problem import DesignProblem, quantities_of
from .evaluation import MechanismEvaluator
from .optima import LocalOptimum, distinct, refined_optima
from .optimum import Optimum
from .quantities import Constraints, DesignQuantity, Goal, Path, Target, named_constraints
from .search import Searches, Stopped, check_settings, search
from .settings import Settings
from .solvers import HESSIANS, find_solver
from .space import Bounds, Over, space_of


class DesignOptions(TypedDict, total=False):
    """Arguments of `Problem.design_problem` besides the objective."""

    constraints: Constraints
    bounds: Bounds | None
    start: Mapping[str, float | str] | None
    method: str


class SearchOptions(DesignOptions, total=False):
    """Arguments of `Problem.optimize`: those of `Problem.design_problem` and options of the
    search.
    """

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
    scalars, paths = of_mechanism(*quantities_of(name, goal, named))
    check_gradients_of_paths(analysis, paths, method)
    evaluator = MechanismEvaluator(s, space.names, method, scalars, paths)
    with_jumps = check_derivatives(evaluator.equations, evaluator.of_runs, paths)
    problem = DesignProblem(evaluator, space, name, goal, named)
    check_influence(analysis, problem, with_jumps)
    return problem


def of_mechanism(
    scalars: Mapping[str, Target], paths: Mapping[str, Path | DesignQuantity]
) -> tuple[dict[str, Goal], dict[str, Path]]:
    """Select the quantities that one run at the nominal values yields."""
    return (
        {name: q for name, q in scalars.items() if isinstance(q, Goal)},
        {name: q for name, q in paths.items() if isinstance(q, Path)},
    )


def check_gradients_of_paths(analysis: str, paths: Mapping[str, Path], method: str) -> None:
    """Refuse the adjoint method for gradients that are needed during the run.

    Raises:
        ModelError: with the name of a path.
    """
    if paths and method == "adjoint":
        late = (
            f"provides derivatives at the end of a run only, and {next(iter(paths))!r} is needed"
            " during the run"
        )
        raise ModelError(late, element=analysis, field="method", value=method)


def optimize(
    s: Simulation,
    name: str,
    goal: Goal,
    over: Over,
    **options: Unpack[SearchOptions],
) -> Optimum:
    """State the problem and solve it."""
    design, searching = split_options(options)

    def stated() -> DesignProblem:
        return design_problem(s, name, goal, over, **design, analysis="optimize")

    return solved(s, stated, Optimum, **searching)


class Searching(TypedDict, total=False):
    """Options of the search alone."""

    starts: int
    solver: str
    hessian: str
    max_iterations: int
    tolerance_optimality: float
    seed: int


def split_options(options: SearchOptions) -> tuple[DesignOptions, Searching]:
    """Split options into those of the problem and those of the search."""
    design: Any = {n: v for n, v in options.items() if n in DesignOptions.__annotations__}
    searching: Any = {n: v for n, v in options.items() if n not in design}
    return design, searching


O = TypeVar("O", bound=Optimum)


def solved(
    s: Simulation,
    stated: Callable[[], DesignProblem],
    kind: Callable[..., O],
    *,
    starts: int = 1,
    solver: str = "ipopt",
    hessian: str = "approximate",
    max_iterations: int = 100,
    tolerance_optimality: float = 1e-9,
    seed: int = 0,
) -> O:
    """State a problem and solve it; `kind` builds the result from the arguments of `Optimum`."""
    check_settings(max_iterations, tolerance_optimality)
    began = time.perf_counter()
    problem = stated()
    initial_designs = problem.space.starts(starts, seed)
    settings = settings_for(problem, solver, hessian, max_iterations, tolerance_optimality)

    def outcome(
        problem: DesignProblem, best: Attempt, searches: Searches, optima: list[LocalOptimum]
    ) -> O:
        seconds = time.perf_counter() - began
        return kind(
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
    """Return the checked settings of a solver for a problem."""
    if hessian not in HESSIANS:
        raise unknown_name("kind of hessian", hessian, HESSIANS)
    bounded = any(abs(b) != float("inf") for pair in problem.bounds for b in pair)
    constrained = bool(problem.rows) or problem.is_peak
    name = find_solver(solver, constrained=constrained, bounded=bounded, exact=hessian == "exact")
    return Settings(name, hessian == "exact", max_iterations, tolerance)
