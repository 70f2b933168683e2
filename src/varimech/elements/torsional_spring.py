"""Torsional spring and damper on an angle φ:  V = ½ k (φ − φ₀)²,  damping torque −c φ̇ along φ."""

from __future__ import annotations

from ..core.symbols import SX
from ..model import fields
from ..model.body import Frames
from ..model.scalar_outputs import Turn
from ..model.state import State
from .spring import SpringDamper


class OnAngle(SpringDamper):
    """Spring and damper on an angle."""

    turn = fields.Angle("Rotating joint or planar body on whose angle the element acts.")

    @property
    def output(self) -> Turn:
        return self.turn

    def difference(self, frames: Frames, state: State, x0: SX) -> SX:
        return state.output(self.turn) - x0  # for any number of turns


class TorsionalSpring(OnAngle):
    """A torsional spring, optionally with a damper, on the angle of a joint or of a planar body.

    The angle includes full turns, so the spring can be wound up by any number of turns.
    """

    kind = "torsional spring"
    stiffness = fields.Scalar("Torque per angle.", unit="N·m/rad", rule="non-negative")
    rest_angle = fields.Scalar(
        "Angle at zero torque; it may exceed a full turn.", unit="rad", default=0.0
    )
    damping = fields.Scalar(
        "Torque per angular velocity.", unit="N·m·s/rad", rule="non-negative", default=0.0
    )

    def law(self) -> tuple[SX, SX, SX]:
        return self.stiffness, self.rest_angle, self.damping


class TorsionalDamper(OnAngle):
    """A torsional damper on the angle of a joint or of a planar body."""

    kind = "torsional damper"
    damping = fields.Scalar("Torque per angular velocity.", unit="N·m·s/rad", rule="non-negative")

    def law(self) -> tuple[SX, SX, SX]:
        return SX(0), SX(0), self.damping
