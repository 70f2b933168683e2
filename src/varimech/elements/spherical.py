"""Spherical joint: a ball in its socket. It leaves 3 DOF in space."""

from __future__ import annotations

from ..core.symbols import SX
from ..model.body import Frames
from ..model.conditions import Coincident, Condition
from ..model.joint_friction import PinJoint
from ..model.relative_motion import RelativeMotion, Sliding, TurnAndSlide, Turning


class Spherical(PinJoint):
    """A ball joint, for spatial models: two points coincide, and the bodies rotate freely about
    them. Friction opposes the relative angular velocity.
    """

    kind = "spherical"
    dimensions = (3,)
    instead = "revolute"
    symbol = "ball"
    slip_components = 3
    turning_part = "ball joint needs the radius of its ball"

    def conditions(self) -> tuple[Condition, ...]:
        return (Coincident(self.first, self.second),)

    @property
    def loaded(self) -> tuple[Condition, ...]:
        return self.conditions()

    def slips(self, frames: Frames) -> tuple[SX, ...]:
        first, second = (frames[body].angular_velocity for body in self.bodies)
        return (second - first,)

    def relative_motion(self) -> RelativeMotion:
        return TurnAndSlide.of(3, Turning.FREELY, Sliding.NOT)
