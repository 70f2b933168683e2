"""Quantities as text: "30 mm", "2 deg", "9.81 m/s²", "21/s", in SI units inside. Units are pint's,
which is loaded where a text has one.

    quantity  =  number [unit]                      3e5      30 mm      5 N/(m*s)      5 1/s      21/s
    unit      =  [1] / explicit  |  item ((blank | *) item)* explicit
    explicit  =  item ((* | /) item)*               after a slash, products are written with a sign: N/m s could mean two things
    item      =  name [power]  |  ( item ((blank | * | /) item)* ) [power]

A power is ** or ^ with one digit, or superscripts; · is another *. A number with a name or a
bracket after it is a quantity, whatever the name: no expression looks so. A number with a slash
after it is one if names alone follow; it reads as an expression too, and what it means depends on
whether these are parameters (see `Numbers.quantity`). All other texts are expressions (see
`expressions`).
"""

from __future__ import annotations

import math
import re
from functools import cache, lru_cache
from typing import Any

from .errors import ModelError

LONGEST = 60
"""Characters of a unit: more than any needs, and less than would keep a computer busy."""
NUMBER = r"[-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]++)?+"
"""What was matched is not tried in shorter parts (++): "21/s" is never 2 with the unit 1/s, and a
long text is read once.
"""
_QUANTITY = re.compile(rf"\s*+({NUMBER})\s*+(?:(?:[^\W\d]|[°(/]|(?<=\s)1\s*/).*+)?", re.DOTALL)
_ITEM = r"(?:[^\W\d]++|°)(?:\s*(?:\*\*|\^)\s*[-+]?[0-9]|⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹])?(?![0-9⁰¹²³⁴⁵⁶⁷⁸⁹])"
_ITEMS = rf"(?:{_ITEM}|\(\s*{_ITEM}(?:(?:\s*[*·/]\s*|\s+){_ITEM})*\s*\)(?:(?:\*\*|\^)[-+]?[0-9]|⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹])?)"
_UNIT = re.compile(
    rf"(?:(?:1\s*)?/\s*{_ITEMS}|{_ITEMS}(?:(?:\s*[*·]\s*|\s+){_ITEMS})*)(?:\s*[*·/]\s*{_ITEMS})*"
)
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
"""Units of the SI that mechanics uses, with the powers of m, kg and s in them: they are known
without pint, which takes long to load.
"""
_FACTOR = re.compile(r"\s*([*/]?)\s*(1(?=\s*/)|[A-Za-z]+)(?:(?:\*\*|\^)([-+]?\d))?\s*")
_WRITTEN_TOGETHER = re.compile(r"\b([kM]?N)(mm|ms|m|s)\b((?:\s*\*\*\s*[-+]?\d)?)")
"""Engineers write Nm and Nm², which pint takes for a unit of yarns."""
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_PURE = ("-", "–", "1")
"""What engineers write where there is no unit."""
_REMEDY = "; after a slash, write products with a sign: N/(m*s) or N/m*s"


def split_quantity(text: str) -> tuple[float, str] | None:
    """Number and unit of a text that is a quantity; None for other texts. A unit that begins with a
    slash may be an expression, too.

    >>> split_quantity("30 mm"), split_quantity("21/s"), split_quantity("L/2"), split_quantity("21/4")
    ((30.0, 'mm'), (21.0, '/s'), None, None)
    """
    found = _QUANTITY.fullmatch(text)
    if found is None:
        return None
    unit = text[found.end(1) :].strip()
    if unit.startswith("/") and not _is_unit(unit):
        return None
    return float(found[1]), unit


def words_of(unit: str) -> set[str]:
    """The names in a unit."""
    return set(re.findall(r"[^\W\d]+", unit))


