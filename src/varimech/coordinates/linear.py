"""Linear systems of an initial state: small ones solved by singular values, large ones by sparse
factors.

Large matrices whose rank sparse factors cannot determine, because a singular value is close to the
limit of rank, are solved by singular values, too.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import casadi as ca
import numpy as np

from ..core.coordinate_scales import TINY

RANK = 1e-9
"""Singular values below this share of the largest count as zero: between rounding (1e-15 times the
condition of a Jacobian, some 1e4) and the smallest of mechanisms, except at singular positions.
"""
DENSE = 150
"""Rows or columns up to which dense matrices are faster, and SciPy need not be loaded."""


def independent(A: ca.DM, smallest: float) -> bool:
    """Whether a matrix is square, and far from singular."""
    if A.shape[0] != A.shape[1]:
        return False
    if A.shape[0] > DENSE:
        from .sparse_factors import square_factors_of

        return square_factors_of(A, smallest) is not None
    strengths = np.linalg.svd(np.array(A), compute_uv=False)
    return bool(strengths[-1] > smallest * strengths[0])


def solution(A: ca.DM, b: np.ndarray) -> np.ndarray:
    """Solve A x = b, for any number of columns; by the shortest solution of least squares where A
    is not regular.
    """
    factors = _factors(A)
    if A.shape[0] == A.shape[1] > DENSE:
        from .sparse_factors import square_factors_of

        factors = square_factors_of(A, RANK) or factors
    return least_squares(np.array(A), b) if factors is None else np.asarray(factors.solve(b))


def weighed_solution(M: ca.DM, Φ_q: ca.DM, b: np.ndarray) -> np.ndarray:
    """Return a solution (a, w) of A x = b with A = [[M, Φ_qᵀ Φ_q], [Φ_q, 0]], whatever the sizes of
    masses.

    Computed from M a + Φ_qᵀ λ, Φ_q a and then Φ_q w = λ, which is not as ill-conditioned as Φ_qᵀ
    Φ_q: motions are scaled by √M, forces by the masses that they move. Coordinates without mass,
    and constraints without effect, may contain rounding.
    """
    masses = np.array(ca.diag(M)).ravel()
    heaviest = masses.max(initial=0.0)
    motions = 1 / np.sqrt(np.where(masses > RANK**2 * heaviest, masses, heaviest or 1.0))
    if (factors := _factors(Φ_q)) is not None:
        with suppress(ArithmeticError, RuntimeError):  # singular: without inertia
            return np.asarray(factors.moved(M, motions, b))
    J, n = np.array(Φ_q), M.shape[0]
    held = np.abs(J).max(axis=1, initial=0.0) > RANK * np.abs(J).max(initial=0.0)
    strengths = np.linalg.norm(J * motions, axis=1)
    forces = np.where(held, 1 / np.where(held, strengths, 1.0), 0.0)
    units = np.concatenate([motions, forces])
    K = np.block([[np.array(M), J.T], [J, np.zeros((len(J), len(J)))]])
    K = units[:, None] * K * units
    x = (units * least_squares(K, (units * b.T).T).T).T
    return np.concatenate([x[:n], least_squares(J, x[n:])])


def least_inertia(M: ca.DM, J: ca.DM) -> tuple[float, np.ndarray]:
    """Return the smallest inertia of any motion x with J x = 0 and |x| = 1, and that motion."""
    if (factors := _factors(J)) is not None:
        with suppress(ArithmeticError, RuntimeError):  # singular: nothing moves
            inertia, motion = factors.least_inertia(M)
            return inertia, motion
    _, _, Vt = np.linalg.svd(np.array(J)) if J.shape[0] else (None, None, np.eye(M.shape[0]))
    Z = Vt[rank_of(J) :].T
    inertia, directions = np.linalg.eigh(Z.T @ np.array(M) @ Z)
    return float(inertia[0]), Z @ directions[:, 0]


def mobility(A: ca.DM) -> np.ndarray:
    """Return the largest value of each unknown in solutions of A x = 0 with |x| = 1."""
    if (factors := _factors(A)) is not None:
        with suppress(ArithmeticError):
            return np.asarray(np.linalg.norm(factors.null_space(), axis=1))
    return np.abs(np.linalg.svd(np.array(A))[2][rank_of(A) :]).max(axis=0)


def column(value: ca.DM) -> np.ndarray:
    """Return the entries of a CasADi column."""
    return np.array(value).ravel()


def product(A: ca.DM, B: np.ndarray) -> np.ndarray:
    """Compute A B. The factor 10: derivatives have several times the rows and columns of the
    Jacobian.
    """
    return np.asarray((A.sparse() if A.numel() > 10 * DENSE**2 else np.array(A)) @ B)


def least_squares(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the shortest solution of A x ≈ b."""
    if A.shape[0] == 0:
        return np.zeros((A.shape[1], *b.shape[1:]))
    return np.linalg.lstsq(A, b, rcond=RANK)[0]


def rank_of(A: ca.DM) -> int:
    """Return the number of independent rows."""
    if 0 in A.shape:
        return 0
    if (factors := _factors(A)) is not None:
        return int(factors.rank)
    dense = np.array(A)
    limit = RANK * max(TINY, float(np.linalg.norm(dense, 2)))
    return int(np.linalg.matrix_rank(dense, tol=limit))


def _factors(A: ca.DM) -> Any:
    """Factorise a large matrix; None where singular values have to be used."""
    if max(A.shape) <= DENSE:
        return None
    from .sparse_factors import factors_of

    return factors_of(A, RANK)
