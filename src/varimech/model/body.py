"""Bodies and their points.

Kinetic energy of a rigid body with mass m, centre of mass s_G and second moments P = ∫
(s−s_G)(s−s_G)ᵀ dm about it:

    T = ½ m ṙ_G·ṙ_G + ½ tr(Ṙ P Ṙᵀ),     P = ½ tr(I) 1 − I  (space),  P = ½ I 1  (plane),

with I the inertia about the centre of mass in body axes. It is quadratic in the rates with constant
coefficients (J. García de Jalón and E. Bayo, Kinematic and Dynamic Simulation of Multibody Systems,
Springer 1994, ch. 4).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias, final

import casadi as ca

from ..core.errors import ModelError, unknown_name
from ..core.names import Named
from ..core.symbols import SX, traced
from .frame import Frame
from .solids import Surface


@dataclass(frozen=True, eq=False, repr=False)
class Point(Named):
    """A named point of a body, at `local` coordinates (m) in the body's frame; on a beam, in its
    shape at t = 0.
    """

    body: Body
    name: str
    local: SX

    @property
    def label(self) -> str:
        """Full name, `body.point`."""
        return f"{self.body.name}.{self.name}"

    @property
    def details(self) -> str:
        return f" of {self.body.name!r}"


@dataclass(frozen=True)
class Share:
    """Contribution of a body, or of a part of one: energies (J), and pairs of a rate and the effort
    that does work at it.
    """

    kinetic: SX
    potential: SX
    efforts: tuple[tuple[SX, SX], ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Body(Named, ABC):
    """A body with mass and named points. `spine` names the points that a drawing joins by a line;
    `surfaces` are drawn instead of it where the model has them.
    """

    name: str
    dimension: int
    floating: bool = field(default=False, kw_only=True)
    is_ground: bool = field(default=False, kw_only=True)
    spine: tuple[str, ...] = field(default=(), kw_only=True)
    points: dict[str, Point] = field(default_factory=dict, kw_only=True)
    surfaces: tuple[Surface, ...] = field(default=(), kw_only=True)

    def point(self, name: str) -> Point:
        """Return the point with this name."""
        if name not in self.points:
            raise unknown_name(f"point of body {self.name!r}", name, self.points)
        return self.points[name]

    @property
    def details(self) -> str:
        return f" with points {', '.join(map(repr, self.points))}" if self.points else ""

    @property
    def is_rigid(self) -> bool:
        """Whether the body has a single orientation."""
        return True

    @abstractmethod
    def shares(self, frame: Frame, gravity: SX) -> list[Share]:
        """Contributions to energy and work, split into parts that depend on few coordinates each."""

    def kinetic_energy(self, frame: Frame) -> SX:
        """T in joules."""
        return sum((s.kinetic for s in self.shares(frame, SX.zeros(self.dimension))), SX(0))

    def potential_energy(self, frame: Frame, gravity: SX) -> SX:
        """Energy of gravity and of deformation (J)."""
        return sum((s.potential for s in self.shares(frame, gravity)), SX(0))


@final
@dataclass(frozen=True, eq=False, repr=False)
class RigidBody(Body):
    """A rigid body: mass (kg), centre of mass (m, body frame), inertia about it (kg·m²). The ground
    is a rigid body without mass that never moves.
    """

    mass: SX
    com: SX
    inertia: SX

    @cached_property
    def massless(self) -> bool:
        """Whether its mass is the number 0, which only kinematics accepts."""
        return bool(self.mass.is_zero())

    def shares(self, frame: Frame, gravity: SX) -> list[Share]:
        kinetic = _kinetic_energy(
            frame.velocity(self.com), frame.rotation_rate, self.mass, self.inertia
        )
        return [Share(kinetic, -self.mass * ca.dot(gravity, frame.position(self.com)))]


def _second_moments(inertia: SX) -> SX:
    """Second moments P."""
    if inertia.numel() == 1:
        return inertia / 2 * SX.eye(2)
    return ca.trace(inertia) / 2 * SX.eye(3) - inertia


@traced
def _kinetic_energy(v: SX, Ṙ: SX, mass: SX, inertia: SX) -> SX:
    return (mass * ca.dot(v, v) + ca.trace(Ṙ @ _second_moments(inertia) @ Ṙ.T)) / 2


Frames: TypeAlias = Mapping[Body, Frame]


def gap(frames: Frames, first: Point, second: Point) -> SX:
    """Vector from one point to another (m)."""
    return frames[second.body].position(second.local) - frames[first.body].position(first.local)


def gap_rate(frames: Frames, first: Point, second: Point) -> SX:
    """Rate of the vector from one point to another (m/s)."""
    return frames[second.body].velocity(second.local) - frames[first.body].velocity(first.local)


def check_same_mechanism(body: Body, bodies: Mapping[str, Body], user: str) -> None:
    """Refuse a body that belongs to another mechanism."""
    if bodies.get(body.name) is not body:
        raise ModelError(f"body {body.name!r} belongs to another mechanism", element=user)
