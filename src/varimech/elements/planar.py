"""Planar joint: a block on a table. Space: 3 DOF left."""

from __future__ import annotations

from ..model import fields
from ..model.conditions import Aligned, Condition, Offset
from ..model.joint import Joint
from ..model.relative_motion import RelativeMotion, Sliding, TurnAndSlide, Turning
from ..model.scalar_outputs import Turn, angle_about


class Planar(Joint):
    """A block on a table (space): the second point stays on the plane through the first one, and
    the bodies turn about its normal.
    """

    kind = "planar"
    dimensions = (3,)
    symbol = "plane"
    normal = fields.Direction("Normal of the plane in the first body's frame.", of="first")
    normal_on_second = fields.Direction(
        "The same direction in the second body's frame; the same components if not given.",
        of="second",
        like="normal",
    )

    def conditions(self) -> tuple[Condition, ...]:
        return (
            Aligned(self.normal, self.normal_on_second),
            Offset(self.first, (self.normal.direction,), self.second),
        )

    def relative_motion(self) -> RelativeMotion:
        axes = self.normal, self.normal_on_second
        return TurnAndSlide.of(3, Turning.ABOUT_AXIS, Sliding.NORMALS, *axes)

    def angle(self) -> Turn:
        return angle_about(self.normal, self.normal_on_second)
