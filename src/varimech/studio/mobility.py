"""Degrees of freedom of a planar drawing, from the rank of its constraints in the drawn pose.

Each body moves by (u, v, ω) about the origin, so that a point at (x, y) moves by (u − ω y, v + ω
x). Rows of J, one for each equation of a joint, are linear in the motions of all bodies:

    degrees of freedom = 3 n − rank J,    redundant constraints = rows of J − rank J

This requires neither lengths nor closed loops, so it works on an unfinished drawing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .sketch import GROUND, Connection, Place, Sketch

SMALL = 1e-7
"""Singular values below this fraction of the largest one count as zero: drawn positions have seven
digits.
"""


@dataclass
class Mobility:
    """Mobility of a drawing.

    Attributes:
        dofs: degrees of freedom, including driven ones.
        free: degrees of freedom that no driver prescribes.
        redundant: number of redundant constraints.
        angles: bodies whose angles are initial values for the free degrees of freedom; those that the
            text gives come first.
        slides: prismatic joints whose displacements are.
    """

    dofs: int
    free: int
    redundant: int
    angles: list[str]
    slides: list[str]


def mobility(sketch: Sketch) -> Mobility | None:
    """Determine the mobility; None for a drawing with elements of unknown kind."""
    bodies = list(sketch.bodies)
    readable = {"joints": sketch.joints, "drivers": sketch.drivers}
    if any(len(sketch.data.get(section) or ()) != len(each) for section, each in readable.items()):
        return None
    slid = [joint for joint in sketch.joints if joint.kind == "prismatic"]
    try:
        rows = [row for joint in sketch.joints for row in _rows(sketch, bodies, joint)]
        slides_of = [(joint.name, _slide(sketch, bodies, joint)) for joint in slid]
    except LookupError:  # a point with an unknown position, or an axis with an unknown direction
        return None
    J = np.array(rows).reshape(len(rows), 3 * len(bodies))
    constrained = _rank(J)
    driven = [_turn(bodies, body) for body in sketch.drivers.values() if body in bodies]
    J = np.vstack([J, *driven])
    rank = _rank(J)
    free = 3 * len(bodies) - rank
    connected = sketch.connected()
    angles: list[str] = []
    slides: list[str] = []
    stated = [str(name) for name in (sketch.data.get("start") or {}).get("angle") or ()]
    turning = [*(name for name in stated if name in bodies), *sketch.links]
    candidates = [(angles, name, _turn(bodies, name)) for name in turning if name in connected]
    candidates += [(slides, name, row) for name, row in slides_of]
    for chosen, name, row in candidates:
        if (more := _rank(np.vstack([J, row]))) > rank:
            J, rank = np.vstack([J, row]), more
            chosen.append(name)
    redundant = len(rows) - constrained
    return Mobility(3 * len(bodies) - constrained, free, redundant, angles, slides)


def axis_of(joint: Connection) -> Place:
    """Unit vector along which a joint slides.

    Raises:
        LookupError: if the axis rotates with a body, or depends on parameters.
    """
    axis = joint.entry.get("axis")
    if joint.ends[0][0] != GROUND or not isinstance(axis, list) or len(axis) != 2:
        raise LookupError(joint.name)
    if not all(isinstance(c, (int, float)) for c in axis) or not any(axis):
        raise LookupError(joint.name)
    x, y = axis
    return x / math.hypot(x, y), y / math.hypot(x, y)


def _rows(sketch: Sketch, bodies: list[str], joint: Connection) -> list[np.ndarray]:
    first, second = joint.ends
    apart = _moves(sketch, bodies, second) - _moves(sketch, bodies, first)
    turn = _turn(bodies, second[0]) - _turn(bodies, first[0])
    if joint.kind == "revolute":
        return list(apart)
    if joint.kind == "fixed":
        return [*apart, turn]
    p, q = (np.array(_place(sketch, end)) for end in joint.ends)
    if joint.kind == "distance":
        return [(q - p) @ apart]
    # q stays on the line through p, which rotates with the first body
    x, y = axis_of(joint)
    across = np.array([-y, x])
    along = float((q - p) @ np.array([x, y]))
    row = across @ apart - along * _turn(bodies, first[0])
    return [row] if joint.kind == "point_on_line" else [row, turn]


def _slide(sketch: Sketch, bodies: list[str], joint: Connection) -> np.ndarray:
    first, second = joint.ends
    apart = _moves(sketch, bodies, second) - _moves(sketch, bodies, first)
    return np.array(axis_of(joint)) @ apart


def _moves(sketch: Sketch, bodies: list[str], member: tuple[str, str]) -> np.ndarray:
    """Velocity of a point, (2, 3 n)."""
    rows = np.zeros((2, 3 * len(bodies)))
    if member[0] != GROUND:
        k, (x, y) = 3 * bodies.index(member[0]), _place(sketch, member)
        rows[:, k : k + 3] = [[1, 0, -y], [0, 1, x]]
    return rows


def _turn(bodies: list[str], body: str) -> np.ndarray:
    """Angular velocity of a body, (3 n)."""
    row = np.zeros(3 * len(bodies))
    if body != GROUND:
        row[3 * bodies.index(body) + 2] = 1.0
    return row


def _place(sketch: Sketch, member: tuple[str, str]) -> Place:
    place = sketch.place_of(member)
    if place is None:
        raise LookupError(member)
    return place


def _rank(J: np.ndarray) -> int:
    if not J.size:
        return 0
    sizes = np.linalg.norm(J, axis=1, keepdims=True)
    values = np.linalg.svd(J / np.maximum(sizes, np.finfo(float).tiny), compute_uv=False)
    return int((values > SMALL * values[0]).sum())
