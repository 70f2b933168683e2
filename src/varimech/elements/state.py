"""First-order state: ż = f(state, t, ρ), z(0) = z₀."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.symbols import SX
from ..model import fields
from ..model.body import Frames
from ..model.force import Force
from ..model.model_data import ModelData
from ..model.own_coordinates import OwnCoordinate
from ..model.signal_fields import SignalFunction, Unit
from ..model.state import State
from ..model.user_functions import trial_state


class StateElement(Force):
    """A scalar variable with its own rate equation: an integral, a temperature, a filtered value.

    Forces and objectives refer to it as `s.state("heat")`, strings as `state('heat')`. Example:
    `m.state("heat", rate=lambda s: s.parameter("R") * s.state("current") ** 2, unit="J")`.
    """

    kind = "state"
    file_section = "states"
    rate = SignalFunction(
        "Time derivative: a number, a function of the state, or a string with an expression in t and the state."
        " It may use this state and any other states and signals, even if they are defined later.",
        size="scalar",
    )
    initial = fields.Scalar("Initial value.", default=0.0)
    unit = Unit("Unit of the state.")
    size = fields.Scalar("Typical value, for the error control.", rule="positive", default=1.0)

    @classmethod
    def file_key(cls) -> None:
        """All entries of its section are states."""
        return

    def prepare(self, model: ModelData) -> None:
        self._size = float(model.parameter_set.evaluate(self.size).item())

    def check_references(self, model: ModelData) -> None:
        self.rate(trial_state(model, self.label))

    def coordinates(self) -> tuple[OwnCoordinate, ...]:
        return (OwnCoordinate(self.name, 1, self.initial, unit=self.unit, size=self._size),)

    def rates(self, frames: Frames, state: State) -> Sequence[SX]:
        return [self.rate(state)]
