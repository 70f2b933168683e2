"""The view of a state that objectives, custom forces and results are written against, whatever the
coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

import casadi as ca

from ..core.errors import ModelError, unknown_name
from ..core.expressions import Scope
from ..core.mathematics import rotation
from ..core.symbols import SX
from .body import Frames
from .parameter import Parameter
from .scalar_outputs import Distance, ScalarOutput, Turn

if TYPE_CHECKING:
    from .force import ForceLaw
    from .model_data import ModelData


OUTPUTS_IN_TEXT = (
    *(
        "position",
        "velocity",
        "acceleration",
        "angle",
        "angular_velocity",
        "angular_acceleration",
        "rotation",
        "state",
        "signal",
        "mode",
    ),
    *("distance", "distance_rate", "displacement", "displacement_rate", "rate"),
    *("deviation", "gap", "in_contact", "contact_force"),
    *("reaction", "reaction_torque", "effort", "multiplier", "parameter"),
)
"""Functions of the state that expressions in text can call."""


class Reactions(Protocol):
    """Forces and torques in joints and drivers; implemented by the owner of the equations."""

    def force(self, joint: str) -> SX:
        """Force on the second body, global components (N)."""
        ...

    def torque(self, joint: str) -> SX:
        """Torque on the second body about the joint's point (N·m)."""
        ...

    def effort(self, driver: str) -> SX:
        """Force or torque of a driver along its output, or of a gear along its second angle."""
        ...


