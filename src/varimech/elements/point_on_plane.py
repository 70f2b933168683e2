"""Point on a plane. It leaves 5 DOF in space."""

from __future__ import annotations

import casadi as ca

from ..core.symbols import SX
from ..model import fields
from ..model.body import Frames
from ..model.conditions import Condition, Offset
from ..model.joint_friction import FrictionJoint
from ..model.relative_motion import RelativeMotion, Sliding, TurnAndSlide, Turning
from .contact import velocity_at


class PointOnPlane(FrictionJoint):
    """In spatial models, the second point stays on a plane through the first point, fixed in the first
    body.
    """

    kind = "point-on-plane"
    dimensions = (3,)
    instead = "point_on_line"
    symbol = "plane"
    slip_components = 2
    normal = fields.Direction("Normal of the plane in the first body's frame.", of="first")

    def conditions(self) -> tuple[Condition, ...]:
        return (Offset(self.first, (self.normal.direction,), self.second),)

    @property
    def loaded(self) -> tuple[Condition, ...]:
        return (self.conditions()[-1],)

    @property
    def friction_arm(self) -> SX:
        return SX(1)

    def slips(self, frames: Frames) -> tuple[SX, ...]:
        first, second = (frames[body] for body in self.bodies)
        place = second.position(self.second.local)
        relative = velocity_at(second, place) - velocity_at(first, place)
        tangents = [first.direction(n) for n in self.normal.normals]
        return (ca.vertcat(*[ca.dot(tangent, relative) for tangent in tangents]),)

    def relative_motion(self) -> RelativeMotion:
        return TurnAndSlide.of(3, Turning.FREELY, Sliding.NORMALS, self.normal)
