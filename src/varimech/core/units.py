"""Quantities as text: "30 mm", "2 deg", "9.81 m/s²", "21/s"; in SI units internally. The units are
pint's, which is imported only when a text needs it.

    quantity  =  number [unit]                      3e5   30 mm   5 N/(m*s)   5 1/s   21/s
    unit      =  [1] / explicit  |  item ((blank | *) item)* explicit
    explicit  =  item ((* | /) item)*
    item      =  name [power]  |  ( item ((blank | * | /) item)* ) [power]

After a slash, products need a sign (`explicit`), because N/m s is ambiguous. A power is ** or ^
with one digit, or superscripts; · is another *. A number followed by a name or a bracket is a
quantity, unless more follows that makes an expression. A number followed by a slash is a quantity if
only names follow; it is a valid expression too, and its meaning depends on whether these names are
parameters (see `ParameterSet.quantity`). All other texts are expressions (see `expressions`).

Within expressions (60 rpm * t, 30 mm + x), a unit has no blanks, and products have a · or brackets:

    compact   =  name [power] ((· | /) (name [power] | bracket))*
"""

from __future__ import annotations

import ast
import keyword
import math
import re
from collections.abc import Set
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from .errors import ModelError

LONGEST = 60
"""Longest unit (characters): more than any needs, and short enough to parse quickly."""
LONGEST_TEXT = 10_000
"""Longest expression (characters)."""
NUMBER = r"[-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]++)?+"
"""Possessive (++), so that "21/s" is never 2 with the unit 1/s, and a long text is scanned once."""
_QUANTITY = re.compile(rf"\s*+({NUMBER})\s*+(?:(?:[^\W\d]|[°(/]|(?<=\s)1\s*/).*+)?", re.DOTALL)
_ITEM = r"(?:[^\W\d]++|°)(?:\s*(?:\*\*|\^)\s*[-+]?[0-9]|⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹])?(?![0-9⁰¹²³⁴⁵⁶⁷⁸⁹])"
_ITEMS = (
    rf"(?:{_ITEM}|\(\s*{_ITEM}(?:(?:\s*[*·/]\s*|\s+){_ITEM})*\s*\)"
    r"(?:(?:\*\*|\^)[-+]?[0-9]|⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹])?)"
)
_UNIT = re.compile(
    rf"(?:(?:1\s*)?/\s*{_ITEMS}|{_ITEMS}(?:(?:\s*[*·]\s*|\s+){_ITEMS})*)(?:\s*[*·/]\s*{_ITEMS})*"
)
_COMPACT = re.compile(
    rf"""(?P<text>"[^"]*"|'[^']*')|(?<![\w.])(?P<number>{NUMBER[5:]})[ \t]*+"""
    rf"(?P<unit>{_ITEM}(?:[·/](?:{_ITEM}|\(\s*{_ITEM}(?:(?:\s*[*·/]\s*|\s+){_ITEM})*\s*\)))*)"
    r"(?!\s*(?:\*\*|\^))"
)
"""Pattern of a quantity within an expression, or of a quoted text, which is skipped. A power of
more than one digit belongs neither to the unit nor to the quantity.
"""
_PLAIN = {
    **dict.fromkeys(("mm", "cm", "km", "um", "µm", "inch", "ft"), "m"),
    **dict.fromkeys(("deg", "degree", "degrees", "°", "mrad", "turn", "rev"), "rad"),
    **dict.fromkeys(("g", "mg", "t", "lb"), "kg"),
    **dict.fromkeys(("kN", "mN", "MN", "lbf"), "N"),
    **dict.fromkeys(("kPa", "MPa", "GPa", "bar", "psi"), "Pa"),
    **dict.fromkeys(("ms", "us", "µs", "min", "h"), "s"),
    **{"rpm": "rad/s", "kJ": "J", "kW": "W", "kHz": "Hz"},
}
"""Common engineering units, and the SI units that replace them."""
_SI = {
    **{"m": (1, 0, 0), "kg": (0, 1, 0), "s": (0, 0, 1), "rad": (0, 0, 0), "Hz": (0, 0, -1)},
    **{"N": (1, 1, -2), "Pa": (-1, 1, -2), "J": (2, 1, -2), "W": (2, 1, -3)},
}
"""SI units of mechanics with their powers of m, kg and s: recognised without pint, which takes 0.4 s
to import and to read its definitions.
"""
_FACTORS = {
    **{"mm": 1e-3, "cm": 1e-2, "km": 1e3, "g": 1e-3, "deg": math.pi / 180, "ms": 1e-3},
    **{"kN": 1e3, "mN": 1e-3, "kPa": 1e3, "MPa": 1e6, "GPa": 1e9, "kJ": 1e3, "kW": 1e3, "kHz": 1e3},
}
"""Factors to SI of the most common units, for the same reason; identical to pint's, to the last
bit.
"""
_ANGLES = {
    *("rad", "radian", "radians", "mrad", "deg", "degree", "degrees", "°", "rpm"),
    *("turn", "turns", "rev", "revolution", "revolutions", "cycle", "cycles"),
}
"""Units of angles and of angular velocities."""
_BASE = ("[length]", "[mass]", "[time]")
_FACTOR = re.compile(r"\s*([*/]?)\s*(1(?=\s*/)|[A-Za-z]+)(?:(?:\*\*|\^)([-+]?\d))?\s*")
_WRITTEN_TOGETHER = re.compile(r"\b([kM]?N)(mm|ms|m|s)\b((?:\s*\*\*\s*[-+]?\d)?)")
"""Engineers write Nm and Nm², which pint would read as a unit of yarn."""
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_PURE = ("-", "–", "1")
"""Common notations for "no unit"."""
_REMEDY = "; after a slash, write products with a sign: N/(m*s) or N/m*s"


