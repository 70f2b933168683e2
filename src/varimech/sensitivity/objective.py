"""Objectives:  ψ = w(t_F) + ∫ g dt,  with g and w functions of the state.

They are integrated along with the motion, at the order of its integrator: by the trapezoidal rule
on the steps of an implicit integrator, with the stages and weights of an explicit one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

from ..core.errors import ModelError
from ..core.expressions import Expression
from ..model.state import State
from ..model.user_functions import StateExpression
from .comparison import Comparable

StateFunction = Callable[[State], Any]
"""Function of the state; users may write it as text instead."""


AT_EVENT, PEAK, LOWEST = range(3)


@dataclass(frozen=True)
class Sample:
    """A function of the state at an event, or its largest or smallest value over the run."""

    kind: int
    """`AT_EVENT`, `PEAK` or `LOWEST`."""
    function: StateFunction
    event: str = ""
    occurrence: int = 0
    """Occurrence of the event of that name, counted from 1; 0 for the last one."""
    factor: float = 1.0


@dataclass(frozen=True)
class Objective(Comparable):
    """ψ = w(t_F) + ∫ g dt; create one with `integral`, `final`, or their sum. Comparing it with a
    number yields a constraint.
    """

    integrand: StateFunction | None = None
    final: StateFunction | None = None
    unit: str = ""
    samples: tuple[Sample, ...] = ()
    """Values at events, and extrema, that are added to the objective."""

    def __add__(self, other: Objective) -> Objective:
        if not isinstance(other, Objective):
            return NotImplemented
        return Objective(
            _sum(self.integrand, other.integrand),
            _sum(self.final, other.final),
            self.unit or other.unit,
            self.samples + other.samples,
        )

    def __sub__(self, other: Objective) -> Objective:
        return self + -1.0 * other

    def __mul__(self, factor: float) -> Objective:
        if isinstance(factor, Objective):
            raise _nonlinear("product")
        if not isinstance(factor, Real):
            return NotImplemented
        factor = float(factor)
        return Objective(
            _times(self.integrand, factor),
            _times(self.final, factor),
            self.unit,
            tuple(replace(s, factor=factor * s.factor) for s in self.samples),
        )

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> Objective:
        if isinstance(divisor, Objective):
            raise _nonlinear("quotient")
        if not isinstance(divisor, Real):
            return NotImplemented
        return self * (1 / float(divisor))

    def __rtruediv__(self, dividend: float) -> Objective:
        raise _nonlinear("quotient")

    def __neg__(self) -> Objective:
        return -1.0 * self


def _nonlinear(operation: str) -> ModelError:
    return ModelError(
        f"a {operation} of objectives is not an objective: objectives can be added, and multiplied"
        " with numbers",
        remedy="give them separately, and combine the values and gradients of the result",
    )


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


def lowest(function: StateFunction | str, *, unit: str = "") -> Objective:
    """The smallest value of a scalar function of the state over the run.

    Args:
        function: function of the state, or an expression as text; it may depend on reactions.
        unit: its unit.

    Returns:
        The objective.

    >>> import varimech as vm
    >>> least = vm.lowest(lambda s: s.position("P")[1], unit="m")
    """
    return Objective(unit=unit, samples=(Sample(LOWEST, checked_callable(function, "a value")),))


def range(function: StateFunction | str, *, unit: str = "") -> Objective:
    """The largest minus the smallest value of a scalar function of the state over the run.

    Args:
        function: function of the state, or an expression as text; it may depend on reactions.
        unit: its unit.

    Returns:
        The objective.

    >>> import varimech as vm
    >>> stroke = vm.range(lambda s: s.displacement("guide"), unit="m")
    """
    checked = checked_callable(function, "a range")
    return Objective(unit=unit, samples=(Sample(PEAK, checked), Sample(LOWEST, checked, factor=-1)))


def at(
    event: str, function: StateFunction | str, *, unit: str = "", occurrence: int = 1
) -> Objective:
    """A scalar function of the state at an event: just before it.

    Args:
        event: name of a contact (its impacts), a friction, or an event of the model.
        function: function of the state, or an expression as text.
        unit: its unit.
        occurrence: which event of that name, from 1 on; 0 for the last one of the run.

    Returns:
        The objective; a run without that event has no value of it.

    >>> import varimech as vm
    >>> speed = vm.at("end stop", lambda s: s.displacement_rate("guide"), unit="m/s")
    """
    sample = Sample(AT_EVENT, checked_callable(function, "a value"), event, occurrence)
    return Objective(unit=unit, samples=(sample,))


def time_of(event: str, *, occurrence: int = 1) -> Objective:
    """The time of an event (s).

    Args:
        event: name of a contact (its impacts), a friction, or an event of the model.
        occurrence: which event of that name, from 1 on; 0 for the last one of the run.

    Returns:
        The objective; a run without that event has no value of it.

    >>> import varimech as vm
    >>> arrival = vm.time_of("end stop")
    """
    return at(event, lambda s: s.time, unit="s", occurrence=occurrence)


def functions_of(objective: Objective) -> tuple[StateFunction, ...]:
    """Return the integrand, the final term and the sampled functions that are present."""
    stated = (objective.integrand, objective.final, *[s.function for s in objective.samples])
    return tuple(f for f in stated if f is not None)


def _times(function: StateFunction | None, factor: float) -> StateFunction | None:
    return None if function is None else lambda state: factor * function(state)


def _sum(first: StateFunction | None, second: StateFunction | None) -> StateFunction | None:
    if first is None or second is None:
        return first or second
    return lambda state: first(state) + second(state)


def checked_callable(function: Any, what: str = "an objective") -> StateFunction:
    """Check that `function` can be a function of the state; parse a text into one."""
    if isinstance(function, str):
        Expression(function)
        return StateExpression(function)
    if not callable(function):
        raise ModelError(
            f"{what} needs a function of the state, such as lambda s: s.energy; got {function!r}"
        )
    return function
