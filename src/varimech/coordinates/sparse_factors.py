"""Rank, independent rows and columns, and pseudo-inverse of large sparse matrices.

    K = [[α, A], [Aᵀ, −α]],     eigenvalues ±√(σ² + α²)  and  ±α

is regular for any A. Elimination with row exchanges meets a pivot of about α wherever a row, or a
column, of A depends on those before it. The independent rows B and columns C that are left have to
be equally many, and are checked:

    A_BC regular:  σ_r(A) ≥ σ_min(A_BC)  by inverse iteration,
    nothing else:  σ_{r+1}(A) ≤ ‖A − A_C A_BC⁻¹ A_B‖  by random vectors.

Both bounds have to be far from the limit between them; a matrix that is not so clear is left to
singular values. Solutions of least squares, and the shortest of them, come from bordered matrices,
which are regular (Björck, Numerical Methods for Least Squares Problems, 1996, section 2.5):

    [[β, A_C], [A_Cᵀ, 0]] (y, x_C) = (b, 0),     [[β, A_Bᵀ], [A_B, 0]] (x, z) = (0, A_B x_C).
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

import casadi as ca
import numpy as np

SHIFT = 1e-13
"""α over the largest entry: above rounding of an elimination, and far below any limit of rank."""
MARGIN = 10.0
"""Factor between the limit of rank and both bounds: estimates are off by two or three."""
POWERS = 8
"""Iterations for a singular value: it is known to some 10 % from any beginning."""
PROBES = 3
"""Random vectors for a norm: all of them at right angles to what they look for has no chance."""
KEPT = 16
"""Factors that are kept: those of some positions of one mechanism."""


class SparseFactors:
    """Decisions and solutions for one matrix A.

    Args:
        A: the matrix, compressed by columns.
        smallest: share of the largest singular value below which others count as zero.

    Raises:
        ArithmeticError: where that limit is too close to a singular value.
    """

    def __init__(self, A: Any, smallest: float):
        self._A, m = A, A.shape[0]
        scale = float(abs(A).max()) if A.nnz else 0.0
        if not 0.0 < scale < np.inf:
            raise ArithmeticError("no pivots")
        shift = SHIFT * scale
        factors = _factored(_bordered(shift, A, -shift))
        pivots = np.abs(factors.U.diagonal())[factors.perm_c]
        kept = pivots > smallest * scale
        self.rows, self.columns = np.flatnonzero(kept[:m]), np.flatnonzero(kept[m:])
        self.dependent = np.flatnonzero(~kept[:m])
        """Rows that depend on `rows`."""
        self.rank = self.rows.size
        if self.columns.size != self.rank:
            raise ArithmeticError("rows and columns disagree")
        self._of_rows, self._of_columns = A.tocsr()[self.rows], A[:, self.columns]
        self._core = _factored(self._of_rows[:, self.columns])
        self._check(smallest)

    def _check(self, smallest: float) -> None:
        """Compare both bounds with the limit of rank."""
        A, rng = self._A, np.random.default_rng(0)
        x = rng.standard_normal(A.shape[1])
        for _ in range(POWERS):
            x = A.T @ (A @ (x / np.linalg.norm(x)))
        self._largest = float(np.sqrt(np.linalg.norm(x)))
        limit, y = smallest * self._largest, rng.standard_normal(self.rank)
        for _ in range(POWERS):
            y = self._core.solve(self._core.solve(y / np.linalg.norm(y)), trans="T")
        self._smallest = float(1 / np.sqrt(np.linalg.norm(y)))
        W = A @ rng.standard_normal((A.shape[1], PROBES))
        left = (W - self._of_columns @ self._core.solve(W[self.rows]))[self.dependent]
        rest = float(np.linalg.norm(left, axis=0).max(initial=0.0))
        if not (self._smallest > MARGIN * limit and rest < limit / MARGIN):
            raise ArithmeticError("singular values near the limit")

    @property
    def condition(self) -> float:
        """Ratio of the largest singular value to one that is not above the smallest."""
        return self._largest / self._smallest

    def solve(self, b: np.ndarray) -> np.ndarray:
        """A⁺ b: the shortest solution of least squares, for any number of columns."""
        m, n = self._A.shape
        z = self._core.solve(b[self.rows]) if self.rank == m else self._closest(b)
        if self.rank == n:
            return z
        zero = np.zeros((n, *b.shape[1:]))
        z = self._of_rows[:, self.columns] @ z
        return self._shortest(np.concatenate([zero, z]))[:n]

    def _closest(self, b: np.ndarray) -> np.ndarray:
        zero = np.zeros((self.rank, *b.shape[1:]))
        return self._least(np.concatenate([b, zero]))[len(b) :]

    @cached_property
    def _least(self) -> _Refined:
        return _Refined(_bordered(self._smallest, self._of_columns, 0.0))

    @cached_property
    def _shortest(self) -> _Refined:
        return _Refined(_bordered(self._smallest, self._of_rows.T, 0.0))

    def dependencies(self) -> np.ndarray:
        """C with  A_D = Cᵀ A_B  for the dependent rows D."""
        beside = self._of_columns[self.dependent].toarray()
        return np.asarray(self._core.solve(np.ascontiguousarray(beside.T), trans="T"))

    def null_space(self) -> np.ndarray:
        """An orthonormal basis of all x with A x = 0, one a column."""
        n = self._A.shape[1]
        free = np.setdiff1d(np.arange(n), self.columns)
        Z = np.zeros((n, free.size))
        Z[free, range(free.size)] = 1.0
        Z[self.columns] = -self._core.solve(self._of_rows[:, free].toarray())
        return np.asarray(np.linalg.qr(Z)[0])

    def moved(self, M: ca.DM, motions: np.ndarray, b: np.ndarray) -> np.ndarray:
        """(a, w) with  M a + Aᵀ A w, A a = b  and a in units of `motions`; A consists of constraints."""
        n, J = M.shape[0], self._of_rows.multiply(motions).tocsr()
        forces = 1 / np.sqrt(np.asarray(J.multiply(J).sum(axis=1)).ravel())
        masses = M.sparse().multiply(motions).T.multiply(motions)
        J = J.T.multiply(forces).T
        K = _Refined(_stacked([[masses, J.T], [J, None]]))
        units = np.concatenate([motions, forces])
        x = (units * K((units * np.concatenate([b[:n], b[n:][self.rows]]).T).T).T).T
        λ = np.zeros_like(b[n:])
        λ[self.rows] = x[n:]
        return np.concatenate([x[:n], self.solve(λ)])

    def least_inertia(self, M: ca.DM) -> tuple[float, np.ndarray]:
        """The smallest inertia of any motion x with A x = 0 and |x| = 1, and that motion.

        Power iteration with the first block of [[M, Aᵀ], [A, 0]]⁻¹, which is Z (Zᵀ M Z)⁻¹ Zᵀ for
        a basis Z of these motions.
        """
        from scipy.sparse import identity

        n, masses = M.shape[0], M.sparse()
        heaviest = float(abs(masses).max())
        shift, B = SHIFT * heaviest, self._of_rows * heaviest
        solve = _factored(_stacked([[masses + shift * identity(n), B.T], [B, None]])).solve
        x = np.concatenate([np.random.default_rng(0).standard_normal(n), np.zeros(self.rank)])
        for _ in range(POWERS):
            x[n:] = 0.0
            x = solve(x / np.linalg.norm(x))
        size = float(np.linalg.norm(x[:n]))
        return 1 / size - shift, x[:n] / size


class _Refined:
    """Solutions of a regular system, refined once, as bordered systems of least squares need where
    their residual is large.
    """

    def __init__(self, K: Any):
        self._K, self._factors = K, _factored(K)

    def __call__(self, b: np.ndarray) -> np.ndarray:
        x = self._factors.solve(b)
        return np.asarray(x + self._factors.solve(b - self._K @ x))


def factors_of(A: ca.DM, smallest: float) -> SparseFactors | None:
    """Factors of a large matrix; None where singular values have to decide. They are kept: the same
    geometry has the same matrix in every call.
    """
    return _kept(A.shape, _bytes(A.nonzeros(), float), _bytes(A.row()), _bytes(A.colind()), smallest)


def square_factors_of(A: ca.DM, smallest: float) -> Any:
    """Factors of a large square matrix whose pivots are not smaller than this share of the largest;
    None for any other matrix.
    """
    if A.nnz() == 0:
        return None
    try:
        factors = _factored(A.sparse())
    except RuntimeError:  # exactly singular
        return None
    pivots = np.abs(factors.U.diagonal())
    return factors if pivots.min() > smallest * pivots.max() else None


def _bytes(numbers: Any, kind: type = np.int32) -> bytes:
    return np.array(numbers, dtype=kind).tobytes()


@lru_cache(maxsize=KEPT)
def _kept(
    shape: tuple[int, int], data: bytes, rows: bytes, columns: bytes, smallest: float
) -> SparseFactors | None:
    from scipy.sparse import csc_matrix

    parts = np.frombuffer(data), np.frombuffer(rows, np.int32), np.frombuffer(columns, np.int32)
    try:
        return SparseFactors(csc_matrix(parts, shape), smallest)
    except (ArithmeticError, RuntimeError):  # the latter: exactly singular
        return None


def _bordered(first: float, A: Any, second: float) -> Any:
    """[[first, A], [Aᵀ, second]]."""
    from scipy.sparse import identity

    m, n = A.shape
    corner = second * identity(n) if second else None
    return _stacked([[first * identity(m), A], [A.T, corner]])


def _stacked(blocks: list[list[Any]]) -> Any:
    from scipy.sparse import bmat

    return bmat(blocks, format="csc")


def _factored(A: Any) -> Any:
    from scipy.sparse.linalg import splu

    return splu(A.tocsc())
