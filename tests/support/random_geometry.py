"""Poses of the bodies of a random mechanism, and joints fitted to them, so that the mechanism can
be assembled by construction.

A body moves with velocities v + ω × x, a twist (v, ω). The constraints of a joint are rows over the
twists of all bodies, computed here independently of the package under test: they yield degrees of
freedom, redundant conditions, the distance from a singular position, and values that determine the
initial conditions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from newton_euler import turned
from random_recipes import CLAMP, FREE, GROUND, TWIN, Closure, Recipe

Array = np.ndarray
DISTINCT = 0.05
"""Smallest distance of a row from dependence on others, or smallest singular value, that counts as
independent.
"""
NOTHING = 1e-9
"""Largest distance or singular value that counts as dependent; mechanisms with values in between
are close to a singular position and not generated.
"""
SCALES = {"tiny": 1e-3, "huge": 1e3}


@dataclass(frozen=True)
class Pose:
    """Origin and rotation of a body."""

    origin: Array
    rotation: Array

    def local(self, place: Array) -> Array:
        return self.rotation.T @ (place - self.origin)

    def place(self, local: Array) -> Array:
        return self.origin + self.rotation @ local


@dataclass(frozen=True)
class Fitted:
    """A joint that fits the poses of its bodies; its data are in the ground's frame, apart from the
    arguments of its element method.
    """

    name: str
    kind: str
    bodies: tuple[int, int]
    places: tuple[Array, Array]
    nodes: tuple[str | None, str | None]
    """Points of beams by name; None if a rigid body gets a point for the joint."""
    axis: Array | None
    other_axis: Array | None
    rows: Array


@dataclass
class Geometry:
    """Poses of all bodies, and the joints between them."""

    recipe: Recipe
    scale: float
    poses: dict[int, Pose]
    lengths: dict[int, float]
    segments: dict[int, int]
    joints: list[Fitted] = field(default_factory=list)

    @property
    def width(self) -> int:
        """Number of components of a twist."""
        return 3 if self.recipe.dimension == 2 else 6

    def nodes(self, body: int) -> dict[str, Array]:
        """Points of a beam, in its frame."""
        n, L = self.segments[body], self.lengths[body]
        names = ["from", *(f"n{k}" for k in range(1, n)), "to"]
        along = np.eye(self.recipe.dimension)[0]
        return {name: along * (L * k / n) for k, name in enumerate(names)}

    def row(self, measure: Array, second: int, first: int = GROUND) -> Array:
        """An output of the twist of one body relative to another as a row over all twists; lengths
        are divided by the size of the mechanism.
        """
        computed, w = np.zeros(len(self.recipe.parts) * self.width), self.width
        for body, sign in ((second, 1.0), (first, -1.0)):
            if body != GROUND:
                computed[body * w : (body + 1) * w] += sign * measure
        return computed

    def moves(self, place: Array, direction: Array) -> Array:
        """The velocity of a point along a direction as an output of a twist."""
        x = place / self.scale
        if self.recipe.dimension == 2:
            return np.array([*direction, x[0] * direction[1] - x[1] * direction[0]])
        return np.concatenate([direction, np.cross(x, direction)])

    def turns(self, axis: Array | float) -> Array:
        """The angular velocity about an axis as an output of a twist."""
        return np.concatenate([np.zeros(self.recipe.dimension), np.atleast_1d(axis)])

    @property
    def held(self) -> Array:
        """Rows of all joints; straight beams in space do not rotate about their axis."""
        beams = self.segments if self.recipe.dimension == 3 else ()
        rolls = [self.row(self.turns(self.poses[k].rotation[:, 0]), k) for k in beams]
        return np.vstack(
            [
                np.zeros((0, len(self.recipe.parts) * self.width)),
                *rolls,
                *[j.rows for j in self.joints],
            ]
        )

    @property
    def dofs(self) -> int:
        """Degrees of freedom, as if all bodies were rigid."""
        return self.held.shape[1] - rank(self.held)

    @property
    def regular(self) -> bool:
        """Whether no constraint is redundant."""
        return rank(self.held) == len(self.held)


def strengths(rows: Array) -> Array:
    """Singular values of rows of unit length."""
    if not rows.size:
        return np.zeros(0)
    return np.linalg.svd(rows / np.linalg.norm(rows, axis=1, keepdims=True), compute_uv=False)


def rank(rows: Array) -> int:
    return int((strengths(rows) > NOTHING).sum())


def clear(rows: Array) -> bool:
    """Whether rows are clearly dependent or independent, with nothing in between."""
    singular_values = strengths(rows)
    return not ((singular_values > NOTHING) & (singular_values < DISTINCT)).any()


def geometry(recipe: Recipe) -> Geometry:
    """Bodies at random poses, each joined to an earlier one; then joints that close loops, as long
    as the mechanism can still move.
    """
    scale = next((SCALES[edge] for edge in recipe.edges if edge in SCALES), 1.0)
    g = Geometry(
        recipe, scale, {GROUND: Pose(np.zeros(recipe.dimension), np.eye(recipe.dimension))}, {}, {}
    )
    for k, part in enumerate(recipe.parts):
        rng = np.random.default_rng([recipe.seed, part.seed])
        g.poses[k] = _pose(recipe, scale, rng)
        if part.kind != "body":
            g.lengths[k] = scale * rng.uniform(0.3, 1.2)
        if part.kind == "beam":
            g.segments[k] = int(rng.integers(1, 4))
            if part.parent in g.segments and part.joint != "distance":
                g.poses[k] = Pose(
                    g.poses[part.parent].place(g.nodes(part.parent)["to"]), g.poses[k].rotation
                )
        if part.joint != FREE:
            ends = (part.parent, k) if part.forward else (k, part.parent)
            g.joints.append(_fitted(g, f"J{k}", part.joint, ends, rng))
    for k, closure in enumerate(recipe.closures):
        _close(g, f"C{k}", closure)
    return g


def _close(g: Geometry, name: str, closure: Closure) -> None:
    """Add a joint if the mechanism can still move with it, or a rod if only that is possible."""
    rng = np.random.default_rng([g.recipe.seed, closure.seed])
    first, second, kind = closure.first, closure.second, closure.joint
    if kind == TWIN:
        twins = [
            j
            for j in g.joints
            if second in j.bodies and j.kind != CLAMP and not set(j.bodies) & set(g.segments)
        ]
        if twins and g.recipe.redundant:
            g.joints.append(_twin(twins[0], name))
        return
    if first == second or (first in g.segments and second in g.segments):
        return
    for tried in (kind, "distance"):
        joint = _fitted(g, name, tried, (first, second), rng)
        rows = np.vstack([g.held, joint.rows])
        least = g.recipe.seed % 8 > 0  # a few immovable structures are allowed
        if (
            not clear(rows)
            or rows.shape[1] - rank(rows) < least
            or not (g.recipe.redundant or rank(rows) == len(rows))
        ):
            continue
        g.joints.append(joint)
        return


def _twin(joint: Fitted, name: str) -> Fitted:
    """A duplicate of the joint."""
    return Fitted(
        name,
        joint.kind,
        joint.bodies,
        joint.places,
        joint.nodes,
        joint.axis,
        joint.other_axis,
        joint.rows,
    )


def _pose(recipe: Recipe, scale: float, rng: np.random.Generator) -> Pose:
    n, origin = recipe.dimension, rng.uniform(-1, 1, recipe.dimension)
    axis, angle = rng.standard_normal(3), rng.uniform(-np.pi, np.pi)
    if "aligned" in recipe.edges:
        origin, angle, axis = (
            np.round(2 * origin) / 2,
            np.pi / 2 * np.round(2 * angle / np.pi),
            np.eye(3)[rng.integers(3)],
        )
    R = (
        np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        if n == 2
        else turned(axis, angle)
    )
    return Pose(scale * origin, np.round(R) if "aligned" in recipe.edges else R)


def direction_of(recipe: Recipe, rng: np.random.Generator) -> Array:
    """A direction for an axis."""
    if "parallel" in recipe.edges:
        rng = np.random.default_rng(recipe.seed)
    computed = rng.standard_normal(recipe.dimension)
    if "aligned" in recipe.edges:
        computed = np.eye(recipe.dimension)[np.abs(computed).argmax()]
    return np.asarray(computed / np.linalg.norm(computed))


def normals_of(axis: Array) -> Array:
    """Unit vectors perpendicular to an axis, as rows."""
    return np.linalg.svd(axis[None, :])[2][1:]


HINGE = {2: "revolute", 3: "spherical"}


def _fitted(
    g: Geometry, name: str, kind: str, ends: tuple[int, int], rng: np.random.Generator
) -> Fitted:
    """A joint of a kind between two bodies at their poses; beams support few kinds, and a few more
    as second body.
    """
    n = g.recipe.dimension
    flexible = [body in g.segments for body in ends]
    if any(flexible) and kind not in ("distance", CLAMP):
        if kind in ("point-on-line", "point-on-plane") and not all(flexible):
            ends = ends if flexible[1] else (ends[1], ends[0])
        else:
            kind = HINGE[n]
    if kind == CLAMP and all(flexible):
        kind = HINGE[n]
    elif kind == CLAMP and flexible[0]:
        ends = (ends[1], ends[0])
    flexible = [body in g.segments for body in ends]
    axis = direction_of(g.recipe, rng)
    offset = g.scale * _offset(kind, axis, rng)
    nodes: list[str | None] = [
        _node(g, body, name, rng, last=kind == CLAMP or (all(flexible) and kind != "distance"))
        if soft
        else None
        for body, soft in zip(ends, flexible, strict=True)
    ]
    if flexible[1] and not flexible[0]:
        second = g.poses[ends[1]].place(g.nodes(ends[1])[str(nodes[1])])
        first = second - offset
    else:
        first = _place(g, ends[0], nodes[0], rng)
        second = (
            first + offset
            if not flexible[1]
            else g.poses[ends[1]].place(g.nodes(ends[1])[str(nodes[1])])
        )
    other = None
    if kind == "universal":
        other = _across(axis, g.recipe, rng)
    if kind == CLAMP:
        along = g.poses[ends[1]].rotation[:, 0]
        axis = along if nodes[1] == "from" else -along
    if kind == "distance":
        gap = second - first
        axis = gap / np.linalg.norm(gap) if np.linalg.norm(gap) > 0 else axis
    measures = _measures(g, kind, second, axis, other)
    rows = np.array([g.row(m, ends[1], ends[0]) for m in measures])
    return Fitted(name, kind, ends, (first, second), (nodes[0], nodes[1]), axis, other, rows)


def _place(g: Geometry, body: int, node: str | None, rng: np.random.Generator) -> Array:
    if node is not None:
        return g.poses[body].place(g.nodes(body)[node])
    local = rng.uniform(-0.6, 0.6, g.recipe.dimension)
    if "aligned" in g.recipe.edges:
        local = np.round(2 * local) / 2
    if body in g.lengths and rng.random() < 0.5:  # an end of a bar
        local = np.eye(g.recipe.dimension)[0] * g.lengths[body] / g.scale * rng.integers(2)
    return g.poses[body].place(g.scale * local)


def _node(g: Geometry, body: int, joint: str, rng: np.random.Generator, *, last: bool) -> str:
    """Node of a beam: the first one if the beam is attached by the joint; any of its nodes if it
    carries another body, the last one for clamps and beams.
    """
    if joint == f"J{body}":
        return "from"
    return "to" if last else str(rng.choice([*g.nodes(body)][1:]))


def _offset(kind: str, axis: Array, rng: np.random.Generator) -> Array:
    """Offset of the second point from the first."""
    if kind in ("prismatic", "cylindrical", "point-on-line"):
        return np.asarray(axis * rng.uniform(-0.5, 0.5))
    if kind in ("planar", "point-on-plane"):
        return np.asarray(rng.uniform(-0.5, 0.5, len(axis) - 1) @ normals_of(axis))
    if kind == "distance":
        return np.asarray(axis * rng.uniform(0.2, 1.0))
    return np.zeros(len(axis))


def _across(axis: Array, recipe: Recipe, rng: np.random.Generator) -> Array:
    normals = normals_of(axis)
    angle = 0.0 if "aligned" in recipe.edges else rng.uniform(-np.pi, np.pi)
    return np.asarray(np.cos(angle) * normals[0] + np.sin(angle) * normals[1])


def _measures(
    g: Geometry, kind: str, place: Array, axis: Array, other: Array | None
) -> list[Array]:
    """Outputs of the motion of the second body relative to the first that a joint constrains."""
    n = g.recipe.dimension
    everywhere = [g.moves(place, d) for d in np.eye(n)]
    across = [g.moves(place, d) for d in normals_of(axis)]
    along = [g.moves(place, axis)]
    every_turn = [g.turns(1.0)] if n == 2 else [g.turns(d) for d in np.eye(3)]
    turns_across = [] if n == 2 else [g.turns(d) for d in normals_of(axis)]
    held: dict[str, Sequence[Array]] = {
        "revolute": everywhere + turns_across,
        "prismatic": every_turn + across,
        "fixed": everywhere + every_turn,
        "point-on-line": across,
        "distance": along,
        "spherical": everywhere,
        "cylindrical": turns_across + across,
        "universal": everywhere + ([] if other is None else [g.turns(np.cross(axis, other))]),
        "planar": turns_across + along,
        "point-on-plane": along,
        CLAMP: everywhere + (every_turn if n == 2 else turns_across),
    }
    return list(held[kind])


def rotation_argument(g: Geometry, joint: Fitted) -> Any:
    """Orientation of a joint's second body relative to the first, as the argument `rotation=`."""
    first, second = (g.poses[body].rotation for body in joint.bodies)
    relative = first.T @ second
    return float(np.arctan2(relative[1, 0], relative[0, 0])) if len(relative) == 2 else relative
