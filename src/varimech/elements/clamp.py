"""Clamp: fixes the position of an end of a beam and bends the beam towards a direction.

    V = k/2 (d × a − c₀)²,     a: the segment that starts at this end, d: the direction of the holder

In space, |d × a| − |c₀| replaces the difference. c₀ is d × a of the unstressed beam, zero if it is
straight. The clamp has the damping of its beam.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ..core.errors import ModelError
from ..core.symbols import SX, wedge
from ..model import fields
from ..model.beam import STRAIGHT, Beam, bend_rate, bent
from ..model.beam_initial_conditions import DirectionCondition, placing
from ..model.body import Frames
from ..model.conditions import Coincident, Condition
from ..model.force import ForceLaw
from ..model.joint import EndJoint
from ..model.model_data import ModelData
from ..model.state import State


class Clamp(EndJoint):
    """Fix the position and direction of an end of a beam (the second point) to a rigid body or the
    ground (the first point).

    The beam initially has this direction unless other initial values are given. `reaction` and
    `reaction_torque` act on the beam.
    """

    kind = "clamp"
    symbol = "fixed"
    direction = fields.Direction(
        "Direction of the beam at the clamp (the tangent of a curved beam), in the first body's"
        " frame.",
        of="first",
    )

    @property
    def label(self) -> str:
        return f"clamp {self.name!r}"

    def conditions(self) -> tuple[Condition, ...]:
        return (Coincident(self.first, self.second),)

    def check_given(self, model: ModelData) -> None:
        by_name = self.given["first"] is None
        super().check_given(model)
        holder, end = (model.find_point(self.given[key]) for key in ("first", "second"))
        if by_name and isinstance(holder.body, Beam) and not isinstance(end.body, Beam):
            holder, end = end, holder
        beam = end.body
        if not isinstance(beam, Beam) or isinstance(holder.body, Beam):
            problem = (
                f"{self.label} needs a point of a rigid body or the ground first, then the end of a"
                f" beam, not {holder.label!r} and {end.label!r}"
            )
            raise ModelError(problem, remedy="two beams need a body between them")
        if end not in (beam.nodes[0], beam.nodes[-1]):
            ends = f"{beam.nodes[0].label!r} or {beam.nodes[-1].label!r}"
            raise ModelError(
                f"{end.label!r} is not an end of beam {beam.name!r}",
                element=self.label,
                remedy=f"use {ends}",
            )
        self.given |= {"first": holder, "second": end}

    def prepare(self, model: ModelData) -> None:
        super().prepare(model)
        model.check_free(f"{self.name}.bending", [model.forces, model.drivers])

    def add_to(self, model: ModelData) -> None:
        super().add_to(model)
        model.add_joint_force(Bending(f"{self.name}.bending", self))

    def initial_direction(self) -> DirectionCondition:
        label = f"direction of {self.name!r}"
        return DirectionCondition(label, self.direction, self.second, placing(self.beam))

    def moment(self, frames: Frames) -> SX:
        """Moment on the beam (N·m)."""
        d, a, k, c0 = self._terms(frames)
        c, β = wedge(d, a), self.beam.stiffness_damping
        if c.numel() == 3 and c0.is_zero() and β.is_zero():
            return -k * c * ca.dot(d, a)
        strength = bent(d, a, c0) + β * bend_rate(d, a, *self.directions(frames, rate=True))
        size = ca.sqrt(ca.sumsqr(c) + STRAIGHT**2 * ca.sumsqr(a))
        return -k * strength * ca.dot(d, a) * (1 if c.numel() == 1 else c / size)

    def axial_force(self, frames: Frames) -> SX:
        """Contribution of the clamp to the force along the adjacent segment (N)."""
        d, a, k, c0 = self._terms(frames)
        return k * bent(d, a, c0) * bent(d, a, SX(0)) / ca.norm_2(a)

    def energy(self, frames: Frames) -> SX:
        """V (J)."""
        d, a, k, c0 = self._terms(frames)
        return k / 2 * (ca.sumsqr(wedge(d, a)) if c0.is_zero() else bent(d, a, c0) ** 2)

    def _terms(self, frames: Frames) -> tuple[SX, SX, SX, SX]:
        """d, a, k and c₀."""
        stiffness, bend = self.beam.clamp_stiffness(self.second), self.beam.clamp_bend(self.second)
        return *self.directions(frames), stiffness, bend

    def directions(self, frames: Frames, *, rate: bool = False) -> tuple[SX, SX]:
        """d and a, or their rates."""
        beam, frame, holder = self.beam, frames[self.beam], frames[self.direction.body]
        next_ = beam.nodes[1] if self.second is beam.nodes[0] else beam.nodes[-2]
        place = frame.velocity if rate else frame.position
        d = (holder.rotation_rate if rate else holder.rotation) @ self.direction.direction
        return d, place(next_.local) - place(self.second.local)


@dataclass(frozen=True, eq=False, repr=False)
class Bending(ForceLaw):
    """The force with which a clamp bends its beam."""

    name: str
    clamp: Clamp

    def potential_energy(self, frames: Frames, state: State) -> SX:
        return self.clamp.energy(frames)

    def is_gradual(self, frames: Frames, state: State) -> bool:
        return True  # linear in the bend, as the beam itself

    def efforts(self, frames: Frames, state: State) -> list[tuple[SX, SX]]:
        β = self.clamp.beam.stiffness_damping
        if β.is_zero():
            return []
        positions, rates = (self.clamp.directions(frames, rate=rate) for rate in (False, True))
        rate = bend_rate(*positions, *rates)
        stiffness = self.clamp.beam.clamp_stiffness(self.clamp.second)
        return [(rate, -β * stiffness * rate)]
