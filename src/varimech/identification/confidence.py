"""Covariance of fitted parameters:  cov = s² (JᵀJ)⁻¹  with residuals and J weighted by 1/σ.

s² = 1 if σ is given, unless χ² contradicts it; otherwise the variance of the residuals, χ²/ν.
Directions in which JᵀJ is singular are undetermined; parameters with a share in them get no
interval.

A parameter at a bound b has the one-sided interval of the likelihood ratio on the allowed side.
With x̂ the minimum of the linearised problem without bounds, it ends where  (x − x̂)² = (b − x̂)² +
(z s.e.)²; this is b ± z s.e. where x̂ = b.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.coordinate_scales import TINY

UNDETERMINED = 1e-7
"""Singular value of J with normalised columns, relative to the largest, below which the data do not
determine a direction.
"""
NOTHING = 1e-11
"""Effect of a parameter, relative to the data, that counts as rounding."""
CONTRADICTION = 1e-3
"""Probability of a larger χ² below which σ or the model is rejected; the usual 0.1 %."""
AT_BOUND = 1e-6
"""Distance from a bound, relative to the size of a parameter, that counts as at the bound: least
squares stay inside by about 1e-9.
"""
SHARE = 0.05
"""Smallest component of a parameter in an undetermined direction for it to be named."""


@dataclass(frozen=True, eq=False)
class Confidence:
    """Covariances, and the parameters that the data do not determine."""

    covariance: np.ndarray
    """NaN for undetermined parameters."""
    prediction: np.ndarray
    """Covariance within the determined directions, for bands of curves."""
    undetermined: tuple[tuple[int, ...], ...]
    """Groups of parameters of which the data determine only a combination, or nothing."""
    dof: int
    """Statistical degrees of freedom: samples minus determined directions."""
    variance: float
    """s², the factor of (JᵀJ)⁻¹."""
    estimated: bool
    """Whether s² is estimated from the residuals: σ is not given, or χ² contradicts it."""
    basis: np.ndarray
    """(sample, direction): orthonormal basis of the sample changes that parameters can cause."""
    newton: np.ndarray
    """x̂ − x, the step to the unbounded minimum."""


def confidence(
    J: np.ndarray, residuals: np.ndarray, sizes: np.ndarray, reach: float, *, sigma_given: bool
) -> Confidence:
    """Confidence from weighted derivatives and residuals.

    Args:
        J: weighted derivatives, (sample, parameter).
        residuals: weighted residuals.
        sizes: sizes of the parameters.
        reach: norm of the weighted data.
        sigma_given: whether σ is given.
    """
    lengths = np.linalg.norm(J, axis=0)
    without_effect = lengths * sizes <= NOTHING * max(
        reach, float((lengths * sizes).max(initial=0.0))
    )
    scale = np.where(without_effect, 0.0, 1 / np.where(lengths > 0, lengths, 1.0))
    U, s, V = np.linalg.svd(J * scale, full_matrices=False)
    determined = s > UNDETERMINED * max(float(s.max(initial=0.0)), TINY)
    groups: list[tuple[int, ...]] = [(int(k),) for k in np.flatnonzero(without_effect)]
    for v in [*V[~determined], *_missing(V)]:
        members = tuple(int(k) for k in np.flatnonzero((np.abs(v) > SHARE) & ~without_effect))
        if members and members not in groups:
            groups.append(members)
    dof = int(residuals.size - determined.sum())
    estimated = not sigma_given or impossible(float(residuals @ residuals), dof)
    variance = (float(residuals @ residuals) / dof if dof > 0 else np.nan) if estimated else 1.0
    W = V[determined] / s[determined][:, None]
    prediction = variance * (W.T @ W) * np.outer(scale, scale)
    covariance = prediction.copy()
    for k in {k for group in groups for k in group}:
        covariance[k, :] = covariance[:, k] = np.nan
    newton = -scale * (W.T @ (U[:, determined].T @ residuals))
    return Confidence(
        covariance,
        prediction,
        tuple(groups),
        dof,
        variance,
        estimated,
        U[:, determined],
        newton,
    )


def impossible(chi2: float, ν: int) -> bool:
    """Whether a sum of squares is too large for the given σ."""
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
    """Ends of the confidence intervals; one-sided for a parameter at a bound."""
    half = factor * np.sqrt(np.diag(linear.covariance))
    beyond = np.maximum(sides * linear.newton, 0.0)  # distance of x̂ beyond the bound
    # √(half² + beyond²) − beyond, without cancellation
    reach = half**2 / (np.sqrt(half**2 + beyond**2) + beyond)
    low, high = np.where(sides == 0, x - half, x - reach), np.where(sides == 0, x + half, x + reach)
    determined = ~np.isnan(half)
    return np.where((sides < 0) & determined, lower, low), np.where(
        (sides > 0) & determined, upper, high
    )


def _missing(V: np.ndarray) -> np.ndarray:
    """Undetermined directions if there are fewer samples than parameters."""
    return np.linalg.svd(V)[2][V.shape[0] :]
