"""Equilibrium and small vibrations about it.

    equilibrium   Φ_qᵀ λ − Q(q, 0, ρ) = 0,  Φ(q, ρ) = 0                        at t = 0, for the unknowns x = (q, λ)
    derivatives   H x' = −∂/∂ρ of both lines,   H = [K  Φ_qᵀ; Φ_q  0],   K = ∂(Φ_qᵀ λ − Q)/∂q
    vibrations    (K − ω² M) u = 0  for all  u  with  Φ_q u = 0

Newton's method with s M added to K at first (s → 0), which leads downhill from an unstable beginning, and with steps that are shortened until
the next correction would be smaller than the last one. That measure does not mind stiffnesses of very different sizes: a beam that bends by
much is stretched enormously by linear steps, and put right by the next.

P. Deuflhard, Newton Methods for Nonlinear Problems, Springer 2004, section 3.3; C. T. Kelley and D. E. Keyes, SIAM J. Numer. Anal. 35 (1998)
508–523.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from .coordinates.equations import Equations
from .coordinates.start import StartSolver
from .errors import ModelError, VarimechError
from .symbols import SX

ITERATIONS = 400
FIRST_MOVE = 0.05
"""Share of the size of the mechanism that the first correction may have."""
SHORTEST = 1e-3
"""Share of a correction below which none is tried."""
CONVERGED = 1e-12
"""Correction, over the size of the mechanism, that ends the iteration."""
NEAR = 1e-3
"""The same, from which on it is Newton's."""
DENSE = 200
"""Unknowns up to which matrices are dense."""
RANK = 1e-13
"""Singular values below this share of the largest count as zero."""
LIGHT = 1e-6
"""Share of the largest mass below which a coordinate counts as one without."""


@dataclass(frozen=True)
class Equilibrium:
    """Positions and multipliers, with their derivatives with respect to some parameters."""

    q: np.ndarray
    λ: np.ndarray
    slopes: np.ndarray | None
    """(q and λ, parameter)"""
    iterations: int
    residual: float
    """Of the constraints."""


