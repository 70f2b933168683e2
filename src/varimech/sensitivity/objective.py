"""Objectives:  ψ = w(t_F) + ∫ g dt,  with g and w functions of the state.

They are integrated along with the motion, at the order of its integrator: by the trapezoidal rule
on the steps of an implicit one, with the stages and weights of an explicit one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

from ..core.errors import ModelError
from ..core.expressions import Expression
from ..model.state import State
from ..model.user_functions import StateExpression
from .comparison import Comparable

StateFunction = Callable[[State], Any]
"""A text stands for one where users give it."""


@dataclass(frozen=True)
class Objective(Comparable):
    """ψ = w(t_F) + ∫ g dt; make one with `integral`, `final`, or their sum. Compared with a number
    it makes a constraint.
    """

    integrand: StateFunction | None = None
    final: StateFunction | None = None
    unit: str = ""

    def __add__(self, other: Objective) -> Objective:
        if not isinstance(other, Objective):
            return NotImplemented
        return Objective(
            _sum(self.integrand, other.integrand),
            _sum(self.final, other.final),
            self.unit or other.unit,
        )

    def __mul__(self, factor: float) -> Objective:
        if not isinstance(factor, Real):
            return NotImplemented
        return Objective(
            _times(self.integrand, float(factor)), _times(self.final, float(factor)), self.unit
        )

    __rmul__ = __mul__

    def __neg__(self) -> Objective:
        return -1.0 * self


def integral(function: StateFunction | str, *, unit: str = "") -> Objective:
    """The integral over time of a scalar function of the state.

    Args:
        function: function of the state, or an expression as text: `"norm(velocity('2'))"`.
        unit: unit of the integral.

    Returns:
        The objective; add objectives, or multiply them with numbers.

    >>> import varimech as vm
    >>> travelled = vm.integral(lambda s: vm.norm(s.velocity("2")), unit="m")
    """
    return Objective(integrand=checked_callable(function), unit=unit)


def final(function: StateFunction | str, *, unit: str = "") -> Objective:
    """A scalar function of the state at the end of the run.

    Args:
        function: function of the state, or an expression as text: `"angle('rod')"`.
        unit: its unit.

    Returns:
        The objective; add objectives, or multiply them with numbers.
    """
    return Objective(final=checked_callable(function), unit=unit)


def functions_of(objective: Objective) -> tuple[StateFunction, ...]:
    """Integrand and final term, as far as there are any."""
    return tuple(f for f in (objective.integrand, objective.final) if f is not None)


def _times(function: StateFunction | None, factor: float) -> StateFunction | None:
    return None if function is None else lambda state: factor * function(state)


def _sum(first: StateFunction | None, second: StateFunction | None) -> StateFunction | None:
    if first is None or second is None:
        return first or second
    return lambda state: first(state) + second(state)


def checked_callable(function: Any, what: str = "an objective") -> StateFunction:
    """The function itself, if it can be one of the state; a text becomes one."""
    if isinstance(function, str):
        Expression(function)
        return StateExpression(function)
    if not callable(function):
        raise ModelError(
            f"{what} needs a function of the state, such as lambda s: s.energy; got {function!r}"
        )
    return function
