"""Damper between two points: force −c ẋ along their distance x."""

from __future__ import annotations

from ..core.symbols import SX
from ..model import fields
from .spring import BetweenPoints


class Damper(BetweenPoints):
    """A linear damper between two points."""

    kind = "damper"
    damping = fields.Scalar("Force per rate of elongation.", unit="N·s/m", rule="non-negative")

    def drawn_as(self) -> str:
        return "damper"

    def law(self) -> tuple[SX, SX, SX]:
        return SX(0), SX(0), self.damping
