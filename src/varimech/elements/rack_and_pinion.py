"""Rack and pinion: a displacement is the pitch radius times an angle, for any number of turns.

    s = ± r φ + s₀

`effort` is the force F that the pinion exerts on the rack along s; the torque on the pinion is ∓ r F.
With a stiffness, the mesh is compliant and may have backlash and losses (`model/transmission`).
"""

from __future__ import annotations

from ..core.symbols import SX
from ..model import fields, transmission
from ..model.figures import Figure, wheel_centre
from ..model.model_data import ModelData
from ..model.scalar_outputs import Slide, Turn
from ..model.transmission import Transmission, wheel_axis

TEETH = 16
"""Number of teeth of the pinion in drawings: a typical value."""


class RackAndPinion(Transmission):
    """A rack and a pinion: the displacement of one joint is the pitch radius times the angle of
    another, for any number of turns.

    Example: `m.rack_and_pinion("steering", "column", "guide", radius=0.01)`. The element also models a
    drum and its rope, or a pulley and its toothed belt.
    """

    kind = "rack and pinion"
    pinion = fields.Angle("Pinion: a rotating joint or planar body.")
    rack = fields.Displacement("Rack: a sliding joint.")
    radius = fields.Scalar("Pitch radius of the pinion.", unit="m", rule="positive")
    reverse = fields.Flag("Whether the displacement decreases when the angle increases.")
    offset = fields.Scalar("Displacement when the angle is zero.", unit="m", default=0.0)
    stiffness = fields.OptionalScalar(
        "Stiffness of a compliant mesh: force per displacement. Without a stiffness, the mesh is rigid.",
        unit="N/m",
        rule="positive",
    )
    damping = fields.OptionalScalar(
        "Damping of a compliant mesh: force per velocity.", unit="N·s/m", rule="non-negative"
    )
    backlash = fields.OptionalScalar(
        "Backlash: distance by which the rack can move freely. Requires a stiffness.",
        unit="m",
        rule="non-negative",
    )
    damping_depth = fields.OptionalScalar(
        "Distance beyond the backlash at which damping is fully effective; 1e-6 m if not given.",
        unit="m",
        rule="positive",
    )

    efficiency = transmission.efficiency()
    slip_velocity = transmission.slip_velocity()

    @property
    def outputs(self) -> tuple[Turn, Slide]:
        return self.pinion, self.rack

    def law(self) -> tuple[SX, SX]:
        return -self.radius if self.reverse else self.radius, self.offset

    def figures(self, model: ModelData) -> list[Figure]:
        slide = self.rack
        ends = (slide.first.body, slide.second.body)
        carriers = [body for body in self.pinion.bodies if body in ends]
        centre = wheel_centre(model, self.pinion, carriers[0]) if carriers else None
        if centre is None:
            return []
        return [
            Figure(
                "rack",
                slide.second,
                radius=self.radius,
                axis=slide.axis.direction,
                axis_body=slide.axis.body,
                teeth=TEETH,
                mate=centre,
                mate_axis=wheel_axis(model, self.pinion, centre.body),
                is_reversed=self.reverse,
            )
        ]

    @property
    def _depth(self) -> SX:
        return SX(1e-6) if self.damping_depth is None else self.damping_depth
