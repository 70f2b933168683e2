"""Scalar outputs of a mechanism: an angle, a displacement, a distance, a coordinate.

Springs store energy in them, drivers impose them, initial conditions prescribe them, results report
them. Each has a value, a rate (linear in the velocities) and a *deviation* from a target: an
algebraic residual with unit derivative, so that the multiplier of a driven output is the force or
torque that drives it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol

import casadi as ca

from ..core.symbols import SX, traced, wrapped
from .body import Body, Frames, Point, gap, gap_rate
from .conditions import Axis

DEPTH = 5
"""Depth of operations to which directions are compared: enough for constants and simple expressions
of parameters.
"""


class ScalarOutput(Protocol):
    """A scalar that can be reported, prescribed initially, driven, or loaded by a spring."""

    @property
    def unit(self) -> str:
        """Unit of its values: "m" or "rad"."""
        ...

    @property
    def points(self) -> tuple[Point, ...]:
        """Points on whose positions it depends."""
        ...

    @property
    def bodies(self) -> tuple[Body, ...]:
        """Bodies on whose relative motion alone it depends; none if it depends on their absolute
        poses.
        """
        ...

    def value(self, frames: Frames) -> SX:
        """Its value (m or rad)."""
        ...

    def rate(self, frames: Frames) -> SX:
        """Its time derivative."""
        ...

    def difference(self, frames: Frames, target: SX) -> SX:
        """Value minus target; for angles the one in (−π, π]."""
        ...

    def deviation(self, frames: Frames, target: SX) -> SX:
        """An algebraic residual with the same zero and slope as the difference."""
        ...


def effort_unit(unit: str) -> str:
    """Unit of the force or torque that does work along an output of a unit."""
    return {"m": "N", "rad": "N·m", "1": "J"}.get(unit, f"J/({unit})")


@dataclass(frozen=True)
class Turn:
    """The angle of the second body relative to the first about their common axis.

    `reference` is a direction of the first body, `quarter` the one a quarter turn ahead of it;
    `pointer` the direction of the second body that coincides with `reference` at angle zero. With C
    = reference·pointer and S = quarter·pointer the angle is atan2(S, C).
    """

    first: Body
    reference: SX
    quarter: SX
    second: Body
    pointer: SX
    unit: ClassVar[str] = "rad"
    points: ClassVar[tuple[Point, ...]] = ()

    @property
    def bodies(self) -> tuple[Body, ...]:
        return self.first, self.second

    def value(self, frames: Frames) -> SX:
        return _turn_value(*self._rotations(frames), *self._directions)

    def rate(self, frames: Frames) -> SX:
        rates = frames[self.first].rotation_rate, frames[self.second].rotation_rate
        return _turn_rate(*self._rotations(frames), *rates, *self._directions)

    def difference(self, frames: Frames, target: SX) -> SX:
        return _turn_difference(*self._rotations(frames), *self._directions, SX(target))

    def deviation(self, frames: Frames, target: SX) -> SX:
        return _turn_deviation(*self._rotations(frames), *self._directions, SX(target))

    def same(self, other: Turn) -> bool:
        """Whether another angle is the same one."""
        directions = zip(self._directions, other._directions, strict=True)
        return self.bodies == other.bodies and all(ca.is_equal(a, b, DEPTH) for a, b in directions)

    @property
    def _directions(self) -> tuple[SX, SX, SX]:
        return self.reference, self.quarter, self.pointer

    def _rotations(self, frames: Frames) -> tuple[SX, SX]:
        return frames[self.first].rotation, frames[self.second].rotation


def _cosine_sine(first: SX, second: SX, reference: SX, quarter: SX, pointer: SX) -> tuple[SX, SX]:
    """Cosine and sine of the angle between two bodies with these rotations."""
    hand = second @ pointer
    return ca.dot(first @ reference, hand), ca.dot(first @ quarter, hand)


@traced
def _turn_value(first: SX, second: SX, reference: SX, quarter: SX, pointer: SX) -> SX:
    C, S = _cosine_sine(first, second, reference, quarter, pointer)
    return ca.atan2(S, C)


@traced
def _turn_rate(
    first: SX, second: SX, first_rate: SX, second_rate: SX, reference: SX, quarter: SX, pointer: SX
) -> SX:
    C, S = _cosine_sine(first, second, reference, quarter, pointer)
    one, other = (
        _cosine_sine(first_rate, second, reference, quarter, pointer),
        _cosine_sine(first, second_rate, reference, quarter, pointer),
    )
    Ċ, Ṡ = one[0] + other[0], one[1] + other[1]
    return (C * Ṡ - S * Ċ) / (C * C + S * S)


@traced
def _turn_difference(
    first: SX, second: SX, reference: SX, quarter: SX, pointer: SX, target: SX
) -> SX:
    C, S = _cosine_sine(first, second, reference, quarter, pointer)
    return wrapped(ca.atan2(S, C) - target)


@traced
def _turn_deviation(
    first: SX, second: SX, reference: SX, quarter: SX, pointer: SX, target: SX
) -> SX:
    C, S = _cosine_sine(first, second, reference, quarter, pointer)
    return S * ca.cos(target) - C * ca.sin(target)


def planar_angle(first: Body, second: Body) -> Turn:
    """The angle of one planar body relative to another."""
    x, y = SX([1, 0]), SX([0, 1])
    return Turn(first, x, y, second, x)


def angle_about(first: Axis, second: Axis) -> Turn:
    """The angle of one spatial body relative to another about their common axis."""
    reference, quarter = first.normals
    return Turn(first.body, reference, quarter, second.body, second.normals[0])


class _Length(ABC):
    """An output in m, whose difference from a target is algebraic."""

    unit: ClassVar[str] = "m"

    @abstractmethod
    def value(self, frames: Frames) -> SX: ...

    def difference(self, frames: Frames, target: SX) -> SX:
        return self.value(frames) - target

    def deviation(self, frames: Frames, target: SX) -> SX:
        return self.difference(frames, target)


class _BetweenPoints(_Length):
    first: Point
    second: Point

    @property
    def points(self) -> tuple[Point, ...]:
        return self.first, self.second

    @property
    def bodies(self) -> tuple[Body, ...]:
        return self.first.body, self.second.body


@dataclass(frozen=True)
class Slide(_BetweenPoints):
    """The offset of the second point from the first along a direction of the first body."""

    first: Point
    axis: Axis
    second: Point

    def value(self, frames: Frames) -> SX:
        direction = frames[self.axis.body].direction(self.axis.direction)
        return ca.dot(direction, gap(frames, self.first, self.second))

    def rate(self, frames: Frames) -> SX:
        frame = frames[self.axis.body]
        turning = ca.dot(
            frame.rotation_rate @ self.axis.direction, gap(frames, self.first, self.second)
        )
        return (
            ca.dot(frame.direction(self.axis.direction), gap_rate(frames, self.first, self.second))
            + turning
        )


@dataclass(frozen=True)
class Distance(_BetweenPoints):
    """The distance between two points."""

    first: Point
    second: Point

    def value(self, frames: Frames) -> SX:
        d = gap(frames, self.first, self.second)
        return ca.sqrt(ca.dot(d, d))

    def rate(self, frames: Frames) -> SX:
        d, ḋ = gap(frames, self.first, self.second), gap_rate(frames, self.first, self.second)
        return ca.dot(d, ḋ) / ca.sqrt(ca.dot(d, d))

    def deviation(self, frames: Frames, target: SX) -> SX:
        d = gap(frames, self.first, self.second)
        return (ca.dot(d, d) - target**2) / (2 * target)


@dataclass(frozen=True)
class Coordinate(_Length):
    """The component of a point's position along a fixed global direction."""

    point: Point
    direction: SX

    @property
    def points(self) -> tuple[Point, ...]:
        return (self.point,)

    @property
    def bodies(self) -> tuple[Body, ...]:
        return ()

    def value(self, frames: Frames) -> SX:
        return ca.dot(self.direction, frames[self.point.body].position(self.point.local))

    def rate(self, frames: Frames) -> SX:
        return ca.dot(self.direction, frames[self.point.body].velocity(self.point.local))
