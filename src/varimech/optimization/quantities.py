"""Quantities over time:  h(t) at every instant (`path`), and its largest value (`peak`)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..core.errors import ModelError
from ..core.names import check_name
from ..sensitivity.comparison import Comparable, Constraint
from ..sensitivity.objective import PEAK, Objective, Sample, StateFunction, checked_callable
from ..sensitivity.stability_objective import StabilityObjective


@dataclass(frozen=True)
class Path(Comparable):
    """A scalar function of the state at every stored time; a comparison with a number makes a
    constraint at all stored times.
    """

    function: StateFunction
    unit: str = ""


@dataclass(frozen=True)
class Peak(Objective):
    """Largest value of a scalar function of the state over the run. It is minimised as min z with
    h(tᵢ) ≤ z over the stored times, and bounded from above as h(tᵢ) at all of them; in all other
    uses it is an objective like others.
    """

    @property
    def function(self) -> StateFunction:
        """The function h of the state."""
        return self.samples[0].function


def path(function: StateFunction | str, *, unit: str = "") -> Path:
    """A function of the state at all times, to be bounded.

    Args:
        function: function of the state, or an expression as text.
        unit: its unit.

    Returns:
        A path; bound it with <=, >=, `between` or `equals`.

    >>> import varimech as vm
    >>> clearance = vm.path(lambda s: s.position("P")[1], unit="m") >= 0.02
    """
    return Path(checked_callable(function, "a path"), unit)


def peak(function: StateFunction | str, *, unit: str = "") -> Peak:
    """The largest value of a function of the state over the run, between stored times too.

    Args:
        function: function of the state, or an expression as text; it may depend on reactions.
        unit: its unit.

    Returns:
        An objective for all analyses; optimisation minimises it, or bounds it with <=.

    >>> import varimech as vm
    >>> smoothest = vm.peak(lambda s: vm.norm(s.acceleration("P")), unit="m/s²")
    """
    sample = Sample(PEAK, checked_callable(function, "a peak"))
    return Peak(unit=unit, samples=(sample,))


class DesignQuantity(Comparable):
    """A quantity of a design that no single run yields, such as a statistic over random parameters
    or a cost; a separate evaluator computes its value.
    """

    @property
    def over_time(self) -> bool:
        """Whether the quantity has a value at every stored time."""
        return False


Goal = Objective | StabilityObjective
"""An objective of a run or of small motions."""
Target = Goal | DesignQuantity
"""A quantity that a design problem can minimise."""
Goals = Target | Sequence[Target] | Mapping[str, Target]
Constraints = Constraint | Sequence[Constraint] | Mapping[str, Constraint]


def named_goals(objectives: Goals) -> dict[str, Target]:
    """Return the checked objectives by name; unnamed ones are called psi1, psi2, …"""
    if isinstance(objectives, Mapping):
        named = dict(objectives)
    elif isinstance(objectives, Sequence) and not isinstance(objectives, str):
        named = {f"psi{k + 1}": goal for k, goal in enumerate(objectives)}
    else:
        named = {"psi1": objectives}
    for name, goal in named.items():
        check_name("objective", name, without="")
        if isinstance(goal, Path):
            remedy = "take vm.integral or vm.final of it, or minimise vm.peak of it"
            raise ModelError(
                "it is a function of time", element=f"objective {name!r}", remedy=remedy
            )
        if not isinstance(goal, Target):
            problem = (
                "is not an objective; make one with varimech.integral, varimech.final,"
                " varimech.peak or varimech.growth_rate"
            )
            raise ModelError(problem, field=f"objective {name!r}", value=goal)
    return named


def of_runs(goals: Mapping[str, Target]) -> dict[str, Objective]:
    """Select the goals that a run yields."""
    return {name: goal for name, goal in goals.items() if isinstance(goal, Objective)}


def of_small_motions(goals: Mapping[str, Target]) -> dict[str, StabilityObjective]:
    """Select the goals that eigenvalues yield."""
    return {name: goal for name, goal in goals.items() if isinstance(goal, StabilityObjective)}


def named_constraints(constraints: Constraints) -> dict[str, Constraint]:
    """Return the constraints by name; unnamed ones are called c1, c2, …"""
    if isinstance(constraints, Constraint) or not isinstance(constraints, (Mapping, Sequence)):
        constraints = [constraints] if constraints is not None else []
    named = (
        dict(constraints)
        if isinstance(constraints, Mapping)
        else {f"c{k + 1}": c for k, c in enumerate(constraints)}
    )
    for name, constraint in named.items():
        check_name("constraint", str(name), without="")
        if isinstance(constraint, Comparable):
            raise ModelError(
                "has no bound",
                element=f"constraint {name!r}",
                remedy="compare the quantity with a number: … <= 0.1, … >= 0.1 or ….between(0.1, 0.2)",
            )
        if not isinstance(constraint, Constraint):
            hint = (
                "`==` compares objects: write .equals(value)"
                if isinstance(constraint, bool)
                else "write varimech.final(…) <= 0.1"
            )
            problem = "is not a constraint"
            field = f"constraint {name!r}"
            raise ModelError(problem, field=field, value=constraint, remedy=hint)
    return {str(name): _of_path(str(name), constraint) for name, constraint in named.items()}


def _of_path(name: str, constraint: Constraint) -> Constraint:
    """Convert a constraint on a peak that is bounded on one side to a constraint on its path."""
    quantity = constraint.of
    if not isinstance(quantity, Peak) or math.isfinite(constraint.lower + constraint.upper):
        return constraint
    if math.isfinite(constraint.lower):
        problem = "a peak can be bounded from above only: a lower bound leaves the instant open"
        raise ModelError(problem, field=f"constraint {name!r}", remedy="use vm.path or vm.final")
    return Path(quantity.function, quantity.unit) <= constraint.upper
