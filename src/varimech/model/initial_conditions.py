"""The start: which measures are held at which values and rates, and roughly where the rest is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import casadi as ca

from ..core.symbols import SX
from .body import Body, Frames, Point
from .scalar_outputs import ScalarOutput


class Hold(Protocol):
    """Something given at the start."""

    @property
    def label(self) -> str:
        """How messages call it."""
        ...

    @property
    def bodies(self) -> tuple[Body, ...]:
        """Bodies whose motion against each other is all that it depends on; none if it depends on
        where they are.
        """
        ...

    def deviation(self, frames: Frames) -> SX:
        """Vanishes when the value is met."""
        ...

    def rate_deviation(self, frames: Frames) -> SX:
        """Vanishes when the speed is met."""
        ...


@dataclass(frozen=True)
class OutputCondition:
    """A scalar measure with its value and rate at the start."""

    label: str
    measure: ScalarOutput
    at: SX
    speed: SX
    owner: str = ""
    """The body or joint whose angle it is, if it is one."""

    @property
    def bodies(self) -> tuple[Body, ...]:
        return self.measure.bodies

    def deviation(self, frames: Frames) -> SX:
        return self.measure.difference(frames, self.at)

    def rate_deviation(self, frames: Frames) -> SX:
        return self.measure.rate(frames) - self.speed


@dataclass(frozen=True)
class OrientationCondition:
    """The rotation of a spatial body, R = D, with its angular velocity:  ½ Σ dₖ × rₖ = 0."""

    label: str
    body: Body
    orientation: SX
    speed: SX

    @property
    def bodies(self) -> tuple[Body, ...]:
        return ()

    def deviation(self, frames: Frames) -> SX:
        D, R = self.orientation, frames[self.body].rotation
        return sum((ca.cross(D[:, k], R[:, k]) for k in range(3)), SX.zeros(3)) / 2

    def rate_deviation(self, frames: Frames) -> SX:
        return frames[self.body].angular_velocity - self.speed


@dataclass(frozen=True)
class InitialConditionRow:
    """One of the numbers that a hold is made of."""

    hold: Hold
    row: int

    @property
    def label(self) -> str:
        return self.hold.label

    @property
    def bodies(self) -> tuple[Body, ...]:
        return self.hold.bodies

    def deviation(self, frames: Frames) -> SX:
        return self.hold.deviation(frames)[self.row]

    def rate_deviation(self, frames: Frames) -> SX:
        return self.hold.rate_deviation(frames)[self.row]


@dataclass(frozen=True)
class Start:
    """All that the user said about the start: what is held, and guesses that choose between ways to
    assemble.
    """

    holds: tuple[Hold, ...] = ()
    near_rotation: dict[Body, SX] = field(default_factory=dict)
    near_position: dict[Point, SX] = field(default_factory=dict)
