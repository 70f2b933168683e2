"""Gear pair: two angles keep a ratio, over any number of turns.

    φ₂ = i φ₁ + φ₀

The angles are those of joints against one carrier, or the ground, or of planar bodies. `effort` is
the torque T₂ = −λ that the gear exerts along φ₂; along φ₁ it exerts −i T₂.
"""

from __future__ import annotations

from ..core.symbols import SX
from ..model import fields
from ..model.body import Frames
from ..model.force import Force
from ..model.state import State


class Gear(Force):
    """A pair of gears, or a belt: the second angle is a multiple of the first, over any number of
    turns.

    Where the carrier of both joints turns, the pair is one of a planetary gear.
    """

    kind = "gear"
    constraint_unit = "rad"
    first = fields.Angle("Joint that turns, or planar body, whose angle is the first one.")
    second = fields.Angle("Joint that turns, or planar body, whose angle is the second one.")
    ratio = fields.Scalar(
        "Second angle per first one; negative for two gears that mesh outside.", rule="non-zero"
    )
    phase = fields.Scalar("Second angle where the first one is zero.", unit="rad", default=0.0)

    def constraints(self, frames: Frames, state: State) -> SX:
        return state.measure(self.second) - self.ratio * state.measure(self.first) - self.phase
