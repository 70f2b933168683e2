"""Rigid bodies and their points.

Kinetic energy of a body with mass m, centre of mass s_G and second moments P = ∫ (s−s_G)(s−s_G)ᵀ dm about it:

    T = ½ m ṙ_G·ṙ_G + ½ tr(Ṙ P Ṙᵀ),     P = ½ tr(I) 1 − I  (space),  P = ½ I 1  (plane),

with I the inertia about the centre of mass in body axes. It is quadratic in the rates with constant coefficients
(J. García de Jalón and E. Bayo, Kinematic and Dynamic Simulation of Multibody Systems, Springer 1994, ch. 4).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import casadi as ca

from ..errors import ModelError, unknown_name
from ..symbols import SX, traced
from .frame import Frame


@dataclass(frozen=True, eq=False)
class Point:
    """A named point fixed to a body, at `local` coordinates (m) in the body's frame."""

    body: Body
    name: str
    local: SX

    @property
    def label(self) -> str:
        """Full name, `body.point`."""
        return f"{self.body.name}.{self.name}"


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body: mass (kg), centre of mass (m, body frame), inertia about it (kg·m²) and named points.

    `spine` names the points a drawing joins by a line. The ground is a body without mass that never moves.
    """

    name: str
    dimension: int
    mass: SX
    com: SX
    inertia: SX
    floating: bool = False
    is_ground: bool = False
    spine: tuple[str, ...] = ()
    points: dict[str, Point] = field(default_factory=dict)

    def point(self, name: str) -> Point:
        """The point of that name."""
        if name not in self.points:
            raise unknown_name(f"point of body {self.name!r}", name, self.points)
        return self.points[name]

    @property
    def second_moments(self) -> SX:
        """P, the second moments of mass about the centre of mass."""
        return _second_moments(self.inertia)

    def kinetic_energy(self, frame: Frame) -> SX:
        """T in joules."""
        return _kinetic_energy(frame.velocity(self.com), frame.rotation_rate, self.mass, self.inertia)


def _second_moments(inertia: SX) -> SX:
    if inertia.numel() == 1:
        return inertia / 2 * SX.eye(2)
    return ca.trace(inertia) / 2 * SX.eye(3) - inertia


@traced
def _kinetic_energy(v: SX, Ṙ: SX, mass: SX, inertia: SX) -> SX:
    return (mass * ca.dot(v, v) + ca.trace(Ṙ @ _second_moments(inertia) @ Ṙ.T)) / 2


Frames: TypeAlias = Mapping[Body, Frame]


def check_same_mechanism(body: Body, bodies: Mapping[str, Body], user: str) -> None:
    """Refuse a body that belongs to another mechanism."""
    if bodies.get(body.name) is not body:
        raise ModelError(f"{user}: body {body.name!r} belongs to another mechanism")
