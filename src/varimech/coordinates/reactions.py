"""Reactions of joints and efforts of drivers, from the balance of each body.

With the inertial and the applied wrench of every body and the Jacobian J of *all* joint and driver
equations with respect to the body's translations and rotations, the multipliers μ follow from

    Jᵀ μ = applied − inertial,

which depends on frames only, so that every set of coordinates yields the same reactions. Where
constraints are redundant, their reactions are not determined by rigid-body mechanics; of all
balanced reactions, those with the smallest

    Σ |F|² + |T|²/ℓ²

are reported: F and T are the force and the torque of each joint about its point (of each driver its
effort), and ℓ² is the mean square of the distances between the joints and the centres of mass of
their bodies. So they are independent of units, coordinates, the origin, and the equations of a
joint.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property

import casadi as ca
import numpy as np

from ..core.errors import ModelError, unknown_name
from ..core.symbols import SX, wedge
from ..model.beam import Beam
from ..model.body import Frames, Point, RigidBody
from ..model.contact_law import ContactSymbols
from ..model.driver import Driver
from ..model.force import ForceLaw
from ..model.joint import Joint
from ..model.model_data import ModelData
from ..model.state import State
from .counted_angles import AngleSymbols
from .least_norm import Balance
from .twists import Twists, accelerated

Efforts = list[tuple[SX, SX]]
"""Pairs of rates and efforts."""


class BodyReactions:
    """Multipliers of all joints and drivers, and the corresponding forces."""

    def __init__(
        self,
        model: ModelData,
        frames: Frames,
        t: SX,
        state: State,
        differentiate: Callable[[SX], SX],
        dependent: Callable[[BodyReactions], list[int]],
        of_loads: Callable[[SX], SX],
    ):
        self._model = model
        self._frames = frames
        self._state = state
        self._bodies = model.moving_bodies
        self._twist = Twists(self._bodies, model)
        owners: dict[str, Joint | Driver] = {**model.joints, **model.drivers}
        rows = {name: owner.residuals(self._twist.frames, t) for name, owner in owners.items()}
        self._jacobians = {name: self._twist.jacobian(row, frames) for name, row in rows.items()}
        self._columns: dict[str, SX] = {}
        """Derivatives of equations of elements with respect to their own coordinates without
        inertia.
        """
        self._angles = AngleSymbols(model)
        self._virtual = State(
            model, self._twist.frames, t, state.rate, counted=self._angles, own=state.states
        )
        """State in the frames of virtual motions; angles and states are symbols."""
        for element in model.forces.values():
            Φ = element.constraints(self._twist.frames, self._virtual)
            J = [self._derivative(Φ, state)] if Φ.numel() else []
            if element.velocity_rows:
                J.append(self._rate_derivative(element, state))
            if J:
                self._jacobians[element.name] = ca.vertcat(*J)
                self._columns[element.name] = self._tied_columns(element, state)
        self.symbols = {
            name: SX.sym(f"μ {name}", J.shape[0]) for name, J in self._jacobians.items()
        }
        """Symbols of the multipliers of each joint and driver."""
        self._multipliers = self.symbols
        unbalanced = of_loads(self._applied(state)) - self._inertial(differentiate)
        everything = self.jacobian
        more = (
            everything.shape[1] - unbalanced.numel()
        )  # own coordinates without inertia: no force along them
        self.balance = Balance(
            everything,
            ca.vertcat(unbalanced, SX.zeros(more)),
            ca.vertcat(self._weights, SX.ones(more)),
            self._strengths,
            self._metric,
        )
        """The equations that the multipliers solve."""
        self.values = self.balance.solve(dependent(self))
        """Multipliers of all joints and drivers in one vector, as expressions of the state."""
        sizes = [J.shape[0] for J in self._jacobians.values()]
        parts = ca.vertsplit(self.values, np.cumsum([0, *sizes]).tolist()) if sizes else []
        self._multipliers = dict(zip(self._jacobians, parts, strict=True))

    @property
    def jacobian(self) -> SX:
        """Jacobian J."""
        if not self._jacobians:
            return SX(0, self._twist.size)
        own = [self._columns.get(name, SX(J.shape[0], 0)) for name, J in self._jacobians.items()]
        J = ca.vertcat(*self._jacobians.values())
        return ca.horzcat(J, ca.diagcat(*own)) if any(x.shape[1] for x in own) else J

    @property
    def of_any_multipliers(self) -> BodyReactions:
        """The reactions as functions of `symbols` in place of the reported multipliers."""
        other = copy(self)
        other._multipliers = self.symbols
        return other

    def loads(self, name: str) -> tuple[SX, SX]:
        """Return force, and torque over ℓ, of a joint or driver as functions of its symbols; a
        driver, and the end of a beam, has only one of the two, and other elements act on all bodies
        together.
        """
        free, ℓ = self.of_any_multipliers, self.length
        if name in self._model.drivers:
            effort, none = free.effort(name), SX(0, 1)
            turns = self._model.drivers[name].output.unit == "rad"
            return (none, effort / ℓ) if turns else (effort, none)
        if name not in self._model.joints:
            wrench = self._jacobians[name].T @ self.symbols[name]
            return SX(0, 1), ca.sqrt(self._weights) * wrench
        of_beam = isinstance(self._shown(name)[0].body, Beam)
        return free.force(name), SX(0, 1) if of_beam else free.torque(name) / ℓ

    def force(self, joint: str) -> SX:
        """Return the force on the second body, in global components (N)."""
        wrench = self._wrench(joint)
        return wrench[: self._model.dimension]

    def torque(self, joint: str) -> SX:
        """Return the torque on the second body about the joint's second point (N·m)."""
        wrench, second = self._wrench(joint), self._model.joints[joint].second
        bodies = self._model.joints[joint].bodies
        beams = [b for b in bodies if isinstance(b, Beam)]
        if beams:
            moments = [
                c.moment(self._frames)
                for b in beams
                for c in self._model.clamps_of(b)
                if c.name == joint
            ]
            return sum(moments, SX.zeros(1 if self._model.dimension == 2 else 3))
        force, torque = wrench[: self._model.dimension], wrench[self._model.dimension :]
        # the wrench acts at the origin of the moving body
        body = bodies[0] if second.body.is_ground else second.body
        arm = self._frames[second.body].position(second.local) - self._frames[body].origin
        return torque - wedge(arm, force)

    def effort(self, driver: str) -> SX:
        """Return the force or torque of a driver along its output, or of another element along the
        residual of its constraint.
        """
        if driver not in (units := self._model.effort_units):
            raise unknown_name("driver", driver, units)
        for force in self._model.forces.values():
            if driver in (names := list(force.effort_names())):
                return -self._multipliers[force.name][names.index(driver)]
        return -self._multipliers[driver]

    def acting(self, element: ForceLaw, point: Point) -> SX:
        """Return the force of a spring, damper or contact on the body of one of its points (N):
        that of the contacts at this point, if it has contacts.
        """
        span = element.span()
        if point.body.is_ground:  # the force there is opposite to the force at the other end
            if span is None:
                raise ModelError(f"{element.name!r}: its point {point.label!r} does not move")
            other = span.first if span.second is point else span.second
            return -self.acting(element, other)
        at, state = element.contact_points(), self._state
        rates, efforts = self._efforts(element, state)
        each = len(efforts) // len(at) if at else 0  # efforts of a contact are consecutive
        chosen = [k for k, p in enumerate(at) if p is point]
        total = SX.zeros(self._twist.size)
        for j, (rate, effort) in enumerate(zip(rates, efforts, strict=True)):
            if not at or j // each in chosen:
                total += self._effort_wrench(rate[0], effort[1], state)
        wrenches = self._contact_wrenches(element, state)
        total += sum((w for k, w in enumerate(wrenches) if k in chosen), SX.zeros(total.numel()))
        if not at:
            V = element.potential_energy(self._twist.frames, self._virtual)
            total -= self._derivative(V, state).T
        return total[self._twist.columns(point)][: self._model.dimension]

    def _wrench(self, joint: str) -> SX:
        if joint not in self._model.joints:
            raise unknown_name("joint", joint, self._model.joints)
        point, sign = self._shown(joint)
        return (
            sign
            * self._jacobians[joint][:, self._twist.columns(point)].T
            @ self._multipliers[joint]
        )

    def _shown(self, joint: str) -> tuple[Point, int]:
        """Return the point at which a joint's reaction is reported, and its sign: on the second
        body, or on the first one, reversed, where the second is the ground.
        """
        first, second = self._model.joints[joint].first, self._model.joints[joint].second
        return (first, 1) if second.body.is_ground else (second, -1)

    @cached_property
    def length(self) -> SX:
        """ℓ: the root mean square of the distances between joints and the centres of mass of their
        rigid bodies. Where there is none, forces and torques do not mix, and any length will do.
        """
        ends = [p for j in self._model.joints.values() for p in (j.first, j.second)]
        arms = [
            p.local - p.body.com
            for p in ends
            if isinstance(p.body, RigidBody) and not p.body.is_ground
        ]
        square = ca.sumsqr(ca.vertcat(SX(0, 1), *arms)) / max(len(arms), 1)
        return ca.if_else(square > 0, ca.sqrt(ca.if_else(square > 0, square, 1)), 1)

    @property
    def _weights(self) -> SX:
        """Diagonal of W: 1 for translations, 1/ℓ² for rotations."""
        turning = ca.DM(self._twist.turning)
        return 1 - turning + turning / self.length**2

    @property
    def _strengths(self) -> SX:
        """Square of the force, or torque over ℓ, of a unit of each multiplier."""
        return ca.vertcat(SX(0, 1), *[ca.diag(block) for block in self._metric])

    @cached_property
    def _metric(self) -> list[SX]:
        """For each joint and driver the matrix N with  μᵀ N μ = |F|² + |T|²/ℓ²."""
        A = [ca.jacobian(ca.vertcat(*self.loads(name)), μ) for name, μ in self.symbols.items()]
        return [a.T @ a for a in A]

    def _derivative(self, expression: SX, state: State) -> SX:
        """Return the derivative of an expression of poses, and of angles that count turns, with
        respect to translations and rotations.
        """
        J = self._twist.jacobian(expression, self._frames)
        turning = self._angles.rate(expression, self._twist.frames)
        if not turning.is_zero():
            J += self._twist.rate_jacobian(turning, self._frames)
        return self._angles.replaced([J], state.angle)[0]

    def _tied_columns(self, element: ForceLaw, state: State) -> SX:
        """Return derivatives of an element's equations with respect to the coordinates that they
        constrain.
        """
        Φ, rows = element.constraints(self._frames, state), element.velocity_rows
        tied = [ca.symvar(state.state(c.name)) for c in element.coordinates() if c.is_tied]
        symbols = ca.vertcat(SX(0, 1), *[symbol for each in tied for symbol in each])
        return ca.vertcat(ca.jacobian(Φ, symbols), SX(rows, symbols.numel()))

    def _rate_derivative(self, element: ForceLaw, state: State) -> SX:
        """Return derivatives of the rates that an element constrains with respect to rates of
        translations and rotations.
        """
        Ψ = element.velocity_constraints(self._twist.frames, self._moving(state))
        return self._angles.replaced([self._twist.rate_jacobian(Ψ, self._frames)], state.angle)[0]

    def _moving(self, state: State) -> State:
        """Return the state seen by elements where time derivatives are those of translations and
        rotations.
        """
        moving = self._twist.frames
        return State(
            self._model,
            moving,
            state.time,
            lambda x: self._twist.rate(x) + self._angles.rate(x, moving),
            counted=self._angles,
            own=state.states,
        )

    def _inertial(self, differentiate: Callable[[SX], SX]) -> SX:
        """Return ∫ r̈·δr dm for unit translations and rotations of each body."""
        power = SX(0)
        for body in self._bodies:
            # T is quadratic in the rates, so at rates (accelerations + virtual rates) its gradient
            # with respect to the virtual rates is M q̈
            power += body.kinetic_energy(
                accelerated(self._frames[body], self._twist.frames[body], differentiate)
            )
        return self._twist.coefficients(power, self._frames)

    def _applied(self, state: State) -> SX:
        """Return the wrench of gravity and of all forces on each body."""
        model, virtual = self._model, self._twist
        V = model.potential_energy(virtual.frames, self._virtual)
        total = -self._derivative(V, state).T
        working = [self._efforts(f, state) for f in model.forces.values()]
        for beam in model.beams:
            seen = (
                beam.shares(frames[beam], model.gravity)
                for frames in (virtual.frames, self._frames)
            )
            working += [(list(v.efforts), list(a.efforts)) for v, a in zip(*seen, strict=True)]
        for pairs in working:
            for rate, effort in zip(*pairs, strict=True):
                total += self._effort_wrench(rate[0], effort[1], state)
        for force in model.forces.values():
            for wrench in self._contact_wrenches(force, state):
                total += wrench
        return total

    def _efforts(self, force: ForceLaw, state: State) -> tuple[Efforts, Efforts]:
        """Return efforts of an element at rates of virtual motions, and at actual rates."""
        return (
            force.efforts(
                self._twist.frames, self._moving(state) if force.rates_by_state else state
            ),
            force.efforts(self._frames, state),
        )

    def _effort_wrench(self, rate: SX, effort: SX, state: State) -> SX:
        wrench = self._twist.coefficients(rate, self._frames, effort)
        return self._angles.replaced([wrench], state.angle)[0]

    def _contact_wrenches(self, force: ForceLaw, state: State) -> list[SX]:
        """Return the wrench of each contact or friction of an element with modes: N along the gap,
        and along the slip the force that sticking requires, or μ N.
        """
        virtual, modes = self._twist, self._model.parameter_set.modes
        seen = (
            force.contacts(virtual.frames, self._virtual),
            force.contacts(self._frames, state),
        )
        wrenches = []
        for label, moved, actual in zip(force.contact_labels(), *seen, strict=True):
            wrench, normal = SX.zeros(virtual.size), SX(1)
            if moved.gap is not None:
                normal = -state.multiplier(label.name)
                wrench += self._derivative(moved.gap, state).T * normal
            if moved.slip is not None and actual.sliding is not None:
                symbols, name = ContactSymbols(label, modes), label.units[-1]
                rows = [name]
                if label.components > 1:
                    rows = [f"{name} [{k}]" for k in range(label.components)]
                sticking = -ca.vertcat(*[state.multiplier(row) for row in rows])
                assert actual.slip is not None
                sliding = -symbols.sliding_direction(actual.slip) * actual.sliding * normal
                wrench += virtual.coefficients(moved.slip, self._frames, sticking + sliding)
            wrenches.append(wrench)
        return wrenches
