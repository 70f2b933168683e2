"""Eigenvalues λ of linear equations ẇ = A w, and their derivatives:

    A x = λ x,     yᴴ A = λ yᴴ,     λ' = yᴴ A' x / yᴴ x

For repeated eigenvalues with as many eigenvectors (columns of X and Y), the derivatives for one
parameter are the eigenvalues of (Yᴴ X)⁻¹ Yᴴ A' X. Where eigenvectors are missing, as at critical
damping, eigenvalues have no derivatives.

A cyclic position (a free rotation) is a column of zeros in A: its eigenvalue is zero for all
parameters. It is removed, so that the eigenvalue of its rate is not a repeated one.

P. Lancaster, Numer. Math. 6 (1964) 377–387.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

ROUNDING = 1e-13
"""Share of the largest entry of A below which the entries of a column count as zero."""
UNCHANGED = 1e-10
"""The same share for A', whose second derivatives are less accurate."""
REPEATED = 1e-6
"""Difference of eigenvalues, over their size, below which they are equal: eigenvalues that lack an
eigenvector differ by the root of rounding, 1e-8.
"""
NOTHING = 1e-9
"""Share of the largest eigenvalue below which two eigenvalues are both zero."""
MISSING = 1e-5
"""Least singular value of Yᴴ X, with columns of unit length, where no eigenvector is missing."""


@dataclass(frozen=True)
class Spectrum:
    """All eigenvalues of a matrix, conjugates included, in no order."""

    values: np.ndarray
    vectors: np.ndarray
    """(state, eigenvalue)"""
    derivatives: np.ndarray | None
    """(eigenvalue, parameter); None where no A' was given, NaN where an eigenvector is missing."""
    groups: list[list[int]]
    """Groups of equal eigenvalues, single ones included."""
    lacking: list[list[int]]
    """Groups that lack eigenvectors."""


@dataclass(frozen=True)
class Eigenvalues:
    """Eigenvalues with Im λ ≥ 0, slowest first; their conjugates are left out."""

    values: np.ndarray
    vectors: np.ndarray
    """(state, mode); normalised in rates where the eigenvalue is zero and the position is cyclic.
    """
    derivatives: np.ndarray | None
    """(mode, parameter); None where no A' was given."""
    repeated: tuple[tuple[int, ...], ...]
    """Groups of modes with the same eigenvalue."""
    missing: tuple[tuple[int, ...], ...]
    """Groups of modes that lack eigenvectors, whose derivatives do not exist (NaN)."""


def eigenvalues(A: np.ndarray, A_: np.ndarray | None, positions: int) -> Eigenvalues:
    """Compute eigenvalues of A, and their derivatives for A' of (row, column, parameter).

    The first `positions` states are positions.
    """
    free = _free(A, A_, positions)
    kept = [k for k in range(len(A)) if k not in free]
    inner = np.ix_(kept, kept)
    inner_spectrum = spectrum(A[inner], None if A_ is None else A_[inner[0], inner[1]])
    λ, X, derivatives, groups = (
        inner_spectrum.values,
        inner_spectrum.vectors,
        inner_spectrum.derivatives,
        inner_spectrum.groups,
    )
    vectors = np.zeros((len(A), λ.size), dtype=complex)
    vectors[kept] = X
    rates = A[np.ix_(free, kept)] @ X
    slow = np.abs(λ) <= NOTHING * np.abs(λ).max(initial=0.0)
    vectors[free] = np.where(slow, rates, rates / np.where(slow, 1.0, λ))
    upper = [k for k in range(λ.size) if λ[k].imag >= 0]
    order = sorted(upper, key=lambda k: (abs(λ[k].imag), -λ[k].real))
    place = {k: len(free) + j for j, k in enumerate(order)}
    none = np.eye(len(A), dtype=complex)[:, free]
    zeros = np.zeros(len(free))

    def shown(groups_of_values: list[list[int]]) -> tuple[tuple[int, ...], ...]:
        modes = [
            tuple(sorted(place[k] for k in g if k in place)) for g in groups_of_values if len(g) > 1
        ]
        return tuple(dict.fromkeys(m for m in modes if m))

    return Eigenvalues(
        np.concatenate([zeros, λ[order]]),
        np.hstack([none, vectors[:, order]]),
        None
        if derivatives is None
        else np.vstack([np.zeros((len(free), derivatives.shape[1])), derivatives[order]]),
        shown(groups),
        shown(inner_spectrum.lacking),
    )


def spectrum(A: np.ndarray, A_: np.ndarray | None) -> Spectrum:
    """Compute all eigenvalues of A, and their derivatives for A' of (row, column, parameter)."""
    from scipy.linalg import eig

    λ, Y, X = eig(A, left=True, right=True) if len(A) else (np.zeros(0), *2 * [np.eye(0)])
    groups = _groups(λ)
    lacking = [g for g in groups if len(g) > 1 and not _complete(X[:, g], Y[:, g])]
    derivatives = None if A_ is None else _derivatives(X, Y, A_, groups, lacking)
    return Spectrum(λ, X, derivatives, groups, lacking)


def _free(A: np.ndarray, A_: np.ndarray | None, positions: int) -> list[int]:
    """Return the cyclic positions: the columns of zeros in A and A'."""
    limit = ROUNDING * np.abs(A).max(initial=0.0)
    free = [k for k in range(positions) if np.abs(A[:, k]).max(initial=0.0) <= limit]
    if A_ is None or not A_.size:
        return free
    changed = UNCHANGED * np.abs(A_).max(axis=(0, 1))
    return [k for k in free if (np.abs(A_[:, k]).max(axis=0) <= changed).all()]


def _groups(λ: np.ndarray) -> list[list[int]]:
    """Group equal eigenvalues by index; single ones form groups, too."""
    largest = np.abs(λ).max(initial=0.0)
    groups: list[list[int]] = []
    for k, value in enumerate(λ):
        for group in groups:
            size = max(abs(value), abs(λ[group[0]]))
            if abs(value - λ[group[0]]) <= REPEATED * size + NOTHING * largest:
                group.append(k)
                break
        else:
            groups.append([k])
    return groups


def _complete(X: np.ndarray, Y: np.ndarray) -> bool:
    """Whether repeated eigenvalues have as many eigenvectors."""
    return bool(np.linalg.svd(Y.conj().T @ X, compute_uv=False)[-1] > MISSING)


def _derivatives(
    X: np.ndarray,
    Y: np.ndarray,
    A_: np.ndarray,
    groups: list[list[int]],
    lacking: list[list[int]],
) -> np.ndarray:
    """Compute λ', (eigenvalue, parameter)."""
    derivatives = np.full((X.shape[1], A_.shape[2]), np.nan + 0j)
    for group in groups:
        if group in lacking:
            continue
        x, y = X[:, group], Y[:, group]
        inverse = np.linalg.inv(y.conj().T @ x)
        for p in range(A_.shape[2]):
            small = inverse @ (y.conj().T @ A_[:, :, p] @ x)
            values = small.ravel() if len(group) == 1 else np.linalg.eigvals(small)
            derivatives[group, p] = np.sort_complex(values)
    return derivatives
