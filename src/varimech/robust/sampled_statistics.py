"""Statistics of samples ψ_n(x) at fixed random numbers, with exact derivatives of the estimates.

    m = Σ ψ_n/N,    σ² = Σ (ψ_n − m)²/(N − 1)

A probability is smoothed: each sample is replaced by a normal distribution with the deviation h =
N^(−1/3) σ about ψ_n' = m + √(1 − h²/σ²) (ψ_n − m), so that mean and variance are unchanged (and a
normal distribution remains normal):

    P[a ≤ ψ ≤ b] ≈ Σ [Φ((b − ψ_n')/h) − Φ((a − ψ_n')/h)]/N,      P[ψ ≤ q] = p  for quantiles,

and a product for several limits. N^(−1/3) balances the variance and the squared bias of such an
estimate. (B. W. Silverman, Density Estimation (1986), sec. 6.4.1; M. C. Jones, J. Am. Stat. Assoc.
86 (1991).) All of it is differentiated, including m, σ and h.

Errors are half widths of 95 % intervals, from the differences of independent groups of samples; for
quantiles and probabilities, the change by the smoothing is added.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..core.errors import ModelError
from ..core.messages import Message
from .method import StatisticsTask, Values
from .statistic import Limited, Mean, Probability, Quantile, Statistic, Std, Worst

FEWEST_BEYOND = 8
"""Minimum number of samples beyond a limit that resolves a probability: its relative error is then
some 40 %.
"""
UNSEEN = 3.0
"""An event that none of n samples shows has a probability below 3/n, with 95 % certainty."""
ROUND = 1e-13
"""Relative standard deviation below which a column counts as constant."""


@dataclass(frozen=True, eq=False)
class Column:
    """Samples of one column."""

    ψ: np.ndarray
    """(sample,)"""
    dψ: np.ndarray
    """(sample, variable)"""

    @cached_property
    def mean(self) -> tuple[float, np.ndarray]:
        """Mean and its derivatives."""
        return float(self.ψ.mean()), self.dψ.mean(axis=0)

    @cached_property
    def std(self) -> tuple[float, np.ndarray]:
        """Standard deviation and its derivatives; zeros for a constant column."""
        off = self.ψ - self.mean[0]
        σ = math.sqrt(float(off @ off) / (self.ψ.size - 1))
        if σ <= ROUND * float(np.abs(self.ψ).max()):
            return 0.0, np.zeros(self.dψ.shape[1])
        return σ, off @ self.dψ / ((self.ψ.size - 1) * σ)

    @cached_property
    def _shrunk(self) -> tuple[float, float]:
        """h/σ and √(1 − h²/σ²)."""
        c = float(self.ψ.size) ** (-1 / 3)
        return c, math.sqrt(1 - c * c)

    def below(self, limit: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Smoothed indicator of each sample below a limit; its derivatives, (sample, variable); and
        the density at the limit.
        """
        from scipy.special import ndtr

        (m, dm), (σ, dσ), (c, shrink) = self.mean, self.std, self._shrunk
        if σ == 0:
            held = np.full(self.ψ.size, float(m <= limit))
            return held, np.zeros_like(self.dψ), np.zeros(self.ψ.size)
        z = (limit - m - shrink * (self.ψ - m)) / (c * σ)
        density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        dz = -(dm + shrink * (self.dψ - dm)) / (c * σ) - z[:, None] * (dσ / σ)
        return ndtr(z), density[:, None] * dz, density / (c * σ)


