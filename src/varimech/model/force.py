"""Forces: each stores potential energy, or does work at given rates, or both.

An element with efforts f_k at rates w_k (linear in the velocities) contributes the generalised
force  Q = Σ (∂w_k/∂q̇)ᵀ f_k − ∂V/∂q.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.symbols import SX
from .body import Body, Frames
from .element import Element
from .named import Named
from .scalar_outputs import Distance

if TYPE_CHECKING:
    from .model_data import ModelData
    from .state import State

SHAPES = ("spring", "damper")
"""What drawings can show a force between two points as."""


class ForceLaw(Named):
    """What every force states; it does nothing unless a method says so."""

    @property
    def bodies(self) -> tuple[Body, ...]:
        """Bodies whose motion against each other is all that it depends on; none if it depends on
        where they are.
        """
        return ()

    def potential_energy(self, frames: Frames) -> SX:
        """V in joules."""
        return SX(0)

    def efforts(self, frames: Frames, state: State) -> list[tuple[SX, SX]]:
        """Pairs (rate, effort): velocity and force, or angular velocity and torque."""
        return []

    def span(self) -> Distance | None:
        """The two points between which it acts, where that is what it is; they must not
        coincide.
        """
        return None

    def drawn_as(self) -> str | None:
        """How it is drawn between the points of its span, one of `SHAPES`; not at all if None."""
        return None

    def winding_angle(self, frames: Frames) -> SX | None:
        """An angle (rad) that must stay within half a turn of zero for its law to hold, if there is
        one.
        """
        return None


class Force(Element, ForceLaw):
    """A force, torque, spring or damper."""

    file_section = "forces"

    def add_to(self, model: ModelData) -> None:
        model.forces[self.name] = self