def split_quantity(text: str) -> tuple[float, str] | None:
    """Number and unit of a quantity; None for any other text.

    A text whose unit begins with a slash may be an expression, too.

    >>> split_quantity("30 mm"), split_quantity("21/s")
    ((30.0, 'mm'), (21.0, '/s'))
    >>> split_quantity("L/2"), split_quantity("21/4")
    (None, None)
    """
    match = _QUANTITY.fullmatch(text)
    if match is None:
        return None
    unit = text[match.end(1) :].strip()
    if unit and not _is_unit(unit) and (unit.startswith("/") or has_expression(text)):
        return None
    return float(match[1]), unit


def without_units(text: str) -> tuple[str, dict[str, str]]:
    """An expression with names in place of its units, and the units by these names.

    >>> without_units("60 rpm*t")
    ('(60*unit_0)*t', {'unit_0': 'rpm'})
    """
    units: dict[str, str] = {}
    prefix = "unit_"
    while prefix in text:
        prefix += "_"

    def replaced(match: re.Match[str]) -> str:
        before = text[: match.start()].rstrip()[-2:]
        ambiguous = before.endswith(("/", "**"))  # 1/2 m
        if match["text"] is not None or keyword.iskeyword(match["unit"]) or ambiguous:
            return match[0]
        name = f"{prefix}{len(units)}"
        units[name] = match["unit"]
        return f"({match['number']}*{name})"

    return _COMPACT.sub(replaced, text), units


