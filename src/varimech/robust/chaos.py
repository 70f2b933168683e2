"""Statistics by polynomial chaos: an objective as a sum of orthonormal polynomials of the random
variables,

    ψ(x, u) ≈ Σ_k a_k(x) Ψ_k(u),     E = a_0,    Var = Σ_{k>0} a_k²,

by least squares at fixed points u_n, so that with Ψ⁺ the pseudo-inverse

    a = Ψ⁺ ψ,     ∂a/∂x = Ψ⁺ ∂ψ/∂x :

derivatives of values and gradients by the same linear map. Variables are those of the standard
normal space (Hermite polynomials), or, of independent uniform parameters, their probabilities
(Legendre). Quantiles and probabilities are those of samples of the sum, which cost no run. D. Xiu and
G. E. Karniadakis, SIAM J. Sci. Comput. 24 (2002).

Errors are by leave-one-out, as the standard deviation of what the sum leaves over; of quantiles and
probabilities, also what the polynomials of the highest degree change, because few runs reach the tails.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np

from ..core.errors import ModelError
from ..core.messages import Message
from ..uncertainty.marginals import Marginal, Other
from ..uncertainty.sampling import Sampling
from .method import StatisticsTask, Values
from .sampled_statistics import SampledStatistics, check_resolved
from .settings import StatisticsSettings
from .statistic import Mean, Probability, Quantile, Statistic, Worst

OVERSAMPLING = 2
"""Points for each polynomial: with fewer, least squares amplify what the sum leaves over."""
DEGREE, MOST_TERMS = 3, 250
"""Degree where none is given, and most polynomials; then the degree is 2."""
DRAWN, GROUPS = 1 << 15, 32
"""Samples of the sum for quantiles and probabilities, in so many groups: they cost no run."""


@dataclass(frozen=True, eq=False)
class ChaosMethod:
    """The method; see the head of this file."""

    task: StatisticsTask
    settings: StatisticsSettings = field(default_factory=StatisticsSettings)

    def __post_init__(self) -> None:
        for name, statistic in self.task.statistics.items():
            if isinstance(statistic, Quantile):
                check_resolved(name, statistic.p, DRAWN)
        terms, count = len(self.exponents), self.count
        if count < OVERSAMPLING * terms:
            problem = (
                f": {terms} polynomials of degree {self.degree} in {self.dimension} parameters need"
                f" {OVERSAMPLING * terms} runs or more"
            )
            remedy = Message("give {degree}, or more {samples}", degree=max(1, self.degree - 1))
            raise ModelError(problem, element="chaos", field="samples", value=count, remedy=remedy)

    @property
    def dimension(self) -> int:
        """Number of random parameters."""
        return len(self.task.design.distributions.names)

    @cached_property
    def degree(self) -> int:
        """Of the polynomials."""
        if self.settings.degree is not None:
            return self.settings.degree
        return DEGREE if math.comb(self.dimension + DEGREE, DEGREE) <= MOST_TERMS else 2

    @cached_property
    def count(self) -> int:
        """Number of runs."""
        if self.settings.samples is not None:
            return self.settings.samples
        return max(16, OVERSAMPLING * len(self.exponents))

    @property
    def title(self) -> str:
        """See `StatisticsMethod`."""
        return f"chaos of degree {self.degree}, {self.count} runs"

    @cached_property
    def exponents(self) -> list[tuple[int, ...]]:
        """Degrees in each variable, for each polynomial; the constant first."""
        found = []
        for total in range(self.degree + 1):
            for chosen in combinations_with_replacement(range(self.dimension), total):
                found.append(tuple(chosen.count(k) for k in range(self.dimension)))
        return found

    @property
    def resolution(self) -> int:
        """Number of samples of the sum that probabilities are counted with."""
        return DRAWN

    @cached_property
    def points(self) -> np.ndarray:
        """u, (run, random parameter): the same at every design."""
        return self._drawn(self.count, 0)

    def basis(self, u: np.ndarray) -> np.ndarray:
        """Polynomials at points of the standard normal space, (point, polynomial)."""
        own = self.task.design.distributions
        one = [
            _polynomials(column, self.degree, uniform=own.independent and _is_uniform(marginal))
            for column, marginal in zip(u.T, own.marginals, strict=True)
        ]
        Ψ = np.ones((len(u), len(self.exponents)))
        for k, degrees in enumerate(self.exponents):
            for values, n in zip(one, degrees, strict=True):
                if n:
                    Ψ[:, k] *= values[:, n]
        return Ψ

    @cached_property
    def _fit(self) -> tuple[np.ndarray, np.ndarray]:
        """Ψ⁺, (polynomial, run), and the residual map for leave-one-out errors, (run, run)."""
        Ψ = self.basis(self.points)
        inverse = np.linalg.pinv(Ψ)
        hat = Ψ @ inverse
        off = (np.eye(len(Ψ)) - hat) / np.maximum(1 - np.diag(hat), 1e-12)[:, None]
        return inverse, off

    @cached_property
    def _lower_degree(self) -> np.ndarray:
        """Ψ⁺ without the polynomials of the highest degree."""
        count = sum(sum(degrees) < self.degree for degrees in self.exponents)
        return np.linalg.pinv(self.basis(self.points)[:, :count])

    @cached_property
    def _samples(self) -> np.ndarray:
        """Polynomials at the samples for quantiles and probabilities."""
        return self.basis(self._drawn(DRAWN, GROUPS))

    def _drawn(self, count: int, first: int) -> np.ndarray:
        from scipy.special import ndtri

        if first == 0:
            size = 1 << (count - 1).bit_length()
            points = Sampling("sobol", self.settings.seed, size, self.dimension).points(0)[:count]
            return np.asarray(ndtri(points))
        sampling = Sampling("sobol", self.settings.seed, count // GROUPS, self.dimension)
        parts = [sampling.points(k) for k in range(GROUPS)]
        return np.asarray(ndtri(np.concatenate(parts)))

    def evaluate(self, x: np.ndarray, *, errors: bool = False) -> Mapping[str, Values]:
        """See `StatisticsMethod`; errors take no more runs."""
        point = self.task.design.at(x)
        values, J = self.task.runs.first(point.rows(point.values(self.points)))
        derivatives = point.in_variables(self.points, J)
        inverse, off = self._fit
        a = inverse @ values
        da = np.einsum("kn,ncv->kcv", inverse, derivatives)
        left = np.sqrt(((off @ values) ** 2).mean(axis=0))
        lower = self._lower_degree @ values if errors else None
        found = {}
        for name, statistic in self.task.statistics.items():
            columns = self.task.columns(statistic)
            if isinstance(statistic, (Quantile, Probability)):
                over_time = [[c[k : k + 1] for c in columns] for k in range(len(columns[0]))]
                each = [self._by_samples(statistic, c, a, da, left, lower) for c in over_time]
            else:
                each = [
                    _of_coefficients(statistic, a[:, c], da[:, c], float(left[c]), self.count)
                    for c in columns[0]
                ]
            found[name] = Values(*(np.array(part) for part in zip(*each, strict=True)))
        return found

    def _by_samples(
        self,
        statistic: Statistic,
        columns: list[np.ndarray],
        a: np.ndarray,
        da: np.ndarray,
        left: np.ndarray,
        lower: np.ndarray | None,
    ) -> tuple[float, np.ndarray, float]:
        """Of samples of the sum, over one column of each function. What the sum leaves over depends
        on the same variables as the sum, and is largest in the tails: it may move a quantile or a
        limit by its whole standard deviation, times their distance from the mean.
        """
        Ψ, c = self._samples, [int(k[0]) for k in columns]
        drawn = SampledStatistics(Ψ @ a[:, c], np.einsum("nk,kcv->ncv", Ψ, da[:, c]), GROUPS)
        value, slope, error = drawn.of(statistic, list(range(len(c))))
        for k, limit in enumerate(statistic.limits if isinstance(statistic, Probability) else ()):
            error += drawn.change(k, limit, float(left[c[k]]))
        if isinstance(statistic, Quantile):
            # at least 1: the shape changes as well, also where the deviation does not matter
            error += max(abs(_sigmas(statistic)), 1.0) * left[c[0]]
        if lower is not None:
            rougher = Ψ[:, : len(lower)] @ lower[:, c]
            none = np.zeros((len(Ψ), len(c), 0))
            before, _, _ = SampledStatistics(rougher, none, GROUPS).of(statistic, [*range(len(c))])
            error = max(error, abs(value - before))
        return value, slope, error


def _of_coefficients(
    statistic: Statistic, a: np.ndarray, da: np.ndarray, left: float, runs: int
) -> tuple[float, np.ndarray, float]:
    """A statistic of one column: a coefficient is off by what the sum leaves over, divided by the
    root of the number of runs.
    """
    rough = left / math.sqrt(runs)
    if isinstance(statistic, Mean):
        return float(a[0]), da[0], rough
    σ = float(np.linalg.norm(a[1:]))
    dσ = a[1:] @ da[1:] / σ if σ > 0 else np.zeros(da.shape[1])
    k = statistic.sigma if isinstance(statistic, Worst) else 1.0
    error = abs(k) * (rough + _widening(a, left))
    if isinstance(statistic, Worst):
        return float(a[0]) + k * σ, da[0] + k * dσ, rough + error
    return σ, dσ, error


def _widening(a: np.ndarray, left: float) -> float:
    """By how much the standard deviation grows with what the sum leaves over."""
    σ = float(np.linalg.norm(a[1:]))
    return math.hypot(σ, left) - σ


def _sigmas(statistic: Quantile) -> float:
    from scipy.special import ndtri

    return float(ndtri(statistic.p))


def _is_uniform(marginal: Marginal) -> bool:
    return isinstance(marginal, Other) and marginal.family == "uniform"


def _polynomials(u: np.ndarray, degree: int, *, uniform: bool) -> np.ndarray:
    """Orthonormal polynomials of one variable, (point, degree)."""
    n = np.arange(degree + 1)
    if uniform:
        from scipy.special import ndtr

        return np.asarray(
            np.polynomial.legendre.legvander(2 * ndtr(u) - 1, degree) * np.sqrt(2 * n + 1)
        )
    factorials = np.array([math.factorial(k) for k in n], dtype=float)
    return np.asarray(np.polynomial.hermite_e.hermevander(u, degree) / np.sqrt(factorials))
