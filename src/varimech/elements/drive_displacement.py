"""Driven displacement: s − f(t) = 0."""

from __future__ import annotations

from ..model import fields
from ..model.driver import Driver
from ..model.scalar_outputs import Slide


class DriveDisplacement(Driver):
    """Prescribe the displacement of a sliding joint as a function of time."""

    kind = "drive displacement"
    joint = fields.Displacement("Sliding joint.")
    motion = fields.Motion(
        "Prescribed displacement: a function of t, or an expression in t.", unit="m"
    )

    @property
    def output(self) -> Slide:
        return self.joint
