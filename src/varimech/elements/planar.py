"""Planar joint: a block on a table. It leaves 3 DOF in space."""

from __future__ import annotations

from ..model import fields
from ..model.conditions import Aligned, Condition
from ..model.relative_motion import RelativeMotion, Sliding, TurnAndSlide, Turning
from ..model.scalar_outputs import Turn, angle_about
from .point_on_plane import PointOnPlane


class Planar(PointOnPlane):
    """A block on a table, for spatial models: the second point stays on the plane through the
    first point, and the bodies rotate relative to each other about the normal of this plane
    only.
    """

    kind = "planar"
    instead = ""
    normal_on_second = fields.OnSecond("normal")

    def conditions(self) -> tuple[Condition, ...]:
        return Aligned(self.normal, self.normal_on_second), *super().conditions()

    def relative_motion(self) -> RelativeMotion:
        axes = self.normal, self.normal_on_second
        return TurnAndSlide.of(3, Turning.ABOUT_AXIS, Sliding.NORMALS, *axes)

    def angle(self) -> Turn:
        return angle_about(self.normal, self.normal_on_second)
