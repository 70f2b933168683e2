"""The contents of a mechanism, and lookup of its objects by name. All packages downstream read
models through this class.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import ModelError, unknown_name
from ..core.names import DOT, SLASH, check_name
from ..core.symbols import SX
from .beam import Beam, BeamNode
from .body import Body, Frames, Point, RigidBody, check_same_mechanism
from .conditions import Coincident
from .contact_law import ContactLabel
from .driver import Driver
from .force import ForceLaw
from .frame import Frame, ground_frame
from .initial_conditions import Start
from .joint import EndJoint, Joint
from .own_coordinates import OwnCoordinate
from .parameter_set import ParameterSet
from .scalar_outputs import Distance, Slide, Turn, effort_unit, planar_angle

if TYPE_CHECKING:
    from .element import Element
    from .state import State

PointLike = Point | str
"""A point, or its name: 'body.point', or just 'point' if all points of that name are at one place.
"""


@dataclass(frozen=True)
class CallRecord:
    """A call of a builder method with its arguments."""

    method: str
    arguments: dict[str, Any]
    element: type[Element] | None = None
    """The element that the call made, if any."""


class ModelData:
    """Bodies, joints, forces, drivers and initial conditions of one mechanism."""

    def __init__(self, name: str, *, gravity: object = None, dimension: int | None = None):
        check_name("mechanism", name)
        self.name = name
        self.dimension = _dimension(name, gravity, dimension)
        self.parameter_set = ParameterSet(name)
        self.gravity = self.parameter_set.vector_of(
            (0.0,) * self.dimension if gravity is None else gravity,
            self.dimension,
            f"mechanism {name!r}: gravity",
            unit="m/s²",
        )
        self.ground: Body = RigidBody(
            "ground", self.dimension, SX(0), SX.zeros(self.dimension), SX(0), is_ground=True
        )
        self.bodies: dict[str, Body] = {"ground": self.ground}
        self.joints: dict[str, Joint] = {}
        self.forces: dict[str, ForceLaw] = {}
        self.drivers: dict[str, Driver] = {}
        self._joint_forces = 0
        """Number of the forces that belong to joints."""
        self.start_conditions: Start | None = None
        self.calls: list[CallRecord] = []
        """Calls of builder methods, in order: model files are written from them."""
        self.revision = 0
        """Counts changes, so that results derived from an older state of the model are not reused.
        """
        self._named: dict[str, list[Point]] = {}
        """Points by their own names, without the body."""
        self._groups: dict[Point, Point] = {}
        """Union-find parents: for each point that a joint puts at the place of another, a point
        nearer to the representative of the group.
        """
        self._points: dict[Body, dict[str, Point]] | None = None
        """Points at the time when this copy was frozen."""

    def frozen(self) -> ModelData:
        """Return a frozen copy of the model: quantities derived from it remain valid when the model
        grows.

        Raises:
            ModelError: for a name of a state or signal that no element has.
        """
        for force in self.forces.values():
            force.check_references(self)
        kept = ModelData.__new__(ModelData)
        kept.__dict__.update(self.__dict__)
        for name in ("bodies", "joints", "forces", "drivers"):
            setattr(kept, name, dict(getattr(self, name)))
        kept._named = {name: list(points) for name, points in self._named.items()}
        kept._groups = dict(self._groups)
        kept.calls = list(self.calls)
        kept.parameter_set = self.parameter_set.frozen()
        kept._points = {body: dict(body.points) for body in self.bodies.values()}
        return kept

    def record(
        self, method: str, arguments: dict[str, object], element: type[Element] | None
    ) -> None:
        """Count a change and store the call; lists and arrays in it are copied, so that later
        changes to them have no effect.
        """
        kept = {name: _copied(value) for name, value in arguments.items()}
        self.calls.append(CallRecord(method, kept, element))
        self.revision += 1

    def points_of(self, body: Body) -> dict[str, Point]:
        """Points of a body, by name."""
        return body.points if self._points is None else self._points[body]

    @property
    def label(self) -> str:
        """Name of the mechanism in messages: "mechanism 'crane'"."""
        return f"mechanism {self.name!r}"

    @property
    def all_points(self) -> list[Point]:
        """All points of all bodies."""
        return [p for b in self.bodies.values() for p in self.points_of(b).values()]

    def points_named(self, name: str) -> list[Point]:
        """All points with this name, of any body."""
        return self._named.get(name, [])

    @property
    def short_names(self) -> list[str]:
        """Names of points without their bodies; inner nodes of beams have none."""
        return list(self._named)

    @property
    def moving_bodies(self) -> list[Body]:
        """All bodies but the ground."""
        return [b for b in self.bodies.values() if not b.is_ground]

    @property
    def beams(self) -> list[Beam]:
        """All beams."""
        return [b for b in self.bodies.values() if isinstance(b, Beam)]

    def find_body(self, body: Body | str) -> Body:
        """Return a body by name."""
        if isinstance(body, Body):
            check_same_mechanism(body, self.bodies, f"mechanism {self.name!r}")
            return body
        if body not in self.bodies:
            raise unknown_name("body", body, self.bodies)
        return self.bodies[body]

    def find_rigid_body(self, body: Body | str, user: str) -> RigidBody:
        """Return a rigid body by name; refuse a beam."""
        named = self.find_body(body)
        if not isinstance(named, RigidBody):
            problem = (
                f"{named.name!r} is a beam, which has no single orientation and no points but"
                " its nodes"
            )
            raise ModelError(problem, element=user, remedy="name these instead")
        return named

    def find_beam_parts(
        self, beam: str, number: int | None, first: int, kind: str
    ) -> tuple[Beam, range]:
        """Return a beam by name, and one of its segments or inner nodes by number, or all of them."""
        named = self.find_body(beam)
        if not isinstance(named, Beam):
            raise ModelError(
                f"{named.name!r} is a rigid body; only beams have internal forces and moments",
                value=named.name,
            )
        if number is None:
            return named, range(first, named.segments)
        if first == named.segments:
            raise ModelError(f"beam {named.name!r} has a single segment, so no {kind}")
        if (
            isinstance(number, bool)
            or not isinstance(number, Integral)
            or not first <= number < named.segments
        ):
            raise ModelError(
                f"beam {named.name!r} has no {kind} {number!r}: they are counted from {first} to"
                f" {named.segments - 1}"
            )
        return named, range(int(number), int(number) + 1)

    def clamps_of(self, beam: Beam) -> list[EndJoint]:
        """Joints that clamp the ends of a beam."""
        return [j for j in self.joints.values() if isinstance(j, EndJoint) and j.beam is beam]

    def find_turning(self, object_or_name: Body | Point | str, user: str) -> Body | BeamNode:
        """Return an object on which a torque can act: a rigid body, or a point of a beam."""
        if not isinstance(object_or_name, Point) and (
            isinstance(object_or_name, Body) or not self._is_point(object_or_name)
        ):
            body = self.find_body(object_or_name)
            if isinstance(body, Beam):
                problem = f"beam {body.name!r} has a rotation that varies along its length"
                remedy = f"name one of its points, such as {body.nodes[-1].label!r}"
                raise ModelError(problem, element=user, remedy=remedy)
            return body
        point = self.find_point(object_or_name)
        if not isinstance(point.body, Beam):
            problem = f"{point.label!r} is a point of a rigid body"
            raise ModelError(problem, element=user, remedy=f"name the body, {point.body.name!r}")
        return BeamNode(point)

    def find_point(self, point: PointLike) -> Point:
        """Return a point by its full name 'body.point', or by its own name if all points of that
        name are joined at one place.
        """
        if isinstance(point, Point):
            check_same_mechanism(point.body, self.bodies, f"point {point.label!r}")
            return point
        body, dot, name = str(point).rpartition(".")
        if dot and body in self.bodies:
            points = self.points_of(self.bodies[body])
            if name not in points:
                raise unknown_name(f"point of body {body!r}", name, points)
            return points[name]
        matches = self.points_named(str(point))
        if not matches:
            raise unknown_name(
                "point",
                point,
                {p.label for p in self.all_points} | {p.name for p in self.all_points},
            )
        if len(matches) > 1 and not self.joined(matches):
            options = ", ".join(repr(p.label) for p in matches)
            problem = f"point {point!r} is not one place: {options}"
            raise ModelError(
                problem, value=str(point), remedy="write the full name, or join them first"
            )
        return matches[0]

    def _is_point(self, name: str) -> bool:
        """Whether a text names a point, and not a body."""
        return name not in self.bodies and (
            name in self._named or name.rpartition(".")[0] in self.bodies
        )

    def find_angle(self, turn: Joint | Body | str) -> Turn:
        """Return the angle of a joint that turns, or of a planar body relative to the ground."""
        name = self.name_of(turn)
        if name in self.joints:
            measure = self.joints[name].angle()
            if measure is None:
                raise ModelError(f"joint {name!r} is {self.joints[name].kind}: it has no angle")
            return measure
        if name in self.bodies:
            if self.dimension == 3:
                problem = f"body {name!r} is spatial: it has no single angle"
                raise ModelError(problem, remedy="use a joint's angle or its orientation")
            return planar_angle(self.ground, self.bodies[name])
        raise unknown_name("body or joint", name, [*self.bodies, *self.joints])

    def name_of_angle(self, turn: Turn) -> str | None:
        """The body or joint whose angle this is, if any."""
        joints = [j.name for j in self.joints.values() if j.bodies == turn.bodies]
        planar = self.dimension == 2 and turn.first.is_ground and turn.second.name in self.bodies
        names = [name for name in joints if self.joints[name].angle() is not None]
        names += [turn.second.name] if planar else []
        return next((name for name in names if self.find_angle(name).same(turn)), None)

    def find_displacement(self, joint: Joint | str) -> Slide:
        """Return the displacement of a joint that slides."""
        name = self.name_of(joint)
        if name not in self.joints:
            raise unknown_name("joint", name, self.joints)
        measure = self.joints[name].displacement()
        if measure is None:
            raise ModelError(f"joint {name!r} is {self.joints[name].kind}: it has no displacement")
        return measure

    def find_distance(self, first: PointLike, second: PointLike, user: str) -> Distance:
        """Return the distance between two different points."""
        p, q = self.find_point(first), self.find_point(second)
        if self.joined([p, q]):
            raise ModelError(
                f"{p.label!r} and {q.label!r} are at the same place, so their distance is always zero",
                element=user,
            )
        return Distance(p, q)

    def joined(self, points: list[Point]) -> bool:
        """Whether joints put all these points at one place."""
        return len({self.place_of(p) for p in points}) == 1

    def place_of(self, point: Point) -> Point:
        """Representative of all points that joints put at the same place."""
        return _root(self._groups, point)

    def potential_energy(self, frames: Frames, state: State) -> SX:
        """Potential energy of gravity, deformed beams, and all conservative forces (J)."""
        bodies = sum(
            (b.potential_energy(frames[b], self.gravity) for b in self.moving_bodies), SX(0)
        )
        return sum((f.potential_energy(frames, state) for f in self.forces.values()), bodies)

    def kinetic_energy(self, frames: Frames) -> SX:
        """Kinetic energy of all bodies (J)."""
        return sum((b.kinetic_energy(frames[b]) for b in self.moving_bodies), SX(0))

    @property
    def effort_units(self) -> dict[str, str]:
        """Units of efforts by the names of drivers, and of forces that impose a constraint."""
        drivers = {d.name: d.output.unit for d in self.drivers.values()}
        for force in self.forces.values():
            drivers |= force.effort_names()
        return {name: effort_unit(unit) for name, unit in drivers.items()}

    @property
    def own_coordinates(self) -> list[OwnCoordinate]:
        """Coordinates that elements own, in order, and the slacks of their events and contacts."""
        return [
            c
            for force in self.forces.values()
            for c in (
                *force.coordinates(),
                *[
                    OwnCoordinate(slack, 2, initial=None, is_slack=True)
                    for event in force.events()
                    for slack in event.slacks
                ],
                *[
                    OwnCoordinate(slack, 2, initial=None, unit=label.unit, is_slack=True)
                    for label in force.contact_labels()
                    for slack in label.slacks
                ],
                *[
                    OwnCoordinate(slack, 2, initial=None, is_slack=True)
                    for slack in force.velocity_slacks()
                ],
            )
        ]

    @property
    def signals(self) -> dict[str, tuple[ForceLaw, int]]:
        """Elements that provide signals, each with the index of the signal in that element, by name
        of the signal.
        """
        forces = self.forces.values()
        return {name: (f, k) for f in forces for k, name in enumerate(f.signal_units())}

    @property
    def clearance_joints(self) -> dict[str, ForceLaw]:
        """Joints with clearance, by name."""
        return {name: force for name, force in self.forces.items() if force.has_clearance}

    @property
    def contact_labels(self) -> list[ContactLabel]:
        """Unilateral contacts of all elements, in their order."""
        return [label for force in self.forces.values() for label in force.contact_labels()]

    @property
    def has_events(self) -> bool:
        """Whether motions have events: contact, dry friction, or declared events."""
        return any(f.contact_labels() or f.events() for f in self.forces.values())

    def ground_frame(self) -> Frame:
        """The frame of the ground."""
        return ground_frame(self.dimension)

    def name_of(self, object_or_name: Joint | Body | str) -> str:
        """Return the name of a body or joint of this mechanism, given as an object or by name."""
        if isinstance(object_or_name, str):
            return object_or_name
        if not isinstance(object_or_name, (Joint, Body)):
            raise ModelError(f"{object_or_name!r} is not the name of a body or a joint")
        if object_or_name is not self.joints.get(
            object_or_name.name
        ) and object_or_name is not self.bodies.get(object_or_name.name):
            raise ModelError(
                f"{object_or_name.name!r} belongs to another mechanism than {self.name!r}"
            )
        return object_or_name.name

    def add_body(self, body: Body) -> None:
        """Add a body and its points."""
        for point in body.points.values():
            if body.is_rigid or point.name in (body.spine[0], body.spine[-1]):
                self._named.setdefault(point.name, []).append(point)
        self.bodies[body.name] = body

    def add_point(self, point: Point) -> Point:
        """Add a point to its body."""
        point.body.points[point.name] = point
        self._named.setdefault(point.name, []).append(point)
        return point

    def add_joint(self, joint: Joint) -> Joint:
        """Add a joint, and record which points it puts at one place."""
        self.joints[joint.name] = joint
        for condition in joint.conditions():
            if isinstance(condition, Coincident):
                first, second = (
                    _root(self._groups, condition.first),
                    _root(self._groups, condition.second),
                )
                self._groups[first] = second
                self._groups.setdefault(second, second)
        return joint

    def add_force(self, force: ForceLaw) -> None:
        """Add a force; the coordinates that it owns must have new names."""
        self._check_coordinates(force)
        for name in force.signal_units():
            self.check_free(name, [self.signals])
        self.forces[force.name] = force
        self._add_modes(force)

    def _add_modes(self, force: ForceLaw) -> None:
        """Add the modes of its contacts and of the resets of its events."""
        for label in force.contact_labels():
            self.parameter_set.add_modes(label.modes)
        for event in force.events():
            self.parameter_set.add_modes([] if event.reset_mode is None else [event.reset_mode])

    def _check_coordinates(self, force: ForceLaw) -> None:
        if own := force.coordinates():
            taken = {c.name for c in self.own_coordinates} | self.parameter_set.modes.keys()
            for coordinate in own:
                if coordinate.name in taken:
                    problem = f"{force.name!r}: there is a state {coordinate.name!r} already"
                    raise ModelError(problem, remedy="give it another name")

    def add_joint_force(self, force: ForceLaw) -> None:
        """Add a force that a joint exerts: before all others, in the order of a file, so that sums
        are the same to the last bit.
        """
        entries = list(self.forces.items())
        entries.insert(self._joint_forces, (force.name, force))
        self.forces = dict(entries)
        self._joint_forces += 1
        self._add_modes(force)

    def check_point(self, name: Any, taken: Container[str]) -> None:
        """Check the name of a new point."""
        check_name("point", name, SLASH + DOT)
        self.check_free(name, [taken])

    def check_new(self, noun: str, name: Any, reserved: str = SLASH) -> None:
        """Check the name of a new element."""
        check_name(noun, name, reserved)
        self.check_free(name, [self.bodies, self.joints, self.forces, self.drivers, ("gravity",)])

    def check_free(self, name: str, taken: Iterable[Container[str]]) -> None:
        """Refuse a name that is already in use."""
        if any(name in names for names in taken):
            raise ModelError(
                f"the name {name!r} is already used in mechanism {self.name!r}",
                remedy="choose another name",
            )


def _copied(value: object) -> object:
    if isinstance(value, dict):
        return {key: _copied(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_copied(each) for each in value]
    return value.copy() if isinstance(value, np.ndarray) else value


def _root(groups: dict[Point, Point], point: Point) -> Point:
    root = point
    while (further := groups.get(root, root)) is not root:
        root = further
    while (further := groups.get(point, point)) is not root and further is not point:
        groups[point], point = root, further  # path compression: the next search is short
    return root


def _dimension(name: str, gravity: object, dimension: int | None) -> int:
    if dimension not in (None, 2, 3):
        raise ModelError(
            "must be 2 (planar) or 3 (spatial)",
            element=f"mechanism {name!r}",
            field="dimension",
            value=dimension,
        )
    if dimension is not None or gravity is None:
        return dimension or 2
    size = getattr(gravity, "__len__", lambda: 0)()
    if size not in (2, 3):
        problem = "must have 2 (planar) or 3 (spatial) components"
        raise ModelError(problem, element=f"mechanism {name!r}", field="gravity", value=gravity)
    return int(size)
