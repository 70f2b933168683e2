"""Words for how bodies are connected."""

from __future__ import annotations

from typing import Any

from ..core.errors import Label, ModelError
from .beam import Beam
from .body import Point
from .conditions import Axis, Coincident, Offset, Separation
from .forces import Clamp
from .geometry import axis_of, rotation_of
from .joints import JOINTS, Joint, JointData
from .model_data import PointLike
from .writing import ModelBuilder, Number, change


class JointWords(ModelBuilder):
    """Joints."""

    @change
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

        `revolute("A")` alone joins the two bodies that have a point called "A". In space `axis` is
        given in the first body's frame; `axis_on_second` in the second's (the same components if
        not given; the angle is then zero where the bodies are aligned). The reaction is the force
        on the second body.
        """
        return self._joint("revolute", name, first, second, axis, axis_on_second)

    @change
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

        `axis` is in the first body's frame. `rotation` is the constant orientation of the second
        body relative to the first: an angle in the plane, a 3×3 matrix in space (see
        `varimech.rotation`); aligned if not given.
        """
        return self._joint("prismatic", name, first, second, axis, rotation=rotation)

    @change
    def fixed(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        rotation: Any = None,
    ) -> Joint:
        """A weld: points coincide and the second body keeps the given orientation relative to the
        first (aligned if not given).
        """
        return self._joint("fixed", name, first, second, rotation=rotation)

    @change
    def point_on_line(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        axis: Any,
    ) -> Joint:
        """The second point stays on the line through the first point along `axis` (first body's
        frame).
        """
        return self._joint("point-on-line", name, first, second, axis)

    @change
    def distance(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        length: Number,
    ) -> Joint:
        """Two points keep a distance (m, positive), like the ends of a massless rod."""
        return self._joint("distance", name, first, second, length=length)

    @change
    def spherical(
        self, name: str, first: PointLike | None = None, second: PointLike | None = None
    ) -> Joint:
        """A ball joint (space): two points coincide."""
        return self._joint("spherical", name, first, second)

    @change
    def cylindrical(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        axis: Any,
        axis_on_second: Any = None,
    ) -> Joint:
        """A sleeve on a shaft (space): the bodies share a line, turn about it and
        slide along it.
        """
        return self._joint("cylindrical", name, first, second, axis, axis_on_second)

    @change
    def universal(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        axis: Any,
        axis_on_second: Any,
    ) -> Joint:
        """A Hooke joint (space): points coincide, an axis of each body stays at right angles to one
        of the other.
        """
        return self._joint("universal", name, first, second, axis, axis_on_second)

    @change
    def planar(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        normal: Any,
        normal_on_second: Any = None,
    ) -> Joint:
        """A block on a table (space): the second point stays on the plane through the first one,
        and the bodies turn about its normal.

        `normal` is in the first body's frame, `normal_on_second` in the second's (the same
        components if not given).
        """
        return self._joint("planar", name, first, second, normal, normal_on_second)

    @change
    def point_on_plane(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        normal: Any,
    ) -> Joint:
        """The second point stays on the plane through the first point (space); `normal` in the
        first body's frame.
        """
        return self._joint("point-on-plane", name, first, second, normal)

    @change
    def clamp(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        direction: Any,
    ) -> Joint:
        """Hold an end of a beam (the second point) in place and in a direction, by a rigid body or
        the ground (the first point).

        `direction` is that in which the beam (of a curved one, its tangent) leaves the clamp, in
        the first body's frame; at the start the beam has it, unless other values given there say
        otherwise. `reaction` and `reaction_torque` are those on the beam.
        """
        label = f"clamp {name!r}"
        holder, end = self._ends(label, name, first, second)
        if isinstance(holder.body, Beam) and not isinstance(end.body, Beam) and first is None:
            holder, end = end, holder
        beam = end.body
        if not isinstance(beam, Beam) or isinstance(holder.body, Beam):
            raise ModelError(
                f"{label} holds the end of a beam (second point) by a rigid body or the ground"
                f" (first point), not {end.label!r} by {holder.label!r}; two beams need a body"
                " between them"
            )
        if end not in (beam.nodes[0], beam.nodes[-1]):
            ends = f"{beam.nodes[0].label!r} or {beam.nodes[-1].label!r}"
            raise ModelError(
                f"{label}: {end.label!r} is not an end of beam {beam.name!r}; use {ends}"
            )
        axis = axis_of(self.data.parameter_set, holder.body, direction, Label(label, "direction"))
        self._check_free(f"{name}.bending", [self.forces, self.drivers])
        joint = self._joint("revolute" if self.dimension == 2 else "spherical", name, holder, end)
        self.data.add_force(Clamp(f"{name}.bending", joint, axis, end))
        return joint

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
        self._check_new("joint", name)
        rules, label = JOINTS[kind], f"{kind} joint {name!r}"
        if self.dimension not in rules.dimensions:
            remedy = (
                f"use {rules.instead} instead"
                if rules.instead
                else "all its bodies move so already, so leave the joint out"
            )
            raise ModelError(f"{label}: mechanism {self.name!r} is planar; {remedy}")
        p, q = self._ends(label, name, first, second)
        if p.body is q.body:
            raise ModelError(
                f"{label}: both points are on body {p.body.name!r}; a joint connects two bodies"
            )
        axes: list[Axis | None] = [None, None]
        if self.dimension in rules.axis:
            if axis is None:
                example = (1, 0) if self.dimension == 2 else (0, 0, 1)
                raise ModelError(
                    f"{label} needs {rules.axis_name}=…, such as {rules.axis_name}={example}"
                )
            axes[0] = axis_of(self.data.parameter_set, p.body, axis, f"{label}: {rules.axis_name}")
            other = axis if axis_on_second is None else axis_on_second
            axes[1] = axis_of(
                self.data.parameter_set, q.body, other, f"{label}: {rules.axis_name}_on_second"
            )
        if (axis is not None and axes[0] is None) or (
            axis_on_second is not None and self.dimension == 2
        ):
            raise ModelError(f"{label}: an axis means nothing here in the plane; leave it out")
        data = JointData(
            p,
            q,
            axes[0],
            axes[1],
            relative=rotation_of(
                self.data.parameter_set, rotation, self.dimension, Label(label, "rotation")
            ),
            length=(
                self.data.parameter_set.scalar(length, Label(label, "length"), "positive", unit="m")
                if kind == "distance"
                else None
            ),
        )
        joint = Joint(name, kind, data, rules.build(data))
        self._check_beams(joint, label)
        return self.data.add_joint(joint)

    def _check_beams(self, joint: Joint, label: str) -> None:
        """Beams have points, but no orientation that a joint could speak of."""
        for condition in joint.conditions:
            if isinstance(condition, (Coincident, Separation)):
                continue
            turned = [condition.first.body] if isinstance(condition, Offset) else list(joint.bodies)
            for body in turned:
                if isinstance(body, Beam):
                    hinge = "revolute" if self.dimension == 2 else "spherical"
                    raise ModelError(
                        f"{label}: {body.name!r} is a beam, which has no single orientation; use"
                        f" {hinge}, distance, clamp, or point_on_line or point_on_plane with its"
                        " point as the second one"
                    )

    def _ends(
        self, label: str, name: str, first: PointLike | None, second: PointLike | None
    ) -> tuple[Point, Point]:
        if first is not None and second is not None:
            return self.data.find_point(first), self.data.find_point(second)
        if first is not None or second is not None:
            raise ModelError(
                f"{label}: give both points, or none if two bodies have a point called {name!r}"
            )
        found = self.data.points_named(name)
        if len(found) != 2:
            where = ", ".join(repr(p.label) for p in found) or "none"
            raise ModelError(
                f"{label}: without points given, exactly two bodies must have a point {name!r};"
                f" found {where}"
            )
        return found[0], found[1]
