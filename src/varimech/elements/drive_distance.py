"""Driven distance: (d·d − f(t)²) / 2f(t) = 0, so that the effort is the force along d."""

from __future__ import annotations

from ..model import fields
from ..model.driver import Driver
from ..model.model_data import ModelData
from ..model.scalar_outputs import Distance


class DriveDistance(Driver):
    """Prescribe the distance between two points as a function of time."""

    kind = "drive distance"
    first = fields.Point("One point.")
    second = fields.Point("The other point.")
    motion = fields.Motion(
        "Prescribed distance, positive: a function of t, or an expression in t.",
        unit="m",
        rule="positive",
    )

    @property
    def output(self) -> Distance:
        return Distance(self.first, self.second)

    def prepare(self, model: ModelData) -> None:
        model.find_distance(self.first, self.second, repr(self.name))
