"""Reactions of joints and efforts of drivers, from the balance of each body.

With the inertial and the applied wrench of every body and the Jacobian J of *all* joint and driver equations with respect to the
body's translations and rotations, the multipliers μ follow from

    Jᵀ μ = applied − inertial,

which depends on frames only, so that every set of coordinates gives the same reactions. Where constraints are redundant, their
reactions are not determined by rigid-body mechanics; the solution of least norm is reported.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca

from ..elimination import Factorisation
from ..errors import unknown_name
from ..model.body import Body, Frames
from ..model.drivers import Driver
from ..model.frame import Frame, spin
from ..model.joints import Joint
from ..model.parts import Parts
from ..model.state import State
from ..symbols import SX

RELATIVE_REGULARISATION = 1e-9
"""Keeps J Jᵀ regular where constraints are redundant; two refinements remove its effect elsewhere."""


class BodyReactions:
    """Multipliers of all joints and drivers, and the forces they stand for."""

    def __init__(self, model: Parts, frames: Frames, t: SX, state: State, differentiate: Callable[[SX], SX]):
        self._model = model
        self._frames = frames
        self._bodies = model.moving_bodies
        self._twist = _Twist(self._bodies, model)
        things: dict[str, Joint | Driver] = {**model.joints, **model.drivers}
        rows = {name: thing.residuals(self._twist.frames, t) for name, thing in things.items()}
        self._jacobians = {name: self._twist.jacobian(row, frames) for name, row in rows.items()}
        self._multipliers = self._solve(state, differentiate)

    def force(self, joint: str) -> SX:
        """Force on the second body, global components (N)."""
        wrench = self._wrench(joint)
        return wrench[: self._model.dimension]

    def torque(self, joint: str) -> SX:
        """Torque on the second body about the joint's second point (N·m)."""
        wrench, data = self._wrench(joint), self._model.joints[joint].data
        force, torque = wrench[: self._model.dimension], wrench[self._model.dimension :]
        # the wrench is taken at the origin of the body that moves
        body = data.first.body if data.second.body.is_ground else data.second.body
        arm = self._frames[data.second.body].position(data.second.local) - self._frames[body].origin
        if self._model.dimension == 2:
            return torque - (arm[0] * force[1] - arm[1] * force[0])
        return torque - ca.cross(arm, force)

    def effort(self, driver: str) -> SX:
        """Force or torque of a driver along its measure."""
        if driver not in self._model.drivers:
            raise unknown_name("driver", driver, self._model.drivers)
        return -self._multipliers[driver]

    def _wrench(self, joint: str) -> SX:
        if joint not in self._model.joints:
            raise unknown_name("joint", joint, self._model.joints)
        first, second = self._model.joints[joint].bodies
        # a joint on the ground as second body shows its reaction on the first one, reversed
        body, sign = (second, -1) if not second.is_ground else (first, 1)
        return sign * self._jacobians[joint][:, self._twist.columns(body)].T @ self._multipliers[joint]

    def _solve(self, state: State, differentiate: Callable[[SX], SX]) -> dict[str, SX]:
        J = ca.vertcat(*self._jacobians.values()) if self._jacobians else SX(0, self._twist.size)
        unbalanced = self._applied(state) - self._inertial(differentiate)
        normal, right = J @ J.T, J @ unbalanced
        # regularised normal equations, refined: exact where J has full rank, least norm where it has not
        ε = RELATIVE_REGULARISATION * (1 + ca.trace(normal) / max(1, J.shape[0]))
        factors = Factorisation(normal + ε * SX.eye(J.shape[0]), symmetric=True)
        μ = factors.solve(right)
        for _ in range(2):
            μ = μ + factors.solve(right - normal @ μ)
        found, row = {}, 0
        for name, block in self._jacobians.items():
            found[name] = μ[row : row + block.shape[0]]
            row += block.shape[0]
        return found

    def _inertial(self, differentiate: Callable[[SX], SX]) -> SX:
        """∫ r̈·δr dm for unit translations and rotations of each body."""
        power = SX(0)
        for body in self._bodies:
            actual, virtual = self._frames[body], self._twist.frames[body]
            r̈ = differentiate(actual.velocity(body.com))
            R̈ = ca.reshape(differentiate(ca.vec(actual.rotation_rate)), actual.rotation.shape)
            power += body.mass * ca.dot(r̈, virtual.velocity(body.com))
            power += ca.trace(R̈ @ body.second_moments @ virtual.rotation_rate.T)
        return self._twist.coefficients(power, self._frames)

    def _applied(self, state: State) -> SX:
        """Wrench of gravity and of all forces on each body."""
        model, virtual = self._model, self._twist
        total = -virtual.jacobian(model.potential_energy(virtual.frames), self._frames).T
        for force in model.forces.values():
            for rate, effort in zip(force.efforts(virtual.frames, state), force.efforts(self._frames, state), strict=True):
                total += virtual.coefficients(rate[0], self._frames, effort[1])
        return total


class _Twist:
    """Frames in symbols of their own, with rates  ȯ = u,  Ṙ = ω̃ R: the independent motions of each body."""

    def __init__(self, bodies: list[Body], model: Parts):
        self._bodies = bodies
        n = model.dimension
        self.width = 3 if n == 2 else 6
        self.size = self.width * len(bodies)
        self.frames: dict[Body, Frame] = {model.ground: model.ground_frame()}
        self._pose, self._motion = [], []
        for body in bodies:
            origin, rotation = SX.sym("o", n), SX.sym("R", n, n)
            u, ω = SX.sym("u", n), SX.sym("ω", self.width - n)
            self.frames[body] = Frame(origin, rotation, u, spin(ω) @ rotation)
            self._pose += [origin, ca.vec(rotation)]
            self._motion += [u, ω]

    def columns(self, body: Body) -> slice:
        """Where the body's translation and rotation stand."""
        k = self._bodies.index(body) * self.width
        return slice(k, k + self.width)

    def jacobian(self, expression: SX, actual: Frames) -> SX:
        """Derivative of a function of the poses with respect to translations and rotations, at the actual frames."""
        moved = ca.vertcat(*[x for b in self._bodies for x in (self.frames[b].origin_rate, ca.vec(self.frames[b].rotation_rate))])
        rate = ca.jtimes(expression, ca.vertcat(*self._pose), moved)
        return self._at(ca.jacobian(rate, ca.vertcat(*self._motion)), actual)

    def coefficients(self, rate: SX, actual: Frames, effort: SX | None = None) -> SX:
        """Generalised force of an effort at a rate that is linear in translations and rotations."""
        weighted = rate if effort is None else ca.dot(rate, effort)
        return self._at(ca.gradient(weighted, ca.vertcat(*self._motion)), actual)

    def _at(self, expression: SX, actual: Frames) -> SX:
        pose = ca.vertcat(*[x for b in self._bodies for x in (actual[b].origin, ca.vec(actual[b].rotation))])
        still = SX.zeros(self.size)
        return ca.substitute([expression], [ca.vertcat(*self._pose), ca.vertcat(*self._motion)], [ca.densify(pose), still])[0]
