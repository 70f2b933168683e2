"""Driven angle: S cos f(t) − C sin f(t) = 0, which is equivalent to φ = f(t)."""

from __future__ import annotations

from ..model import fields
from ..model.driver import Driver
from ..model.scalar_outputs import Turn


class DriveAngle(Driver):
    """Prescribe the angle of a joint or of a planar body as a function of time:
    `m.drive_angle("motor", "crank", lambda t: 6*t)`.
    """

    kind = "drive angle"
    turn = fields.Angle("Rotating joint, or planar body.")
    motion = fields.Motion("Prescribed angle: a function of t, or an expression in t.", unit="rad")

    @property
    def output(self) -> Turn:
        return self.turn
