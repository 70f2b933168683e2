"""Force on a point: Q = (∂v/∂q̇)ᵀ F."""

from __future__ import annotations

from ..core.errors import ModelError
from ..core.messages import Message
from ..core.symbols import SX
from ..model import fields
from ..model.body import Frames, Point
from ..model.force import Force
from ..model.model_data import ModelData
from ..model.state import State

FRAMES = ("global", "body")
LEAVE_FRAME = Message("omit {frame}", frame="body")


class PointForce(Force):
    """A force on a point: constant, or a function of time and state.

    A constant force: `m.force("push", "rod.tip", (10, 0))`. A function of time: `m.force("push",
    "rod.tip", lambda s: (vm.sin(s.time), 0))`.
    """

    kind = "force"
    point = fields.Point("Point of application.")
    value = fields.StateFunction(
        "Components: numbers, a function of the state, or strings with expressions in t and the state.",
        size="vector",
        unit="N",
        positional=True,
    )
    frame = fields.Choice(
        'Axes of the components: "global", or "body" for the axes of the body.',
        options=FRAMES,
        default="global",
    )

    def prepare(self, model: ModelData) -> None:
        if self.frame == "body" and self.dimension == 3 and not self.point.body.is_rigid:
            raise ModelError("a beam has no body axes", element=self.label, remedy=LEAVE_FRAME)

    def efforts(self, frames: Frames, state: State) -> list[tuple[SX, SX]]:
        frame = frames[self.point.body]
        F = self.value(state)
        velocity = frame.velocity(self.point.local)
        return [(velocity, frame.direction(F) if self.frame == "body" else F)]

    def acts_at(self) -> tuple[Point, ...]:
        return () if self.point.body.is_ground else (self.point,)
