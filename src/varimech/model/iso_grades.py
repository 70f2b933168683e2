"""Standard tolerance grades IT01 to IT18 by nominal size, as data.

Source: ISO 286-1:2010, Geometrical product specifications — ISO code system for tolerances on
linear sizes — Part 1, table 1 (sizes up to 3150 mm). A tolerance there is the whole zone between
both limits; a bilateral tolerance ±t has t = IT/2.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from numbers import Integral

from ..core.errors import ModelError

GRADES = ("01", *map(str, range(19)))
"""Names of the grades, from the finest to the coarsest."""
SIZES = (
    *(3, 6, 10, 18, 30, 50, 80, 120, 180, 250, 315, 400, 500),
    *(630, 800, 1000, 1250, 1600, 2000, 2500, 3150),
)
"""Upper ends of the ranges of nominal sizes (mm), each included in its range."""
_ROWS = (
    (0.3, 0.5, 0.8, 1.2, 2, 3, 4, 6, 10, 14, 25, 40, 60, 100, 140, 250, 400, 600, 1000, 1400),
    (0.4, 0.6, 1, 1.5, 2.5, 4, 5, 8, 12, 18, 30, 48, 75, 120, 180, 300, 480, 750, 1200, 1800),
    (0.4, 0.6, 1, 1.5, 2.5, 4, 6, 9, 15, 22, 36, 58, 90, 150, 220, 360, 580, 900, 1500, 2200),
    (0.5, 0.8, 1.2, 2, 3, 5, 8, 11, 18, 27, 43, 70, 110, 180, 270, 430, 700, 1100, 1800, 2700),
    (0.6, 1, 1.5, 2.5, 4, 6, 9, 13, 21, 33, 52, 84, 130, 210, 330, 520, 840, 1300, 2100, 3300),
    (0.6, 1, 1.5, 2.5, 4, 7, 11, 16, 25, 39, 62, 100, 160, 250, 390, 620, 1000, 1600, 2500, 3900),
    (0.8, 1.2, 2, 3, 5, 8, 13, 19, 30, 46, 74, 120, 190, 300, 460, 740, 1200, 1900, 3000, 4600),
    (1, 1.5, 2.5, 4, 6, 10, 15, 22, 35, 54, 87, 140, 220, 350, 540, 870, 1400, 2200, 3500, 5400),
    (1.2, 2, 3.5, 5, 8, 12, 18, 25, 40, 63, 100, 160, 250, 400, 630, 1000, 1600, 2500, 4000, 6300),
    (2, 3, 4.5, 7, 10, 14, 20, 29, 46, 72, 115, 185, 290, 460, 720, 1150, 1850, 2900, 4600, 7200),
    (2.5, 4, 6, 8, 12, 16, 23, 32, 52, 81, 130, 210, 320, 520, 810, 1300, 2100, 3200, 5200, 8100),
    (3, 5, 7, 9, 13, 18, 25, 36, 57, 89, 140, 230, 360, 570, 890, 1400, 2300, 3600, 5700, 8900),
    (4, 6, 8, 10, 15, 20, 27, 40, 63, 97, 155, 250, 400, 630, 970, 1550, 2500, 4000, 6300, 9700),
    (9, 11, 16, 22, 32, 44, 70, 110, 175, 280, 440, 700, 1100, 1750, 2800, 4400, 7000, 11000),
    (10, 13, 18, 25, 36, 50, 80, 125, 200, 320, 500, 800, 1250, 2000, 3200, 5000, 8000, 12500),
    (11, 15, 21, 28, 40, 56, 90, 140, 230, 360, 560, 900, 1400, 2300, 3600, 5600, 9000, 14000),
    (13, 18, 24, 33, 47, 66, 105, 165, 260, 420, 660, 1050, 1650, 2600, 4200, 6600, 10500, 16500),
    (15, 21, 29, 39, 55, 78, 125, 195, 310, 500, 780, 1250, 1950, 3100, 5000, 7800, 12500, 19500),
    (18, 25, 35, 46, 65, 92, 150, 230, 370, 600, 920, 1500, 2300, 3700, 6000, 9200, 15000, 23000),
    (
        22,
        30,
        41,
        55,
        78,
        110,
        175,
        280,
        440,
        700,
        1100,
        1750,
        2800,
        4400,
        7000,
        11000,
        17500,
        28000,
    ),
    (
        26,
        36,
        50,
        68,
        96,
        135,
        210,
        330,
        540,
        860,
        1350,
        2100,
        3300,
        5400,
        8600,
        13500,
        21000,
        33000,
    ),
)
"""Tolerances (µm) of the grades, one row for each range of sizes. IT01 and IT0 end at 500 mm, so
the rows beyond begin with IT1.
"""
SMALL, COARSE = 1e-3, "14"
"""Sizes up to 1 mm have no grades from IT14 on (a note of the table)."""
_NAME = re.compile(r"\s*(?:IT\s*)?(01|[0-9]|1[0-8])\s*", re.IGNORECASE)


def grade_named(grade: object, label: str = "grade") -> str:
    """Return the name of a grade: "7" for 7, "7" or "IT7".

    Raises:
        ModelError: if there is no such grade.
    """
    whole = isinstance(grade, Integral) and not isinstance(grade, bool)
    match = _NAME.fullmatch(str(grade)) if whole or isinstance(grade, str) else None
    if match is None:
        problem = "is not a grade of ISO 286-1"
        remedy = "take one of '01', 0, 1, …, 18"
        raise ModelError(problem, label=label, value=grade, remedy=remedy)
    return match[1]


def is_grade(text: object) -> bool:
    """Whether a text is meant as a grade, such as "IT7", even an unknown one."""
    return (
        isinstance(text, str) and re.match(r"\s*IT\s*[0-9]+\s*$", text, re.IGNORECASE) is not None
    )


def grades_of(size: float, label: str = "size") -> dict[str, float]:
    """Return the tolerances ± (m) of all grades for a nominal size, the finest first.

    Args:
        size: nominal size (m).
        label: name of the value in messages.

    Raises:
        ModelError: for a size that the table does not have.

    >>> grades_of(0.03)['7']
    1.05e-05
    """
    row = _ROWS[_place(size, label)]
    names = GRADES[len(GRADES) - len(row) :]
    if abs(size) <= SMALL:
        names = names[: names.index(COARSE)]
    return {name: width / 2e6 for name, width in zip(names, row, strict=False)}


def size_range(size: float, label: str = "size") -> tuple[float, float]:
    """Return the sizes (m) that have the same tolerances in all grades as a nominal size: above the
    first, up to the second.

    Args:
        size: nominal size (m).
        label: name of the value in messages.

    Raises:
        ModelError: for a size that the table does not have.

    >>> size_range(0.25)
    (0.18, 0.25)
    """
    place = _place(size, label)
    if place == 0:
        return (0.0, SMALL) if abs(size) <= SMALL else (SMALL, SIZES[0] / 1e3)
    return SIZES[place - 1] / 1e3, SIZES[place] / 1e3


def _place(size: float, label: str) -> int:
    """Index of the range that contains a size."""
    millimetres = 1e3 * abs(size)
    if not 0 < millimetres <= SIZES[-1]:
        problem = f"of {1e3 * size:g} mm has no grades: ISO 286-1 has sizes up to {SIZES[-1]} mm"
        remedy = "give the tolerance as a length"
        raise ModelError(problem, label=label, remedy=remedy)
    return bisect_left(SIZES, round(millimetres, 9))  # 0.08 m is 80 mm despite rounding


def grade_width(size: float, grade: object, label: str = "grade") -> float:
    """Return the tolerance ± (m) of a grade.

    Args:
        size: nominal size (m).
        grade: 7, "7" or "IT7".
        label: name of the value in messages.

    Raises:
        ModelError: for a grade or a size that the table does not have.
    """
    name, widths = grade_named(grade, label), grades_of(size, label)
    if name not in widths:
        problem = f"is not defined for a size of {1e3 * size:g} mm"
        remedy = f"take one from IT{next(iter(widths))} to IT{list(widths)[-1]}"
        raise ModelError(problem, label=label, value=f"IT{name}", remedy=remedy)
    return widths[name]


def nearest_grade(size: float, width: float) -> str:
    """Return the coarsest grade that is not wider than a tolerance ± (m), except by rounding; the
    finest one if all are wider.
    """
    widths = grades_of(size)
    fitting = [name for name, t in widths.items() if t <= width * (1 + 1e-9)]
    return fitting[-1] if fitting else next(iter(widths))
