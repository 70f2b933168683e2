"""The model: a mechanism as data, built by the words an engineer uses.

Each method checks what it is given, at the call, before anything changes. `Mechanism` adds the verbs (simulate, sensitivity, …).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import casadi as ca
import numpy as np

from ..errors import ModelError, unknown_name
from ..symbols import SX
from .body import Body, Frames, Point, check_same_mechanism
from .conditions import Axis, Coincident
from .drivers import Driver
from .forces import Force, PointForce, Spring, Torque
from .frame import Frame, ground_frame
from .joints import JOINTS, Joint, JointData, planar_turn
from .measures import Coordinate, Measure, Slide, Span, Turn
from .numbers import Numbers
from .parameter import Parameter
from .start import HeldMeasure, HeldOrientation, Hold, Start
from .state import State, as_column

F = TypeVar("F", bound=Force)
Number = Any
"""A number, a `Parameter`, or an expression of parameters."""
PointLike = Point | str
"""A point, or its name: 'body.point', or just 'point' where only one place has that name."""


class Model:
    """Bodies, joints, forces, drivers and the start of one mechanism."""

    def __init__(self, name: str, *, gravity: Any = None, dimension: int | None = None):
        if dimension not in (None, 2, 3):
            raise ModelError(f"mechanism {name!r}: dimension = {dimension!r} must be 2 (planar) or 3 (spatial)")
        if dimension is None:
            dimension = 2 if gravity is None else len(gravity)
            if dimension not in (2, 3):
                raise ModelError(f"mechanism {name!r}: gravity = {gravity!r} must have 2 or 3 components")
        self.name = name
        self.dimension = dimension
        self.numbers = Numbers(name)
        self.gravity = self.numbers.vector_of(
            (0.0,) * dimension if gravity is None else gravity, dimension, f"mechanism {name!r}: gravity"
        )
        zero = SX.zeros(dimension)
        self.ground = Body("ground", dimension, SX(0), zero, SX(0), is_ground=True)
        self.bodies: dict[str, Body] = {"ground": self.ground}
        self.joints: dict[str, Joint] = {}
        self.forces: dict[str, Force] = {}
        self.drivers: dict[str, Driver] = {}
        self.start_conditions: Start | None = None
        self.revision = 0
        """Counts changes, so that what was derived from an older state of the model is not used again."""

    # parameters, bodies and points

    def parameter(
        self,
        name: str,
        value: float,
        *,
        unit: str = "",
        bounds: tuple[float | None, float | None] | None = None,
        spread: Any = None,
    ) -> Parameter:
        """A named number that may change: nominal value, unit, bounds, and its spread in manufacture.

        >>> import varimech as vm
        >>> m = vm.Mechanism("pendulum", gravity=(0, -9.81))
        >>> L = m.parameter("L", 1.0, unit="m", bounds=(0.5, 2.0), spread=vm.Tolerance(0.01))
        >>> L / 2
        SX((L/2))
        """
        self._check_name("parameter", name, ())
        parameter = Parameter(name, value, unit=unit, bounds=bounds, spread=spread)
        self.numbers.add(parameter)
        self.revision += 1
        return parameter

    @property
    def parameters(self) -> dict[str, Parameter]:
        """All parameters by name."""
        return dict(self.numbers.parameters)

    def body(
        self,
        name: str,
        *,
        mass: Number,
        inertia: Number,
        com: Any = None,
        points: Mapping[str, Any] | None = None,
        floating: bool = False,
        spine: tuple[str, ...] | None = None,
    ) -> Body:
        """A rigid body.

        Args:
            name: its name.
            mass: kg, positive.
            inertia: about the centre of mass, kg·m²: a number (planar); three principal values or a 3×3 matrix in body axes (spatial).
            com: centre of mass in the body's frame, m; its origin if not given. It is also the point 'com'.
            points: named points in the body's frame, m.
            floating: True for a body that is meant to have no path of joints to the ground.
            spine: points to join by a line in drawings; all of them if not given.
        """
        self._check_new(name)
        label = f"body {name!r}"
        n, dimension = self.numbers, self.dimension
        mass_ = n.scalar(mass, f"{label}: mass", "positive")
        com_ = n.vector_of((0.0,) * dimension if com is None else com, dimension, f"{label}: com")
        locals_ = {k: n.vector_of(v, dimension, f"{label}: point {k!r}") for k, v in (points or {}).items()}
        body = Body(
            name,
            dimension,
            mass_,
            com_,
            self._inertia(inertia, label),
            floating=floating,
            spine=tuple(locals_) if spine is None else spine,
        )
        for point_name, local in {"com": com_, **locals_}.items():
            body.points[point_name] = Point(body, point_name, local)
        self.bodies[name] = body
        self.revision += 1
        return body

    def bar(
        self,
        name: str,
        start: str,
        end: str,
        *,
        length: Number,
        mass: Number,
        com: Number = None,
        inertia: Number = None,
        radius: Number = 0.0,
        points: Mapping[str, Any] | None = None,
        floating: bool = False,
    ) -> Body:
        """A straight bar along its own x axis, with a named point at each end.

        Args:
            name: its name.
            start: name of the point at its origin.
            end: name of the point at x = length.
            length: m, positive.
            mass: kg, positive.
            com: distance of the centre of mass from `start`, m; half the length if not given.
            inertia: about the centre of mass, kg·m²; that of a uniform bar if not given (m L²/12; in space a solid cylinder).
            radius: of that cylinder, m (spatial bars only).
            points: further named points, m.
            floating: True for a bar that is meant to have no path of joints to the ground.
        """
        label = f"bar {name!r}"
        n = self.numbers
        L = n.scalar(length, f"{label}: length", "positive")
        m = n.scalar(mass, f"{label}: mass", "positive")
        r = n.scalar(radius, f"{label}: radius", "non-negative")
        x = L / 2 if com is None else n.scalar(com, f"{label}: com")
        if start == end:
            raise ModelError(f"{label}: both ends are called {start!r}; give them different names")
        rest = [0.0] * (self.dimension - 1)
        if inertia is None:
            transverse = m * (L**2 + 3 * r**2) / 12
            inertia = transverse if self.dimension == 2 else [m * r**2 / 2, transverse, transverse]
        return self.body(
            name,
            mass=m,
            inertia=inertia,
            com=[x, *rest],
            points={start: [0.0, *rest], end: [L, *rest], **(points or {})},
            floating=floating,
            spine=(start, end),
        )

    def point(self, body: Body | str, name: str, local: Any) -> Point:
        """A further named point of a body (or of the ground), m in the body's frame."""
        body = self.find_body(body)
        self._check_name("point", name, body.points)
        point = Point(body, name, self.numbers.vector_of(local, self.dimension, f"point {body.name}.{name}"))
        body.points[name] = point
        self.revision += 1
        return point

    def ground_point(self, name: str, position: Any) -> Point:
        """A named point of the ground, m."""
        return self.point(self.ground, name, position)

    # joints

    def revolute(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        axis: Any = None,
        axis_on_second: Any = None,
    ) -> Joint:
        """A hinge: two points coincide and, in space, share an axis.

        `revolute("A")` alone joins the two bodies that have a point called "A". In space `axis` is given in the first body's frame;
        `axis_on_second` in the second's (the same components if not given). The reaction is the force on the second body.
        """
        return self._joint("revolute", name, first, second, axis, axis_on_second)

    def prismatic(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        axis: Any,
        rotation: Any = None,
    ) -> Joint:
        """A slider: the second point moves along a line of the first body, without turning.

        `axis` is in the first body's frame. `rotation` is the constant orientation of the second body relative to the first:
        an angle in the plane, a 3×3 matrix in space (see `varimech.rotation`); aligned if not given.
        """
        return self._joint("prismatic", name, first, second, axis, rotation=rotation)

    def fixed(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        rotation: Any = None,
    ) -> Joint:
        """A weld: points coincide and the second body keeps the given orientation relative to the first (aligned if not given)."""
        return self._joint("fixed", name, first, second, rotation=rotation)

    def point_on_line(self, name: str, first: PointLike | None = None, second: PointLike | None = None, *, axis: Any) -> Joint:
        """The second point stays on the line through the first point along `axis` (first body's frame)."""
        return self._joint("point-on-line", name, first, second, axis)

    def distance(self, name: str, first: PointLike | None = None, second: PointLike | None = None, *, length: Number) -> Joint:
        """Two points keep a distance (m, positive), like the ends of a massless rod."""
        return self._joint("distance", name, first, second, length=length)

    def spherical(self, name: str, first: PointLike | None = None, second: PointLike | None = None) -> Joint:
        """A ball joint (space): two points coincide."""
        return self._joint("spherical", name, first, second)

    def cylindrical(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        axis: Any,
        axis_on_second: Any = None,
    ) -> Joint:
        """A sleeve on a shaft (space): the bodies share a line, turn about it and slide along it."""
        return self._joint("cylindrical", name, first, second, axis, axis_on_second)

    def universal(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        axis: Any,
        axis_on_second: Any,
    ) -> Joint:
        """A Hooke joint (space): points coincide, an axis of each body stays at right angles to one of the other."""
        return self._joint("universal", name, first, second, axis, axis_on_second)

    def point_on_plane(self, name: str, first: PointLike | None = None, second: PointLike | None = None, *, normal: Any) -> Joint:
        """The second point stays on the plane through the first point (space); `normal` in the first body's frame."""
        return self._joint("point-on-plane", name, first, second, normal)

    # forces

    def spring(
        self,
        name: str,
        first: PointLike,
        second: PointLike,
        *,
        stiffness: Number,
        natural_length: Number,
        damping: Number = 0.0,
    ) -> Spring:
        """A linear spring (N/m) with natural length (m), and optionally a damper (N·s/m), between two points."""
        rest = self.numbers.scalar(natural_length, f"spring {name!r}: natural_length", "non-negative")
        return self._spring("spring", name, self._span(first, second, name), stiffness, rest, damping)

    def damper(self, name: str, first: PointLike, second: PointLike, *, damping: Number) -> Spring:
        """A linear damper (N·s/m) between two points."""
        return self._spring("damper", name, self._span(first, second, name), 0.0, 0.0, damping)

    def torsional_spring(
        self, name: str, turn: Joint | Body | str, *, stiffness: Number, rest_angle: Number = 0.0, damping: Number = 0.0
    ) -> Spring:
        """A spring (N·m/rad), and optionally a damper (N·m·s/rad), on the angle of a joint or of a planar body."""
        measure = self.find_turn(turn)
        return self._spring("torsional spring", name, measure, stiffness, rest_angle, damping)

    def torsional_damper(self, name: str, turn: Joint | Body | str, *, damping: Number) -> Spring:
        """A damper (N·m·s/rad) on the angle of a joint or of a planar body."""
        return self._spring("torsional damper", name, self.find_turn(turn), 0.0, 0.0, damping)

    def force(self, name: str, point: PointLike, value: Any, *, frame: str = "global") -> PointForce:
        """A force (N) on a point: components, or a function of the state that returns them.

        A constant: `m.force("push", "rod.tip", (10, 0))`. Of time or state: `m.force("push", "rod.tip", lambda s: (vm.sin(s.time), 0))`.
        `frame="body"` takes the components along the body's axes.
        """
        self._check_new(name)
        in_body = self._is_body_frame(f"force {name!r}", frame)
        function = self._vector_function(f"force {name!r}", value, self.dimension)
        return self._add_force(PointForce(name, self.find_point(point), function, in_body))

    def torque(
        self,
        name: str,
        body: Body | str,
        value: Any,
        *,
        against: Body | str | None = None,
        frame: str = "global",
    ) -> Torque:
        """A torque (N·m) on a body: a number in the plane, components in space, or a function of the state.

        `against` is a second body that takes the opposite torque (a motor between two bodies).
        """
        self._check_new(name)
        in_body = self._is_body_frame(f"torque {name!r}", frame)
        if in_body and self.dimension == 2:
            raise ModelError(f"torque {name!r}: frame='body' means nothing in the plane; leave it out")
        size = 1 if self.dimension == 2 else 3
        function = self._vector_function(f"torque {name!r}", value, size)
        other = None if against is None else self.find_body(against)
        return self._add_force(Torque(name, self.find_body(body), other, function, in_body))

    # drivers

    def drive_angle(self, name: str, turn: Joint | Body | str, motion: Any) -> Driver:
        """Impose the angle of a joint or of a planar body as a function of time, rad: `m.drive_angle("motor", "crank", lambda t: 6*t)`."""
        return self._driver(name, self.find_turn(turn), motion)

    def drive_displacement(self, name: str, joint: Joint | str, motion: Any) -> Driver:
        """Impose the displacement of a joint that slides as a function of time, m."""
        return self._driver(name, self.find_slide(joint), motion)

    def drive_distance(self, name: str, first: PointLike, second: PointLike, motion: Any) -> Driver:
        """Impose the distance of two points as a function of time, m (positive)."""
        return self._driver(name, self._span(first, second, name), motion)

    def drive_coordinate(self, name: str, point: PointLike, direction: Any, motion: Any) -> Driver:
        """Impose the component of a point's position along a global direction as a function of time, m."""
        axis = self._axis(self.ground, direction, f"driver {name!r}: direction")
        return self._driver(name, Coordinate(self.find_point(point), axis.direction), motion)

    # the start

    def start(
        self,
        *,
        angle: Mapping[str, Number] | None = None,
        displacement: Mapping[str, Number] | None = None,
        distance: Mapping[tuple[str, str], Number] | None = None,
        position: Mapping[str, Any] | None = None,
        orientation: Mapping[str, Any] | None = None,
        speed: Mapping[Any, Any] | None = None,
        near: Mapping[str, Any] | None = None,
    ) -> None:
        """Say how the mechanism starts: one value for each freedom; the rest is assembled from them.

        Args:
            angle: of planar bodies or of joints that turn, rad.
            displacement: of joints that slide, m.
            distance: between two named points, m: {("1", "B"): 2.0}.
            position: of points, m; None leaves a component open: {"P": (0.5, None)}.
            orientation: of spatial bodies, a 3×3 matrix (see `varimech.rotation`).
            speed: rate of any of the above by the same key (rad/s, m/s; vectors for positions and orientations); zero if not given.
            near: rough angles (planar) or orientations (spatial) of bodies, or positions of points, that choose between two ways to assemble.
        """
        speeds = dict(speed or {})
        holds: list[Hold] = []
        for name, value in (angle or {}).items():
            holds.append(self._hold(f"angle of {name!r}", self.find_turn(name), value, speeds.pop(name, 0.0)))
        for name, value in (displacement or {}).items():
            holds.append(self._hold(f"displacement of {name!r}", self.find_slide(name), value, speeds.pop(name, 0.0)))
        for pair, value in (distance or {}).items():
            measure = self._span(pair[0], pair[1], "start")
            holds.append(self._hold(f"distance of {pair[0]!r} and {pair[1]!r}", measure, value, speeds.pop(pair, 0.0)))
        for name, value in (position or {}).items():
            holds += self._held_position(name, value, speeds.pop(name, None))
        for name, value in (orientation or {}).items():
            holds.append(self._held_orientation(name, value, speeds.pop(name, (0.0, 0.0, 0.0))))
        if speeds:
            raise ModelError(
                f"start: speed is given for {', '.join(map(repr, speeds))}, whose value is not given; "
                "give its angle, displacement, distance, position or orientation too"
            )
        rotations, positions = self._guesses(near or {})
        self.start_conditions = Start(tuple(holds), rotations, positions)
        self.revision += 1

    # looking things up

    @property
    def moving_bodies(self) -> list[Body]:
        """All bodies but the ground."""
        return [b for b in self.bodies.values() if not b.is_ground]

    def find_body(self, body: Body | str) -> Body:
        """A body by name."""
        if isinstance(body, Body):
            check_same_mechanism(body, self.bodies, f"mechanism {self.name!r}")
            return body
        if body not in self.bodies:
            raise unknown_name("body", body, self.bodies)
        return self.bodies[body]

    def find_point(self, point: PointLike) -> Point:
        """A point by its full name 'body.point', or by its own name if all points so called are joined at one place."""
        if isinstance(point, Point):
            check_same_mechanism(point.body, self.bodies, f"point {point.label!r}")
            return point
        body, dot, name = str(point).rpartition(".")
        if dot and body in self.bodies:
            return self.bodies[body].point(name)
        found = [b.points[point] for b in self.bodies.values() if point in b.points]
        if not found:
            labels = {p.label for b in self.bodies.values() for p in b.points.values()}
            names = {p.name for b in self.bodies.values() for p in b.points.values()}
            raise unknown_name("point", point, labels | names)
        if len(found) > 1 and not self.joined(found):
            options = ", ".join(repr(p.label) for p in found)
            raise ModelError(f"point {point!r} is not one place: {options}; write the full name")
        return found[0]

    def find_turn(self, turn: Joint | Body | str) -> Turn:
        """The angle of a joint that turns, or of a planar body against the ground."""
        name = turn if isinstance(turn, str) else turn.name
        if name in self.joints:
            measure = self.joints[name].turn
            if measure is None:
                raise ModelError(f"joint {name!r} is {self.joints[name].kind}: it has no angle")
            return measure
        if name in self.bodies:
            if self.dimension == 3:
                raise ModelError(f"body {name!r} is spatial: it has no single angle; use a joint's angle or its orientation")
            return planar_turn(self.ground, self.bodies[name])
        raise unknown_name("body or joint", name, [*self.bodies, *self.joints])

    def find_slide(self, joint: Joint | str) -> Slide:
        """The displacement of a joint that slides."""
        name = joint if isinstance(joint, str) else joint.name
        if name not in self.joints:
            raise unknown_name("joint", name, self.joints)
        measure = self.joints[name].slide
        if measure is None:
            raise ModelError(f"joint {name!r} is {self.joints[name].kind}: it has no displacement")
        return measure

    def potential_energy(self, frames: Frames) -> SX:
        """Energy of gravity and of all forces that have one (J)."""
        weight = [-b.mass * ca.dot(self.gravity, frames[b].position(b.com)) for b in self.moving_bodies]
        return sum((f.potential_energy(frames) for f in self.forces.values()), sum(weight, SX(0)))

    def ground_frame(self) -> Frame:
        """The frame of the ground."""
        return ground_frame(self.dimension)

    # how names, axes and values are checked

    def _check_name(self, kind: str, name: Any, taken: Any) -> None:
        if not isinstance(name, str) or not name.strip():
            raise ModelError(f"a {kind} needs a name (a non-empty text), not {name!r}")
        if name in taken:
            raise ModelError(f"two things are called {name!r} in mechanism {self.name!r}; choose another name")

    def _check_new(self, name: Any) -> None:
        self._check_name("thing", name, {**self.bodies, **self.joints, **self.forces, **self.drivers})

    def _inertia(self, inertia: Number, label: str) -> SX:
        label = f"{label}: inertia"
        if self.dimension == 2:
            return self.numbers.scalar(inertia, label, "inertia")
        try:
            entries = list(inertia) if not isinstance(inertia, SX) else None
        except TypeError:
            raise ModelError(f"{label} = {inertia!r}: in space give three principal values or a 3×3 matrix") from None
        if entries is not None and len(entries) == 3 and all(np.ndim(e) == 0 or isinstance(e, SX) for e in entries):
            matrix = ca.diag(self.numbers.vector_of(entries, 3, label))
        else:
            matrix = self.numbers.matrix_of(inertia, 3, label)
        value = self.numbers.evaluate(ca.densify(matrix))
        if not np.allclose(value, value.T, rtol=1e-9, atol=0):
            raise ModelError(f"{label} must be a symmetric matrix")
        self.numbers.require(ca.densify(matrix), "inertia", label)
        return matrix

    def _axis(self, body: Body, direction: Any, label: str) -> Axis:
        d = self.numbers.vector_of(direction, self.dimension, label)
        value = self.numbers.evaluate(ca.densify(d)).ravel()
        length = float(np.linalg.norm(value))
        if length == 0:
            raise ModelError(f"{label} = {direction!r} has no direction; give a vector that is not zero")
        d = d / ca.norm_2(d)
        if self.dimension == 2:
            return Axis(body, d, (ca.vertcat(d[1], -d[0]),))
        # the coordinate axis least aligned with d is a safe start for a normal
        helper = SX.eye(3)[:, int(np.argmin(np.abs(value)))]
        first = ca.cross(d, ca.densify(helper))
        first = first / ca.norm_2(first)
        return Axis(body, d, (first, ca.cross(d, first)))

    def _relative(self, rotation: Any, label: str) -> SX:
        if rotation is None:
            return SX.eye(self.dimension)
        if self.dimension == 2:
            c = self.numbers.scalar(rotation, label)
            return ca.vertcat(ca.horzcat(ca.cos(c), -ca.sin(c)), ca.horzcat(ca.sin(c), ca.cos(c)))
        return self._rotation_matrix(rotation, label)

    def _rotation_matrix(self, value: Any, label: str) -> SX:
        matrix = self.numbers.matrix_of(value, 3, label)
        R = self.numbers.evaluate(matrix)
        if not (np.allclose(R.T @ R, np.eye(3), atol=1e-9) and np.linalg.det(R) > 0):
            raise ModelError(f"{label} must be a rotation matrix (orthonormal, right-handed); see varimech.rotation")
        return matrix

    def _joint(
        self,
        kind: str,
        name: str,
        first: PointLike | None,
        second: PointLike | None,
        axis: Any = None,
        axis_on_second: Any = None,
        *,
        rotation: Any = None,
        length: Any = None,
    ) -> Joint:
        self._check_new(name)
        rules, label = JOINTS[kind], f"{kind} joint {name!r}"
        if self.dimension not in rules.dimensions:
            raise ModelError(f"{label}: mechanism {self.name!r} is planar; use {rules.instead} instead")
        p, q = self._ends(label, name, first, second)
        if p.body is q.body:
            raise ModelError(f"{label}: both points are on body {p.body.name!r}; a joint connects two bodies")
        axes: list[Axis | None] = [None, None]
        if self.dimension in rules.axis:
            if axis is None:
                raise ModelError(f"{label} needs an axis in space, such as axis=(0, 0, 1)")
            axes[0] = self._axis(p.body, axis, f"{label}: axis")
            axes[1] = self._axis(q.body, axis if axis_on_second is None else axis_on_second, f"{label}: axis_on_second")
        elif axis is not None:
            raise ModelError(f"{label}: axis = {axis!r} means nothing in the plane; leave it out")
        data = JointData(
            p,
            q,
            axes[0],
            axes[1],
            relative=self._relative(rotation, f"{label}: rotation"),
            length=None if length is None else self.numbers.scalar(length, f"{label}: length", "positive"),
        )
        joint = Joint(name, kind, data, rules.build(data))
        self.joints[name] = joint
        self.revision += 1
        return joint

    def _ends(self, label: str, name: str, first: PointLike | None, second: PointLike | None) -> tuple[Point, Point]:
        if first is not None and second is not None:
            return self.find_point(first), self.find_point(second)
        if first is not None or second is not None:
            raise ModelError(f"{label}: give both points, or none if two bodies have a point called {name!r}")
        found = [b.points[name] for b in self.bodies.values() if name in b.points]
        if len(found) != 2:
            where = ", ".join(repr(p.label) for p in found) or "none"
            raise ModelError(f"{label}: without points given, exactly two bodies must have a point {name!r}; found {where}")
        return found[0], found[1]

    def joined(self, points: list[Point]) -> bool:
        """Whether joints put all these points at one place."""
        groups = {p: p for b in self.bodies.values() for p in b.points.values()}

        def root(p: Point) -> Point:
            while groups[p] is not p:
                p = groups[p]
            return p

        for joint in self.joints.values():
            for condition in joint.conditions:
                if isinstance(condition, Coincident):
                    groups[root(condition.first)] = root(condition.second)
        return len({root(p) for p in points}) == 1

    def _span(self, first: PointLike, second: PointLike, user: str) -> Span:
        p, q = self.find_point(first), self.find_point(second)
        if p is q:
            raise ModelError(f"{user!r}: both ends are the point {p.label!r}")
        return Span(p, q)

    def _spring(self, kind: str, name: str, measure: Measure, stiffness: Number, rest: Number, damping: Number) -> Spring:
        self._check_new(name)
        n, label = self.numbers, f"{kind} {name!r}"
        k = n.scalar(stiffness, f"{label}: stiffness", "non-negative")
        c = n.scalar(damping, f"{label}: damping", "non-negative")
        return self._add_force(Spring(name, measure, k, n.scalar(rest, f"{label}: rest"), c))

    def _add_force(self, force: F) -> F:
        self.forces[force.name] = force
        self.revision += 1
        return force

    def _is_body_frame(self, label: str, frame: str) -> bool:
        if frame not in ("global", "body"):
            raise ModelError(f"{label}: frame = {frame!r} must be 'global' or 'body'")
        return frame == "body"

    def _vector_function(self, label: str, value: Any, size: int) -> Callable[[State], SX]:
        if callable(value):
            return lambda state: as_column(value(state), size, label)
        constant = self.numbers.scalar(value, label) if size == 1 else self.numbers.vector_of(value, size, label)
        return lambda state: constant

    def _driver(self, name: str, measure: Measure, motion: Any) -> Driver:
        self._check_new(name)
        label = f"driver {name!r}"
        if callable(motion) and not isinstance(motion, Parameter):
            t = SX.sym("t")
            self.numbers.check_symbols(as_column(motion(t), 1, label), label, (t,))
            driver = Driver(name, measure, lambda time: as_column(motion(time), 1, label))
        else:
            constant = self.numbers.scalar(motion, label)
            driver = Driver(name, measure, lambda time: constant)
        self.drivers[name] = driver
        self.revision += 1
        return driver

    def _hold(self, label: str, measure: Measure, value: Number, speed: Number) -> HeldMeasure:
        n = self.numbers
        return HeldMeasure(label, measure, n.scalar(value, f"start: {label}"), n.scalar(speed, f"start: speed: {label}"))

    def _held_position(self, name: str, value: Any, speed: Any) -> list[HeldMeasure]:
        point, label = self.find_point(name), f"position of {name!r}"
        speed = (0.0,) * self.dimension if speed is None else speed
        for given, what in ((value, label), (speed, f"speed: {label}")):
            if len(given) != self.dimension:
                raise ModelError(f"start: {what} = {given!r} must have {self.dimension} components")
        axes = SX.eye(self.dimension)
        return [
            self._hold(f"{label} along {'xyz'[k]}", Coordinate(point, ca.densify(axes[:, k])), value[k], speed[k] or 0.0)
            for k in range(self.dimension)
            if value[k] is not None
        ]

    def _held_orientation(self, name: str, value: Any, speed: Any) -> HeldOrientation:
        label = f"orientation of {name!r}"
        if self.dimension == 2:
            raise ModelError(f"start: {label}: a planar body has an angle; use angle={{{name!r}: …}}")
        matrix = self._rotation_matrix(value, f"start: {label}")
        omega = self.numbers.vector_of(speed, 3, f"start: speed: {label}")
        return HeldOrientation(label, self.find_body(name), matrix, omega)

    def _guesses(self, near: Mapping[str, Any]) -> tuple[dict[Body, SX], dict[Point, SX]]:
        rotations: dict[Body, SX] = {}
        positions: dict[Point, SX] = {}
        for name, value in near.items():
            if name in self.bodies:
                rotations[self.bodies[name]] = self._relative(value, f"start: near {name!r}")
            else:
                positions[self.find_point(name)] = self.numbers.vector_of(value, self.dimension, f"start: near {name!r}")
        return rotations, positions
