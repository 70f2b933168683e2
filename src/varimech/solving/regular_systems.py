"""Dense linear systems that may have dependent, but consistent, rows: solved by LU where they are
square and regular, by singular values otherwise.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Solve = Callable[[np.ndarray], np.ndarray]
"""Right-hand sides, one per column → solutions."""
RANK = 1e-9
"""Singular values below this share of the largest count as zero, as for initial states (`linear`).
"""
REGULAR = 1e-11
"""Reciprocal condition above which LU is as accurate as singular values: five digits remain, and
redundant constraints yield about 1e-15.
"""


def solver_of(A: np.ndarray) -> Solve:
    """Return a solver with a matrix; it returns the shortest solution if there are several (for a
    square matrix: in scaled unknowns).
    """
    from scipy.linalg import lapack

    if 0 in A.shape:
        return lambda b: np.zeros((A.shape[1], *b.shape[1:]))
    rows = _inverse(np.abs(A).max(axis=1))[:, None]
    columns = np.ones((A.shape[1], 1))
    if A.shape[0] == A.shape[1]:  # otherwise the shortest step must be one of unscaled unknowns
        columns = _inverse(np.abs(rows * A).max(axis=0))[:, None]
    scaled = rows * A * columns.T
    if scaled.shape[0] == scaled.shape[1]:
        factors, pivots, singular = lapack.dgetrf(scaled)
        rcond = 0.0 if singular else lapack.dgecon(factors, np.linalg.norm(scaled, 1))[0]
        if rcond > REGULAR:
            return _by_factors(factors, pivots, rows, columns)
    inverse = np.linalg.pinv(scaled, rcond=RANK)
    return lambda b: columns * (inverse @ (rows * b))


def _by_factors(
    factors: np.ndarray, pivots: np.ndarray, rows: np.ndarray, columns: np.ndarray
) -> Solve:
    """Return a solver with LU factors of scaled rows and columns. Its results equal those of
    `dgetrs` bit by bit, which starts threads for matrices of any size: on a busy machine these wait
    for each other, 20 ms instead of 7 µs.
    """
    from scipy.linalg import blas

    order = np.arange(len(pivots))
    for k, other in enumerate(pivots):
        order[[k, other]] = order[[other, k]]

    def solve(b: np.ndarray) -> np.ndarray:
        if not b.size:
            return np.zeros(b.shape)
        below = blas.dtrsm(1.0, factors, (rows * b)[order], lower=1, diag=1)
        return columns * np.asarray(blas.dtrsm(1.0, factors, below))

    return solve


def null_space(A: np.ndarray, count: int) -> np.ndarray:
    """Return an orthonormal basis of the null space of a matrix with `count` columns, one vector
    per column.
    """
    if not A.size:
        return np.eye(count)
    sizes = np.linalg.norm(A, axis=1, keepdims=True)
    _, σ, Vt = np.linalg.svd(A / np.where(sizes > 0, sizes, 1.0))
    return np.asarray(Vt[int((σ > RANK * σ.max(initial=0.0)).sum()) :].T)


def _inverse(sizes: np.ndarray) -> np.ndarray:
    """Return 1 / sizes, where these are not zero."""
    return np.asarray(1 / np.where(sizes > 0, sizes, 1.0))
