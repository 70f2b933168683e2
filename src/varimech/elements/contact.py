"""Contact of a point, circle or sphere with a line or plane, with another circle or sphere, with the
inside of a circle, or with a straight or bent rod with round ends (a capsule or an arc):

    line, plane         g = n·(c₁ − c₂) − r₁                 normal n of the second body
    circle, sphere      g = |c₁ − c₂| − r₁ − r₂
    inside of a circle  g = ((r₂ − r₁)² − |c₁ − c₂|²) / (2 (r₂ − r₁));  r₂ − r₁ − |c₁ − c₂| if compliant
    capsule, arc        g = |c₁ − p| − r₁ − r₂               p: the nearest point of the rod

The gap inside a rigid circle has the same rate as r₂ − r₁ − |c₁ − c₂| when the surfaces touch, and is
smooth when the centres coincide. In the plane, the slip is the relative velocity of the surfaces along the
tangent.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ..core.errors import ModelError
from ..core.symbols import SX
from ..model import fields
from ..model.body import Body, Frames, Point
from ..model.contact_element import ContactElement, Gap
from ..model.contact_shapes import (
    corners,
    distance_between,
    distance_from_arc,
    distance_inside,
    gap_inside,
)
from ..model.figures import Figure
from ..model.frame import Frame, spin
from ..model.model_data import ModelData
from ..model.state import State


class ContactPair(ContactElement):
    """Contact between two bodies: points, circles or spheres of the first body against a line or plane,
    a circle or sphere (outside or inside), a capsule or an arc of the second body.

    A ball on the floor: `m.contact("floor", "ball.C", "ground.O", radius=0.1, normal=(0, 1))`.
    Two balls: `m.contact("hit", "a.C", "b.C", radius=0.1, second_radius=0.1)`.
    A pin in a bore: `m.contact("bore", "pin.C", "plate.H", second_radius=0.01, inside=True)`.
    A box on the floor: `m.contact("floor", "box.C", "ground.O", box=(0.4, 0.2), normal=(0, 1))`.
    """

    kind = "contact"
    first = fields.Point("Point of the first body, or the centre of its circle, sphere or box.")
    second = fields.Point(
        "Point of the second body: a point on its line or plane, a centre, or an end of a capsule."
    )
    radius = fields.Scalar(
        "Radius around the first point; 0 for a corner.", unit="m", rule="non-negative", default=0.0
    )
    also = fields.FurtherPoints(
        "Further points of the first body with the same radius: corners, or ends of a capsule."
    )
    box = fields.OptionalVector(
        "Side lengths, along the axes of the first body, of a rectangle or box centred at the first"
        " point. Its corners make contact.",
        unit="m",
    )
    normal = fields.OptionalDirection(
        "Outward normal of the second body's line or plane, in its frame.", of="second"
    )
    second_radius = fields.OptionalScalar(
        "Radius around the second point, or around the rod of a capsule or arc.",
        unit="m",
        rule="positive",
    )
    inside = fields.Flag("Whether the first body is inside the second circle or sphere.")
    to = fields.OptionalPoint(
        "Other end of the second body's capsule, whose first end is the second point."
    )
    arc = fields.OptionalVector(
        "First and last angle of an arc around the second point, in the second body's frame (planar models"
        " only).",
        unit="rad",
    )
    arc_radius = fields.OptionalScalar(
        "Radius of the middle line of the arc.", unit="m", rule="positive"
    )

    def figures(self, model: ModelData) -> list[Figure]:
        kind = "wheel" if self.dimension == 2 else "ball"
        round_ones = [(self.first, self.radius)]
        if self.second_radius is not None and not self.inside and self.arc is None:
            round_ones.append((self.second, self.second_radius))
        return [Figure(kind, p, radius=r) for p, r in round_ones if not r.is_zero()]

    def check_given(self, model: ModelData) -> None:
        given = self.given
        if (given["normal"] is None) == (given["second_radius"] is None):
            none = given["normal"] is None
            problem = (
                "the second body has no surface" if none else "the second body has two surfaces"
            )
            raise ModelError(
                problem,
                element=self.label,
                remedy="give either normal (a line or plane) or second_radius (a circle or sphere)",
            )
        if given["normal"] is not None and (given["inside"] or given["to"] is not None):
            problem = "a line or plane has neither an inside nor a second end"
            raise ModelError(problem, element=self.label, remedy="omit inside and to")
        if given["inside"] and given["to"] is not None:
            problem = "a capsule has no inside here"
            raise ModelError(problem, element=self.label, remedy="omit inside")
        self._check_arc()
        if given["box"] is not None and given["also"]:
            problem = "box and also both give further points"
            raise ModelError(problem, element=self.label, remedy="omit one of them")

    def _check_arc(self) -> None:
        given = self.given
        if (given["arc"] is None) != (given["arc_radius"] is None):
            problem, remedy = "an arc needs two angles and a radius", "give arc and arc_radius"
            raise ModelError(problem, element=self.label, remedy=remedy)
        if given["arc"] is None:
            return
        if self.dimension == 3:
            problem, remedy = "an arc belongs to the plane", "give capsules along it instead"
            raise ModelError(problem, element=self.label, remedy=remedy)
        if given["normal"] is not None or given["inside"] or given["to"] is not None:
            problem = "an arc is a rod that is bent, with two sides and round ends"
            remedy = "give second_radius, its radius, and omit normal, inside and to"
            raise ModelError(problem, element=self.label, remedy=remedy)

    def prepare(self, model: ModelData) -> None:
        super().prepare(model)
        if self.box is not None:
            for k, side in enumerate(ca.vertsplit(self.box)):
                label = f"{self.label}: box, component {k + 1}"
                model.parameter_set.require(side, "positive", label)
        if self.arc is not None:
            span = self.arc[1] - self.arc[0]
            label = f"{self.label}: arc, last − first angle"
            model.parameter_set.require(span, "positive", label)
            model.parameter_set.require(
                2 * np.pi - span, "non-negative", f"{self.label}: arc, 2π − (last − first angle)"
            )
        if self.inside and self.second_radius is not None:
            play = self.second_radius - self.radius
            model.parameter_set.require(play, "positive", f"{self.label}: second_radius − radius")
        self._check_points()

    def _check_points(self) -> None:
        """Points of two bodies, each once."""
        bodies = {p.body for p in self._points}
        if len(bodies) > 1:
            names = ", ".join(sorted(repr(b.name) for b in bodies))
            problem = f"first and also are points of {names}"
            raise ModelError(problem, element=self.label, remedy="give points of one body")
        if self.second.body in bodies:
            problem = f"both surfaces belong to {self.second.body.name!r}"
            raise ModelError(problem, element=self.label, remedy="give points of two bodies")
        if len(set(self._points)) < len(self._points):
            raise ModelError("names a point twice", element=self.label, remedy="name it once")
        if self.to is not None and (self.to.body is not self.second.body or self.to is self.second):
            problem = f"{self.to.label!r} is no other point of {self.second.body.name!r}"
            raise ModelError(
                problem, element=self.label, remedy="give the other end of the capsule"
            )

    @property
    def _points(self) -> tuple[Point, ...]:
        return (self.first, *self.also) if self.box is None else corners(self.first, self.box)

    @property
    def bodies(self) -> tuple[Body, ...]:
        return self.second.body, self.first.body

    def contact_points(self) -> tuple[Point, ...]:
        return (self.first,) * len(self._points) if self.box is not None else self._points

    def gap_names(self) -> tuple[str, ...]:
        if not self.also and self.box is None:
            return (self.name,)
        return tuple(f"{self.name}.{point.name}" for point in self._points)

    def gaps(self, frames: Frames, state: State) -> Sequence[Gap]:
        return [self._gap(frames[self.second.body], frames[p.body], p) for p in self._points]

    def gap_distance(self, gap: SX) -> SX:
        if not self.inside or self.second_radius is None or not self.is_rigid:
            return gap
        return distance_inside(gap, self.second_radius - self.radius)

    def _gap(self, second: Frame, first: Frame, point: Point) -> Gap:
        c = first.position(point.local)
        gap, n = self._surface(second, c)
        if not self.has_friction:
            return Gap(gap)
        touched = c - self.radius * n
        relative = velocity_at(first, touched) - velocity_at(second, touched)
        if self.slip_components == 2:
            assert self.normal is not None
            tangents = [second.direction(tangent) for tangent in self.normal.normals]
            return Gap(gap, ca.vertcat(*[ca.dot(tangent, relative) for tangent in tangents]))
        return Gap(gap, along_surface(relative, n), n if self.dimension == 3 else None)

    @property
    def slip_components(self) -> int:
        if self.dimension == 2:
            return 1
        # two directions along a plane; a sphere has no continuous pair of tangents
        return 2 if self.is_rigid and self.normal is not None else 3

    def _surface(self, frame: Frame, c: SX) -> tuple[SX, SX]:
        """Gap, and the normal from the second body to the first."""
        o = frame.position(self.second.local)
        if self.normal is not None:
            n = frame.direction(self.normal.direction)
            return ca.dot(n, c - o) - self.radius, n
        assert self.second_radius is not None
        if self.inside:
            return gap_inside(c - o, self.second_radius - self.radius, rigid=self.is_rigid)
        if self.arc is not None and self.arc_radius is not None:
            φ, half = (self.arc[0] + self.arc[1]) / 2, (self.arc[1] - self.arc[0]) / 2
            middle = frame.direction(ca.vertcat(ca.cos(φ), ca.sin(φ)))
            distance, n = distance_from_arc(c - o, middle, self.arc_radius, half)
            return distance - self.radius - self.second_radius, n
        if self.to is not None:
            along = frame.position(self.to.local) - o
            share = ca.dot(c - o, along) / ca.sumsqr(along)
            o = o + ca.fmin(ca.fmax(share, 0), 1) * along
        # rigid bodies whose centres coincide overlap, and this should be reported
        distance = distance_between(c - o) if self.is_rigid else ca.norm_2(c - o)
        return distance - self.radius - self.second_radius, (c - o) / distance


def velocity_at(frame: Frame, place: SX) -> SX:
    """Velocity of the material point of a body at a place."""
    ω, arm = frame.angular_velocity, place - frame.origin
    return frame.origin_rate + spin(ω) @ arm


def along_surface(velocity: SX, n: SX) -> SX:
    """The tangential part of a velocity at a surface with normal n: in the plane a scalar, positive to
    the left of n; in space a vector.
    """
    if n.numel() == 2:
        return ca.dot(ca.vertcat(-n[1], n[0]), velocity)
    return velocity - ca.dot(n, velocity) * n
