"""Common interface of implicit integrators: positions and velocities at the end of a step are
linear in its acceleration.

    q = q̂ + β h² q̈,     q̇ = q̂̇ + γ h q̈

Some schemes carry one more vector from step to step, an auxiliary acceleration.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, TypeVar

import numpy as np

from ..core.registry import Scheme
from ..core.symbols import SX
from .integrator import IntegratorTraits

V = TypeVar("V", SX, np.ndarray)


class DifferenceScheme(Scheme, ABC):
    """An implicit integrator. Subclasses state their `order`, too."""

    coefficients = None
    continuous = None
    remembers = False
    """Whether it needs the auxiliary acceleration."""

    @property
    def difference(self) -> DifferenceScheme:
        """The scheme itself, which states the difference equations."""
        return self

    @property
    def traits(self) -> IntegratorTraits:
        """Equal steps, without numerical damping."""
        return IntegratorTraits()

    @property
    @abstractmethod
    def beta(self) -> float:
        """Weight of the new acceleration in the position."""

    @abstractmethod
    def predict(self, q: V, v: V, a: V, memory: V, h: Any) -> tuple[V, V]:
        """Return q̂ and q̂̇ from the last state, of the shape of q; `h` is the step in seconds."""

    @property
    @abstractmethod
    def gamma(self) -> float:
        """Weight of the new acceleration in the velocity."""

    @abstractmethod
    def remember(self, a: V, memory: V, a_new: V) -> V:
        """Return the auxiliary acceleration at the end of a step, of the shape of a."""
