"""Distance joint: a massless rod between two points. It leaves 2 DOF in the plane, 5 DOF in space.

No simple coordinates cover all directions of the rod, so the joint defines no relative motion and the
kinematic tree is always cut at this joint.
"""

from __future__ import annotations

from ..model import fields
from ..model.conditions import Condition, Separation
from ..model.joint import Joint


class DistanceJoint(Joint):
    """Keep the distance between two points constant, like a massless rod."""

    kind = "distance"
    symbol = "distance"
    length = fields.Scalar("Distance between the points.", unit="m", rule="positive")

    def conditions(self) -> tuple[Condition, ...]:
        return (Separation(self.first, self.second, self.length),)
