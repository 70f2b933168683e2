"""Equations of motion of a model in some set of coordinates.

    M(q) q̈ + Φ_qᵀ λ = Q(q, q̇, t),     Φ(q, t) = 0,     all depending on the parameters ρ.

Coordinates supply the frames of the bodies as functions of q and q̇, and the constraints of their own. Everything else follows here
by differentiation of the energies and powers that the elements state (Lagrange's equations):

    M = ∂²T/∂q̇²,     Q = Σ (∂w/∂q̇)ᵀ f − ∂V/∂q + ∂T/∂q − (∂²T/∂q̇∂q) q̇

Coordinates that know a shorter way to M and to the forces of inertia may supply these too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import casadi as ca
import numpy as np

from ..errors import ModelError
from ..model.body import Body, Frames
from ..model.forces import Spring
from ..model.parts import Parts
from ..model.start import Hold
from ..model.state import State, rate_without_acceleration
from ..sizes import Sizes
from ..symbols import SX, symbols_in
from .guess import Pose
from .held import start_holds
from .reactions import BodyReactions

Among = Callable[[tuple[Body, ...]], Frames]
"""Frames of some bodies as one of them, or a body that carries them all, sees them; of all bodies in space for none."""


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
class Element:
    """What one thing of the mechanism contributes; all of it depends on few coordinates."""

    name: str
    kinetic: SX = field(default_factory=lambda: SX(0))
    potential: SX = field(default_factory=lambda: SX(0))
    efforts: tuple[tuple[SX, SX], ...] = ()
    """Pairs (rate, effort)."""
    constraints: tuple[Constraint, ...] = ()
    hold: tuple[SX, SX] | None = None
    """What vanishes at the start, and what vanishes of its rate, where it is one of the values given there."""
    twist: SX | None = None
    """The angle by which it is wound, where it must not be wound by more than half a turn."""


class Inertia(Protocol):
    """Forces of inertia of all elements together, in a shorter form than Lagrange's equations give."""

    @property
    def mass(self) -> SX:
        """M."""
        ...

    def resistance(self, a: SX, /) -> SX:
        """M q̈ and all other forces of inertia, on the same side."""
        ...


