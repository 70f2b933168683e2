"""Distance: two points like the ends of a massless rod. Plane: 2 DOF left; space: 5 DOF left.

It has no relative motion, since no simple coordinates cover all directions of the rod: trees are
always cut here.
"""

from __future__ import annotations

from ..model import fields
from ..model.conditions import Condition, Separation
from ..model.joint import Joint


class DistanceJoint(Joint):
    """Two points keep a distance, like the ends of a massless rod."""

    kind = "distance"
    symbol = "distance"
    length = fields.Scalar("Distance between the points.", unit="m", rule="positive")

    def conditions(self) -> tuple[Condition, ...]:
        return (Separation(self.first, self.second, self.length),)
