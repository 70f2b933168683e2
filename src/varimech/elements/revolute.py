"""Revolute joint: a hinge. It leaves 1 DOF, in the plane and in space."""

from __future__ import annotations

from ..model import fields
from ..model.conditions import Aligned, Coincident, Condition
from ..model.joint_friction import PinJoint
from ..model.relative_motion import RelativeMotion, Sliding, TurnAndSlide, Turning
from ..model.scalar_outputs import Turn, angle_about, planar_angle


class Revolute(PinJoint):
    """A hinge: two points coincide and, in space, the bodies share an axis.

    `revolute("A")` without points connects the two bodies that have a point called "A". The reaction
    acts on the second body.
    """

    kind = "revolute"
    axis = fields.SpatialDirection(
        "Direction of the axis in the first body's frame; in space only.", of="first"
    )
    axis_on_second = fields.SpatialDirection(
        "The same direction in the second body's frame. If not given, it has the same components as"
        " `axis`; the angle is then zero when the bodies are aligned.",
        of="second",
        like="axis",
    )

    @property
    def loaded(self) -> tuple[Condition, ...]:
        return (self.conditions()[0],)

    def conditions(self) -> tuple[Condition, ...]:
        if self.axis is None or self.axis_on_second is None:
            return (Coincident(self.first, self.second),)
        return Coincident(self.first, self.second), Aligned(self.axis, self.axis_on_second)

    def relative_motion(self) -> RelativeMotion:
        axes = self.axis, self.axis_on_second
        return TurnAndSlide.of(self.dimension, Turning.ABOUT_AXIS, Sliding.NOT, *axes)

    def angle(self) -> Turn:
        if self.axis is None or self.axis_on_second is None:
            return planar_angle(*self.bodies)
        return angle_about(self.axis, self.axis_on_second)
