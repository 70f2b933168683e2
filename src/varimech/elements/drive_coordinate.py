"""Driven coordinate: the component of a position along a fixed direction, u·r − f(t) = 0."""

from __future__ import annotations

from ..model import fields
from ..model.driver import Driver
from ..model.scalar_outputs import Coordinate


class DriveCoordinate(Driver):
    """Prescribe the component of a point's position along a global direction as a function of time."""

    kind = "drive coordinate"
    point = fields.Point("Point whose position is driven.")
    direction = fields.Direction("Direction, in global components.", positional=True)
    motion = fields.Motion(
        "Prescribed component: a function of t, or an expression in t.", unit="m"
    )

    @property
    def output(self) -> Coordinate:
        return Coordinate(self.point, self.direction.direction)
