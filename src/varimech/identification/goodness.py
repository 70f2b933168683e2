"""Goodness of fit: χ² with its probability, outliers, and residuals that are not random.

χ² = Σ ((model − data)/σ)²,  p = P(χ²_ν ≥ χ²)      if σ is given
tᵢ = rᵢ / (s √(1 − hᵢ)),  hᵢ the leverage            standardised residuals, s without outliers
Σ (rᵢ₊₁ − rᵢ)² / Σ rᵢ²  →  2 for random residuals    von Neumann's ratio (Ann. Math. Stat. 12, 1941)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .confidence import CONTRADICTION, Confidence

OUTLIER = 0.01
"""Probability of marking any sample of a good fit as an outlier, divided among the samples
(Bonferroni).
"""
MOST_OUTLIERS = 0.2
"""Fraction of the samples above which they are not outliers: σ or the model is wrong."""
MOST_TESTED = 50
"""Largest number of samples that are tested: each takes a linear fit."""
FOLLOWED = 1e-6
"""Standard deviation of a residual, relative to the noise, below which the fit interpolates the
sample, so that the residual contains no information.
"""
FEWEST = 10
"""Fewest samples for a test of the order of residuals."""


@dataclass(frozen=True)
class Goodness:
    """Test of a fit against its data."""

    degrees_of_freedom: int
    """Samples minus determined parameters."""
    chi2: float | None
    """Σ (residual/σ)²; None if σ is not given."""
    p_value: float | None
    """Probability of a larger χ² for the right model and σ; None if σ is not given."""
    deviation: float
    """√(Σ (residual/σ)²/ν): 1 for the right model and σ; the estimate of σ if it is not given."""

    @property
    def reduced_chi2(self) -> float | None:
        """χ² over the degrees of freedom."""
        return None if self.chi2 is None else self.chi2 / self.degrees_of_freedom

    @property
    def too_large(self) -> bool:
        """Whether χ² is impossibly large: the model, σ or some samples are wrong."""
        return self.p_value is not None and self.p_value < CONTRADICTION

    @property
    def too_small(self) -> bool:
        """Whether χ² is impossibly small: σ is too large."""
        return self.p_value is not None and self.p_value > 1 - CONTRADICTION


def goodness(residuals: np.ndarray, linear: Confidence, *, sigma_given: bool) -> Goodness:
    """Goodness of fit from weighted residuals; `sigma_given`: whether σ is given."""
    from scipy.stats import chi2 as distribution

    total, ν = float(residuals @ residuals), linear.dof
    deviation = float(np.sqrt(total / ν)) if ν > 0 else np.nan
    if not sigma_given or ν <= 0:
        return Goodness(ν, None, None, deviation)
    return Goodness(ν, total, float(distribution.sf(total, ν)), deviation)


def standardised(
    residuals: np.ndarray, linear: Confidence, *, sigma_given: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Standardised residuals of a (linearised) fit without the outliers, and which samples are
    outliers.

    Rosner's test: the worst sample is removed repeatedly; all up to the last significant one are
    outliers, so that they do not mask each other.
    """
    from scipy.stats import t

    count, kept = residuals.size, np.ones(residuals.size, dtype=bool)
    most = min(max(1, int(MOST_OUTLIERS * count)), MOST_TESTED, linear.dof - 2)
    removed: list[int] = []
    significant = 0
    for _ in range(max(most, 0)):
        r, _ = _without(residuals, linear.basis, kept, sigma_given=sigma_given)
        k = int(np.where(kept, np.abs(r), 0.0).argmax())
        kept[k] = False
        removed.append(k)
        # residual of the removed sample from a fit without it
        deleted, ν = _without(residuals, linear.basis, kept, sigma_given=sigma_given)
        if np.abs(deleted[k]) > t.isf(OUTLIER / (2 * (kept.sum() + 1)), ν):
            significant = len(removed)
    out = np.zeros(count, dtype=bool)
    if significant < max(2, int(MOST_OUTLIERS * count)):
        out[removed[:significant]] = True
    return _without(residuals, linear.basis, ~out, sigma_given=sigma_given)[0], out


def _without(
    residuals: np.ndarray, basis: np.ndarray, kept: np.ndarray, *, sigma_given: bool
) -> tuple[np.ndarray, int]:
    """Standardised residuals of the linear least-squares fit to the kept samples, and its degrees
    of freedom.
    """
    inverse = np.linalg.pinv(basis[kept].T @ basis[kept])
    r = residuals - basis @ (inverse @ (basis[kept].T @ residuals[kept]))
    leverage, ν = ((basis @ inverse) * basis).sum(axis=1), int(kept.sum() - basis.shape[1])
    if ν <= 0:
        return np.full(r.size, np.nan), ν
    s = np.sqrt(max(float(r[kept] @ r[kept]) / ν, 1.0 if sigma_given else 0.0))
    factor = np.sqrt(np.where(kept, np.maximum(1.0 - leverage, 0.0), 1.0 + leverage))
    return np.divide(r, s * factor, out=np.zeros(r.size), where=s * factor > FOLLOWED * s), ν


def serial_correlation(residuals: np.ndarray) -> float | None:
    """Lag-one correlation of residuals over time if it is significant; otherwise None."""
    from scipy.stats import norm

    n, total = residuals.size, float(residuals @ residuals)
    if n < FEWEST or total == 0:
        return None
    ratio = float(np.sum(np.diff(residuals) ** 2)) / total
    z = (2.0 - ratio) / np.sqrt(4.0 * (n - 2) / (n**2 - 1))
    return float(residuals[1:] @ residuals[:-1]) / total if norm.sf(z) < CONTRADICTION else None
