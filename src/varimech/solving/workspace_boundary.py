"""Curves that may bound the workspace of a point with two drivers in the plane.

Cells of the grid are polygons of values of the drivers. They end at dead centres, and are divided
where the determinant of J = ∂r/∂u changes its sign. Edges of a single polygon are limits of drivers
or dead centres; edges between polygons of different sign are folds. Each becomes a piece of a curve
through three exact points of the workspace: ends and middle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np
from scipy.optimize import brentq

from ..backends.bound import Evaluation
from ..core.errors import VarimechError
from .dead_centres import DeadCentre, DeadCentres
from .kinematics import Position
from .reachable_grid import Node, ReachableGrid

LIMIT, DEAD, FOLD, OPEN = "limit", "dead centre", "singular position", "unresolved"
FLAT = 1e-9
"""|det J| at singular positions, over its typical size: far above rounding, far below that of
neighbouring nodes.
"""
SECANT = 20
Key = tuple[Any, ...]


@dataclass(frozen=True)
class Vertex:
    """A corner of a polygon."""

    u: np.ndarray
    position: Position
    """Position; for a dead centre the last one before it."""
    r: np.ndarray
    sign: float
    dead: DeadCentre | None = None


@dataclass(frozen=True)
class Piece:
    """A piece of a curve, with the region on its left side."""

    vertices: tuple[Vertex, Vertex, Vertex]
    jump: float
    kind: str
    source: str


class PointMap:
    """Positions of a point, and their derivatives with respect to drivers and parameters."""

    def __init__(self, grid: ReachableGrid, point: str):
        e, self.grid = grid.solver.equations, grid
        r = e.state.position(point)
        self._r = Evaluation(ca.Function("r", [e.q, e.ρ], [ca.densify(r)]), 2)
        jacobian = ca.densify(ca.jacobian(r, ca.vertcat(e.q, e.ρ)))
        self._r_ = Evaluation(ca.Function("r_", [e.q, e.ρ], [jacobian.T]), 2)

    def place(self, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return r."""
        return self._r(q, self.grid.solver.values(self.grid.ρ, u))[0]

    def _gradient(self, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return ∂r/∂(q, values), (component, variable)."""
        values = self.grid.solver.values(self.grid.ρ, u)
        return self._r_(q, values)[0].reshape(-1, q.size + values.size)

    def jacobian(self, position: Position) -> np.ndarray:
        """Return J, (component, driver)."""
        r_q = self._gradient(position.q, position.u)[:, : position.q.size]
        return np.asarray(r_q @ position.tangent)

    @cached_property
    def _size(self) -> float:
        """Typical product of the lengths of the columns of J."""
        products = [
            float(np.prod(np.linalg.norm(self.jacobian(p), axis=0)))
            for p in self.grid.nodes.values()
        ]
        return float(np.median(products)) or 1.0

    def flatness(self, position: Position) -> float:
        """Return det J, over its typical size."""
        return float(np.linalg.det(self.jacobian(position))) / self._size

    def _derivatives(
        self, q: np.ndarray, u: np.ndarray, q_: np.ndarray, indices: list[int]
    ) -> np.ndarray:
        """Return r', (component, parameter), from q'."""
        both = self._gradient(q, u)
        return np.asarray(both[:, : q.size] @ q_ + both[:, q.size :][:, indices])

    def across(self, piece: Piece, indices: list[int]) -> np.ndarray:
        """Return r' of the points of a piece, (3, component, parameter). On a limit only its
        component across the piece: along it, r' is unbounded towards dead centres, and does not
        contribute.
        """
        changes = np.array([self._vertex_derivatives(v, indices) for v in piece.vertices])
        if piece.kind != LIMIT:
            return changes
        driver = piece.vertices[2].u - piece.vertices[0].u
        for k, vertex in enumerate(piece.vertices):
            along = self.jacobian(vertex.position) @ driver
            if vertex.dead is not None:
                r_q = self._gradient(vertex.dead.q, vertex.dead.u)[:, : vertex.dead.q.size]
                along = r_q @ vertex.dead.φ
            size = along @ along
            if size > 0:
                changes[k] -= np.outer(along, along @ changes[k]) / size
        return changes

    def _vertex_derivatives(self, vertex: Vertex, indices: list[int]) -> np.ndarray:
        """Return r' of a point of a curve: for fixed values of the drivers, or of a dead centre."""
        if vertex.dead is not None:
            d = vertex.dead
            return self._derivatives(d.q, d.u, d.sensitivities(indices), indices)
        return self.position_derivatives(vertex.position, indices)

    def position_derivatives(self, position: Position, indices: list[int]) -> np.ndarray:
        """Return r' for fixed values of the drivers, (component, parameter)."""
        values = self.grid.solver.values(self.grid.ρ, position.u)
        q_ = self.grid.solver.position_sensitivities(position.q, values, indices)
        return self._derivatives(position.q, position.u, q_, indices)


class WorkspaceBoundary:
    """All pieces of curves that may bound the workspace."""

    def __init__(self, grid: ReachableGrid, point: PointMap):
        self._grid, self._point = grid, point
        self._dead = DeadCentres(grid.solver)
        self._scales = np.array([np.ptp(axis) for axis in grid.axes])
        self._signs = self._node_signs()
        self._vertices: dict[Key, Vertex] = {
            ("node", node): Vertex(p.u, p, point.place(p.q, p.u), self._signs[node])
            for node, p in grid.nodes.items()
        }
        self.pieces = [piece for edge in self._edges() for piece in self._piece(*edge)]

    def inner_vertices(self) -> list[Vertex]:
        """Return nodes well inside the workspace: neither at ends of the grid nor beside dead
        centres or folds.
        """
        inner = []
        for node in self._grid.nodes:
            near = self._grid.neighbours(node)
            whole = len(near) == 2 * len(node) and all(n in self._grid.nodes for n in near)
            if whole and len({self._signs[n] for n in (node, *near)}) == 1:
                inner.append(self._vertices["node", node])
        return inner

    # polygons

    def _node_signs(self) -> dict[Node, float]:
        """Return signs of det J; at singular nodes that of their neighbours, where these agree."""
        flat = {n: self._point.flatness(p) for n, p in self._grid.nodes.items()}
        signs = {n: float(np.sign(f)) if abs(f) > FLAT else 0.0 for n, f in flat.items()}
        for node in [n for n, s in signs.items() if s == 0]:
            near = {signs.get(other, 0.0) for other in self._grid.neighbours(node)} - {0.0}
            signs[node] = -1.0 if near == {-1.0} else 1.0
        return signs

    def _cells(self) -> Iterator[list[Key]]:
        """Yield polygons of cells, anticlockwise, up to dead centres."""
        rows, columns = self._grid.shape
        for i in range(rows - 1):
            for j in range(columns - 1):
                loop: list[Node] = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
                yield from self._runs(loop)

    def _runs(self, loop: list[Node]) -> Iterator[list[Key]]:
        """Yield the parts of a cell that are connected along its edges."""
        corners, nodes, blocked = len(loop), self._grid.nodes, self._grid.blocked
        ends = [
            a not in nodes or b not in nodes or (a, b) in blocked or (b, a) in blocked
            for a, b in pairwise([*loop, loop[0]])
        ]
        if not any(ends):
            yield [("node", node) for node in loop]
            return
        begin = ends.index(True) + 1  # a part begins after a blocked edge
        run: list[Key] = []
        for k in range(begin, begin + corners):
            before, node, after = (loop[(k + s) % corners] for s in (-1, 0, 1))
            if node not in nodes:
                continue
            if ends[(k - 1) % corners]:
                run = [self._dead_key(node, before)]
            run.append(("node", node))
            if ends[k % corners]:
                run.append(self._dead_key(node, after))
                yield run

    def _dead_key(self, node: Node, towards: Node) -> Key:
        key = ("dead", node, towards)
        if key not in self._vertices:
            last = self._grid.blocked[node, towards]
            n = self._grid.values(towards) - self._grid.values(node)
            self._vertices[key] = self._dead_vertex(last, n, self._dead.near(last, n, self._grid.ρ))
        return key

    def _dead_vertex(self, last: Position, n: np.ndarray, dead: DeadCentre | None) -> Vertex:
        """Return a dead centre, or the last position before it where no dead centre is found
        nearby.
        """
        sign = float(np.sign(self._point.flatness(last))) or 1.0
        if dead is not None and np.linalg.norm(dead.u - last.u) <= 0.01 * np.linalg.norm(n):
            return Vertex(dead.u, last, self._point.place(dead.q, dead.u), sign, dead)
        return Vertex(last.u, last, self._point.place(last.q, last.u), sign)

    def _divided(self, polygon: list[Key]) -> Iterator[tuple[float, list[Key]]]:
        """Yield the parts of a polygon in which det J has one sign."""
        signs = [self._vertices[key].sign for key in polygon]
        if len(set(signs)) == 1:
            yield signs[0], polygon
            return
        whole: list[tuple[Key, float]] = []
        for (a, s), (b, t) in pairwise(
            zip([*polygon, polygon[0]], [*signs, signs[0]], strict=True)
        ):
            whole.append((a, s))
            if s != t:
                whole.append((self._fold_key(a, b), 0.0))
        first = next(k for k, (_, s) in enumerate(whole) if s == 0)
        whole = [*whole[first:], *whole[:first], whole[first]]
        rest = [key for key, s in whole[:-1] if s <= 0]
        yield -1.0, rest  # one polygon, even where folds cut it twice
        part: list[Key] = []
        for key, s in whole:
            if s == 0 and len(part) > 1:
                yield 1.0, [*part, key]
            part = [key] if s == 0 else [*part, key] if s > 0 else []

    def _fold_key(self, a: Key, b: Key) -> Key:
        """Return the key of the vertex where det J changes its sign on an edge."""
        key = ("fold", frozenset([a, b]))
        if key in self._vertices:
            return key
        x, y = self._vertices[a], self._vertices[b]
        if a[0] == b[0] == "dead":
            self._vertices[key] = self._dead_middle(x, y)
            return key
        if a[0] == "dead":
            x, y = y, x
        flat = [self._point.flatness(v.position) for v in (x, y)]
        vertex = x if abs(flat[0]) <= abs(flat[1]) else y
        if min(map(abs, flat)) > FLAT:
            vertex = self._root(x, y.position)
        self._vertices[key] = replace(vertex, sign=0.0, dead=None)
        return key

    def _root(self, x: Vertex, end: Position) -> Vertex:
        """Find where det J vanishes on the path between two positions."""

        def along(s: float) -> Position:
            return self._grid.reach(x.position, x.u + s * (end.u - x.u))

        s = float(brentq(lambda s: self._point.flatness(along(s)), 0.0, 1.0, xtol=1e-13))
        position = along(s)
        return Vertex(position.u, position, self._point.place(position.q, position.u), 0.0)

    # pieces

    def _edges(self) -> Iterator[tuple[Key, Key, float, str]]:
        """Yield edges of a single polygon, and edges between polygons of different sign, with the
        region, or the one of positive sign, on the left.
        """
        used: dict[frozenset[Key], list[tuple[Key, Key, float]]] = {}
        for cell in self._cells():
            for sign, polygon in self._divided(cell):
                for a, b in pairwise([*polygon, polygon[0]]):
                    used.setdefault(frozenset([a, b]), []).append((a, b, sign))
        for users in used.values():
            a, b, sign = max(users, key=lambda user: user[2])
            if len(users) == 1:
                yield a, b, sign, self._kind(a, b)
            elif users[0][2] != users[1][2]:
                yield a, b, 2.0, FOLD

    def _kind(self, a: Key, b: Key) -> str:
        if self._limit(a, b):
            return LIMIT
        dead = [self._is_dead(key) for key in (a, b)]
        return DEAD if all(dead) else OPEN

    def _is_dead(self, key: Key) -> bool:
        if key[0] == "fold":
            return all(end[0] == "dead" for end in key[1])
        return bool(key[0] == "dead")

    def _limit(self, a: Key, b: Key) -> str:
        """Name the limit on which both ends of an edge lie; empty if there is none."""
        x, y = self._vertices[a].u, self._vertices[b].u
        for (name, output), axis, s, t in zip(
            self._grid.solver.inputs.items(), self._grid.axes, x, y, strict=True
        ):
            for end in (axis[0], axis[-1]):
                if s == end and t == end:
                    return f"{name} = {end:.6g} {output.unit}"
        return ""

    def _piece(self, a: Key, b: Key, jump: float, kind: str) -> Iterator[Piece]:
        x, y = self._vertices[a], self._vertices[b]
        middles: dict[str, Callable[[Vertex, Vertex], Vertex]] = {
            DEAD: self._dead_middle,
            FOLD: self._fold_middle,
        }
        try:
            middle = middles.get(kind, self._limit_middle)(x, y)
        except VarimechError:  # the grid is too coarse beside a dead centre
            middle = replace(x, r=(x.r + y.r) / 2)
        source = self._limit(a, b) if kind == LIMIT else kind
        yield Piece((x, middle, y), jump, kind, source)

    def _limit_middle(self, x: Vertex, y: Vertex) -> Vertex:
        """Return the point half-way in the root of the distance from a dead centre, of which
        positions are smooth functions: with speeds 1/√d at the ends, (1 + 3ρ)/(4 + 4ρ) of the path,
        ρ = v_y/v_x.
        """
        begin, other = (y, x) if x.dead is not None else (x, y)
        change = other.u - begin.u
        here = float(np.linalg.norm(self._point.jacobian(begin.position) @ change))
        there = float(np.linalg.norm(self._point.jacobian(other.position) @ change))
        share = 0.75 if other.dead is not None else 0.5
        if other.dead is None and here > 0 and there > 0:
            share = (here + 3 * there) / (4 * (here + there))
        position = self._grid.reach(begin.position, begin.u + share * change)
        return Vertex(position.u, position, self._point.place(position.q, position.u), begin.sign)

    def _across(self, x: Vertex, y: Vertex) -> np.ndarray:
        """Direction across a piece, with its length, in values of the drivers."""
        along = (y.u - x.u) / self._scales
        return np.array([-along[1], along[0]]) * self._scales

    def _fold_middle(self, x: Vertex, y: Vertex) -> Vertex:
        """Find where det J vanishes on a line across a piece, by the secant method."""
        n, centre = self._across(x, y), (x.u + y.u) / 2
        if not n.any():
            return x
        here = self._grid.reach(x.position, centre)
        s, f, ahead = 0.0, self._point.flatness(here), 0.01
        for _ in range(SECANT):
            if abs(f) <= 1e-13 or abs(ahead) > 1.0:
                break
            there = self._grid.reach(here, centre + ahead * n)
            g = self._point.flatness(there)
            if g == f:
                break
            s, ahead, f, here = ahead, ahead - g * (ahead - s) / (g - f), g, there
        return Vertex(here.u, here, self._point.place(here.q, here.u), 0.0)

    def _dead_middle(self, x: Vertex, y: Vertex) -> Vertex:
        """Find a dead centre between two others; return the midpoint if there is none."""
        n, centre = self._across(x, y), (x.u + y.u) / 2
        if x.dead is not None and y.dead is not None and n.any():
            φ = y.dead.φ * (np.sign(x.dead.φ @ y.dead.φ) or 1.0)
            dead = self._dead.refined(
                (x.dead.q + y.dead.q) / 2, x.dead.φ + φ, centre, n, self._grid.ρ
            )
            if dead is not None and np.linalg.norm((dead.u - centre) / self._scales) <= (
                np.linalg.norm(n / self._scales)
            ):
                r = self._point.place(dead.q, dead.u)
                return Vertex(dead.u, x.position, r, x.sign, dead)
        return Vertex(centre, x.position, (x.r + y.r) / 2, x.sign, x.dead)
