"""Equations of motion in relative coordinates: the recursion along the tree, with closed loops as constraints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import casadi as ca
import numpy as np

from ...model.body import Body
from ...model.parts import Parts
from ...symbols import SX
from ..equations import Constraint, Element, Equations, check_connected, derive
from ..guess import Pose
from .joints import PlaceValues, coordinate_names
from .recursion import Recursion
from .topology import Topology, find_topology


def relative_equations(model: Parts, reference: str, cut: Iterable[str] = ()) -> Equations:
    """The equations of motion of a model in the coordinates of its joints; those named in `cut` are not part of the tree."""
    check_connected(model)
    topology = find_topology(model, cut)
    q, v = (SX.sym(name, topology.coordinates) for name in "qv")
    tree = Recursion(topology, reference, q, v)
    closures = {j.name: [Constraint(f"joint {j.name}", j.residuals(tree.among(j.bodies)), (j.name,))] for j in topology.cuts}
    names = tuple(name for link in topology.links for name in coordinate_names(link.joint, link.body))
    poses = _Poses(topology, tree)
    own = _euler_parameters(topology, tree)
    return derive(model, q, v, SX.sym("t"), tree.frames, closures, names, poses, own=own, inertia=tree, among=tree.among)


def _euler_parameters(topology: Topology, tree: Recursion) -> list[Element]:
    """Those of free rotations have unit length."""
    found = []
    for body, (p, kinetic) in tree.euler_parameters().items():
        joint = topology.link_of[body].joint
        name = f"Euler parameters of {body.name if joint is None else joint.name}"
        unit = Constraint(name, (ca.dot(p, p) - 1) / 2, () if joint is None else (joint.name,))
        found.append(Element(name, kinetic, constraints=(unit,)))
    return found


class _Poses:
    """From poses of all bodies to coordinates."""

    def __init__(self, topology: Topology, tree: Recursion):
        self._topology = topology
        places = [tree.places[link.body] for link in topology.links]
        parts = [x for p in places for x in (p.first, p.second, p.first_triad, p.second_triad, p.relative)]
        values = iter(topology.model.numbers.evaluate_all(parts) if parts else [])
        self._places = [
            PlaceValues(next(values).ravel(), next(values).ravel(), *[next(values) for _ in range(3)]) for _ in places
        ]

    def __call__(self, poses: Mapping[Body, Pose]) -> np.ndarray:
        found = [np.zeros(0)]
        for link, place in zip(self._topology.links, self._places, strict=True):
            pair = (link.parent, link.body) if link.forward else (link.body, link.parent)
            found.append(place.coordinates(link.joint, poses[pair[0]], poses[pair[1]]))
        return np.concatenate(found)
