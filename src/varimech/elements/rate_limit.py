"""Rate limit: ẏ = min(max((u − y)/T, −r₋), r₊).

Within the limits, the output follows the input with the short time constant T. The ideal limiter is the
limit T → 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from ..core.symbols import SX
from ..model import fields
from ..model.body import Frames
from ..model.model_data import ModelData
from ..model.own_coordinates import OwnCoordinate
from ..model.signal_element import SignalElement
from ..model.state import State


class RateLimit(SignalElement):
    """A signal that follows its input with a limited rate."""

    kind = "rate limit"
    rising = fields.Scalar("Largest rate of increase, per second.", rule="positive")
    falling = fields.OptionalScalar(
        "Largest rate of decrease, per second, positive; the same as `rising` if not given.",
        rule="positive",
    )
    time_constant = fields.Scalar(
        "Time constant T with which the output follows a slow input.", unit="s", rule="positive"
    )
    initial = fields.Scalar("Initial output.", default=0.0)
    size = fields.Scalar(
        "Typical value of the output, for the error control.", rule="positive", default=1.0
    )

    def prepare(self, model: ModelData) -> None:
        self._size = float(model.parameter_set.evaluate(self.size).item())

    def coordinates(self) -> tuple[OwnCoordinate, ...]:
        name = f"{self.name} state"
        return (OwnCoordinate(name, 1, self.initial, unit=self.unit, size=self._size),)

    def rates(self, frames: Frames, state: State) -> Sequence[SX]:
        falling = self.rising if self.falling is None else self.falling
        rate = (self.input(state) - self.output(state)) / self.time_constant
        return [ca.fmin(ca.fmax(rate, -falling), self.rising)]

    def output(self, state: State) -> SX:
        return state.state(f"{self.name} state")
