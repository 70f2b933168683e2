"""Sparse elimination written out in symbols: straight-line code without loops or pivoting, ready to be compiled.

    A = L U  with rows and columns in an order of little fill (minimum degree).

Without pivoting this is stable for matrices whose symmetric part is positive definite: a mass matrix, also with penalty terms and with
the stiffness and damping of a small time step (G. H. Golub and C. F. Van Loan, Matrix Computations, 4th ed., section 4.3.2); and for
saddle-point matrices (see there, section 4.4.8 on quasi-definite ones) if each pivot of the second block comes after all its neighbours in
the first, and so is as large as it can be: `late` names the rows that have to wait.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from heapq import heapify, heappop, heappush

import casadi as ca

from .symbols import SX


class Factorisation:
    """A factored matrix that solves for any number of right-hand sides."""

    def __init__(self, matrix: SX, *, symmetric: bool = False, late: range | None = None):
        n = matrix.shape[0]
        neighbours: list[set[int]] = [set() for _ in range(n)]
        for i, j in zip(*matrix.sparsity().get_triplet(), strict=True):
            if i != j:
                neighbours[i].add(j)
                neighbours[j].add(i)
        self._order = [row for row, _ in minimum_degree(neighbours, late or range(0))]
        place = {old: new for new, old in enumerate(self._order)}
        rows: list[dict[int, SX]] = [{} for _ in range(n)]
        for k, (i, j) in enumerate(zip(*matrix.sparsity().get_triplet(), strict=True)):
            rows[place[i]][place[j]] = matrix.nz[k]
        self._eliminate(rows, symmetric)

    def solve(self, right: SX) -> SX:
        """x with A x = right, for all columns at once."""
        n = len(self._order)
        x = [right[old, :] for old in self._order]
        for i in range(n):
            for k, factor in self._lower[i]:
                x[i] = x[i] - factor * x[k]
        for i in reversed(range(n)):
            for j, entry in self._upper[i]:
                x[i] = x[i] - entry * x[j]
            x[i] = x[i] * self._pivots[i]
        out: list[SX] = [SX(0)] * n
        for new, old in enumerate(self._order):
            out[old] = x[new]
        return ca.vertcat(*out) if out else SX(0, right.shape[1])

    def mapped(self, change: Callable[[SX], SX]) -> Factorisation:
        """The same with changed entries."""
        other = copy(self)
        other._lower = [[(k, change(factor)) for k, factor in row] for row in self._lower]
        other._upper = [[(j, change(entry)) for j, entry in row] for row in self._upper]
        other._pivots = [change(pivot) for pivot in self._pivots]
        return other

    def _eliminate(self, rows: list[dict[int, SX]], symmetric: bool) -> None:
        n = len(rows)
        below: list[set[int]] = [set() for _ in range(n)]
        for i, row in enumerate(rows):
            for j in row:
                if j < i:
                    below[j].add(i)
        self._lower: list[list[tuple[int, SX]]] = [[] for _ in range(n)]
        self._upper: list[list[tuple[int, SX]]] = []
        self._pivots: list[SX] = []
        for k in range(n):
            pivot_row = rows[k]
            inverse = 1 / pivot_row[k]
            after = sorted(j for j in pivot_row if j > k)
            for i in sorted(below[k]):
                # by symmetry the entry below the pivot equals the one beside it
                source = pivot_row[i] if symmetric else rows[i][k]
                factor = source * inverse
                self._lower[i].append((k, factor))
                for j in after:
                    if symmetric and j < i:
                        continue
                    update = factor * pivot_row[j]
                    if j in rows[i]:
                        rows[i][j] = rows[i][j] - update
                    else:
                        rows[i][j] = -update
                    if j < i:
                        below[j].add(i)
                    elif symmetric and j > i:
                        below[i].add(j)
            self._upper.append([(j, pivot_row[j]) for j in after])
            self._pivots.append(inverse)


def minimum_degree(neighbours: list[set[int]], late: range = range(0)) -> list[tuple[int, list[int]]]:
    """An elimination order: always a row with the fewest neighbours left; a late one only when all its own neighbours are done.

    Among equals it is the one that has not been touched for longest: then successive rows seldom wait for each other's results. With each row
    come its neighbours at that time: where its row of U is not zero. `neighbours` (symmetric, without the diagonal) is used up.
    """
    waits_for = {row: set(neighbours[row]).difference(late) for row in late}
    awaited: dict[int, list[int]] = {}
    for row, others in waits_for.items():
        for k in others:
            awaited.setdefault(k, []).append(row)
    queue = [(len(n), 0, row) for row, n in enumerate(neighbours) if not waits_for.get(row)]
    heapify(queue)
    order: list[tuple[int, list[int]]] = []
    done = [False] * len(neighbours)
    while queue:
        degree, _, k = heappop(queue)
        if done[k] or degree != len(neighbours[k]):
            continue  # its degree has changed since; it is in the queue again
        done[k] = True
        touched = neighbours[k]
        order.append((k, sorted(touched)))
        for row in awaited.get(k, []):
            waits_for[row].discard(k)
        for row in touched:
            neighbours[row] |= touched
            neighbours[row] -= {row, k}
            if not waits_for.get(row):
                heappush(queue, (len(neighbours[row]), len(order), row))
    return order
