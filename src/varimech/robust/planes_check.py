"""Check of tangent planes by samples around their design points.

With h = 1 in the safe domain and h' = 1 within all planes, the error of the probability of the
polyhedron is

    E[h − h'] = Σ w_n (h_n − h'_n),      w_n = φ(u_n)/q(u_n)/N,

of importance samples u_n (`uncertainty/importance.py`). Only samples between the limit and its
planes contribute, so that a small error is resolved by few samples, and a limit that is a plane
leaves none. Positive and negative contributions are weighted sums of Poisson counts with separate
intervals.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..uncertainty.importance import WeightedSamples, gamma_interval, importance_samples
from ..uncertainty.sampling import stream
from .design_point_search import FormPoint

SAMPLES = 512
"""Samples around design points, for which values of runs suffice: if a tenth of the probability
lies between a limit and its plane, it is resolved to about a thirtieth of the probability, and an
error that no sample reveals is some per cent of it. They take about as long as the plain samples
and the rays together.
"""
LEVEL = 0.68
"""Level of the intervals: the stated error is the estimate plus about one standard error."""


def samples_around(points: Sequence[FormPoint], seed: int) -> WeightedSamples:
    """Draw samples around design points and the origin."""
    from scipy.special import ndtr

    centres = np.array([p.at.u for p in points])
    likelihoods = ndtr(-np.abs([p.beta for p in points])) + np.finfo(float).tiny
    return importance_samples(centres, likelihoods, SAMPLES, stream(seed, 2))


def within(y: np.ndarray, limit: float) -> np.ndarray:
    """1 where values are at most a limit, 0 where they exceed it, NaN where a run failed."""
    return np.where(np.isnan(y), np.nan, y <= limit)


def missed(weights: np.ndarray, holds: np.ndarray, held: np.ndarray) -> tuple[float, float]:
    """Interval of the probability between limits and planes; (0, 0) if no sample contradicts the
    planes.

    Args:
        weights: weights of the samples.
        holds: 1 where a sample is safe, 0 where it fails, NaN where it is unknown.
        held: whether each sample is safe according to the planes.
    """
    unknown = np.isnan(holds)
    more, less = (holds == 1) & ~held, (holds == 0) & held
    low, high = (_interval(weights[each]) for each in (more, less))
    _, most = _interval(weights[more | (unknown & ~held)])
    _, least = _interval(weights[less | (unknown & held)])
    return low[0] - least, most - high[0]


def _interval(weights: np.ndarray) -> tuple[float, float]:
    """Bounds of the sum of weights; zeros if there are no weights."""
    return gamma_interval(weights, 0.0, LEVEL) if weights.size else (0.0, 0.0)
