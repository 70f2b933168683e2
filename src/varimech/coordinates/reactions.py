"""Reactions of joints and efforts of drivers, from the balance of each body.

With the inertial and the applied wrench of every body and the Jacobian J of *all* joint and driver equations with respect to the
body's translations and rotations, the multipliers μ follow from

    Jᵀ μ = applied − inertial,

which depends on frames only, so that every set of coordinates gives the same reactions. Where constraints are redundant, their
reactions are not determined by rigid-body mechanics; that with the smallest forces, and torques over a typical arm, is reported.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np

from ..elimination import Factorisation
from ..errors import unknown_name
from ..model.beam import Beam
from ..model.body import Body, Frames, Point, RigidBody
from ..model.drivers import Driver
from ..model.frame import Frame, known_points, spin
from ..model.joints import Joint
from ..model.parts import Parts
from ..model.state import State
from ..symbols import SX, wedge

RELATIVE_REGULARISATION = 1e-9
"""Keeps J Jᵀ regular where constraints are redundant; two refinements remove its effect elsewhere."""
NOTHING = 1e-30
"""What is added where constraints may depend on nothing."""


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
        beams = [b for b in self._model.joints[joint].bodies if isinstance(b, Beam)]
        if beams:
            moments = [c.moment(self._frames) for b in beams for c in self._model.clamps_of(b) if c.joint.name == joint]
            return sum(moments, SX.zeros(1 if self._model.dimension == 2 else 3))
        force, torque = wrench[: self._model.dimension], wrench[self._model.dimension :]
        # the wrench is taken at the origin of the body that moves
        body = data.first.body if data.second.body.is_ground else data.second.body
        arm = self._frames[data.second.body].position(data.second.local) - self._frames[body].origin
        return torque - wedge(arm, force)

    def effort(self, driver: str) -> SX:
        """Force or torque of a driver along its measure."""
        if driver not in self._model.drivers:
            raise unknown_name("driver", driver, self._model.drivers)
        return -self._multipliers[driver]

    def _wrench(self, joint: str) -> SX:
        if joint not in self._model.joints:
            raise unknown_name("joint", joint, self._model.joints)
        point, sign = self._shown(joint)
        return sign * self._jacobians[joint][:, self._twist.columns(point)].T @ self._multipliers[joint]

    def _shown(self, joint: str) -> tuple[Point, int]:
        """Where a joint's reaction is seen: on its second body, or on the first one, reversed, where that is the ground."""
        data = self._model.joints[joint].data
        return (data.second, -1) if not data.second.body.is_ground else (data.first, 1)

    def _solve(self, state: State, differentiate: Callable[[SX], SX]) -> dict[str, SX]:
        J = ca.vertcat(*self._jacobians.values()) if self._jacobians else SX(0, self._twist.size)
        unbalanced = self._applied(state) - self._inertial(differentiate)
        weights = self._weights
        weighed = J @ ca.diag(weights)
        normal, right = weighed @ J.T, weighed @ unbalanced
        # regularised normal equations, refined: exact where J has full rank, least forces where it has not
        ε = RELATIVE_REGULARISATION * (self._strengths(weights) + NOTHING)
        factors = Factorisation(normal + ca.diag(ε), symmetric=True)
        μ = factors.solve(right)
        for _ in range(2):
            μ = μ + factors.solve(right - normal @ μ)
        found, row = {}, 0
        for name, block in self._jacobians.items():
            found[name] = μ[row : row + block.shape[0]]
            row += block.shape[0]
        return found

    @property
    def _weights(self) -> ca.DM:
        """1 for translations, 1/ℓ² for rotations, ℓ being the longest arm from a centre of mass to a joint: so forces and torques compare at
        any size."""
        ends = [p for j in self._model.joints.values() for p in (j.data.first, j.data.second)]
        arms = [p.local - p.body.com for p in ends if isinstance(p.body, RigidBody) and not p.body.is_ground]
        lengths = [float(np.linalg.norm(arm)) for arm in self._model.numbers.evaluate_all(arms)] if arms else []
        turning = ca.DM(self._twist.turning)
        return 1 - turning + turning / (max(lengths, default=0.0) or 1.0) ** 2

    def _strengths(self, weights: ca.DM) -> SX:
        """The square of the force that a unit of each multiplier is, or of its torque over ℓ where it is a torque alone."""
        rows = []
        for name, J in self._jacobians.items():
            columns = self._twist.columns(self._shown(name)[0]) if name in self._model.joints else slice(0, self._twist.size)
            turning, squares = ca.DM(self._twist.turning)[columns], ca.power(J[:, columns], 2)
            forces, torques = squares @ ca.sparsify(1 - turning), squares @ (weights[columns] * turning)
            rows += [torques[k] if forces[k].is_zero() else forces[k] for k in range(J.shape[0])]
        return ca.vertcat(SX(0, 1), *rows)

    def _inertial(self, differentiate: Callable[[SX], SX]) -> SX:
        """∫ r̈·δr dm for unit translations and rotations of each body."""
        power = SX(0)
        for body in self._bodies:
            # T is quadratic in the rates, so at rates (accelerations + virtual ones) its gradient for the latter is M q̈
            power += body.kinetic_energy(_accelerated(self._frames[body], self._twist.frames[body], differentiate))
        return self._twist.coefficients(power, self._frames)

    def _applied(self, state: State) -> SX:
        """Wrench of gravity and of all forces on each body."""
        model, virtual = self._model, self._twist
        total = -virtual.jacobian(model.potential_energy(virtual.frames), self._frames).T
        working = [(f.efforts(virtual.frames, state), f.efforts(self._frames, state)) for f in model.forces.values()]
        for beam in model.beams:
            seen = (beam.shares(frames[beam], model.gravity) for frames in (virtual.frames, self._frames))
            working += [(list(v.efforts), list(a.efforts)) for v, a in zip(*seen, strict=True)]
        for rates, efforts in working:
            for rate, effort in zip(rates, efforts, strict=True):
                total += virtual.coefficients(rate[0], self._frames, effort[1])
        return total


