"""Linear blocks with one input and one output, y = G(s) u, G = (b_n sⁿ + … + b_0)/(a_n sⁿ + … +
a_0).

With σ = s/ω and a_n = 1 in powers of σ, the observer form is

    x_1 = y − b_n u,     dx_k/dt = ω (x_{k+1} + b_{n−k} u − a_{n−k} y),     x_{n+1} = 0

ω, a number, is the geometric mean of the magnitudes of the poles for nominal parameters, so that
all states have about the size and the unit of y. At rest with a constant output y_0, u_0 = y_0
a_0/b_0 and x_{k+1} = a_{n−k} y_0 − b_{n−k} u_0  (T. Kailath, Linear Systems, Prentice Hall 1980,
section 2.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import Label, ModelError
from ..core.symbols import SX
from . import fields
from .body import Frames
from .own_coordinates import OwnCoordinate
from .signal_element import SignalElement
from .state import State

if TYPE_CHECKING:
    from .model_data import ModelData


class LinearBlock(SignalElement):
    """A rational transfer function; subclasses provide its coefficients."""

    initial = fields.Scalar(
        "Initial output, as if the output had been constant before the run.", default=0.0
    )
    size = fields.Scalar(
        "Typical value of the output, for the error control.", rule="positive", default=1.0
    )

    def numerator_and_denominator(self) -> tuple[Sequence[SX], Sequence[SX]]:
        """b and a, highest power of s first, in seconds."""
        raise NotImplementedError

    def prepare(self, model: ModelData) -> None:
        """Scale the coefficients, and refuse an improper transfer function."""
        b, a = (list(each) for each in self.numerator_and_denominator())
        n, numbers = len(a) - 1, model.parameter_set
        if len(b) > len(a):
            raise ModelError(
                f"the numerator has degree {len(b) - 1}, but the denominator only {n} (improper)",
                element=self.label,
                remedy="add poles, for example those of a filter",
            )
        b = [SX(0)] * (len(a) - len(b)) + b
        numbers.scalar(
            a[0], Label(self.label, "leading coefficient of the denominator"), "non-zero"
        )
        poles = np.roots([float(numbers.evaluate(x).item()) for x in a])
        moving = np.abs(poles[np.abs(poles) > 0])
        ω = float(np.exp(np.log(moving).mean())) if moving.size else 1.0
        scale = [ω ** (n - k) / (a[0] * ω**n) for k in range(n + 1)]
        self._b, self._a = ([c * f for c, f in zip(x, scale, strict=True)] for x in (b, a))
        self._ω, self._size = ω, float(numbers.evaluate(self.size).item())
        self._rest_input = SX(0)
        if not (self.initial.is_constant() and self.initial.is_zero()):
            y0 = self._a[-1]
            if not (y0.is_constant() and y0.is_zero()):
                gain = Label(self.label, "gain for a constant input, for initial ≠ 0,")
                numbers.scalar(b[-1], gain, "non-zero")
                self._rest_input = self.initial * self._a[-1] / self._b[-1]

    def coordinates(self) -> tuple[OwnCoordinate, ...]:
        """States of the observer form."""
        n, u, y = len(self._a) - 1, self._rest_input, self.initial
        first = [y - self._b[0] * u]
        first += [self._a[k] * y - self._b[k] * u for k in range(1, n)]
        names = [f"{self.name} state"] if n == 1 else [f"{self.name} state {k}" for k in range(n)]
        return tuple(
            OwnCoordinate(name, 1, x, unit=self.unit, size=self._size)
            for name, x in zip(names, first if n else [], strict=True)
        )

    def rates(self, frames: Frames, state: State) -> Sequence[SX]:
        """Rates of the states."""
        x = [state.state(c.name) for c in self.coordinates()]
        u, y = self.input(state), self.output(state)
        return [
            self._ω * (after + self._b[k] * u - self._a[k] * y)
            for k, after in enumerate([*x[1:], SX(0)][: len(x)], start=1)
        ]

    def output(self, state: State) -> SX:
        """y."""
        own = self.coordinates()
        y = state.state(own[0].name) if own else SX(0)
        feedthrough = self._b[0]
        if feedthrough.is_constant() and feedthrough.is_zero():
            return y  # independent of the input, so the block may be part of a loop
        return y + feedthrough * self.input(state)
