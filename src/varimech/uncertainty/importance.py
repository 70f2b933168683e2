"""Importance sampling: the probability of a rare event from samples around its design points.

Samples u are drawn from a mixture q of normal densities: around each design point; about the origin
with the density of the parameters (φ), so that no weight exceeds the inverse of its share; and
about the origin with the distance of the nearest design point as width, for limits that bend around
it and for undetected design points. Each sample of the event contributes φ(u)/q(u)/n. (Multiple
importance sampling with the balance heuristic: E. Veach and L. J. Guibas, SIGGRAPH 1995; shares as
in T. Hesterberg, Technometrics 37 (1995).)

The interval is that of a weighted sum of Poisson counts (M. P. Fay and E. J. Feuer, Stat. Med. 16
(1997)). With y the sum of the weights of the event, v that of their squares, w the largest of them
and G⁻¹(p; a) the quantile of a gamma distribution of shape a:

    lower = v/y G⁻¹(α/2; y²/v),
    upper = v'/y' G⁻¹(1 − α/2; y'²/v'),      y' = y + w,  v' = v + w².

It is never empty: if no sample belongs to the event, the lower bound is 0 and w is the largest
possible weight; for n plain samples, the upper bound is then 3.7/n at 95 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .sampled import Sampled

PLAIN, WIDE = 0.1, 0.1
"""Shares of the samples about the origin (defensive mixture); the other samples are around design
points.
"""


@dataclass(frozen=True, eq=False)
class WeightedSamples:
    """Samples of the standard space with their weights φ(u)/q(u)/n."""

    u: np.ndarray
    """Points, (n, d)."""
    weights: np.ndarray
    """Weights, (n,)."""
    largest: float
    """Largest possible weight."""

    def estimate(self, occurs: np.ndarray, level: float) -> Sampled:
        """Estimate the probability of an event, with its interval.

        Args:
            occurs: 1 where the event occurs, 0 where it does not, NaN if unknown, (n,).
            level: probability with which the interval contains the true value.
        """
        event, failed = occurs == 1, np.isnan(occurs)
        lower, _ = gamma_interval(self.weights[event], self.largest, level)
        _, upper = gamma_interval(self.weights[event | failed], self.largest, level)
        n, hits = len(occurs), self.weights[event]
        p = float(hits.sum())
        deviation = math.sqrt(max(float(hits @ hits) - p**2 / n, 0.0))
        return Sampled(
            min(p, 1.0),
            min(lower, 1.0),
            min(upper, 1.0),
            n,
            int(event.sum()),
            int(failed.sum()),
            deviation / p if p > 0 else math.inf,
        )


def importance_samples(
    centres: np.ndarray, likelihoods: np.ndarray, samples: int, rng: np.random.Generator
) -> WeightedSamples:
    """Draw samples around design points and the origin.

    Args:
        centres: design points, (k, d), at least one.
        likelihoods: probabilities of the design points; samples are distributed in proportion.
        samples: number of samples n.
        rng: random number generator.
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
    return WeightedSamples(u, _weights(u, means, scales, counts), 1.0 / max(counts[0], 1))


def gamma_interval(weights: np.ndarray, largest: float, level: float) -> tuple[float, float]:
    """Bounds of the sum of weights; `largest` is the largest possible weight, which is used if
    there are no weights.
    """
    from scipy.special import gammaincinv

    α = 1 - level
    y, v = float(weights.sum()), float(weights @ weights)
    w = float(weights.max()) if weights.size else largest
    lower = v / y * gammaincinv(y**2 / v, α / 2) if v > 0 else 0.0
    y, v = y + w, v + w**2
    return float(lower), float(v / y * gammaincinv(y**2 / v, 1 - α / 2)) if v > 0 else w


def _shared_out(shares: np.ndarray, samples: int) -> np.ndarray:
    """Distribute the samples by shares; the whole numbers add up to `samples`."""
    ends = np.round(np.cumsum(shares) / shares.sum() * samples).astype(int)
    return np.diff(ends, prepend=0)


def _weights(
    u: np.ndarray, means: np.ndarray, scales: np.ndarray, counts: np.ndarray
) -> np.ndarray:
    """φ(u) divided by the sum of the sampling densities, each times its number of samples."""
    from scipy.special import logsumexp

    used = np.flatnonzero(counts)
    squares = ((u[:, None] - means[used]) ** 2).sum(axis=-1) / scales[used] ** 2
    drawn = logsumexp(-squares / 2 - u.shape[1] * np.log(scales[used]), axis=1, b=counts[used])
    return np.asarray(np.exp(-(u**2).sum(axis=1) / 2 - drawn))
