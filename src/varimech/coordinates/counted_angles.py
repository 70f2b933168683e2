"""Angles that count turns.

Frames give an angle φ = atan2(S, C) in (−π, π] only. Where a force or an objective f depends on
turns, f(φ + 2π) ≠ f(φ), the angle is a coordinate θ of its own beside the others, tied to the
frames:

    L (S cos θ − C sin θ) = 0,     T = ½ μ (θ̇ − φ̇)²

The kinetic energy vanishes along every motion. It gives θ an inertia, so that the mass matrix stays
regular: with θ eliminated it is the one of the other coordinates, for any μ. At the start θ is the
angle that is given there, or else φ as it is assembled.

J. García de Jalón and E. Bayo, Kinematic and Dynamic Simulation of Multibody Systems, Springer
1994, section 2.4 (mixed coordinates).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from ..core.symbols import SX, symbols_in
from ..model.body import Frames
from ..model.initial_conditions import OutputCondition
from ..model.model_data import ModelData
from ..model.scalar_outputs import Turn
from .dynamics import Constraint, Element

TURN = 2 * np.pi
SAME = 1e-9
"""Relative difference below which an expression is the same a turn further: some 1e6 times what
rounding of a turn makes.
"""
PLACES = 3
"""Random states at which expressions are compared."""


@dataclass
class TurnProbe:
    """Adds a symbolic number of turns to every angle that a function asks for, so that the
    expression shows whether it depends on turns.
    """

    turns: dict[str, SX] = field(default_factory=dict)

    def __call__(self, name: str, angle: SX) -> SX:
        """The angle of a body or joint, and the turns that it may have made beside."""
        return angle + TURN * self.turns.setdefault(name, SX.sym(f"turns of {name}"))

    def needed(self, expressions: Iterable[SX]) -> set[str]:
        """Names of the angles whose turns change the value of some expression."""
        if not self.turns:
            return set()
        everything = ca.densify(ca.veccat(*expressions))
        own = symbols_in(everything)
        asked = {name: n for name, n in self.turns.items() if n.element_hash() in own}
        counts = ca.vertcat(SX(0, 1), *asked.values())
        others = ca.vertcat(
            SX(0, 1),
            *[x for x in ca.symvar(everything) if x.element_hash() not in symbols_in(counts)],
        )
        function = ca.Function("counted", [others, counts], [everything])
        return {name for k, name in enumerate(asked) if _differs(function, np.eye(len(asked))[k])}


def _differs(function: ca.Function, turn: np.ndarray) -> bool:
    """Whether a function of others and turns has other values a turn further; what is not finite
    everywhere counts as different.
    """
    rng = np.random.default_rng(0)
    for _ in range(PLACES):
        others = rng.uniform(0.1, 1.0, function.numel_in(0))
        here, there = (np.array(function(others, n)).ravel() for n in (0 * turn, turn))
        if not np.allclose(here, there, rtol=SAME, atol=SAME * np.abs(here).max(initial=0.0)):
            return True
    return False


@dataclass(frozen=True)
class CountedAngle:
    """An angle as a coordinate of its own."""

    name: str
    turn: Turn
    given: SX | None
    """At the start, where it is given there."""
    θ: SX
    θ̇: SX

    def element(self, frames: Frames, arm: float, inertia: float) -> Element:
        """What ties the coordinate to the frames, scaled to a length (m) as other constraints are,
        and gives it an inertia μ (kg·m²).
        """
        at_start = (
            self.turn.difference(frames, self.θ) if self.given is None else self.θ - self.given
        )
        tie = Constraint(
            f"turns of {self.name}", arm * self.turn.deviation(frames, self.θ), (), arm * at_start
        )
        return Element(
            tie.name, inertia * (self.θ̇ - self.turn.rate(frames)) ** 2 / 2, constraints=(tie,)
        )


def counted_turns(model: ModelData, names: Iterable[str], θ: SX, θ̇: SX) -> dict[str, CountedAngle]:
    """Angles by name, with their coordinates."""
    pairs = zip(names, ca.vertsplit(θ), ca.vertsplit(θ̇), strict=True) if θ.numel() else ()
    return {
        name: CountedAngle(name, model.find_angle(name), given_angle(model, name), x, ẋ)
        for name, x, ẋ in pairs
    }


def given_angle(model: ModelData, name: str) -> SX | None:
    """The angle of a body or joint that the start gives, if it does."""
    for hold in model.start_conditions.holds if model.start_conditions else ():
        if isinstance(hold, OutputCondition) and hold.owner == name:
            return hold.at
    return None


def watched_angles(model: ModelData, names: Iterable[str], frames: Frames) -> dict[str, SX]:
    """The same angles where they have no coordinates: within half a turn of the one that is given
    at the start, or else in (−π, π].
    """
    found = {}
    for name in names:
        turn, given = model.find_angle(name), given_angle(model, name)
        found[name] = (
            turn.value(frames) if given is None else given + turn.difference(frames, given)
        )
    return found


def angle_elements(angles: Mapping[str, SX]) -> list[Element]:
    """Angles that are watched along a run: one that jumps was followed past half a turn."""
    return [Element(f"angle of {name!r}", twist=angle) for name, angle in angles.items()]
