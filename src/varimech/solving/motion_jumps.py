"""Jumps of a motion that is searched anew for each value of a parameter: the equilibrium downhill
of an initial position, for example, changes from one valley to the next.

Between two values the coordinates q of a continuous motion change by half as much in half the
interval, or by 1/√2 where it ends in a fold. A jump stays as large in one of the halves.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

SUSPICIOUS = 3.0
"""Change, over the median of all intervals, above which an interval is examined: smooth curves with
20 values differ less from one interval to the next.
"""
HALVINGS = 6
"""Number of halvings of a suspicious interval: at a fold the change falls to an eighth."""
KEPT = 0.5
"""Share of the change that remains after them at a jump."""
STILL = 1e-6
"""Largest change, over the size of the coordinates, that counts as none."""


def jumps(positions_at: Callable[[float], np.ndarray], values: np.ndarray) -> tuple[int, ...]:
    """Return the rows of values at which another motion begins.

    Args:
        positions_at: coordinates as a function of the value.
        values: increasing or decreasing.
    """
    q = [positions_at(float(v)) for v in values]
    changes = np.array([np.abs(b - a).max(initial=0.0) for a, b in pairwise(q)])
    size = max((float(np.abs(x).max(initial=0.0)) for x in q), default=0.0)
    least = max(STILL * size, SUSPICIOUS * float(np.median(changes)))
    return tuple(
        row + 1
        for row in np.flatnonzero(changes > least).tolist()
        if _jumps(positions_at, float(values[row]), float(values[row + 1]))
    )


def _jumps(positions_at: Callable[[float], np.ndarray], a: float, b: float) -> bool:
    """Whether the change between two values persists as the interval shrinks."""
    x, y = positions_at(a), positions_at(b)
    whole = np.abs(y - x).max()
    for _ in range(HALVINGS):
        middle = (a + b) / 2
        z = positions_at(middle)
        if np.abs(z - x).max() > np.abs(y - z).max():
            b, y = middle, z
        else:
            a, x = middle, z
    return bool(np.abs(y - x).max() > KEPT * whole)
