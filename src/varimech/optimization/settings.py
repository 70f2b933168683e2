"""Settings of a solver, and its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

MEMORY = 30
"""Number of gradient differences kept for approximate second derivatives; a round value, more than
typical designs have variables.
"""


@dataclass(frozen=True)
class Settings:
    """Solver and stopping criteria."""

    solver: str
    exact: bool
    """Whether to use exact second derivatives."""
    max_iterations: int
    tolerance: float
    warm: bool = False
    """Whether the initial design is nearly optimal."""


@dataclass(frozen=True, eq=False)
class Ended:
    """Final point of a solver, with its message."""

    z: np.ndarray
    message: str
    iterations: int
    exhausted: bool
    """Whether the solver reached the iteration limit."""


OnIteration = Callable[[np.ndarray], None]
"""Called with z after each iteration."""
