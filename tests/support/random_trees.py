"""Random trees of bodies: every kind of joint, in either direction, oblique axes, forces between
arbitrary pairs of bodies.

The contents of a tree are drawn by Hypothesis, so that a failing tree is reduced to a minimal one;
its numbers come from a seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from newton_euler import turned

import varimech as vm
from varimech.coordinates.equations import Equations
from varimech.coordinates.relative.recursion import Recursion

Array = np.ndarray
FREE = "free"
JOINTS = {
    2: ("revolute", "prismatic", "fixed", "point-on-line", FREE),
    3: (
        "revolute",
        "prismatic",
        "fixed",
        "cylindrical",
        "universal",
        "spherical",
        "planar",
        "point-on-line",
        "point-on-plane",
        FREE,
    ),
}
TURNING = ("revolute", "cylindrical", "planar")
FORCES = ("spring", "damper", "coil", "torque", "servo", "wind")
GROUND = -1


@dataclass(frozen=True)
class Limb:
    """A joint that attaches a body to an earlier one, or to the ground; `forward` if the earlier
    one is the joint's first body.
    """

    kind: str
    parent: int
    forward: bool


@dataclass(frozen=True)
class Tree:
    """Contents of a tree."""

    dimension: int
    limbs: tuple[Limb, ...]
    forces: tuple[tuple[str, int, int], ...]
    """Kind, and the two bodies between which the force acts."""
    seed: int


@st.composite
def trees(draw: st.DrawFn, largest: int = 12) -> Tree:
    dimension, count = draw(st.sampled_from((2, 3))), draw(st.integers(1, largest))
    kinds, parents = (
        st.sampled_from(JOINTS[dimension]),
        [draw(st.integers(GROUND, k - 1)) for k in range(count)],
    )
    limbs = tuple(Limb(draw(kinds), parent, draw(st.booleans())) for parent in parents)
    bodies = st.integers(GROUND, count - 1)
    pairs = st.tuples(st.sampled_from(FORCES), bodies, bodies).filter(lambda f: f[1] != f[2])
    return Tree(
        dimension, limbs, tuple(draw(st.lists(pairs, max_size=4))), draw(st.integers(0, 2**16))
    )


def mechanism(tree: Tree) -> vm.Mechanism:
    """Build the mechanism; parameters are a mass, a stiffness, the position of a joint and a
    component of an axis.
    """
    rng, n = np.random.default_rng(tree.seed), tree.dimension
    m = vm.Mechanism("tree", gravity=tuple(3 * rng.standard_normal(n)))
    p = {
        name: m.parameter(name, value)
        for name, value in {"M": 1.3, "k": 20.0, "x": 0.2, "a": 0.4}.items()
    }
    names = [f"b{k}" for k in range(len(tree.limbs))]

    def place() -> tuple[Any, ...]:
        return tuple(rng.uniform(-0.6, 0.6, n))

    m.ground_point("end", place())
    for k, (name, limb) in enumerate(zip(names, tree.limbs, strict=True)):
        mass = p["M"] if k == len(names) - 1 else rng.uniform(0.5, 2)
        points = {"hung": place() if k else (p["x"], *place()[1:]), "end": place()}
        m.body(
            name,
            mass=mass,
            inertia=inertia(rng, n),
            com=place(),
            points=points,
            floating=limb.kind == FREE,
        )
    for k, (name, limb) in enumerate(zip(names, tree.limbs, strict=True)):
        if limb.kind != FREE:
            parent = "ground" if limb.parent == GROUND else names[limb.parent]
            m.point(parent, f"carries {name}", place())
            ends = (f"{parent}.carries {name}", f"{name}.hung")
            connect(m, limb.kind, f"J{k}", ends if limb.forward else ends[::-1], rng, p["a"])
    for k, (kind, first, second) in enumerate(tree.forces):
        acted, other = (first, second) if first != GROUND else (second, first)
        push(
            m,
            kind,
            f"F{k}",
            names[acted],
            "ground" if other == GROUND else names[other],
            tree.limbs,
            rng,
            p["k"],
        )
    return m


def inertia(rng: np.random.Generator, n: int) -> Any:
    """Inertia of a few point masses."""
    if n == 2:
        return rng.uniform(0.05, 0.3)
    x = rng.uniform(-0.5, 0.5, (5, 3))
    return (x**2).sum() * np.eye(3) - x.T @ x


def connect(
    m: vm.Mechanism,
    kind: str,
    name: str,
    ends: tuple[str, ...],
    rng: np.random.Generator,
    a: vm.Parameter,
) -> None:
    n = m.dimension
    axis, other = (a, *rng.uniform(-1, 1, n - 1)), tuple(rng.uniform(-1, 1, n))
    turn: Any = rng.uniform(-3, 3) if n == 2 else turned(rng.standard_normal(3), rng.uniform(-3, 3))
    if kind in ("fixed", "spherical"):
        given: dict[str, Any] = {"rotation": turn} if kind == "fixed" else {}
    elif kind == "prismatic":
        given = {"axis": axis, "rotation": turn}
    elif kind in ("planar", "point-on-plane"):
        given = {"normal": axis} | ({"normal_on_second": other} if kind == "planar" else {})
    elif kind == "point-on-line":
        given = {"axis": axis}
    else:
        given = {"axis": axis, "axis_on_second": other} if n == 3 else {}
    getattr(m, kind.replace("-", "_"))(name, *ends, **given)


def push(
    m: vm.Mechanism,
    kind: str,
    name: str,
    first: str,
    second: str,
    limbs: tuple[Limb, ...],
    rng: np.random.Generator,
    k: vm.Parameter,
) -> None:
    """Add a force on the first of two bodies, and usually on the second one as well; the first body
    is not the ground.
    """
    points = f"{first}.end", f"{second}.end"
    limb = limbs[int(first[1:])]
    torque = tuple(rng.uniform(-1, 1, 3)) if m.dimension == 3 else rng.uniform(-1, 1)
    if kind == "spring":
        m.spring(
            name,
            *points,
            stiffness=k,
            natural_length=rng.uniform(0.2, 0.5),
            damping=rng.uniform(0, 2),
        )
    elif kind == "damper":
        m.damper(name, *points, damping=k / 10)
    elif kind == "coil" and limb.kind in TURNING:
        m.torsional_spring(
            name,
            f"J{first[1:]}",
            stiffness=k,
            rest_angle=rng.uniform(-1, 1),
            damping=rng.uniform(0, 2),
        )
    elif kind == "servo":  # reads one body and acts on another
        m.torque(
            name,
            first,
            lambda s: torque * vm.dot(s.velocity(points[1]), s.position(points[0])),
            against=second,
        )
    elif kind == "wind":
        m.force(
            name,
            points[0],
            lambda s: (k - s.time) * s.velocity(points[0]) * s.distance(*points),
            frame="body",
        )
    else:
        m.torque(
            name, first, torque, against=second, **({"frame": "body"} if m.dimension == 3 else {})
        )


# states


def euler_rows(e: Equations) -> list[list[int]]:
    """Rows of the Euler parameters of each body that has them."""
    assert isinstance(e.inertia, Recursion)
    return [
        [e.inertia.columns[body][k] for k in hinge.euler]
        for body, hinge in e.inertia.hinges.items()
        if hinge.euler
    ]


def random_state(e: Equations, seed: int) -> tuple[Array, Array]:
    """Arbitrary q and q̇ of a tree."""
    rng = np.random.default_rng(seed + 1)
    q, v = rng.uniform(-2, 2, e.q.numel()), rng.standard_normal(e.q.numel())
    for rows in euler_rows(e):
        q[rows] /= np.linalg.norm(q[rows])
        v[rows] -= q[rows] * (q[rows] @ v[rows])
    return q, v


def tangents(e: Equations, q: Array) -> Array:
    """Admissible directions of the coordinates, as columns: Euler parameters change perpendicularly
    to themselves.
    """
    T, stretches = np.eye(q.size), []
    for rows in euler_rows(e):
        T[np.ix_(rows, rows)] = np.linalg.svd(q[None, rows])[2].T
        stretches.append(rows[0])
    return np.delete(T, stretches, axis=1)