class Statics:
    """Equilibria of one mechanism."""

    def __init__(self, equations: Equations, start: StartSolver):
        self.equations = e = equations
        self.start = start
        rest = [SX.zeros(e.q.numel()), SX.zeros(e.q.numel()), SX(0)]
        balance, Φ = (ca.substitute([x], [e.v, e.a, e.t], rest)[0] for x in (e.balance, e.constraints))
        self._F = ca.densify(ca.vertcat(balance, Φ))
        self._x = ca.vertcat(e.q, e.λ)
        self._residuals = ca.Function("F", [self._x, e.ρ], [self._F])
        self._jacobian = ca.Function("H", [self._x, e.ρ], [ca.jacobian(self._F, self._x)])
        self._mass = ca.Function("M", [e.q, e.ρ], [e.mass])

    @cached_property
    def _partials(self) -> ca.Function:
        return ca.Function("F_rho", [self._x, self.equations.ρ], [ca.jacobian(self._F, self.equations.ρ)])

    def equilibrium(self, ρ: np.ndarray, indices: list[int] | None) -> Equilibrium:
        """The equilibrium that the start leads to.

        Raises:
            VarimechError: if none is found.
        """
        n = self.equations.q.numel()
        self.start.check_fits(ρ, indices)
        x = np.concatenate([self.start.assemble(ρ), np.zeros(self.equations.λ.numel())])
        size = float(np.ptp(x[:n])) or 1.0
        x, iterations = self._newton(x, ρ, n, size)
        slopes = None
        if indices is not None:
            slopes = -_solver(self._jacobian(x, ρ), self.equations.model.name)(np.array(self._partials(x, ρ))[:, indices])
        residual = float(np.abs(self._value(x, ρ)[n:]).max(initial=0.0))
        return Equilibrium(x[:n], x[n:], slopes, iterations, residual)

    def frequencies(self, ρ: np.ndarray, count: int) -> np.ndarray:
        """Angular frequencies of the slowest vibrations about the equilibrium (rad/s); NaN for motions that grow instead.

        Raises:
            VarimechError: if there is no equilibrium.
        """
        from scipy.linalg import eigh, null_space

        n, found = self.equations.q.numel(), self.equilibrium(ρ, None)
        H, M = self._jacobian(np.concatenate([found.q, found.λ]), ρ), self._mass(found.q, ρ)
        if H.shape[0] <= DENSE:
            K, Φ_q = np.array(H)[:n, :n], np.array(H)[n:, :n]
            Z = null_space(Φ_q) if Φ_q.size else np.eye(n)
            squares = eigh(Z.T @ (K + K.T) @ Z / 2, Z.T @ np.array(M) @ Z, eigvals_only=True)
        else:
            squares = _slowest(H, M, count)
        return np.array([np.sqrt(s) if s >= 0 else np.nan for s in squares[:count]])

    def _value(self, x: np.ndarray, ρ: np.ndarray) -> np.ndarray:
        return np.array(self._residuals(x, ρ)).ravel()

    def _newton(self, x: np.ndarray, ρ: np.ndarray, n: int, size: float) -> tuple[np.ndarray, int]:
        name, none = self.equations.model.name, x.size - n
        M = ca.diagcat(self._mass(x[:n], ρ), ca.DM(none, none))
        masses = np.array(ca.diag(M))[:n, 0]
        s = float(np.abs(self._value(x, ρ)[:n] / np.maximum(masses, LIGHT * masses.max())).max()) / (FIRST_MOVE * size)
        for iteration in range(1, ITERATIONS + 1):
            solve = _solver(self._jacobian(x, ρ) + s * M, name)
            step = -solve(self._value(x, ρ))
            move = float(np.abs(step[:n]).max())
            if not np.isfinite(step).all():
                raise VarimechError(f"{name!r}: no equilibrium; a force or constraint is not finite on the way to one")
            if move <= CONVERGED * size and s == 0:
                return x + step, iteration
            share = min(1.0, size / max(move, CONVERGED * size))
            while share > SHORTEST:
                next_ = np.abs(solve(self._value(x + share * step, ρ))[:n]).max()
                if next_ <= (1 - share / 4) * move or next_ <= CONVERGED * size:
                    break
                share /= 2
            else:
                s = 10 * s if s > 0 else 1.0
                continue
            x = x + share * step
            if share == 1.0:
                s = 0.1 * s if move > NEAR * size else 0.0
        raise VarimechError(
            f"{name!r}: no equilibrium in {ITERATIONS} iterations; if there is one, a start closer to it may lead there"
        )


def _solver(A: ca.DM, name: str) -> Callable[[np.ndarray], np.ndarray]:
    """Solves with a symmetric or nearly symmetric matrix; small ones may be singular, by redundant constraints."""
    if A.shape[0] > DENSE:
        from scipy.sparse.linalg import splu

        try:
            factors = splu(A.sparse())
        except RuntimeError:  # exactly singular
            raise ModelError(
                f"mechanism {name!r} has redundant constraints, or can move without force; a model of this size takes neither in equilibrium"
            ) from None
        return lambda b: np.asarray(factors.solve(b))
    dense = np.array(A)
    scale = 1 / np.sqrt(np.maximum(np.abs(dense).max(axis=1), 1e-300))[:, None]
    inverse = np.linalg.pinv(scale * dense * scale.T, rcond=RANK)
    return lambda b: (scale * (inverse @ (scale * b.reshape(b.shape[0], -1)))).reshape(b.shape)


def _slowest(H: ca.DM, M: ca.DM, count: int) -> np.ndarray:
    """Squares of the slowest frequencies of a large system, by inverse iteration."""
    from scipy.sparse import block_diag, csc_matrix
    from scipy.sparse.linalg import eigsh

    none = H.shape[0] - M.shape[0]
    mass = block_diag([M.sparse(), csc_matrix((none, none))], format="csc")
    squares = eigsh(H.sparse(), k=min(count, M.shape[0] - none - 1), M=mass, sigma=0.0, which="LM", return_eigenvectors=False)
    return np.sort(squares)
