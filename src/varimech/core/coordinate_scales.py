"""Reference magnitudes of coordinates of different kinds, and the smallest divisor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

TINY = 1e-300
"""Smallest divisor or reference magnitude: far below any physical quantity, and far enough above
the smallest number (2e-308) for products with tolerances to stay normal.
"""


@dataclass(frozen=True, eq=False)
class CoordinateScales:
    """Reference magnitudes of the coordinates.

    Angles (and Euler parameters) have magnitude 1, however many turns they make. Lengths have the
    magnitude of the largest length so far, at least the length of the mechanism. Coordinates whose
    rate is a state of an element count by their rate only.
    """

    turns: np.ndarray
    """1 for angles, 0 for lengths, infinity where only the rate counts."""
    length: float
    """Length of the mechanism (m); 0 if it has none."""

    @property
    def typical(self) -> np.ndarray:
        """Reference magnitude of each coordinate (rad, m)."""
        return np.where(self.turns > 0, 1.0, self.length or 1.0)
