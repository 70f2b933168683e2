"""Point on a plane. Space: 5 DOF left."""

from __future__ import annotations

from ..model import fields
from ..model.conditions import Condition, Offset
from ..model.joint import Joint
from ..model.relative_motion import RelativeMotion, Sliding, TurnAndSlide, Turning


class PointOnPlane(Joint):
    """The second point stays on the plane through the first point (space)."""

    kind = "point-on-plane"
    dimensions = (3,)
    instead = "point_on_line"
    symbol = "plane"
    normal = fields.Direction("Normal of the plane in the first body's frame.", of="first")

    def conditions(self) -> tuple[Condition, ...]:
        return (Offset(self.first, (self.normal.direction,), self.second),)

    def relative_motion(self) -> RelativeMotion:
        return TurnAndSlide.of(3, Turning.FREELY, Sliding.NORMALS, self.normal)