def has_expression(text: str, names: Set[str] = frozenset()) -> bool:
    """Return whether a text that contains quantities is syntactically an expression, and none of
    its units is also one of the `names` that have a meaning there.
    """
    if len(text) > LONGEST_TEXT:
        return False
    plain, units = without_units(text)
    if not units or any(words_of(unit) & names for unit in units.values()):
        return False
    try:
        ast.parse(plain.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def words_of(unit: str) -> set[str]:
    """Return the unit names within a unit."""
    return set(re.findall(r"[^\W\d]+", unit))


def in_unit(number: float, unit: str, expected: str, label: str) -> float:
    """Convert a quantity to SI units and check its dimension.

    Args:
        number: the number.
        unit: its unit; "" for SI.
        expected: the expected SI unit.
        label: name of the value in error messages.

    Raises:
        ModelError: for an unknown unit, another dimension, or a value out of range.

    >>> in_unit(30.0, "mm", "m", "length")
    0.03
    """
    given = f"{number:g} {unit}"
    if not math.isfinite(number if unit == "" else si_value(number, unit, label)):
        raise ModelError("is out of range", label=label, value=given)
    if not unit:
        return number
    if _parsed(unit, label).dimension != _parsed(expected, label).dimension:
        raise ModelError(
            "has the wrong dimension",
            label=label,
            value=given,
            remedy=f"expected {expected or 'a pure number'}",
        )
    _check_turns(unit, expected, label, given)
    return si_value(number, unit, label)


def _check_turns(unit: str, expected: str, label: str, given: str) -> None:
    """Refuse units of frequencies for angular velocities and vice versa: both are 1/s, but 1 Hz is a
    turn, and 1 rad/s is not.
    """
    own, wanted = words_of(unit), words_of(expected)
    if "rad" in wanted and any(word.endswith(("Hz", "hertz")) for word in own):
        problem = f": Hz counts turns, and {expected} radians"
        raise ModelError(problem, label=label, value=given, remedy="write turn/s, rpm or rad/s")
    if expected == "rad/s" and "min" in own and not own & _ANGLES:
        problem = f": {unit} may count turns, and {expected} counts radians"
        raise ModelError(problem, label=label, value=given, remedy="write rpm, rad/min or rad/s")
    if "Hz" in wanted and own & _ANGLES:
        problem = f": Hz counts turns, and {unit} is converted to rad/s"
        remedy = "write it in Hz: 60 rpm, 1 turn/s and 2*pi rad/s are 1 Hz"
        raise ModelError(problem, label=label, value=given, remedy=remedy)


def si_value(number: float, unit: str, label: str) -> float:
    """Return whether a text is a unit of the same dimension as `expected`."""
    return number * _parsed(unit, label).factor


def is_of_kind(unit: str, expected: str) -> bool:
    """Whether a text is a unit of the same dimension as `expected`."""
    try:
        return _parsed(unit, "").dimension == _parsed(expected, "").dimension
    except ModelError:
        return False


def si_unit(unit: str, label: str) -> str:
    """Return the SI unit of the same dimension, under its usual name; an SI unit is returned
    unchanged.

    >>> si_unit("N/mm", "stiffness"), si_unit("N·m·s/rad", "damping")
    ('N/m', 'N·m·s/rad')
    """
    given = _parsed(unit, label)
    for name in (unit, re.sub(r"[^\W\d]+|°", lambda word: _PLAIN.get(word[0], word[0]), unit)):
        if is_si(name) and _parsed(name, label).dimension == given.dimension:
            return name
    return f"{_by_pint(unit).to_base_units().units:~P}"


def is_si(unit: str) -> bool:
    """Return whether numbers in a unit need no factor to SI; true without a unit, too."""
    try:
        return _parsed(unit, "").factor == 1.0
    except ModelError:
        return False


def of_one_kind(first: str, second: str) -> bool:
    """Return whether two SI units have the same dimension.

    >>> of_one_kind("N·m/rad", "J"), of_one_kind("kg", "m")
    (True, False)
    """
    return _parsed(first, "").dimension == _parsed(second, "").dimension


@lru_cache(maxsize=512)
def _powers(unit: str) -> tuple[int, ...] | None:
    """Return the powers of m, kg and s in a product or quotient of `_SI` units; None for all other
    units.
    """
    text, at, powers = _plain_text(unit), 0, [0, 0, 0]
    if text and not _is_unit(unit):
        return None
    while at < len(text):
        factor = _FACTOR.match(text, at)
        if factor is None or (factor[2] != "1" and factor[2] not in _SI):
            return None
        power = (-1 if factor[1] == "/" else 1) * int(factor[3] or 1)
        powers = [
            total + power * own
            for total, own in zip(powers, _SI.get(factor[2], (0, 0, 0)), strict=True)
        ]
        at = factor.end()
    return tuple(powers)


def _plain_text(unit: str) -> str:
    """Return the unit with ASCII powers, *, deg and turn; empty for a pure number."""
    if unit in _PURE:
        return ""
    text = re.sub(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", lambda match: f"**{match[0].translate(_SUPERSCRIPTS)}", unit)
    text = re.sub(r"\brev\b", "turn", text)  # not known to pint
    return text.replace("·", "*").replace("°", "deg")


def _is_unit(text: str) -> bool:
    """Return whether a text has the form of a unit."""
    return len(text) <= LONGEST and _UNIT.fullmatch(text) is not None


@cache
def _registry() -> Any:
    import pint

    return pint.UnitRegistry(cache_folder=None)


@dataclass(frozen=True)
class _Unit:
    factor: float
    """Factor to SI units."""
    dimension: frozenset[tuple[str, float]]
    """Powers of the base quantities."""


def _parsed(unit: str, label: str) -> _Unit:
    try:
        return _read(unit)
    except ModelError as error:
        raise ModelError(f": {error}", label=label) from None


@lru_cache(maxsize=512)
def _read(unit: str) -> _Unit:
    plain = _plain_text(unit)
    powers = _powers(_PLAIN[plain] if plain in _FACTORS else unit)
    if powers is not None:
        base = frozenset((name, power) for name, power in zip(_BASE, powers, strict=True) if power)
        return _Unit(_FACTORS.get(plain, 1.0), base)
    quantity = _by_pint(unit)
    return _Unit(
        float(quantity.to_base_units().magnitude), frozenset(quantity.dimensionality.items())
    )


def _by_pint(unit: str) -> Any:
    if len(unit) > LONGEST:
        raise ModelError(
            f"'{unit[:LONGEST]}…' is not a unit", remedy=f"the longest has {LONGEST} characters"
        )
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
            raise ValueError("offset and logarithmic units (°C, dB) are not supported")
        if not 0 < parsed.to_base_units().magnitude < math.inf:
            raise ValueError("its factor to SI units is out of range")
        return parsed
    except Exception as error:  # pint raises many types
        remedy = f"use SI units or mm, deg, lb, inch, … ({error})"
        raise ModelError(f"{unit!r} is not a unit that can be used", remedy=remedy) from None
