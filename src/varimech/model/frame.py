"""Frames: where a body is and how it moves, in symbols.

A point of the body at local coordinates s is at  r = o + R s  and moves with  ṙ = ȯ + Ṙ s.
Coordinates supply o, R, ȯ, Ṙ; elements state their physics in these words and never ask where they come from.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ..symbols import SX


@dataclass(frozen=True)
class Frame:
    """Pose and motion of a body: origin o, rotation R (columns are the body's axes) and their time derivatives.

    `known` lists points that are coordinates themselves, as (local, position, velocity): using those directly gives shorter code.
    """

    origin: SX
    rotation: SX
    origin_rate: SX
    rotation_rate: SX
    known: tuple[tuple[SX, SX, SX], ...] = ()

    def position(self, local: SX) -> SX:
        """Global position of a body point."""
        for place, position, _ in self.known:
            if place is local:
                return position
        return self.origin + self.rotation @ local

    def velocity(self, local: SX) -> SX:
        """Global velocity of a body point."""
        for place, _, velocity in self.known:
            if place is local:
                return velocity
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

    @property
    def angle(self) -> SX:
        """Angle of the body's x axis from the global x axis, in (−π, π] (planar)."""
        return ca.atan2(self.rotation[1, 0], self.rotation[0, 0])


def spin(omega: SX) -> SX:
    """The matrix ω̃ with  Ṙ = ω̃ R."""
    if omega.numel() == 1:
        return ca.vertcat(ca.horzcat(0, -omega), ca.horzcat(omega, 0))
    return ca.skew(omega)


def ground_frame(dimension: int) -> Frame:
    """The frame that never moves."""
    zero = SX.zeros(dimension)
    return Frame(zero, SX.eye(dimension), zero, SX.zeros(dimension, dimension))
