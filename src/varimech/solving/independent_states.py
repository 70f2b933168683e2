"""Independent coordinates y of a mechanism: the states of its linearised equations.

Candidates are functions h(q) of any coordinates q: angles and displacements of joints first, then
coordinates that elements own, angles of planar bodies, small rotations of bodies in space about
their own axes, positions of bodies, and last the coordinates q themselves. As many are selected as
are independent along the constraints, the first ones of each kind. As they are the same functions
in natural and in relative coordinates, both yield the same linear equations.

A small rotation θ of a body is measured from its orientation R̂(t) in the reference motion,

    θ = ½ vee(R̂ᵀ R − Rᵀ R̂),

so a body that spins about an axis of its own has constant equations; R̂ is a function of q̂, which
equals q and is not varied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..coordinates.equations import Equations
from ..coordinates.released_rates import slack_places
from ..core.symbols import SX
from .regular_systems import null_space

INDEPENDENT = 1e-3
"""Sine of the angle to the candidates selected before, above which a candidate is selected: far
from singular. Coordinates q, of which enough are independent, are selected from `LAST` on.
"""
LAST = 1e-8
FIRST = 0.5
"""The first candidate whose angle is at least this share of the largest one is selected, so that
small changes do not alter the selection.
"""
MOVES = 1e-9
"""Share of the change of a candidate along all coordinates that it must have along the constraints;
less is rounding.
"""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A function of q that may become a state."""

    name: str
    unit: str
    value: SX
    tier: int
    is_rotation: bool = False


class Candidates:
    """All candidates of a mechanism; `q_ref` stands for q in the reference motion."""

    def __init__(self, equations: Equations, without_inputs: Equations):
        self.equations = e = equations
        self._plain = without_inputs
        n = e.q.numel()
        self.q_ref, self.v_ref, self.a_ref = (SX.sym(f"{x} of the motion", n) for x in "qva")
        self.slacks = slack_places(e) if e.has_velocity_constraints else []
        """Indices in q of slacks of velocity constraints, which stay at rest."""
        self.every: list[Candidate] = list(self._all())
        self.first_order = [c for c in e.model.own_coordinates if c.order == 1 and not c.is_slack]
        """Coordinates owned by elements of which only the rates are states."""

    def _all(self) -> Iterator[Candidate]:
        e, model = self.equations, self.equations.model
        for joint in model.joints.values():
            if joint.angle() is not None:
                yield Candidate(f"{joint.name}.angle", "rad", e.state.angle(joint.name), 0)
            if joint.displacement() is not None:
                slide = e.state.displacement(joint.name)
                yield Candidate(f"{joint.name}.displacement", "m", slide, 0)
        for c in model.own_coordinates:
            if c.order == 2 and not c.is_slack:
                yield Candidate(c.name, c.unit, e.state.state(c.name), 1)
        rigid = [b for b in model.moving_bodies if b.is_rigid]
        if model.dimension == 2:
            for body in rigid:
                yield Candidate(f"{body.name}.angle", "rad", e.state.angle(body.name), 1)
        else:
            for body in rigid:
                yield from self._rotations(body.name, e.frames[body].rotation)
        for body in rigid:
            origin = e.frames[body].origin
            for k, component in zip(range(origin.numel()), "xyz", strict=False):
                yield Candidate(f"{body.name}.{component}", "m", origin[k], 3)
        lengths = e.lengths
        for k, name in enumerate(e.coordinate_names):
            if k in self.slacks:
                continue
            yield Candidate(name, "m" if k < len(lengths) and lengths[k] else "1", e.q[k], 4)

    def _rotations(self, body: str, R: SX) -> Iterator[Candidate]:
        """Yield small rotations of a body about its own axes."""
        turned = ca.substitute(R, self.equations.q, self.q_ref).T @ R
        for k, axis in enumerate("xyz"):
            i, j = (k + 1) % 3, (k + 2) % 3
            θ = (turned[j, i] - turned[i, j]) / 2
            yield Candidate(f"{body}.rotation.{axis}", "rad", θ, 2, is_rotation=True)

    def differentiate(self, expression: SX) -> SX:
        """Return the total time derivative, including that of the reference motion."""
        return (
            self.equations.differentiate(expression)
            + ca.jtimes(expression, self.q_ref, self.v_ref)
            + ca.jtimes(expression, self.v_ref, self.a_ref)
        )

    def choose(self, q: np.ndarray, v: np.ndarray, ρ: np.ndarray, t: float) -> IndependentStates:
        """Select the states at a given position, velocity and time."""
        M, Φ_q, Ψ_v, H = (np.array(x) for x in self._numbers(q, v, ρ, t))
        n = q.size
        own = self.equations.own
        first = [list(own.states).index(c.name) for c in self.first_order]
        offset = n - own.q.numel()  # own coordinates are at the end of q
        units = np.eye(n)[[offset + k for k in first]]
        held = np.vstack([Ψ_v, np.eye(n)[self.slacks]])
        moving = _pick(H, _weighed(null_space(held, n), M), self.every, units)
        chosen = np.vstack([units, H[moving]])
        positions = _pick(H, _weighed(null_space(Φ_q, n), M), self.every, chosen)
        return IndependentStates(
            self,
            tuple(offset + k for k in first),
            tuple(self.every[k] for k in moving),
            tuple(self.every[k] for k in positions),
        )

    @cached_property
    def _numbers(self) -> ca.Function:
        """Compile (q, v, ρ, t) → M, Φ_q, Ψ_v, ∂h/∂q."""
        e = self._plain
        h = ca.vertcat(*[c.value for c in self.every])
        H = ca.substitute(ca.jacobian(h, e.q), self.q_ref, e.q)
        return ca.Function(
            "states",
            [e.q, e.v, e.ρ, e.t],
            [ca.densify(x) for x in (e.mass, e.constraint_jacobian, e.rate_jacobian, H)],
        )


