"""Statistics by polynomial chaos: an objective as a sum of orthonormal polynomials of the random
variables,

    ψ(x, u) ≈ Σ_k a_k(x) Ψ_k(u),     E = a_0,    Var = Σ_{k>0} a_k²,

by least squares at fixed points u_n, so that with Ψ⁺ the pseudo-inverse

    a = Ψ⁺ ψ,     ∂a/∂x = Ψ⁺ ∂ψ/∂x :

Values and gradients are mapped to coefficients by the same linear map. The variables are those of
the standard normal space (Hermite polynomials) or, for independent uniform parameters, their
probabilities (Legendre polynomials). Quantiles and probabilities are computed from samples of the
sum, which take no run. D. Xiu and G. E. Karniadakis, SIAM J. Sci. Comput. 24 (2002).

Errors are estimated by leave-one-out cross-validation, as the standard deviation of the residual;
for quantiles and probabilities also as the change caused by the polynomials of the highest degree,
because few runs reach the tails.
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
"""Points for each polynomial: with fewer, least squares amplify the residual."""
DEGREE, MOST_TERMS = 3, 250
"""Default degree, and maximum number of polynomials; with more, the degree is 2."""
DRAWN, GROUPS = 1 << 15, 32
"""Samples of the sum for quantiles and probabilities, and the number of groups; they take no
run.
"""


@dataclass(frozen=True, eq=False)
class ChaosMethod:
    """Polynomial chaos as a method that computes statistics (see the module docstring)."""

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
        """Degree of the polynomials."""
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
        degrees = []
        for total in range(self.degree + 1):
            for chosen in combinations_with_replacement(range(self.dimension), total):
                degrees.append(tuple(chosen.count(k) for k in range(self.dimension)))
        return degrees

    @property
    def resolution(self) -> int:
        """Number of samples of the sum from which probabilities are estimated."""
        return DRAWN

    @cached_property
    def points(self) -> np.ndarray:
        """Points u of the runs, (run, random parameter): the same at every design."""
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
        """Ψ⁺, (polynomial, run), and the map from values to leave-one-out residuals, (run, run)."""
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
        """Values of the polynomials at the samples for quantiles and probabilities."""
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
        """See `StatisticsMethod`; error estimates need no additional runs."""
        point = self.task.design.at(x)
        values, J = self.task.runs.first(point.rows(point.values(self.points)))
        derivatives = point.in_variables(self.points, J)
        inverse, off = self._fit
        a = inverse @ values
        da = np.einsum("kn,ncv->kcv", inverse, derivatives)
        left = np.sqrt(((off @ values) ** 2).mean(axis=0))
        lower = self._lower_degree @ values if errors else None
        results = {}
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
            results[name] = Values(*(np.array(part) for part in zip(*each, strict=True)))
        return results

    def _by_samples(
        self,
        statistic: Statistic,
        columns: list[np.ndarray],
        a: np.ndarray,
        da: np.ndarray,
        left: np.ndarray,
        lower: np.ndarray | None,
    ) -> tuple[float, np.ndarray, float]:
        """Compute a quantile or probability by samples of the sum, from one column of each
        function. The residual depends on the same variables as the sum and is largest in the tails:
        it may shift a quantile or a limit by its whole standard deviation, times their distance
        from the mean.
        """
        Ψ, c = self._samples, [int(k[0]) for k in columns]
        drawn = SampledStatistics(Ψ @ a[:, c], np.einsum("nk,kcv->ncv", Ψ, da[:, c]), GROUPS)
        value, slope, error = drawn.of(statistic, list(range(len(c))))
        for k, limit in enumerate(statistic.limits if isinstance(statistic, Probability) else ()):
            error += drawn.change(k, limit, float(left[c[k]]))
        if isinstance(statistic, Quantile):
            # at least 1: the residual changes the shape too, even where σ has no effect
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
    """Compute a statistic of one column from coefficients; the error of a coefficient is the
    residual divided by the square root of the number of runs.
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
    """Increase of the standard deviation by the residual."""
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
