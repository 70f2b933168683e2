"""Joints as functions of their own coordinates z.

With R₁, R₂ the rotations of the joint's bodies and x₁, x₂ its points,

    R₂ = R₁ C(z),     x₂ = x₁ + R₁ d(z),     ω₂ − ω₁ = R₁ W(z) ż,     ḋ = D ż   (D constant),

in the plane with ω and W scalar. A joint turns in one of four ways and slides along constant
directions of its first body:

| joint | turns | slides along |
|---|---|---|
| fixed, prismatic | not | –, its axis |
| revolute, cylindrical, planar | about the axis | –, its axis, both normals |
| universal | about both axes | – |
| spherical, point-on-line, point-on-plane | freely | –, its axis, both normals |
| none (a free body; d leads to its centre of mass) | freely | all axes |

Free turning has Euler parameters p in space, so there is no orientation that they cannot pass:  ω₂
− ω₁ = R₁ 2E(p) ṗ.  They are held at unit length by an equation of their own, and given an inertia
against a change of it: ½ μ (p·ṗ)², which is zero there, so that every coordinate has a mass. With
it forces of inertia keep  d²(p·p)/dt² = 0  by themselves; the multiplier of that equation carries
only what potential energies would change with the length of p, and has no meaning of its own.

P. E. Nikravesh, Computer-Aided Analysis of Mechanical Systems, Prentice Hall 1988, chapter 6 (Euler
parameters).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import casadi as ca

from ...core.symbols import SX
from ...model.body import Body, Point, RigidBody
from ...model.conditions import Axis
from ...model.joints import Joint


class Turning(Enum):
    """How the second body may turn against the first."""

    NOT = 0
    ABOUT_AXIS = 1
    ABOUT_BOTH = 2
    FREELY = 3


class Sliding(Enum):
    """Along which directions of the first body the second point may move."""

    NOT = 0
    AXIS = 1
    NORMALS = 2
    ALL = 3


JOINT_DOFS: dict[str, tuple[Turning, Sliding]] = {
    "fixed": (Turning.NOT, Sliding.NOT),
    "prismatic": (Turning.NOT, Sliding.AXIS),
    "revolute": (Turning.ABOUT_AXIS, Sliding.NOT),
    "cylindrical": (Turning.ABOUT_AXIS, Sliding.AXIS),
    "planar": (Turning.ABOUT_AXIS, Sliding.NORMALS),
    "universal": (Turning.ABOUT_BOTH, Sliding.NOT),
    "spherical": (Turning.FREELY, Sliding.NOT),
    "point-on-line": (Turning.FREELY, Sliding.AXIS),
    "point-on-plane": (Turning.FREELY, Sliding.NORMALS),
}
_TURN_NAMES: dict[Turning, tuple[str, ...]] = {
    Turning.NOT: (),
    Turning.ABOUT_AXIS: ("angle",),
    Turning.ABOUT_BOTH: ("angle 1", "angle 2"),
    Turning.FREELY: ("e0", "e1", "e2", "e3"),
}
CROSS = SX([[0, 0, 1], [1, 0, 0], [0, 1, 0]])
"""Turns the third axis into the first: how the second axis of a universal joint stands to its
first.
"""


@dataclass(frozen=True)
class Relation:
    """One joint in symbols of its own coordinates; see the module."""

    rotation: SX
    """C."""
    angle: SX | None
    """The one that C turns by, in the plane."""
    displacement: SX
    """d."""
    axes: SX
    """W."""
    turning_rate: SX
    """Ẇ ż."""
    directions: SX
    """D."""


@dataclass(frozen=True)
class Place:
    """What a joint connects, in components of the bodies: points, triads (normals…, axis) of both,
    and a constant rotation.
    """

    first: SX
    second: SX
    first_triad: SX
    second_triad: SX
    relative: SX


def ends(joint: Joint | None, body: RigidBody, ground: Body) -> tuple[Point, Point]:
    """Both points of a joint; those of a free body are the origin of the ground and its centre of
    mass.
    """
    if joint is not None:
        return joint.data.first, joint.data.second
    return Point(ground, "origin", SX.zeros(body.dimension)), Point(body, "com", body.com)


def place_of(joint: Joint | None, body: RigidBody, ground: Body) -> Place:
    """Where a joint (or a free body) is."""
    first, second = ends(joint, body, ground)
    identity = SX.eye(body.dimension)
    data = None if joint is None else joint.data
    a, b = (identity if data is None or axis is None else _triad(axis) for axis in _axes(joint))
    relative = identity if data is None or data.relative is None else data.relative
    return Place(first.local, second.local, a, b, relative)


def dofs_of(joint: Joint | None) -> tuple[Turning, Sliding]:
    """How a joint turns and slides."""
    return (Turning.FREELY, Sliding.ALL) if joint is None else JOINT_DOFS[joint.kind]


def coordinate_names(joint: Joint | None, body: Body) -> tuple[str, ...]:
    """One name for each coordinate."""
    turning, sliding = dofs_of(joint)
    n, label = body.dimension, body.name if joint is None else joint.name
    turns: tuple[str, ...] = (
        _TURN_NAMES[turning] if n == 3 or turning is Turning.NOT else ("angle",)
    )
    slides = (
        ("slide",)
        if sliding is Sliding.AXIS
        else ("slide 1", "slide 2")
        if sliding is Sliding.NORMALS
        else tuple("xyz"[:n])
    )
    return tuple(
        f"{label}.{part}" for part in (*turns, *(slides if sliding is not Sliding.NOT else ()))
    )


def coordinate_count(joint: Joint | None, dimension: int) -> int:
    """Number of its coordinates."""
    return coordinate_count_of(dofs_of(joint), dimension)


def coordinate_count_of(dofs: tuple[Turning, Sliding], dimension: int) -> int:
    """Number of coordinates with which a joint turns and slides so."""
    turning, sliding = dofs
    turns = len(_TURN_NAMES[turning]) if dimension == 3 or turning is Turning.NOT else 1
    return turns + _slide_count(sliding, dimension)


def sliding(joint: Joint | None, body: Body) -> list[bool]:
    """For each coordinate whether it is a length, not an angle."""
    slides = _slide_count(dofs_of(joint)[1], body.dimension)
    count = coordinate_count(joint, body.dimension)
    return [False] * (count - slides) + [True] * slides


def _slide_count(sliding: Sliding, dimension: int) -> int:
    return {Sliding.NOT: 0, Sliding.AXIS: 1, Sliding.NORMALS: 2, Sliding.ALL: dimension}[sliding]


def has_euler_parameters(joint: Joint | None, dimension: int) -> bool:
    """Whether four of its coordinates are Euler parameters."""
    return dimension == 3 and dofs_of(joint)[0] is Turning.FREELY


def relation(dofs: tuple[Turning, Sliding], place: Place, z: SX, ż: SX) -> Relation:
    """A joint (or free body) in its coordinates and their rates."""
    turning, sliding = dofs
    turns = (
        _planar_turn if place.first.numel() == 2 and turning is not Turning.NOT else _TURNS[turning]
    )
    C, angle, W, Ẇż, count = turns(place, z, ż)
    directions = _directions(sliding, place)
    n, k = place.first.numel(), z.numel()
    D = ca.horzcat(SX.zeros(n, count), directions)
    axes = ca.horzcat(W, SX.zeros(W.shape[0], k - count))
    d = directions @ z[count:] if k > count else SX.zeros(n)
    return Relation(C, angle, d, axes, Ẇż, D)


Turn = tuple[SX, SX | None, SX, SX, int]
"""C, its angle in the plane, W, Ẇ ż, and how many coordinates they take."""


def _no_turn(place: Place, z: SX, ż: SX) -> Turn:
    C = place.relative
    if C.shape[0] == 2:
        return C, ca.atan2(C[1, 0], C[0, 0]), SX(1, 0), SX.zeros(1), 0
    return C, None, SX(3, 0), SX.zeros(3), 0


def _planar_turn(place: Place, z: SX, ż: SX) -> Turn:
    return _turned(z[0])[:2, :2], z[0], SX(1), SX.zeros(1), 1


def _turn_about_axis(place: Place, z: SX, ż: SX) -> Turn:
    A, B = place.first_triad, place.second_triad
    return A @ _turned(z[0]) @ B.T, None, A[:, 2], SX.zeros(3), 1


def _turn_about_both(place: Place, z: SX, ż: SX) -> Turn:
    A, B = place.first_triad, place.second_triad
    halfway = A @ _turned(z[0])
    W = ca.horzcat(A[:, 2], halfway[:, 0])
    return halfway @ CROSS @ _turned(z[1]) @ B.T, None, W, halfway[:, 1] * (ż[0] * ż[1]), 2


def _turn_freely(place: Place, z: SX, ż: SX) -> Turn:
    e0, e = z[0], z[1:4]
    C = (e0**2 - ca.dot(e, e)) * SX.eye(3) + 2 * (e @ e.T) + 2 * e0 * ca.skew(e)
    W = 2 * ca.horzcat(-e, e0 * SX.eye(3) + ca.skew(e))
    return ca.densify(C), None, ca.densify(W), SX.zeros(3), 4  # E(ṗ) ṗ = 0


_TURNS: dict[Turning, Callable[[Place, SX, SX], Turn]] = {
    Turning.NOT: _no_turn,
    Turning.ABOUT_AXIS: _turn_about_axis,
    Turning.ABOUT_BOTH: _turn_about_both,
    Turning.FREELY: _turn_freely,
}


def _directions(sliding: Sliding, place: Place) -> SX:
    n = place.first.numel()
    triad = place.first_triad
    if sliding is Sliding.ALL:
        return ca.densify(SX.eye(n))
    return {Sliding.NOT: SX(n, 0), Sliding.AXIS: triad[:, n - 1], Sliding.NORMALS: triad[:, :2]}[
        sliding
    ]


def _turned(angle: SX) -> SX:
    """A rotation about the third axis."""
    c, s = ca.cos(angle), ca.sin(angle)
    return ca.blockcat([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def _axes(joint: Joint | None) -> tuple[Axis | None, Axis | None]:
    return (None, None) if joint is None else (joint.data.first_axis, joint.data.second_axis)


def _triad(axis: Axis) -> SX:
    return ca.horzcat(*axis.normals, axis.direction)
