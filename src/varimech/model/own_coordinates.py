"""Coordinates that elements own beside those of the bodies.

    second order   θ with θ̇ and θ̈: with an inertia (kinetic energy) of its own, or tied by constraints
    first order    ż = f(state, t, ρ)

A first-order state is the velocity of a coordinate y of unit inertia, z = ẏ, with the effort f at
the rate ẏ: Lagrange's equations then read ÿ = f. So every formulation, integrator and derivative
method takes it as it is. y itself is not shown, and errors are measured on z alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.symbols import SX


@dataclass(frozen=True, eq=False)
class OwnCoordinate:
    """A coordinate that an element owns; objectives and results know it as `state(name)`."""

    name: str
    order: int = 1
    """1: a state z with ż = f. 2: a coordinate θ with θ̇ and θ̈."""
    initial: SX | None = field(default_factory=lambda: SX(0))
    """z or θ at t = 0, in `unit`; None where the element's constraints determine θ."""
    initial_rate: SX = field(default_factory=lambda: SX(0))
    """θ̇ at t = 0, in `unit` per second; second order only."""
    unit: str = "1"
    size: float = 1.0
    """A typical value, in `unit`: errors are measured by the largest value so far, and by no less
    than what would reach this one within the run.
    """
    guess: Callable[[Mapping[Any, Any]], float] | None = None
    """θ for guessed poses of the bodies (origin and rotation by body), from which the assembly starts; 0
    if not given.
    """
    is_tied: bool = False
    """Whether it has no inertia, and the element's `ties` determine it."""
    is_slack: bool = False
    """Whether it only fills a place in the equations (`contact_law`), and is not shown."""
