"""Linear systems of a start: dense ones by least squares, large regular ones by sparse factors."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

RANK = 1e-9
"""Singular values below this share of the largest count as zero."""
DENSE = 150
"""Size up to which dense matrices are faster, and SciPy need not be loaded."""


def sparse_inverse(A: ca.DM, smallest: float) -> Any:
    """Factors of a large square matrix whose pivots are not smaller than this share of the largest; None for any other matrix."""
    from scipy.sparse.linalg import splu

    if A.nnz() == 0:
        return None
    try:
        factors = splu(A.sparse())
    except RuntimeError:  # exactly singular
        return None
    pivots = np.abs(factors.U.diagonal())
    return factors if pivots.min() > smallest * pivots.max() else None


def independent(A: ca.DM, smallest: float) -> bool:
    """Whether a matrix is square, and far from singular."""
    if A.shape[0] != A.shape[1]:
        return False
    if A.shape[0] > DENSE:
        return sparse_inverse(A, smallest) is not None
    strengths = np.linalg.svd(np.array(A), compute_uv=False)
    return bool(strengths[-1] > smallest * strengths[0])


def solution(A: ca.DM, b: np.ndarray) -> np.ndarray:
    """Of A x = b, for any number of columns; the one of least squares where A is not regular."""
    inverse = sparse_inverse(A, RANK) if A.shape[0] == A.shape[1] > DENSE else None
    return least_squares(np.array(A), b) if inverse is None else np.asarray(inverse.solve(b))


def weighed_solution(A: ca.DM, b: np.ndarray) -> np.ndarray:
    """A solution of A x = b with A = [[M, Φ_qᵀ Φ_q], [Φ_q, 0]], whatever sizes masses have: forces are measured by what they move.

    Rows of constraints stay as they are: of those that say nothing, only rounding is left. Nor do coordinates count that none depends on.
    """
    dense = np.array(A)
    n = dense.shape[1] // 2
    M, Φ_q = np.abs(dense[:n, :n]), np.abs(dense[n:, :n])
    masses = M.max(axis=1, initial=0.0)
    masses = np.where(masses > 0, masses, masses.max(initial=0.0) or 1.0)
    held = Φ_q.max(axis=0, initial=0.0) > RANK * Φ_q.max(initial=0.0)
    columns = np.concatenate([np.ones(n), np.where(held, masses, 0.0)])
    rows = np.concatenate([_reciprocals(np.abs(dense[:n] * columns).max(axis=1, initial=0.0)), np.ones(len(dense) - n)])
    columns[n:] *= _reciprocals(np.abs(rows[:n, None] * dense[:n, n:] * columns[n:]).max(axis=0, initial=0.0))
    found = least_squares(rows[:, None] * dense * columns, (rows * b.T).T)
    return np.asarray((columns * found.T).T)


def _reciprocals(sizes: np.ndarray) -> np.ndarray:
    return np.asarray(1 / np.where(sizes > 0, sizes, 1.0))


def column(value: ca.DM) -> np.ndarray:
    """Its entries."""
    return np.array(value).ravel()


def least_squares(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The shortest solution of A x ≈ b."""
    if A.shape[0] == 0:
        return np.zeros((A.shape[1], *b.shape[1:]))
    return np.linalg.lstsq(A, b, rcond=RANK)[0]


def rank_of(A: np.ndarray) -> int:
    """Number of independent rows."""
    return int(np.linalg.matrix_rank(A, tol=RANK * max(1e-300, float(np.linalg.norm(A, 2))))) if A.size else 0
