"""Nodes of natural coordinates: which points and vectors of the bodies coincide, which form the
basis of a body, and which are derived from others.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from ..core.errors import ModelError
from ..core.symbols import SX
from ..model.beam import Beam
from ..model.body import Body, RigidBody
from ..model.conditions import Shared
from ..model.joint_friction import FrictionJoint
from ..model.model_data import ModelData

MINIMUM_SINE = 0.05
"""Least sine of the angle between a basis vector and the span of the others (3°): the condition of a
basis stays below 20, and points of slender bodies still qualify.
"""


@dataclass(eq=False)
class Node:
    """A point or vector: constant (on the ground), free (with its own coordinates) or derived from
    a body's basis.
    """

    is_point: bool
    label: str
    places: dict[Body, SX] = field(default_factory=dict)
    joints: list[str] = field(default_factory=list)
    derived_from: Body | None = None
    offset: int | None = None
    """Index in q at which its coordinates begin, if it is free."""

    @property
    def constant(self) -> bool:
        """Whether it is fixed to the ground."""
        return any(b.is_ground for b in self.places)


@dataclass(frozen=True)
class Basis:
    """The nodes that form the basis of a body: an origin and vectors (a point represents its
    difference from the origin).
    """

    origin: Node
    vectors: tuple[Node, ...]


class Nodes:
    """All nodes of a model, and the bases of its rigid bodies."""

    def __init__(self, model: ModelData):
        self._model = model
        self.all: list[Node] = []
        self.of: dict[Body, list[Node]] = {body: [] for body in model.bodies.values()}
        self.bases: dict[RigidBody, Basis] = {}
        self.kept: list[tuple[Node, Body, SX]] = []
        """Positions of nodes on bodies that remain as equations."""
        self._nodes_at: dict[tuple[bool, Body, bytes], list[Node]] = {}
        self._share()
        for body in model.moving_bodies:
            if isinstance(body, RigidBody):
                self.bases[body] = self._choose_basis(body)
            elif isinstance(body, Beam):
                self._give_nodes(body)
        self._eliminate()

    def value(self, local: SX) -> np.ndarray:
        """Return the nominal value of local components."""
        if id(local) not in self._values:
            return self._model.parameter_set.evaluate(local).ravel()
        return self._values[id(local)]

    # merging of points and vectors that coincide

    def _share(self) -> None:
        shares = [
            (j.name, s)
            for j in self._model.joints.values()
            if not (isinstance(j, FrictionJoint) and j.has_friction)
            for condition in j.conditions()
            for s in condition.shares()
        ]
        self._evaluate([local for _, s in shares for local in (s.first_local, s.second_local)])
        for joint, shared in shares:
            self._merge(joint, shared)

    def _merge(self, joint: str, shared: Shared) -> None:
        first = self._node_at(shared.is_point, shared.first, shared.first_local)
        second = self._node_at(shared.is_point, shared.second, shared.second_local)
        if first is None and second is None:
            first = Node(shared.is_point, joint)
            self.all.append(first)
        node = first or second
        assert node is not None
        if first is not None and second is not None and first is not second:
            self._absorb(first, second)
        for body, local in (
            (shared.first, shared.first_local),
            (shared.second, shared.second_local),
        ):
            self._place(node, body, local)
        node.joints.append(joint)

    def _absorb(self, keep: Node, gone: Node) -> None:
        self.all.remove(gone)
        for body, local in gone.places.items():
            self.of[body].remove(gone)
            self._nodes_at[self._spot(gone.is_point, body, local)].remove(gone)
            self._place(keep, body, local)
        keep.joints += gone.joints
        self.kept = [(keep if n is gone else n, b, s) for n, b, s in self.kept]

    def _place(self, node: Node, body: Body, local: SX) -> None:
        if body not in node.places:
            node.places[body] = local
            self.of[body].append(node)
            self._nodes_at.setdefault(self._spot(node.is_point, body, local), []).append(node)
        elif isinstance(body, Beam) and node.places[body] is not local:
            problem = f"joints put two points of beam {body.name!r} at one place"
            raise ModelError(problem, element=self._model.label)
        elif not _same(node.places[body], local):
            self.kept.append((node, body, local))

    def _node_at(self, is_point: bool, body: Body, local: SX) -> Node | None:
        spot = self._nodes_at.get(self._spot(is_point, body, local), [])
        return next((node for node in spot if _same(node.places[body], local)), None)

    def _spot(self, is_point: bool, body: Body, local: SX) -> tuple[bool, Body, bytes]:
        """Key of nodes that may coincide: equal expressions have equal values."""
        return is_point, body, self.value(local).tobytes()

    # selection of the basis of a body

    def _give_nodes(self, beam: Beam) -> None:
        """Create a node for each point of a beam that shares none with another body."""
        shared = {id(n.places[beam]) for n in self.of[beam]}
        for point in beam.nodes:
            if id(point.local) not in shared:
                self._fresh(beam, True, point.local, point.label)

    def _choose_basis(self, body: RigidBody) -> Basis:
        mine = list(self.of[body])
        points = [n for n in mine if n.is_point]
        origin = points[0] if points else self._fresh(body, True, body.com, f"{body.name}.com")
        local = {n: self.value(n.places[body]) for n in mine}
        start = self.value(origin.places[body])
        candidates = {
            n: local[n] - start if n.is_point else local[n] for n in mine if n is not origin
        }
        chosen: list[Node] = []
        span: list[np.ndarray] = []
        dimension_of_basis = 1 if body.dimension == 2 else 3
        while len(chosen) < dimension_of_basis:
            node, rest = max(
                ((n, _outside(d, span)) for n, d in candidates.items() if n not in chosen),
                key=lambda item: (
                    float(np.linalg.norm(item[1])) > MINIMUM_SINE,
                    item[0].is_point,
                    np.linalg.norm(item[1]),
                ),
                default=(None, np.zeros(0)),
            )
            if node is None or np.linalg.norm(rest) < MINIMUM_SINE:
                rest = max(
                    (_outside(e, span) for e in np.eye(body.dimension)),
                    key=lambda r: float(np.linalg.norm(r)),
                )
                direction = rest / np.linalg.norm(rest)
                node = self._fresh(body, False, SX(direction), f"{body.name}.{'uvw'[len(chosen)]}")
                candidates[node] = direction
            chosen.append(node)
            unit = _outside(candidates[node], span)
            span.append(unit / np.linalg.norm(unit))
        return Basis(origin, tuple(chosen))

    def _fresh(self, body: Body, is_point: bool, local: SX, label: str) -> Node:
        node = Node(is_point, label)
        self.all.append(node)
        self._place(node, body, local)
        return node

    def _evaluate(self, locals_: list[SX]) -> None:
        """Evaluate local components, all at once; the expressions are kept alive, so that each is
        identified by its `id`.
        """
        self._locals = {id(local): local for local in locals_}
        values = self._model.parameter_set.evaluate_all(list(self._locals.values()))
        self._values = {key: x.ravel() for key, x in zip(self._locals, values, strict=True)}

    # elimination of nodes that follow from others

    def _eliminate(self) -> None:
        for body, basis in self.bases.items():
            for node in self.of[body]:
                if node is basis.origin or node in basis.vectors:
                    continue
                free = not node.constant and node.derived_from is None
                if free and not self._needs(body, node):
                    node.derived_from = body
                else:
                    self.kept.append((node, body, node.places[body]))

    def _needs(self, body: Body, node: Node) -> bool:
        """Whether the body's frame depends on the node."""
        basis = self.bases[body] if isinstance(body, RigidBody) else None
        for part in (basis.origin, *basis.vectors) if basis is not None else ():
            if part is node or (
                part.derived_from is not None and self._needs(part.derived_from, node)
            ):
                return True
        return False


def _outside(vector: np.ndarray, span: list[np.ndarray]) -> np.ndarray:
    """Return the part of a direction outside the span of orthonormal vectors; zero for a zero
    vector.
    """
    length = float(np.linalg.norm(vector))
    rest = vector / length if length > 0 else np.zeros_like(vector)
    for unit in span:
        rest = rest - (unit @ rest) * unit
    return rest


def _same(first: SX, second: SX) -> bool:
    return first is second or bool(ca.is_equal(ca.densify(first), ca.densify(second), 8))
