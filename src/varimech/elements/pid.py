"""PID controller (`model/pid_law`), with the derivative of the error e = input:

ė                                      exact, if e depends on positions and time only
(e − x)/T_f,  ẋ = (e − x)/T_f         filtered, with filter_time = T_f
"""

from __future__ import annotations

from collections.abc import Sequence

from ..core.errors import ModelError
from ..core.symbols import SX
from ..model import fields
from ..model.body import Frames
from ..model.model_data import ModelData
from ..model.own_coordinates import OwnCoordinate
from ..model.pid_law import PidLaw
from ..model.signal_element import SignalElement
from ..model.state import State


class Pid(SignalElement):
    """A PID controller with output limits and anti-windup by back-calculation. Its input is the error.

    Example: `m.pid("controller", lambda s: 0.5 - s.angle("J"), kp=40, ki=20, kd=5, low=-10, high=10)`.
    """

    kind = "pid"
    kp = fields.Scalar("Proportional gain.")
    ki = fields.Scalar("Integral gain (per second); the number 0 omits the integral.", default=0.0)
    kd = fields.Scalar("Derivative gain (seconds); the number 0 omits the derivative.", default=0.0)
    filter_time = fields.OptionalScalar(
        "Time constant of the filtered derivative. If not given, the derivative is exact, and the"
        " input must depend on positions and time only.",
        unit="s",
        rule="positive",
    )
    low = fields.OptionalScalar("Lower limit of the output; no limit if not given.")
    high = fields.OptionalScalar("Upper limit of the output; no limit if not given.")
    tracking_time = fields.OptionalScalar(
        "Time constant of back-calculation while the output is limited; kp/ki if not given.",
        unit="s",
        rule="positive",
    )
    initial = fields.Scalar(
        "Initial value of the integral, in the unit of the output.", default=0.0
    )
    initial_input = fields.Scalar(
        "Input before the start of the run. It is the initial state of the derivative filter.",
        default=0.0,
    )
    size = fields.Scalar(
        "Typical value of the output, for the error control.", rule="positive", default=1.0
    )

    def prepare(self, model: ModelData) -> None:
        self._law = PidLaw(self.kp, self.ki, self.kd, self.low, self.high, self.tracking_time)
        self._law.check(model, self)
        for name, value, needed, is_given in (
            ("initial", self.initial, "ki", self._law.integrates),
            ("initial_input", self.initial_input, "filter_time", self.filter_time is not None),
        ):
            if not is_given and not value.is_zero():
                raise ModelError(
                    f"{name} applies only with {needed}, but none is given",
                    element=self.label,
                    remedy=f"give {needed}=…, or omit {name}",
                )
        self._size = float(model.parameter_set.evaluate(self.size).item())

    @property
    def _filters(self) -> bool:
        return self._law.differentiates and self.filter_time is not None

    def coordinates(self) -> tuple[OwnCoordinate, ...]:
        own: list[OwnCoordinate] = []
        if self._law.integrates:
            name = f"{self.name} integral"
            own.append(OwnCoordinate(name, 1, self.initial, unit=self.unit, size=self._size))
        if self._filters:
            own.append(OwnCoordinate(f"{self.name} filter", 1, self.initial_input))
        return tuple(own)

    def rates(self, frames: Frames, state: State) -> Sequence[SX]:
        e = self.input(state)
        rates = []
        if self._law.integrates:
            rates.append(self._law.integral_rate(e, self._demand(state, e)))
        if self._filters:
            rates.append(self._error_rate(state, e))
        return rates

    def output(self, state: State) -> SX:
        return self._law.output(self._demand(state, self.input(state)))

    def _demand(self, state: State, e: SX) -> SX:
        z = state.state(f"{self.name} integral") if self._law.integrates else SX(0)
        rate = self._error_rate(state, e) if self._law.differentiates else SX(0)
        return self._law.demand(e, rate, z)

    def _error_rate(self, state: State, e: SX) -> SX:
        if self.filter_time is not None:
            return (e - state.state(f"{self.name} filter")) / self.filter_time
        try:
            return state.rate(e)
        except ModelError:
            raise ModelError(
                "the input depends on velocities, states or signals with states, so its derivative"
                " is not known",
                element=self.label,
                remedy="give filter_time=… for a filtered derivative",
            ) from None
