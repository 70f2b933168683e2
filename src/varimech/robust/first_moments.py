"""Statistics by moments of order 1: objectives are approximated as linear in the random parameters
about their means m, and as normal.

    E[ψ] = ψ(m),    Cov[ψ_a, ψ_b] = g_a' C g_b,     quantile = E + Φ⁻¹(p) σ,
    P[ψ_i ≤ c_i] = Φ_n((c − E)/σ; R)

With H the Hessian, the derivatives with respect to nominal values are

    ∂E/∂x = g,    ∂Cov[ψ_a, ψ_b]/∂x = H_a C g_b + H_b C g_a,

by one Hessian-vector product along C g for each objective; derivatives with respect to widths and
correlations follow from C alone. Exact for linear functions of normal parameters.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ..core.errors import ModelError
from ..uncertainty.expansion import ROUNDING
from .expansion_errors import expansion_errors
from .method import StatisticsTask, Values
from .normal_box import box_derivatives, box_probability
from .random_design import RandomPoint
from .statistic import Mean, Probability, Quantile, Statistic, Std, Worst


class KnownMoments(Protocol):
    """Means and (co)variances of columns, and their derivatives."""

    def mean(self, c: int) -> float:
        """Mean of a column."""
        ...

    def std(self, c: int) -> float:
        """Standard deviation of a column; zero where it does not vary, as at a fixed initial
        state.
        """
        ...

    def slope(self, c: int, a: float, b: float) -> np.ndarray:
        """Derivatives of a · mean + b · std of a column, (variable,)."""
        ...

    def covariance(self, a: int, b: int) -> tuple[float, np.ndarray]:
        """Covariance of two columns, and its derivatives."""
        ...


@dataclass(frozen=True, eq=False)
class FirstMoments:
    """Moments of order 1 as a method that computes statistics (see the module docstring)."""

    task: StatisticsTask
    _last: dict[bytes, NormalMoments] = field(default_factory=dict)
    """Moments of the last design, by its bytes."""

    @property
    def title(self) -> str:
        """See `StatisticsMethod`."""
        return "moments of order 1"

    def evaluate(self, x: np.ndarray, *, errors: bool = False) -> Mapping[str, Values]:
        """See `StatisticsMethod`."""
        moments = self.moments(x)
        results = normal_statistics(self.task, moments)
        if not errors:
            return results
        wrong = expansion_errors(self.task, moments.point, moments, moments.values, moments.g, None)
        third, fourth = self._skewness(moments), excesses(moments.point, moments.g)
        return {
            name: Values(
                v.values, v.derivatives, errors_of(self.task, name, moments, wrong, third, fourth)
            )
            for name, v in results.items()
        }

    def moments(self, x: np.ndarray) -> NormalMoments:
        """Means and covariances, by one run with gradients and one run with second derivatives
        along each required direction C g.
        """
        if (key := x.tobytes()) not in self._last:
            self._last.clear()
            self._last[key] = self._computed(x)
        return self._last[key]

    def _computed(self, x: np.ndarray) -> NormalMoments:
        task, point = self.task, self.task.design.at(x)
        values, J = task.runs.first(point.mean_row[None])
        d = len(point.mean)
        g, C = J[0, :, :d], point.covariance
        columns = columns_of(task, (Std, Worst, Quantile, Probability))
        products = np.zeros((values.shape[1], *J.shape[1:]))
        if columns.size and task.design.nominals:
            products[columns] = self._products(point, g[columns] @ C)
        return NormalMoments(point, values[0], J[0], g, products)

    def _products(self, point: RandomPoint, directions: np.ndarray) -> np.ndarray:
        """H_b d for each direction d and each column b."""
        runs, d = self.task.runs, directions.shape[1]
        size = len(point.mean_row)
        if len(directions) <= d:
            whole = np.zeros((len(directions), size))
            whole[:, :d] = directions
            return runs.second(point.mean_row, whole)
        # over time, each instant has its own direction: combine second derivatives along the parameters
        along = runs.second(point.mean_row, np.eye(d, size))
        return np.einsum("ai,icp->acp", directions, along)

    def _skewness(self, m: NormalMoments) -> np.ndarray:
        """Third central moment of each column, to the order that follows from first and second
        derivatives.
        """
        third = third_moments(m.point, m.g)
        columns, d = columns_of(self.task, (Quantile, Probability)), m.g.shape[1]
        if not columns.size:
            return third
        along = m.g[columns] @ m.point.covariance
        available = bool(self.task.design.nominals)
        products = m.products[columns] if available else self._products(m.point, along)
        for k, c in enumerate(columns):
            third[c] += 3 * along[k] @ products[k, c, :d]
        return third


@dataclass(frozen=True, eq=False)
class NormalMoments:
    """Means and covariances of columns as functions of the design."""

    point: RandomPoint
    values: np.ndarray
    """(column,)"""
    J: np.ndarray
    """(column, index)"""
    g: np.ndarray
    """Derivatives with respect to the random parameters, (column, d)."""
    products: np.ndarray
    """H_b C g_a, (a, b, index); zero where it is not needed."""

    def mean(self, c: int) -> float:
        """See `KnownMoments`."""
        return float(self.values[c])

    def covariance(self, a: int, b: int) -> tuple[float, np.ndarray]:
        """Covariance of two columns, and its derivatives."""
        design, C = self.point.design, self.point.covariance
        slope = np.einsum("i,kij,j->k", self.g[a], self.point.covariance_derivatives, self.g[b])
        along = self.products[a, b] + self.products[b, a]
        slope[: len(design.nominals)] += along[design.nominal_columns]
        return float(self.g[a] @ C @ self.g[b]), slope

    def std(self, c: int) -> float:
        """See `KnownMoments`."""
        σ = float(np.sqrt(max(self.g[c] @ self.point.covariance @ self.g[c], 0.0)))
        return σ if σ > ROUNDING * abs(self.values[c]) else 0.0

    def slope(self, c: int, a: float, b: float) -> np.ndarray:
        """See `KnownMoments`."""
        design, σ = self.point.design, self.std(c)
        slope = np.zeros(design.size)
        slope[: len(design.nominals)] = a * self.J[c, design.nominal_columns]
        if b and σ > 0:
            slope += b * self.covariance(c, c)[1] / (2 * σ)
        return slope


def normal_statistics(task: StatisticsTask, m: KnownMoments) -> dict[str, Values]:
    """Statistics of normal columns with known moments."""
    results = {}
    for name, statistic in task.statistics.items():
        columns = task.columns(statistic)
        if isinstance(statistic, Probability):
            pairs = [_probability(name, statistic, [int(c[0]) for c in columns], m)]
        else:
            pairs = [_of_one(statistic, int(c), m) for c in columns[0]]
        values, derivatives = np.array([v for v, _ in pairs]), np.array([s for _, s in pairs])
        results[name] = Values(values, derivatives, np.full(values.shape, np.nan))
    return results


def columns_of(task: StatisticsTask, kinds: tuple[type[Statistic], ...]) -> np.ndarray:
    """Columns of the statistics of the given kinds."""
    columns = [
        c
        for statistic in task.statistics.values()
        if isinstance(statistic, kinds)
        for c in task.columns(statistic)
    ]
    return np.unique(np.concatenate(columns)) if columns else np.zeros(0, dtype=int)


def sigmas_of(statistic: Statistic) -> float:
    """Number of standard deviations above the mean at which a normal variable has this
    statistic.
    """
    from scipy.special import ndtri

    if isinstance(statistic, Worst):
        return statistic.sigma
    return float(ndtri(statistic.p)) if isinstance(statistic, Quantile) else 0.0


def third_moments(point: RandomPoint, g: np.ndarray) -> np.ndarray:
    """Third central moment of each column to first order; infinite or NaN if a parameter has no
    known one.
    """
    own = point.design.distributions
    μ3 = np.array([m.higher_moments[0] for m in own.marginals])
    return _contracted(g**3, μ3 * (point.sigma / own.sigma) ** 3)


def excesses(point: RandomPoint, g: np.ndarray) -> np.ndarray:
    """Fourth central moment of each column minus that of a normal column, to first order; dependent
    parameters are treated as independent; infinite or NaN if a parameter has no known one.
    """
    own = point.design.distributions
    κ4 = np.array([m.higher_moments[1] / m.sigma**4 - 3 for m in own.marginals])
    return _contracted(g**4, κ4 * point.sigma**4)


def _contracted(powers: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """Sum over the parameters that a column depends on."""
    with np.errstate(invalid="ignore"):  # 0 · ∞ for other parameters
        return np.asarray(np.where(powers == 0, 0.0, powers * moments).sum(axis=1))


def errors_of(
    task: StatisticsTask,
    name: str,
    m: KnownMoments,
    wrong: np.ndarray,
    third: np.ndarray,
    fourth: np.ndarray,
) -> np.ndarray:
    """Estimate the errors of a statistic: those of mean and standard deviation, and the effect of
    the shape of the distribution (`_shape`).

    Args:
        task: the task.
        name: name of the statistic.
        m: moments of the columns.
        wrong: larger error of mean and standard deviation of each column.
        third: third central moment of each column.
        fourth: fourth central moment of each column minus that of a normal column.
    """
    statistic = task.statistics[name]
    columns = task.columns(statistic)
    if isinstance(statistic, Probability):
        return np.array([_probability_error(statistic, columns, m, wrong, third, fourth)])
    c = columns[0]
    if isinstance(statistic, (Mean, Std)):
        return wrong[c]
    z = sigmas_of(statistic)
    errors = (1 + abs(z)) * wrong[c]
    if isinstance(statistic, Quantile):
        errors = errors + [_shape(z, m.std(int(k)), third[k], fourth[k]) for k in c]
    return errors


def _shape(z: float, σ: float, third: float, fourth: float) -> float:
    """Effect of skewness and kurtosis on a quantile: (z² − 1)/6 · μ₃/σ² of the Cornish–Fisher
    expansion, and z³/24 · κ₄/σ³, without the −3z that makes it vanish at √3 (for a uniform
    variable, the error of the quantile 0.99 is 0.63 σ, and this estimate is 0.63 σ). Infinite if
    one of the moments is not known.
    """
    if σ == 0:
        return 0.0
    if not (math.isfinite(third) and math.isfinite(fourth)):
        return math.inf
    return float(abs(z**2 - 1) / 6 * abs(third) / σ**2 + abs(z) ** 3 / 24 * abs(fourth) / σ**3)


def _of_one(statistic: Statistic, c: int, m: KnownMoments) -> tuple[float, np.ndarray]:
    """A statistic of one column."""
    if isinstance(statistic, Mean):
        return m.mean(c), m.slope(c, 1.0, 0.0)
    if isinstance(statistic, Std):
        return m.std(c), m.slope(c, 0.0, 1.0)
    z = sigmas_of(statistic)
    return m.mean(c) + z * m.std(c), m.slope(c, 1.0, z)


def _standardised(
    statistic: Probability, columns: list[int], m: KnownMoments
) -> tuple[np.ndarray, np.ndarray]:
    """Limits relative to the means, in standard deviations, with their derivatives, (limit,)."""
    mean, σ = (np.array([each(c) for c in columns]) for each in (m.mean, m.std))
    lower = np.array([limit.lower for limit in statistic.limits])
    upper = np.array([limit.upper for limit in statistic.limits])
    return (lower - mean) / σ, (upper - mean) / σ


def _probability(
    name: str, statistic: Probability, columns: list[int], m: KnownMoments
) -> tuple[float, np.ndarray]:
    """Probability of a box in the space of normal columns."""
    σ = np.array([m.std(c) for c in columns])
    if not (σ > 0).all():
        problem = "to first order its objective does not vary with the random parameters"
        remedy = "use statistics='samples'"
        raise ModelError(problem, element=f"probability {name!r}", remedy=remedy)
    n, size = len(columns), m.slope(columns[0], 0.0, 0.0).size
    R, dR = np.eye(n), np.zeros((n, n, size))
    if n > 1:
        dσ = [m.slope(c, 0.0, 1.0) for c in columns]
    for i in range(n):
        for j in range(i):
            cov, dcov = m.covariance(columns[i], columns[j])
            R[i, j] = R[j, i] = r = cov / (σ[i] * σ[j])
            dR[i, j] = dcov / (σ[i] * σ[j]) - r * (dσ[i] / σ[i] + dσ[j] / σ[j])
    lower, upper = _standardised(statistic, columns, m)
    of_lower, of_upper, of_R = box_derivatives(lower, upper, R)
    slope = np.zeros(size)
    for i in range(n):
        of_mean = of_σ = 0.0
        for bound, weight in ((lower[i], of_lower[i]), (upper[i], of_upper[i])):
            if np.isfinite(bound):
                of_mean -= weight / σ[i]
                of_σ -= weight * bound / σ[i]
        slope += m.slope(columns[i], of_mean, of_σ)
        for j in range(i):
            slope += of_R[i, j] * dR[i, j]
    return box_probability(lower, upper, R), slope


def _probability_error(
    statistic: Probability,
    columns: list[np.ndarray],
    m: KnownMoments,
    wrong: np.ndarray,
    third: np.ndarray,
    fourth: np.ndarray,
) -> float:
    """Largest change of the probability of each limit within the errors of its quantile and of the
    moments, summed over the limits.
    """
    from scipy.special import ndtr

    c = [int(k[0]) for k in columns]
    total = 0.0
    for bounds in _standardised(statistic, c, m):
        for k, z in zip(c, bounds, strict=True):
            if not np.isfinite(z):
                continue
            if not np.isfinite(wrong[k]):
                return 1.0
            σ = m.std(k)
            off = _shape(z, σ, third[k], fourth[k]) / σ
            share = wrong[k] / σ
            nearer = [(z + s * share) / (1 + share) for s in (-1, 1)]  # a larger deviation
            moved = np.array([*nearer, z - share - off, z + share + off])
            total += float(np.abs(ndtr(moved) - ndtr(z)).max())
    return min(total, 1.0)
