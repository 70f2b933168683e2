"""Joints: each is a short list of geometric conditions between a point of one body and a point of
another, and, where it can be part of a tree, a description of the relative motion of the two
bodies.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import casadi as ca

from ..core.errors import ModelError
from ..core.symbols import SX
from . import fields
from .beam import Beam
from .body import Body, Frames
from .conditions import Condition
from .element import Element
from .relative_motion import RelativeMotion
from .scalar_outputs import Slide, Turn

if TYPE_CHECKING:
    from .beam_initial_conditions import DirectionCondition
    from .model_data import ModelData

SYMBOLS = ("pin", "slider", "ball", "universal", "fixed", "plane", "distance")
"""Symbols with which reports can draw a joint."""


class Joint(Element):
    """A named joint between two bodies; its reaction is the force on the second body."""

    file_section = "joints"
    dimensions: ClassVar[tuple[int, ...]] = (2, 3)
    """Dimensions in which it may be used: 2 (plane), 3 (space)."""
    instead: ClassVar[str] = ""
    """What to use in the plane instead; empty if no joint is needed there."""
    symbol: ClassVar[str] = "pin"
    """Symbol with which a report draws it, one of `SYMBOLS`."""

    first = fields.End(
        "Point of the first body. If both points are omitted, the joint connects the two bodies that"
        " have a point with the joint's name."
    )
    second = fields.End("Point of the second body, on which the reaction acts.")

    @abstractmethod
    def conditions(self) -> tuple[Condition, ...]:
        """Conditions between the two bodies."""

    def relative_motion(self) -> RelativeMotion | None:
        """Motion of the second body relative to the first, in coordinates of the joint. If None,
        trees are always cut at this joint.
        """
        return None

    def angle(self) -> Turn | None:
        """The angle that it reports as an output, if any."""
        return None

    def displacement(self) -> Slide | None:
        """The displacement that it reports as an output, if any."""
        return None

    def initial_direction(self) -> DirectionCondition | None:
        """Direction in which a beam leaves it at t = 0, unless initial values determine it."""
        return None

    @classmethod
    def noun(cls) -> str:
        return "joint"

    @property
    def label(self) -> str:
        return f"{self.kind} joint {self.name!r}"

    @property
    def bodies(self) -> tuple[Body, Body]:
        """First and second body."""
        return self.first.body, self.second.body

    @property
    def details(self) -> str:
        """The points that it joins, as text."""
        return f" between {self.first.label!r} and {self.second.label!r}"

    @cached_property
    def motion(self) -> RelativeMotion | None:
        """Its relative motion, computed once."""
        return self.relative_motion()

    def residuals(self, frames: Frames, time: SX | None = None) -> SX:
        """All its equations, including those that coordinates may replace by sharing."""
        return ca.vertcat(*[c.residuals(frames) for c in self.conditions()])

    def check_given(self, model: ModelData) -> None:
        if self.dimension not in self.dimensions:
            remedy = (
                f"use {self.instead} instead"
                if self.instead
                else "its bodies move in a plane anyway; omit the joint"
            )
            raise ModelError(
                f"mechanism {model.name!r} is planar", element=self.label, remedy=remedy
            )
        self._find_ends(model)

    def _find_ends(self, model: ModelData) -> None:
        first, second = self.given["first"], self.given["second"]
        if (first is None) != (second is None):
            raise ModelError(
                f"give both points, or none if two bodies have a point called {self.name!r}",
                element=self.label,
            )
        if first is not None:
            return
        points = model.points_named(self.name)
        if len(points) != 2:
            where = ", ".join(repr(p.label) for p in points) or "none"
            problem = (
                f"with no points given, exactly two bodies must have a point {self.name!r};"
                f" found {where}"
            )
            raise ModelError(problem, element=self.label)
        self.given |= {"first": points[0], "second": points[1]}

    def prepare(self, model: ModelData) -> None:
        if self.first.body is self.second.body:
            raise ModelError(
                f"both points are on body {self.first.body.name!r}; a joint connects two bodies",
                element=self.label,
            )
        for condition in self.conditions():
            for body in condition.oriented():
                if not body.is_rigid:
                    hinge = "revolute" if self.dimension == 2 else "spherical"
                    problem = f"{body.name!r} is a beam, which has no single orientation"
                    remedy = (
                        f"use {hinge}, distance, clamp, or point_on_line or point_on_plane"
                        " with its point as the second one"
                    )
                    raise ModelError(problem, element=self.label, remedy=remedy)

    def add_to(self, model: ModelData) -> None:
        model.add_joint(self)


class EndJoint(Joint):
    """A joint that clamps an end of a beam, its second point, and so bends it."""

    @property
    def beam(self) -> Beam:
        """The beam that it clamps."""
        assert isinstance(self.second.body, Beam)
        return self.second.body

    @abstractmethod
    def moment(self, frames: Frames) -> SX:
        """Moment on the beam (N·m)."""

    @abstractmethod
    def axial_force(self, frames: Frames) -> SX:
        """Its contribution to the force along the segment that it clamps (N)."""
