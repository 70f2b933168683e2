"""Small vibrations about a position with stiffness K and constraints Φ_q:

(K − ω² M) u = 0  for all  u  with  Φ_q u = 0,     H = [K  Φ_qᵀ; Φ_q  0]
"""

from __future__ import annotations

import casadi as ca
import numpy as np

DENSE = 200
"""Number of unknowns up to which matrices are dense."""
SYMMETRIC, GROWING = 1e-9, 1e-6
"""Asymmetry of K that counts as rounding, and imaginary share of the square of a frequency above
which a vibration grows.
"""
SLOW = 1e-3
"""Square of a frequency (1/s²) that is far below those of practical mechanisms."""
ROUNDING = 1e-13
"""Squares of frequencies below this share of the largest belong to motions without stiffness."""


def frequencies(H: ca.DM, M: ca.DM, count: int) -> np.ndarray:
    """Compute the slowest angular frequencies (rad/s); zero for motions without stiffness, NaN for
    motions that forces without a potential amplify.
    """
    n = M.shape[0]
    if not symmetric(H, n):
        squares = _unsymmetric_squares(H, M)[:count]
    else:
        few = H.shape[0] > DENSE and count < (2 * n - H.shape[0]) // 2
        squares = (_near_zero(H, M, count) if few else _modes(H, M))[0][:count]
    return np.sqrt(
        np.where(np.abs(squares) <= _rounding(H, M), 0.0, np.where(squares < 0, np.nan, squares))
    )


def slowest(H: ca.DM, M: ca.DM) -> tuple[float, np.ndarray]:
    """Compute the square of the slowest frequency (negative where a motion grows) and its shape;
    zero within rounding.
    """
    squares, shapes = _modes(H, M) if H.shape[0] <= DENSE else _near_zero(H, M, 3)
    if not squares.size:  # there are no degrees of freedom
        return 0.0, np.zeros(M.shape[0])
    return (float(squares[0]) if abs(squares[0]) > _rounding(H, M) else 0.0), shapes[:, 0]


def symmetric(H: ca.DM, n: int) -> bool:
    """Whether K is symmetric, as for forces with a potential."""
    K = H[:n, :n]
    return bool(
        np.abs((K - K.T).nonzeros()).max(initial=0.0)
        <= SYMMETRIC * np.abs(K.nonzeros()).max(initial=0.0)
    )


def _modes(H: ca.DM, M: ca.DM) -> tuple[np.ndarray, np.ndarray]:
    """Compute all squares of frequencies, and shapes with unit mass."""
    from scipy.linalg import eigh

    n = M.shape[0]
    K, Z = np.array(H)[:n, :n], _free(H, n)
    squares, shapes = eigh(Z.T @ (K + K.T) @ Z / 2, Z.T @ np.array(M) @ Z)
    return squares, Z @ shapes


def _unsymmetric_squares(H: ca.DM, M: ca.DM) -> np.ndarray:
    """Compute all squares of frequencies under forces without a potential, such as those that turn
    with a body; NaN for vibrations that they amplify.
    """
    from scipy.linalg import eigvals

    n = M.shape[0]
    Z = _free(H, n)
    squares = eigvals(Z.T @ np.array(H)[:n, :n] @ Z, Z.T @ np.array(M) @ Z)
    growing = np.abs(squares.imag) > GROWING * np.abs(squares)
    return np.sort(np.where(growing, np.nan, squares.real))


def _near_zero(H: ca.DM, M: ca.DM, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Compute squares of frequencies near zero, in order, and shapes, of a large system; by inverse
    iteration with a negative shift, as K may be 0. Where so many are equal that the iteration does
    not converge (all are, for K = 0), by the dense decomposition.
    """
    from scipy.sparse import block_diag, csc_matrix
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    n, none = M.shape[0], H.shape[0] - M.shape[0]
    below = -(
        SYMMETRIC
        * float(np.abs(H[:n, :n].nonzeros()).max(initial=0.0))
        / float(np.abs(ca.diag(M).nonzeros()).max())
        + SLOW
    )
    mass = block_diag([M.sparse(), csc_matrix((none, none))], format="csc")
    start = np.random.default_rng(0).standard_normal(n + none)  # the same in every run
    k = min(count, n - none - 1)
    try:
        squares, shapes = eigsh(H.sparse(), k=k, M=mass, sigma=below, which="LM", v0=start)
    except ArpackNoConvergence:
        return _modes(H, M)
    order = np.argsort(squares)
    return squares[order], shapes[:n, order]


def _free(H: ca.DM, n: int) -> np.ndarray:
    """Return directions that constraints leave free, one per column."""
    from scipy.linalg import null_space

    Φ_q = np.array(H)[n:, :n]
    return np.asarray(null_space(Φ_q)) if Φ_q.size else np.eye(n)


def _rounding(H: ca.DM, M: ca.DM) -> float:
    """Return the size of squares of frequencies that counts as zero."""
    masses = np.array(ca.diag(M)).ravel()
    stiffest = float(np.abs(H[: M.shape[0], : M.shape[0]].nonzeros()).max(initial=0.0))
    return ROUNDING * stiffest / float(masses[masses > 0].min(initial=np.inf))
