"""Initial conditions: outputs with given values and rates, orientations, and rough guesses of
everything else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import casadi as ca

from ..core.symbols import SX
from .body import Body, Frames, Point
from .conditions import chord
from .scalar_outputs import ScalarOutput


@dataclass(frozen=True)
class InitialCondition(ABC):
    """A condition on positions and velocities at t = 0."""

    label: str
    """Its subject in messages: "angle of 'crank'"."""
    rate_given: bool = field(default=True, kw_only=True)
    """Whether its rate was given; otherwise it is zero, or determined by velocity constraints."""

    @property
    def bodies(self) -> tuple[Body, ...]:
        """Bodies on whose relative motion alone it depends; none if it depends on their absolute
        poses.
        """
        return ()

    @abstractmethod
    def deviation(self, frames: Frames) -> SX:
        """Residuals that vanish where the value is satisfied."""

    @abstractmethod
    def rate_deviation(self, frames: Frames) -> SX:
        """Residuals that vanish where the rate is satisfied."""

    def misfit(self, frames: Frames) -> SX:
        """Distance from the given value (m or rad) that is not zero half a turn off."""
        return self.deviation(frames)

    def alignment(self, frames: Frames) -> SX:
        """3 where a given orientation is satisfied, −1 or less half a turn off; empty for other
        values.
        """
        return SX(0, 1)


@dataclass(frozen=True)
class OutputCondition(InitialCondition):
    """Value and rate of a scalar output."""

    output: ScalarOutput
    at: SX
    speed: SX

    @property
    def bodies(self) -> tuple[Body, ...]:
        return self.output.bodies

    def deviation(self, frames: Frames) -> SX:
        return self.output.difference(frames, self.at)

    def rate_deviation(self, frames: Frames) -> SX:
        return self.output.rate(frames) - self.speed


@dataclass(frozen=True)
class OrientationCondition(InitialCondition):
    """The rotation of a spatial body, R = D, with its angular velocity:  ½ Σ dₖ × rₖ = 0."""

    body: Body
    orientation: SX
    speed: SX

    def deviation(self, frames: Frames) -> SX:
        D, R = self.orientation, frames[self.body].rotation
        return sum((ca.cross(D[:, k], R[:, k]) for k in range(3)), SX.zeros(3)) / 2

    def rate_deviation(self, frames: Frames) -> SX:
        return frames[self.body].angular_velocity - self.speed

    def misfit(self, frames: Frames) -> SX:
        return chord(self.orientation, frames[self.body].rotation)

    def alignment(self, frames: Frames) -> SX:
        return ca.trace(self.orientation.T @ frames[self.body].rotation)


@dataclass(frozen=True)
class InitialConditionRow(InitialCondition):
    """One scalar equation of an initial condition."""

    condition: InitialCondition
    row: int

    @property
    def bodies(self) -> tuple[Body, ...]:
        return self.condition.bodies

    def deviation(self, frames: Frames) -> SX:
        return self.condition.deviation(frames)[self.row]

    def rate_deviation(self, frames: Frames) -> SX:
        return self.condition.rate_deviation(frames)[self.row]

    def alignment(self, frames: Frames) -> SX:
        return self.condition.alignment(frames)


@dataclass(frozen=True)
class Start:
    """All initial conditions of a model, and guesses that select an assembly configuration."""

    conditions: tuple[InitialCondition, ...] = ()
    near_rotation: dict[Body, SX] = field(default_factory=dict)
    near_position: dict[Point, SX] = field(default_factory=dict)
