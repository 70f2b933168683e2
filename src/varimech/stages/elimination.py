"""Sparse symbolic elimination, unrolled: straight-line code without loops or pivoting, ready to
compile.

    A = L U  with rows and columns in an order of little fill (minimum degree).

Without pivoting this is stable for matrices whose symmetric part is positive definite: a mass
matrix, also with penalty terms and with the stiffness and damping of a small time step (G. H. Golub
and C. F. Van Loan, Matrix Computations, 4th ed., section 4.3.2). It is stable for saddle-point
matrices, too (section 4.4.8 there on quasi-definite ones), if each pivot of the second block comes
after all its neighbours in the first, and so is as large as possible: `late` names these rows.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import heapify, heappop, heappush

import casadi as ca

from ..core.symbols import SX

KEPT = 256
"""Number of cached patterns. A mechanism has a handful; the bound (a round value) limits memory in
processes that build many mechanisms.
"""


class Factorisation:
    """Symbolic L U factors of a sparse matrix, for any number of right-hand sides."""

    def __init__(self, matrix: SX, *, symmetric: bool = False, late: range = range(0)):
        if symmetric:  # CasADi may have simplified an entry to zero on one side only
            matrix = ca.project(matrix, matrix.sparsity() + matrix.sparsity().T)
        rows, columns = matrix.sparsity().get_triplet()
        self._pattern = _pattern(
            matrix.shape[0], tuple(zip(rows, columns, strict=True)), symmetric, late
        )
        self._values: list[SX] = self._pattern.eliminate.call([matrix.nz[:]])

    def solve(self, right: SX) -> SX:
        """Return x with A x = right, for all columns at once."""
        return self._pattern.solve(right.shape[1])(*self._values, right)

    def mapped(self, change: Callable[[SX], SX]) -> Factorisation:
        """Return the factors with a function applied to their entries."""
        other = copy(self)
        other._values = [change(values) for values in self._values]
        return other


@dataclass(frozen=True, eq=False)
class _Pattern:
    """Nonzero pattern of L and U, rows in elimination order, with the functions that compute and
    apply the factors.
    """

    order: list[int]
    lower: list[list[int]]
    upper: list[list[int]]
    eliminate: ca.Function
    """nonzeros of A → entries of L and of U, by rows; inverse pivots"""

    solves: dict[int, ca.Function] = field(default_factory=dict)
    """Solve functions by number of right-hand sides."""

    def solve(self, columns: int) -> ca.Function:
        """Return the function (entries of L, of U, inverse pivots, right-hand sides) → x."""
        if columns not in self.solves:
            self.solves[columns] = self._solve(columns)
        return self.solves[columns]

    def _solve(self, columns: int) -> ca.Function:
        n = len(self.order)
        sizes = [sum(map(len, self.lower)), sum(map(len, self.upper)), n]
        symbols = [SX.sym(name, size) for name, size in zip("lud", sizes, strict=True)]
        lower, upper, pivots = (iter(ca.vertsplit(x)) if x.numel() else iter(()) for x in symbols)
        right = SX.sym("b", n, columns)
        x = [right[old, :] for old in self.order]
        for i in range(n):
            for k in self.lower[i]:
                x[i] = x[i] - next(lower) * x[k]
        entries = [[next(upper) for _ in row] for row in self.upper]
        for i, pivot in reversed(list(enumerate(pivots))):
            for j, entry in zip(self.upper[i], entries[i], strict=True):
                x[i] = x[i] - entry * x[j]
            x[i] = x[i] * pivot
        out: list[SX] = [SX(0)] * n
        for new, old in enumerate(self.order):
            out[old] = x[new]
        return ca.Function("solve", [*symbols, right], [ca.vertcat(SX(0, columns), *out)])


@lru_cache(maxsize=KEPT)
def _pattern(
    n: int, entries: tuple[tuple[int, int], ...], symmetric: bool, late: range
) -> _Pattern:
    """Return the elimination for one nonzero pattern, generated once and reused for every matrix
    with this pattern.
    """
    neighbours: list[set[int]] = [set() for _ in range(n)]
    for i, j in entries:
        if i != j:
            neighbours[i].add(j)
            neighbours[j].add(i)
    order = [row for row, _ in minimum_degree(neighbours, late)]
    place = {old: new for new, old in enumerate(order)}
    nonzeros = SX.sym("A", len(entries))
    rows: list[dict[int, SX]] = [{} for _ in range(n)]
    for k, (i, j) in enumerate(entries):
        rows[place[i]][place[j]] = nonzeros[k]
    lower, upper, pivots = _eliminate(rows, symmetric)
    values = [[entry for row in part for _, entry in row] for part in (lower, upper)]
    outputs = [ca.vertcat(SX(0, 1), *x) for x in (*values, pivots)]
    indices = [[[k for k, _ in row] for row in part] for part in (lower, upper)]
    return _Pattern(order, indices[0], indices[1], ca.Function("eliminate", [nonzeros], outputs))


_Entries = list[list[tuple[int, SX]]]
"""For each row, pairs (column, entry)."""


def _eliminate(rows: list[dict[int, SX]], symmetric: bool) -> tuple[_Entries, _Entries, list[SX]]:
    """Return L and U without their diagonals, and the inverse pivots."""
    n = len(rows)
    below: list[set[int]] = [set() for _ in range(n)]
    for i, row in enumerate(rows):
        for j in row:
            if j < i:
                below[j].add(i)
    lower: _Entries = [[] for _ in range(n)]
    upper: _Entries = []
    pivots: list[SX] = []
    for k in range(n):
        pivot_row = rows[k]
        inverse = 1 / pivot_row[k]
        after = sorted(j for j in pivot_row if j > k)
        for i in sorted(below[k]):
            # by symmetry the entry below the pivot equals the one beside it
            source = pivot_row[i] if symmetric else rows[i][k]
            factor = source * inverse
            lower[i].append((k, factor))
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
        upper.append([(j, pivot_row[j]) for j in after])
        pivots.append(inverse)
    return lower, upper, pivots


def minimum_degree(
    neighbours: list[set[int]], late: range = range(0)
) -> list[tuple[int, list[int]]]:
    """Elimination order by minimum degree.

    Ties go to the row that was modified longest ago: then successive rows seldom wait for each
    other's results.

    Args:
        neighbours: for each row its nonzero columns (symmetric, without the diagonal); consumed.
        late: rows that are eliminated only after all their neighbours outside `late`.

    Returns:
        Pairs (row, its remaining neighbours), that is the nonzero columns of its row of U.
    """
    waits_for = {row: {k for k in neighbours[row] if k not in late} for row in late}
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
