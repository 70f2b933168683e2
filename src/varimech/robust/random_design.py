"""Random parameters whose nominal values, tolerance widths and correlations can change:

    ρ_i = m_i + σ_i ξ_i(z_i),    m_i = m_i⁰ + (x_i − x_i⁰),    σ_i = t_i / k_i,    z = L u,  L Lᵀ = R

with ξ_i the standardised quantile function of the given distribution, z normal with the correlation
R of the Gaussian copula, and u independent standard normal. The design variables are the nominal
values x (the whole distribution is shifted with its nominal value), the widths t (of a `Tolerance`
its half width, k its number of standard deviations; of other distributions σ, k = 1), and the
entries of R. At fixed u,

    ∂ρ_i/∂x_i = 1,    ∂ρ_i/∂t_i = ξ_i/k_i,    ∂ρ_i/∂R_ab = σ_i ξ_i'(z_i) (∂L/∂R_ab u)_i .

The derivative of a Cholesky factor is  ∂L = L Φ(L⁻¹ ∂R L⁻ᵀ),  Φ the lower triangle with half of the
diagonal (S. F. Walter, doctoral thesis, HU Berlin 2012). Covariances are C_ij = σ_i σ_j c_ij(R_ij)
with  dc_ij/dR_ij = E[ξ_i'(z_i) ξ_j'(z_j)]  (R. Price, IRE Trans. Inf. Theory 4 (1958)).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from ..analyses.simulation import Simulation
from ..core.errors import ModelError, unknown_name
from ..core.messages import Message
from ..model.parameter import Tolerance
from ..uncertainty.marginals import Marginal, Normal
from ..uncertainty.parameter_distributions import (
    NODES,
    Correlation,
    Given,
    ParameterDistributions,
    distributions_of,
)

WIDTH = "± "
"""Prefix of the name of a width variable."""
STEP = 1e-4
"""Step of central differences of quantile functions, in standard deviations of z: about the fourth root
of the rounding error; the truncation h² and the rounding divided by h are then both small.
"""


@dataclass(frozen=True, eq=False)
class RandomDesign:
    """Distributions of parameters as functions of design variables (nominal values, then widths)."""

    distributions: ParameterDistributions
    """Distributions at the reference design."""
    names: tuple[str, ...]
    """All parameters of the mechanism."""
    reference: np.ndarray
    """Nominal values of all parameters, in their order."""
    nominals: tuple[str, ...]
    """Parameters whose nominal values are variables, random or not."""
    widths: tuple[str, ...]
    """Random parameters whose widths are variables."""
    sigmas: tuple[float, ...]
    """k of each random parameter: number of standard deviations of its width."""
    with_correlations: bool = False
    """Whether derivatives with respect to nonzero correlations are computed, too."""

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the design variables: "crank", "± crank"."""
        return (*self.nominals, *(WIDTH + name for name in self.widths))

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of indices of random parameters with respect to whose correlation derivatives are
        computed.
        """
        if not self.with_correlations:
            return []
        R = self.distributions.correlation
        return [(i, j) for i, j in combinations(range(len(R)), 2) if R[i, j]]

    @property
    def pair_names(self) -> list[tuple[str, str]]:
        """Pairs of names of random parameters with respect to whose correlation derivatives are
        computed.
        """
        names = self.distributions.names
        return [(names[i], names[j]) for i, j in self.pairs]

    @property
    def size(self) -> int:
        """Number of columns of derivatives: variables, then correlations."""
        return len(self.variables) + len(self.pairs)

    @cached_property
    def start(self) -> np.ndarray:
        """Values of the variables at the reference design."""
        every = self.distributions.sigma * np.array(self.sigmas)
        random = list(self.distributions.names)
        return np.concatenate(
            [
                self.reference[[self.names.index(n) for n in self.nominals]],
                every[[random.index(n) for n in self.widths]],
            ]
        )

    @cached_property
    def indices(self) -> list[int]:
        """Indices of the parameters with respect to which runs are differentiated: random ones
        first.
        """
        random = self.distributions.indices
        others = [self.names.index(n) for n in self.nominals]
        return [*random, *(k for k in others if k not in random)]

    @cached_property
    def nominal_columns(self) -> list[int]:
        """Positions of the nominal variables among `indices`."""
        return [self.indices.index(self.names.index(n)) for n in self.nominals]

    @cached_property
    def width_columns(self) -> list[int]:
        """Positions of the widths among the random parameters."""
        return [self.distributions.names.index(n) for n in self.widths]

    def at(self, x: np.ndarray) -> RandomPoint:
        """Distributions of a design.

        Args:
            x: values of `variables`.

        Raises:
            ModelError: for a width that is not positive.
        """
        x = np.asarray(x, dtype=float)
        count = len(self.nominals)
        ρ = self.reference.copy()
        ρ[[self.names.index(n) for n in self.nominals]] = x[:count]
        mean = self.distributions.mean + (ρ - self.reference)[self.distributions.indices]
        sigma = self.distributions.sigma.copy()
        for name, k, t in zip(self.widths, self.width_columns, x[count:].tolist(), strict=True):
            if not t > 0:
                problem = f"the tolerance width of {name!r} is {t:g}; it must be positive"
                raise ModelError(problem, remedy="give it a lower bound above 0")
            sigma[k] = t / self.sigmas[k]
        return RandomPoint(self, ρ, mean, sigma)


@dataclass(frozen=True, eq=False)
class RandomPoint:
    """Distributions of the random parameters at one design."""

    design: RandomDesign
    nominal: np.ndarray
    """Nominal values of all parameters."""
    mean: np.ndarray
    """Means of the random parameters, (d,)."""
    sigma: np.ndarray
    """Standard deviations of the random parameters, (d,)."""

    @cached_property
    def mean_row(self) -> np.ndarray:
        """Values of the differentiated parameters at the means of the random ones."""
        return self.rows(self.mean[None])[0]

    def rows(self, random: np.ndarray) -> np.ndarray:
        """Values of the differentiated parameters, (n, indices), for values of the random ones."""
        rows = np.tile(self.nominal[self.design.indices], (len(random), 1))
        rows[:, : random.shape[1]] = random
        return rows

    def values(self, u: np.ndarray) -> np.ndarray:
        """Values of the random parameters, (n, d), for independent standard normal numbers."""
        return self.mean + self.sigma * self._standardised(u)

    def in_variables(self, u: np.ndarray, J: np.ndarray) -> np.ndarray:
        """Derivatives with respect to the variables and the correlations at fixed u.

        Args:
            u: (n, d).
            J: derivatives with respect to the differentiated parameters, (n, column, indices).

        Returns:
            (n, column, size).
        """
        d, random = self.design, J[:, :, : len(self.mean)]
        ξ = self._standardised(u)
        scales = np.array(d.sigmas)
        widths = random[:, :, d.width_columns] * (ξ / scales)[:, None, d.width_columns]
        parts = [J[:, :, d.nominal_columns], widths]
        if d.pairs:
            derivatives = self.sigma * self._slopes(u)
            for dL in self._root_derivatives:
                moved = derivatives * (u @ dL.T)
                parts.append(np.einsum("nci,ni->nc", random, moved)[:, :, None])
        return np.concatenate(parts, axis=2)

    def in_standard(self, u: np.ndarray, J: np.ndarray) -> np.ndarray:
        """Derivatives with respect to u, (n, column, d)."""
        random = J[:, :, : len(self.mean)] * (self.sigma * self._slopes(u))[:, None, :]
        return np.asarray(random @ self.design.distributions.root)

    @cached_property
    def covariance(self) -> np.ndarray:
        """Covariance matrix, (d, d)."""
        own = self.design.distributions
        return own.covariance * np.outer(self.sigma / own.sigma, self.sigma / own.sigma)

    @cached_property
    def covariance_derivatives(self) -> np.ndarray:
        """Derivatives of the covariance, (size, d, d): zero for nominal values."""
        d = self.design
        derivatives = np.zeros((d.size, *self.covariance.shape))
        first = len(d.nominals)
        for row, k in enumerate(d.width_columns, first):
            share = self.covariance[k] / (self.sigma[k] * d.sigmas[k])
            derivatives[row, k] += share
            derivatives[row, :, k] += share
        R, marginals = d.distributions.correlation, d.distributions.marginals
        for row, (i, j) in enumerate(d.pairs, len(d.variables)):
            slope = _covariance_slope(marginals[i], marginals[j], float(R[i, j]))
            derivatives[row, i, j] = derivatives[row, j, i] = self.sigma[i] * self.sigma[j] * slope
        return derivatives

    def _correlated(self, u: np.ndarray) -> np.ndarray:
        """z = L u"""
        own = self.design.distributions
        return u if own.independent else np.einsum("nj,ij->ni", u, own.root)

    def _standardised(self, u: np.ndarray) -> np.ndarray:
        """ξ(z)"""
        z = self._correlated(u)
        marginals = self.design.distributions.marginals
        return np.column_stack([_ξ(m, column) for m, column in zip(marginals, z.T, strict=True)])

    def _slopes(self, u: np.ndarray) -> np.ndarray:
        """ξ'(z)"""
        z = self._correlated(u)
        marginals = self.design.distributions.marginals
        return np.column_stack(
            [_slope(m, column) for m, column in zip(marginals, z.T, strict=True)]
        )

    @cached_property
    def _root_derivatives(self) -> list[np.ndarray]:
        """∂L/∂R_ab for each pair."""
        L = self.design.distributions.root
        inverse = np.linalg.inv(L)
        roots = []
        for i, j in self.design.pairs:
            dR = np.zeros_like(L)
            dR[i, j] = dR[j, i] = 1.0
            middle = np.tril(inverse @ dR @ inverse.T)
            middle[np.diag_indices_from(middle)] /= 2
            roots.append(L @ middle)
        return roots