class _Twist:
    """Frames in symbols of their own, with rates  ȯ = u,  Ṙ = ω̃ R: the independent motions of each body."""

    def __init__(self, bodies: list[Body], model: Parts):
        self._bodies = bodies
        n = model.dimension
        self.size = 0
        self.turning: list[int] = []
        """1 for rotations, 0 for translations."""
        self.frames: dict[Body, Frame] = {model.ground: model.ground_frame()}
        self._pose: list[SX] = []
        self._motion: list[SX] = []
        self._offsets: dict[Body, int] = {}
        for body in bodies:
            if isinstance(body, Beam):
                motion = [SX.sym("u", n) for _ in body.nodes]
                known = known_points((p.local, SX.sym("r", n), u) for p, u in zip(body.nodes, motion, strict=True))
                frame = body.frame(known)
            else:
                origin, rotation = SX.sym("o", n), SX.sym("R", n, n)
                motion = [SX.sym("u", n), SX.sym("ω", 1 if n == 2 else 3)]
                frame = Frame(origin, rotation, motion[0], spin(motion[1]) @ rotation)
            self.frames[body] = frame
            self._pose += _pose(body, frame)
            self._motion += motion
            self._offsets[body] = self.size
            self.size += sum(x.numel() for x in motion)
            self.turning += [int(x is motion[-1] and not isinstance(body, Beam)) for x in motion for _ in range(x.numel())]

    def columns(self, point: Point) -> slice:
        """Where the translation and rotation of a point's body stand; of a point of a beam, its translation alone."""
        body, n = point.body, point.body.dimension
        offset = self._offsets[body]
        if isinstance(body, Beam):
            offset += n * body.nodes.index(point)
            return slice(offset, offset + n)
        return slice(offset, offset + (3 if n == 2 else 6))

    def jacobian(self, expression: SX, actual: Frames) -> SX:
        """Derivative of a function of the poses with respect to translations and rotations, at the actual frames."""
        moved = ca.vertcat(*[x for b in self._bodies for x in _pose(b, self.frames[b], rate=True)])
        rate = ca.jtimes(expression, ca.vertcat(*self._pose), moved)
        return self._at(ca.jacobian(rate, ca.vertcat(*self._motion)), actual)

    def coefficients(self, rate: SX, actual: Frames, effort: SX | None = None) -> SX:
        """Generalised force of an effort at a rate that is linear in translations and rotations."""
        weighted = rate if effort is None else ca.dot(rate, effort)
        return self._at(ca.gradient(weighted, ca.vertcat(*self._motion)), actual)

    def _at(self, expression: SX, actual: Frames) -> SX:
        pose = ca.vertcat(*[x for b in self._bodies for x in _pose(b, actual[b])])
        still = SX.zeros(self.size)
        return ca.substitute([expression], [ca.vertcat(*self._pose), ca.vertcat(*self._motion)], [ca.densify(pose), still])[0]


def _pose(body: Body, frame: Frame, *, rate: bool = False) -> list[SX]:
    """What tells where a body is, or how that changes: origin and rotation, or all nodes of a beam."""
    if isinstance(body, Beam):
        return [(frame.velocity if rate else frame.position)(p.local) for p in body.nodes]
    return [frame.origin_rate, ca.vec(frame.rotation_rate)] if rate else [frame.origin, ca.vec(frame.rotation)]


def _accelerated(actual: Frame, virtual: Frame, differentiate: Callable[[SX], SX]) -> Frame:
    """A frame whose rates are accelerations and virtual rates together."""
    R̈ = ca.reshape(differentiate(ca.vec(actual.rotation_rate)), actual.rotation.shape)
    known = {
        key: (local, position, differentiate(velocity) + virtual.velocity(local))
        for key, (local, position, velocity) in actual.known.items()
    }
    rates = differentiate(actual.origin_rate) + virtual.origin_rate, R̈ + virtual.rotation_rate
    return Frame(actual.origin, actual.rotation, *rates, known)
