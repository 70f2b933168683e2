"""Importance sampling: the probability of a rare event from samples around its design points.

Samples u come from a mixture q of normal densities: around each design point; about the origin with
the density of the parameters (φ), so that no weight exceeds the inverse of that share; and about
the origin with the distance of the nearest design point as width, for limits that bend around it
and for undetected design points. Each sample of the event counts φ(u)/q(u)/n. (Multiple importance
sampling with the balance heuristic: E. Veach and L. J. Guibas, SIGGRAPH 1995; shares as in T.
Hesterberg, Technometrics 37 (1995).)

The interval is that of a weighted sum of Poisson counts (M. P. Fay and E. J. Feuer, Stat. Med. 16
(1997)). With y the sum of the weights of the event, v that of their squares, w the largest of them
and G⁻¹(p; a) the quantile of a gamma distribution of shape a:

    lower = v/y G⁻¹(α/2; y²/v),
    upper = v'/y' G⁻¹(1 − α/2; y'²/v'),      y' = y + w,  v' = v + w².

It is never empty: where no sample belongs to the event, the lower bound is 0, w the largest weight
there can be, and of n plain samples the upper bound is 3.7/n at 95 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

BLOCK = 4096
"""Samples that run together, which limits memory; a round value."""
PLAIN, WIDE = 0.1, 0.1
"""Shares of the samples about the origin (defensive mixture); those around design points have the
rest.
"""


@dataclass(frozen=True)
class Sampled:
    """A probability from samples, with its confidence interval."""

    probability: float
    lower: float
    upper: float
    samples: int
    hits: int
    """Samples in the event (the rarer one of it and its complement)."""
    failed: int = 0
    """Samples whose run failed; the lower bound counts all of them outside the event, the upper one
    inside.
    """

    @property
    def contrary(self) -> Sampled:
        """Probability of the complementary event."""
        return Sampled(
            1 - self.probability,
            1 - self.upper,
            1 - self.lower,
            self.samples,
            self.hits,
            self.failed,
        )


def importance_sampling(
    beyond: Callable[[np.ndarray], np.ndarray],
    centres: np.ndarray,
    likelihoods: np.ndarray,
    samples: int,
    level: float,
    rng: np.random.Generator,
) -> Sampled:
    """Probability of an event with its interval.

    Args:
        beyond: function of points in the standard space, (n, d); not negative where the event
            occurs, NaN if unknown.
        centres: design points, (k, d), at least one.
        likelihoods: their probabilities, by which samples are distributed.
        samples: n.
        level: probability with which the interval contains the true value.
        rng: random numbers.
    """
    k, d = centres.shape
    means = np.concatenate([np.zeros((2, d)), centres])
    scales = np.ones(k + 2)
    scales[1] = max(1.0, float(np.linalg.norm(centres, axis=1).min()) / math.sqrt(d))
    shares = np.concatenate(
        [[PLAIN, WIDE], (1 - PLAIN - WIDE) * (0.5 / k + 0.5 * likelihoods / likelihoods.sum())]
    )
    counts = _shared_out(shares, samples)
    which = np.repeat(np.arange(k + 2), counts)
    u = means[which] + scales[which, None] * rng.standard_normal((samples, d))
    outcome = np.concatenate([beyond(u[at : at + BLOCK]) for at in range(0, samples, BLOCK)])
    with np.errstate(invalid="ignore"):
        event = outcome >= 0
    failed = np.isnan(outcome)
    weights = _weights(u, means, scales, counts)
    largest = 1.0 / max(counts[0], 1)
    lower, _ = gamma_interval(weights[event], largest, level)
    _, upper = gamma_interval(weights[event | failed], largest, level)
    p = float(weights[event].sum())
    return Sampled(
        min(p, 1.0), min(lower, 1.0), min(upper, 1.0), samples, int(event.sum()), int(failed.sum())
    )


def gamma_interval(weights: np.ndarray, largest: float, level: float) -> tuple[float, float]:
    """Bounds of the sum of weights; `largest` is the largest possible weight, which counts if there
    is none.
    """
    from scipy.special import gammaincinv

    α = 1 - level
    y, v = float(weights.sum()), float(weights @ weights)
    w = float(weights.max()) if weights.size else largest
    lower = v / y * gammaincinv(y**2 / v, α / 2) if v > 0 else 0.0
    y, v = y + w, v + w**2
    return float(lower), float(v / y * gammaincinv(y**2 / v, 1 - α / 2)) if v > 0 else w


def _shared_out(shares: np.ndarray, samples: int) -> np.ndarray:
    """Whole numbers that add up to the samples."""
    ends = np.round(np.cumsum(shares) / shares.sum() * samples).astype(int)
    return np.diff(ends, prepend=0)


def _weights(
    u: np.ndarray, means: np.ndarray, scales: np.ndarray, counts: np.ndarray
) -> np.ndarray:
    """φ(u) over the sum of the sampling densities, each times its number of samples."""
    from scipy.special import logsumexp

    used = np.flatnonzero(counts)
    squares = ((u[:, None] - means[used]) ** 2).sum(axis=-1) / scales[used] ** 2
    drawn = logsumexp(-squares / 2 - u.shape[1] * np.log(scales[used]), axis=1, b=counts[used])
    return np.asarray(np.exp(-(u**2).sum(axis=1) / 2 - drawn))
