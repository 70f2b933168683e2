"""Equations of motion in relative coordinates: the recursion along the tree, with closed loops as
constraints.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

from ...core.symbols import SX, symbols_in
from ...model.model_data import ModelData
from ..connected import check_connected
from ..counted_angles import counted_names
from ..dynamics import Constraint, Element
from ..equations import Equations, angles_of_forces, derive, has_friction, joint_constraint
from ..own_coordinates import DeclaredCoordinates, OwnCoordinates, typical_mass
from .choice import ORIGIN
from .joint_values import JointValues
from .joints import coordinate_names
from .recursion import Recursion
from .spanning_tree import SpanningTree, spanning_tree
from .tree_angles import TreeAngles


def relative_equations(
    model: ModelData, reference: str, cut: Iterable[str] = (), counted: Sequence[str] = ()
) -> Equations:
    """Derive the equations of motion of a model in the coordinates of its joints; those named in
    `cut` are not part of the tree.

    Angles of joints in the tree, and sums of them, count turns without additional coordinates; only
    other angles have a coordinate of their own.
    """
    check_connected(model)
    tree = spanning_tree(model, {*cut, *[j.name for j in model.joints.values() if has_friction(j)]})
    recursion = _recursion(tree, reference)
    closures = {
        j.name: [joint_constraint(j, j.conditions(), recursion.among(j.bodies))] for j in tree.cuts
    }
    names = tuple(name for link in tree.links for name in coordinate_names(link.joint, link.body))
    places, t = JointValues(tree, recursion.places), SX.sym("t")
    declared = DeclaredCoordinates(model)
    forced = angles_of_forces(model, recursion.q, recursion.v, recursion.frames, t, declared)
    angles = TreeAngles(recursion, counted_names(model, [*forced, *counted]))
    sizes = places.sizes()
    mass = 1.0
    if declared or angles.missing:
        mass = typical_mass(model, recursion.frames, recursion.q, recursion.v)
    arm = sizes.length or 1.0
    own = OwnCoordinates(
        model, declared, angles.missing, angles.given, arm=arm, mass=mass, inertia=mass
    )
    q, v = ca.vertcat(recursion.q, own.q), ca.vertcat(recursion.v, own.v)
    turn_sizes = np.concatenate([sizes.turns, own.turn_sizes])
    return derive(
        model,
        q,
        v,
        t,
        recursion.frames,
        closures,
        (*names, *own.names),
        lambda poses: np.concatenate([places.coordinates(poses), own.from_poses(poses)]),
        own=own,
        counted={**angles.known, **{name: angle.θ for name, angle in own.angles.items()}},
        given_turns=angles.given_turns(q, own),
        turn_of=lambda turn: angles.turn_of(turn, own),
        further=_euler_parameters(tree, recursion),
        inertia=recursion,
        among=recursion.among,
        sizes=replace(sizes, turns=turn_sizes),
        lengths=turn_sizes == 0,
    )


def closure_sizes(tree: SpanningTree) -> dict[str, int]:
    """Return the number of equations that close each cut joint: none where its conditions do not
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
    """Constrain the Euler parameters of free rotations to unit length."""
    elements = []
    for body, (p, kinetic) in recursion.euler_parameters().items():
        joint = tree.link_of[body].joint
        name = f"Euler parameters of {body.name if joint is None else joint.name}"
        unit = Constraint(name, (ca.dot(p, p) - 1) / 2, () if joint is None else (joint.name,))
        elements.append(Element(name, kinetic, constraints=(unit,)))
    return elements
