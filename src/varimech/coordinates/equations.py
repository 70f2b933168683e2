"""Equations of motion of a mechanism in some set of coordinates.

Coordinates supply the frames of the bodies as functions of q and q̇, and the constraints of their
own. What bodies, joints, forces, drivers and the start contribute follows from these (`derive`);
the equations follow from that (`dynamics`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import casadi as ca
import numpy as np

from ..core.errors import VarimechError
from ..core.sizes import Sizes
from ..core.symbols import SX, symbols_in
from ..model.body import Body, Frames
from ..model.initial_conditions import Hold
from ..model.model_data import ModelData
from ..model.state import Reactions, State, rate_without_acceleration
from .counted_angles import TurnProbe
from .dynamics import Constraint, Dynamics, Element, Inertia
from .initial_condition_rows import start_holds
from .least_norm import dependencies
from .poses import Pose
from .reactions import BodyReactions
from .redundancy import Redundancy

Among = Callable[[tuple[Body, ...]], Frames]
"""Frames of some bodies as one of them, or a body that carries them all, sees them; of all bodies
in space for none.
"""


@dataclass(frozen=True, eq=False)
class Equations(Dynamics):
    """Equations of motion of a mechanism, with what its coordinates mean."""

    model: ModelData
    frames: Frames
    coordinate_names: tuple[str, ...]
    fits: tuple[Constraint, ...]
    """Conditions on the parameters alone: bodies that the ground holds at several places have to
    fit in.
    """
    from_poses: Callable[[Mapping[Body, Pose]], np.ndarray]
    """Values of q for given origins and rotations of the bodies, as far as these fit together."""
    holds: tuple[Hold, ...]
    """What is given at the start."""
    sizes: Sizes | None = field(default=None, kw_only=True)
    """By what errors are measured where coordinates are of several kinds; None where the largest
    tells the size of all.
    """
    lengths: np.ndarray = field(kw_only=True)
    """Whether a coordinate is a length; the others (angles, Euler parameters, components of unit
    vectors) have no dimension.
    """
    counted: Mapping[str, SX] = field(default_factory=dict, kw_only=True)
    """Angles that count turns, or are watched so that they need not."""
    extra: int = field(default=0, kw_only=True)
    """Number of coordinates at the end of q that are such angles."""

    @cached_property
    def differentiable(self) -> set[tuple[object, ...]]:
        """Objectives that were found to have gradients; kept here, so that they go when the
        equations go.
        """
        return set()

    @cached_property
    def needed_turns(self) -> dict[tuple[object, ...], set[str]]:
        """Angles whose turns functions of the state depend on, as far as these were looked at; kept
        here for the same reason.
        """
        return {}

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
        """Generalised force of gravity on rigid bodies, of each beam (its weight included), and of
        each force by name.
        """
        found: dict[str, list[Element]] = {"gravity": []}
        beams = {b.name for b in self.model.beams}
        for e in self.elements:
            if not e.hold and (e.name in self.model.bodies or e.name in self.model.forces):
                found.setdefault(
                    "gravity" if e.name in self.model.bodies and e.name not in beams else e.name, []
                ).append(e)
        return {name: self.force_of(elements) for name, elements in found.items()}

    @cached_property
    def state(self) -> State:
        """The view of the state that objectives and measures are written against."""
        return self.state_with(lambda: self.reactions)

    def state_with(self, reactions: Callable[[], Reactions]) -> State:
        """The same with other reactions."""
        return self._state(lambda name, angle: self.counted.get(name, angle), reactions)

    @cached_property
    def probe(self) -> TurnProbe:
        """Symbolic numbers of turns for measures of finished runs, which know them."""
        return TurnProbe()

    def probed_state(self, probe: TurnProbe) -> State:
        """The same, with symbolic numbers of turns in angles that do not count them."""
        return self._state(
            lambda name, angle: self.counted[name] if name in self.counted else probe(name, angle),
            lambda: self.reactions,
        )

    def _state(self, counted: Callable[[str, SX], SX], reactions: Callable[[], Reactions]) -> State:
        return State(
            self.model,
            self.frames,
            self.t,
            self.differentiate,
            multipliers=dict(zip(self.constraint_names, ca.vertsplit(self.λ), strict=True))
            if self.blocks
            else {},
            reactions=reactions,
            coordinates=(self.q, self.v, self.a),
            counted=counted,
        )

    @cached_property
    def reactions(self) -> BodyReactions:
        """Reactions of all joints and efforts of all drivers."""
        return BodyReactions(
            self.model, self.frames, self.t, self.state, self.differentiate, self._dependent
        )

    @cached_property
    def redundancy(self) -> Redundancy:
        """Which reactions are not unique."""
        return Redundancy(self)

    def _dependent(self, reactions: BodyReactions) -> list[int]:
        """Rows of all joint and driver equations that depend on others at the nominal start; none
        where there is no such start.
        """
        from .assembly import Assembly  # which knows equations

        ρ = self.model.parameter_set.nominal
        try:
            q = Assembly(self).assemble(ρ, explain=False)
        except VarimechError:
            return []
        J = ca.Function(
            "J", [self.q, self.v, self.ρ, self.t], [ca.densify(reactions.balance.scaled)]
        )
        return sorted(dependencies(np.array(J(q, np.zeros(q.size), ρ, 0.0)))[1])


def derive(
    model: ModelData,
    q: SX,
    v: SX,
    t: SX,
    frames: Frames,
    constraints: Mapping[str, list[Constraint]],
    names: tuple[str, ...],
    from_poses: Callable[[Mapping[Body, Pose]], np.ndarray],
    *,
    lengths: np.ndarray,
    own: Iterable[Element] = (),
    inertia: Inertia | None = None,
    among: Among | None = None,
    sizes: Sizes | None = None,
    counted: Mapping[str, SX] | None = None,
    extra: int = 0,
) -> Equations:
    """Derive the equations of motion from frames and constraints, the latter by the name of the
    body or joint they belong to.

    Coordinates may have elements of their `own`, and shorter frames for what depends on the motion
    `among` some bodies only.
    """
    seen: Among = (lambda bodies: frames) if among is None else among
    coordinates = symbols_in(q)
    fits = [
        b
        for blocks in constraints.values()
        for b in blocks
        if coordinates.isdisjoint(symbols_in(b.residuals))
    ]
    lasting = {
        name: tuple(b for b in blocks if b not in fits) for name, blocks in constraints.items()
    }
    bodies = [
        Element(
            b.name,
            s.kinetic,
            s.potential,
            s.efforts,
            constraints=lasting.get(b.name, ()) if k == 0 else (),
        )
        for b in model.moving_bodies
        for k, s in enumerate(b.shares(frames[b], model.gravity))
    ]
    others = [
        Element(name, constraints=blocks)
        for name, blocks in lasting.items()
        if blocks and name not in model.bodies
    ]
    elements = [
        *bodies,
        *own,
        *others,
        *_drivers(model, seen, t),
        *_forces(model, q, v, frames, seen, t, counted or {}),
    ]
    holds = start_holds(
        model, frames, q, [b.residuals for e in elements for b in e.constraints], t, from_poses
    )
    elements += [
        Element(h.label, hold=(h.deviation(seen(h.bodies)), h.rate_deviation(seen(h.bodies))))
        for h in holds
    ]
    return Equations(
        q,
        v,
        model.parameter_set.vector,
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
        lengths=lengths,
        counted=counted or {},
        extra=extra,
    )


def _drivers(model: ModelData, among: Among, t: SX) -> list[Element]:
    found = []
    for d in model.drivers.values():
        frames = among(d.output.bodies)
        at_start = d.output.difference(frames, d.motion(t))
        found.append(
            Element(
                d.name,
                constraints=(Constraint(d.name, d.residuals(frames, t), (d.name,), at_start),),
            )
        )
    return found


def angles_of_forces(model: ModelData, q: SX, v: SX, frames: Frames, t: SX) -> list[str]:
    """Names of angles whose turns some force depends on, in their order."""
    probe = TurnProbe()
    state = _state_of_forces(model, q, v, frames, t, probe)
    needed = probe.needed(
        [effort for force in model.forces.values() for _, effort in force.efforts(frames, state)]
    )
    return [name for name in probe.turns if name in needed]


def _state_of_forces(
    model: ModelData,
    q: SX,
    v: SX,
    frames: Frames,
    t: SX,
    counted: Callable[[str, SX], SX] | None = None,
) -> State:
    def differentiate(expression: SX) -> SX:
        return rate_without_acceleration(expression, q, v, t, "a force")

    return State(model, frames, t, differentiate, counted=counted, user="a force")


def _forces(
    model: ModelData,
    q: SX,
    v: SX,
    everything: Frames,
    among: Among,
    t: SX,
    counted: Mapping[str, SX],
) -> list[Element]:
    state = _state_of_forces(
        model, q, v, everything, t, lambda name, angle: counted.get(name, angle)
    )
    known = symbols_in(q, v, t)
    found = []
    for force in model.forces.values():
        frames = among(force.bodies)
        efforts = tuple(force.efforts(frames, state))
        for _, effort in efforts:
            model.parameter_set.check_symbols(effort, f"force {force.name!r}", known)
        twist = force.winding_angle(frames)
        found.append(
            Element(
                force.name, potential=force.potential_energy(frames), efforts=efforts, twist=twist
            )
        )
    return found
