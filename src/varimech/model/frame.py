"""Frames: pose and motion of a body, in symbols.

A point of the body at local coordinates s is at  r = o + R s  and moves with  ṙ = ȯ + Ṙ s.
Coordinates supply o, R, ȯ, Ṙ; elements formulate their physics in terms of these alone, whatever
the coordinates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import casadi as ca

from ..core.symbols import SX

Known = tuple[SX, SX, SX]
"""A point: its local coordinates, its position and its velocity."""


def known_points(points: Iterable[Known]) -> dict[int, Known]:
    """Index points by the identity of their local coordinates."""
    return {id(local): (local, position, velocity) for local, position, velocity in points}


@dataclass(frozen=True)
class Frame:
    """Pose and motion of a body: origin o, rotation R (columns are the body's axes) and their time
    derivatives.

    `known` are points whose position and velocity are available directly (see `known_points`): for
    rigid bodies because that gives shorter code, for beams because each of their nodes moves
    independently.
    """

    origin: SX
    rotation: SX
    origin_rate: SX
    rotation_rate: SX
    known: Mapping[int, Known] = field(default_factory=dict)

    def position(self, local: SX) -> SX:
        """Global position of a body point."""
        if id(local) in self.known:
            return self.known[id(local)][1]
        return self.origin + self.rotation @ local

    def velocity(self, local: SX) -> SX:
        """Global velocity of a body point."""
        if id(local) in self.known:
            return self.known[id(local)][2]
        return self.origin_rate + self.rotation_rate @ local

    def direction(self, local: SX) -> SX:
        """Global components of a body-fixed direction."""
        return self.rotation @ local

    @property
    def angular_velocity(self) -> SX:
        """ω: a scalar in the plane, three global components in space. Linear in the rates."""
        R, Ṙ = self.rotation, self.rotation_rate
        if R.shape[0] == 2:
            return ca.dot(R[:, 1], Ṙ[:, 0])
        return sum((ca.cross(R[:, k], Ṙ[:, k]) for k in range(3)), SX.zeros(3)) / 2


def spin(omega: SX) -> SX:
    """The matrix ω̃ with  Ṙ = ω̃ R."""
    if omega.numel() == 1:
        return ca.vertcat(ca.horzcat(0, -omega), ca.horzcat(omega, 0))
    return ca.skew(omega)


def ground_frame(dimension: int) -> Frame:
    """The frame of the ground."""
    zero = SX.zeros(dimension)
    return Frame(zero, SX.eye(dimension), zero, SX.zeros(dimension, dimension))
