"""Cylindrical joint: a sleeve on a shaft. It leaves 2 DOF in space."""

from __future__ import annotations

from ..model import fields
from ..model.conditions import Aligned, Condition
from ..model.relative_motion import RelativeMotion, Sliding, TurnAndSlide, Turning
from ..model.scalar_outputs import Turn, angle_about
from .point_on_line import PointOnLine


class Cylindrical(PointOnLine):
    """A sleeve on a shaft, for spatial models: the second body rotates about a common axis and slides
    along it.
    """

    kind = "cylindrical"
    dimensions = (3,)
    instead = "prismatic"
    axis_on_second = fields.OnSecond("axis")

    def conditions(self) -> tuple[Condition, ...]:
        return Aligned(self.axis, self.axis_on_second), *super().conditions()

    def relative_motion(self) -> RelativeMotion:
        axes = self.axis, self.axis_on_second
        return TurnAndSlide.of(3, Turning.ABOUT_AXIS, Sliding.AXIS, *axes)

    def angle(self) -> Turn:
        return angle_about(self.axis, self.axis_on_second)
