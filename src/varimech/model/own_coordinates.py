"""Coordinates that elements own beside those of the bodies.

    second order   θ with θ̇ and θ̈: with an inertia (kinetic energy) of its own, or tied by constraints
    first order    ż = f(state, t, ρ)

A first-order state is the velocity of a coordinate y of unit inertia, z = ẏ, with the effort f at
the rate ẏ: Lagrange's equations then read ÿ = f. So every formulation, integrator and derivative
method takes it as it is. y itself is not shown, and errors are measured on z alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..core.symbols import SX
from .body import Body, Frames
from .named import Named

if TYPE_CHECKING:
    from .state import State


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


class GeneralElement(Named):
    """An element that may do all that elements can: own coordinates, store energy, do work, impose
    constraints. Each method is optional.

    `state` gives the element its own coordinates, `state.state(name)`, and angles that count turns,
    `state.angle(name)`, beside all else that the mechanism does.
    """

    name: str

    @property
    def bodies(self) -> tuple[Body, ...]:
        """Bodies whose motion against each other is all that `frames` are needed for; none if it
        depends on where they are.
        """
        return ()

    @property
    def coordinates(self) -> tuple[OwnCoordinate, ...]:
        """Coordinates that it owns."""
        return ()

    def kinetic_energy(self, frames: Frames, state: State) -> SX:
        """T of its own inertias (J), quadratic in rates."""
        return SX(0)

    def potential_energy(self, frames: Frames, state: State) -> SX:
        """V (J)."""
        return SX(0)

    def efforts(self, frames: Frames, state: State) -> list[tuple[SX, SX]]:
        """Pairs (rate, effort): velocity and force, or angular velocity and torque."""
        return []

    def constraints(self, frames: Frames, state: State) -> SX:
        """Residuals Φ of positions and time that vanish along every motion."""
        return SX(0, 1)

    def rates(self, frames: Frames, state: State) -> Sequence[SX]:
        """ż of its first-order coordinates, in their order, in their units per second."""
        return ()
