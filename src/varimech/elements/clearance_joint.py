"""Joint with clearance: a pin in a bore (plane), a ball in a socket (space), or a block in a slot
(plane), with the radial clearance, or the clearance on either side, c:

    pin, ball      g = (c² − |r₂ − r₁|²) / (2 c)         slope of c − |r₂ − r₁| where they touch
    block in slot  g = c ± n·(r₂ − r₁)                    n: normal of the slot
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from ..core.errors import ModelError
from ..model import fields
from ..model.body import Body, Frames
from ..model.contact_element import ContactElement, Gap
from ..model.model_data import ModelData
from ..model.state import State


class ClearanceJoint(ContactElement):
    """A joint with clearance: a pin in a bore or a ball in a socket, or, with an axis, a block in a
    slot along it (plane).

    The clearance is a number of the model like all others: a parameter with a tolerance, say.
    """

    kind = "clearance joint"
    first = fields.Point("Centre of the bore, or a point on the middle line of the slot.")
    second = fields.Point("Centre of the pin, ball or block.")
    clearance = fields.Scalar(
        "Radial clearance, or the clearance on either side.", unit="m", rule="positive"
    )
    axis = fields.OptionalDirection(
        "Direction of the slot in the first body's frame; none for a bore.", of="first"
    )
    pin_radius = fields.Scalar(
        "Radius of the pin, at which friction acts.", unit="m", rule="non-negative", default=0.0
    )

    def prepare(self, model: ModelData) -> None:
        super().prepare(model)
        if self.dimension == 3 and (self.axis is not None or self.sticks):
            what = "a slot" if self.axis is not None else "friction that sticks"
            raise ModelError(
                f"{what} belongs to the plane",
                element=self.label,
                remedy='leave it out; friction_law="tanh" with a stiffness works in space',
            )

    @property
    def bodies(self) -> tuple[Body, ...]:
        return self.first.body, self.second.body

    def gap_names(self) -> tuple[str, ...]:
        sides = () if self.axis is None else ("left", "right")
        return tuple(f"{self.name}.{side}" for side in sides) or (self.name,)

    def gaps(self, frames: Frames, state: State) -> Sequence[Gap]:
        bore, pin = frames[self.first.body], frames[self.second.body]
        d = pin.position(self.second.local) - bore.position(self.first.local)
        v = pin.velocity(self.second.local) - bore.velocity(self.first.local)
        ω, c = bore.angular_velocity, self.clearance
        if self.axis is not None:
            along = bore.direction(self.axis.direction)
            n = ca.vertcat(-along[1], along[0])
            slip = ca.dot(along, v - ω * ca.vertcat(-d[1], d[0]))
            return [Gap(c - ca.dot(n, d), slip), Gap(c + ca.dot(n, d), slip)]
        gap = (c**2 - ca.sumsqr(d)) / (2 * c)
        if not self.has_friction or self.dimension == 3:
            return [Gap(gap)]
        t = ca.vertcat(-d[1], d[0]) / c
        relative = v - ω * ca.vertcat(-d[1], d[0])
        return [Gap(gap, ca.dot(t, relative) + self.pin_radius * (pin.angular_velocity - ω))]
