"""Spring and damper between two points at the distance x:  V = ½ k (x − x₀)²,  damping force −c ẋ along
x.
"""

from __future__ import annotations

from abc import abstractmethod

from ..core.symbols import SX
from ..model import fields
from ..model.body import Body, Frames
from ..model.force import Force
from ..model.model_data import ModelData
from ..model.scalar_outputs import Distance, ScalarOutput
from ..model.state import State


class SpringDamper(Force):
    """Spring and damper on a scalar output x."""

    @property
    @abstractmethod
    def output(self) -> ScalarOutput:
        """x."""

    @abstractmethod
    def law(self) -> tuple[SX, SX, SX]:
        """k, x₀ and c."""

    @property
    def bodies(self) -> tuple[Body, ...]:
        return self.output.bodies

    @property
    def details(self) -> str:
        k, _, c = self.law()
        return f", stiffness {k}, damping {c}"

    def potential_energy(self, frames: Frames, state: State) -> SX:
        k, x0, _ = self.law()
        return SX(0) if k.is_zero() else k * self.difference(frames, state, x0) ** 2 / 2

    def difference(self, frames: Frames, state: State, x0: SX) -> SX:
        """x − x₀."""
        return self.output.difference(frames, x0)

    def is_gradual(self, frames: Frames, state: State) -> bool:
        return True  # linear in x, which varies no faster than the motion

    def efforts(self, frames: Frames, state: State) -> list[tuple[SX, SX]]:
        _, _, c = self.law()
        if c.is_zero():
            return []
        rate = self.output.rate(frames)
        return [(rate, -c * rate)]


class BetweenPoints(SpringDamper):
    """Spring and damper between two points."""

    first = fields.Point("Point at the first end.")
    second = fields.Point("Point at the other end.")

    @property
    def output(self) -> Distance:
        return Distance(self.first, self.second)

    def span(self) -> Distance:
        return self.output

    def prepare(self, model: ModelData) -> None:
        model.find_distance(self.first, self.second, repr(self.name))


class Spring(BetweenPoints):
    """A linear spring, and optionally a damper, between two points."""

    kind = "spring"
    stiffness = fields.Scalar("Force per elongation.", unit="N/m", rule="non-negative")
    natural_length = fields.Scalar("Length at zero force.", unit="m", rule="non-negative")
    damping = fields.Scalar(
        "Force per rate of elongation.", unit="N·s/m", rule="non-negative", default=0.0
    )

    def drawn_as(self) -> str:
        return "damper" if self.stiffness.is_zero() else "spring"

    def law(self) -> tuple[SX, SX, SX]:
        return self.stiffness, self.natural_length, self.damping
