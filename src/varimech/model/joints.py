"""Joints: each a short list of geometric conditions between a point of one body and a point of
another.

| joint | plane: freedoms left | space: freedoms left | conditions |
|---|---|---|---|
| revolute | 1 | 1 | coincident points, (space) aligned axes |
| prismatic | 1 | 1 | same orientation, point on a line |
| fixed | 0 | 0 | coincident points, same orientation |
| point-on-line | 2 | 4 | point on a line |
| distance | 2 | 5 | separation |
| spherical | | 3 | coincident points |
| cylindrical | | 2 | aligned axes, point on a line |
| universal | | 2 | coincident points, perpendicular axes |
| planar | | 3 | aligned normals, point on a plane |
| point-on-plane | | 5 | point on a plane |

To add one: write its builder and its line in `JOINTS`, and how it turns and slides in
`coordinates/relative/joints.py`; the conformance tests pick it up from there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from ..core.symbols import SX
from .body import Body, Frames, Point
from .conditions import (
    Aligned,
    Axis,
    Coincident,
    Condition,
    Offset,
    Perpendicular,
    SameOrientation,
    Separation,
)
from .named import Named
from .scalar_outputs import Slide, Turn


@dataclass(frozen=True)
class JointData:
    """What a joint is made from; which entries a kind needs is said in `JOINTS`."""

    first: Point
    second: Point
    first_axis: Axis | None = None
    second_axis: Axis | None = None
    relative: SX | None = None
    length: SX | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Joint(Named):
    """A named joint between two bodies; its reaction is the force on the second body."""

    name: str
    kind: str
    data: JointData
    conditions: tuple[Condition, ...]

    @property
    def bodies(self) -> tuple[Body, Body]:
        """First and second body."""
        return self.data.first.body, self.data.second.body

    @property
    def told(self) -> str:
        """Its kind, and what it joins."""
        return f", {self.kind}, between {self.data.first.label!r} and {self.data.second.label!r}"

    def residuals(self, frames: Frames, time: SX | None = None) -> SX:
        """All its equations, none of them shared away."""
        return ca.vertcat(*[c.residuals(frames) for c in self.conditions])

    @property
    def turn(self) -> Turn | None:
        """Its angle, if it has one."""
        first, second = self.bodies
        if not JOINTS[self.kind].turns:
            return None
        if first.dimension == 2:
            return planar_angle(first, second)
        assert self.data.first_axis is not None and self.data.second_axis is not None
        reference, quarter = self.data.first_axis.normals
        return Turn(first, reference, quarter, second, self.data.second_axis.normals[0])

    @property
    def slide(self) -> Slide | None:
        """Its displacement, if it has one."""
        if not JOINTS[self.kind].slides or self.data.first_axis is None:
            return None
        return Slide(self.data.first, self.data.first_axis, self.data.second)


def planar_angle(first: Body, second: Body) -> Turn:
    """The angle of one planar body against another."""
    x, y = SX([1, 0]), SX([0, 1])
    return Turn(first, x, y, second, x)


@dataclass(frozen=True)
class JointKind:
    """How a kind of joint is built and where it may be used."""

    build: Callable[[JointData], tuple[Condition, ...]]
    dimensions: tuple[int, ...] = (2, 3)
    axis: tuple[int, ...] = ()
    """Dimensions in which it needs an axis."""
    turns: bool = False
    slides: bool = False
    instead: str = ""
    """What to use where the dimension does not fit; nothing if it is not needed there."""
    axis_name: str = "axis"
    """What users call its axis."""


def _revolute(d: JointData) -> tuple[Condition, ...]:
    if d.first_axis is None or d.second_axis is None:
        return (Coincident(d.first, d.second),)
    return (Coincident(d.first, d.second), Aligned(d.first_axis, d.second_axis))


def _prismatic(d: JointData) -> tuple[Condition, ...]:
    return (_orientation(d), _on_line(d))


def _fixed(d: JointData) -> tuple[Condition, ...]:
    return (Coincident(d.first, d.second), _orientation(d))


def _point_on_line(d: JointData) -> tuple[Condition, ...]:
    return (_on_line(d),)


def _distance(d: JointData) -> tuple[Condition, ...]:
    assert d.length is not None
    return (Separation(d.first, d.second, d.length),)


def _spherical(d: JointData) -> tuple[Condition, ...]:
    return (Coincident(d.first, d.second),)


def _cylindrical(d: JointData) -> tuple[Condition, ...]:
    assert d.first_axis is not None and d.second_axis is not None
    return (Aligned(d.first_axis, d.second_axis), _on_line(d))


def _universal(d: JointData) -> tuple[Condition, ...]:
    assert d.first_axis is not None and d.second_axis is not None
    return (Coincident(d.first, d.second), Perpendicular(d.first_axis, d.second_axis))


def _planar(d: JointData) -> tuple[Condition, ...]:
    assert d.first_axis is not None and d.second_axis is not None
    return (Aligned(d.first_axis, d.second_axis), *_point_on_plane(d))


def _point_on_plane(d: JointData) -> tuple[Condition, ...]:
    assert d.first_axis is not None
    return (Offset(d.first, (d.first_axis.direction,), d.second),)


def _orientation(d: JointData) -> SameOrientation:
    assert d.relative is not None
    return SameOrientation(d.first.body, d.second.body, d.relative)


def _on_line(d: JointData) -> Offset:
    assert d.first_axis is not None
    return Offset(d.first, d.first_axis.normals, d.second)


JOINTS: dict[str, JointKind] = {
    "revolute": JointKind(_revolute, axis=(3,), turns=True),
    "prismatic": JointKind(_prismatic, axis=(2, 3), slides=True),
    "fixed": JointKind(_fixed),
    "point-on-line": JointKind(_point_on_line, axis=(2, 3), slides=True),
    "distance": JointKind(_distance),
    "spherical": JointKind(_spherical, dimensions=(3,), instead="revolute"),
    "cylindrical": JointKind(
        _cylindrical, dimensions=(3,), axis=(3,), turns=True, slides=True, instead="prismatic"
    ),
    "universal": JointKind(_universal, dimensions=(3,), axis=(3,), instead="revolute"),
    "planar": JointKind(_planar, dimensions=(3,), axis=(3,), turns=True, axis_name="normal"),
    "point-on-plane": JointKind(
        _point_on_plane, dimensions=(3,), axis=(3,), instead="point_on_line", axis_name="normal"
    ),
}
