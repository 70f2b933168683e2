"""Numbers with engineering prefixes, as texts: 12.3 kN, 4.5 mm. assets/plot_units.js has the same
rules for axes.
"""

from __future__ import annotations

import math
import re

PREFIXES = {-9: "n", -6: "µ", -3: "m", 3: "k", 6: "M", 9: "G"}
SMALL = re.compile(r"(m|s|rad|N|J|W|Pa|Hz|V|A)(?![^·/])")
"""Units with prefixes of small numbers."""
LARGE = re.compile(r"(m$|(N|J|W|Pa|Hz|V|A)(?![^·/]))")
"""Units with prefixes of large numbers: kN, but neither krad nor km/s²."""
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def engineering_unit(largest: float, unit: str) -> tuple[float, str]:
    """Factor and unit for numbers up to `largest`: a number is shown as number / factor."""
    if not 0 < largest < math.inf or 0.1 <= largest < 1e3:
        return 1.0, unit
    exponent = 3 * math.floor(math.log10(largest) / 3)
    factor = 10.0**exponent
    if unit == "kg" and -12 < exponent < 0:
        return factor, PREFIXES.get(exponent + 3, "") + "g"
    if exponent in PREFIXES and (SMALL if exponent < 0 else LARGE).match(unit):
        return factor, PREFIXES[exponent] + unit
    if 1e-3 <= largest < 1e5:
        return 1.0, unit
    return factor, f"10{str(exponent).translate(RAISED)} {unit}".strip()


def engineering(value: float, unit: str, *, digits: int = 3, sign: bool = False) -> str:
    """A number with its unit.

    Args:
        value: the number.
        unit: its unit.
        digits: significant digits.
        sign: whether positive numbers have a sign, too.

    >>> engineering(12345.0, "N"), engineering(-0.0045, "m"), engineering(2.5e-7, "N²·s")
    ('12.3 kN', '−4.5 mm', '250·10⁻⁹ N²·s')
    """
    rounded = float(f"{value:.{digits}g}")  # 999.9 N is 1 kN
    factor, shown = engineering_unit(abs(rounded), unit)
    number = f"{rounded / factor:.{digits}g}"
    if "e" in number:  # 1234 m/s² with three digits is 1230
        number = f"{float(number):.0f}"
    text = ("+" if sign and value > 0 else "") + number.replace("-", "−")
    return f"{text}{'·' if shown.startswith('10') else ' '}{shown}".strip()


def degrees(angle: float) -> str:
    """An angle in degrees, or in revolutions if it is more than two."""
    if abs(angle) > 4 * math.pi:
        return f"{angle / (2 * math.pi):.3g} rev".replace("-", "−")
    return f"{math.degrees(angle):.3g}°".replace("-", "−")
