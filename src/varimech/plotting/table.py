"""Plain-text tables, and numbers with a sensible number of digits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any


def is_number(value: object) -> bool:
    """Whether a value is a real number (and not a bool)."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_written_number(value: object) -> bool:
    """Whether a value is a number, or the text of a number."""
    if not isinstance(value, str):
        return is_number(value)
    try:
        float(value)
    except ValueError:
        return value == "–"
    return True


def number(value: Any, digits: int = 8) -> str:
    """Text of a number; None and NaN become a dash, other values their usual text.

    Args:
        value: the value.
        digits: significant digits.
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not is_number(value):
        return str(value)
    x = float(value)
    if math.isnan(x):
        return "–"
    return f"{x:.{digits}g}" if math.isfinite(x) else "∞" if x > 0 else "−∞"


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Text of a table, words left-aligned and numbers right-aligned.

    Args:
        head: column titles.
        rows: cells.
    """
    body = [[number(cell) for cell in row] for row in rows]
    widths = [
        max(len(h), *(len(row[k]) for row in body)) if body else len(h) for k, h in enumerate(head)
    ]
    right = [
        bool(rows) and all(is_written_number(row[k]) for row in rows) for k in range(len(head))
    ]

    def line(cells: Sequence[str]) -> str:
        return "  ".join(
            c.rjust(w) if r else c.ljust(w) for c, w, r in zip(cells, widths, right, strict=True)
        ).rstrip()

    return "\n".join(["  " + line(row) for row in (head, *body)])
