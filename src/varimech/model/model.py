"""The model: a mechanism written with the words an engineer uses.

Each method checks what it is given, at the call, before anything changes. `Mechanism` adds the verbs (simulate, sensitivity, …).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import casadi as ca

from ..errors import ModelError, unknown_name
from ..symbols import SX, symbols_in
from .body import Body, Point
from .conditions import Axis
from .drivers import Driver
from .forces import Force, PointForce, Spring, Torque
from .geometry import axis_of, inertia_of, rotation_of
from .held import StartReader
from .joints import JOINTS, Joint, JointData
from .measures import Coordinate, Measure, Span
from .parameter import Parameter
from .parts import Parts, PointLike
from .state import State, as_column, call_user, trial_state

F = TypeVar("F", bound=Force)
M = TypeVar("M", bound=Parts)
P = ParamSpec("P")
R = TypeVar("R")
Number = Any
"""A number, a `Parameter`, or an expression of parameters."""


def _change(method: Callable[Concatenate[M, P], R]) -> Callable[Concatenate[M, P], R]:
    """A method that changes the model: counted when it succeeds, without any trace when it fails."""

    @wraps(method)
    def changing(self: M, *args: P.args, **kwargs: P.kwargs) -> R:
        before = len(self.numbers.requirements)
        try:
            result = method(self, *args, **kwargs)
        except BaseException:
            del self.numbers.requirements[before:]
            raise
        self.revision += 1
        return result

    return changing


class Model(Parts):
    """The words to write a mechanism with: parameters, bodies, joints, forces, drivers, start."""

    # parameters, bodies and points

    @_change
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
        return parameter

    @property
    def parameters(self) -> dict[str, Parameter]:
        """All parameters by name."""
        return dict(self.numbers.parameters)

    @_change
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
        locals_ = {"com": com_}
        for k, v in (points or {}).items():
            self._check_name("point", k, locals_)
            locals_[k] = n.vector_of(v, dimension, f"{label}: point {k!r}")
        joined_by_line = tuple(k for k in locals_ if k != "com") if spine is None else tuple(spine)
        if missing := [k for k in joined_by_line if k not in locals_]:
            raise unknown_name(f"point of {label}", missing[0], locals_)
        inertia_ = inertia_of(n, inertia, dimension, f"{label}: inertia")
        return self._add_body(name, mass_, com_, inertia_, locals_, joined_by_line, floating=floating)

    @_change
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
        self._check_new(name)
        label = f"bar {name!r}"
        n = self.numbers
        L = n.scalar(length, f"{label}: length", "positive")
        m = n.scalar(mass, f"{label}: mass", "positive")
        r = n.scalar(radius, f"{label}: radius", "non-negative")
        x = L / 2 if com is None else n.scalar(com, f"{label}: com")
        ends = ["com", start, end, *(points or {})]
        for point in ends:
            self._check_name("point", point, ())
        if len(set(ends)) < len(ends):
            raise ModelError(f"{label}: two of its points have one name in {ends!r}; give them different names")
        if self.dimension == 2 and not r.is_zero():
            raise ModelError(f"{label}: radius = {radius!r} means nothing in the plane; give the inertia instead")
        rest = SX.zeros(self.dimension - 1)
        if inertia is None:
            transverse = m * (L**2 + 3 * r**2) / 12
            inertia_ = transverse if self.dimension == 2 else ca.diag(ca.vertcat(m * r**2 / 2, transverse, transverse))
        else:
            inertia_ = inertia_of(n, inertia, self.dimension, f"{label}: inertia")
        locals_ = {"com": ca.vertcat(x, rest), start: ca.vertcat(SX(0), rest), end: ca.vertcat(L, rest)}
        for k, v in (points or {}).items():
            locals_[k] = n.vector_of(v, self.dimension, f"{label}: point {k!r}")
        return self._add_body(name, m, locals_["com"], ca.densify(inertia_), locals_, (start, end), floating=floating)

    @_change
    def point(self, body: Body | str, name: str, local: Any) -> Point:
        """A further named point of a body (or of the ground), m in the body's frame."""
        body = self.find_body(body)
        self._check_name("point", name, body.points)
        point = Point(body, name, self.numbers.vector_of(local, self.dimension, f"point {body.name}.{name}"))
        return self._add_point(point)

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
        `axis_on_second` in the second's (the same components if not given; the angle is then zero where the bodies are aligned). The reaction
        is the force on the second body.
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

    def planar(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        normal: Any,
        normal_on_second: Any = None,
    ) -> Joint:
        """A block on a table (space): the second point stays on the plane through the first one, and the bodies turn about its normal.

        `normal` is in the first body's frame, `normal_on_second` in the second's (the same components if not given).
        """
        return self._joint("planar", name, first, second, normal, normal_on_second)

    def point_on_plane(self, name: str, first: PointLike | None = None, second: PointLike | None = None, *, normal: Any) -> Joint:
        """The second point stays on the plane through the first point (space); `normal` in the first body's frame."""
        return self._joint("point-on-plane", name, first, second, normal)

    # forces

    @_change
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
        return self._spring("spring", name, self.find_span(first, second, repr(name)), stiffness, rest, damping)

    def damper(self, name: str, first: PointLike, second: PointLike, *, damping: Number) -> Spring:
        """A linear damper (N·s/m) between two points."""
        return self._spring("damper", name, self.find_span(first, second, repr(name)), 0.0, 0.0, damping)

    @_change
    def torsional_spring(
        self, name: str, turn: Joint | Body | str, *, stiffness: Number, rest_angle: Number = 0.0, damping: Number = 0.0
    ) -> Spring:
        """A spring (N·m/rad), and optionally a damper (N·m·s/rad), on the angle of a joint or of a planar body.

        It knows its angle within half a turn of `rest_angle` (rad, between −π and π); a run that winds it further is stopped.
        """
        rest = self.numbers.scalar(rest_angle, f"torsional spring {name!r}: rest_angle", "half turn")
        return self._spring("torsional spring", name, self.find_turn(turn), stiffness, rest, damping)

    def torsional_damper(self, name: str, turn: Joint | Body | str, *, damping: Number) -> Spring:
        """A damper (N·m·s/rad) on the angle of a joint or of a planar body."""
        return self._spring("torsional damper", name, self.find_turn(turn), 0.0, 0.0, damping)

    @_change
    def force(self, name: str, point: PointLike, value: Any, *, frame: str = "global") -> PointForce:
        """A force (N) on a point: components, or a function of the state that returns them.

        A constant: `m.force("push", "rod.tip", (10, 0))`. Of time or state: `m.force("push", "rod.tip", lambda s: (vm.sin(s.time), 0))`.
        `frame="body"` takes the components along the body's axes.
        """
        self._check_new(name)
        in_body = self._is_body_frame(f"force {name!r}", frame)
        function = self._vector_function(f"force {name!r}", value, self.dimension)
        return self._add_force(PointForce(name, self.find_point(point), function, in_body))

    @_change
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
        return self._driver(name, self.find_span(first, second, repr(name)), motion)

    @_change
    def drive_coordinate(self, name: str, point: PointLike, direction: Any, motion: Any) -> Driver:
        """Impose the component of a point's position along a global direction as a function of time, m."""
        axis = axis_of(self.numbers, self.ground, direction, f"driver {name!r}: direction")
        return self._driver(name, Coordinate(self.find_point(point), axis.direction), motion)

    # the start

    @_change
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
            orientation: of spatial bodies, a 3×3 matrix (see `varimech.rotation`); its speed is the angular velocity in global components.
            speed: rate of any of the above by the same key (rad/s, m/s); zero if not given. A vector for positions and orientations; the pair
                (rate of angle, rate of displacement) for a joint of which both are given.
            near: rough angles (planar) or orientations (spatial) of bodies, or positions of points, that choose between two ways to assemble.
        """
        reader = StartReader(self, speed or {}, set(angle or {}) & set(displacement or {}))
        reader.angles(angle or {})
        reader.displacements(displacement or {})
        reader.distances(distance or {})
        reader.positions(position or {})
        reader.orientations(orientation or {})
        self.start_conditions = reader.finish(near or {})

    # how names and values are checked, and things added

    def _add_body(
        self, name: str, mass: SX, com: SX, inertia: SX, points: Mapping[str, SX], spine: tuple[str, ...], *, floating: bool
    ) -> Body:
        body = Body(name, self.dimension, mass, com, inertia, floating=floating, spine=spine)
        for point, local in points.items():
            self._add_point(Point(body, point, local))
        self.bodies[name] = body
        return body

    def _add_point(self, point: Point) -> Point:
        point.body.points[point.name] = point
        self._named.setdefault(point.name, []).append(point)
        return point

    def _check_name(self, kind: str, name: Any, taken: Any) -> None:
        if not isinstance(name, str) or not name.strip():
            raise ModelError(f"a {kind} needs a name (a non-empty text), not {name!r}")
        if name in taken:
            raise ModelError(f"two things are called {name!r} in mechanism {self.name!r}; choose another name")

    def _check_new(self, name: Any) -> None:
        for taken in (self.bodies, self.joints, self.forces, self.drivers, ("gravity",)):
            self._check_name("thing", name, taken)

    @_change
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
            remedy = f"use {rules.instead} instead" if rules.instead else "all its bodies move so already, so leave the joint out"
            raise ModelError(f"{label}: mechanism {self.name!r} is planar; {remedy}")
        p, q = self._ends(label, name, first, second)
        if p.body is q.body:
            raise ModelError(f"{label}: both points are on body {p.body.name!r}; a joint connects two bodies")
        axes: list[Axis | None] = [None, None]
        if self.dimension in rules.axis:
            if axis is None:
                example = (1, 0) if self.dimension == 2 else (0, 0, 1)
                raise ModelError(f"{label} needs {rules.axis_name}=…, such as {rules.axis_name}={example}")
            axes[0] = axis_of(self.numbers, p.body, axis, f"{label}: {rules.axis_name}")
            other = axis if axis_on_second is None else axis_on_second
            axes[1] = axis_of(self.numbers, q.body, other, f"{label}: {rules.axis_name}_on_second")
        if (axis is not None and axes[0] is None) or (axis_on_second is not None and self.dimension == 2):
            raise ModelError(f"{label}: an axis means nothing here in the plane; leave it out")
        data = JointData(
            p,
            q,
            axes[0],
            axes[1],
            relative=rotation_of(self.numbers, rotation, self.dimension, f"{label}: rotation"),
            length=self.numbers.scalar(length, f"{label}: length", "positive") if kind == "distance" else None,
        )
        joint = Joint(name, kind, data, rules.build(data))
        self.joints[name] = joint
        self._join(joint)
        return joint

    def _ends(self, label: str, name: str, first: PointLike | None, second: PointLike | None) -> tuple[Point, Point]:
        if first is not None and second is not None:
            return self.find_point(first), self.find_point(second)
        if first is not None or second is not None:
            raise ModelError(f"{label}: give both points, or none if two bodies have a point called {name!r}")
        found = self._named.get(name, [])
        if len(found) != 2:
            where = ", ".join(repr(p.label) for p in found) or "none"
            raise ModelError(f"{label}: without points given, exactly two bodies must have a point {name!r}; found {where}")
        return found[0], found[1]

    @_change
    def _spring(self, kind: str, name: str, measure: Measure, stiffness: Number, rest: Number, damping: Number) -> Spring:
        self._check_new(name)
        n, label = self.numbers, f"{kind} {name!r}"
        k = n.scalar(stiffness, f"{label}: stiffness", "non-negative")
        c = n.scalar(damping, f"{label}: damping", "non-negative")
        return self._add_force(Spring(name, measure, k, n.scalar(rest, f"{label}: rest"), c))

    def _add_force(self, force: F) -> F:
        self.forces[force.name] = force
        return force

    def _is_body_frame(self, label: str, frame: str) -> bool:
        if frame not in ("global", "body"):
            raise ModelError(f"{label}: frame = {frame!r} must be 'global' or 'body'")
        return frame == "body"

    def _vector_function(self, label: str, value: Any, size: int) -> Callable[[State], SX]:
        if callable(value):

            def function(state: State) -> SX:
                return as_column(call_user(value, state, label), size, label)

            self.numbers.check_symbols(function(trial := trial_state(self, label)), label, symbols_in(*trial.coordinates))
            return function
        constant = self.numbers.scalar(value, label) if size == 1 else self.numbers.vector_of(value, size, label)
        return lambda state: constant

    @_change
    def _driver(self, name: str, measure: Measure, motion: Any) -> Driver:
        self._check_new(name)
        label = f"driver {name!r}"
        t = SX.sym("t")
        varies = callable(motion) and not isinstance(motion, Parameter)
        path = as_column(motion(t), 1, label) if varies else self.numbers.scalar(motion, label)
        self.numbers.check_symbols(path, label, symbols_in(t))
        start = ca.substitute(path, t, SX(0))
        self.numbers.scalar(start, f"{label} at t = 0", "positive" if isinstance(measure, Span) else None)
        driver = Driver(name, measure, lambda time: ca.substitute(path, t, time))
        self.drivers[name] = driver
        return driver