@dataclass(frozen=True, eq=False)
class Dynamics:
    """Equations of motion of some elements: of a whole mechanism, or of one element in coordinates of its own."""

    q: SX
    v: SX
    ρ: SX
    t: SX
    elements: tuple[Element, ...]
    inertia: Inertia | None = field(default=None, kw_only=True)

    @cached_property
    def a(self) -> SX:
        """q̈, as symbols."""
        return SX.sym("a", self.q.numel())

    @cached_property
    def λ(self) -> SX:
        """Multipliers of the constraints, as symbols."""
        return SX.sym("λ", self.constraints.numel())

    @cached_property
    def blocks(self) -> tuple[Constraint, ...]:
        """Constraints of all elements."""
        return tuple(block for element in self.elements for block in element.constraints)

    @cached_property
    def constraints(self) -> SX:
        """Φ(q, ρ, t)."""
        return ca.vertcat(SX(0, 1), *[b.residuals for b in self.blocks])

    @cached_property
    def constraint_rate(self) -> SX:
        """Φ̇ = Φ_q q̇ + Φ_t."""
        return self.differentiate(self.constraints)

    @cached_property
    def constraint_acceleration(self) -> SX:
        """Φ̈ = Φ_q q̈ + (Φ_q q̇)_q q̇ + 2 Φ_qt q̇ + Φ_tt."""
        return self.differentiate(self.constraint_rate)

    @cached_property
    def constraint_jacobian(self) -> SX:
        """Φ_q."""
        return ca.jacobian(self.constraints, self.q)

    @cached_property
    def start_positions(self) -> SX:
        """Φ in the form to assemble with, and what is given beside it."""
        rows = [b.residuals if b.at_start is None else b.at_start for b in self.blocks]
        return ca.vertcat(SX(0, 1), *rows, *[e.hold[0] for e in self.elements if e.hold])

    @cached_property
    def start_velocities(self) -> SX:
        """Φ̇, and the same for what is given."""
        return ca.vertcat(self.constraint_rate, *[e.hold[1] for e in self.elements if e.hold])

    @cached_property
    def twists(self) -> SX:
        """Twist of each torsional spring, in (−π, π]."""
        return ca.vertcat(SX(0, 1), *[e.twist for e in self.elements if e.twist is not None])

    @cached_property
    def mass(self) -> SX:
        """M."""
        return ca.jacobian(self._momentum, self.v) if self.inertia is None else self.inertia.mass

    @cached_property
    def forces(self) -> SX:
        """Q without forces of inertia."""
        return self._working - ca.gradient(sum((e.potential for e in self.elements), SX(0)), self.q)

    @cached_property
    def resistance(self) -> SX:
        """M q̈ and all other forces of inertia, on the same side."""
        if self.inertia is not None:
            return self.inertia.resistance(self.a)
        return self.mass @ self.a + self._turning

    @cached_property
    def balance(self) -> SX:
        """M q̈ + Φ_qᵀ λ − Q."""
        return self.resistance + ca.jtimes(self.constraints, self.q, self.λ, True) - self.forces

    @cached_property
    def symmetric(self) -> bool:
        """Whether the tangent matrix is: constant mass, and all forces that vary derive from a potential."""
        if self.inertia is not None or ca.depends_on(self.mass, self.q):
            return False
        return ca.jacobian(self._working, ca.vertcat(self.q, self.v)).nnz() == 0

    @cached_property
    def levels(self) -> tuple[SX, SX, SX]:
        """What vanishes along a motion: constraints at position, velocity and acceleration level."""
        return self.constraints, self.constraint_rate, self.constraint_acceleration

    def differentiate(self, expression: SX) -> SX:
        """Total time derivative, by the chain rule over q, q̇ and t."""
        rate = ca.jtimes(expression, self.q, self.v) + ca.jtimes(expression, self.v, self.a)
        return rate + ca.jtimes(expression, self.t, SX(1))

    def force_of(self, elements: Iterable[Element]) -> SX:
        """Generalised force of some elements."""
        return sum((self._work(e) - ca.gradient(e.potential, self.q) for e in elements), SX.zeros(self.q.numel()))

    @cached_property
    def _kinetic(self) -> SX:
        return sum((e.kinetic for e in self.elements), SX(0))

    @cached_property
    def _momentum(self) -> SX:
        return ca.gradient(self._kinetic, self.v)

    @cached_property
    def _turning(self) -> SX:
        """Forces of inertia that are not M q̈."""
        return ca.jtimes(self._momentum, self.q, self.v) - ca.gradient(self._kinetic, self.q)

    @cached_property
    def _working(self) -> SX:
        """Generalised forces without potential, but for those of inertia."""
        return sum((self._work(e) for e in self.elements if e.efforts), SX(self.q.numel(), 1))

    def _work(self, element: Element) -> SX:
        return sum((ca.jtimes(rate, self.v, effort, True) for rate, effort in element.efforts), SX(self.q.numel(), 1))


