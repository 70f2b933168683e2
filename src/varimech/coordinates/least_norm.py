"""Multipliers that balance given wrenches, where some equations may depend on others.

    Jᵀ μ = u,     μᵀ N μ as small as possible

With independent rows B of J and the others D, which depend on them (J_D = Cᵀ J_B), all solutions
are

    μ_B = x − C μ_D,     x from J_Bᵀ x = u,     any μ_D;

so the null space of Jᵀ is known, Z = (−C; 1), and the smallest solution is  μ − Z (Zᵀ N Z)⁻¹ Zᵀ N
μ. Only singular systems are regularised; a null space computed by regularisation with a small ε
would
amplify rounding by 1/ε.

Whether D depends on B is decided once, at one position, and may change: at other values of
parameters, or after a start at a singular position. Therefore the part of J_D outside the span of
B, E = J_Dᵀ − J_Bᵀ C, enters through S = Eᵀ W E: directions of D with S ≫ η are independent
equations, those with S ≪ η are redundant. Without D this is the normal equation of B alone.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..core.symbols import SX
from ..stages.elimination import Factorisation
from .linear import DENSE
from .sparse_factors import SparseFactors

RELATIVE_REGULARISATION = 1e-9
"""Regularisation that keeps J W Jᵀ regular at singular positions; two refinements remove its effect
elsewhere.
"""
NOTHING = 1e-30
"""Term added where constraints may depend on nothing, which avoids a division by zero."""
TILT = 1e-9
"""η: the square of the sine (3e-5) between an equation and the span of others at which it counts as
half redundant. Constraints are satisfied far better than that in any run, so that S is about 1e-18
or less where they are redundant.
"""
SLIGHT = 1e-12
"""Share of a multiplier's own square in the norm: it determines multipliers that contribute neither
force nor torque.
"""
RANK = 1e-7
"""Rows that leave the span of others by less than this sine depend on them, at an assembled
position (closed to 1e-10).
"""


@dataclass(frozen=True, eq=False)
class Balance:
    """Equations Jᵀ μ = u with their metrics."""

    J: SX
    u: SX
    weights: SX
    """Diagonal of W, the metric of unbalanced wrenches."""
    strengths: SX
    """Square of the load (force, or torque over ℓ) of a unit of each multiplier."""
    metric: list[SX]
    """Blocks of N."""

    def solve(self, dependent: list[int]) -> SX:
        """Solve for μ, given the rows that depend on others at most positions."""
        J, u, W = self.J, self.u, ca.diag(self.weights)
        independent = [k for k in range(J.shape[0]) if k not in set(dependent)]
        J_B, J_D = J[independent, :], J[dependent, :]
        X = self._balanced(J_B, independent, ca.horzcat(u, J_D.T))
        if not dependent:
            return X
        x, C = X[:, 0], X[:, 1:]
        s = ca.sqrt(self.strengths[dependent] + NOTHING)
        E = (J_D.T - J_B.T @ C) @ ca.diag(1 / s)
        S, b = E.T @ W @ E, E.T @ W @ (u - J_B.T @ x)
        μ_D, redundant = _filtered(S, b)
        Z = SX.zeros(J.shape[0], len(dependent))
        μ = SX.zeros(J.shape[0])
        Z[dependent, :], Z[independent, :] = ca.diag(1 / s), -C @ ca.diag(1 / s)
        μ[dependent], μ[independent] = μ_D / s, x - C @ (μ_D / s)
        Z = Z @ redundant
        NZ = (ca.diagcat(*self.metric) + ca.diag(SLIGHT * self.strengths + NOTHING)) @ Z
        within = Factorisation(
            ca.densify(Z.T @ NZ) + SX.eye(len(dependent)) - redundant, symmetric=True
        )
        return μ - Z @ within.solve(NZ.T @ μ)

    def _balanced(self, J: SX, rows: list[int], right: SX) -> SX:
        """Solve Jᵀ x = right for some rows of J, by regularised normal equations with refinement:
        exact where the rows are independent.
        """
        weighed = J @ ca.diag(self.weights)
        normal, b = weighed @ J.T, ca.densify(weighed @ right)
        factors = Factorisation(
            normal + ca.diag(RELATIVE_REGULARISATION * (self.strengths[rows] + NOTHING)),
            symmetric=True,
        )
        x = factors.solve(b)
        for _ in range(2):
            x = x + factors.solve(b - normal @ x)
        return x

    @cached_property
    def scaled(self) -> SX:
        """J with rows and columns of comparable size."""
        return (
            ca.diag(1 / ca.sqrt(self.strengths + NOTHING)) @ self.J @ ca.diag(ca.sqrt(self.weights))
        )


def _filtered(S: SX, b: SX) -> tuple[SX, SX]:
    """Compute S⁺ b and 1 − S⁺ S for a symmetric matrix S, whose eigenvalues far below η count as
    zero: one refinement of (S² + η²)⁻¹ S.
    """
    d = S.shape[0]
    inverse = Factorisation(ca.densify(S @ S) / TILT**2 + SX.eye(d), symmetric=True)
    G = inverse.solve(SX.eye(d)) / TILT**2
    x = G @ (S @ b)
    x = x + G @ (S @ (b - S @ x))
    left = TILT**2 * G
    return x, left @ left


def dependencies(scaled: np.ndarray) -> tuple[list[int], list[int], np.ndarray]:
    """Return independent rows B of a matrix, the others D, and C with  J_D ≈ Cᵀ J_B; by Householder
    reflections with pivoting, or by sparse factors where the matrix is large and its rank clear.
    """
    from scipy.linalg import qr, solve_triangular
    from scipy.sparse import csc_matrix

    m = scaled.shape[0]
    if max(scaled.shape) > DENSE:
        with suppress(ArithmeticError, RuntimeError):
            B, D, C = SparseFactors(csc_matrix(scaled), RANK).dependencies()
            return B.tolist(), D.tolist(), C
    if m == 0 or not np.abs(scaled).max(initial=0.0) > 0:
        return [], list(range(m)), np.zeros((0, m))
    _, R, order = qr(scaled.T, mode="economic", pivoting=True)
    pivots = np.abs(np.diagonal(R))
    rank = int((pivots > RANK * pivots[0]).sum())
    C = solve_triangular(R[:rank, :rank], R[:rank, rank:])
    return order[:rank].tolist(), order[rank:].tolist(), C
