"""Joint with clearance: a pin in a bore (plane), a ball in a socket (space), or a block in a slot
(plane), with the radial clearance, or the clearance on either side, c:

    pin, ball      g = (c² − |r₂ − r₁|²) / (2 c)         rigid; the rate of c − |r₂ − r₁| in contact
                   g = c − |r₂ − r₁|                     compliant
    block in slot  g = c ± n·(r₂ − r₁)                    n: normal of the slot
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from ..core.errors import ModelError
from ..core.symbols import SX
from ..model import fields
from ..model.body import Body, Frames, Point
from ..model.contact_element import ContactElement, Gap
from ..model.contact_shapes import distance_inside, gap_inside
from ..model.figures import Figure
from ..model.model_data import ModelData
from ..model.state import State
from .contact import along_surface, velocity_at


class ClearanceJoint(ContactElement):
    """A joint with clearance. In planar models, it is a pin in a bore or, if an axis is given, a block
    in a slot along this axis; in spatial models, it is a ball in a socket.

    Like any other number of the model, the clearance may be a parameter with a tolerance.
    """

    kind = "clearance joint"
    has_clearance = True
    first = fields.Point("Centre of the bore, or a point on the centreline of the slot.")
    second = fields.Point("Centre of the pin, ball or block.")
    clearance = fields.Scalar(
        "Radial clearance, or the clearance on either side of a block.", unit="m", rule="positive"
    )
    axis = fields.OptionalDirection(
        "Direction of the slot in the first body's frame; omit it for a bore or socket.", of="first"
    )
    pin_radius = fields.Scalar(
        "Radius of the pin, at which friction acts.", unit="m", rule="non-negative", default=0.0
    )

    def prepare(self, model: ModelData) -> None:
        super().prepare(model)
        if self.first.body is self.second.body:
            problem = f"both points belong to {self.first.body.name!r}"
            raise ModelError(problem, element=self.label, remedy="give points of two bodies")
        if self.dimension == 3 and self.axis is not None:
            raise ModelError(
                "a slot belongs to the plane",
                element=self.label,
                remedy="leave axis out: a ball in a socket; m.contact limits other motions",
            )

    @property
    def bodies(self) -> tuple[Body, ...]:
        return self.first.body, self.second.body

    def contact_points(self) -> tuple[Point, ...]:
        return (self.second,) * len(self.gap_names())

    def figures(self, model: ModelData) -> list[Figure]:
        if self.axis is None:
            return [Figure("bore", self.first, mate=self.second)]
        return [Figure("slot", self.first, axis=self.axis.direction, mate=self.second)]

    def gap_names(self) -> tuple[str, ...]:
        sides = () if self.axis is None else ("left", "right")
        return tuple(f"{self.name}.{side}" for side in sides) or (self.name,)

    def deviation(self, frames: Frames) -> SX:
        """Offset of the pin in its bore, or of the block across its slot."""
        bore, pin = frames[self.first.body], frames[self.second.body]
        offset = pin.position(self.second.local) - bore.position(self.first.local)
        local = bore.rotation.T @ offset
        if self.axis is None:
            return local
        along = self.axis.direction
        n = ca.vertcat(-along[1], along[0])
        return n * ca.dot(n, local)

    def gap_distance(self, gap: SX) -> SX:
        rigid = self.is_rigid and self.axis is None
        return distance_inside(gap, self.clearance) if rigid else gap

    def gaps(self, frames: Frames, state: State) -> Sequence[Gap]:
        bore, pin = frames[self.first.body], frames[self.second.body]
        centre = pin.position(self.second.local)
        d, c = centre - bore.position(self.first.local), self.clearance
        relative = velocity_at(pin, centre) - velocity_at(bore, centre)
        if self.axis is not None:
            along = bore.direction(self.axis.direction)
            n = ca.vertcat(-along[1], along[0])
            slip = ca.dot(along, relative)
            return [Gap(c - ca.dot(n, d), slip), Gap(c + ca.dot(n, d), slip)]
        gap, n = gap_inside(d, c, rigid=self.is_rigid)
        if not self.has_friction:
            return [Gap(gap)]
        touched = centre - self.pin_radius * n
        relative = velocity_at(pin, touched) - velocity_at(bore, touched)
        return [Gap(gap, along_surface(relative, n), n if self.dimension == 3 else None)]

    @property
    def slip_components(self) -> int:
        return 1 if self.dimension == 2 else 3
