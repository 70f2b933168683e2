"""Positions over a grid of values of drivers, by continuation from node to node.

Nodes are reached along edges of the grid, nearest to the initial position first, so all of them are
on its branch; nodes that no edge reaches are left out. An edge is blocked where continuation along
it ends at a dead centre, or arrives at another position than other paths do.
"""

from __future__ import annotations

from collections import deque
from itertools import product

import numpy as np

from ..core.errors import VarimechError
from .kinematics import Kinematics, Position, Stuck

Node = tuple[int, ...]
CLOSEST = 1e-5
"""Shortest step over an edge: from there Newton's method locates dead centres."""
ATTEMPTS = 64
"""Largest number of nodes that are tried from the initial position, nearest first."""
SAME = 1e-6
"""Difference, over their size, of coordinates that two paths reach for the same position."""


class ReachableGrid:
    """All nodes of a grid that a mechanism reaches.

    Raises:
        VarimechError: if it reaches none.
    """

    def __init__(self, solver: Kinematics, axes: list[np.ndarray], ρ: np.ndarray):
        self.solver, self.axes, self.ρ = solver, axes, ρ
        self.shape = tuple(axis.size for axis in axes)
        self.nodes: dict[Node, Position] = {}
        self.blocked: dict[tuple[Node, Node], Position] = {}
        """Edges from a node towards another one that end early, with the last position reached."""
        self.steps = 0
        self._spread(self._first())
        self._check_edges()

    def values(self, node: Node) -> np.ndarray:
        """Return the values of the drivers at a node."""
        return np.array([axis[k] for axis, k in zip(self.axes, node, strict=True)])

    def neighbours(self, node: Node) -> list[Node]:
        """Return the nodes at the other ends of the edges of a node."""
        nodes = []
        for k, step in product(range(len(node)), (1, -1)):
            i = node[k] + step
            if 0 <= i < self.shape[k]:
                nodes.append((*node[:k], i, *node[k + 1 :]))
        return nodes

    def reach(self, begin: Position, u: np.ndarray) -> Position:
        """Return the position for values u, by continuation.

        Raises:
            Stuck: if the path ends before.
        """
        path = self.solver.reach(begin, u, self.ρ, CLOSEST) if (begin.u != u).any() else [begin]
        self.steps += len(path)
        return path[-1]

    def _first(self) -> Node:
        """Find the first node that is reached from the initial position."""
        ranges = np.array([np.ptp(axis) for axis in self.axes])
        centre = np.array([(axis[0] + axis[-1]) / 2 for axis in self.axes])
        start = self.solver.first(self.ρ, centre)
        grid = np.array(list(product(*self.axes)))
        distances = np.linalg.norm((grid - start.u) / ranges, axis=1)
        reason = ""
        for k in np.argsort(distances, kind="stable")[:ATTEMPTS]:
            node = tuple(int(i) for i in np.unravel_index(k, self.shape))
            try:
                self.nodes[node] = self.reach(start, self.values(node))
                return node
            except Stuck as error:
                reason = reason or str(error)
        raise VarimechError(
            f"{self.solver.model.label}: none of the values nearest to the initial position is"
            f" reached from there; {reason}",
            remedy="start within the ranges of the drivers, with m.start(…), or widen them",
        )

    def _spread(self, first: Node) -> None:
        queue = deque([first])
        while queue:
            node = queue.popleft()
            for other in self.neighbours(node):
                if other in self.nodes:
                    continue
                try:
                    self.nodes[other] = self.reach(self.nodes[node], self.values(other))
                except Stuck as error:
                    self.blocked[node, other] = error.last
                else:
                    queue.append(other)

    def _check_edges(self) -> None:
        """Block edges whose ends are on different branches, and edges that are blocked from one
        side from the other side, too.
        """
        for node, here in self.nodes.items():
            for other in self.neighbours(node):
                if other not in self.nodes:
                    continue
                there = self.nodes[other]
                change = there.u - here.u
                straight = here.tangent @ change / 2 + there.tangent @ change / 2
                off = np.linalg.norm(there.q - here.q - straight)
                if (other, node) in self.blocked or off > 0.1 * np.linalg.norm(straight):
                    self._try(node, other)

    def _try(self, node: Node, other: Node) -> None:
        try:
            end = self.reach(self.nodes[node], self.values(other))
        except Stuck as error:
            self.blocked[node, other] = error.last
            return
        if np.abs(end.q - self.nodes[other].q).max() > SAME * (1 + np.abs(end.q).max()):
            self.blocked[node, other] = end
        else:
            self.blocked.pop((other, node), None)
