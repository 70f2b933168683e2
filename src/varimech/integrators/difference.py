"""What implicit integrators have in common: positions and velocities at the end of a step are
linear in its acceleration.

    q = q̂ + β h² q̈,     q̇ = q̂̇ + γ h q̈

Some remember one more vector of the step before, an auxiliary acceleration.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

import numpy as np

from ..core.symbols import SX

V = TypeVar("V", SX, np.ndarray)


class DifferenceScheme(Protocol):
    """An implicit integrator."""

    @property
    def title(self) -> str:
        """In words."""
        ...

    @property
    def beta(self) -> float:
        """Weight of the new acceleration in the position."""
        ...

    @property
    def gamma(self) -> float:
        """Weight of the new acceleration in the velocity."""
        ...

    @property
    def remembers(self) -> bool:
        """Whether it needs the auxiliary acceleration."""
        ...

    def predict(self, q: V, v: V, a: V, memory: V, h: Any) -> tuple[V, V]:
        """q̂ and q̂̇ from the last state."""
        ...

    def remember(self, a: V, memory: V, a_new: V) -> V:
        """The auxiliary acceleration of the end of a step."""
        ...
