"""How a scaled problem is to be solved, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

MEMORY = 30
"""Pairs of steps and changes of the gradient that approximate second derivatives are made of."""


@dataclass(frozen=True)
class Settings:
    """Which solver, and when it is to stop."""

    solver: str
    exact: bool
    """Whether second derivatives are asked of the evaluator."""
    max_iterations: int
    tolerance: float
    warm: bool = False
    """Whether the start is nearly the optimum."""


@dataclass(frozen=True, eq=False)
class Ended:
    """Where a solver ended, and what it says about that."""

    z: np.ndarray
    message: str
    iterations: int
    exhausted: bool
    """Whether it ran out of iterations."""


Tell = Callable[[np.ndarray], None]
"""Called with z after each iteration."""
