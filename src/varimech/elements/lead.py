"""Lead-lag compensator: G = k (T₁ s + 1)/(T₂ s + 1)."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.symbols import SX
from ..model import fields
from ..model.linear_block import LinearBlock


class Lead(LinearBlock):
    """A lead compensator, k (T₁ s + 1)/(T₂ s + 1). With T₂ > T₁, it is a lag compensator."""

    kind = "lead"
    lead_time = fields.Scalar("Time constant T₁ of the numerator.", unit="s", rule="non-negative")
    lag_time = fields.Scalar("Time constant T₂ of the denominator.", unit="s", rule="positive")
    gain = fields.Scalar("Static gain k.", default=1.0)

    def numerator_and_denominator(self) -> tuple[Sequence[SX], Sequence[SX]]:
        return [self.gain * self.lead_time, self.gain], [self.lag_time, SX(1)]
