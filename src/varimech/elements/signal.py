"""Named expression: y = f(state, t, ρ)."""

from __future__ import annotations

from ..core.symbols import SX
from ..model.signal_element import SignalElement
from ..model.state import State


class Signal(SignalElement):
    """A named expression of the state: a target, an error, a measured value.

    Example: `m.signal("error", lambda s: 0.5 - s.angle("J"))`. Other functions refer to it as
    `s.signal("error")`, strings as `signal('error')`.
    """

    kind = "signal"

    def output(self, state: State) -> SX:
        return self.input(state)
