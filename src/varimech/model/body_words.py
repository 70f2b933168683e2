"""Words for what a mechanism is made of: parameters, bodies and their points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca

from ..errors import ModelError, check_named, unknown_name
from ..symbols import SX
from .beam import MASSES, MATERIALS, Beam
from .beam_shape import pair_of, segment_count, shape_of
from .body import Body, Point, RigidBody
from .geometry import inertia_of
from .parameter import Parameter, Parameters
from .sections import SHAPES, Section
from .writing import Number, Writing, change


class BodyWords(Writing):
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
        """A named number that may change: nominal value, unit, bounds, and its spread in manufacture.

        Numbers are in SI units; texts ("30 mm") have their own and are turned into these.

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
    def parameters(self) -> Parameters:
        """All parameters by name."""
        return Parameters(self.numbers.parameters)

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
            inertia: about the centre of mass, kg·m²: a number (planar); three principal values or a 3×3 matrix in body axes (spatial).
            com: centre of mass in the body's frame, m; its origin if not given. It is also the point 'com'.
            points: named points in the body's frame, m.
            floating: True for a body that is meant to have no path of joints to the ground.
            spine: points to join by a line in drawings; all of them if not given.
        """
        self._check_new(name)
        label = f"body {name!r}"
        n, dimension = self.numbers, self.dimension
        mass_ = n.scalar(mass, f"{label}: mass", "positive", unit="kg")
        com_ = n.vector_of((0.0,) * dimension if com is None else com, dimension, f"{label}: com", unit="m")
        locals_ = {"com": com_}
        check_named(f"{label}: points", points, "{'P': (0.1, 0)}" if dimension == 2 else "{'P': (0.1, 0, 0)}")
        for k, v in (points or {}).items():
            self._check_name("point", k, locals_)
            locals_[k] = n.vector_of(v, dimension, f"{label}: point {k!r}", unit="m")
        joined_by_line = tuple(k for k in locals_ if k != "com") if spine is None else tuple(spine)
        if missing := [k for k in joined_by_line if k not in locals_]:
            raise unknown_name(f"point of {label}", missing[0], locals_)
        inertia_ = inertia_of(n, inertia, dimension, f"{label}: inertia")
        return self._add_body(name, mass_, com_, inertia_, locals_, joined_by_line, floating=floating)

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
            inertia: about the centre of mass, kg·m²; that of a uniform bar if not given (m L²/12; in space a solid cylinder).
            radius: of that cylinder, m (spatial bars only).
            points: further named points, m.
            floating: True for a bar that is meant to have no path of joints to the ground.
        """
        self._check_new(name)
        label = f"bar {name!r}"
        n = self.numbers
        L = n.scalar(length, f"{label}: length", "positive", unit="m")
        m = n.scalar(mass, f"{label}: mass", "positive", unit="kg")
        r = n.scalar(radius, f"{label}: radius", "non-negative", unit="m")
        x = L / 2 if com is None else n.scalar(com, f"{label}: com", unit="m")
        check_named(f"{label}: points", points, "{'middle': (0.1, 0)}" if self.dimension == 2 else "{'middle': (0.1, 0, 0)}")
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
            locals_[k] = n.vector_of(v, self.dimension, f"{label}: point {k!r}", unit="m")
        return self._add_body(name, m, locals_["com"], ca.densify(inertia_), locals_, (start, end), floating=floating)

    @change
    def beam(
        self,
        name: str,
        from_: str,
        to: str,
        *,
        segments: int,
        E: Number,
        area: Number = None,
        inertia: Number = None,
        section: Section | None = None,
        density: Number = None,
        mass: Number = None,
        length: Number = None,
        natural_length: Number = None,
        shape: Any = None,
        material: str = "logarithmic",
        masses: str = "consistent",
        damping: tuple[Number, Number] = (0.0, 0.0),
        floating: bool = False,
    ) -> Beam:
        """A slender elastic beam, bending and stretching by any amount, with a named point at each end; without shear and torsion.

        Its ends are connected like those of bars: by revolute joints (spherical ones in space), or held in a direction by `clamp`. Between
        them it has nodes 'n1', 'n2', …, which forces, springs, joints and measures can name like any other point ('name.n1'). At the start it
        has its unstressed shape; there it needs values as a bar would.

        Args:
            name: its name.
            from_: name of the point at its first end.
            to: name of the point at its other end.
            segments: number of equal segments, 1 or more. Deflections of pinned beams and cantilevers are within 2.3 % with 8 and 0.2 % with
                32, those of beams clamped at both ends within 9 % and 0.6 %; no two segments may come to fold by more than 90°.
            E: Young's modulus, Pa.
            area: of the cross-section, m².
            inertia: second moment of area for bending, m⁴ (in space the same in all directions).
            section: area and inertia together, such as `varimech.circle(0.01)`, `tube`, `rectangle` or `square`.
            density: kg/m³; the mass is density × area × natural_length. Or give:
            mass: of the whole beam, kg.
            length: of the straight beam at the start, m.
            natural_length: of the unstressed beam, m; the length at the start if not given. Two parameters for the two lengths tell apart
                what a change of the geometry does (`length`) and what a change of the unstressed length alone (`natural_length`).
            shape: of a curved beam instead of `length`: a function from s in [0, 1] to a place, such as
                `lambda s: (s, 0.1 * s * (1 - s))` or the texts ("s", "0.1*s*(1 - s)"), or one place for each node (m, in a frame of the
                beam's own). It is the unstressed shape too (scaled, if natural_length is given).
            material: how it stretches, "logarithmic" or "linear" in the stretch.
            masses: "consistent" (exact for rigid motions) or "lumped" at the nodes.
            damping: (γ, β), after Rayleigh: −γ M v (1/s) on all masses, and β (s) times the rates of stretching and bending, clamps included,
                with the stiffness of each; small vibrations of frequency ω are damped by γ/(2ω) + βω/2 of the critical.
            floating: True for a beam that is meant to have no path of joints to the ground.
        """
        self._check_new(name)
        label, n = f"beam {name!r}", self.numbers
        count = segment_count(segments, label)
        for option, value, known in (("material", material, MATERIALS), ("masses", masses, MASSES)):
            if value not in known:
                raise ModelError(f"{label}: {option} = {value!r} must be one of {', '.join(map(repr, known))}")
        names = [from_, *(f"n{k}" for k in range(1, count)), to]
        for point in (from_, to):
            self._check_name("point", point, names[1:-1])
        if from_ == to:
            raise ModelError(f"{label}: both ends are called {to!r}; give them different names")
        shape_ = shape_of(n, length, shape, count, self.dimension, label)
        area_, inertia_ = self._section(label, area, inertia, section)
        L0 = (
            shape_.length
            if natural_length is None
            else n.scalar(natural_length, f"{label}: natural_length", "positive", unit="m")
        )
        if (density is None) == (mass is None):
            raise ModelError(f"{label} needs either density=… (kg/m³) or mass=… (kg)")
        if density is not None:
            mass_ = n.scalar(density, f"{label}: density", "positive", unit="kg/m³") * area_ * L0
        else:
            mass_ = n.scalar(mass, f"{label}: mass", "positive", unit="kg")
        γ, β = (
            n.scalar(x, f"{label}: damping[{k}]", "non-negative", unit=("1/s", "s")[k])
            for k, x in enumerate(pair_of(damping, f"{label}: damping"))
        )
        points: list[Point] = []
        beam = Beam(
            name,
            self.dimension,
            points,
            shape_,
            L0,
            n.scalar(E, f"{label}: E", "positive", unit="Pa"),
            area_,
            inertia_,
            mass_,
            material,
            masses == "lumped",
            β,
            γ,
            floating=floating,
            spine=tuple(names),
        )
        points += [Point(beam, point, place) for point, place in zip(names, shape_.places, strict=True)]
        beam.points.update({p.name: p for p in points})
        for end in (points[0], points[-1]):
            self._add_point(end)
        self.bodies[name] = beam
        return beam

    def _section(self, label: str, area: Number, inertia: Number, section: Section | None) -> tuple[SX, SX]:
        if section is not None:
            if area is not None or inertia is not None:
                raise ModelError(f"{label}: give either section=… or area=… and inertia=…, not both")
            if not isinstance(section, Section):
                raise ModelError(
                    f"{label}: section = {section!r} is none; use varimech.circle(diameter), tube, rectangle or square"
                )
            shape = SHAPES[section.shape]
            if shape.directions < self.dimension:
                raise ModelError(f"{label}: in space a beam bends alike in all directions; use a circle, a tube or a square")
            sizes = [
                self.numbers.scalar(size, f"{label}: section: {name}", "non-negative", unit="m")
                for name, size in zip(shape.sizes, section.sizes, strict=True)
            ]
            area, inertia = shape.area_and_inertia(*sizes)
        if area is None or inertia is None:
            raise ModelError(f"{label} needs area=… (m²) and inertia=… (m⁴), or section=…, such as varimech.circle(diameter)")
        return (
            self.numbers.scalar(area, f"{label}: area", "positive", unit="m²"),
            self.numbers.scalar(inertia, f"{label}: inertia", "non-negative", unit="m⁴"),
        )

    @change
    def point(self, body: Body | str, name: str, local: Any) -> Point:
        """A further named point of a body (or of the ground), m in the body's frame."""
        body = self.find_rigid_body(body, f"point {name!r}")
        self._check_name("point", name, body.points)
        point = Point(body, name, self.numbers.vector_of(local, self.dimension, f"point {body.name}.{name}", unit="m"))
        return self._add_point(point)

    def ground_point(self, name: str, position: Any) -> Point:
        """A named point of the ground, m."""
        return self.point(self.ground, name, position)

    def _add_body(
        self, name: str, mass: SX, com: SX, inertia: SX, points: Mapping[str, SX], spine: tuple[str, ...], *, floating: bool
    ) -> RigidBody:
        body = RigidBody(name, self.dimension, mass, com, inertia, floating=floating, spine=spine)
        for point, local in points.items():
            self._add_point(Point(body, point, local))
        self.bodies[name] = body
        return body

    def _add_point(self, point: Point) -> Point:
        point.body.points[point.name] = point
        self._named.setdefault(point.name, []).append(point)
        return point
