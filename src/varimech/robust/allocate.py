"""Allocation from user input: checks of the input, the search, grades, corrections of targets by
samples, and the verification.

A method that computes statistics may be in error (FORM by the curvature of a limit, moments by
their order). Where independent samples at the optimum show such an error, the target of the method
is shifted by the difference and the search continues from the optimum: a few searches with cheap
statistics replace one search whose every step takes many samples.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..analyses.simulation import Simulation
from ..core.errors import ModelError, VarimechError, check_whole
from ..core.messages import Message
from ..model.iso_grades import size_range
from ..model.parameter import Parameter
from ..model.parameter_set import listed
from ..model.tolerance_cost import GradeCost
from ..optimization.checks import check_influence
from ..optimization.design_problem import quantities_of
from ..optimization.quantities import Constraints, named_constraints
from ..optimization.search import Stopped, check_settings
from ..optimization.settings import Settings
from ..optimization.solvers import find_solver
from ..optimization.space import Bounds, Over, Space, space_of
from ..sensitivity.comparison import Constraint
from .allocating import AllocationTask, Found, cheapest, found
from .allocation import Allocation, interrupted
from .allocation_numbers import allocation_of
from .design import (
    StatisticsOptions,
    check_targets_resolved,
    settings_of,
    split_statistics,
)
from .equal_tolerances import Equal, equal_tolerances
from .evaluator import StatisticsEvaluator
from .grade_search import Graded, in_grades
from .inner_bounds import with_inner_bounds
from .log_widths import COST, Remembered, Variables, moved_constraint
from .random_design import random_design
from .statistic import Probability, Statistic
from .tolerance_choice import ToleranceChoice, TotalCost, choices_of
from .verification import Checked, Verification, verified

BEYOND = 1e-9
"""Relative distance at which a size is clearly beyond the end of a range: sizes are rounded to 1e-9
mm.
"""
MOST_CORRECTIONS = 3
"""Maximum number of corrections of targets by samples: each correction leaves a small part of the
error of the previous one.
"""


class AllocationOptions(StatisticsOptions, total=False):
    """Options of `Problem.allocate`."""

    over: Over
    tolerances: Sequence[str | Parameter] | None
    bounds: Bounds | None
    start: Mapping[str, float | str] | None
    grades: bool | Sequence[str]
    correct: bool
    verify: bool | int
    solver: str
    max_iterations: int
    tolerance_optimality: float
    seed: int


@dataclass(frozen=True, eq=False)
class Statement:
    """A checked allocation problem."""

    task: AllocationTask
    evaluator: StatisticsEvaluator
    grades: tuple[str, ...]
    """Parameters whose tolerances come in grades."""
    correct: bool
    samples: int | None
    """Number of samples of the verification; chosen automatically if None."""
    verify: bool
    seed: int


def allocate(s: Simulation, constraints: Constraints, options: AllocationOptions) -> Allocation:
    """State an allocation problem and solve it.

    Raises:
        ModelError: for input that makes no sense.
        InfeasibleError: if no tolerances reach the target.
        Interrupted: on Ctrl-C after an iteration or more.
    """
    began = time.perf_counter()
    stated = statement(s, constraints, options)
    return solved(stated, stated.task.variables.start, began)


def solved(stated: Statement, start: np.ndarray, began: float, *, warm: bool = False) -> Allocation:
    """Search for the cheapest tolerances from an initial design."""
    task = stated.task

    def result(
        task: AllocationTask,
        best: Found,
        corrections: int = 0,
        equal: Equal | None = None,
        graded: Graded | None = None,
        check: Verification | None = None,
    ) -> Allocation:
        seconds = time.perf_counter() - began
        return allocation_of(
            stated.evaluator, stated.task, task, best, corrections, equal, graded, check, seconds
        )

    best: Found | None = None
    corrections = 0
    try:
        best = cheapest(task, start, warm=warm)
        check = _verified(stated, task, best, 1)
        while stated.correct and corrections < MOST_CORRECTIONS and check is not None:
            moved = _corrected(stated.task, task, best, check)
            if moved is None:
                break
            task, corrections = moved, corrections + 1
            best = cheapest(task, best.x, warm=True)
            check = _verified(stated, task, best, 1 + corrections)
        equal, graded = equal_tolerances(task, best), None
        if stated.grades:
            graded = _in_steps(stated, task, best)
            last = replace(best, x=graded.x, outcome=task.evaluator.run(graded.x))
            check = _verified(stated, task, last, 2 + MOST_CORRECTIONS)
    except Stopped as stopped:
        raise interrupted(result(task, found(task, stopped.problem, stopped.best))) from None
    except KeyboardInterrupt:
        if best is None:
            raise
        raise interrupted(result(task, best, corrections)) from None
    return result(task, best, corrections, equal, graded, check)


def _in_steps(stated: Statement, task: AllocationTask, best: Found) -> Graded:
    """Search for the cheapest design in grades; optimise tolerances without grades, and nominal
    values, for these grades.
    """
    task = _at_sizes(task, best, stated.grades)
    graded = in_grades(task, best, stated.grades)
    rest = [c.name not in stated.grades for c in task.choices]
    if not any(rest) and not task.nominals:
        return graded
    free = np.array([True] * len(task.nominals) + rest)
    x = cheapest(task, graded.x, free, warm=True).x
    # solvers exceed bounds by rounding errors, and other grades begin beyond the bounds
    return replace(graded, x=np.clip(x, task.variables.lower, task.variables.upper))


def _at_sizes(task: AllocationTask, best: Found, grades: Sequence[str]) -> AllocationTask:
    """Return the task with the grades that apply to the nominal values of a design; restrict the
    nominal values to the range of sizes that these grades apply to.

    Raises:
        ModelError: if a cost by grades is for another range of sizes.
    """
    choices = {c.name: c for c in task.choices}
    lower, upper = task.variables.lower.copy(), task.variables.upper.copy()
    for k, name in enumerate(task.nominals):
        if name not in grades:
            continue
        c, nominal = choices[name], float(best.x[k])
        low, high = size_range(nominal, f"nominal value of {name!r}")
        if not isinstance(c.cost, GradeCost):
            choices[name] = replace(c, nominal=nominal)
        elif size_range(float(c.cost.size or c.nominal)) != (low, high):
            problem = (
                f"the grades of {name!r} have their costs for a size of"
                f" {1e3 * float(c.cost.size or c.nominal):g} mm, and its nominal value moved to"
                f" {1e3 * nominal:g} mm, where their tolerances are others"
            )
            remedy = Message(
                "give its nominal value {bounds} within one range of sizes, leave it out of"
                " {over}, or leave {grades} out"
            )
            raise ModelError(problem, element="allocate", field="grades", remedy=remedy)
        low *= 1 + BEYOND  # a size at the end of a range belongs to the range below
        if nominal < 0:
            low, high = -high, -low
        lower[k], upper[k] = max(lower[k], low), min(upper[k], high)
    variables = replace(task.variables, lower=lower, upper=upper)
    return replace(task, choices=tuple(choices.values()), variables=variables)


def statement(s: Simulation, constraints: Constraints, options: AllocationOptions) -> Statement:
    """Check the input and state the allocation problem; evaluate all quantities once.

    Raises:
        ModelError: for input that makes no sense.
    """
    statistics, _ = split_statistics(options)
    solver, iterations = options.get("solver", "ipopt"), options.get("max_iterations", 100)
    tolerance, seed = options.get("tolerance_optimality", 1e-9), options.get("seed", 0)
    check_settings(iterations, tolerance)
    check_whole("allocate", 0, seed=seed)
    verify = options.get("verify", True)
    if not isinstance(verify, bool):
        check_whole("allocate", 100, verify=verify)
    named = named_constraints(constraints)
    if not any(isinstance(c.of, Statistic) for c in named.values()):
        problem = "no constraint bounds a statistic, so that the widest tolerances are the cheapest"
        remedy = "give a target, such as vm.std(f) <= 0.1 or vm.probability(f <= 1) >= 0.999"
        raise ModelError(problem, element="allocate", remedy=remedy)
    _check_probabilities(named)
    numbers = s.solvers.data.parameter_set
    choices = choices_of(numbers, options.get("tolerances"), "allocate")
    _check_chosen_once(statistics.get("distributions") or {}, choices)
    graded = _graded(choices, options.get("grades", False))
    space = _nominal_space(s, options)
    design = random_design(
        s,
        statistics.get("distributions"),
        statistics.get("correlation"),
        nominals=space.names,
        widths=[c.name for c in choices],
    )
    sigmas = dict(zip(design.distributions.names, design.sigmas, strict=True))
    widest = {c.name: c.limits[1] / sigmas[c.name] for c in choices}
    space = with_inner_bounds(space, design, numbers.parameters, widest)
    cost = TotalCost(choices)
    scalars, paths = quantities_of(COST, cost, named)
    evaluator = StatisticsEvaluator(
        s,
        design,
        scalars,
        paths,
        statistics.get("statistics", "auto"),
        settings_of("allocate", statistics, seed),
    )
    settings = Settings(
        find_solver(solver, constrained=True, bounded=True, exact=False),
        exact=False,
        max_iterations=iterations,
        tolerance=tolerance,
    )
    variables = _variables(space, choices)
    task = AllocationTask(
        s.name,
        choices,
        space.names,
        variables,
        Remembered(evaluator),
        named,
        settings,
        s.progress,
    )
    check_targets_resolved(evaluator, named)
    check_influence("allocate", task.problem(variables.start), set())
    correct = options.get("correct", True) and verify is not False
    count = None if isinstance(verify, bool) else int(verify)
    return Statement(task, evaluator, graded, correct, count, verify is not False, seed)


def _check_chosen_once(
    distributions: Mapping[str, object], choices: Sequence[ToleranceChoice]
) -> None:
    """Refuse explicit distributions of parameters whose tolerances are design variables."""
    for c in choices:
        if c.name in distributions:
            problem = f"names {c.name!r}, whose tolerance is chosen"
            remedy = Message("leave it out, or name the others in {tolerances}")
            raise ModelError(problem, element="allocate", field="distributions", remedy=remedy)


def _check_probabilities(constraints: Mapping[str, Constraint]) -> None:
    """Refuse bounds that require a probability of 0 or 1: their reliability index is infinite."""
    for name, c in constraints.items():
        if isinstance(c.of, Probability) and (c.lower >= 1 or c.upper <= 0):
            problem = f"{c.rule} asks for certainty, which no tolerances are sure to give"
            remedy = "bound the probability by a number between 0 and 1, such as >= 0.9999"
            raise ModelError(
                problem, element="allocate", field=f"constraint {name!r}", remedy=remedy
            )


def _nominal_space(s: Simulation, options: AllocationOptions) -> Space:
    """Return the space of the nominal values that may change: only those named in `over`."""
    over = options.get("over")
    if over is None or not listed(over, "over", Message("give {bounds} of their own")):
        for label in ("bounds", "start"):
            if options.get(label):
                problem = Message("is for nominal values, and {over} names none")
                raise ModelError(problem, element="allocate", field=label)
        none = np.zeros(0)
        return Space((), (), none, none, none, dict(s.given or {}))  # type: ignore[arg-type]
    numbers = s.solvers.data.parameter_set
    return space_of("allocate", numbers, over, options.get("bounds"), options.get("start"), s.given)


def _variables(space: Space, choices: Sequence[ToleranceChoice]) -> Variables:
    low, high = np.array([c.limits for c in choices]).T
    return Variables(
        (*space.names, *(c.variable for c in choices)),
        (*space.units, *(c.unit for c in choices)),
        np.concatenate([space.start, [c.width for c in choices]]),
        np.concatenate([space.lower, low]),
        np.concatenate([space.upper, high]),
        np.array([False] * len(space.names) + [True] * len(choices)),
    )


def _graded(choices: Sequence[ToleranceChoice], grades: bool | Sequence[str]) -> tuple[str, ...]:
    """Return the names of the parameters with tolerances in grades; check that grades exist."""
    names = [c.name for c in choices]
    if isinstance(grades, bool):
        grades = names if grades else []
    selected = [grades] if isinstance(grades, str) else list(grades)
    for name in selected:
        if name not in names:
            problem = f"names {name!r}, whose tolerance is not chosen"
            remedy = f"those that are chosen: {', '.join(map(repr, names))}"
            raise ModelError(problem, element="allocate", field="grades", remedy=remedy)
        choices[names.index(name)].grades  # noqa: B018 - raises where there are none
    return tuple(selected)


# --- verification and corrections


def _verified(
    stated: Statement, task: AllocationTask, best: Found, draw: int
) -> Verification | None:
    """Verify a design by independent samples; each `draw` has its own random numbers."""
    evaluator = stated.evaluator
    if not stated.verify or not best.attempt.converged:
        return None
    claimed = {
        name: stated.task.uncorrected(task, name, task.values(best.outcome, name)[0])
        for name in evaluator.statistics
    }
    bounds: dict[str, Constraint] = dict(stated.task.constraints)
    try:
        return verified(
            task.label,
            evaluator.task,
            best.x,
            claimed,
            bounds,
            stated.samples,
            stated.seed + draw,
            task.progress,
        )
    except VarimechError as error:
        raise VarimechError(
            f"{task.label!r}: the allocation could not be verified: {error}",
            remedy=Message("narrow the tolerances, or give {verify}", verify=False),
        ) from error


def _corrected(
    stated: AllocationTask, task: AllocationTask, best: Found, check: Verification
) -> AllocationTask | None:
    """Return the task with targets shifted by the errors that samples show; None if no target is in
    error, or if an error is so large that no shifted target compensates it: the verification of the
    result then reports it.
    """
    moved = dict(task.constraints)
    for c in check.checked:
        own = stated.constraints[c.name]
        if c.statistic.over_time or not _is_off(c, own, task.is_active(best, c.name)):
            continue
        by_method = task.search_values(c.name, task.values(best.outcome, c.name)[0])[0]
        # where no sample, or every sample, is beyond a limit, take the middle of the interval
        sampled = c.estimate if c.lower < c.estimate < c.upper else (c.lower + c.upper) / 2
        shift = float(by_method - task.search_values(c.name, np.array([sampled]))[0])
        moved[c.name] = moved_constraint(own, shift)
        if isinstance(own.of, Probability) and not _resolved(own, moved[c.name]):
            return None
    if all(moved[name] is c for name, c in task.constraints.items()):
        return None
    return replace(task, constraints=moved)


def _resolved(own: Constraint, moved: Constraint) -> bool:
    """Whether the shifted bounds of a probability are not rounded to 0 or 1."""
    pairs = ((own.lower, moved.lower), (own.upper, moved.upper))
    return all(0 < new < 1 for old, new in pairs if 0 < old < 1)


def _is_off(c: Checked, own: Constraint, active: bool) -> bool:
    """Whether the interval excludes a bound that is active at the optimum, or violates a bound."""
    if c.contradicted:
        return True
    bounds = [b for b in (own.lower, own.upper) if np.isfinite(b)]
    nearest = min(bounds, key=lambda b: abs(b - c.claimed))
    return active and not c.lower <= nearest <= c.upper
