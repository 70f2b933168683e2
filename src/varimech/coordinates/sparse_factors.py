"""Rank, independent rows and columns, and pseudo-inverse of large sparse matrices.

For a matrix A with independent columns, the bordered matrix is regular. It solves least squares,
yields the shortest solution of Aᵀ y = c, and σ_min(A) by inverse iteration (Björck, Numerical
Methods for Least Squares Problems, 1996, section 2.5):

    [[β, A], [Aᵀ, 0]] (y, x) = (b, 0),     [[β, A], [Aᵀ, 0]] (y, x) = (0, c).

Where neither columns nor rows are independent,

    K = [[α, A], [Aᵀ, −α]],     eigenvalues ±√(σ² + α²)  and  ±α

is still regular. Elimination with row exchanges encounters a pivot not far above α wherever a row,
or a column, of A depends on those before it. The remaining independent rows B and columns C have to
be equally many, and are checked:

    σ_r(A) ≥ σ_min(A_C), σ_min(A_B),     σ_{r+1}(A) ≤ ‖A − A_C A_C⁺ A‖  by random vectors.

Bounds have to be far from the limit of rank; otherwise the matrix is left to singular values.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

import casadi as ca
import numpy as np

SHIFT = 1e-13
"""α over the largest entry: above rounding of an elimination, and far below any limit of rank."""
BORDER = 1e-3
"""β over the largest entry: about the least singular value of large mechanisms, where the bordered
matrix is conditioned best.
"""
MARGIN = 10.0
"""Factor between the limit of rank and any bound: estimates are off by a factor of two or three."""
POWERS = 8
"""Iterations for a singular value, which yield about 10 % accuracy from any starting vector."""
PROBES = 3
"""Random vectors for the estimate of a norm: that all are orthogonal to the dominant direction is
practically impossible.
"""
UNCLEAR = "a singular value near the limit"
KEPT = 16
"""Number of cached factorisations: those of some positions of one mechanism."""


class SparseFactors:
    """Rank decisions and solutions for one matrix A.

    Args:
        A: the matrix, compressed by columns.
        smallest: share of the largest singular value below which others count as zero.

    Raises:
        ArithmeticError: where that limit is too close to a singular value.
    """

    def __init__(self, A: Any, smallest: float):
        self._A = A
        m, n = A.shape
        if not (A.nnz and np.isfinite(A.data).all() and A.data.any()):
            raise ArithmeticError("no numbers")
        x = np.random.default_rng(0).standard_normal(n)
        for _ in range(POWERS):
            x = A.T @ (A @ (x / np.linalg.norm(x)))
        limit = smallest * float(np.sqrt(np.linalg.norm(x)))
        self._clear = MARGIN * limit
        self._by_columns = _bordered(A, self._clear) if m >= n else None
        self._by_rows = _bordered(A.T, self._clear) if m < n else None
        if self._by_columns or self._by_rows:
            self.rank = min(m, n)
            return
        rows, columns = self._independent
        self.rank = rows.size
        left = A @ np.random.default_rng(1).standard_normal((n, PROBES))
        left -= A[:, columns] @ self._columns_side.closest(left)
        if np.linalg.norm(left, axis=0).max() >= limit / MARGIN or not self._rows_side:
            raise ArithmeticError(UNCLEAR)

    @cached_property
    def _independent(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns that elimination does not classify as dependent on others."""
        m, n = self._A.shape
        scale = float(abs(self._A).max())
        α = SHIFT * scale
        factors = factored([[α * identity(m), self._A], [self._A.T, -α * identity(n)]])
        pivots = np.abs(factors.U.diagonal())[factors.perm_c]
        ordered = np.sort(pivots)
        # growth lifts some of them to 1e5 α; a gap of many powers of ten remains above
        kept = pivots > ordered[np.diff(np.log(ordered)).argmax()]
        rows, columns = np.flatnonzero(kept[:m]), np.flatnonzero(kept[m:])
        if rows.size != columns.size:
            raise ArithmeticError("rows and columns disagree")
        return rows, columns

    @property
    def rows(self) -> np.ndarray:
        """Independent rows B, as many as the rank.

        Raises:
            ArithmeticError: where elimination finds no clearly independent rows.
        """
        m, _ = self._A.shape
        return np.arange(m) if self.rank == m or not self._rows_side else self._independent[0]

    @property
    def _columns_side(self) -> _Bordered:
        """The bordered system of independent columns."""
        if self._by_columns is None:
            self._by_columns = _bordered(self._A[:, self._independent[1]], self._clear)
        if self._by_columns is None:
            raise ArithmeticError(UNCLEAR)
        return self._by_columns

    @property
    def _rows_side(self) -> _Bordered:
        """The bordered system of independent rows, transposed."""
        if self._by_rows is None:
            self._by_rows = _bordered(self._A.tocsr()[self._independent[0]].T, self._clear)
        if self._by_rows is None:
            raise ArithmeticError(UNCLEAR)
        return self._by_rows

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Return A⁺ b: the shortest solution of least squares, for any number of columns."""
        m, n = self._A.shape
        if self.rank == n:
            return self._columns_side.closest(b)
        if self.rank == m:
            return self._rows_side.shortest(b)
        rows, columns = self._independent
        x = self._columns_side.closest(b)
        return self._rows_side.shortest(self._A[:, columns].tocsr()[rows] @ x)

    def dependencies(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return independent rows B, the others D, and C with  A_D = Cᵀ A_B.

        Raises:
            ArithmeticError: as `rows`.
        """
        A, B = self._A.tocsr(), self.rows
        D = np.setdiff1d(np.arange(A.shape[0]), B)
        C = self._rows_side.closest(A[D].T.toarray()) if D.size else np.zeros((B.size, 0))
        return B, D, C

    def null_space(self) -> np.ndarray:
        """Return an orthonormal basis of all x with A x = 0, one vector per column.

        Raises:
            ArithmeticError: where elimination finds no clearly independent columns.
        """
        A, n = self._A, self._A.shape[1]
        if self.rank == n:
            return np.zeros((n, 0))
        _, columns = self._independent
        free = np.setdiff1d(np.arange(n), columns)
        Z = np.zeros((n, free.size))
        Z[free, range(free.size)] = 1.0
        Z[columns] = -self._columns_side.closest(A[:, free].toarray())
        return np.asarray(np.linalg.qr(Z)[0])

    def moved(self, M: ca.DM, motions: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return (a, w) with  M a + Aᵀ A w, A a = b  and a in units of `motions`; A consists of
        constraints.
        """
        n, J = M.shape[0], self._A.tocsr()[self.rows].multiply(motions).tocsr()
        forces = 1 / np.sqrt(np.asarray(J.multiply(J).sum(axis=1)).ravel())
        masses = M.sparse().multiply(motions).T.multiply(motions)
        J = J.T.multiply(forces).T
        units = np.concatenate([motions, forces])
        right = (units * np.concatenate([b[:n], b[n:][self.rows]]).T).T
        x = (units * _Refined([[masses, J.T], [J, None]]).solve(right).T).T
        λ = np.zeros_like(b[n:])
        λ[self.rows] = x[n:]
        return np.concatenate([x[:n], self.solve(λ)])

    def least_inertia(self, M: ca.DM) -> tuple[float, np.ndarray]:
        """Return the smallest inertia of any motion x with A x = 0 and |x| = 1, and that motion.

        Power iteration with the first block of [[M, Aᵀ], [A, 0]]⁻¹, which is Z (Zᵀ M Z)⁻¹ Zᵀ for a
        basis Z of these motions.
        """
        n, masses = M.shape[0], M.sparse()
        heaviest = float(abs(masses).max())
        shift, B = SHIFT * heaviest, self._A.tocsr()[self.rows] * heaviest
        factors = factored([[masses + shift * identity(n), B.T], [B, None]])
        x = np.concatenate([np.random.default_rng(0).standard_normal(n), np.zeros(self.rank)])
        for _ in range(POWERS):
            x[n:] = 0.0
            x = factors.solve(x / np.linalg.norm(x))
        size = float(np.linalg.norm(x[:n]))
        return 1 / size - shift, x[:n] / size


class _Refined:
    """Solver of a regular system with one refinement, which bordered systems need where the
    residual of least squares is large.
    """

    def __init__(self, blocks: list[list[Any]]):
        self._K, self._factors = stacked(blocks), factored(blocks)

    def solve(self, b: np.ndarray) -> np.ndarray:
        x = self._factors.solve(b)
        return np.asarray(x + self._factors.solve(b - self._K @ x))


class _Bordered:
    """The bordered matrix [[β, A], [Aᵀ, 0]] for independent columns A."""

    def __init__(self, A: Any):
        self._m, self._n = A.shape
        β = BORDER * float(abs(A).max())
        self._system = _Refined([[β * identity(self._m), A], [A.T, None]])
        x = np.random.default_rng(0).standard_normal(self._n)
        for _ in range(POWERS):  # β (AᵀA)⁻¹ x
            x = self._system.solve(self._padded(x / np.linalg.norm(x)))[self._m :]
        self.smallest = float(np.sqrt(β / np.linalg.norm(x)))
        """σ_min(A)."""

    def closest(self, b: np.ndarray) -> np.ndarray:
        """Return the solution of A x ≈ b by least squares."""
        zero = np.zeros((self._n, *b.shape[1:]))
        return self._system.solve(np.concatenate([b, zero]))[self._m :]

    def shortest(self, c: np.ndarray) -> np.ndarray:
        """Return the shortest solution of Aᵀ y = c."""
        return self._system.solve(self._padded(c))[: self._m]

    def _padded(self, c: np.ndarray) -> np.ndarray:
        return np.concatenate([np.zeros((self._m, *c.shape[1:])), c])


def _bordered(A: Any, limit: float) -> _Bordered | None:
    """Return the bordered matrix if all singular values of A are above a limit; None otherwise."""
    try:
        bordered = _Bordered(A)
    except RuntimeError:  # exactly singular
        return None
    return bordered if bordered.smallest > limit else None


def factors_of(A: ca.DM, smallest: float) -> SparseFactors | None:
    """Factorise a large matrix; None where singular values have to be used. Factors are cached: the
    same geometry has the same matrix in every call.
    """
    return _kept(
        A.shape, _bytes(A.nonzeros(), float), _bytes(A.row()), _bytes(A.colind()), smallest
    )


def square_factors_of(A: ca.DM, smallest: float) -> Any:
    """Factorise a large square matrix whose pivots are not smaller than `smallest` times the
    largest; None for any other matrix.
    """
    if A.nnz() == 0:
        return None
    try:
        factors = factored([[A.sparse()]])
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
    except (ArithmeticError, RuntimeError):  # RuntimeError: exactly singular
        return None


def identity(n: int) -> Any:
    """Return the sparse identity matrix of order n."""
    from scipy.sparse import identity as scipy_identity

    return scipy_identity(n)


def stacked(blocks: list[list[Any]]) -> Any:
    """Assemble a sparse matrix from blocks."""
    from scipy.sparse import bmat

    return bmat(blocks, format="csc")


def factored(blocks: list[list[Any]]) -> Any:
    """Factorise (LU) a sparse matrix of blocks.

    Raises:
        RuntimeError: where it is exactly singular.
    """
    from scipy.sparse.linalg import splu

    return splu(stacked(blocks))
