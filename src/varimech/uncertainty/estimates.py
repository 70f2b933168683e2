"""Means and variances with their errors.

Samples that are independent of each other tell the error of their mean themselves:  s/√n. Those of a Latin hypercube or a Sobol sequence do
not; there the means ȳ_r of independent replicates, of n_r samples each, take their place, with weights n_r. (Of a single replicate, s/√n is
told; it is an upper bound, as a rule.)

With a control x, whose mean is known to be 0, the mean of y is the value of the regression line at x = 0,

    ȳ − β x̄,      β = S_xy / S_xx,      error² = s² (1/n + x̄²/S_xx),      s² = (S_yy − β S_xy) / (ν − 1),

with S the sums of products of distances from the means, and ν = n − 1 degrees of freedom (or replicates less one) without it. S. Asmussen and
P. W. Glynn, Stochastic Simulation (2007), ch. V.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .statistics import CoMoments, Summary

LEVEL = 0.95
"""Probability with which a confidence interval holds the true value, where nothing else is said."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """A number for each column, and how well it is known."""

    value: np.ndarray
    error: np.ndarray
    """Standard error; NaN where samples do not suffice to tell."""
    freedom: int
    """Degrees of freedom of Student's distribution that its error has."""

    def half_width(self, level: float) -> np.ndarray:
        """Half of the interval that holds the true number with this probability."""
        from scipy.special import stdtrit

        return (
            self.error * float(stdtrit(self.freedom, (1 + level) / 2)) if self.freedom > 0 else np.full_like(self.value, np.nan)
        )


def mean_of(groups: Sequence[CoMoments], *, controlled: bool) -> Estimate:
    """The mean of all samples; one group of independent ones, or some groups that are independent of each other."""
    all_of, freedom = (groups[0], groups[0].count - 1) if len(groups) == 1 else (_of_means(groups), len(groups) - 1)
    n, S_yy = all_of.count, all_of.yy
    if not controlled:
        return Estimate(all_of.mean, _error(S_yy / n, freedom), freedom)
    varies = all_of.xx > 0
    S_xx = np.where(varies, all_of.xx, 1.0)
    β = np.where(varies, all_of.xy / S_xx, 0.0)
    left = np.maximum(S_yy - β * all_of.xy, 0.0)
    return Estimate(all_of.mean - β * all_of.control, _error(left * (1 / n + all_of.control**2 / S_xx), freedom - 1), freedom - 1)


def variance_of(summary: Summary, groups: Sequence[CoMoments]) -> Estimate:
    """The variance of samples: its error by their fourth moment, or by how far replicates differ."""
    n, v = summary.count, summary.variance
    if len(groups) == 1:
        spread = np.maximum(summary.m4 / n - (summary.m2 / n) ** 2, 0.0)
        return Estimate(v, np.sqrt(spread / n) if n > 1 else np.full_like(v, np.nan), n - 1)
    each, weights = np.array([g.yy / g.count for g in groups]), np.array([g.count for g in groups])[:, None]
    apart = (weights * (each - (weights * each).sum(axis=0) / n) ** 2).sum(axis=0)
    return Estimate(v, _error(apart / n, len(groups) - 1), len(groups) - 1)


def _of_means(groups: Sequence[CoMoments]) -> CoMoments:
    """Co-moments of the means of groups, each with the weight of its samples."""
    first, *others = (CoMoments(g.count, g.mean, g.control, *np.zeros((3, g.mean.size))) for g in groups)
    for other in others:
        first = first.merged(other)
    return first


def _error(squares: np.ndarray, freedom: int) -> np.ndarray:
    return np.sqrt(squares / freedom) if freedom > 0 else np.full_like(squares, np.nan)
