"""Neutral motions: displacements N that change nothing, whatever the parameters, such as the
position and the heading of a bicycle or the rotation of a whole shaft. Their eigenvalues are zero,
often without as many eigenvectors, so that rounding turns them into pairs of 1e-8. They are removed
exactly:

    A N = 0,     B = Wᵀ A W,     B' = Wᵀ A' W − Wᵀ N' Nᵀ A W,     A N' = −A' N

with orthonormal N and W, together a basis. The other eigenvalues of A are those of B. A vector x of
the null space of A is neutral if its eigenvalue stays zero to first order, yᵀ A' x = 0 for all left
null vectors y and all parameters; so an eigenvalue that crosses zero is not neutral. Once neutral
positions are removed, rates that act on these alone become neutral: the removal is repeated until
no neutral vector is left.
"""

from __future__ import annotations

import numpy as np

ZERO = 1e-11
"""Singular value of the scaled A, over the largest, that counts as rounding: entries are accurate
to about 1e-13 of the largest.
"""
CHANGES = 1e-5
"""Share of A' above which it moves a zero eigenvalue; derivatives are accurate to about 1e-10."""
NO_INFLUENCE = 1e-7
"""Size of A', over that of A, below which it is rounding."""


def without_neutral(
    A: np.ndarray, A_: np.ndarray, positions: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return B and B' of all motions that are not neutral, and the number of neutral ones.

    A' is (row, column, parameter). The first `positions` states are positions; rates are divided by
    the largest eigenvalue, so that stiff mechanisms do not mask small entries.
    """
    fastest = float(np.abs(np.linalg.eigvals(A)).max(initial=0.0)) or 1.0
    scale = np.where(np.arange(len(A)) < positions, 1.0, fastest)
    ratio = scale[None, :] / scale[:, None]
    B, B_ = A * ratio, A_ * ratio[:, :, None]
    while len(B):
        N, W = _neutral(B, B_)
        if not N.shape[1]:
            break
        turned = -np.einsum("ij,jkp,kc->icp", np.linalg.pinv(B, rcond=ZERO), B_, N)
        coupling = N.T @ B @ W
        B_ = np.einsum("ia,ijp,jb->abp", W, B_, W) - np.einsum(
            "ia,icp,cb->abp", W, turned, coupling
        )
        B = W.T @ B @ W
    return B, B_, len(A) - len(B)


def _neutral(B: np.ndarray, B_: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return orthonormal neutral vectors, and an orthonormal basis of their complement."""
    U, σ, Vt = np.linalg.svd(B)
    zero = σ <= ZERO * σ[0]
    left, right = U[:, zero], Vt[zero].T
    count = right.shape[1]
    if not count:
        return right, np.eye(len(B))
    size = np.abs(B_).max(axis=(0, 1)) + NO_INFLUENCE * np.abs(B).max()
    size = np.where(size > 0, size, 1.0)
    moved = np.einsum("ia,ijp,jb->pab", left, B_ / size, right).reshape(-1, count)
    kept = np.eye(count)
    if moved.size:
        _, ς, Ct = np.linalg.svd(moved)
        still = np.concatenate([ς, np.zeros(count - ς.size)]) <= CHANGES
        kept = Ct[still].T
    N = right @ kept
    return N, np.linalg.svd(N)[0][:, N.shape[1] :]
