"""First-order lag: T ẏ = k u − y,  G = k/(T s + 1)."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.symbols import SX
from ..model import fields
from ..model.linear_block import LinearBlock


class Lag(LinearBlock):
    """A first-order lag (low-pass filter): k/(T s + 1).

    `m.lag("measured", lambda s: s.angle("J"), time_constant=0.01)`.
    """

    kind = "lag"
    time_constant = fields.Scalar("Time constant T.", unit="s", rule="positive")
    gain = fields.Scalar("Static gain k.", default=1.0)

    def numerator_and_denominator(self) -> tuple[Sequence[SX], Sequence[SX]]:
        return [self.gain], [self.time_constant, SX(1)]