def random_design(
    s: Simulation,
    given: Given | None,
    correlation: Correlation | None,
    *,
    nominals: Sequence[str] = (),
    widths: Sequence[str] = (),
    with_correlations: bool = False,
) -> RandomDesign:
    """Check the distributions and which of their numbers may change.

    Args:
        s: the simulation, whose parameter values are nominal ones.
        given, correlation: as for `Problem.moments`.
        nominals: parameters whose nominal values are variables.
        widths: random parameters whose widths are variables.
        with_correlations: whether to compute derivatives with respect to correlations, too.

    Raises:
        ModelError: for invalid distributions, unknown names, or widths of parameters that are not random.
    """
    parameters = s.solvers.data.parameter_set.parameters
    distributions = distributions_of(parameters, given, correlation)
    for name in s.given or {}:
        if name in distributions.names:
            problem = f"names {name!r}, which has its own distribution"
            remedy = Message(
                "give {distributions} to change it, or {} to fix it",
                f"distributions={{{name!r}: None}}",
                distributions={name: ...},
            )
            raise ModelError(problem, field="parameters", remedy=remedy)
    for name in nominals:
        if name not in parameters:
            raise unknown_name("parameter", name, parameters)
    for name in widths:
        if name not in distributions.names:
            raise unknown_name("random parameter", name, distributions.names)
    every = {name: p.distribution for name, p in parameters.items()} | dict(given or {})
    sigmas = tuple(
        float(every[n].sigmas) if isinstance(every[n], Tolerance) else 1.0
        for n in distributions.names
    )
    return RandomDesign(
        distributions,
        tuple(parameters),
        s.ρ.copy(),
        tuple(nominals),
        tuple(widths),
        sigmas,
        with_correlations,
    )


