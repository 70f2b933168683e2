"""Driven displacement: s − f(t) = 0."""

from __future__ import annotations

from ..model import fields
from ..model.driver import Driver
from ..model.scalar_outputs import Slide


class DriveDisplacement(Driver):
    """Impose the displacement of a joint that slides as a function of time."""

    kind = "drive displacement"
    joint = fields.Displacement("Sliding joint.")
    motion = fields.Motion("The displacement, as an expression of t.", unit="m")

    @property
    def output(self) -> Slide:
        return self.joint
