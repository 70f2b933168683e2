"""What units there are: each a factor, and powers of those of the SI.

Factors are exact: fractions, and powers of π for angles, which are numbers here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

_FACTOR = re.compile(r"\s*(?:(1(?=\s*/)|[^\W\d]+|[%°])(?:(?:\*\*|\^)([-+]?\d))?(?!\d)|([*/()]))\s*")
"""A word with one small exponent, which is more than any unit needs, or a sign between words."""
_LONGEST = 100
"""Characters, which keeps brackets in brackets within bounds."""
_WRITTEN_TOGETHER = re.compile(r"\b([kM]?N)(mm|ms|m|s)\b")
"""Engineers write Nm, which others read as nautical miles."""
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_EXPONENTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")

_SYMBOLS = {
    **{symbol: Fraction(10) ** n for n, symbol in zip(range(3, 25, 3), "kMGTPEZY", strict=True)},
    **{symbol: Fraction(10) ** -n for n, symbol in zip(range(3, 25, 3), "mµnpfazy", strict=True)},
    **{"da": Fraction(10), "h": Fraction(100), "d": Fraction(1, 10), "c": Fraction(1, 100)},
    **dict.fromkeys("uμ", Fraction(1, 10**6)),
}
_PREFIXES = {
    **{"kilo": Fraction(10**3), "mega": Fraction(10**6), "giga": Fraction(10**9), "tera": Fraction(10**12)},
    **{"milli": Fraction(1, 10**3), "micro": Fraction(1, 10**6), "nano": Fraction(1, 10**9), "pico": Fraction(1, 10**12)},
    **{"hecto": Fraction(100), "deca": Fraction(10), "deci": Fraction(1, 10), "centi": Fraction(1, 100)},
}


@dataclass(frozen=True)
class Unit:
    """A factor times a power of π, and powers of m, kg, s, K, A, mol and cd."""

    factor: Fraction
    turns: int = 0
    powers: tuple[int, ...] = (0,) * 7

    def times(self, other: Unit, power: int = 1) -> Unit:
        """This and a power of another."""
        powers = tuple(a + power * b for a, b in zip(self.powers, other.powers, strict=True))
        return Unit(self.factor * other.factor**power, self.turns + power * other.turns, powers)

    def in_si(self, number: float) -> float:
        """So many of it."""
        try:
            return float(Fraction(number) * self.factor) * math.pi**self.turns
        except OverflowError:
            return math.copysign(math.inf, number)

    def __str__(self) -> str:
        """The unit of the SI, those that divide behind."""
        powers = sorted(zip(_BASE, self.powers, strict=True))
        over = "·".join(f"{name}{_exponent(n)}" for name, n in powers if n > 0)
        return (over or "1") + "".join(f"/{name}{_exponent(-n)}" for name, n in powers if n < 0)


def _exponent(power: int) -> str:
    return "" if power == 1 else str(power).translate(_EXPONENTS)


_BASE = ("m", "kg", "s", "K", "A", "mol", "cd")
_ONE = Unit(Fraction(1))
_SI = {name: Unit(Fraction(1), 0, tuple(int(k == j) for j in range(7))) for k, name in enumerate(_BASE)}
_PREFIXED = {
    "m": "meter metre",
    "g": "gram gramme",
    "s": "second sec",
    "K": "kelvin",
    "A": "ampere amp",
    "mol": "mole",
    "cd": "candela",
    "rad": "radian",
    "N": "newton",
    "Pa": "pascal",
    "J": "joule",
    "W": "watt",
    "Hz": "hertz",
    "C": "coulomb",
    "V": "volt",
    "ohm": "Ω Ohm",
    "F": "farad",
    "T": "tesla",
    "Wb": "weber",
    "H": "henry",
    "L": "l liter litre",
    "t": "tonne",
    "bar": "",
    "eV": "electronvolt electron_volt",
    "Wh": "watthour watt_hour",
}
"""Units that take prefixes, and their other names."""
_MEANT: dict[str, tuple[int | Fraction, str]] = {
    "rad": (1, ""),
    "g": (Fraction(1, 1000), "kg"),
    "N": (1, "kg*m/s^2"),
    "Pa": (1, "N/m^2"),
    "J": (1, "N*m"),
    "W": (1, "J/s"),
    "Hz": (1, "1/s"),
    "C": (1, "A*s"),
    "V": (1, "W/A"),
    "ohm": (1, "V/A"),
    "F": (1, "C/V"),
    "Wb": (1, "V*s"),
    "T": (1, "Wb/m^2"),
    "H": (1, "Wb/A"),
    "L": (Fraction(1, 1000), "m^3"),
    "t": (1000, "kg"),
    "bar": (10**5, "Pa"),
    "eV": (Fraction("1.602176634e-19"), "J"),
    "min": (60, "s"),
    "h": (60, "min"),
    "d": (24, "h"),
    "Wh": (1, "W*h"),
    "inch": (Fraction("0.0254"), "m"),
    "ft": (12, "inch"),
    "yd": (3, "ft"),
    "mi": (5280, "ft"),
    "nmi": (1852, "m"),
    "lb": (Fraction("0.45359237"), "kg"),
    "oz": (Fraction(1, 16), "lb"),
    "kgf": (Fraction("9.80665"), "N"),
    "lbf": (Fraction("0.45359237"), "kgf"),
    "slug": (1, "lbf*s^2/ft"),
    "dyn": (Fraction(1, 10**5), "N"),
    "psi": (1, "lbf/inch^2"),
    "ksi": (1000, "psi"),
    "atm": (101325, "Pa"),
    "cal": (Fraction("4.184"), "J"),
    "kcal": (1000, "cal"),
    "hp": (550, "ft*lbf/s"),
    "mph": (1, "mi/h"),
    "kph": (1, "km/h"),
    "knot": (1, "nmi/h"),
    "percent": (Fraction(1, 100), ""),
    "ppm": (Fraction(1, 10**6), ""),
    "dimensionless": (1, ""),
    "arcmin": (Fraction(1, 60), "deg"),
    "arcsec": (Fraction(1, 60), "arcmin"),
    "rpm": (1, "turn/min"),
    "rps": (1, "turn/s"),
}
"""So many of others."""
_CALLED = {
    "min": "minute",
    "h": "hour hr",
    "d": "day",
    "inch": "in inches",
    "ft": "foot feet",
    "yd": "yard",
    "mi": "mile",
    "nmi": "nautical_mile",
    "lb": "pound lbm",
    "oz": "ounce",
    "kgf": "kp kilogram_force",
    "lbf": "pound_force",
    "dyn": "dyne",
    "atm": "atmosphere",
    "cal": "calorie",
    "hp": "horsepower",
    "kph": "kmh",
    "percent": "%",
    "deg": "degree arcdeg °",
    "turn": "revolution rev",
    "arcmin": "arcminute",
    "arcsec": "arcsecond",
}
"""Other names."""
_OF_PI = {"deg": Unit(Fraction(1, 180), 1), "turn": Unit(Fraction(2), 1)}


@cache
def unit_meant(unit: str) -> Unit:
    """The unit that a text is.

    Raises:
        ValueError: if it is none.
    """
    text = re.sub(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", lambda found: f"^{found[0].translate(_SUPERSCRIPTS)}", unit).replace("·", "*")
    text = _WRITTEN_TOGETHER.sub(lambda found: f"{found[1]} {' '.join('ms') if found[2] == 'ms' else found[2]}", text)
    if not text.strip():
        return _ONE
    if len(text) > _LONGEST:
        raise ValueError("too long")
    return _product(_factors(text), inside=False)


def _factors(text: str) -> Iterator[tuple[str, int]]:
    """Words with their exponents, and signs."""
    at = 0
    while at < len(text):
        found = _FACTOR.match(text, at)
        if found is None:
            raise ValueError(text)
        at = found.end()
        yield found[1] or found[3], int(found[2] or 1)


def _product(factors: Iterator[tuple[str, int]], *, inside: bool) -> Unit:
    """Up to the end, or to a bracket that closes; from left to right, and words beside each other are multiplied."""
    found, power, wanting = _ONE, 1, True
    for name, exponent in factors:
        if name == ")" and inside and not wanting:
            return found
        if name in "*/" and not wanting:
            power, wanting = (-1 if name == "/" else 1), True
        elif name not in "*/)":
            found = found.times(_product(factors, inside=True) if name == "(" else _named(name), power * exponent)
            power, wanting = 1, False
        else:
            raise ValueError(name)
    if wanting or inside:
        raise ValueError("something is missing")
    return found


@cache
def _named(name: str) -> Unit:
    """What a word means: a unit, or one with a prefix."""
    if name == "1":
        return _ONE
    if (known := _known(name)) is not None:
        return known
    for prefixes, of_symbols in ((_SYMBOLS, True), (_PREFIXES, False)):
        for prefix, factor in prefixes.items():
            rest = name.removeprefix(prefix)
            symbol = _symbol(rest)
            if rest != name and symbol in _PREFIXED and (rest == symbol or rest in "lΩ") == of_symbols:
                found = _known(rest)
                assert found is not None
                return Unit(factor).times(found)
    raise ValueError(name)


def _known(name: str) -> Unit | None:
    """What a word without a prefix means."""
    symbol = _symbol(name)
    if symbol in _SI:
        return _SI[symbol]
    if symbol in _OF_PI:
        return _OF_PI[symbol]
    if symbol not in _MEANT:
        return None
    count, others = _MEANT[symbol]
    return Unit(Fraction(count)).times(unit_meant(others))


def _symbol(name: str) -> str:
    """The symbol of a unit by any of its names."""
    return _names().get(name, name)


@cache
def _names() -> dict[str, str]:
    """Other names → symbols; of words also as many."""
    names = {symbol: symbol for symbol in (*_SI, *_OF_PI, *_MEANT)}
    names |= {name: symbol for symbol, others in (*_PREFIXED.items(), *_CALLED.items()) for name in others.split()}
    return {**{f"{name}s": symbol for name, symbol in names.items() if len(name) > 3}, **names}
