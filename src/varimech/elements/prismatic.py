"""Prismatic joint: a slider. Plane: 1 DOF left; space: 1 DOF left."""

from __future__ import annotations

from ..model import fields
from ..model.conditions import Condition, Offset, SameOrientation
from ..model.joint import Joint
from ..model.relative_motion import RelativeMotion, Sliding, TurnAndSlide, Turning
from ..model.scalar_outputs import Slide


class Prismatic(Joint):
    """A slider: the second point moves along a line of the first body, without turning."""

    kind = "prismatic"
    symbol = "slider"
    axis = fields.Direction("Direction of the line in the first body's frame.", of="first")
    rotation = fields.Rotation(
        "Constant orientation of the second body relative to the first: an angle in the plane, a"
        " 3×3 matrix in space (see `varimech.rotation`); aligned if not given."
    )

    def conditions(self) -> tuple[Condition, ...]:
        return (
            SameOrientation(*self.bodies, self.rotation),
            Offset(self.first, self.axis.normals, self.second),
        )

    def relative_motion(self) -> RelativeMotion:
        return TurnAndSlide.of(
            self.dimension, Turning.NOT, Sliding.AXIS, self.axis, relative=self.rotation
        )

    def displacement(self) -> Slide:
        return Slide(self.first, self.axis, self.second)