class State:
    """The state of a mechanism at one instant, in symbols; every quantity is named as the model
    names it.

    SI units; positions, velocities, accelerations and forces have two (plane) or three (space)
    global components.
    """

    def __init__(
        self,
        model: ModelData,
        frames: Frames,
        time: SX,
        differentiate: Callable[[SX], SX],
        *,
        multipliers: Mapping[str, SX] | None = None,
        reactions: Callable[[], Reactions] | None = None,
        coordinates: tuple[SX, ...] = (),
        counted: Callable[[str, SX], SX] | None = None,
        own: Mapping[str, SX] | None = None,
        later: Callable[[str], SX] | None = None,
        user: str = "this",
    ):
        self._model = model
        self._frames = frames
        self._differentiate = differentiate
        self._multipliers = multipliers
        self._reactions = reactions
        self._coordinates = coordinates
        self._counted = counted
        self._own = own or {}
        self._later = later
        """Provides symbols for states and signals of elements that are yet to be added; None if all
        elements exist.
        """
        self._signals: dict[str, SX] = {}
        self._evaluating: list[str] = []
        self._user = user
        self.time = time

    def position(self, point: str) -> SX:
        """Position of a point.

        Args:
            point: its name.

        Returns:
            Global components, m.
        """
        p = self._model.find_point(point)
        return self._frames[p.body].position(p.local)

    def velocity(self, point: str) -> SX:
        """Velocity of a point.

        Args:
            point: its name.

        Returns:
            Global components, m/s.
        """
        p = self._model.find_point(point)
        return self._frames[p.body].velocity(p.local)

    def acceleration(self, point: str) -> SX:
        """Acceleration of a point.

        Args:
            point: its name.

        Returns:
            Global components, m/s².
        """
        return self._differentiate(self.velocity(point))

    def angle(self, name: str) -> SX:
        """Angle of a planar body from the global x axis (for a beam, of the line between its ends),
        or of a joint.

        It counts turns, from the given initial value, or else from a value in (−π, π].

        Args:
            name: name of the body or joint.

        Returns:
            A scalar, rad.
        """
        turn = self._model.find_angle(name)
        if self._counted is None:
            return turn.value(self._frames)
        counted = self._model.name_of_angle(turn)  # one name for angles that are the same
        return self._counted(counted or self._model.name_of(name), turn.value(self._frames))

    def angular_velocity(self, name: str) -> SX:
        """Angular velocity of a body, or the rate of a joint's angle.

        Args:
            name: name of the body or joint.

        Returns:
            A scalar, rad/s; for a body in space, global components.
        """
        if name in self._model.bodies:
            body = (
                self._model.bodies[name]
                if self._model.dimension == 2
                else self._model.find_rigid_body(name, "angular velocity")
            )
            return self._frames[body].angular_velocity
        return self._model.find_angle(name).rate(self._frames)

    def angular_acceleration(self, name: str) -> SX:
        """Time derivative of `angular_velocity`.

        Args:
            name: name of the body or joint.

        Returns:
            A scalar or global components, rad/s².
        """
        return self._differentiate(self.angular_velocity(name))

    def state(self, name: str) -> SX:
        """State or coordinate that an element owns.

        Args:
            name: its name.

        Returns:
            A scalar, in its unit.
        """
        if name not in self._own:
            if self._later is not None:
                return self._later(name)
            raise unknown_name("state", name, self._own)
        return self._own[name]

    def signal(self, name: str) -> SX:
        """Output of a signal: a named expression, or a block such as a lag or a controller.

        Args:
            name: its name.

        Returns:
            A scalar, in its unit.

        Raises:
            ModelError: for an unknown name, and for signals that depend on each other in a loop
                without a state.
        """
        if name in self._signals:
            return self._signals[name]
        signals = self._model.signals
        if name not in signals:
            if self._later is not None:
                return self._later(name)
            raise unknown_name("signal", name, signals)
        if name in self._evaluating:
            loop = [*self._evaluating[self._evaluating.index(name) :], name]
            raise ModelError(
                f"signals depend on each other in a loop: {' → '.join(map(repr, loop))}",
                remedy="put a lag, or another block with a state, into the loop",
            )
        element, k = signals[name]
        self._evaluating.append(name)
        try:
            value = element.signals(self._frames, self)[k]
        finally:
            self._evaluating.pop()
        self._signals[name] = value
        return value

    @property
    def states(self) -> Mapping[str, SX]:
        """All states and coordinates that elements own, by name."""
        return self._own

    def mode(self, name: str) -> SX:
        """Value of a mode: a number that only events change.

        Args:
            name: its name.

        Returns:
            A scalar.
        """
        modes = self._model.parameter_set.modes
        if name not in modes:
            raise unknown_name("mode", name, modes)
        return self._own.get(name, modes[name])  # a mode whose values are expressions is a state

    def rotation(self, body: str) -> SX:
        """Rotation matrix of a body; its columns are the body's axes.

        Args:
            body: its name.

        Returns:
            2×2 in the plane, 3×3 in space. Write `[row, column]` for a component: a single index
            counts column by column.
        """
        owner = (
            self._model.find_body(body)
            if self._model.dimension == 2
            else self._model.find_rigid_body(body, "rotation")
        )
        return self._frames[owner].rotation

    def distance(self, first: str, second: str) -> SX:
        """Distance between two points.

        Args:
            first: name of a point.
            second: name of another one.

        Returns:
            A scalar, m.
        """
        return self._span(first, second).value(self._frames)

    def distance_rate(self, first: str, second: str) -> SX:
        """Time derivative of `distance`.

        Args:
            first: name of a point.
            second: name of another one.

        Returns:
            A scalar, m/s.
        """
        return self._span(first, second).rate(self._frames)

    def displacement(self, joint: str) -> SX:
        """Displacement along the axis of a sliding joint.

        Args:
            joint: its name.

        Returns:
            A scalar, m.
        """
        return self._model.find_displacement(joint).value(self._frames)

    def displacement_rate(self, joint: str) -> SX:
        """Time derivative of `displacement`.

        Args:
            joint: its name.

        Returns:
            A scalar, m/s.
        """
        return self._model.find_displacement(joint).rate(self._frames)

    def deviation(self, joint: str) -> SX:
        """Offset of the pin in its bore, or of the block across its slot, of a joint with clearance:
        how far the joint is from an ideal one.

        Args:
            joint: its name.

        Returns:
            Components in the frame of its first body, m.
        """
        known = self._model.clearance_joints
        if joint not in known:
            raise unknown_name("joint with clearance", joint, known)
        return known[joint].deviation(self._frames)

    def gap(self, contact: str) -> SX:
        """Distance between surfaces of a stop, contact or joint with clearance, along their normal.

        Args:
            contact: its name, as events have it; `"guide.left"` if it has several gaps.

        Returns:
            A scalar, m or rad; negative where compliant surfaces overlap.
        """
        force, k = self._gap_of(contact)
        return force.surface_gaps(self._frames, self)[k]

    def contact_force(self, contact: str) -> SX:
        """Normal force between surfaces of a stop, contact, cam or joint with clearance. Impulses of
        impacts are in `Run.events`.

        Args:
            contact: its name, as events have it; `"guide.left"` if it has several gaps.

        Returns:
            A scalar, N or N·m; positive where the surfaces press on each other, zero where they do
            not touch.
        """
        force, k = self._gap_of(contact)
        if force.contact_labels():
            return -self.multiplier(contact)
        efforts = force.efforts(self._frames, self)
        return efforts[k * (len(efforts) // len(force.gap_names()))][1]

    def _gap_of(self, contact: str) -> tuple[ForceLaw, int]:
        """The element that a gap belongs to, and the index of the gap in it."""
        forces = self._model.forces.values()
        named = {name: (f, k) for f in forces for k, name in enumerate(f.gap_names())}
        if contact not in named:
            raise unknown_name("contact", contact, named)
        return named[contact]

    def in_contact(self, contact: str) -> SX:
        """Whether surfaces of a stop, contact or joint with clearance touch.

        Args:
            contact: its name; of one with several gaps also that of one of them, `"guide.left"`.

        Returns:
            A scalar: the number of gaps that are closed. Its integral is the time in contact.
        """
        force, modes = self._model.forces.get(contact), self._model.parameter_set.modes
        own = () if force is None else force.gap_names()
        closed = [
            modes[mode] if (mode := f"closed {name}") in modes else self.gap(name) < 0
            for name in own or [contact]
        ]
        return sum(closed, SX(0))

    def axial_force(self, beam: str, segment: int | None = None) -> SX:
        """Axial force in a beam; tension is positive.

        Args:
            beam: its name.
            segment: counted from 0; all of them if not given.

        Returns:
            A number for each segment, N.
        """
        named, numbers = self._model.find_beam_parts(beam, segment, 0, "segment")
        forces = {k: named.axial_force(self._frames[named], k) for k in numbers}
        for clamp in self._model.clamps_of(named):
            held = 0 if clamp.second is named.nodes[0] else named.segments - 1
            if held in forces:
                forces[held] += clamp.axial_force(self._frames)
        return ca.vertcat(SX(0, 1), *forces.values())

    def bending_moment(self, beam: str, node: int | None = None) -> SX:
        """Bending moment at nodes between the ends of a beam.

        In the plane it is positive where the beam bends to the left, going from its first to its
        second end; in space it is the magnitude.

        Args:
            beam: its name.
            node: counted from 1; all of them if not given.

        Returns:
            A number for each node, N·m.
        """
        named, numbers = self._model.find_beam_parts(beam, node, 1, "inner node")
        return ca.vertcat(
            SX(0, 1), *[named.bending_moment(self._frames[named], k) for k in numbers]
        )

    def rate(self, quantity: SX) -> SX:
        """Time derivative of any quantity of the state.

        Args:
            quantity: an expression of outputs of the state.

        Returns:
            Its time derivative, in its unit per second.
        """
        return self._differentiate(quantity)

    def reaction(self, joint: str) -> SX:
        """Force of a joint on its second body.

        Args:
            joint: its name.

        Returns:
            Global components, N.
        """
        return self._known_reactions().force(joint)

    def reaction_torque(self, joint: str) -> SX:
        """Torque of a joint on its second body about the joint's point.

        Args:
            joint: its name.

        Returns:
            A scalar (plane) or global components (space), N·m.
        """
        return self._known_reactions().torque(joint)

    def effort(self, driver: str) -> SX:
        """Force or torque of a driver, positive where it increases what it drives; torque of a gear
        along its second angle.

        Args:
            driver: name of the driver or gear.

        Returns:
            A scalar, N or N·m.
        """
        for force in self._model.forces.values():
            if driver in force.effort_names():
                explicit = force.explicit_efforts(self._frames, self)
                if explicit:
                    return explicit[driver]
            elif driver in force.gap_names():
                raise ModelError(
                    f"{driver!r} is a contact: it has no effort",
                    remedy=f"use contact_force({driver!r})",
                )
        return self._known_reactions().effort(driver)

    def multiplier(self, constraint: str) -> SX:
        """Lagrange multiplier of a constraint of the equations.

        Args:
            constraint: its name in the equations.

        Returns:
            A scalar, J per unit of the constraint.
        """
        if self._multipliers is None:
            raise ModelError(
                "may not depend on multipliers: they are only known after the forces",
                field=self._user,
            )
        if constraint not in self._multipliers:
            raise unknown_name("constraint", constraint, self._multipliers)
        return self._multipliers[constraint]

    @property
    def coordinates(self) -> tuple[SX, ...]:
        """The generalised coordinates, velocities and accelerations; they depend on the coordinate
        type.
        """
        return self._coordinates

    @property
    def kinetic_energy(self) -> SX:
        """Kinetic energy of all bodies, and of inertias that elements own (J)."""
        own = (f.kinetic_energy(self._frames, self) for f in self._model.forces.values())
        return sum(own, self._model.kinetic_energy(self._frames))

    @property
    def potential_energy(self) -> SX:
        """Potential energy of gravity, beams and springs, without that of compliant contacts (J)."""
        return self._model.potential_energy(self._frames, self)

    @property
    def energy(self) -> SX:
        """Kinetic plus potential energy (J)."""
        return self.kinetic_energy + self.potential_energy

    def parameter(self, name: str | Parameter) -> SX:
        """A parameter of the mechanism.

        Args:
            name: its name.

        Returns:
            Its symbol, in its unit.
        """
        numbers = self._model.parameter_set
        return list(numbers.parameters.values())[numbers.indices([name])[0]].symbol

    @property
    def scope(self) -> Scope:
        """Names that expressions in text may use: time, parameters, energies, and all outputs by
        the names of these methods.
        """
        scope = self._model.parameter_set.scope_with("t", self.time, "the time")
        functions: dict[str, Callable[..., object]] = dict(self._model.parameter_set.tables)
        functions |= {name: getattr(self, name) for name in OUTPUTS_IN_TEXT}
        for name in ("axial_force", "bending_moment"):  # numbers in a text are floats
            functions[name] = lambda beam, part=None, name=name: getattr(self, name)(
                beam, part if part is None else int(part)
            )
        for name in ("kinetic_energy", "potential_energy", "energy"):
            functions[name] = lambda name=name: getattr(self, name)
        functions["rotation"] = lambda *given: (
            self.rotation(*given) if len(given) == 1 else rotation(*given)
        )
        return Scope(scope.names, functions, scope.ambiguous)

    def output(self, output: ScalarOutput) -> SX:
        """Value of a scalar output; an angle of a body or joint counts turns.

        Args:
            output: the output.

        Returns:
            A scalar, in its unit.
        """
        name = self._model.name_of_angle(output) if isinstance(output, Turn) else None
        return output.value(self._frames) if name is None else self.angle(name)

    def _span(self, first: str, second: str) -> Distance:
        return Distance(self._model.find_point(first), self._model.find_point(second))

    def _known_reactions(self) -> Reactions:
        if self._reactions is None:
            raise ModelError(
                "may not depend on reactions: they are only known after the forces",
                field=self._user,
            )
        return self._reactions()


def rate_without_acceleration(expression: SX, q: SX, v: SX, t: SX, user: str) -> SX:
    """Time derivative of a function of positions and time, for forces, which cannot depend on
    accelerations.
    """
    if ca.depends_on(expression, v):
        raise ModelError(
            "may not depend on accelerations: they are only known after the forces", field=user
        )
    return ca.jtimes(expression, q, v) + ca.jtimes(expression, t, SX(1))
