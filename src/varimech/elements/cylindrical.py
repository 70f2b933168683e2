"""Cylindrical joint: a sleeve on a shaft. Space: 2 DOF left."""

from __future__ import annotations

from ..model import fields
from ..model.conditions import Aligned, Condition, Offset
from ..model.joint import Joint
from ..model.relative_motion import RelativeMotion, Sliding, TurnAndSlide, Turning
from ..model.scalar_outputs import Slide, Turn, angle_about


class Cylindrical(Joint):
    """A sleeve on a shaft (space): the bodies share a line, turn about it and slide along it."""

    kind = "cylindrical"
    dimensions = (3,)
    instead = "prismatic"
    symbol = "slider"
    axis = fields.Direction("Direction of the line in the first body's frame.", of="first")
    axis_on_second = fields.Direction(
        "The same direction in the second body's frame; the same components if not given.",
        of="second",
        like="axis",
    )

    def conditions(self) -> tuple[Condition, ...]:
        return (
            Aligned(self.axis, self.axis_on_second),
            Offset(self.first, self.axis.normals, self.second),
        )

    def relative_motion(self) -> RelativeMotion:
        axes = self.axis, self.axis_on_second
        return TurnAndSlide.of(3, Turning.ABOUT_AXIS, Sliding.AXIS, *axes)

    def angle(self) -> Turn:
        return angle_about(self.axis, self.axis_on_second)

    def displacement(self) -> Slide:
        return Slide(self.first, self.axis, self.second)
