"""Equations of motion of a model in some set of coordinates.

    M(q) q̈ + Φ_qᵀ λ = Q(q, q̇, t),     Φ(q, t) = 0,     all depending on the parameters ρ.

Coordinates supply the frames of the bodies as functions of q and q̇, and the constraints of their own. Everything else follows here
by differentiation of the energies and powers that the elements state (Lagrange's equations):

    M = ∂²T/∂q̇²,     Q = Σ (∂w/∂q̇)ᵀ f − ∂V/∂q + ∂T/∂q − (∂²T/∂q̇∂q) q̇
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..errors import ModelError
from ..model.body import Body, Frames
from ..model.parts import Parts
from ..model.state import State, rate_without_acceleration
from ..symbols import SX
from .guess import Pose
from .reactions import BodyReactions


@dataclass(frozen=True, eq=False)
class Constraint:
    """A named block of scalar constraints.

    `at_start` is the form to assemble with, where the algebraic one has spurious solutions (an angle half a turn off);
    `joints` are the joints (or the driver) it stands for.
    """

    name: str
    residuals: SX
    joints: tuple[str, ...] = ()
    at_start: SX | None = None


@dataclass(frozen=True)
class Equations:
    """Symbols and expressions of the equations of motion; see the module for their meaning."""

    model: Parts
    q: SX
    v: SX
    a: SX
    λ: SX
    ρ: SX
    t: SX
    mass: SX
    blocks: tuple[Constraint, ...]
    fits: tuple[Constraint, ...]
    """Conditions on the parameters alone: bodies that the ground holds at several places have to fit in."""
    forces: SX
    force_parts: dict[str, SX]
    frames: Frames
    coordinate_names: tuple[str, ...]
    symmetric: bool
    """Whether the tangent matrix is: constant mass, and all forces that vary derive from a potential."""
    from_poses: Callable[[Mapping[Body, Pose]], np.ndarray]
    """Values of q for given origins and rotations of the bodies, as far as these fit together."""

    @cached_property
    def packed(self) -> SX:
        """A state as one vector: q, q̇, q̈, λ."""
        return ca.vertcat(self.q, self.v, self.a, self.λ)

    @cached_property
    def constraints(self) -> SX:
        """Φ(q, ρ, t)."""
        return ca.vertcat(SX(0, 1), *[b.residuals for b in self.blocks])

    @cached_property
    def constraint_names(self) -> tuple[str, ...]:
        """One name for each row of Φ."""
        names: list[str] = []
        for block in self.blocks:
            count = block.residuals.numel()
            names += [block.name] if count == 1 else [f"{block.name} [{k}]" for k in range(count)]
        return tuple(names)

    @cached_property
    def constraint_rate(self) -> SX:
        """Φ̇ = Φ_q q̇ + Φ_t."""
        return self.differentiate(self.constraints)

    @cached_property
    def constraint_acceleration(self) -> SX:
        """Φ̈ = Φ_q q̈ + (Φ_q q̇)_q q̇ + 2 Φ_qt q̇ + Φ_tt."""
        return self.differentiate(self.constraint_rate)

    @cached_property
    def balance(self) -> SX:
        """M q̈ + Φ_qᵀ λ − Q."""
        return self.mass @ self.a + ca.jtimes(self.constraints, self.q, self.λ, True) - self.forces

    @cached_property
    def residual_norms(self) -> SX:
        """Largest violations of the constraints at position, velocity and acceleration level."""
        levels = (self.constraints, self.constraint_rate, self.constraint_acceleration)
        return ca.vertcat(*[ca.norm_inf(level) if level.numel() else SX(0) for level in levels])

    def differentiate(self, expression: SX) -> SX:
        """Total time derivative, by the chain rule over q, q̇ and t."""
        rate = ca.jtimes(expression, self.q, self.v) + ca.jtimes(expression, self.v, self.a)
        return rate + ca.jtimes(expression, self.t, SX(1))

    @cached_property
    def state(self) -> State:
        """The view of the state that objectives and measures are written against."""
        return State(
            self.model,
            self.frames,
            self.t,
            self.differentiate,
            multipliers=dict(zip(self.constraint_names, ca.vertsplit(self.λ), strict=True)) if self.blocks else {},
            reactions=lambda: self._reactions,
            coordinates=(self.q, self.v, self.a),
        )

    @cached_property
    def _reactions(self) -> BodyReactions:
        return BodyReactions(self.model, self.frames, self.t, self.state, self.differentiate)


def derive(
    model: Parts,
    q: SX,
    v: SX,
    t: SX,
    frames: Frames,
    constraints: list[Constraint],
    names: tuple[str, ...],
    from_poses: Callable[[Mapping[Body, Pose]], np.ndarray],
) -> Equations:
    """Derive the equations of motion from frames and constraints."""
    kinetic = model.kinetic_energy(frames)
    momentum = ca.gradient(kinetic, v)
    mass = ca.jacobian(momentum, v)
    potential, working = _force_parts(model, q, v, frames, t)
    inertial = ca.gradient(kinetic, q) - ca.jtimes(momentum, q, v)
    other = sum(working.values(), inertial)
    symmetric = ca.jacobian(other, ca.vertcat(q, v)).nnz() == 0 and not ca.depends_on(mass, q)
    fits = tuple(c for c in constraints if not ca.depends_on(c.residuals, q))
    blocks = tuple([c for c in constraints if c not in fits] + _driver_constraints(model, frames, t))
    count = sum(b.residuals.numel() for b in blocks)
    return Equations(
        model,
        q,
        v,
        SX.sym("a", q.numel()),
        SX.sym("λ", count),
        model.numbers.vector,
        t,
        mass,
        blocks,
        fits,
        sum(potential.values(), other),
        {name: potential[name] + working.get(name, 0) for name in potential},
        frames,
        names,
        symmetric,
        from_poses,
    )


def _driver_constraints(model: Parts, frames: Frames, t: SX) -> list[Constraint]:
    return [
        Constraint(d.name, d.residuals(frames, t), (d.name,), d.measure.difference(frames, d.motion(t)))
        for d in model.drivers.values()
    ]


def _force_parts(model: Parts, q: SX, v: SX, frames: Frames, t: SX) -> tuple[dict[str, SX], dict[str, SX]]:
    """Generalised force of each element, by name: the part that derives from a potential, and the part that does work."""
    state = State(model, frames, t, lambda x: rate_without_acceleration(x, q, v, t, "a force"), user="a force")
    potential: dict[str, SX] = {"gravity": -ca.gradient(model.weight_energy(frames), q)}
    working: dict[str, SX] = {}
    for force in model.forces.values():
        potential[force.name] = -ca.gradient(force.potential_energy(frames), q)
        for rate, effort in force.efforts(frames, state):
            model.numbers.check_symbols(effort, f"force {force.name!r}", (q, v, t))
            working[force.name] = working.get(force.name, SX(0)) + ca.jtimes(rate, v, effort, True)
    return potential, working


def check_connected(model: Parts) -> None:
    """Every body needs a path of joints to the ground, or must say that it floats."""
    if not model.moving_bodies:
        raise ModelError(f"mechanism {model.name!r} has no bodies; add one with body(…) or bar(…)")
    neighbours: dict[Body, list[Body]] = {body: [] for body in model.bodies.values()}
    for joint in model.joints.values():
        first, second = joint.bodies
        neighbours[first].append(second)
        neighbours[second].append(first)
    reached = {model.ground} | {b for b in model.moving_bodies if b.floating}
    queue = list(reached)
    while queue:
        fresh = [b for b in neighbours[queue.pop()] if b not in reached]
        reached.update(fresh)
        queue += fresh
    loose = [b.name for b in model.moving_bodies if b not in reached]
    if loose:
        names = ", ".join(repr(n) for n in loose)
        raise ModelError(
            f"no path of joints connects {names} to the ground; add the missing joint, or floating=True if that is meant"
        )
