"""Rolling: a wheel or disc that rolls on a line or plane without slip.

With the centre c, the unit axis a (space), the radius r and the outward unit normal n of the line or
plane through p, the wheel touches at

    P = c − r e,     e = n (plane),     e = (n − (n·a) a) / |n − (n·a) a| (space),

and satisfies two conditions, one of positions and one of velocities along the tangents t of the plane:

    n·(P − p) = 0,     t·(v₁(P) − v₂(P)) = 0

with the velocities v₁, v₂ of the material points of both bodies at P. In space, the second condition is
nonholonomic. The wheel cannot lift off: the normal force may pull.
"""

from __future__ import annotations

import casadi as ca

from ..core.symbols import SX
from ..model import fields
from ..model.body import Frames, Point
from ..model.figures import Figure
from ..model.force import Force
from ..model.frame import spin
from ..model.model_data import ModelData
from ..model.state import State


class Rolling(Force):
    """A wheel or disc that rolls without slip, on a line in planar models and on a plane in spatial
    models.

    Example: `m.rolling("road", "wheel.C", "ground.O", radius=0.3, normal=(0, 1))`. In space, also give
    the axis of the wheel, such as `axis=(0, 1, 0)`. Give initial values for the position and the angle of the wheel,
    but only one of the two speeds.
    """

    kind = "rolling"
    first = fields.Point("Centre of the wheel.")
    second = fields.Point("Point of the line or plane on which the wheel rolls.")
    radius = fields.Scalar("Radius of the wheel.", unit="m", rule="positive")
    normal = fields.Direction(
        "Normal of the line or plane, towards the wheel, in the second body's frame.", of="second"
    )
    axis = fields.SpatialDirection(
        "Axis of the wheel in its own frame (spatial models only).", of="first"
    )

    @property
    def velocity_rows(self) -> int:
        return self.dimension - 1

    def figures(self, model: ModelData) -> list[Figure]:
        axis = None if self.axis is None else self.axis.direction
        return [Figure("wheel", self.first, radius=self.radius, axis=axis)]

    def effort_names(self) -> dict[str, str]:
        directions = ("normal", "along") if self.dimension == 2 else ("normal", "first", "second")
        return {f"{self.name}.{direction}": "m" for direction in directions}

    def constraints(self, frames: Frames, state: State) -> SX:
        n = frames[self.normal.body].direction(self.normal.direction)
        place = _at(self.first, frames) - self._radius_towards(frames)
        return ca.dot(n, place - _at(self.second, frames))

    def velocity_constraints(self, frames: Frames, state: State) -> SX:
        away = -self._radius_towards(frames)
        place = _at(self.first, frames) + away
        slip = _velocity(self.first, away, frames)
        slip -= _velocity(self.second, place - _at(self.second, frames), frames)
        normals = [frames[self.normal.body].direction(t) for t in self.normal.normals]
        # in the plane, the tangent is the normal turned by −90°: x for a normal y
        return ca.vertcat(*[ca.dot(t, slip) for t in normals])

    def _radius_towards(self, frames: Frames) -> SX:
        """r e, from the contact point to the centre."""
        n = frames[self.normal.body].direction(self.normal.direction)
        if self.axis is None:
            return self.radius * n
        a = frames[self.axis.body].direction(self.axis.direction)
        across = n - ca.dot(n, a) * a
        return self.radius * across / ca.norm_2(across)


def _at(point: Point, frames: Frames) -> SX:
    return frames[point.body].position(point.local)


def _velocity(point: Point, arm: SX, frames: Frames) -> SX:
    """Velocity of the material point at a given offset from a point of its body."""
    frame = frames[point.body]
    return frame.velocity(point.local) + spin(frame.angular_velocity) @ arm
