"""Objectives of small motions: growth rates, frequencies and damping ratios of modes, and the value
of a parameter at which a motion loses stability.

They follow from eigenvalues of the linearised equations about a motion, not from a run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import NoReturn

from ..core.errors import ModelError, unknown_name
from .comparison import Comparable

PLACES = ("equilibrium", "steady", "start")
KINDS = ("growth_rate", "frequency", "damping_ratio", "critical_speed")


@dataclass(frozen=True)
class StabilityObjective(Comparable):
    """A property of small motions about a reference motion; create one with `growth_rate`,
    `frequency`, `damping_ratio` or `critical_speed`. Multiplied by a number it is another
    objective; compared with a number it becomes a constraint.
    """

    kind: str
    at: str
    near: float | None = None
    """Frequency (Hz) near which the mode is selected."""
    parameter: str = ""
    bracket: tuple[float | str, float | str] = (0.0, 0.0)
    """Values of the parameter on both sides of the critical one."""
    factor: float = 1.0
    unit: str = ""

    def __mul__(self, factor: float) -> StabilityObjective:
        if not isinstance(factor, Real):
            return NotImplemented
        return replace(self, factor=float(factor) * self.factor)

    __rmul__ = __mul__

    def __neg__(self) -> StabilityObjective:
        return -1.0 * self

    def __add__(self, other: object) -> NoReturn:
        raise ModelError(
            "is not added to other objectives",
            element=self.kind,
            remedy="minimise one of them, and bound the others by constraints",
        )

    __radd__ = __sub__ = __rsub__ = __add__


def growth_rate(at: str = "equilibrium", *, near: float | None = None) -> StabilityObjective:
    """The largest growth rate of small motions, max Re λ (1/s): negative where all die away.
    Neutral motions, whose eigenvalue is zero for all parameters (a heading, a free rotation), do not
    count.

    Args:
        at: the motion: "equilibrium", "steady" or "start", as for `Mechanism.linearize`.
        near: frequency (Hz) of the mode whose growth rate it is; the fastest growing one if not
            given.

    Returns:
        An objective for `gradient`, `optimize` and `moments` of order 1.

    >>> import varimech as vm
    >>> stable = vm.growth_rate("steady") <= -0.5
    """
    return _of_mode("growth_rate", at, near, "1/s")


def frequency(at: str = "equilibrium", *, near: float | None = None) -> StabilityObjective:
    """The frequency of a mode, Im λ / 2π (Hz).

    Args:
        at: as for `growth_rate`.
        near: frequency (Hz) of the mode, about; the slowest one that oscillates if not given.

    Returns:
        An objective for `gradient`, `optimize` and `moments` of order 1.

    >>> import varimech as vm
    >>> apart = vm.frequency(near=12.0) >= 14.0
    """
    return _of_mode("frequency", at, near, "Hz")


def damping_ratio(at: str = "equilibrium", *, near: float | None = None) -> StabilityObjective:
    """The damping ratio of a mode, −Re λ / |λ|.

    Args:
        at: as for `growth_rate`.
        near: frequency (Hz) of the mode; the least damped one if not given.

    Returns:
        An objective for `gradient`, `optimize` and `moments` of order 1.

    >>> import varimech as vm
    >>> damped = vm.damping_ratio() >= 0.05
    """
    return _of_mode("damping_ratio", at, near, "")


def critical_speed(
    parameter: str, between: Sequence[float | str], *, at: str = "start"
) -> StabilityObjective:
    """The value of a parameter (a speed, a load, a gain) at which the largest growth rate passes
    zero: v with max Re λ(v) = 0, and dv/dρ = −Re λ_ρ / Re λ_v.

    Args:
        parameter: its name.
        between: two values, or texts with units, on both sides: stable at one, unstable at the
            other. With several such values between them it is one of these.
        at: as for `growth_rate`; "equilibrium" seeks stable equilibria only, so that one that
            buckles is found by "start".

    Returns:
        An objective for `gradient`, `optimize` and `moments` of order 1, in the unit of the
        parameter.

    Raises:
        ModelError: if the argument is not a pair of different values.

    >>> import varimech as vm
    >>> weave = vm.critical_speed("v", between=(3.0, 5.0))
    """
    name = str(getattr(parameter, "name", parameter))
    pair = () if isinstance(between, str) or not isinstance(between, Sequence) else tuple(between)
    if len(pair) != 2 or not all(isinstance(x, (Real, str)) for x in pair) or pair[0] == pair[1]:
        raise ModelError(
            "must be two different values of the parameter",
            element="critical_speed",
            field="between",
            value=between,
        )
    check_place("critical_speed", at)
    return StabilityObjective("critical_speed", at, parameter=name, bracket=(pair[0], pair[1]))


def _of_mode(kind: str, at: str, near: float | None, unit: str) -> StabilityObjective:
    check_place(kind, at)
    number = isinstance(near, Real) and not isinstance(near, bool)
    if near is not None and not (number and math.isfinite(near) and near >= 0):
        raise ModelError("must be a frequency (Hz)", element=kind, field="near", value=near)
    return StabilityObjective(kind, at, None if near is None else float(near), unit=unit)


def check_place(kind: str, at: object) -> None:
    """Refuse a name that is none of `PLACES`."""
    if at not in PLACES:
        error = unknown_name("place", at, PLACES)
        raise ModelError(error.problem, element=kind, field="at", value=at, remedy=error.remedy)
