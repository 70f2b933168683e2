"""Quantities as text: "30 mm", "2 deg", "9.81 m/s²", in SI units inside. What units there are is loaded where a text has one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .errors import ModelError

if TYPE_CHECKING:
    from .unit_names import Unit

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*((?:[A-Za-zµμ°Ω%]|1\s*/)[\w\s·*/^µμ°Ω²³⁴⁻¹().+-]{{0,59}})?\s*")
_PLAIN = {
    **dict.fromkeys(("mm", "cm", "km", "um", "µm", "inch", "ft"), "m"),
    **dict.fromkeys(("deg", "degree", "degrees", "°", "mrad", "turn"), "rad"),
    **dict.fromkeys(("g", "mg", "t", "lb"), "kg"),
    **dict.fromkeys(("kN", "mN", "MN", "lbf"), "N"),
    **dict.fromkeys(("kPa", "MPa", "GPa", "bar", "psi"), "Pa"),
    **dict.fromkeys(("ms", "us", "µs", "min", "h"), "s"),
    **{"rpm": "rad/s", "kJ": "J", "kW": "W", "kHz": "Hz"},
}
"""Units that engineers write, and those of the SI that take their places."""


def split_quantity(text: str) -> tuple[float, str] | None:
    """Number and unit of a text that is a quantity; None for other texts.

    >>> split_quantity("30 mm"), split_quantity("L/2")
    ((30.0, 'mm'), None)
    """
    found = _QUANTITY.fullmatch(text)
    return None if found is None else (float(found[1]), (found[2] or "").strip())


def words_of(unit: str) -> set[str]:
    """The names in a unit."""
    return set(re.findall(r"[^\W\d]+", unit))


def in_unit(number: float, unit: str, wanted: str, label: str) -> float:
    """A quantity in the SI unit that is wanted; a number without a unit is in it already.

    >>> in_unit(30.0, "mm", "m", "length")
    0.03
    """
    if not unit:
        return number
    given, target = _parsed(unit, label), _parsed(wanted, label)
    if given.powers != target.powers:
        raise ModelError(
            f"{label} = '{number:g} {unit}' has the wrong kind of unit; what belongs here is in {wanted or 'pure numbers'}"
        )
    if "rad" in words_of(wanted) and words_of(unit) & {"Hz", "hertz", "kHz"}:
        raise ModelError(f"{label} = '{number:g} {unit}': Hz counts turns, and {wanted} radians; write turn/s, rpm or rad/s")
    return given.times(target, -1).in_si(number)


def si_unit(unit: str, label: str) -> str:
    """The SI unit of the same kind, under the name that it goes by; a unit that is one already as it was written.

    >>> si_unit("N/mm", "stiffness"), si_unit("N·m·s/rad", "damping"), si_unit("hp", "power")
    ('N/m', 'N·m·s/rad', 'kg·m²/s³')
    """
    given = _parsed(unit, label)
    for name in (unit, re.sub(r"[^\W\d]+|°", lambda word: _PLAIN.get(word[0], word[0]), unit)):
        if is_si(name) and _parsed(name, label).powers == given.powers:
            return name
    return str(given)


def is_si(unit: str) -> bool:
    """Whether a unit is one of the SI, such that numbers need no factor; none at all is one too."""
    try:
        found = _parsed(unit, "")
    except ModelError:
        return False
    return found.factor == 1 and found.turns == 0


def _parsed(unit: str, label: str) -> Unit:
    from .unit_names import unit_meant

    try:
        return unit_meant(unit)
    except ValueError:
        raise ModelError(f"{label}: {unit!r} is not a unit that can be used; SI units and mm, deg, lb, inch, … can") from None
