"""Prismatic joint: a slider. It leaves 1 DOF, in the plane and in space."""

from __future__ import annotations

from ..model import fields
from ..model.conditions import Condition, SameOrientation
from ..model.relative_motion import RelativeMotion, Sliding, TurnAndSlide, Turning
from .point_on_line import PointOnLine


class Prismatic(PointOnLine):
    """A slider: the second point moves along a line fixed in the first body, and the bodies do not
    rotate relative to each other.
    """

    kind = "prismatic"
    rotation = fields.Rotation(
        "Constant orientation of the second body relative to the first: an angle in the plane, a"
        " 3×3 matrix in space (see `varimech.rotation`); aligned if not given."
    )

    def conditions(self) -> tuple[Condition, ...]:
        return SameOrientation(*self.bodies, self.rotation), *super().conditions()

    def relative_motion(self) -> RelativeMotion:
        return TurnAndSlide.of(
            self.dimension, Turning.NOT, Sliding.AXIS, self.axis, relative=self.rotation
        )
