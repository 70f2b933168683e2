"""Quantities over time:  h(t) at every instant (`path`), and its largest value (`peak`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.errors import ModelError
from ..core.names import check_name
from ..sensitivity.comparison import Comparable, Constraint
from ..sensitivity.objective import Objective, StateFunction, checked_callable


@dataclass(frozen=True)
class Path(Comparable):
    """A scalar function of the state at every stored time; a comparison with a number makes a
    constraint at all of them.
    """

    function: StateFunction
    unit: str = ""


@dataclass(frozen=True)
class Peak:
    """The largest value of a scalar function of the state over the stored times, to be minimised:
    min z with h(tᵢ) ≤ z.
    """

    function: StateFunction
    unit: str = ""

    def __le__(self, upper: Any) -> Constraint:
        return Path(self.function, self.unit) <= upper

    def __ge__(self, lower: Any) -> Constraint:
        raise ModelError(
            "a peak can be bounded from above only: a lower bound leaves the instant open;"
            " use vm.path or vm.final"
        )


def path(function: StateFunction | str, *, unit: str = "") -> Path:
    """A function of the state at all times, to be bounded.

    Args:
        function: function of the state, or an expression as text.
        unit: its unit.

    >>> import varimech as vm
    >>> clearance = vm.path(lambda s: s.position("P")[1], unit="m") >= 0.02
    """
    return Path(checked_callable(function, "a path"), unit)


def peak(function: StateFunction | str, *, unit: str = "") -> Peak:
    """The largest value of a function of the state over time, as an objective.

    Args:
        function: function of the state, or an expression as text.
        unit: its unit.

    >>> import varimech as vm
    >>> smoothest = vm.peak(lambda s: vm.norm(s.acceleration("P")), unit="m/s²")
    """
    return Peak(checked_callable(function, "a peak"), unit)


Goal = Objective | Peak
Constraints = Constraint | Sequence[Constraint] | Mapping[str, Constraint]


def named_goal(objective: Goal | Mapping[str, Goal]) -> tuple[str, Goal]:
    """The objective with its name."""
    if isinstance(objective, Mapping):
        if len(objective) != 1:
            raise ModelError(
                f"optimize takes one objective, not {len(objective)}: add them with weights, or"
                " bound all but one by constraints"
            )
        name, goal = next(iter(objective.items()))
    else:
        name, goal = "objective", objective
    if isinstance(goal, Path):
        raise ModelError(
            f"objective {name!r} is a function of time: minimise vm.peak, vm.integral or vm.final"
            " of it"
        )
    if not isinstance(goal, (Objective, Peak)):
        raise ModelError(
            f"objective {name!r} = {goal!r} is not an objective; make one with varimech.integral,"
            " varimech.final or varimech.peak"
        )
    check_name("objective", str(name), without="")
    return str(name), goal


def named_constraints(constraints: Constraints) -> dict[str, Constraint]:
    """Constraints by name; unnamed ones are called c1, c2, …"""
    if isinstance(constraints, Constraint) or not isinstance(constraints, (Mapping, Sequence)):
        constraints = [constraints] if constraints is not None else []
    named = (
        dict(constraints)
        if isinstance(constraints, Mapping)
        else {f"c{k + 1}": c for k, c in enumerate(constraints)}
    )
    for name, constraint in named.items():
        check_name("constraint", str(name), without="")
        if not isinstance(constraint, Constraint):
            hint = (
                "`==` compares objects: write .equals(value)"
                if isinstance(constraint, bool)
                else "write varimech.final(…) <= 0.1"
            )
            raise ModelError(f"constraint {name!r} = {constraint!r} is not a constraint; {hint}")
    return {str(name): constraint for name, constraint in named.items()}
