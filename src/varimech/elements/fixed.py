"""Fixed joint: a weld. It leaves no DOF."""

from __future__ import annotations

from ..model import fields
from ..model.conditions import Coincident, Condition, SameOrientation
from ..model.joint import Joint
from ..model.relative_motion import RelativeMotion, Sliding, TurnAndSlide, Turning


class Fixed(Joint):
    """A weld: two points coincide, and the second body keeps its orientation relative to the first."""

    kind = "fixed"
    symbol = "fixed"
    rotation = fields.Rotation(
        "Orientation of the second body relative to the first: an angle in the plane, a 3×3 matrix"
        " in space (see `varimech.rotation`); aligned if not given."
    )

    def conditions(self) -> tuple[Condition, ...]:
        return (Coincident(self.first, self.second), SameOrientation(*self.bodies, self.rotation))

    def relative_motion(self) -> RelativeMotion:
        return TurnAndSlide.of(self.dimension, Turning.NOT, Sliding.NOT, relative=self.rotation)
