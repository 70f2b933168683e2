"""Universal joint, after Hooke. Space: 2 DOF left."""

from __future__ import annotations

from ..model import fields
from ..model.conditions import Coincident, Condition, Perpendicular
from ..model.joint import Joint
from ..model.relative_motion import RelativeMotion, Sliding, TurnAndSlide, Turning


class Universal(Joint):
    """A Hooke joint (space): points coincide, an axis of each body stays at right angles to one of
    the other.
    """

    kind = "universal"
    dimensions = (3,)
    instead = "revolute"
    symbol = "universal"
    axis = fields.Direction("Direction of the axis in the first body's frame.", of="first")
    axis_on_second = fields.Direction(
        "Direction of the axis in the second body's frame.", of="second"
    )

    def conditions(self) -> tuple[Condition, ...]:
        hooked = Perpendicular(self.axis, self.axis_on_second)
        return Coincident(self.first, self.second), hooked

    def relative_motion(self) -> RelativeMotion:
        axes = self.axis, self.axis_on_second
        return TurnAndSlide.of(3, Turning.ABOUT_BOTH, Sliding.NOT, *axes)
