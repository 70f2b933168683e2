"""Revolute joint: a hinge. Plane: 1 DOF left; space: 1 DOF left."""

from __future__ import annotations

from ..core.errors import ModelError
from ..core.symbols import SX
from ..model import fields
from ..model.conditions import Aligned, Coincident, Condition
from ..model.joint_friction import FrictionJoint
from ..model.model_data import ModelData
from ..model.relative_motion import RelativeMotion, Sliding, TurnAndSlide, Turning
from ..model.scalar_outputs import Turn, angle_about, planar_angle


class Revolute(FrictionJoint):
    """A hinge: two points coincide and, in space, share an axis.

    `revolute("A")` alone joins the two bodies that have a point called "A". The reaction is the
    force on the second body.
    """

    kind = "revolute"
    axis = fields.SpatialDirection(
        "Direction of the axis in the first body's frame; in space only.", of="first"
    )
    axis_on_second = fields.SpatialDirection(
        "The same direction in the second body's frame; the same components if not given (the angle"
        " is then zero where the bodies are aligned).",
        of="second",
        like="axis",
    )

    friction_radius = fields.Scalar(
        "Radius of the pin, at which friction acts.", unit="m", rule="non-negative", default=0.0
    )

    @property
    def loaded(self) -> Condition:
        return self.conditions()[0]

    @property
    def friction_arm(self) -> SX:
        return self.friction_radius

    def prepare(self, model: ModelData) -> None:
        super().prepare(model)
        if self.has_friction and self.friction_radius.is_zero():
            raise ModelError(
                "friction in a hinge needs the radius of its pin",
                element=self.label,
                remedy='give friction_radius, such as friction_radius="5 mm"',
            )

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
