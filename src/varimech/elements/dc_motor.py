"""Direct-current motor on an angle: L di/dt = U − R i − k ω, torque k i.

With zero inductance, i = (U − k ω)/R without a state.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..core.errors import Label, ModelError
from ..core.symbols import SX
from ..model import fields
from ..model.body import Frames
from ..model.force import Force
from ..model.model_data import ModelData
from ..model.own_coordinates import OwnCoordinate
from ..model.pid_law import is_zero
from ..model.signal_fields import SignalFunction
from ..model.state import State
from ..model.user_functions import trial_state


class DCMotor(Force):
    """A direct-current motor with its electrical circuit, acting on the angle of a joint.

    The current is the signal `name current` and, with an inductance, also the state of this name.
    """

    kind = "dc-motor"
    joint = fields.Angle("Joint, or planar body, that the motor drives.")
    voltage = SignalFunction(
        "Voltage U: a number, a function of the state, or a string with an expression in t and the state.",
        size="scalar",
        unit="V",
    )
    resistance = fields.Scalar("Resistance R.", unit="ohm", rule="positive")
    constant = fields.Scalar(
        "Motor constant k: torque per current, and voltage per speed.", unit="N·m/A"
    )
    inductance = fields.Scalar(
        "Inductance L. If it is the number 0, the current is not a state.",
        unit="H",
        rule="non-negative",
        default=0.0,
    )
    initial = fields.Scalar("Initial current. Requires an inductance.", unit="A", default=0.0)
    size = fields.Scalar(
        "Typical current, for the error control.", unit="A", rule="positive", default=1.0
    )

    def prepare(self, model: ModelData) -> None:
        self._size = float(model.parameter_set.evaluate(self.size).item())
        if not is_zero(self.inductance):
            label = Label(self.label, "inductance")
            model.parameter_set.scalar(self.inductance, label, "positive")
        elif not is_zero(self.initial):
            raise ModelError(
                "applies only with an inductance, but none is given",
                label=Label(self.label, "initial"),
                remedy="give inductance=…, or omit initial",
            )

    def check_references(self, model: ModelData) -> None:
        self.voltage(trial_state(model, self.label))

    def coordinates(self) -> tuple[OwnCoordinate, ...]:
        if is_zero(self.inductance):
            return ()
        name = f"{self.name} current"
        return (OwnCoordinate(name, 1, self.initial, unit="A", size=self._size),)

    def signal_units(self) -> dict[str, str]:
        return {f"{self.name} current": "A"}

    def signals(self, frames: Frames, state: State) -> Sequence[SX]:
        return [self._current(frames, state)]

    def rates(self, frames: Frames, state: State) -> Sequence[SX]:
        if is_zero(self.inductance):
            return []
        i = self._current(frames, state)
        return [(self._driving(frames, state) - self.resistance * i) / self.inductance]

    def efforts(self, frames: Frames, state: State) -> list[tuple[SX, SX]]:
        return [(self.joint.rate(frames), self.constant * self._current(frames, state))]

    def _current(self, frames: Frames, state: State) -> SX:
        if is_zero(self.inductance):
            return self._driving(frames, state) / self.resistance
        return state.state(f"{self.name} current")

    def _driving(self, frames: Frames, state: State) -> SX:
        """U − k ω."""
        return self.voltage(state) - self.constant * self.joint.rate(frames)
