"""Equations of motion in relative coordinates: the recursion along the tree, with closed loops as
constraints.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import casadi as ca

from ...core.symbols import SX, symbols_in
from ...model.model_data import ModelData
from ..connected import check_connected
from ..counted_angles import angle_elements, watched_angles
from ..dynamics import Constraint, Element
from ..equations import Equations, angles_of_forces, derive
from .choice import ORIGIN
from .joint_values import JointValues
from .joints import coordinate_names
from .recursion import Recursion
from .spanning_tree import SpanningTree, spanning_tree


def relative_equations(
    model: ModelData, reference: str, cut: Iterable[str] = (), counted: Sequence[str] = ()
) -> Equations:
    """The equations of motion of a model in the coordinates of its joints; those named in `cut` are
    not part of the tree.

    Angles are known from rotations, so not by more than half a turn: `counted` ones, and those that
    forces depend on, are watched.
    """
    check_connected(model)
    tree = spanning_tree(model, cut)
    recursion = _recursion(tree, reference)
    q, v = recursion.q, recursion.v
    closures = {
        j.name: [Constraint(f"joint {j.name}", j.residuals(recursion.among(j.bodies)), (j.name,))]
        for j in tree.cuts
    }
    names = tuple(name for link in tree.links for name in coordinate_names(link.joint, link.body))
    places, t = JointValues(tree, recursion.places), SX.sym("t")
    watched = dict.fromkeys([*angles_of_forces(model, q, v, recursion.frames, t), *counted])
    angles = watched_angles(model, watched, recursion.frames)
    sizes = places.sizes()
    return derive(
        model,
        q,
        v,
        t,
        recursion.frames,
        closures,
        names,
        places.coordinates,
        own=[*_euler_parameters(tree, recursion), *angle_elements(angles)],
        inertia=recursion,
        among=recursion.among,
        sizes=sizes,
        lengths=sizes.turns == 0,
        counted=angles,
    )


def closure_sizes(tree: SpanningTree) -> dict[str, int]:
    """Number of equations that close each joint that is cut: none where what it asks for does not
    depend on the coordinates.
    """
    if not tree.cuts:
        return {}
    recursion = _recursion(tree, ORIGIN)
    coordinates = symbols_in(recursion.q)
    closures = {j.name: j.residuals(recursion.among(j.bodies)) for j in tree.cuts}
    return {
        name: 0 if coordinates.isdisjoint(symbols_in(Φ)) else Φ.numel()
        for name, Φ in closures.items()
    }


def _recursion(tree: SpanningTree, reference: str) -> Recursion:
    q, v = (SX.sym(name, tree.coordinates) for name in "qv")
    return Recursion(tree, reference, q, v)


def _euler_parameters(tree: SpanningTree, recursion: Recursion) -> list[Element]:
    """Those of free rotations have unit length."""
    found = []
    for body, (p, kinetic) in recursion.euler_parameters().items():
        joint = tree.link_of[body].joint
        name = f"Euler parameters of {body.name if joint is None else joint.name}"
        unit = Constraint(name, (ca.dot(p, p) - 1) / 2, () if joint is None else (joint.name,))
        found.append(Element(name, kinetic, constraints=(unit,)))
    return found
