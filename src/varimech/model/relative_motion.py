"""Joints as functions of their own coordinates z.

With R₁, R₂ the rotations of the joint's bodies and x₁, x₂ its points,

    R₂ = R₁ C(z),     x₂ = x₁ + R₁ d(z),     ω₂ − ω₁ = R₁ W(z) ż,     ḋ = D(z) ż,

in the plane with ω and W scalar. C and d are any functions (`motion_functions`: W and D follow from
them); most joints turn in one of four ways and slide along constant directions of their first body
(`TurnAndSlide`):

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

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

import casadi as ca
import numpy as np

from ..core.symbols import SX
from .conditions import Axis


class Turning(Enum):
    """How the second body may rotate relative to the first."""

    NOT = 0
    ABOUT_AXIS = 1
    ABOUT_BOTH = 2
    FREELY = 3


class Sliding(Enum):
    """Directions of the first body along which the second point may move."""

    NOT = 0
    AXIS = 1
    NORMALS = 2
    ALL = 3


_TURN_NAMES: dict[Turning, tuple[str, ...]] = {
    Turning.NOT: (),
    Turning.ABOUT_AXIS: ("angle",),
    Turning.ABOUT_BOTH: ("angle 1", "angle 2"),
    Turning.FREELY: ("e0", "e1", "e2", "e3"),
}
_SLIDE_NAMES: dict[Sliding, tuple[str, ...]] = {
    Sliding.NOT: (),
    Sliding.AXIS: ("slide",),
    Sliding.NORMALS: ("slide 1", "slide 2"),
    Sliding.ALL: ("x", "y", "z"),
}
CROSS = SX([[0, 0, 1], [1, 0, 0], [0, 1, 0]])
"""Turns the third axis into the first: orientation of the second axis of a universal joint relative
to its first.
"""


@dataclass(frozen=True)
class Relation:
    """The relation of one joint in symbols of its own coordinates; see the module docstring."""

    rotation: SX
    """C."""
    angle: SX | None
    """The angle of the rotation C, in the plane."""
    displacement: SX
    """d."""
    axes: SX
    """W."""
    turning_rate: SX
    """Ẇ ż."""
    directions: SX
    """D."""
    sliding_rate: SX | None = None
    """Ḋ ż; None where D is constant."""


class RelativeMotion(ABC):
    """Motion of the second body of a joint relative to the first, in coordinates of the joint."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """One name for each coordinate; "angle" is the angle of the joint, if it has one."""

    @property
    @abstractmethod
    def lengths(self) -> tuple[bool, ...]:
        """For each coordinate, whether it is a length rather than an angle."""

    @property
    def has_euler_parameters(self) -> bool:
        """Whether the first four coordinates are Euler parameters."""
        return False

    @property
    def dofs(self) -> int:
        """Number of degrees of freedom."""
        return len(self.names) - int(self.has_euler_parameters)

    geometry: tuple[SX, ...]
    """Expressions of parameters that it depends on in addition to its coordinates."""

    @property
    @abstractmethod
    def key(self) -> Hashable:
        """Hashable that is equal for motions that differ in their geometry only; None for a motion
        unlike any other.
        """

    @abstractmethod
    def restated(self, geometry: Sequence[SX]) -> RelativeMotion:
        """The same motion with another geometry."""

    @abstractmethod
    def relation(self, z: SX, ż: SX) -> Relation:
        """C, d and their rates."""

    @abstractmethod
    def values(self, geometry: Sequence[np.ndarray], C: np.ndarray, d: np.ndarray) -> np.ndarray:
        """Coordinates z for a given rotation and displacement, as far as the joint allows these."""

    @abstractmethod
    def rotation_at(self, geometry: Sequence[np.ndarray], angle: float) -> np.ndarray:
        """C where the coordinate "angle" has this value and all other rotations are zero."""


@dataclass(frozen=True, eq=False)
class TurnAndSlide(RelativeMotion):
    """A motion with the rotations and translations of most joints."""

    turning: Turning
    sliding: Sliding
    geometry: tuple[SX, ...]
    """Triads (normals…, axis) of both bodies, and the constant rotation of joints that do not turn.
    """

    @classmethod
    def of(
        cls,
        dimension: int,
        turning: Turning,
        sliding: Sliding,
        axis: Axis | None = None,
        axis_on_second: Axis | None = None,
        relative: SX | None = None,
    ) -> TurnAndSlide:
        """Build a motion from the axes of both bodies and a rotation, the identity if None."""
        identity = SX.eye(dimension)
        triads = (identity if x is None else _triad(x) for x in (axis, axis_on_second))
        return cls(turning, sliding, (*triads, identity if relative is None else relative))

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""
        return int(self.geometry[0].shape[0])

    @property
    def _turns(self) -> tuple[str, ...]:
        several = self.dimension == 3 or self.turning is Turning.NOT
        return _TURN_NAMES[self.turning] if several else ("angle",)

    @property
    def _slides(self) -> tuple[str, ...]:
        return _SLIDE_NAMES[self.sliding][: self.dimension]

    @property
    def names(self) -> tuple[str, ...]:
        return (*self._turns, *self._slides)

    @property
    def lengths(self) -> tuple[bool, ...]:
        return (False,) * len(self._turns) + (True,) * len(self._slides)

    @property
    def has_euler_parameters(self) -> bool:
        return self.dimension == 3 and self.turning is Turning.FREELY

    @property
    def key(self) -> Hashable:
        return self.turning, self.sliding, self.dimension

    def restated(self, geometry: Sequence[SX]) -> RelativeMotion:
        return replace(self, geometry=tuple(geometry))

    def relation(self, z: SX, ż: SX) -> Relation:
        A, B, C0 = self.geometry
        n, k, count = self.dimension, z.numel(), len(self._turns)
        if n == 2 and self.turning is not Turning.NOT:
            C, angle, W, Ẇż = _planar_turn(A, B, C0, z, ż)
        else:
            C, angle, W, Ẇż = _TURNS[self.turning](A, B, C0, z, ż)
        directions = self._directions(A)
        D = ca.horzcat(SX.zeros(n, count), directions)
        axes = ca.horzcat(W, SX.zeros(W.shape[0], k - count))
        d = directions @ z[count:] if k > count else SX.zeros(n)
        return Relation(C, angle, d, axes, Ẇż, D)

    def _directions(self, triad: SX) -> SX:
        n = self.dimension
        if self.sliding is Sliding.ALL:
            return ca.densify(SX.eye(n))
        return {
            Sliding.NOT: SX(n, 0),
            Sliding.AXIS: triad[:, n - 1],
            Sliding.NORMALS: triad[:, :2],
        }[self.sliding]

    def values(self, geometry: Sequence[np.ndarray], C: np.ndarray, d: np.ndarray) -> np.ndarray:
        A, B, _ = geometry
        n = d.size
        along = {
            Sliding.NOT: np.zeros((n, 0)),
            Sliding.AXIS: A[:, n - 1 :],
            Sliding.NORMALS: A[:, :2],
            Sliding.ALL: np.eye(n),
        }[self.sliding]
        return np.concatenate([self._turn_values(A, B, C), along.T @ d])

    def _turn_values(self, A: np.ndarray, B: np.ndarray, C: np.ndarray) -> np.ndarray:
        if self.turning is Turning.NOT:
            return np.zeros(0)
        if C.shape[0] == 2:
            return np.array([np.arctan2(C[1, 0], C[0, 0])])
        if self.turning is Turning.FREELY:
            return euler_parameters(C)
        T = A.T @ C @ B
        if self.turning is Turning.ABOUT_AXIS:
            return np.array([np.arctan2(T[1, 0] - T[0, 1], T[0, 0] + T[1, 1])])
        first = np.arctan2(T[1, 2], T[0, 2])
        U = np.array(ca.DM(CROSS)).T @ about_third(-first) @ T
        return np.array([first, np.arctan2(U[1, 0], U[0, 0])])

    def rotation_at(self, geometry: Sequence[np.ndarray], angle: float) -> np.ndarray:
        A, B, C0 = geometry
        if self.turning is Turning.ABOUT_AXIS:
            return planar(angle) if self.dimension == 2 else A @ about_third(angle) @ B.T
        if self.turning is Turning.ABOUT_BOTH:
            return np.asarray(A @ (np.array(ca.DM(CROSS)) @ B.T))
        return C0 if self.turning is Turning.NOT else np.eye(self.dimension)


Turn = tuple[SX, SX | None, SX, SX]
"""C, its angle in the plane, W and Ẇ ż."""


def _no_turn(A: SX, B: SX, C: SX, z: SX, ż: SX) -> Turn:
    if C.shape[0] == 2:
        return C, ca.atan2(C[1, 0], C[0, 0]), SX(1, 0), SX.zeros(1)
    return C, None, SX(3, 0), SX.zeros(3)


def _planar_turn(A: SX, B: SX, C: SX, z: SX, ż: SX) -> Turn:
    return _turned(z[0])[:2, :2], z[0], SX(1), SX.zeros(1)


def _turn_about_axis(A: SX, B: SX, C: SX, z: SX, ż: SX) -> Turn:
    return A @ _turned(z[0]) @ B.T, None, A[:, 2], SX.zeros(3)


def _turn_about_both(A: SX, B: SX, C: SX, z: SX, ż: SX) -> Turn:
    halfway = A @ _turned(z[0])
    W = ca.horzcat(A[:, 2], halfway[:, 0])
    return halfway @ CROSS @ _turned(z[1]) @ B.T, None, W, halfway[:, 1] * (ż[0] * ż[1])


def _turn_freely(A: SX, B: SX, C: SX, z: SX, ż: SX) -> Turn:
    e0, e = z[0], z[1:4]
    C = (e0**2 - ca.dot(e, e)) * SX.eye(3) + 2 * (e @ e.T) + 2 * e0 * ca.skew(e)
    W = 2 * ca.horzcat(-e, e0 * SX.eye(3) + ca.skew(e))
    return ca.densify(C), None, ca.densify(W), SX.zeros(3)  # E(ṗ) ṗ = 0


_TURNS: dict[Turning, Callable[[SX, SX, SX, SX, SX], Turn]] = {
    Turning.NOT: _no_turn,
    Turning.ABOUT_AXIS: _turn_about_axis,
    Turning.ABOUT_BOTH: _turn_about_both,
    Turning.FREELY: _turn_freely,
}


def rotation_about(first: Axis, second: Axis, angle: SX) -> SX:
    """C of bodies that share an axis, for a rotation by an angle (rad) about it."""
    return _triad(first) @ _turned(angle) @ _triad(second).T


def _turned(angle: SX) -> SX:
    """Rotation about the third axis."""
    c, s = ca.cos(angle), ca.sin(angle)
    return ca.blockcat([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def _triad(axis: Axis) -> SX:
    return ca.horzcat(*axis.normals, axis.direction)


def planar(angle: float) -> np.ndarray:
    """Rotation in the plane, in numbers."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


def about_third(angle: float) -> np.ndarray:
    """Rotation about the third axis, in numbers."""
    R = np.eye(3)
    R[:2, :2] = planar(angle)
    return R


def euler_parameters(R: np.ndarray) -> np.ndarray:
    """Return p with R = R(p), computed from its largest component, which is at least one half."""
    trace = np.trace(R)
    squares = np.array([1 + trace, *(1 - trace + 2 * np.diag(R))]) / 4
    k = int(squares.argmax())
    cross = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    p = np.empty(4)
    if k == 0:
        p[0], p[1:] = squares[0], cross / 4
    else:
        p[0], p[1:] = cross[k - 1] / 4, (R[k - 1] + R[:, k - 1]) / 4
        p[k] = squares[k]
    return np.asarray(p / np.linalg.norm(p))
