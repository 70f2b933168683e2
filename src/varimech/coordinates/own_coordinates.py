"""Coordinates that belong to no body, at the end of q: coordinates of elements, and angles that
count turns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..core.symbols import SX
from ..model.body import Body, Frames
from ..model.initial_conditions import InitialCondition
from ..model.model_data import ModelData
from ..model.own_coordinates import OwnCoordinate
from ..model.scalar_outputs import Turn
from .counted_angles import CountedAngle, GivenAngles, counted_turns
from .dynamics import Element
from .guess import Pose


class DeclaredCoordinates:
    """Coordinates of elements, in symbols of size one."""

    def __init__(self, model: ModelData):
        self.coordinates: list[OwnCoordinate] = model.own_coordinates
        self.q, self.v = (SX.sym(name, len(self.coordinates)) for name in ("y", "ẏ"))
        self.states: dict[str, SX] = {
            c.name: c.size * (self.v if c.order == 1 else self.q)[k]
            for k, c in enumerate(self.coordinates)
        }
        """States as elements, objectives and results see them, by name: ẏ for first-order
        coordinates.
        """

    def __bool__(self) -> bool:
        return bool(self.coordinates)


@dataclass(frozen=True)
class OwnCondition(InitialCondition):
    """The initial value of a coordinate of an element."""

    off: SX
    rate_off: SX

    def deviation(self, frames: Frames) -> SX:
        """Return the difference from the initial value."""
        return self.off

    def rate_deviation(self, frames: Frames) -> SX:
        """Return the difference from the initial rate."""
        return self.rate_off


class OwnCoordinates:
    """All coordinates at the end of q.

    Args:
        model: the mechanism.
        declared: coordinates that its elements declare.
        names: bodies and joints whose angles need a coordinate to count turns.
        given: prescribed angles at t = 0.
        arm: L, the length that scales constraints of angles (m).
        mass: typical mass of the other coordinates.
        inertia: μ, the typical inertia of angles (kg·m²).
    """

    def __init__(
        self,
        model: ModelData,
        declared: DeclaredCoordinates,
        names: Iterable[str],
        given: GivenAngles,
        *,
        arm: float,
        mass: float,
        inertia: float,
    ):
        names = list(names)
        θ, θ̇ = (SX.sym(symbol, len(names)) for symbol in ("θ", "θ̇"))
        self._model, self._declared = model, declared
        self._arm, self._inertia, self.mass = arm, inertia, mass
        self.q, self.v = ca.vertcat(declared.q, θ), ca.vertcat(declared.v, θ̇)
        self.angles: dict[str, CountedAngle] = counted_turns(model, names, given, θ, θ̇)
        self.states = declared.states

    @property
    def names(self) -> list[str]:
        """Name of each coordinate."""
        return [
            *[f"state {c.name!r}" for c in self._declared.coordinates],
            *[f"angle of {name!r}" for name in self.angles],
        ]

    @property
    def turn_sizes(self) -> np.ndarray:
        """Sizes as in `CoordinateScales.turns`; infinite for first-order coordinates, of which only
        the rate counts.
        """
        declared = [np.inf if c.order == 1 else 1.0 for c in self._declared.coordinates]
        return np.array([*declared, *[1.0 for _ in self.angles]])

    @property
    def first_order(self) -> int:
        """Number of first-order states, which are no degrees of freedom."""
        return sum(c.order == 1 for c in self._declared.coordinates)

    def state_equation(self, name: str, rate: SX) -> tuple[SX, tuple[SX, SX]]:
        """Return the kinetic energy, and a pair (rate, effort), that make a first-order state
        change at `rate`.
        """
        k = list(self.states).index(name)
        ẏ, size = self._declared.v[k], self._declared.coordinates[k].size
        return self.mass * ẏ**2 / 2, (ẏ, self.mass * rate / size)

    def slack(self, name: str) -> tuple[SX, SX]:
        """Return a slack and its rate."""
        k = list(self.states).index(name)
        return self._declared.q[k], self._declared.v[k]

    def ties(self, frames: Frames) -> list[Element]:
        """Return the elements that constrain angles to the frames of the bodies."""
        return [a.element(frames, self._arm, self._inertia) for a in self.angles.values()]

    def turn_of(self, turn: Turn) -> SX | None:
        """Return the coordinate of an angle that an initial condition prescribes."""
        return next((a.θ for a in self.angles.values() if a.initial is turn), None)

    @property
    def conditions(self) -> list[OwnCondition]:
        """Initial conditions of the declared coordinates."""
        conditions = []
        for k, c in enumerate(self._declared.coordinates):
            if c.initial is None:
                continue
            q, v, label = self._declared.q[k], self._declared.v[k], f"initial {c.name!r}"
            conditions.append(
                OwnCondition(label, q, v - c.initial / c.size)
                if c.order == 1
                else OwnCondition(label, q - c.initial / c.size, v - c.initial_rate / c.size)
            )
        return conditions

    def from_poses(self, poses: Mapping[Body, Pose]) -> np.ndarray:
        """Return an initial guess: angles between bodies at these poses, in (−π, π]."""
        values = np.zeros(self._declared.q.numel() + len(self.angles))
        numbers = self._model.parameter_set
        for k, c in enumerate(self._declared.coordinates):
            if c.guess is not None:
                values[k] = c.guess(poses) / c.size
        for k, turn in enumerate(a.turn for a in self.angles.values()):
            reference, quarter, pointer = (
                numbers.evaluate(x).ravel() for x in (turn.reference, turn.quarter, turn.pointer)
            )
            first, hand = poses[turn.first][1], poses[turn.second][1] @ pointer
            values[self._declared.q.numel() + k] = np.arctan2(
                hand @ (first @ quarter), hand @ (first @ reference)
            )
        return values


def typical_mass(model: ModelData, frames: Frames, q: SX, v: SX) -> float:
    """Return the mean mass of coordinates: 2 T / n for rates of ±1, at a random position."""
    kinetic = model.kinetic_energy(frames)
    rng, n = np.random.default_rng(0), q.numel()
    values = (rng.uniform(-1.0, 1.0, n), rng.choice([-1.0, 1.0], n), model.parameter_set.nominal)
    T = ca.Function("T", [q, v, model.parameter_set.vector], [kinetic])
    mass = 2 * float(T(*values)) / max(n, 1)
    return mass if mass > 0 else 1.0
