"""Check of tangent planes by samples around their design points.

With h = 1 where nothing fails and h' = 1 where no plane is passed, the error of the probability of
the polyhedron is

    E[h − h'] = Σ w_n (h_n − h'_n),      w_n = φ(u_n)/q(u_n)/N,

of importance samples u_n (`uncertainty/importance.py`). Only samples between the limit and its
planes count, so that a small error is resolved by few samples, and a plane that is the limit leaves
none. Those on either side are weighted sums of Poisson counts with intervals of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..uncertainty.importance import WeightedSamples, gamma_interval, importance_samples
from ..uncertainty.sampling import stream
from .design_point_search import FormPoint

SAMPLES = 512
"""Samples around design points, by values of runs alone: a limit between which and its plane there
is a tenth of the probability is then known to about a thirtieth of it, and what no sample shows is
some percent of it. They take about as long as the plain ones and the rays together.
"""
LEVEL = 0.68
"""Of the intervals: the error that is stated is the estimate and about one standard error."""


def samples_around(points: Sequence[FormPoint], seed: int) -> WeightedSamples:
    """Samples around design points and the origin."""
    from scipy.special import ndtr

    centres = np.array([p.at.u for p in points])
    likelihoods = ndtr(-np.abs([p.beta for p in points])) + np.finfo(float).tiny
    return importance_samples(centres, likelihoods, SAMPLES, stream(seed, 2))


def within(y: np.ndarray, limit: float) -> np.ndarray:
    """1 where values are at most a limit, 0 where they are not, NaN where a run failed."""
    return np.where(np.isnan(y), np.nan, y <= limit)


def missed(weights: np.ndarray, holds: np.ndarray, held: np.ndarray) -> tuple[float, float]:
    """Interval of the probability that planes miss; (0, 0) where no sample contradicts them.

    Args:
        weights: of the samples.
        holds: 1 where nothing fails, 0 where something does, NaN where it is not known.
        held: whether no plane is passed.
    """
    unknown = np.isnan(holds)
    more, less = (holds == 1) & ~held, (holds == 0) & held
    low, high = (_interval(weights[each]) for each in (more, less))
    _, most = _interval(weights[more | (unknown & ~held)])
    _, least = _interval(weights[less | (unknown & held)])
    return low[0] - least, most - high[0]


def _interval(weights: np.ndarray) -> tuple[float, float]:
    """Bounds of the sum of weights; zeros where there is none."""
    return gamma_interval(weights, 0.0, LEVEL) if weights.size else (0.0, 0.0)
