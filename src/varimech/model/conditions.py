"""Geometric conditions: the few relations that all joints consist of.

Each gives, in terms of the frames of two bodies, the scalar residuals that vanish (always
independent of each other), and whether the two bodies *share* a point or a direction because of it.
Coordinates that can share (natural coordinates) then need no equation.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from ..core.symbols import SX
from .body import Body, Frames, Point, gap


@dataclass(frozen=True)
class Axis:
    """A unit direction fixed to a body, and the normals that complete it to a right-handed triad
    (normals…, direction).
    """

    body: Body
    direction: SX
    normals: tuple[SX, ...]


@dataclass(frozen=True)
class Shared:
    """A point (`is_point`) or a direction that two bodies have in common, in local components of
    each.
    """

    is_point: bool
    first: Body
    first_local: SX
    second: Body
    second_local: SX


class Condition(ABC):
    """A geometric condition between two bodies; joints consist of conditions."""

    angular: ClassVar[bool] = False
    """Whether its residuals are angles; otherwise they are lengths."""

    @abstractmethod
    def residuals(self, frames: Frames) -> SX:
        """Residuals that vanish, as a column."""

    def at_start(self, frames: Frames) -> SX:
        """Residuals for assembly, where `residuals` also vanish at wrong poses (an angle half a
        turn off).
        """
        return self.residuals(frames)

    def misfit(self, frames: Frames) -> SX:
        """Lengths (m), or chords of angles, by which the condition is violated; non-zero at the
        wrong poses where `residuals` vanish as well (a direction reversed).
        """
        return self.residuals(frames)

    @abstractmethod
    def oriented(self) -> tuple[Body, ...]:
        """Bodies whose orientation it depends on; these cannot be beams."""

    def shares(self) -> list[Shared]:
        """Points and directions that the two bodies share if the condition holds; if there are any,
        sharing replaces the residuals.
        """
        return []


@dataclass(frozen=True)
class Coincident(Condition):
    """Two points are at the same place."""

    first: Point
    second: Point

    def residuals(self, frames: Frames) -> SX:
        return gap(frames, self.first, self.second)

    def oriented(self) -> tuple[Body, ...]:
        return ()

    def shares(self) -> list[Shared]:
        return [
            Shared(True, self.first.body, self.first.local, self.second.body, self.second.local)
        ]


@dataclass(frozen=True)
class _OfAxes(Condition):
    angular = True
    first: Axis
    second: Axis

    def directions(self, frames: Frames) -> tuple[SX, SX]:
        """Both directions, in global components."""
        first, second = (frames[x.body].direction(x.direction) for x in (self.first, self.second))
        return first, second

    def oriented(self) -> tuple[Body, ...]:
        return self.first.body, self.second.body


class Aligned(_OfAxes):
    """Two directions are the same (space)."""

    def residuals(self, frames: Frames) -> SX:
        d = frames[self.second.body].direction(self.second.direction)
        return ca.vertcat(
            *[ca.dot(frames[self.first.body].direction(n), d) for n in self.first.normals]
        )

    def misfit(self, frames: Frames) -> SX:
        first, second = self.directions(frames)
        return first - second

    def shares(self) -> list[Shared]:
        first, second = self.first, self.second
        return [Shared(False, first.body, first.direction, second.body, second.direction)]


@dataclass(frozen=True)
class SameOrientation(Condition):
    """The second body keeps the rotation C relative to the first:  R₂ = R₁ C."""

    angular = True
    first: Body
    second: Body
    relative: SX

    def residuals(self, frames: Frames) -> SX:
        target, R = frames[self.first].rotation @ self.relative, frames[self.second].rotation
        pairs = [(0, 1)] if R.shape[0] == 2 else [(0, 1), (1, 2), (2, 0)]
        return ca.vertcat(*[ca.dot(target[:, i], R[:, j]) for i, j in pairs])

    def misfit(self, frames: Frames) -> SX:
        return chord(frames[self.first].rotation @ self.relative, frames[self.second].rotation)

    def oriented(self) -> tuple[Body, ...]:
        return self.first, self.second

    def shares(self) -> list[Shared]:
        n = self.relative.shape[0]
        axes = [SX.eye(n)[:, k] for k in range(1 if n == 2 else 3)]
        return [Shared(False, self.first, e, self.second, self.relative.T @ e) for e in axes]


class Perpendicular(_OfAxes):
    """Two directions are at right angles (space)."""

    def residuals(self, frames: Frames) -> SX:
        return ca.dot(*self.directions(frames))


@dataclass(frozen=True)
class Offset(Condition):
    """The second point has no offset from the first along directions fixed to the first body.

    With all normals of an axis as directions, the point is on the line along it; with one
    direction, it is on the plane normal to it.
    """

    first: Point
    directions: tuple[SX, ...]
    second: Point

    def residuals(self, frames: Frames) -> SX:
        d, frame = gap(frames, self.first, self.second), frames[self.first.body]
        return ca.vertcat(*[ca.dot(frame.direction(n), d) for n in self.directions])

    def oriented(self) -> tuple[Body, ...]:
        return (self.first.body,)


@dataclass(frozen=True)
class Separation(Condition):
    """Two points keep a distance L:  (d·d − L²) / 2L = 0, so that the multiplier is the force along
    d.
    """

    first: Point
    second: Point
    length: SX

    def residuals(self, frames: Frames) -> SX:
        d = gap(frames, self.first, self.second)
        return (ca.dot(d, d) - self.length**2) / (2 * self.length)

    def misfit(self, frames: Frames) -> SX:
        d = gap(frames, self.first, self.second)
        return ca.sqrt(ca.dot(d, d)) - self.length

    def oriented(self) -> tuple[Body, ...]:
        return ()


def chord(first: SX, second: SX) -> SX:
    """Rows whose norm is the chord of the angle between two orientations, 2 sin(θ/2)."""
    difference = first - second
    return difference[:, 0] if first.shape[0] == 2 else ca.vec(difference) / math.sqrt(2)
