"""Dead centres of kinematics, computed to rounding: positions that drivers cannot pass.

    F(q, u, ρ) = 0,     F_q φ = 0,     ℓᵀφ = 1,     u = u₀ + s n

for q, φ and s by Newton's method: a regular system where the dead centre is a simple fold. Its
derivatives with respect to parameters follow from the same matrix; those of q alone are infinite.

G. Moore and A. Spence, SIAM J. Numer. Anal. 17 (1980) 567–576.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..coordinates.linear import column
from ..core.symbols import SX
from .kinematics import Kinematics, Position

NEWTON = 12
"""Iterations: quadratic convergence from a distance of 1 % takes five."""
CLOSE = 1e-12
"""Last step over the size of q and φ at convergence."""


@dataclass(frozen=True)
class DeadCentre:
    """A position where F_q is singular, on a line in the space of driver values."""

    u: np.ndarray
    q: np.ndarray
    φ: np.ndarray
    """Direction in which the mechanism moves while the drivers are at rest."""
    matrix: np.ndarray
    """Jacobian of the system for (q, φ, s)."""
    parameters: np.ndarray
    """Derivatives of the system with respect to all parameters."""

    def sensitivities(self, indices: list[int]) -> np.ndarray:
        """Compute ∂q/∂ρ of the dead centre on its line, one column per parameter."""
        right = -self.parameters[:, indices]
        return np.asarray(np.linalg.lstsq(self.matrix, right, rcond=None)[0][: self.q.size])


class DeadCentres:
    """Dead centres of one mechanism."""

    def __init__(self, solver: Kinematics):
        self._solver = solver

    @cached_property
    def _system(self) -> ca.Function:
        """Compile (q, φ, ρ) → E and its derivatives, E = (F, F_q φ)."""
        q, _, ρ = self._solver.start._positions._inputs
        F, φ = self._solver.start._positions._F, SX.sym("φ", q.numel())
        E = ca.densify(ca.vertcat(F, ca.jtimes(F, q, φ)))
        dE = ca.densify(ca.jacobian(E, ca.vertcat(q, φ, ρ)))
        return ca.Function("dead_centre", [q, φ, ρ], [E, dE])

    def near(self, last: Position, n: np.ndarray, ρ: np.ndarray) -> DeadCentre | None:
        """Find the dead centre near a position, along the values u + s n; None if there is none."""
        A = self._solver._jacobian(last.q, self._solver.values(ρ, last.u))
        return self.refined(last.q, np.linalg.svd(A)[2][-1], last.u, n, ρ)

    def refined(
        self, q: np.ndarray, φ: np.ndarray, u: np.ndarray, n: np.ndarray, ρ: np.ndarray
    ) -> DeadCentre | None:
        """Find the dead centre near initial guesses of its position and direction, along u + s n;
        None if there is none.
        """
        size, ℓ, s = q.size, φ / np.linalg.norm(φ), 0.0
        φ, where = ℓ, self._solver.driver_indices
        for _ in range(NEWTON):
            values = self._solver.values(ρ, u + s * n)
            E, dE = self._system(q, φ, values)
            all_ = np.array(dE)
            own = all_[:, 2 * size :]
            matrix = np.column_stack([all_[:, : 2 * size], own[:, where] @ n])
            matrix = np.vstack([matrix, np.concatenate([np.zeros(size), ℓ, [0.0]])])
            own = np.vstack([own, np.zeros(own.shape[1])])
            right = -np.append(column(E), ℓ @ φ - 1)
            step = np.linalg.lstsq(matrix, right, rcond=None)[0]
            if not np.isfinite(step).all() or np.abs(step[: 2 * size]).max() > 1 + np.abs(q).max():
                return None
            q, φ, s = q + step[:size], φ + step[size:-1], s + step[-1]
            if np.abs(step[:-1]).max() <= CLOSE * (1 + np.abs(q).max()):
                return DeadCentre(u + s * n, q, φ, matrix, own)
        return None