@dataclass(frozen=True, eq=False)
class Equations(Dynamics):
    """Equations of motion of a mechanism, with what its coordinates mean."""

    model: Parts
    frames: Frames
    coordinate_names: tuple[str, ...]
    fits: tuple[Constraint, ...]
    """Conditions on the parameters alone: bodies that the ground holds at several places have to fit in."""
    from_poses: Callable[[Mapping[Body, Pose]], np.ndarray]
    """Values of q for given origins and rotations of the bodies, as far as these fit together."""
    holds: tuple[Hold, ...]
    """What is given at the start."""
    sizes: Sizes | None = field(default=None, kw_only=True)
    """By what errors are measured where coordinates are of several kinds; None where the largest tells the size of all."""

    @cached_property
    def differentiable(self) -> set[tuple[object, ...]]:
        """Objectives that were found to have gradients; kept here, so that they go when the equations go."""
        return set()

    @cached_property
    def packed(self) -> SX:
        """A state as one vector: q, q̇, q̈, λ."""
        return ca.vertcat(self.q, self.v, self.a, self.λ)

    @cached_property
    def constraint_names(self) -> tuple[str, ...]:
        """One name for each row of Φ."""
        names: list[str] = []
        for block in self.blocks:
            count = block.residuals.numel()
            names += [block.name] if count == 1 else [f"{block.name} [{k}]" for k in range(count)]
        return tuple(names)

    @cached_property
    def force_parts(self) -> dict[str, SX]:
        """Generalised force of gravity on rigid bodies, of each beam (its weight included), and of each force by name."""
        found: dict[str, list[Element]] = {"gravity": []}
        beams = {b.name for b in self.model.beams}
        for e in self.elements:
            if not e.hold and (e.name in self.model.bodies or e.name in self.model.forces):
                found.setdefault("gravity" if e.name in self.model.bodies and e.name not in beams else e.name, []).append(e)
        return {name: self.force_of(elements) for name, elements in found.items()}

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
    constraints: Mapping[str, list[Constraint]],
    names: tuple[str, ...],
    from_poses: Callable[[Mapping[Body, Pose]], np.ndarray],
    *,
    own: Iterable[Element] = (),
    inertia: Inertia | None = None,
    among: Among | None = None,
    sizes: Sizes | None = None,
) -> Equations:
    """Derive the equations of motion from frames and constraints, the latter by the name of the body or joint they belong to.

    Coordinates may have elements of their `own`, and shorter frames for what depends on the motion `among` some bodies only.
    """
    seen: Among = (lambda bodies: frames) if among is None else among
    coordinates = symbols_in(q)
    fits = [b for blocks in constraints.values() for b in blocks if coordinates.isdisjoint(symbols_in(b.residuals))]
    lasting = {name: tuple(b for b in blocks if b not in fits) for name, blocks in constraints.items()}
    bodies = [
        Element(b.name, s.kinetic, s.potential, s.efforts, constraints=lasting.get(b.name, ()) if k == 0 else ())
        for b in model.moving_bodies
        for k, s in enumerate(b.shares(frames[b], model.gravity))
    ]
    others = [Element(name, constraints=blocks) for name, blocks in lasting.items() if blocks and name not in model.bodies]
    elements = [*bodies, *own, *others, *_drivers(model, seen, t), *_forces(model, q, v, frames, seen, t)]
    holds = start_holds(model, frames, q, [b.residuals for e in elements for b in e.constraints], t, from_poses)
    elements += [Element(h.label, hold=(h.deviation(seen(h.bodies)), h.rate_deviation(seen(h.bodies)))) for h in holds]
    return Equations(
        q,
        v,
        model.numbers.vector,
        t,
        tuple(elements),
        model,
        frames,
        names,
        tuple(fits),
        from_poses,
        holds,
        inertia=inertia,
        sizes=sizes,
    )


def _drivers(model: Parts, among: Among, t: SX) -> list[Element]:
    found = []
    for d in model.drivers.values():
        frames = among(d.measure.bodies)
        at_start = d.measure.difference(frames, d.motion(t))
        found.append(Element(d.name, constraints=(Constraint(d.name, d.residuals(frames, t), (d.name,), at_start),)))
    return found


def _forces(model: Parts, q: SX, v: SX, everything: Frames, among: Among, t: SX) -> list[Element]:
    state = State(model, everything, t, lambda x: rate_without_acceleration(x, q, v, t, "a force"), user="a force")
    known = symbols_in(q, v, t)
    found = []
    for force in model.forces.values():
        frames = among(force.bodies)
        efforts = tuple(force.efforts(frames, state))
        for _, effort in efforts:
            model.numbers.check_symbols(effort, f"force {force.name!r}", known)
        twist = force.measure.difference(frames, force.rest) if isinstance(force, Spring) and force.torsional else None
        found.append(Element(force.name, potential=force.potential_energy(frames), efforts=efforts, twist=twist))
    return found


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
