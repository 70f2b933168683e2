"""Point on a line. It leaves 2 DOF in the plane, 4 DOF in space."""

from __future__ import annotations

from ..core.symbols import SX
from ..model import fields
from ..model.conditions import Condition, Offset
from ..model.joint_friction import FrictionJoint
from ..model.relative_motion import RelativeMotion, Sliding, TurnAndSlide, Turning
from ..model.scalar_outputs import Slide


class PointOnLine(FrictionJoint):
    """The second point stays on a line through the first point, fixed in the first body."""

    kind = "point-on-line"
    symbol = "slider"
    axis = fields.Direction("Direction of the line in the first body's frame.", of="first")

    def conditions(self) -> tuple[Condition, ...]:
        return (Offset(self.first, self.axis.normals, self.second),)

    @property
    def loaded(self) -> tuple[Condition, ...]:
        return (self.conditions()[-1],)

    @property
    def friction_arm(self) -> SX:
        return SX(1)

    def relative_motion(self) -> RelativeMotion:
        return TurnAndSlide.of(self.dimension, Turning.FREELY, Sliding.AXIS, self.axis)

    def displacement(self) -> Slide:
        return Slide(self.first, self.axis, self.second)
