"""Spherical joint: a ball in its socket. Space: 3 DOF left."""

from __future__ import annotations

from ..model.conditions import Coincident, Condition
from ..model.joint import Joint
from ..model.relative_motion import RelativeMotion, Sliding, TurnAndSlide, Turning


class Spherical(Joint):
    """A ball joint (space): two points coincide."""

    kind = "spherical"
    dimensions = (3,)
    instead = "revolute"
    symbol = "ball"

    def conditions(self) -> tuple[Condition, ...]:
        return (Coincident(self.first, self.second),)

    def relative_motion(self) -> RelativeMotion:
        return TurnAndSlide.of(3, Turning.FREELY, Sliding.NOT)
