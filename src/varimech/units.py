"""Quantities as text: "30 mm", "2 deg", "9.81 m/s²", in SI units inside. Units are pint's, which is loaded where a text has one."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

from .errors import ModelError

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*((?:[A-Za-zµμ°Ω%]|1\s*/)[\w\s·*/^µμ°Ω²³⁴⁻¹().+-]{{0,59}})?\s*")
_UNIT = re.compile(r"(?:[^\W\d]++(?:(?:\*\*|\^)[-+]?\d)?|1(?=\s*/)|[\s*/()])++")
"""Words with one small exponent each: more than any unit needs, and less than would keep a computer busy. What was matched is not tried in
other parts (++), or a long word would be in as many ways as it can be cut."""
LONGEST = 60
"""Characters of a unit."""
LONGEST_QUANTITY = 1000
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
_SI = {
    **{"m": (1, 0, 0), "kg": (0, 1, 0), "s": (0, 0, 1), "rad": (0, 0, 0), "Hz": (0, 0, -1)},
    **{"N": (1, 1, -2), "Pa": (-1, 1, -2), "J": (2, 1, -2), "W": (2, 1, -3)},
}
"""Units of the SI that mechanics uses, with the powers of m, kg and s in them: they are known without pint, which takes long to load."""
_FACTOR = re.compile(r"\s*([*/]?)\s*(1(?=\s*/)|[A-Za-z]+)(?:(?:\*\*|\^)([-+]?\d))?\s*")
_WRITTEN_TOGETHER = {"m": "{}*m", "s": "{}*s", "ms": "{}*m*s", "mm": "{}*mm"}
"""Engineers write Nm, which others read as nautical miles."""
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_PURE = ("-", "–", "1")
"""What engineers write where there is no unit."""


def split_quantity(text: str) -> tuple[float, str] | None:
    """Number and unit of a text that is a quantity; None for other texts.

    >>> split_quantity("30 mm"), split_quantity("L/2")
    ((30.0, 'mm'), None)
    """
    found = _QUANTITY.fullmatch(text) if len(text) <= LONGEST_QUANTITY else None
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
    if given.dimensionality != target.dimensionality:
        raise ModelError(
            f"{label} = '{number:g} {unit}' has the wrong kind of unit; what belongs here is in {wanted or 'pure numbers'}"
        )
    if "rad" in words_of(wanted) and words_of(unit) & {"Hz", "hertz", "kHz"}:
        raise ModelError(f"{label} = '{number:g} {unit}': Hz counts turns, and {wanted} radians; write turn/s, rpm or rad/s")
    return float((number * given).to(target.units).magnitude)


def si_unit(unit: str, label: str) -> str:
    """The SI unit of the same kind, under the name that it goes by; a unit that is one already as it was written.

    >>> si_unit("N/mm", "stiffness"), si_unit("N·m·s/rad", "damping")
    ('N/m', 'N·m·s/rad')
    """
    given = _parsed(unit, label)
    for name in (unit, re.sub(r"[^\W\d]+|°", lambda word: _PLAIN.get(word[0], word[0]), unit)):
        if is_si(name) and _parsed(name, label).dimensionality == given.dimensionality:
            return name
    return f"{given.to_base_units().units:~P}"


def is_si(unit: str) -> bool:
    """Whether a unit is one of the SI, such that numbers need no factor; none at all is one too."""
    if len(unit) <= LONGEST and _powers(unit) is not None:
        return True
    try:
        return float(_parsed(unit, "").to_base_units().magnitude) == 1.0
    except ModelError:
        return False


def of_one_kind(first: str, second: str) -> bool:
    """Whether two units of the SI measure the same kind of thing.

    >>> of_one_kind("N·m/rad", "J"), of_one_kind("kg", "m")
    (True, False)
    """
    powers = [_powers(first), _powers(second)]
    if None in powers:
        return bool(_parsed(first, "").dimensionality == _parsed(second, "").dimensionality)
    return powers[0] == powers[1]


@lru_cache(maxsize=512)
def _powers(unit: str) -> tuple[int, ...] | None:
    """Powers of m, kg and s in a product or quotient of `_SI`; None for all other units."""
    text, at, powers = _plain_text(unit), 0, [0, 0, 0]
    while at < len(text):
        found = _FACTOR.match(text, at)
        if found is None or (found[2] != "1" and found[2] not in _SI):
            return None
        power = (-1 if found[1] == "/" else 1) * int(found[3] or 1)
        powers = [total + power * own for total, own in zip(powers, _SI.get(found[2], (0, 0, 0)), strict=True)]
        at = found.end()
    return tuple(powers)


def _plain_text(unit: str) -> str:
    """Superscripts and dots as a keyboard has them; nothing for a pure number."""
    if unit in _PURE:
        return ""
    text = re.sub(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", lambda found: f"**{found[0].translate(_SUPERSCRIPTS)}", unit)
    return text.replace("·", "*").replace("°", "deg")


@cache
def _registry() -> Any:
    import pint

    return pint.UnitRegistry(cache_folder=None)


def _parsed(unit: str, label: str) -> Any:
    try:
        return _read(unit)
    except ModelError as error:
        raise ModelError(f"{label}: {error}") from None


@lru_cache(maxsize=512)
def _read(unit: str) -> Any:
    text = _plain_text(unit)
    text = re.sub(r"\b[kM]?N(mm|ms|m|s)\b", lambda found: _WRITTEN_TOGETHER[found[1]].format(found[0][: -len(found[1])]), text)
    if len(unit) > LONGEST or (text and not _UNIT.fullmatch(text)):
        raise ModelError(f"{unit!r} is not a unit")
    try:
        parsed = _registry().Quantity(1.0, _registry().parse_units(text.replace("^", "**") or "dimensionless"))
        if not parsed._is_multiplicative:
            raise ValueError("degrees Celsius and decibels are more than a factor")
        return parsed
    except Exception as error:  # pint has many ways to say no
        raise ModelError(f"{unit!r} is not a unit that can be used; SI units and mm, deg, lb, inch, … can ({error})") from None
