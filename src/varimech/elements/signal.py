"""Named expression: y = f(state, t, ρ)."""

from __future__ import annotations

from ..core.symbols import SX
from ..model.signal_element import SignalElement
from ..model.state import State


class Signal(SignalElement):
    """A named expression of the state: a target, an error, a measured value.

    `m.signal("error", lambda s: 0.5 - s.angle("J"))`; other functions use it as
    `s.signal("error")`, strings as `signal('error')`.
    """

    kind = "signal"

    def output(self, state: State) -> SX:
        return self.input(state)
