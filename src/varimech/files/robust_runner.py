"""Execution of the studies of model files on statistics over the tolerances: `robust` and
`allocate`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from ..core.errors import ModelError, unknown_name
from ..core.messages import Message
from ..problem import Problem
from ..robust.statistic import Statistic
from ..sensitivity.comparison import Constraint
from .reading import mechanism_of_text
from .studies import Studies
from .study_runner import Stating, compared, correlate, objective_of, problem_of

if TYPE_CHECKING:
    from ..robust.allocation import Allocation
    from ..robust.allocation_curve import AllocationCurve
    from ..robust.design import RobustOptimum
    from ..robust.statistics_result import Statistics

OF_DESIGNS = (
    *("over", "bounds", "constraints", "start", "starts", "verify"),
    *("solver", "max_iterations", "tolerance_optimality"),
)
"""Settings of a robust study that belong to an optimisation."""
CURVE = "give studies.allocate.curve: one of the constraints, such as {deviation: [0.1, 0.2]}"


def robust(
    mechanism: Stating, studies: Studies, settings: dict[str, Any]
) -> Statistics | RobustOptimum:
    """Compute statistics with their derivatives; or, with an objective to minimise, a robust
    optimum.
    """
    mechanism = _at_values(mechanism, settings)
    correlate("robust", settings)
    names, goal = settings.pop("objectives", None), settings.pop("minimize", None)
    constraints = compared(studies, settings)
    if goal is not None:
        _check_goal_alone(studies, names, goal)
        over = settings.pop("over", None)
        problem = problem_of(mechanism, {goal: objective_of(studies, goal)}, settings)
        return cast("RobustOptimum", problem.optimize(over, constraints=constraints, **settings))
    for key in OF_DESIGNS:
        if settings.pop(key, None) is not None or (key == "constraints" and constraints):
            raise ModelError(
                f"robust: {key} belongs to an optimisation, and there is nothing to minimise",
                remedy=f"give studies.robust.minimize, the name of a statistic, or leave {key} out",
            )
    chosen = names or [name for name, entry in studies.objectives.items() if entry.is_statistic]
    statistics = {name: objective_of(studies, name) for name in chosen}
    for name, of in statistics.items():
        if not isinstance(of, Statistic):
            remedy = f"state one, such as {{std: {name}}}, under studies.objectives"
            raise ModelError(f"robust: objective {name!r} is not a statistic", remedy=remedy)
    if not statistics:
        remedy = "state some under studies.objectives, such as {std: force} or {worst: force}"
        raise ModelError("robust: there is no statistic among the objectives", remedy=remedy)
    if "statistics" in settings:
        settings["method"] = settings.pop("statistics")
    return problem_of(mechanism, statistics, settings).statistics(**settings)


def _check_goal_alone(studies: Studies, names: list[str] | None, goal: str) -> None:
    """Refuse names of statistics where something is minimised: they would have no effect. Those of a
    file that computes statistics only give way to a goal of the call.
    """
    own = studies.robust
    if not names or (own is not None and own.objectives == names and own.minimize is None):
        return
    minimises = "the file minimises" if own is not None and own.minimize == goal else "minimize is"
    problem = Message(
        f"robust: {{objectives}} has no effect: it names statistics to compute, and {minimises}"
        f" {goal!r}",
        objectives=tuple(names),
    )
    remedy = Message(
        "leave {objectives} out to find the design, or studies.robust.minimize to compute the"
        " statistics"
    )
    raise ModelError(problem, remedy=remedy)


def allocate(mechanism: Stating, studies: Studies, settings: dict[str, Any]) -> Allocation:
    """Compute the tolerances of least cost."""
    settings.pop("curve", None)
    problem, constraints = _allocation(mechanism, studies, settings)
    return problem.allocate(constraints, **settings)


def allocation_curve(
    mechanism: Stating, studies: Studies, settings: dict[str, Any]
) -> AllocationCurve:
    """Compute cost against risk: the tolerances of least cost for several bounds of one constraint."""
    curve = settings.pop("curve", None)
    problem, constraints = _allocation(mechanism, studies, settings)
    if not curve or len(curve) != 1:
        raise ModelError("allocate: curve needs the bounds of one constraint", remedy=CURVE)
    name, targets = _targets(constraints, curve)
    others = {key: c for key, c in constraints.items() if key != name}
    return problem.allocation_curve(targets, others, **settings)


def _allocation(
    mechanism: Stating, studies: Studies, settings: dict[str, Any]
) -> tuple[Problem, dict[str, Constraint]]:
    """State the problem and its constraints; remaining settings are left in the dictionary."""
    mechanism = _at_values(mechanism, settings)
    correlate("allocate", settings)
    constraints = compared(studies, settings)
    if not constraints:
        remedy = (
            "give studies.allocate.constraints, such as {deviation: {at_most: 0.1}} with a"
            " statistic of that name under studies.objectives"
        )
        raise ModelError("allocate: there is no target", remedy=remedy)
    return problem_of(mechanism, (), settings), constraints


def _targets(
    constraints: Mapping[str, Constraint], curve: Mapping[str, list[float]]
) -> tuple[str, list[Constraint]]:
    """A constraint by name, with several bounds on its side."""
    name, bounds = next(iter(curve.items()))
    if name not in constraints:
        raise unknown_name("constraint", name, constraints)
    c = constraints[name]
    if math.isinf(c.lower) == math.isinf(c.upper):
        problem = f"allocate: curve needs a constraint with one side, and {name!r} has two"
        raise ModelError(problem, remedy=CURVE)
    of = c.of
    return name, [of <= x if math.isinf(c.lower) else of >= x for x in bounds]


def _at_values(mechanism: Any, settings: dict[str, Any]) -> Any:
    """The mechanism with the given values as nominal ones: tolerances are centred on them, and a
    search begins there.
    """
    values = settings.pop("parameters", None)
    if not values:
        return mechanism
    return mechanism_of_text(type(mechanism), mechanism.to_text(studies={}, values=values))
