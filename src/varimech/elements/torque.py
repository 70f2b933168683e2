"""Torque on a body: Q = (∂(ω₁ − ω₂)/∂q̇)ᵀ τ."""

from __future__ import annotations

from ..core.errors import ModelError
from ..core.symbols import SX
from ..model import fields
from ..model.beam import BeamNode
from ..model.body import Body, Frames
from ..model.force import Force
from ..model.model_data import ModelData
from ..model.state import State
from .force import FRAMES, LEAVE_FRAME


class Torque(Force):
    """A torque on a body or on a point of a beam: a number in the plane, components in space, or a
    function of the state.

    Beams have no torsion: in space, the component of a torque along a beam has no effect.
    """

    kind = "torque"
    body = fields.Rotating("Body, or point of a beam, on which the torque acts.")
    value = fields.StateFunction(
        "Torque: a number in planar models or components in spatial models, a function of the state, or"
        " strings with expressions in t and the state.",
        size="torque",
        unit="N·m",
        positional=True,
    )
    against = fields.OptionalRotating(
        "Body on which the opposite torque acts, as for a motor between two bodies."
    )
    frame = fields.Choice(
        'Axes of the components: "global", or "body" for the axes of the body (spatial models only).',
        options=FRAMES,
        default="global",
    )

    def check_given(self, model: ModelData) -> None:
        if self.given["frame"] == "body" and self.dimension == 2:
            raise ModelError(
                "a torque in a planar mechanism has no axes",
                element=self.label,
                remedy=LEAVE_FRAME,
            )

    def prepare(self, model: ModelData) -> None:
        if self.frame == "body" and not isinstance(self.body, Body):
            raise ModelError("a beam has no body axes", element=self.label, remedy=LEAVE_FRAME)

    def efforts(self, frames: Frames, state: State) -> list[tuple[SX, SX]]:
        rate = _angular_velocity(self.body, frames)
        if self.against is not None:
            rate = rate - _angular_velocity(self.against, frames)
        τ = self.value(state)
        if self.frame == "body" and isinstance(self.body, Body):
            τ = frames[self.body].direction(τ)
        return [(rate, τ)]


def _angular_velocity(thing: Body | BeamNode, frames: Frames) -> SX:
    if isinstance(thing, Body):
        return frames[thing].angular_velocity
    return thing.angular_velocity(frames)
