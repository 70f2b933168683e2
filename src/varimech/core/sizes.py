"""By what coordinates of several kinds are measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Sizes:
    """Angles (and Euler parameters) are of the size of one, however often they turn; lengths of
    that of the largest so far, and no less than that of the mechanism. Of coordinates whose rate is
    a state of an element, only the rate is measured.
    """

    turns: np.ndarray
    """1 for angles, 0 for lengths, infinity where only the rate counts."""
    length: float
    """Of the mechanism (m); 0 if it has none."""

    @property
    def typical(self) -> np.ndarray:
        """Of each coordinate (rad, m)."""
        return np.where(self.turns > 0, 1.0, self.length or 1.0)
