"""What a fit knows of its parameters:  cov = s² (JᵀJ)⁻¹  with residuals and J weighted by 1/σ.

Directions in which JᵀJ is singular are not known at all; parameters with a share in them get no interval.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

UNTOLD = 1e-7
"""Singular value of J with columns of length one, relative to the largest, below which a direction cannot be told from the data."""
NOTHING = 1e-11
"""Effect of a parameter, relative to the data, that is rounding."""
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


def confidence(J: np.ndarray, residuals: np.ndarray, sizes: np.ndarray, reach: float, *, known: bool) -> Confidence:
    """From weighted derivatives and residuals; `reach` is the size of the weighted data, `known` says that σ was given."""
    lengths = np.linalg.norm(J, axis=0)
    silent = lengths * sizes <= NOTHING * max(reach, float((lengths * sizes).max(initial=0.0)))
    scale = np.where(silent, 0.0, 1 / np.where(lengths > 0, lengths, 1.0))
    _, s, V = np.linalg.svd(J * scale, full_matrices=False)
    told = s > UNTOLD * max(float(s.max(initial=0.0)), 1e-300)
    groups: list[tuple[int, ...]] = [(int(k),) for k in np.flatnonzero(silent)]
    for v in [*V[~told], *_missing(V)]:
        members = tuple(int(k) for k in np.flatnonzero((np.abs(v) > SHARE) & ~silent))
        if members and members not in groups:
            groups.append(members)
    freedom = int(residuals.size - told.sum())
    variance = 1.0 if known else (float(residuals @ residuals) / freedom if freedom > 0 else np.nan)
    W = V[told] / s[told][:, None]
    prediction = variance * (W.T @ W) * np.outer(scale, scale)
    covariance = prediction.copy()
    for k in {k for group in groups for k in group}:
        covariance[k, :] = covariance[:, k] = np.nan
    return Confidence(covariance, prediction, tuple(groups), freedom)


def _missing(V: np.ndarray) -> np.ndarray:
    """Directions that fewer samples than parameters leave open."""
    return np.linalg.svd(V)[2][V.shape[0] :]
