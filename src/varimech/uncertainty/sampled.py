"""Probabilities from samples, with confidence intervals; plain sampling.

For n samples of the distributions, k of them in the event, the interval is that of C. J. Clopper
and E. S. Pearson (Biometrika 26 (1934)), by quantiles of beta distributions; it contains the true
value with at least the requested probability:

    lower = B⁻¹(α/2; k, n − k + 1),      upper = B⁻¹(1 − α/2; k + 1, n − k).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Sampled:
    """A probability from samples, with its confidence interval."""

    probability: float
    lower: float
    upper: float
    samples: int
    hits: int
    """Number of samples in the event; for importance sampling, in the rarer one of the event and
    its complement.
    """
    failed: int = 0
    """Number of samples whose run failed; the lower bound counts all of them outside the event, the
    upper bound inside.
    """
    variation: float = math.nan
    """Coefficient of variation of the estimate: its standard error divided by its value."""

    @property
    def contrary(self) -> Sampled:
        """Probability of the complementary event."""
        p, q = self.probability, 1 - self.probability
        return replace(
            self,
            probability=q,
            lower=1 - self.upper,
            upper=1 - self.lower,
            variation=self.variation * p / q if q > 0 else math.inf,
        )


def plain_estimate(occurs: np.ndarray, level: float) -> Sampled:
    """Estimate the probability of an event from samples of the distributions of the parameters.

    Args:
        occurs: 1 where the event occurs, 0 where it does not, NaN if unknown, (n,).
        level: probability with which the interval contains the true value.
    """
    n, hits, failed = len(occurs), int((occurs == 1).sum()), int(np.isnan(occurs).sum())
    p = hits / n
    return Sampled(
        p,
        clopper_pearson(hits, n, level)[0],
        clopper_pearson(hits + failed, n, level)[1],
        n,
        hits,
        failed,
        math.sqrt((1 - p) / hits) if hits else math.inf,
    )


def clopper_pearson(hits: int, n: int, level: float) -> tuple[float, float]:
    """Bounds of the probability of an event with `hits` among n samples."""
    from scipy.special import betaincinv

    α = 1 - level
    lower = float(betaincinv(hits, n - hits + 1, α / 2)) if hits else 0.0
    upper = float(betaincinv(hits + 1, n - hits, 1 - α / 2)) if hits < n else 1.0
    return lower, upper
