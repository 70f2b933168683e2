"""Builder methods of all elements, with types for editors and type checkers.

Written by `python tools/write_elements.py` from the fields of the elements; change those.
"""

from __future__ import annotations

from typing import Any

from ..model.model_data import PointLike
from ..model.writing import ModelBuilder, Number, change
from .clamp import Clamp
from .cylindrical import Cylindrical
from .distance import DistanceJoint
from .fixed import Fixed
from .planar import Planar
from .point_on_line import PointOnLine
from .point_on_plane import PointOnPlane
from .prismatic import Prismatic
from .revolute import Revolute
from .spherical import Spherical
from .universal import Universal


class ElementMethods(ModelBuilder):
    """A method for every element."""

    @change
    def revolute(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        axis: Any = None,
        axis_on_second: Any = None,
    ) -> Revolute:
        """A hinge: two points coincide and, in space, share an axis.

        `revolute("A")` alone joins the two bodies that have a point called "A". The reaction is the
        force on the second body.

        Args:
            name: its name.
            first: point of the first body; without points, two bodies that have one of the joint's
                name are joined.
            second: point of the second body, on which the reaction acts.
            axis: direction of the axis in the first body's frame; in space only.
            axis_on_second: the same direction in the second body's frame; the same components if
                not given (the angle is then zero where the bodies are aligned).
        """
        return self._add(Revolute, locals())

    @change
    def prismatic(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        axis: Any,
        rotation: Any = None,
    ) -> Prismatic:
        """A slider: the second point moves along a line of the first body, without turning.

        Args:
            name: its name.
            first: point of the first body; without points, two bodies that have one of the joint's
                name are joined.
            second: point of the second body, on which the reaction acts.
            axis: direction of the line in the first body's frame.
            rotation: constant orientation of the second body relative to the first: an angle in the
                plane, a 3×3 matrix in space (see `varimech.rotation`); aligned if not given.
        """
        return self._add(Prismatic, locals())

    @change
    def fixed(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        rotation: Any = None,
    ) -> Fixed:
        """A weld: points coincide, and the second body keeps its orientation relative to the first.

        Args:
            name: its name.
            first: point of the first body; without points, two bodies that have one of the joint's
                name are joined.
            second: point of the second body, on which the reaction acts.
            rotation: orientation of the second body relative to the first: an angle in the plane, a
                3×3 matrix in space (see `varimech.rotation`); aligned if not given.
        """
        return self._add(Fixed, locals())

    @change
    def point_on_line(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        axis: Any,
    ) -> PointOnLine:
        """The second point stays on the line through the first point.

        Args:
            name: its name.
            first: point of the first body; without points, two bodies that have one of the joint's
                name are joined.
            second: point of the second body, on which the reaction acts.
            axis: direction of the line in the first body's frame.
        """
        return self._add(PointOnLine, locals())

    @change
    def distance(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        length: Number,
    ) -> DistanceJoint:
        """Two points keep a distance, like the ends of a massless rod.

        Args:
            name: its name.
            first: point of the first body; without points, two bodies that have one of the joint's
                name are joined.
            second: point of the second body, on which the reaction acts.
            length: the distance (m).
        """
        return self._add(DistanceJoint, locals())

    @change
    def spherical(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
    ) -> Spherical:
        """A ball joint (space): two points coincide.

        Args:
            name: its name.
            first: point of the first body; without points, two bodies that have one of the joint's
                name are joined.
            second: point of the second body, on which the reaction acts.
        """
        return self._add(Spherical, locals())

    @change
    def cylindrical(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        axis: Any,
        axis_on_second: Any = None,
    ) -> Cylindrical:
        """A sleeve on a shaft (space): the bodies share a line, turn about it and slide along it.

        Args:
            name: its name.
            first: point of the first body; without points, two bodies that have one of the joint's
                name are joined.
            second: point of the second body, on which the reaction acts.
            axis: direction of the line in the first body's frame.
            axis_on_second: the same direction in the second body's frame; the same components if
                not given.
        """
        return self._add(Cylindrical, locals())

    @change
    def universal(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        axis: Any,
        axis_on_second: Any,
    ) -> Universal:
        """A Hooke joint (space): points coincide, an axis of each body stays at right angles to one of
        the other.

        Args:
            name: its name.
            first: point of the first body; without points, two bodies that have one of the joint's
                name are joined.
            second: point of the second body, on which the reaction acts.
            axis: direction of the axis in the first body's frame.
            axis_on_second: direction of the axis in the second body's frame.
        """
        return self._add(Universal, locals())

    @change
    def planar(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        normal: Any,
        normal_on_second: Any = None,
    ) -> Planar:
        """A block on a table (space): the second point stays on the plane through the first one, and
        the bodies turn about its normal.

        Args:
            name: its name.
            first: point of the first body; without points, two bodies that have one of the joint's
                name are joined.
            second: point of the second body, on which the reaction acts.
            normal: normal of the plane in the first body's frame.
            normal_on_second: the same direction in the second body's frame; the same components if
                not given.
        """
        return self._add(Planar, locals())

    @change
    def point_on_plane(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        normal: Any,
    ) -> PointOnPlane:
        """The second point stays on the plane through the first point (space).

        Args:
            name: its name.
            first: point of the first body; without points, two bodies that have one of the joint's
                name are joined.
            second: point of the second body, on which the reaction acts.
            normal: normal of the plane in the first body's frame.
        """
        return self._add(PointOnPlane, locals())

    @change
    def clamp(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        direction: Any,
    ) -> Clamp:
        """Hold an end of a beam (the second point) in place and in a direction, by a rigid body or the
        ground (the first point).

        At the start the beam has the direction, unless other values given there say otherwise.
        `reaction` and `reaction_torque` are those on the beam.

        Args:
            name: its name.
            first: point of the first body; without points, two bodies that have one of the joint's
                name are joined.
            second: point of the second body, on which the reaction acts.
            direction: direction in which the beam (of a curved one, its tangent) leaves the clamp,
                in the first body's frame.
        """
        return self._add(Clamp, locals())
