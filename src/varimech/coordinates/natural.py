"""Natural coordinates: points and vectors of the bodies themselves, shared where joints make them
coincide.

Each body has a basis: an origin point X₀ and one (plane) or three (space) vectors b, either
differences X_k − X₀ to other points or separate vectors. With the constant local components S of
these vectors the body's frame is linear in them,

    R = B S⁻¹,     o = X₀ − R s₀,

so the mass matrix is constant, and rigidity is quadratic:  bᵢ·bⱼ − dᵢ·dⱼ = 0  (d: local vectors;
scaled to units of length). Points and axes that a joint makes coincide are one node, used by both
bodies, so that such a joint needs no equation at all. A node beyond a body's basis is a linear
combination of it and is eliminated; only where elimination would be circular is it kept as an
equation.

J. García de Jalón and E. Bayo, Kinematic and Dynamic Simulation of Multibody Systems, Springer
1994, chapters 2 and 4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property

import casadi as ca
import numpy as np

from ..core.coordinate_scales import CoordinateScales
from ..core.symbols import SX, traced
from ..model.beam import Beam
from ..model.body import Body, RigidBody
from ..model.frame import Frame, Known, known_points
from ..model.model_data import ModelData
from .connected import check_connected
from .counted_angles import GivenAngles, GivenTurns, counted_names
from .dynamics import Constraint
from .equations import Equations, angles_of_forces, derive, has_friction, joint_constraint
from .guess import Pose
from .natural_nodes import Basis, Node, Nodes
from .own_coordinates import DeclaredCoordinates, OwnCoordinates, typical_mass

DISTURBANCE = 1e-3
"""Relative change of parameters that shows whether two expressions of them are equal: large
compared with rounding, small for the mechanism.
"""


def natural_equations(model: ModelData, counted: Sequence[str] = ()) -> Equations:
    """Derive the equations of motion of a model in natural coordinates, with additional coordinates
    for named angles that count turns.
    """
    check_connected(model)
    return _Builder(model).equations(counted)


class _Builder:
    def __init__(self, model: ModelData):
        self.model = model
        self._nodes = Nodes(model)
        self._number()

    def equations(self, counted: Sequence[str]) -> Equations:
        constraints = self._rigidity()
        for block in (*self._circular(), *self._unshared()):
            constraints.setdefault(block.name, []).append(block)
        t, declared = SX.sym("t"), DeclaredCoordinates(self.model)
        forced = angles_of_forces(self.model, self.q, self.v, self.frames, t, declared)
        names, prescribed = counted_names(self.model, [*forced, *counted]), GivenAngles(self.model)
        needed = bool(declared or names)
        arm = self._arm if needed else 1.0
        mass = typical_mass(self.model, self.frames, self.q, self.v) if needed else 1.0
        own = OwnCoordinates(
            self.model, declared, names, prescribed, arm=arm, mass=mass, inertia=mass * arm**2
        )
        q = ca.vertcat(self.q, own.q)
        prescribed_angles = [a for a in own.angles.values() if a.given is not None]
        numbered = [node for node in self._nodes.all if node.offset is not None]
        points = np.repeat([node.is_point for node in numbered], self.model.dimension)
        return derive(
            self.model,
            q,
            ca.vertcat(self.v, own.v),
            t,
            self.frames,
            constraints,
            (*self.names, *own.names),
            lambda poses: np.concatenate([self._from_poses(poses), own.from_poses(poses)]),
            own=own,
            counted={name: angle.θ for name, angle in own.angles.items()},
            given_turns=GivenTurns(
                q,
                self.model.parameter_set.vector,
                tuple(a.θ for a in prescribed_angles),
                tuple(a.given for a in prescribed_angles if a.given is not None),
            ),
            turn_of=own.turn_of,
            sizes=CoordinateScales(np.concatenate([np.zeros(self.q.numel()), own.turn_sizes]), arm)
            if own.names
            else None,
            lengths=np.concatenate([points, np.zeros(len(own.names), dtype=bool)]),
        )

    @cached_property
    def _arm(self) -> float:
        """L, the largest distance from the origin of a body to a point of it (m)."""
        arms = [p.local for b in self.model.moving_bodies for p in self.model.points_of(b).values()]
        return (
            max(
                (float(np.linalg.norm(s)) for s in self.model.parameter_set.evaluate_all(arms)),
                default=0.0,
            )
            or 1.0
            if arms
            else 1.0
        )

    # coordinates and frames

    def _number(self) -> None:
        n, size = self.model.dimension, 0
        self.names: list[str] = []
        for node in self._nodes.all:
            if not node.constant and node.derived_from is None:
                node.offset = size
                size += n
                self.names += [f"{node.label}.{c}" for c in "xyz"[:n]]
        self.q, self.v = SX.sym("q", size), SX.sym("v", size)
        self._node_values: dict[tuple[Node, bool], SX] = {}
        self._basis_cache: dict[tuple[RigidBody, bool], tuple[SX, SX]] = {}
        self.frames: dict[Body, Frame] = {self.model.ground: self.model.ground_frame()}
        for body in self.model.moving_bodies:
            self._frame(body)

    def _frame(self, body: Body) -> Frame:
        if isinstance(body, Beam) and body not in self.frames:
            self.frames[body] = body.frame(self._known(self._nodes.of[body], body))
        elif isinstance(body, RigidBody) and body not in self.frames:
            s0, S = self._locals(body)
            X0, B = self._basis_values(body, rate=False)
            Ẋ0, Ḃ = self._basis_values(body, rate=True)
            o, R, ȯ, Ṙ = _frame_of(X0, B, Ẋ0, Ḃ, s0, S)
            points = [
                n
                for n in (self._nodes.bases[body].origin, *self._nodes.bases[body].vectors)
                if n.is_point
            ]
            self.frames[body] = Frame(o, R, ȯ, Ṙ, self._known(points, body))
        return self.frames[body]

    def _known(self, points: list[Node], body: Body) -> dict[int, Known]:
        return known_points(
            (n.places[body], self._node_value(n, False), self._node_value(n, True)) for n in points
        )

    def _locals(self, body: RigidBody) -> tuple[SX, SX]:
        basis = self._nodes.bases[body]
        s0 = basis.origin.places[body]
        vectors = [n.places[body] - s0 if n.is_point else n.places[body] for n in basis.vectors]
        return s0, ca.horzcat(*vectors) if len(vectors) > 1 else vectors[0]

    def _basis_values(self, body: RigidBody, *, rate: bool) -> tuple[SX, SX]:
        if (body, rate) not in self._basis_cache:
            basis = self._nodes.bases[body]
            X0 = self._node_value(basis.origin, rate)
            vectors = [
                self._node_value(n, rate) - X0 if n.is_point else self._node_value(n, rate)
                for n in basis.vectors
            ]
            self._basis_cache[body, rate] = (
                X0,
                ca.horzcat(*vectors) if len(vectors) > 1 else vectors[0],
            )
        return self._basis_cache[body, rate]

    def _node_value(self, node: Node, rate: bool) -> SX:
        if (node, rate) not in self._node_values:
            self._node_values[node, rate] = self._new_node_value(node, rate)
        return self._node_values[node, rate]

    def _new_node_value(self, node: Node, rate: bool) -> SX:
        n = self.model.dimension
        if node.constant:
            return SX.zeros(n) if rate else ca.densify(node.places[self.model.ground])
        if node.derived_from is not None:
            return self._at(node, node.derived_from, node.places[node.derived_from], rate)
        assert node.offset is not None
        return (self.v if rate else self.q)[node.offset : node.offset + n]

    def _at(self, node: Node, body: Body, local: SX, rate: bool = False) -> SX:
        frame = self.frames[body] if body.is_ground else self._frame(body)
        if node.is_point:
            return frame.velocity(local) if rate else frame.position(local)
        return (frame.rotation_rate if rate else frame.rotation) @ local

    def _from_poses(self, poses: Mapping[Body, Pose]) -> np.ndarray:
        q = np.zeros(self.q.numel())
        for node in self._nodes.all:
            if node.offset is not None:
                body, local = next(iter(node.places.items()))
                o, R = poses[body]
                s = R @ self._nodes.value(local)
                q[node.offset : node.offset + s.size] = o + s if node.is_point else s
        return q

    # constraints that remain as equations

    def _rigidity(self) -> dict[str, list[Constraint]]:
        blocks: dict[str, list[Constraint]] = {}
        earlier: set[Body] = set()
        for body, basis in self._nodes.bases.items():
            _, S = self._locals(body)
            _, B = self._basis_values(body, rate=False)
            joints = tuple(j for n in (basis.origin, *basis.vectors) for j in n.joints)
            local, current = ([S], [B]) if S.shape[1] == 1 else (ca.horzsplit(S), ca.horzsplit(B))
            for i in range(len(local)):
                for j in range(i, len(local)):
                    if self._implied(basis, i, j, ca.dot(local[i], local[j]), earlier):
                        continue
                    residual = _rigid(
                        current[i], current[j], local[i], local[j], SX(0.5 if i == j else 1.0)
                    )
                    block = Constraint(
                        f"rigidity of {body.name}{_pair_label(basis, i, j)}", residual, joints
                    )
                    blocks.setdefault(body.name, []).append(block)
            earlier.add(body)
        return blocks

    def _implied(self, basis: Basis, i: int, j: int, product: SX, earlier: set[Body]) -> bool:
        """Whether a product of two basis vectors is already constrained by the rigidity of an
        earlier body, to which all their nodes belong too.
        """
        nodes = {*_vector_key(basis, i), *_vector_key(basis, j)}
        for other in earlier.intersection(*[node.places for node in nodes]):
            kept = ca.dot(*[_local_vector(_vector_key(basis, k), other) for k in (i, j)])
            if self._equal(product, kept):
                return True
        return False

    def _equal(self, first: SX, second: SX) -> bool:
        """Whether two expressions of parameters have equal values at nominal and at other values of
        the parameters.
        """
        numbers = self.model.parameter_set
        shares = np.random.default_rng(0).uniform(
            -DISTURBANCE, DISTURBANCE, (2, numbers.nominal.size)
        )
        sizes = np.where(numbers.nominal != 0, numbers.nominal, 1.0)
        values = [
            numbers.evaluate_all([first, second], numbers.nominal + share * sizes)
            for share in (0.0, *shares)
        ]
        return all(np.allclose(one, other, rtol=1e-12, atol=1e-14) for one, other in values)

    def _circular(self) -> list[Constraint]:
        blocks: list[Constraint] = []
        counts: Counter[str] = Counter()
        for node, body, local in self._nodes.kept:
            name = f"joint {node.joints[0] if node.joints else node.label} on {body.name}"
            counts[name] += 1  # a slider has two directions, for example
            label = f"{name} ({counts[name]})" if counts[name] > 1 else name
            residuals = self._at(node, body, local) - self._node_value(node, False)
            blocks.append(Constraint(label, residuals, tuple(node.joints)))
        return blocks

    def _unshared(self) -> list[Constraint]:
        return [
            joint_constraint(joint, conditions, self.frames)
            for joint in self.model.joints.values()
            if (
                conditions := [
                    c for c in joint.conditions() if has_friction(joint) or not c.shares()
                ]
            )
        ]


@traced
def _frame_of(X0: SX, B: SX, Ẋ0: SX, Ḃ: SX, s0: SX, S: SX) -> tuple[SX, SX, SX, SX]:
    """Return o, R and their rates from the basis, its rate, and the local components of both."""
    R, Ṙ = _rotation(B, S), _rotation(Ḃ, S)
    return X0 - R @ s0, R, Ẋ0 - Ṙ @ s0, Ṙ


@traced
def _rigid(bᵢ: SX, bⱼ: SX, dᵢ: SX, dⱼ: SX, share: SX) -> SX:
    """Return bᵢ·bⱼ − dᵢ·dⱼ, scaled to a length."""
    return (ca.dot(bᵢ, bⱼ) - ca.dot(dᵢ, dⱼ)) * (
        share / ca.sqrt(ca.sqrt(ca.sumsqr(dᵢ) * ca.sumsqr(dⱼ)))
    )


def _rotation(B: SX, S: SX) -> SX:
    """Return R = B S⁻¹; in the plane from one vector b and its local components d."""
    if S.shape[0] == 3:
        return B @ ca.inv(S)
    b, d = B, S
    d = d * (1 / ca.sumsqr(d))
    c = b[0] * d[0] + b[1] * d[1]
    s = b[1] * d[0] - b[0] * d[1]
    return ca.vertcat(ca.horzcat(c, -s), ca.horzcat(s, c))


def _vector_key(basis: Basis, k: int) -> tuple[Node, ...]:
    node = basis.vectors[k]
    return (basis.origin, node) if node.is_point else (node,)


def _local_vector(nodes: tuple[Node, ...], body: Body) -> SX:
    """Return a vector, or the difference of two points, in local components of a body."""
    first, *second = [node.places[body] for node in nodes]
    return second[0] - first if second else first


def _pair_label(basis: Basis, i: int, j: int) -> str:
    if len(basis.vectors) == 1:
        return ""
    names = [
        f"{basis.origin.label}–{n.label}" if n.is_point else n.label
        for n in (basis.vectors[i], basis.vectors[j])
    ]
    return f" ({names[0]})" if i == j else f" ({names[0]} · {names[1]})"
