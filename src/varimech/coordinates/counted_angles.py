"""Angles that count full turns.

Frames yield an angle φ = atan2(S, C) in (−π, π] only. Where a force or an objective f depends on
turns, f(φ + 2π) ≠ f(φ), the angle becomes an additional coordinate θ, constrained to the frames:

    L (S cos θ − C sin θ) = 0,     T = ½ μ (θ̇ − φ̇)²

The kinetic energy vanishes along every motion. It gives θ an inertia, so that the mass matrix stays
regular: after elimination of θ it equals that of the other coordinates, for any μ. Initially θ is
the prescribed angle, or else φ of the assembled position, in (−π, π]. Relative coordinates contain
most angles without θ, as joint coordinates, or sums of them.

J. García de Jalón and E. Bayo, Kinematic and Dynamic Simulation of Multibody Systems, Springer
1994, section 2.4 (mixed coordinates).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

import casadi as ca
import numpy as np

from ..core.symbols import SX, symbols_in
from ..model.body import Body, Frames
from ..model.initial_conditions import OutputCondition
from ..model.model_data import ModelData
from ..model.scalar_outputs import Turn
from .dynamics import Constraint, Element

TURN = 2 * np.pi
SAME = 1e-9
"""Relative difference below which an expression is unchanged by a turn: about 1e6 times the
rounding of a turn.
"""
PLACES = 3
"""Number of random states at which expressions are compared: at a single one, a switch may mask a
dependence.
"""


@dataclass
class TurnProbe:
    """Adds a symbolic number of turns to every angle that a function uses, so that the expression
    shows whether it depends on turns.
    """

    turns: dict[str, SX] = field(default_factory=dict)

    def __call__(self, name: str, angle: SX) -> SX:
        """Return the angle of a body or joint plus a symbolic number of turns."""
        return angle + TURN * self.turns.setdefault(name, SX.sym(f"turns of {name}"))

    def needed(self, expressions: Iterable[SX]) -> set[str]:
        """Return the names of the angles whose turns change the value of any expression."""
        if not self.turns:
            return set()
        everything = ca.densify(ca.veccat(*expressions))
        own = symbols_in(everything)
        used = {name: n for name, n in self.turns.items() if n.element_hash() in own}
        counts = ca.vertcat(SX(0, 1), *used.values())
        others = ca.vertcat(
            SX(0, 1),
            *[x for x in ca.symvar(everything) if x.element_hash() not in symbols_in(counts)],
        )
        function = ca.Function("counted", [others, counts], [everything])
        names, depends = list(used), np.array(ca.DM(function.jac_sparsity(0, 1), 1), dtype=bool)
        alone = depends.sum(axis=1) == 1
        differing = alone & _differing(function, np.ones(len(names)))  # all angles at once
        needed = {names[k] for k in np.flatnonzero(depends[differing].any(axis=0))}
        for k in np.flatnonzero(depends[~alone].any(axis=0)):
            if names[k] not in needed and _differing(function, np.eye(len(names))[k]).any():
                needed.add(names[k])
        return needed


def _differing(function: ca.Function, turns: np.ndarray) -> np.ndarray:
    """Return which values of a function of (others, turns) change with the given turns; values that
    are not finite everywhere count as changed.
    """
    rng, differing = np.random.default_rng(0), np.zeros(function.numel_out(0), dtype=bool)
    for _ in range(PLACES):
        others = rng.uniform(0.1, 1.0, function.numel_in(0))
        here, there = (np.array(function(others, n)).ravel() for n in (0 * turns, turns))
        largest = SAME * np.abs(here).max(initial=0.0)
        differing |= ~np.isclose(here, there, rtol=SAME, atol=largest)
    return differing


@dataclass(frozen=True)
class CountedAngle:
    """An angle as an additional coordinate."""

    name: str
    turn: Turn
    given: SX | None
    """Value at t = 0, where it is prescribed."""
    initial: Turn | None
    """The angle of an initial condition, if it is this one."""
    θ: SX
    θ̇: SX

    def element(self, frames: Frames, arm: float, inertia: float) -> Element:
        """Return the element that constrains the coordinate to the frames, scaled to a length (m)
        like other constraints, and gives it an inertia μ (kg·m²).
        """
        initial_value = self.given if self.initial is None else None
        at_start = (
            self.turn.difference(frames, self.θ)
            if initial_value is None
            else self.θ - initial_value
        )
        tie = Constraint(
            f"turns of {self.name}", arm * self.turn.deviation(frames, self.θ), (), arm * at_start
        )
        return Element(
            tie.name, inertia * (self.θ̇ - self.turn.rate(frames)) ** 2 / 2, constraints=(tie,)
        )


def angle_name(model: ModelData, name: str) -> str:
    """Return the canonical one of the names of an angle."""
    return model.name_of_angle(model.find_angle(name)) or name


def counted_names(model: ModelData, names: Iterable[str]) -> list[str]:
    """Return names of angles, each angle once."""
    return list(dict.fromkeys(angle_name(model, name) for name in names))


class AngleSymbols:
    """Angles as separate symbols, for expressions in other frames than those of the state: there a
    function f(θ) has the rate ∂f/∂θ θ̇, with θ̇ from these frames.
    """

    def __init__(self, model: ModelData):
        self._model = model
        self.symbols: dict[str, SX] = {}

    def __call__(self, name: str, angle: SX) -> SX:
        """Return the symbol of an angle, by name."""
        return self.symbols.setdefault(name, SX.sym(f"angle of {name}"))

    def rate(self, function: SX, frames: Frames) -> SX:
        """Return the rate of a function due to its angles."""
        own = symbols_in(function)
        return sum(
            (
                ca.jacobian(function, θ) * self._model.find_angle(name).rate(frames)
                for name, θ in self.symbols.items()
                if θ.element_hash() in own
            ),
            SX(function.shape[0], 1),
        )

    def replaced(self, expressions: list[SX], values: Callable[[str], SX]) -> list[SX]:
        """Substitute values, by name, for the angles in expressions."""
        if not self.symbols:
            return expressions
        new = [values(name) for name in self.symbols]
        return list(ca.substitute(expressions, list(self.symbols.values()), new))


def counted_turns(
    model: ModelData, names: Iterable[str], given: GivenAngles, θ: SX, θ̇: SX
) -> dict[str, CountedAngle]:
    """Return counted angles by name, with their coordinates."""
    pairs = zip(names, ca.vertsplit(θ), ca.vertsplit(θ̇), strict=True) if θ.numel() else ()
    return {
        name: CountedAngle(name, model.find_angle(name), given(name), given.initial(name), x, ẋ)
        for name, x, ẋ in pairs
    }


class GivenAngles:
    """Angles of bodies and joints at t = 0 that an initial condition or a driver prescribes.

    In the plane angles add up: where those of two bodies are prescribed, so is that of the joint
    between them.
    """

    def __init__(self, model: ModelData):
        self._model = model
        conditions = model.start_conditions.conditions if model.start_conditions else ()
        initial = [c for c in conditions if isinstance(c, OutputCondition)]
        prescribed = [(c.output, c.at) for c in initial]
        prescribed += [(d.output, d.motion(SX(0))) for d in model.drivers.values()]
        self.turns: list[tuple[Turn, SX]] = [(m, at) for m, at in prescribed if isinstance(m, Turn)]
        self._initial = [c.output for c in initial]
        self._among: dict[tuple[Body, ...], list[tuple[Turn, SX]]] = {}
        for turn, at in self.turns:
            self._among.setdefault(turn.bodies, []).append((turn, at))

    def __call__(self, name: str) -> SX | None:
        """Return the angle of a body or joint (rad); None where it is not prescribed."""
        turn = self._model.find_angle(name)
        for other, at in self._among.get(turn.bodies, ()):
            if turn.same(other):
                return at
        if self._model.dimension == 3:
            return None
        (group, first), (other_group, second) = (self._planar(body) for body in turn.bodies)
        return second - first if group is other_group else None

    def initial(self, name: str) -> Turn | None:
        """Return the angle as an initial condition states it, if one does."""
        turn = self._model.find_angle(name)
        among = (other for other, _ in self._among.get(turn.bodies, ()) if turn.same(other))
        return next((other for other in among if any(other is x for x in self._initial)), None)

    def _planar(self, body: Body) -> tuple[Body, SX]:
        return self._angles.get(body, (body, SX(0)))

    @cached_property
    def _angles(self) -> dict[Body, tuple[Body, SX]]:
        """For each body a base body relative to which its angle is prescribed, the same for all
        bodies that are connected by prescribed angles, and that angle.
        """
        edges: dict[Body, list[tuple[Body, SX]]] = {}
        for turn, at in self.turns:
            edges.setdefault(turn.first, []).append((turn.second, at))
            edges.setdefault(turn.second, []).append((turn.first, -at))
        angles: dict[Body, tuple[Body, SX]] = {}
        for base in (self._model.ground, *edges):
            reached = [] if base in angles else [base]
            if reached:
                angles[base] = base, SX(0)
            for body in reached:  # the list grows during the loop
                for other, at in edges.get(body, ()):
                    if other not in angles:
                        angles[other] = base, angles[body][1] + at
                        reached.append(other)
        return angles


@dataclass(frozen=True, eq=False)
class GivenTurns:
    """Adds to coordinates the full turns that prescribed angles have at t = 0.

    Each angle is a sum of coordinates with coefficients ±1; the last of them takes its turns.
    """

    q: SX
    ρ: SX
    angles: tuple[SX, ...]
    given: tuple[SX, ...]

    @cached_property
    def targets(self) -> list[tuple[int, float]]:
        """For each angle the coordinate that takes its turns, and its sign."""
        rows = [ca.jacobian(angle, self.q) for angle in self.angles]
        last = [row.sparsity().get_col()[-1] for row in rows]
        return [(k, float(row[0, k])) for k, row in zip(last, rows, strict=True)]

    @cached_property
    def _missing(self) -> ca.Function:
        off = ca.vertcat(*self.given) - ca.vertcat(*self.angles)
        return ca.Function("missing", [self.q, self.ρ], [ca.densify(off)])

    def __call__(self, q: np.ndarray, ρ: np.ndarray) -> np.ndarray:
        """Return positions with these turns."""
        q = q.copy()
        for row, (k, sign) in enumerate(self.targets if self.angles else ()):
            turns = np.round(np.array(self._missing(q, ρ)).ravel() / TURN)
            if not turns.any():
                break
            q[k] += sign * TURN * turns[row]
        return q
