"""Universal joint (Hooke's joint). It leaves 2 DOF in space."""

from __future__ import annotations

import casadi as ca

from ..core.symbols import SX
from ..model import fields
from ..model.body import Frames
from ..model.conditions import Coincident, Condition, Perpendicular
from ..model.joint_friction import PinJoint
from ..model.relative_motion import RelativeMotion, Sliding, TurnAndSlide, Turning


class Universal(PinJoint):
    """A Hooke joint, for spatial models: two points coincide, and an axis of one body stays
    perpendicular to an axis of the other.
    """

    kind = "universal"
    dimensions = (3,)
    instead = "revolute"
    symbol = "universal"
    turning_part = "universal joint needs the radius of its pins"
    friction_places = (" (first axis)", " (second axis)")
    axis = fields.Direction("Direction of the axis in the first body's frame.", of="first")
    axis_on_second = fields.Direction(
        "Direction of the axis in the second body's frame.", of="second"
    )

    def conditions(self) -> tuple[Condition, ...]:
        hooked = Perpendicular(self.axis, self.axis_on_second)
        return Coincident(self.first, self.second), hooked

    @property
    def loaded(self) -> tuple[Condition, ...]:
        return (self.conditions()[0],)

    def slips(self, frames: Frames) -> tuple[SX, ...]:
        first, second = (frames[body] for body in self.bodies)
        ω = second.angular_velocity - first.angular_velocity
        axes = first.direction(self.axis.direction), second.direction(self.axis_on_second.direction)
        return tuple(ca.dot(axis, ω) for axis in axes)

    def relative_motion(self) -> RelativeMotion:
        axes = self.axis, self.axis_on_second
        return TurnAndSlide.of(3, Turning.ABOUT_BOTH, Sliding.NOT, *axes)