@dataclass(frozen=True, eq=False)
class SampledStatistics:
    """Statistics of one set of samples."""

    values: np.ndarray
    """(sample, column)"""
    derivatives: np.ndarray
    """(sample, column, variable)"""
    groups: int
    """Number of independent groups of samples, stored one after another, whose differences yield
    errors.
    """

    def all(self, task: StatisticsTask) -> Mapping[str, Values]:
        """Compute all statistics of a task."""
        results = {}
        for name, statistic in task.statistics.items():
            columns = task.columns(statistic)
            each = [
                self.of(statistic, [int(c[k]) for c in columns]) for k in range(len(columns[0]))
            ]
            results[name] = Values(*(np.array(part) for part in zip(*each, strict=True)))
        return results

    def of(self, statistic: Statistic, columns: list[int]) -> tuple[float, np.ndarray, float]:
        """Compute a statistic from the columns of its functions: value, derivatives and error."""
        if isinstance(statistic, Probability):
            return self._probability(statistic, columns)
        return self._of_one(statistic, self._column(columns[0]))

    def change(self, c: int, limit: Limited, off: float) -> float:
        """Change of a probability if a column is in error at its limits: by `off`, times the
        distance of a limit from the mean in standard deviations if that is more than 1. Near the
        mean the shape matters, and the density at a limit may vanish although that of the true
        column does not.
        """
        column, total = self._column(c), 0.0
        (m, _), (σ, _) = column.mean, column.std
        for bound in (limit.lower, limit.upper):
            if math.isfinite(bound) and σ > 0:
                δ = off * max(abs(bound - m) / σ, 1.0)
                shares = [float(column.below(b)[0].mean()) for b in (bound - δ, bound, bound + δ)]
                total += max(shares[1] - shares[0], shares[2] - shares[1])
        return total

    def _column(self, c: int) -> Column:
        return Column(self.values[:, c], self.derivatives[:, c])

    def _error(self, influence: np.ndarray) -> float:
        """Half width of the interval of an estimate, from the contribution of each sample to it."""
        from scipy.special import stdtrit

        means = influence.reshape(self.groups, -1).mean(axis=1)
        standard = float(means.std(ddof=1)) / math.sqrt(self.groups)
        return float(stdtrit(self.groups - 1, 0.975)) * standard

    def _of_one(self, statistic: Statistic, column: Column) -> tuple[float, np.ndarray, float]:
        (m, dm), (σ, dσ) = column.mean, column.std
        off = column.ψ - m
        of_std = off**2 / (2 * σ) if σ > 0 else np.zeros_like(off)
        if isinstance(statistic, Mean):
            return m, dm, self._error(column.ψ)
        if isinstance(statistic, Std):
            return σ, dσ, self._error(of_std)
        if isinstance(statistic, Worst):
            k = statistic.sigma
            return m + k * σ, dm + k * dσ, self._error(column.ψ + k * of_std)
        assert isinstance(statistic, Quantile)
        return self._quantile(column, statistic.p)

    def _quantile(self, column: Column, p: float) -> tuple[float, np.ndarray, float]:
        """q with P[ψ ≤ q] = p, and dq = −dP/f."""
        from scipy.optimize import brentq

        (m, dm), (σ, _) = column.mean, column.std
        if σ == 0:
            return m, dm, 0.0
        low, high = column.ψ.min() - 10 * σ, column.ψ.max() + 10 * σ
        q = float(brentq(lambda q: column.below(q)[0].mean() - p, low, high, xtol=1e-14 * σ))
        share, derivatives, density = column.below(q)
        f = float(density.mean())
        raw = float(np.quantile(column.ψ, p))
        return q, -derivatives.mean(axis=0) / f, self._error(share) / f + abs(q - raw)

    def _probability(
        self, statistic: Probability, columns: list[int]
    ) -> tuple[float, np.ndarray, float]:
        inside = np.ones(len(self.values))
        slope = np.zeros((len(self.values), self.derivatives.shape[2]))
        raw = np.ones(len(self.values), dtype=bool)
        for c, limit in zip(columns, statistic.limits, strict=True):
            column = self._column(c)
            share, derivatives = _between(column, limit.lower, limit.upper)
            slope = slope * share[:, None] + inside[:, None] * derivatives
            inside = inside * share
            raw &= (column.ψ >= limit.lower) & (column.ψ <= limit.upper)
        p, counted = float(inside.mean()), int(raw.sum())
        error = self._error(inside) + abs(p - counted / raw.size)
        if min(counted, raw.size - counted) < FEWEST_BEYOND:
            error = max(error, UNSEEN / raw.size)
        return p, slope.mean(axis=0), error


def check_resolved(name: str, p: float, samples: int) -> None:
    """Refuse a probability that a number of samples cannot resolve.

    Raises:
        ModelError: with the number of samples that would resolve it.
    """
    rarer = min(p, 1 - p)
    if rarer * samples >= FEWEST_BEYOND:
        return
    needed = f"{math.ceil(FEWEST_BEYOND / rarer):,}" if rarer > 0 else "more"
    problem = (
        f"{samples} samples do not resolve a probability of {rarer:.2g}: fewer than"
        f" {FEWEST_BEYOND} are expected beyond it"
    )
    remedy = Message("use {statistics}, or {} samples", needed, statistics="form")
    raise ModelError(problem, element=f"statistic {name!r}", remedy=remedy)


def _between(column: Column, lower: float, upper: float) -> tuple[np.ndarray, np.ndarray]:
    """Smoothed indicator of each sample between two limits, and its derivatives."""
    share, slope = np.ones(column.ψ.size), np.zeros_like(column.dψ)
    if math.isfinite(upper):
        share, slope, _ = column.below(upper)
    if math.isfinite(lower):
        below, derivatives, _ = column.below(lower)
        share, slope = share - below, slope - derivatives
    return share, slope
