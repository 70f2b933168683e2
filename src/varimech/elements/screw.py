"""Screw joint: a nut on a thread. It leaves 1 DOF in space.

    n·a₂ = 0,  n·(r₂ − r₁) = 0,  s = p φ / 2π     n: both normals of a₁,  s = a₁·(r₂ − r₁)

The last equation has the form  h sin(φ − s/h) = 0  with h = p / 2π, which is valid for any number of turns
because the displacement counts them. Friction acts along the thread at its radius r. The slip velocity is
(r² φ̇ + h ṡ) / √(r² + h²). The load is the magnitude of the radial force and of the normal force of
the flank, √(1 + h²/r²) |F| for the axial force F, because the flank is inclined by the lead angle
atan(h/r). The thread is self-locking under an axial force if μ r > h, as in textbooks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import casadi as ca

from ..core.errors import ModelError
from ..core.symbols import SX
from ..model import fields
from ..model.body import Body, Frames
from ..model.conditions import Condition
from ..model.model_data import ModelData
from ..model.motion_functions import MotionFunctions
from ..model.relative_motion import RelativeMotion, rotation_about
from .cylindrical import Cylindrical


class Screw(Cylindrical):
    """A nut on a thread, for spatial models: the bodies share an axis, and one turn about it advances
    the second body by the pitch.
    """

    kind = "screw"
    friction = fields.Scalar(
        "Sliding friction coefficient of the thread. Friction is proportional to the resultant of the"
        " radial force and the normal force on the flank.",
        rule="non-negative",
        default=0.0,
    )
    pitch = fields.Scalar(
        "Advance of the second body per turn; negative for a left-hand thread.",
        unit="m",
        rule="non-zero",
    )
    friction_radius = fields.Scalar(
        "Radius of the thread, at which friction acts.",
        unit="m",
        rule="non-negative",
        default=0.0,
    )

    @property
    def advance(self) -> SX:
        """h, the advance per angle (m/rad)."""
        return self.pitch / (2 * math.pi)

    def conditions(self) -> tuple[Condition, ...]:
        return *super().conditions(), Thread(self)

    @property
    def loaded(self) -> tuple[Condition, ...]:
        return self.conditions()[-2:]

    @property
    def load_components(self) -> list[SX]:
        radial, axial = super().load_components
        return [radial, axial * ca.sqrt(1 + (self.advance / self.friction_radius) ** 2)]

    def prepare(self, model: ModelData) -> None:
        super().prepare(model)
        if self.has_friction and self.friction_radius.is_zero():
            raise ModelError(
                "friction in a screw needs the radius of its thread",
                element=self.label,
                remedy='give friction_radius, such as friction_radius="5 mm"',
            )

    def slips(self, frames: Frames) -> tuple[SX, ...]:
        r, h = self.friction_radius, self.advance
        turning, sliding = self.angle().rate(frames), self.displacement().rate(frames)
        return ((r**2 * turning + h * sliding) / ca.sqrt(r**2 + h**2),)

    def relative_motion(self) -> RelativeMotion:
        return MotionFunctions(
            {"angle": "rad"},
            rotation=lambda z: rotation_about(self.axis, self.axis_on_second, z[0]),
            displacement=lambda z: self.axis.direction * self.advance * z[0],
        )


@dataclass(frozen=True)
class Thread(Condition):
    """The second body advances by the pitch per turn."""

    screw: Screw

    def residuals(self, frames: Frames) -> SX:
        h = self.screw.advance
        return h * self.screw.angle().deviation(frames, self._turned(frames))

    def at_start(self, frames: Frames) -> SX:
        h = self.screw.advance
        return h * self.screw.angle().difference(frames, self._turned(frames))

    def oriented(self) -> tuple[Body, ...]:
        return self.screw.bodies

    def _turned(self, frames: Frames) -> SX:
        """The angle that corresponds to the displacement."""
        return self.screw.displacement().value(frames) / self.screw.advance
