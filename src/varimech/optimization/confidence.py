"""What a fit knows of its parameters:  cov = s² (JᵀJ)⁻¹  with residuals and J weighted by 1/σ.

s² = 1 where σ is given, unless χ² is impossible then; otherwise the variance of the residuals,
χ²/ν. Directions in which JᵀJ is singular are not known at all; parameters with a share in them get
no interval.

A parameter at a bound b has the one-sided interval of the likelihood ratio on the allowed side.
With x̂ the minimum of the linearised problem without bounds, it ends where  (x − x̂)² = (b − x̂)² +
(z s.e.)²; this is b ± z s.e. where x̂ = b.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

UNTOLD = 1e-7
"""Singular value of J with columns of length one, relative to the largest, below which a direction
cannot be told from the data.
"""
NOTHING = 1e-11
"""Effect of a parameter, relative to the data, that is rounding."""
CONTRADICTION = 1e-3
"""Probability of a χ² as large below which σ and the model cannot both be right."""
AT_BOUND = 1e-6
"""Distance from a bound, over the size of a parameter, at which it is at that bound: least squares
stay inside by about 1e-9.
"""
SHARE = 0.05
"""Share in such a direction from which on a parameter is named."""


@dataclass(frozen=True, eq=False)
class Confidence:
    """Covariances and what cannot be told."""

    covariance: np.ndarray
    """NaN for parameters that cannot be told."""
    prediction: np.ndarray
    """The same within the directions that can be told, for bands of curves."""
    untold: tuple[tuple[int, ...], ...]
    """Groups of parameters of which the data tell only a combination, or nothing."""
    freedom: int
    """Degrees of freedom left: samples less directions that were found."""
    variance: float
    """s², by which (JᵀJ)⁻¹ is multiplied."""
    estimated: bool
    """Whether it is that of the residuals: σ is not given, or χ² contradicts it."""
    basis: np.ndarray
    """(sample, direction): orthonormal changes of the samples that parameters can make."""
    newton: np.ndarray
    """x̂ − x, the step to the minimum without bounds."""


def confidence(
    J: np.ndarray, residuals: np.ndarray, sizes: np.ndarray, reach: float, *, known: bool
) -> Confidence:
    """From weighted derivatives and residuals; `reach` is the size of the weighted data, `known`
    says that σ was given.
    """
    lengths = np.linalg.norm(J, axis=0)
    silent = lengths * sizes <= NOTHING * max(reach, float((lengths * sizes).max(initial=0.0)))
    scale = np.where(silent, 0.0, 1 / np.where(lengths > 0, lengths, 1.0))
    U, s, V = np.linalg.svd(J * scale, full_matrices=False)
    told = s > UNTOLD * max(float(s.max(initial=0.0)), 1e-300)
    groups: list[tuple[int, ...]] = [(int(k),) for k in np.flatnonzero(silent)]
    for v in [*V[~told], *_missing(V)]:
        members = tuple(int(k) for k in np.flatnonzero((np.abs(v) > SHARE) & ~silent))
        if members and members not in groups:
            groups.append(members)
    freedom = int(residuals.size - told.sum())
    estimated = not known or impossible(float(residuals @ residuals), freedom)
    variance = (
        (float(residuals @ residuals) / freedom if freedom > 0 else np.nan) if estimated else 1.0
    )
    W = V[told] / s[told][:, None]
    prediction = variance * (W.T @ W) * np.outer(scale, scale)
    covariance = prediction.copy()
    for k in {k for group in groups for k in group}:
        covariance[k, :] = covariance[:, k] = np.nan
    newton = -scale * (W.T @ (U[:, told].T @ residuals))
    return Confidence(
        covariance, prediction, tuple(groups), freedom, variance, estimated, U[:, told], newton
    )


def impossible(chi2: float, ν: int) -> bool:
    """Whether so large a sum of squares contradicts the given σ."""
    from scipy.stats import chi2 as distribution

    return bool(ν > 0 and distribution.sf(chi2, ν) < CONTRADICTION)


def at_bounds(x: np.ndarray, lower: np.ndarray, upper: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """−1 at a lower bound, 1 at an upper one, 0 elsewhere."""
    return np.where(
        x - lower <= AT_BOUND * sizes, -1, np.where(upper - x <= AT_BOUND * sizes, 1, 0)
    )


def intervals(
    x: np.ndarray,
    linear: Confidence,
    factor: float,
    sides: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the confidence intervals; on the allowed side only where a parameter is
    at a bound.
    """
    half = factor * np.sqrt(np.diag(linear.covariance))
    beyond = np.maximum(sides * linear.newton, 0.0)  # how far x̂ lies beyond the bound
    reach = half**2 / (
        np.sqrt(half**2 + beyond**2) + beyond
    )  # = √(half² + beyond²) − beyond, without cancellation
    low, high = np.where(sides == 0, x - half, x - reach), np.where(sides == 0, x + half, x + reach)
    known = ~np.isnan(half)
    return np.where((sides < 0) & known, lower, low), np.where((sides > 0) & known, upper, high)


def _missing(V: np.ndarray) -> np.ndarray:
    """Directions that fewer samples than parameters leave open."""
    return np.linalg.svd(V)[2][V.shape[0] :]
