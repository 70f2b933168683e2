"""Negative log posterior of fitted parameters, with exact derivatives:

U(x, s) = S(x) e^(−2s)/2 + n s + V(x),    S = Σ ((y(x) − data)/σ)²,    V = −log prior

σ known: s = 0, and n s is left out. Otherwise σ = 1 in S, and s is the logarithm of the common
standard deviation of the noise, with a flat prior (Jeffreys' p(σ) ∝ 1/σ).

∂²S/∂x² = 2 (JᵀJ + Σ r_i ∂²r_i/∂x²): the second-order terms are exact, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..analyses.hessians import MEMORY, hessian
from ..core.errors import VarimechError, all_or_nothing
from ..optimization.space import Space
from .measurement import Measurement
from .output_runs import OutputRuns
from .priors import Prior


@dataclass(frozen=True, eq=False)
class Misfit:
    """Sums of squares for some rows of parameter values."""

    S: np.ndarray
    """(row); NaN where a run failed."""
    gradient: np.ndarray
    """∂S/∂x, (row, parameter)"""
    jacobian: np.ndarray
    """∂r/∂x, (row, sample, parameter)"""
    failures: Mapping[int, VarimechError]


@dataclass(frozen=True, eq=False)
class Expansion:
    """S and V to second order about x."""

    x: np.ndarray
    S: float
    S_x: np.ndarray
    S_xx: np.ndarray
    """(parameter, parameter)"""
    V: float
    V_x: np.ndarray
    V_xx: np.ndarray
    """Diagonal of ∂²V/∂x², (parameter): priors are independent."""
    jacobian: np.ndarray
    """∂r/∂x, (sample, parameter)"""

    def hessian(self, s: float | np.ndarray) -> np.ndarray:
        """∂²U/∂x² for logarithms of the noise: (…, parameter, parameter)."""
        weight = np.exp(-2 * np.asarray(s))[..., None, None] / 2
        return weight * self.S_xx + np.diag(self.V_xx)

    def gradient(self, s: float | np.ndarray) -> np.ndarray:
        """∂U/∂x for logarithms of the noise: (…, parameter)."""
        return np.exp(-2 * np.asarray(s))[..., None] / 2 * self.S_x + self.V_x


@dataclass(eq=False)
class LogPosterior:
    """U and its derivatives, by runs with exact sensitivities."""

    runs: OutputRuns
    measured: Mapping[str, Measurement]
    space: Space
    prior: Prior
    noise_known: bool
    evaluations: int = 0
    """Number of runs with derivatives."""
    failed: int = 0

    @property
    def count(self) -> int:
        """Number of data."""
        return sum(m.values.size for m in self.measured.values())

    def misfit(self, rows: np.ndarray) -> Misfit:
        """S and ∂S/∂x for rows of parameter values, run as vectors of samples."""
        samples = self.runs.at(rows)
        self.evaluations += len(rows)
        self.failed += len(samples.failures)
        assert samples.derivatives is not None
        residuals, jacobians, column = [], [], 0
        for m in self.measured.values():
            at, columns = self._times(m), slice(column, column + m.components)
            column += m.components
            weights = np.ones(m.values.shape) if m.sigma is None else m.sigma
            r = (samples.values[:, at, columns] - m.values) / weights
            J = samples.derivatives[:, at, columns] / weights[..., None]
            residuals.append(r.reshape(len(rows), -1))
            jacobians.append(J.reshape(len(rows), -1, rows.shape[1]))
        r, J = np.concatenate(residuals, axis=1), np.concatenate(jacobians, axis=1)
        return Misfit((r * r).sum(axis=1), 2 * np.einsum("nkp,nk->np", J, r), J, samples.failures)

    def values(self, rows: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, ...]:
        """U, ∂U/∂x and ∂U/∂s for rows; infinite if a run failed or the prior vanishes."""
        V, V_x, _ = self.prior.negative_log(rows)
        m = self.misfit(rows)
        weight = np.exp(-2 * s) / 2
        U = weight * m.S + V + (0.0 if self.noise_known else self.count * s)
        good = np.isfinite(U)
        dx = np.where(good[:, None], weight[:, None] * m.gradient + V_x, 0.0)
        ds = np.where(good, self.count - 2 * weight * m.S, 0.0)
        return np.where(good, U, np.inf), dx, ds

    @all_or_nothing()
    def expanded(self, x: np.ndarray) -> Expansion:
        """Expand S and V to second order.

        Raises:
            VarimechError: if the run fails, or the scheme has no second derivatives.
        """
        first = self.misfit(x[None])
        if first.failures:
            raise first.failures[0]
        numbers = dict(zip(self.space.names, x.tolist(), strict=True))
        s = self.runs.simulation
        s = replace(s.at({**(s.given or {}), **numbers}), options={**s.options, "progress": False})
        indices = s.solvers.data.parameter_set.indices(self.space.names)
        second = hessian(s, {}, indices, "forward", MEMORY)
        self.evaluations += x.size
        J = first.jacobian[0]
        A = 2 * J.T @ J
        for name, m in self.measured.items():
            at, weights = self._times(m), 1.0 if m.sigma is None else m.sigma
            shape = second.run.time.size, m.components
            y = second.run.measure(m.function, name=name).to_numpy().reshape(shape)[at]
            curved = second.measure(m.function, name=name).to_numpy()
            curved = curved.reshape(*shape, x.size, x.size)[at]
            A += 2 * np.einsum("tc,tcpq->pq", (y - m.values) / weights**2, curved)
        V, V_x, V_xx = self.prior.negative_log(x[None])
        return Expansion(
            x, float(first.S[0]), first.gradient[0], A, float(V[0]), V_x[0], V_xx[0], J
        )

    def _times(self, m: Measurement) -> np.ndarray:
        """Indices of the samples among the stored times."""
        return np.abs(self.runs.time[:, None] - m.times[None, :]).argmin(axis=0)
