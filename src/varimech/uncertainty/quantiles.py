"""Quantiles of samples of which only counts are stored, with confidence intervals.

The value of rank k, the k-th smallest, lies in a bin of the histogram and in one of the sketch,
both exact: between the larger of their lower bounds and the smaller of their upper bounds. The
sampling error does not depend on the distribution: the number of n independent samples below the
true p-quantile is binomial, so with probability 1 − α the quantile lies between the values of the
ranks

    l = B⁻¹(α/2),      u = B⁻¹(1 − α/2) + 1,

with B the distribution of that number; the interval is unbounded where there is no such rank.
Samples of a Latin hypercube vary no more than independent ones (except for a factor n/(n − 1)),
those of Sobol sequences usually less, so that the interval is conservative. H. A. David and H. N.
Nagaraja, Order Statistics (2003), sec. 7.1; A. B. Owen, SIAM J. Numer. Anal. 34 (1997).
"""

from __future__ import annotations

import numpy as np

from .histogram import Histogram
from .sketch import Sketch


def quantile(histogram: Histogram, sketch: Sketch, probability: float) -> np.ndarray:
    """Value of each column below which the fraction `probability` of its values lies, interpolated
    within the narrower bin.
    """
    rank = probability * histogram.count
    ends = [_bin(histogram, rank), _bin(sketch, rank)]
    narrow = np.where(ends[0][1] - ends[0][0] <= ends[1][1] - ends[1][0], 0, 1)
    (lower, upper, share) = np.choose(narrow, [np.array(e) for e in ends])
    return np.clip(lower + share * (upper - lower), *bracket(histogram, sketch, rank))


def bracket(histogram: Histogram, sketch: Sketch, rank: float) -> tuple[np.ndarray, np.ndarray]:
    """Bounds in each column of the value of a rank between 1 and the count."""
    (a, b, _), (c, d, _) = _bin(histogram, rank), _bin(sketch, rank)
    lower = np.clip(np.maximum(a, c), histogram.low, histogram.high)
    return lower, np.maximum(np.clip(np.minimum(b, d), histogram.low, histogram.high), lower)


def interval(
    histogram: Histogram, sketch: Sketch, probability: float, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds that contain the true quantile with at least probability `level`; infinite if there
    are too few samples.
    """
    from scipy.stats import binom

    n = histogram.count
    below, above = (
        int(binom.ppf(side, n, probability)) for side in ((1 - level) / 2, (1 + level) / 2)
    )
    infinite = np.full_like(histogram.low, np.inf)
    lower = -infinite if below < 1 else bracket(histogram, sketch, below)[0]
    upper = infinite if above + 1 > n else bracket(histogram, sketch, above + 1)[1]
    return lower, upper


def _bin(counted: Histogram | Sketch, rank: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bounds of the bin of each column that contains a rank, and the fraction of the bin's values
    up to it.
    """
    counts = counted.ordered()
    total = np.cumsum(counts, axis=1, dtype=np.int64)
    rank = max(rank, np.finfo(float).tiny)  # selects the first bin that is not empty
    place = np.minimum((total < rank).sum(axis=1), counts.shape[1] - 1)
    column = np.arange(len(place))
    inside = np.maximum(counts[column, place].astype(float), 1.0)
    share = np.clip((rank - (total[column, place] - inside)) / inside, 0.0, 1.0)
    return *counted.bounds(place), share
