"""Forces: each stores potential energy, or does work at given rates, or both.

An element with efforts f_k at rates w_k (linear in the velocities) contributes the generalised
force  Q = Σ (∂w_k/∂q̇)ᵀ f_k − ∂V/∂q.  It may also own coordinates (`own_coordinates`), with a
kinetic energy, constraints, or rates ż of first-order states.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core.symbols import SX
from .body import Body, Frames
from .element import Element
from .named import Named
from .own_coordinates import OwnCoordinate
from .scalar_outputs import Distance

if TYPE_CHECKING:
    from .model_data import ModelData
    from .state import State

SHAPES = ("spring", "damper")
"""What drawings can show a force between two points as."""
OF_FORCES, BEYOND_FORCES = (
    ("potential_energy", "efforts"),
    ("coordinates", "kinetic_energy", "constraints", "rates"),
)
"""What a force may state, and what it may state beyond being one."""


class ForceLaw(Named):
    """What every force may state; it does nothing unless a method says so.

    `state` gives it its own coordinates, `state.state(name)`, and angles that count turns,
    `state.angle(name)`, beside all else that the mechanism does.
    """

    @property
    def bodies(self) -> tuple[Body, ...]:
        """Bodies whose motion against each other is all that it depends on; none if it depends on
        where they are.
        """
        return ()

    def potential_energy(self, frames: Frames, state: State) -> SX:
        """V (J)."""
        return SX(0)

    def efforts(self, frames: Frames, state: State) -> list[tuple[SX, SX]]:
        """Pairs (rate, effort): velocity and force, or angular velocity and torque."""
        return []

    @property
    def coordinates(self) -> tuple[OwnCoordinate, ...]:
        """Coordinates that it owns."""
        return ()

    def kinetic_energy(self, frames: Frames, state: State) -> SX:
        """T of its own inertias (J), quadratic in rates."""
        return SX(0)

    def constraints(self, frames: Frames, state: State) -> SX:
        """Residuals Φ of positions and time that vanish along every motion."""
        return SX(0, 1)

    def rates(self, frames: Frames, state: State) -> Sequence[SX]:
        """ż of its first-order coordinates, in their order, in their units per second."""
        return ()

    @classmethod
    def states_any(cls, methods: Sequence[str]) -> bool:
        """Whether it states something by one of these methods."""
        return any(getattr(cls, name) is not getattr(ForceLaw, name) for name in methods)

    @property
    def is_general(self) -> bool:
        """Whether it states more than a force: coordinates, inertia or constraints."""
        return self.states_any(BEYOND_FORCES)

    def span(self) -> Distance | None:
        """The two points between which it acts, where that is what it is; they must not
        coincide.
        """
        return None

    def drawn_as(self) -> str | None:
        """How it is drawn between the points of its span, one of `SHAPES`; not at all if None."""
        return None


class Force(Element, ForceLaw):
    """A force, torque, spring or damper."""

    file_section = "forces"

    def add_to(self, model: ModelData) -> None:
        model.add_force(self)
