"""Linear systems of a start: dense ones by least squares, large regular ones by sparse factors."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from ..core.coordinate_scales import TINY

RANK = 1e-9
"""Singular values below this share of the largest count as zero: between rounding (1e-15 times the
condition of a Jacobian, some 1e4) and the least that mechanisms have, except at singular positions.
"""
DENSE = 150
"""Size up to which dense matrices are faster, and SciPy need not be loaded."""


def _sparse_inverse(A: ca.DM, smallest: float) -> Any:
    """Factors of a large square matrix whose pivots are not smaller than this share of the largest;
    None for any other matrix.
    """
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
        return _sparse_inverse(A, smallest) is not None
    strengths = np.linalg.svd(np.array(A), compute_uv=False)
    return bool(strengths[-1] > smallest * strengths[0])


def solution(A: ca.DM, b: np.ndarray) -> np.ndarray:
    """Of A x = b, for any number of columns; the one of least squares where A is not regular."""
    inverse = _sparse_inverse(A, RANK) if A.shape[0] == A.shape[1] > DENSE else None
    return least_squares(np.array(A), b) if inverse is None else np.asarray(inverse.solve(b))


def weighed_solution(A: ca.DM, b: np.ndarray) -> np.ndarray:
    """A solution (a, w) of A x = b with A = [[M, Φ_qᵀ Φ_q], [Φ_q, 0]], whatever sizes masses have.

    Found from M a + Φ_qᵀ λ, Φ_q a and then Φ_q w = λ, which is not as ill-conditioned as Φ_qᵀ Φ_q:
    motions are measured by √M, forces by what they move. Coordinates without mass, and constraints
    that say nothing, may have a rounding of it.
    """
    dense = np.array(A)
    n = dense.shape[1] // 2
    M, Φ_q = dense[:n, :n], dense[n:, :n]
    masses = np.diagonal(M)
    heaviest = masses.max(initial=0.0)
    motions = 1 / np.sqrt(np.where(masses > RANK**2 * heaviest, masses, heaviest or 1.0))
    held = np.abs(Φ_q).max(axis=1, initial=0.0) > RANK * np.abs(Φ_q).max(initial=0.0)
    strengths = np.linalg.norm(Φ_q * motions, axis=1)
    forces = np.where(held, 1 / np.where(held, strengths, 1.0), 0.0)
    units = np.concatenate([motions, forces])
    K = units[:, None] * np.block([[M, Φ_q.T], [Φ_q, np.zeros((len(Φ_q), len(Φ_q)))]]) * units
    x = (units * least_squares(K, (units * b.T).T).T).T
    return np.concatenate([x[:n], least_squares(Φ_q, x[n:])])


def column(value: ca.DM) -> np.ndarray:
    """The entries of a CasADi column."""
    return np.array(value).ravel()


def least_squares(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The shortest solution of A x ≈ b."""
    if A.shape[0] == 0:
        return np.zeros((A.shape[1], *b.shape[1:]))
    return np.linalg.lstsq(A, b, rcond=RANK)[0]


def rank_of(A: np.ndarray) -> int:
    """Number of independent rows."""
    return (
        int(np.linalg.matrix_rank(A, tol=RANK * max(TINY, float(np.linalg.norm(A, 2)))))
        if A.size
        else 0
    )
