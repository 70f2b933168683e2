"""Words for what a mechanism is made of: parameters, bodies and their points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca

from ..core.errors import ModelError, check_named, unknown_name
from ..core.names import DOT, SLASH, check_name
from ..core.symbols import SX
from .body import Body, Point, RigidBody
from .geometry import inertia_of
from .parameter import Parameter, Parameters
from .writing import ModelBuilder, Number, change


class BodyWords(ModelBuilder):
    """Parameters, bodies, points."""

    @change
    def parameter(
        self,
        name: str,
        value: float | str,
        *,
        unit: str = "",
        bounds: tuple[float | str | None, float | str | None] | None = None,
        spread: Any = None,
    ) -> Parameter:
        """A named number that may change: nominal value, unit, bounds, and its spread in
        manufacture.

        Numbers are in SI units; texts ("30 mm") have their own and are turned into these.

        >>> import varimech as vm
        >>> m = vm.Mechanism("pendulum", gravity=(0, -9.81))
        >>> L = m.parameter("L", 1.0, unit="m", bounds=(0.5, 2.0), spread=vm.Tolerance(0.01))
        >>> L / 2
        SX((L/2))
        """
        check_name("parameter", name, without="")
        parameter = Parameter(name, value, unit=unit, bounds=bounds, spread=spread)
        self.data.parameter_set.add(parameter)
        return parameter

    @property
    def parameters(self) -> Parameters:
        """All parameters by name."""
        return Parameters(self.data.parameter_set.parameters)

    @change
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
    ) -> RigidBody:
        """A rigid body.

        Args:
            name: its name.
            mass: kg, positive.
            inertia: about the centre of mass, kg·m²: a number (planar); three principal values or a
                3×3 matrix in body axes (spatial).
            com: centre of mass in the body's frame, m; its origin if not given. It is also the
                point 'com'.
            points: named points in the body's frame, m.
            floating: True for a body that is meant to have no path of joints to the ground.
            spine: points to join by a line in drawings; all of them if not given.
        """
        self.data.check_new("body", name, SLASH + DOT)
        label = f"body {name!r}"
        n, dimension = self.data.parameter_set, self.dimension
        mass_ = n.scalar(mass, f"{label}: mass", "positive", unit="kg")
        com_ = n.vector_of(
            (0.0,) * dimension if com is None else com, dimension, f"{label}: com", unit="m"
        )
        locals_ = {"com": com_}
        check_named(
            f"{label}: points",
            points,
            "{'P': (0.1, 0)}" if dimension == 2 else "{'P': (0.1, 0, 0)}",
        )
        for k, v in (points or {}).items():
            self.data.check_point(k, locals_)
            locals_[k] = n.vector_of(v, dimension, f"{label}: point {k!r}", unit="m")
        joined_by_line = tuple(k for k in locals_ if k != "com") if spine is None else tuple(spine)
        if missing := [k for k in joined_by_line if k not in locals_]:
            raise unknown_name(f"point of {label}", missing[0], locals_)
        inertia_ = inertia_of(n, inertia, dimension, f"{label}: inertia")
        return self._add_body(
            name, mass_, com_, inertia_, locals_, joined_by_line, floating=floating
        )

    @change
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
    ) -> RigidBody:
        """A straight bar along its own x axis, with a named point at each end.

        Args:
            name: its name.
            start: name of the point at its origin.
            end: name of the point at x = length.
            length: m, positive.
            mass: kg, positive.
            com: distance of the centre of mass from `start`, m; half the length if not given.
            inertia: about the centre of mass, kg·m²; that of a uniform bar if not given (m L²/12;
                in space a solid cylinder).
            radius: of that cylinder, m (spatial bars only).
            points: further named points, m.
            floating: True for a bar that is meant to have no path of joints to the ground.
        """
        self.data.check_new("bar", name, SLASH + DOT)
        label = f"bar {name!r}"
        n = self.data.parameter_set
        L = n.scalar(length, f"{label}: length", "positive", unit="m")
        m = n.scalar(mass, f"{label}: mass", "positive", unit="kg")
        r = n.scalar(radius, f"{label}: radius", "non-negative", unit="m")
        x = L / 2 if com is None else n.scalar(com, f"{label}: com", unit="m")
        check_named(
            f"{label}: points",
            points,
            "{'middle': (0.1, 0)}" if self.dimension == 2 else "{'middle': (0.1, 0, 0)}",
        )
        ends = ["com", start, end, *(points or {})]
        for point in ends:
            self.data.check_point(point, ())
        if len(set(ends)) < len(ends):
            raise ModelError(
                f"{label}: two of its points have one name in {ends!r}; give them different names"
            )
        if self.dimension == 2 and not r.is_zero():
            raise ModelError(
                f"{label}: radius = {radius!r} means nothing in the plane; give the inertia instead"
            )
        rest = SX.zeros(self.dimension - 1)
        if inertia is None:
            transverse = m * (L**2 + 3 * r**2) / 12
            inertia_ = (
                transverse
                if self.dimension == 2
                else ca.diag(ca.vertcat(m * r**2 / 2, transverse, transverse))
            )
        else:
            inertia_ = inertia_of(n, inertia, self.dimension, f"{label}: inertia")
        locals_ = {
            "com": ca.vertcat(x, rest),
            start: ca.vertcat(SX(0), rest),
            end: ca.vertcat(L, rest),
        }
        for k, v in (points or {}).items():
            locals_[k] = n.vector_of(v, self.dimension, f"{label}: point {k!r}", unit="m")
        return self._add_body(
            name, m, locals_["com"], ca.densify(inertia_), locals_, (start, end), floating=floating
        )

    @change
    def point(self, body: Body | str, name: str, local: Any) -> Point:
        """A further named point of a body (or of the ground), m in the body's frame."""
        body = self.data.find_rigid_body(body, f"point {name!r}")
        self.data.check_point(name, body.points)
        point = Point(
            body,
            name,
            self.data.parameter_set.vector_of(
                local, self.dimension, f"point {body.name}.{name}", unit="m"
            ),
        )
        return self.data.add_point(point)

    def ground_point(self, name: str, position: Any) -> Point:
        """A named point of the ground, m."""
        return self.point(self.data.ground, name, position)

    def _add_body(
        self,
        name: str,
        mass: SX,
        com: SX,
        inertia: SX,
        points: Mapping[str, SX],
        spine: tuple[str, ...],
        *,
        floating: bool,
    ) -> RigidBody:
        body = RigidBody(name, self.dimension, mass, com, inertia, floating=floating, spine=spine)
        for point, local in points.items():
            self.data.add_point(Point(body, point, local))
        self.data.bodies[name] = body
        return body
