"""Equations of motion of a mechanism in a set of coordinates.

Coordinates supply the frames of the bodies as functions of q and q̇, and their own constraints. The
contributions of bodies, joints, forces, drivers and initial conditions follow from these
(`derive`); the equations follow from the contributions (`dynamics`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeGuard

import casadi as ca
import numpy as np

from ..core.coordinate_scales import CoordinateScales
from ..core.errors import VarimechError
from ..core.symbols import SX, symbols_in
from ..model.body import Body, Frames
from ..model.conditions import Condition
from ..model.force import ForceLaw
from ..model.initial_conditions import InitialCondition, OutputCondition
from ..model.joint import Joint
from ..model.joint_friction import FrictionJoint
from ..model.model_data import ModelData
from ..model.scalar_outputs import Turn
from ..model.state import Reactions, State, rate_without_acceleration
from ..model.user_functions import AnyMultipliers, AnyReactions
from .contact_blocks import ContactBlocks, reset_blocks, slack_energy
from .counted_angles import GivenAngles, GivenTurns, TurnProbe
from .dynamics import AugmentedInertia, Constraint, Dynamics, Element, EventUnit, Inertia
from .guess import Pose
from .initial_condition_rows import initial_conditions_of
from .least_norm import dependencies
from .own_coordinates import DeclaredCoordinates, OwnCoordinates
from .reactions import BodyReactions
from .redundancy import Redundancy

Among = Callable[[tuple[Body, ...]], Frames]
"""Frames of the given bodies relative to one of them, or to a body that carries them all; relative
to space for all bodies if none are given.
"""


@dataclass(frozen=True, eq=False)
class Equations(Dynamics):
    """Equations of motion of a mechanism, with the meaning of its coordinates."""

    model: ModelData
    frames: Frames
    coordinate_names: tuple[str, ...]
    closure_conditions: tuple[Constraint, ...]
    """Conditions on the parameters alone: a body that is fixed to the ground at several points has
    to fit between them.
    """
    from_poses: Callable[[Mapping[Body, Pose]], np.ndarray]
    """Values of q for origins and rotations of the bodies, as far as these are consistent."""
    initial_conditions: tuple[InitialCondition, ...]
    sizes: CoordinateScales | None = field(default=None, kw_only=True)
    """Sizes relative to which errors are measured where coordinates are of several kinds; None
    where the largest coordinate is the size of all.
    """
    lengths: np.ndarray = field(kw_only=True)
    """Whether a coordinate is a length; the others (angles, Euler parameters, components of unit
    vectors) have no dimension.
    """
    counted: Mapping[str, SX] = field(default_factory=dict, kw_only=True)
    """Angles that count turns."""
    own: OwnCoordinates = field(kw_only=True)
    """Coordinates at the end of q that belong to no body."""
    given_turns: GivenTurns = field(kw_only=True)
    """Full turns of angles that are prescribed at t = 0."""

    @cached_property
    def extra(self) -> int:
        """Number of coordinates that belong to no body."""
        return int(self.own.q.numel())

    @cached_property
    def is_plain(self) -> bool:
        """Whether forces neither have coordinates nor impose constraints."""
        forces = self.model.forces
        return not self.extra and not any(
            e.name in forces and (e.constraints or not e.kinetic.is_zero()) for e in self.elements
        )

    @cached_property
    def events(self) -> tuple[EventUnit, ...]:
        """Events that the model defines."""
        numbers = self.model.parameter_set
        units = []
        known = symbols_in(self.packed, self.t)
        for force in self.model.forces.values():
            if not (events := force.events()):
                continue
            functions = force.event_functions(self.frames, self.state)
            for event, function in zip(events, functions, strict=True):
                numbers.check_symbols(function, f"event {event.name!r}", known)
                reset = event.reset_mode
                units.append(
                    EventUnit(
                        event.name,
                        function,
                        event.direction,
                        -1 if reset is None else numbers.mode_place(reset),
                        tuple((numbers.mode_place(n), x) for n, x in event.modes.items()),
                        event.stops,
                        event.of_states,
                        event.at_start,
                        event.what,
                    )
                )
        return tuple(units)

    @cached_property
    def friction_forces(self) -> ca.Function:
        """Function (state, ρ, t) → the largest force with which each friction sticks, and its
        actual force.
        """
        limits, forces = list[SX](), list[SX]()
        for row, unit in self.units:
            if unit.limit is not None:
                limits.append(self.of_multipliers(unit.limit, self.λ))
                forces.append(ca.norm_2(self.λ[row : row + unit.multiplier.numel()]))
        both = [ca.densify(ca.vertcat(SX(0, 1), *x)) for x in (limits, forces)]
        return ca.Function("friction", [self.packed, self.ρ, self.t], both)

    @property
    def has_events(self) -> bool:
        """Whether motions have events: from contacts, dry friction, or events of the model."""
        return bool(self.units or self.events)

    @cached_property
    def given_angles(self) -> GivenAngles:
        """Angles at t = 0 that initial conditions or drivers prescribe."""
        return GivenAngles(self.model)

    @cached_property
    def differentiable(self) -> set[tuple[object, ...]]:
        """Objectives that have passed the check for gradients; cached here, so that they are
        dropped with the equations.
        """
        return set()

    @cached_property
    def needed_turns(self) -> dict[tuple[object, ...], set[str]]:
        """Angles on whose turns functions of the state depend, for functions examined so far;
        cached here for the same reason.
        """
        return {}

    @cached_property
    def packed(self) -> SX:
        """A state as one vector: q, q̇, q̈, λ."""
        return ca.vertcat(self.q, self.v, self.a, self.λ)

    @cached_property
    def constraint_names(self) -> tuple[str, ...]:
        """Name of each row of Φ."""
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
        parts: dict[str, list[Element]] = {"gravity": []}
        beams = {b.name for b in self.model.beams}
        for e in self.elements:
            if not e.initial and (e.name in self.model.bodies or e.name in self.model.forces):
                parts.setdefault(
                    "gravity" if e.name in self.model.bodies and e.name not in beams else e.name, []
                ).append(e)
        return {
            name: self.of_loads(self.of_multipliers(self.force_of(elements), self.λ))
            for name, elements in parts.items()
        }

    @cached_property
    def state(self) -> State:
        """The state in which objectives and outputs are expressed."""
        return self.state_with(lambda: self.reactions)

    def state_with(self, reactions: Callable[[], Reactions]) -> State:
        """Return the state with other reactions."""
        return self._state(lambda name, angle: self.counted.get(name, angle), reactions)

    @cached_property
    def probe(self) -> TurnProbe:
        """Symbolic numbers of turns for outputs of finished runs, whose turns are known."""
        return TurnProbe()

    def probed_state(self, probe: TurnProbe) -> State:
        """Return the state with symbolic numbers of turns in angles that do not count them."""
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
            own=self.own.states,
        )

    @cached_property
    def reactions(self) -> BodyReactions:
        """Reactions of all joints and efforts of all drivers."""
        return BodyReactions(
            self.model,
            self.frames,
            self.t,
            self.state,
            self.differentiate,
            self._dependent,
            self.of_loads,
        )

    @cached_property
    def redundancy(self) -> Redundancy:
        """Analysis of reactions that are not unique."""
        return Redundancy(self)

    def _dependent(self, reactions: BodyReactions) -> list[int]:
        """Return the rows of joint and driver equations that depend on others in the nominal
        initial position; none where there is no such position.
        """
        from .assembly import Assembly  # imported late: it imports this module

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
    own: OwnCoordinates,
    counted: Mapping[str, SX],
    given_turns: GivenTurns,
    turn_of: Callable[[Turn], SX | None],
    further: Iterable[Element] = (),
    inertia: Inertia | None = None,
    among: Among | None = None,
    sizes: CoordinateScales | None = None,
) -> Equations:
    """Derive the equations of motion from frames and constraints, the latter by the name of the
    body or joint to which they belong.

    Coordinates may supply `further` elements, shorter frames for expressions that depend on the
    motion `among` few bodies only, and continuous angles (`turn_of`).
    """
    seen: Among = (lambda bodies: frames) if among is None else among
    closure, lasting = _closure_apart(constraints, q)
    bodies, others = _elements_of(model, frames, lasting)
    forces = ForceStatements(
        model, q, v, t, frames, lambda name, φ: counted.get(name, φ), own.states
    )
    ties = own.ties(frames)
    acting = [forces.element(force, seen(force.bodies), own) for force in model.forces.values()]
    kinetic = sum((e.kinetic for e in (*ties, *acting)), SX(0))
    if inertia is not None and not kinetic.is_zero():
        inertia = AugmentedInertia(inertia, q, v, kinetic)
    elements = [*bodies, *ties, *further, *others, *_drivers(model, seen, t), *acting]
    conditions = (
        *initial_conditions_of(
            model, frames, q, [b.residuals for e in elements for b in e.constraints], t, from_poses
        ),
        *own.conditions,
    )
    elements += [
        Element(
            c.label,
            initial=(_deviation(c, seen(c.bodies), turn_of), c.rate_deviation(seen(c.bodies))),
        )
        for c in conditions
    ]
    equations = Equations(
        q,
        v,
        model.parameter_set.vector,
        t,
        tuple(elements),
        model,
        frames,
        names,
        tuple(closure),
        from_poses,
        conditions,
        inertia=inertia,
        sizes=sizes,
        lengths=lengths,
        counted=counted,
        own=own,
        given_turns=given_turns,
    )
    if not equations.has_velocity_constraints:
        return equations
    from .released_rates import with_released_rates  # imported late: it imports assemblies

    return with_released_rates(equations)


def _closure_apart(
    constraints: Mapping[str, list[Constraint]], q: SX
) -> tuple[list[Constraint], dict[str, tuple[Constraint, ...]]]:
    """Separate constraints that depend on parameters only from all others; the latter by the names
    of their owners.
    """
    coordinates = symbols_in(q)
    closure = [
        b
        for blocks in constraints.values()
        for b in blocks
        if coordinates.isdisjoint(symbols_in(b.residuals))
    ]
    lasting = {
        name: tuple(b for b in blocks if b not in closure) for name, blocks in constraints.items()
    }
    return closure, lasting


def _elements_of(
    model: ModelData, frames: Frames, constraints: Mapping[str, tuple[Constraint, ...]]
) -> tuple[list[Element], list[Element]]:
    """Return elements of bodies with their energies, efforts and constraints; and elements of
    constraints with other owners.
    """
    bodies = [
        Element(
            b.name,
            s.kinetic,
            s.potential,
            s.efforts,
            constraints=constraints.get(b.name, ()) if k == 0 else (),
        )
        for b in model.moving_bodies
        for k, s in enumerate(b.shares(frames[b], model.gravity))
    ]
    others = [
        Element(name, constraints=blocks)
        for name, blocks in constraints.items()
        if blocks and name not in model.bodies
    ]
    return bodies, others


def joint_constraint(joint: Joint, conditions: Sequence[Condition], frames: Frames) -> Constraint:
    """Combine conditions of a joint, with the form used for assembly where a condition has its own."""
    other = any(type(c).at_start is not Condition.at_start for c in conditions)
    return Constraint(
        f"joint {joint.name}",
        ca.vertcat(*[c.residuals(frames) for c in conditions]),
        (joint.name,),
        ca.vertcat(*[c.at_start(frames) for c in conditions]) if other else None,
        multipliers=joint.multipliers if has_friction(joint) else None,
    )


def has_friction(joint: Joint) -> TypeGuard[FrictionJoint]:
    """Whether a joint has friction; the load of its friction is then the multiplier of its
    equations.
    """
    return isinstance(joint, FrictionJoint) and joint.has_friction


def _deviation(
    condition: InitialCondition, frames: Frames, turn_of: Callable[[Turn], SX | None]
) -> SX:
    """Residual of an initial condition; for a continuous angle including its full turns."""
    if isinstance(condition, OutputCondition) and isinstance(condition.output, Turn):
        angle = turn_of(condition.output)
        if angle is not None:
            return angle - condition.at
    return condition.deviation(frames)


def _drivers(model: ModelData, among: Among, t: SX) -> list[Element]:
    elements = []
    for d in model.drivers.values():
        frames = among(d.output.bodies)
        at_start = d.output.difference(frames, d.motion(t))
        elements.append(
            Element(
                d.name,
                constraints=(Constraint(d.name, d.residuals(frames, t), (d.name,), at_start),),
            )
        )
    return elements


class ForceStatements:
    """Expressions of forces and other elements, in given symbols of the state."""

    def __init__(
        self,
        model: ModelData,
        q: SX,
        v: SX,
        t: SX,
        frames: Frames,
        counted: Callable[[str, SX], SX],
        states: Mapping[str, SX],
    ):
        def differentiate(expression: SX) -> SX:
            return rate_without_acceleration(expression, q, v, t, "a force")

        self._model, self._known = model, symbols_in(q, v, t)
        self._differentiate, self._v = differentiate, v
        self._watching = State(
            model,
            frames,
            t,
            lambda x: SX.sym("rate", *SX(x).shape),
            multipliers=AnyMultipliers(),
            reactions=lambda: AnyReactions(model),
            coordinates=(q, v, t),
            counted=counted,
            own=states,
            user="an event",
        )
        """State seen by events, with free symbols for quantities that follow from the equations."""
        self._state = State(
            model, frames, t, differentiate, counted=counted, own=states, user="a force"
        )

    def element(self, force: ForceLaw, frames: Frames, own: OwnCoordinates) -> Element:
        """Return the contribution of one force to the equations."""
        potential, kinetic, Φ, rates, efforts = self._stated(force, frames)
        contacts = ContactBlocks(
            force.name,
            force.contact_labels(),
            force.contacts(frames, self._state),
            self._model.parameter_set,
            own.slack,
            self._differentiate,
            self._v,
        )
        loads = [symbol for symbol, _ in force.loads()]
        known = [
            ca.substitute(x, ca.vertcat(*loads), SX.zeros(len(loads))) if loads else x
            for _, x in efforts
        ]
        stated = [potential, kinetic, Φ, *rates, *known]
        self._check(force, [*stated, *[b.residuals for b in contacts.constraints]])
        for c, rate in zip((c for c in force.coordinates() if c.order == 1), rates, strict=True):
            more, effort = own.state_equation(c.name, rate)
            kinetic += more
            efforts.append(effort)
        if (tied := force.ties(frames, self._state)).numel():
            kinetic += own.mass * ca.sumsqr(self._differentiate(tied)) / 2
        blocks = (Constraint(force.name, Φ, (force.name,)),) if Φ.numel() else ()
        names = [name for event in force.events() for name in event.slacks]
        names += [name for label in force.contact_labels() for name in label.slacks]
        slacks = [own.slack(name) for name in names]
        resets = self._resets(force, frames, own)
        held = [own.slack(name) for name in force.velocity_slacks()]
        if held:
            Ψ, y = force.velocity_constraints(frames, self._state), [y for y, _ in held]
            self._check(force, [Ψ])
            name = f"velocities of {force.name}" if blocks else force.name
            blocks = (*blocks, Constraint(name, ca.vertcat(*y), (force.name,), rate=Ψ))
            slacks += held
        return Element(
            force.name,
            kinetic + slack_energy([rate for _, rate in slacks], own.mass),
            potential,
            (*efforts, *contacts.efforts),
            (*blocks, *contacts.constraints, *resets),
            tuple(contacts.impulses),
            force.loads(),
        )

    def _resets(self, force: ForceLaw, frames: Frames, own: OwnCoordinates) -> list[Constraint]:
        """Return the blocks that the events of a force impose on rates."""
        blocks: list[Constraint] = []
        for event, resets in zip(force.events(), force.resets(frames, self._state), strict=True):
            if event.reset_mode is not None:
                self._check(force, [x for pair in resets for x in pair])
                mode = self._model.parameter_set.modes[event.reset_mode]
                slacks = [own.slack(name) for name in event.slacks]
                blocks += reset_blocks(force.name, event.name, resets, slacks, mode)
        return blocks

    def expressions(self, force: ForceLaw, frames: Frames) -> list[SX]:
        """Return all expressions of a force that may depend on turns."""
        potential, kinetic, Φ, rates, efforts = self._stated(force, frames)
        stated = force.contacts(frames, self._state)
        gaps = [c.gap for c in stated if c.gap is not None]
        gaps.append(force.velocity_constraints(frames, self._state))
        gaps += force.event_functions(frames, self._watching)
        new = [x for pairs in force.resets(frames, self._state) for _, x in pairs]
        return [potential, kinetic, Φ, *rates, *[effort for _, effort in efforts], *gaps, *new]

    def _stated(
        self, force: ForceLaw, frames: Frames
    ) -> tuple[SX, SX, SX, list[SX], list[tuple[SX, SX]]]:
        """Return V, T, Φ, ż and pairs (rate, effort)."""
        state = self._state
        return (
            force.potential_energy(frames, state),
            SX(force.kinetic_energy(frames, state)),
            SX(force.constraints(frames, state)),
            [SX(rate) for rate in force.rates(frames, state)],
            list(force.efforts(frames, state)),
        )

    def _check(self, force: ForceLaw, expressions: Iterable[SX]) -> None:
        for x in expressions:
            self._model.parameter_set.check_symbols(x, f"force {force.name!r}", self._known)


def angles_of_forces(
    model: ModelData, q: SX, v: SX, frames: Frames, t: SX, declared: DeclaredCoordinates
) -> list[str]:
    """Return the names of angles on whose turns any force depends, in order of their use."""
    if not model.forces:
        return []
    probe, q, v = TurnProbe(), ca.vertcat(q, declared.q), ca.vertcat(v, declared.v)
    statements = ForceStatements(model, q, v, t, frames, probe, declared.states)
    stated = [x for f in model.forces.values() for x in statements.expressions(f, frames)]
    needed = probe.needed(stated)
    return [name for name in probe.turns if name in needed]