def in_unit(number: float, unit: str, wanted: str, label: str) -> float:
    """A quantity in SI units, if it is of the kind that is wanted; a number without a unit is in
    them already.

    >>> in_unit(30.0, "mm", "m", "length")
    0.03
    """
    given = f"{number:g} {unit}"
    if not math.isfinite(number if unit == "" else si_value(number, unit, label)):
        raise ModelError("is too large for a number", label=label, value=given)
    if not unit:
        return number
    if _parsed(unit, label).dimensionality != _parsed(wanted, label).dimensionality:
        raise ModelError(
            "has the wrong kind of unit",
            label=label,
            value=given,
            remedy=f"what belongs here is in {wanted or 'pure numbers'}",
        )
    if "rad" in words_of(wanted) and words_of(unit) & {"Hz", "hertz", "kHz"}:
        raise ModelError(
            f": Hz counts turns, and {wanted} radians",
            label=label,
            value=given,
            remedy="write turn/s, rpm or rad/s",
        )
    return si_value(number, unit, label)


def si_value(number: float, unit: str, label: str) -> float:
    """A quantity in SI units, whatever its kind: the same bits wherever it stands."""
    return float((number * _parsed(unit, label)).to_base_units().magnitude)


def is_of_kind(unit: str, wanted: str) -> bool:
    """Whether a text is a unit, and one that measures what is wanted."""
    try:
        return bool(_parsed(unit, "").dimensionality == _parsed(wanted, "").dimensionality)
    except ModelError:
        return False


def si_unit(unit: str, label: str) -> str:
    """The SI unit of the same kind, under the name that it goes by; a unit that is one already as
    it was written.

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
    if _powers(unit) is not None:
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
    if text and not _is_unit(unit):
        return None
    while at < len(text):
        found = _FACTOR.match(text, at)
        if found is None or (found[2] != "1" and found[2] not in _SI):
            return None
        power = (-1 if found[1] == "/" else 1) * int(found[3] or 1)
        powers = [
            total + power * own
            for total, own in zip(powers, _SI.get(found[2], (0, 0, 0)), strict=True)
        ]
        at = found.end()
    return tuple(powers)


def _plain_text(unit: str) -> str:
    """Superscripts and dots as a keyboard has them; nothing for a pure number."""
    if unit in _PURE:
        return ""
    text = re.sub(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", lambda found: f"**{found[0].translate(_SUPERSCRIPTS)}", unit)
    return text.replace("·", "*").replace("°", "deg")


def _is_unit(text: str) -> bool:
    """Whether a text has the form of a unit."""
    return len(text) <= LONGEST and _UNIT.fullmatch(text) is not None


@cache
def _registry() -> Any:
    import pint

    return pint.UnitRegistry(cache_folder=None)


def _parsed(unit: str, label: str) -> Any:
    try:
        return _read(unit)
    except ModelError as error:
        raise ModelError(f": {error}", label=label) from None


@lru_cache(maxsize=512)
def _read(unit: str) -> Any:
    if len(unit) > LONGEST:
        raise ModelError(f"'{unit[:LONGEST]}…' is not a unit; one has {LONGEST} characters at most")
    if unit not in ("", *_PURE) and not _is_unit(unit):
        raise ModelError(
            f"{unit!r} is not a unit{_REMEDY if re.search(r'/.*[^*·/ ] +[^*·/ ]', unit) else ''}"
        )
    text = _plain_text(unit)
    text = f"1{text}" if text.startswith("/") else text
    text = _WRITTEN_TOGETHER.sub(
        lambda x: f"({x[1]}*{x[2].replace('ms', 'm*s')}{x[3]})", text.replace("^", "**")
    )
    try:
        parsed = _registry().Quantity(1.0, _registry().parse_units(text or "dimensionless"))
        if not parsed._is_multiplicative:
            raise ValueError("degrees Celsius and decibels are more than a factor")
        if not 0 < parsed.to_base_units().magnitude < math.inf:
            raise ValueError("its factor to SI units is beyond all numbers")
        return parsed
    except Exception as error:  # pint has many ways to say no
        raise ModelError(
            f"{unit!r} is not a unit that can be used; SI units and mm, deg, lb, inch, … can"
            f" ({error})"
        ) from None