@dataclass(frozen=True, eq=False)
class IndependentStates:
    """The selected candidates: y of positions, ẏ of velocities."""

    candidates: Candidates
    first_order: tuple[int, ...]
    """Indices in q of first-order states, of which only the rate counts."""
    moving: tuple[Candidate, ...]
    """Candidates whose rates are states, too."""
    further: tuple[Candidate, ...]
    """Candidates whose rates follow from velocity constraints."""

    @property
    def has_rotations(self) -> bool:
        """Whether any state is a small rotation."""
        return any(c.is_rotation for c in (*self.moving, *self.further))

    @property
    def positions(self) -> SX:
        """The entries of y that are states."""
        return ca.vertcat(SX(0, 1), *[c.value for c in (*self.moving, *self.further)])

    @property
    def fixing(self) -> SX:
        """Expressions that determine q together with the constraints."""
        e = self.candidates.equations
        return ca.vertcat(self.positions, *[e.q[k] for k in self.first_order])

    @property
    def velocities(self) -> SX:
        """ẏ and first-order states, which determine q̇ together with the constraints."""
        e, c = self.candidates.equations, self.candidates
        rates = c.differentiate(ca.vertcat(SX(0, 1), *[each.value for each in self.moving]))
        own = e.own.states
        return ca.vertcat(rates, *[own[each.name] for each in c.first_order])

    @property
    def resting(self) -> SX:
        """Rates of slacks, which are zero: velocity constraints leave them undetermined."""
        c = self.candidates
        return ca.vertcat(SX(0, 1), *[c.equations.v[k] for k in c.slacks])

    @property
    def names(self) -> list[str]:
        """Names of the states: positions, rates, first-order states."""
        return [
            *[c.name for c in (*self.moving, *self.further)],
            *[f"{c.name} rate" for c in self.moving],
            *[c.name for c in self.candidates.first_order],
        ]

    @property
    def units(self) -> list[str]:
        """Units of the states."""
        return [
            *[c.unit for c in (*self.moving, *self.further)],
            *[f"{c.unit}/s" for c in self.moving],
            *[c.unit for c in self.candidates.first_order],
        ]


def _weighed(Z: np.ndarray, M: np.ndarray) -> np.ndarray:
    """Scale directions to unit kinetic energy, which is independent of the coordinates; unchanged
    where there is no inertia.
    """
    squares, U = np.linalg.eigh(Z.T @ M @ Z)
    if not squares.size or squares[0] <= 0:
        return Z
    return np.asarray(Z @ U / np.sqrt(squares))


def _pick(
    H: np.ndarray, Z: np.ndarray, candidates: Sequence[Candidate], selected: np.ndarray
) -> list[int]:
    """Select candidates that are independent along Z, of each other and of the rows `selected`."""
    rows = H @ Z
    sizes = np.linalg.norm(rows, axis=1)
    moves = (
        sizes > MOVES * np.linalg.norm(H, axis=1) * np.linalg.norm(Z, 2) if Z.size else sizes > 0
    )
    basis = (
        np.linalg.qr((selected @ Z).T)[0] if selected.size and Z.size else np.zeros((Z.shape[1], 0))
    )
    picked: list[int] = []
    for tier in sorted({c.tier for c in candidates}):
        own = [k for k, c in enumerate(candidates) if c.tier == tier and moves[k]]
        limit = LAST if tier == 4 else INDEPENDENT
        while own and basis.shape[1] < Z.shape[1]:
            rest = rows[own] - (rows[own] @ basis) @ basis.T
            angles = np.linalg.norm(rest, axis=1) / sizes[own]
            if angles.max() < limit:
                break
            k = int(np.flatnonzero(angles >= FIRST * angles.max())[0])
            picked.append(own[k])
            again = rest[k] - (rest[k] @ basis) @ basis.T  # reorthogonalising once is enough
            basis = np.column_stack([basis, again / np.linalg.norm(again)])
            own = [j for j in own if j != own[k]]
    return picked