def _ξ(m: Marginal, z: np.ndarray) -> np.ndarray:
    """Standardised values."""
    return z if isinstance(m, Normal) else (m.from_normal(z) - m.mean) / m.sigma


def _slope(m: Marginal, z: np.ndarray) -> np.ndarray:
    """ξ'(z) = φ(z)/(σ f(x)), or by central differences if the distribution has no density."""
    if isinstance(m, Normal):
        return np.ones_like(z)
    density = getattr(m.distribution, "pdf", None)
    if density is not None:
        f = np.asarray(density(m.from_normal(z)), dtype=float) * m.sigma
        φ = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
        # far in the tails, both densities underflow and the values hardly change
        return np.divide(φ, f, out=np.zeros_like(z), where=f > 0)
    return (_ξ(m, z + STEP) - _ξ(m, z - STEP)) / (2 * STEP)


def _covariance_slope(a: Marginal, b: Marginal, r: float) -> float:
    """dc/dr of standardised variables with correlation r."""
    if isinstance(a, Normal) and isinstance(b, Normal):
        return 1.0
    z, w = np.polynomial.hermite_e.hermegauss(NODES)
    w = w / w.sum()
    both = r * z[:, None] + np.sqrt(1 - r**2) * z
    derivatives = _slope(b, both.ravel()).reshape(both.shape)
    return float(np.einsum("i,j,i,ij->", w, w, _slope(a, z), derivatives))
