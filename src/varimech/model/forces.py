"""Forces: each stores potential energy, or does work at given rates, or both.

An element with efforts f_k at rates w_k (linear in the velocities) contributes the generalised
force  Q = Σ (∂w_k/∂q̇)ᵀ f_k − ∂V/∂q.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ..core.symbols import SX
from .beam import BeamNode
from .body import Body, Frames, Point
from .named import Named
from .scalar_outputs import ScalarOutput, Turn

if TYPE_CHECKING:
    from .state import State


class Force(Protocol):
    """What every force element states."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def bodies(self) -> tuple[Body, ...]:
        """Bodies whose motion against each other is all that it depends on; none if it depends on
        where they are.
        """
        ...

    def potential_energy(self, frames: Frames) -> SX:
        """V in joules."""
        ...

    def efforts(self, frames: Frames, state: State) -> list[tuple[SX, SX]]:
        """Pairs (rate, effort): velocity and force, or angular velocity and torque."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Spring(Named):
    """Spring and damper on any scalar measure x:  V = ½ k (x − x₀)²,  effort −c ẋ at the rate ẋ."""

    name: str
    measure: ScalarOutput
    stiffness: SX
    rest: SX
    damping: SX

    @property
    def bodies(self) -> tuple[Body, ...]:
        return self.measure.bodies

    @property
    def told(self) -> str:
        return f", stiffness {self.stiffness}, damping {self.damping}"

    @property
    def torsional(self) -> bool:
        """Whether it is a spring on an angle, which it knows within half a turn of rest only."""
        return isinstance(self.measure, Turn) and not self.stiffness.is_zero()

    def potential_energy(self, frames: Frames) -> SX:
        if self.stiffness.is_zero():
            return SX(0)
        return self.stiffness * self.measure.difference(frames, self.rest) ** 2 / 2

    def efforts(self, frames: Frames, state: State) -> list[tuple[SX, SX]]:
        if self.damping.is_zero():
            return []
        rate = self.measure.rate(frames)
        return [(rate, -self.damping * rate)]


@dataclass(frozen=True, eq=False, repr=False)
class PointForce(Named):
    """A force (N) on a point of a body; its value is a function of the state, in global or body
    components.
    """

    name: str
    point: Point
    value: Callable[[State], SX]
    in_body: bool

    @property
    def bodies(self) -> tuple[Body, ...]:
        return ()

    def potential_energy(self, frames: Frames) -> SX:
        return SX(0)

    def efforts(self, frames: Frames, state: State) -> list[tuple[SX, SX]]:
        frame = frames[self.point.body]
        F = self.value(state)
        return [(frame.velocity(self.point.local), frame.direction(F) if self.in_body else F)]


@dataclass(frozen=True, eq=False, repr=False)
class Torque(Named):
    """A torque (N·m) on a body or a node of a beam, with its opposite on another one (`against`) if
    given.
    """

    name: str
    body: Body | BeamNode
    against: Body | BeamNode | None
    value: Callable[[State], SX]
    in_body: bool

    @property
    def bodies(self) -> tuple[Body, ...]:
        return ()

    def potential_energy(self, frames: Frames) -> SX:
        return SX(0)

    def efforts(self, frames: Frames, state: State) -> list[tuple[SX, SX]]:
        rate = _angular_velocity(self.body, frames)
        if self.against is not None:
            rate = rate - _angular_velocity(self.against, frames)
        τ = self.value(state)
        return [
            (
                rate,
                frames[self.body].direction(τ)
                if self.in_body and isinstance(self.body, Body)
                else τ,
            )
        ]


def _angular_velocity(thing: Body | BeamNode, frames: Frames) -> SX:
    return (
        frames[thing].angular_velocity
        if isinstance(thing, Body)
        else thing.angular_velocity(frames)
    )
