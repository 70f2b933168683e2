"""Forces: each stores potential energy, or does work at given rates, or both.

An element with efforts f_k at rates w_k (linear in the velocities) contributes the generalised
force  Q = Σ (∂w_k/∂q̇)ᵀ f_k − ∂V/∂q.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import casadi as ca

from ..core.symbols import SX, wedge
from .beam import STRAIGHT, Beam, BeamNode, bend_rate, bent
from .body import Body, Frames, Point
from .conditions import Axis
from .joints import Joint
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

    def potential_energy(self, frames: Frames, state: State) -> SX:
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

    def potential_energy(self, frames: Frames, state: State) -> SX:
        if self.stiffness.is_zero():
            return SX(0)
        if isinstance(self.measure, Turn):  # by any number of turns
            return self.stiffness * (state.measure(self.measure) - self.rest) ** 2 / 2
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

    def potential_energy(self, frames: Frames, state: State) -> SX:
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

    def potential_energy(self, frames: Frames, state: State) -> SX:
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


@dataclass(frozen=True, eq=False, repr=False)
class Clamp(Named):
    """Bends the end of a beam towards a direction d of the body that holds it:  V = k/2 (d × a −
    c₀)²,  a: the segment as it leaves that end.

    In space |d × a| − |c₀|; c₀ is d × a of the unstressed beam, none where that is straight. With
    damping like that of the beam.
    """

    name: str
    joint: Joint
    axis: Axis
    end: Point

    @property
    def bodies(self) -> tuple[Body, ...]:
        return ()

    @property
    def beam(self) -> Beam:
        """What it holds."""
        assert isinstance(self.end.body, Beam)
        return self.end.body

    def potential_energy(self, frames: Frames, state: State) -> SX:
        (d, a), k, c0 = (
            self._directions(frames),
            self.beam.clamp_stiffness(self.end),
            self.beam.clamp_bend(self.end),
        )
        return k / 2 * (ca.sumsqr(wedge(d, a)) if c0.is_zero() else bent(d, a, c0) ** 2)

    def moment(self, frames: Frames) -> SX:
        """On the beam (N·m)."""
        (d, a), k, c0 = (
            self._directions(frames),
            self.beam.clamp_stiffness(self.end),
            self.beam.clamp_bend(self.end),
        )
        c, β = wedge(d, a), self.beam.stiffness_damping
        if c.numel() == 3 and c0.is_zero() and β.is_zero():
            return -k * c * ca.dot(d, a)
        strength = bent(d, a, c0) + β * bend_rate(d, a, *self._directions(frames, rate=True))
        return (
            -k
            * strength
            * ca.dot(d, a)
            * (1 if c.numel() == 1 else c / ca.sqrt(ca.sumsqr(c) + STRAIGHT**2 * ca.sumsqr(a)))
        )

    def axial_force(self, frames: Frames) -> SX:
        """What it adds to the force along the segment that it holds (N)."""
        (d, a), k, c0 = (
            self._directions(frames),
            self.beam.clamp_stiffness(self.end),
            self.beam.clamp_bend(self.end),
        )
        return k * bent(d, a, c0) * bent(d, a, SX(0)) / ca.norm_2(a)

    def efforts(self, frames: Frames, state: State) -> list[tuple[SX, SX]]:
        β = self.beam.stiffness_damping
        if β.is_zero():
            return []
        rate = bend_rate(*self._directions(frames), *self._directions(frames, rate=True))
        return [(rate, -β * self.beam.clamp_stiffness(self.end) * rate)]

    def _directions(self, frames: Frames, *, rate: bool = False) -> tuple[SX, SX]:
        """d and a, or their rates."""
        beam, frame, holder = self.beam, frames[self.beam], frames[self.axis.body]
        next_ = beam.nodes[1] if self.end is beam.nodes[0] else beam.nodes[-2]
        place = frame.velocity if rate else frame.position
        d = (holder.rotation_rate if rate else holder.rotation) @ self.axis.direction
        return d, place(next_.local) - place(self.end.local)
