"""Coordinates that elements own, in addition to those of the bodies.

    second order   θ with θ̇ and θ̈: with an inertia (kinetic energy) of its own, or tied by constraints
    first order    ż = f(state, t, ρ)

A first-order state is the velocity of a coordinate y of unit inertia, z = ẏ, with the effort f at
the rate ẏ: Lagrange's equations then read ÿ = f. Every formulation, integrator and derivative
method therefore handles it unchanged. y itself is not shown, and errors are measured on z alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.symbols import SX


@dataclass(frozen=True, eq=False)
class OwnCoordinate:
    """A coordinate that an element owns, `state(name)` in objectives and results."""

    name: str
    order: int = 1
    """1: a state z with ż = f. 2: a coordinate θ with θ̇ and θ̈."""
    initial: SX | None = field(default_factory=lambda: SX(0))
    """z or θ at t = 0, in `unit`; None if the element's constraints determine θ."""
    initial_rate: SX = field(default_factory=lambda: SX(0))
    """θ̇ at t = 0, in `unit` per second; second order only."""
    unit: str = "1"
    size: float = 1.0
    """Typical value, in `unit`: errors are measured relative to the largest value so far, or, if
    that is smaller, to the value that would grow to this one within the run.
    """
    guess: Callable[[Mapping[Any, Any]], float] | None = None
    """θ for guessed poses of the bodies (origin and rotation by body), the initial guess for
    assembly; 0 if not given.
    """
    is_tied: bool = False
    """Whether it has no inertia, and the element's `ties` determine it."""
    is_slack: bool = False
    """Whether it only completes the equations (`contact_law`), and is not shown."""
