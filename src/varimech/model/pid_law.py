"""PID law with limits and back-calculation against windup.

    u = k_p e + z + k_d ė,     y = min(max(u, low), high),     ż = k_i e + (y − u)/T_t

While y is limited, the last term drives z back, so that the controller leaves its limit soon after
the error has changed its sign. T_t = k_p/k_i unless given (K. J. Åström and T. Hägglund, Advanced
PID Control, ISA 2006, section 3.5).
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ..core.errors import Label, ModelError
from ..core.symbols import SX
from .element import Element
from .model_data import ModelData


@dataclass(frozen=True)
class PidLaw:
    """Gains and limits; None where there is no limit."""

    kp: SX
    ki: SX
    kd: SX
    low: SX | None
    high: SX | None
    tracking_time: SX | None

    @property
    def integrates(self) -> bool:
        """Whether it has an integral part; a gain that is the number zero needs no state."""
        return not is_zero(self.ki)

    @property
    def differentiates(self) -> bool:
        """Whether it needs the rate of the error."""
        return not is_zero(self.kd)

    @property
    def _is_limited(self) -> bool:
        return self.low is not None or self.high is not None

    def check(self, model: ModelData, element: Element) -> None:
        """Refuse limits and gains that contradict each other.

        Raises:
            ModelError: with the remedy.
        """
        numbers = model.parameter_set
        if self.low is not None and self.high is not None:
            label = Label(element.label, "upper limit − lower limit")
            numbers.scalar(self.high - self.low, label, "positive")
        if not (self._is_limited and self.integrates) or self.tracking_time is not None:
            return
        if float(numbers.evaluate(self.kp).item()) == 0:
            raise ModelError(
                "has limits, but no proportional gain to derive the tracking time from",
                element=element.label,
                remedy="give tracking_time=…, such as 0.1 s",
            )

    def demand(self, e: SX, rate: SX, z: SX) -> SX:
        """u, before limits."""
        return self.kp * e + z + self.kd * rate

    def output(self, u: SX) -> SX:
        """y, within limits."""
        u = u if self.low is None else ca.fmax(u, self.low)
        return u if self.high is None else ca.fmin(u, self.high)

    def integral_rate(self, e: SX, u: SX) -> SX:
        """ż."""
        if not self._is_limited:
            return self.ki * e
        back = self.ki / self.kp if self.tracking_time is None else 1 / self.tracking_time
        return self.ki * e + back * (self.output(u) - u)


def is_zero(x: SX) -> bool:
    """Whether a value is the number zero, not an expression."""
    return bool(x.is_constant() and x.is_zero())
