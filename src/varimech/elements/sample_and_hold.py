"""Sample and hold: y(t) = u(t_k) for t_k ≤ t < t_{k+1}, t_k = k T.

Both y and the time of the next sample are states with rate zero. An event at this time resets both of
them. The first sample is taken at the start of a run.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..core.symbols import SX
from ..model import fields
from ..model.body import Frames
from ..model.force import StatedEvent
from ..model.model_data import ModelData
from ..model.own_coordinates import OwnCoordinate
from ..model.signal_element import SignalElement
from ..model.state import State

LATE = 1e-10
"""Share of the period by which samples are delayed. It is much larger than the rounding error of t_k. If a
run lasts a whole number of periods, its last sample is therefore not taken one rounding error before the
end, which would leave no room for another step.
"""


class SampleAndHold(SignalElement):
    """A signal that samples its input at equal intervals and holds the value in between: a
    digital controller, or its measurements.
    """

    kind = "sample and hold"
    is_sampled = True
    period = fields.Scalar("Sampling interval T.", unit="s", rule="positive")
    size = fields.Scalar(
        "Typical value of the output, for the error control.", rule="positive", default=1.0
    )

    def prepare(self, model: ModelData) -> None:
        evaluate = model.parameter_set.evaluate
        self._size, self._interval = (float(evaluate(x).item()) for x in (self.size, self.period))

    def coordinates(self) -> tuple[OwnCoordinate, ...]:
        return (
            OwnCoordinate(f"{self.name} held", 1, unit=self.unit, size=self._size),
            OwnCoordinate(f"{self.name} next sample", 1, unit="s", size=self._interval),
        )

    def rates(self, frames: Frames, state: State) -> Sequence[SX]:
        return [SX(0), SX(0)]

    def events(self) -> tuple[StatedEvent, ...]:
        return (
            StatedEvent(
                self.name, "rising", resets=2, of_states=True, at_start=True, what="sample"
            ),
        )

    def event_functions(self, frames: Frames, state: State) -> Sequence[SX]:
        return [state.time - state.state(f"{self.name} next sample") - LATE * self.period]

    def resets(self, frames: Frames, state: State) -> Sequence[Sequence[tuple[SX, SX]]]:
        held, after = (state.state(c.name) for c in self.coordinates())
        u, T = self.input(state), self.period
        # the conditions are scaled to values of order one
        return [
            [
                (held / self._size, u / self._size),
                (after / self._interval, (after + T) / self._interval),
            ]
        ]

    def output(self, state: State) -> SX:
        return state.state(f"{self.name} held")
