"""Means and variances with their errors.

The error of the mean of independent samples is  s/√n. Samples of a Latin hypercube or a Sobol
sequence are not independent; the means ȳ_r of R independent replicates, of n_r samples each,
replace the samples then, with weights n_r. (For a single replicate, s/√n is usually an upper
bound.)

With a control x, whose mean is known to be 0, the mean of y is the value of the regression line
over all samples at x = 0,

    ȳ − β x̄,      β = S_xy / S_xx,
    error² = s² (1/n + x̄²/S_xx),      s² = (S_yy − β S_xy) / (n − 2),

with S the sums of products of deviations from the means; for replicates  error² = Σ n_r (r_r − r̄)² /
(n (R − 1)),  r_r = ȳ_r − β x̄_r. A β from the R means alone would make these residuals smaller than
they are. S. Asmussen and P. W. Glynn, Stochastic Simulation (2007), ch. V.2.

Means of replicates are few, and skewed if the objective is curved, because the outermost samples of
each replicate dominate. With γ their skewness and κ their excess kurtosis, Student's quantile z is
too small by

    z [γ² (z⁴ + 2z² − 3)/18 − κ (z² − 3)/12] / R

to first order in 1/R, which is added where it is positive. P. Hall, The Bootstrap and Edgeworth
Expansion (1992), sec. 2.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..core.errors import ModelError, check_numbers
from .statistics import CoMoments, Summary

if TYPE_CHECKING:
    import xarray as xr

FEWEST = 8
"""Minimum number of replicates for an estimate of their skewness; for fewer it is dominated by
chance.
"""
LEVEL = 0.95
"""Default probability with which a confidence interval contains the true value."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """An estimate for each column, and its accuracy."""

    value: np.ndarray
    error: np.ndarray
    """Standard error; NaN if there are too few samples."""
    dof: int
    """Degrees of freedom of Student's distribution for the error."""
    shape: tuple[np.ndarray, np.ndarray] | None = None
    """Skewness and excess kurtosis of the means of replicates; None without replicates."""

    def half_width(self, level: float) -> np.ndarray:
        """Half-width of the interval that contains the true value with probability `level`."""
        from scipy.special import ndtri, stdtrit

        if self.dof <= 0:
            return np.full_like(self.value, np.nan)
        quantile = stdtrit(self.dof, (1 + level) / 2)
        if self.shape is not None:
            z, (skewness, kurtosis) = float(ndtri((1 + level) / 2)), self.shape
            correction = skewness**2 * (z**4 + 2 * z**2 - 3) / 18 - kurtosis * (z**2 - 3) / 12
            quantile = quantile + np.maximum(correction, 0.0) * z / (self.dof + 1)
        return np.asarray(self.error * quantile)


def mean_of(groups: Sequence[CoMoments], *, controlled: bool) -> Estimate:
    """Estimate the mean of all samples: one group of independent samples, or several independent
    groups.
    """
    total, several = reduce(CoMoments.merged, groups), len(groups) > 1
    means, dof = (_of_means(groups), len(groups) - 1) if several else (total, total.count - 1)
    n, varies = total.count, total.xx > 0
    if not controlled:
        return Estimate(
            total.mean, _error(means.yy / n, dof), dof, _shape([g.mean for g in groups])
        )
    S_xx = np.where(varies, total.xx, 1.0)
    β = np.where(varies, total.xy / S_xx, 0.0)
    residual = np.maximum(means.yy - 2 * β * means.xy + β**2 * means.xx, 0.0)
    if not several:
        residual, dof = residual * (1 + n * total.control**2 / S_xx), dof - 1
    residuals = [g.mean - β * g.control for g in groups]
    return Estimate(
        total.mean - β * total.control, _error(residual / n, dof), dof, _shape(residuals)
    )


def variance_of(summary: Summary, groups: Sequence[CoMoments]) -> Estimate:
    """Estimate the variance of the samples, with its error from their fourth moment or from the
    differences of replicates.
    """
    n, v = summary.count, summary.variance
    if len(groups) == 1:
        kurtosis_term = np.maximum(summary.m4 / n - (summary.m2 / n) ** 2, 0.0)
        return Estimate(v, np.sqrt(kurtosis_term / n) if n > 1 else np.full_like(v, np.nan), n - 1)
    each, weights = (
        np.array([g.yy / g.count for g in groups]),
        np.array([g.count for g in groups])[:, None],
    )
    differences = (weights * (each - (weights * each).sum(axis=0) / n) ** 2).sum(axis=0)
    return Estimate(v, _error(differences / n, len(groups) - 1), len(groups) - 1)


class HasBands(Protocol):
    """A result with means and standard deviations over time."""

    @property
    def mean(self) -> xr.DataArray: ...  # noqa: D102
    @property
    def std(self) -> xr.DataArray: ...  # noqa: D102


def bands_about(self: HasBands, sigmas: float = 3.0) -> xr.Dataset:
    """Mean ± a number of standard deviations.

    Args:
        sigmas: number of standard deviations.

    Returns:
        `lower` and `upper`, (time, objective).
    """
    import xarray as xr

    check_numbers("bands", sigmas=sigmas)
    if not sigmas > 0:
        raise ModelError("must be positive", element="bands", field="sigmas", value=sigmas)
    off = sigmas * self.std
    return xr.Dataset({"lower": self.mean - off, "upper": self.mean + off})


def _of_means(groups: Sequence[CoMoments]) -> CoMoments:
    """Co-moments of the means of groups, each weighted by its number of samples."""
    first, *others = (
        CoMoments(g.count, g.mean, g.control, *np.zeros((3, g.mean.size))) for g in groups
    )
    for other in others:
        first = first.merged(other)
    return first


def _shape(means: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray] | None:
    """Skewness and excess kurtosis of the means of replicates, equally weighted; None if there are
    too few replicates.
    """
    if len(means) < FEWEST:
        return None
    d = np.array(means) - np.mean(means, axis=0)
    m2 = (d**2).mean(axis=0)
    scale = np.where(m2 > 0, m2, 1.0)
    return (d**3).mean(axis=0) / scale**1.5, (d**4).mean(axis=0) / scale**2 - 3.0


def _error(squares: np.ndarray, dof: int) -> np.ndarray:
    return np.sqrt(squares / dof) if dof > 0 else np.full_like(squares, np.nan)
