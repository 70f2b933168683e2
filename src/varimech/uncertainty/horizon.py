"""How long an expansion holds: errors grow with time, as small changes of frequency become large
ones of phase.

What decides is how much slopes change within one standard deviation of the parameters,

    s(t) = √tr[(HC)²] / √(g'Cg),      each the largest within [t/2, t], so that zeros of one on the way do no harm.

For an oscillation A cos φ(t) with an uncertain frequency s is the standard deviation of its phase.
Exactly, its mean is A cos φ e^(−s²/2) and its variance A² [½ + ½ cos 2φ e^(−2s²) − cos²φ e^(−s²)].
In standard deviations (the largest within [t/2, t]) these are missed

    by the second order:  s³/8 by the mean, s²/2 by the deviation, where it is largest: second
    derivatives know nothing of the third ones
    by the first order:   ½ |tr(HC)| by the mean, and by the deviation, besides s²/2, what the second order adds to it

That is what derivatives at the means know. Runs beside the means (`beside.py`) know of curvature
that does not oscillate, or not so slowly. The largest of all these counts, and the horizon is where
it first exceeds the accuracy wanted. For a quadratic the second order is exact, and this is on the
safe side. `tests/test_moments.py` compares it with exact solutions.
"""

from __future__ import annotations

import numpy as np

from ..core.errors import VarimechWarning

NEGLIGIBLE = 0.01
"""Deviations below this part of the largest up to the horizon do not count: an integral that has
just begun may be anything.
"""
ROUNDING = 1e-9


class HorizonWarning(VarimechWarning):
    """A run is longer than the time for which the moments asked for hold."""


def estimated_error(
    order: int,
    time: np.ndarray,
    slope: np.ndarray,
    curvature: np.ndarray,
    seen: np.ndarray,
    accuracy: float,
) -> np.ndarray:
    """Error of mean or standard deviation, the larger of both, in standard deviations, over time
    for each objective.

    Args:
        order: 1 or 2.
        time: s.
        slope: √(g'Cg), (time, objective).
        curvature: √tr[(HC)²], likewise.
        seen: error of mean or standard deviation that runs beside the means show, likewise.
        accuracy: the error that ends the horizon.
    """
    return np.column_stack(
        [
            _error(order, time, g, h, e, accuracy)
            for g, h, e in zip(slope.T, curvature.T, seen.T, strict=True)
        ]
    )


def _error(
    order: int,
    time: np.ndarray,
    slope: np.ndarray,
    curvature: np.ndarray,
    seen: np.ndarray,
    accuracy: float,
) -> np.ndarray:
    """For one objective: what counts depends on the horizon, and the horizon on what counts; from
    the whole run it only moves nearer.
    """
    highest, bent, end = _envelope(time, slope), _envelope(time, curvature), time.size
    added = np.maximum(curvature / 2, np.hypot(slope, curvature / np.sqrt(2)) - slope)
    while True:
        size = np.maximum(
            highest,
            max(NEGLIGIBLE * slope[:end].max(), ROUNDING * max(curvature.max(), seen.max())),
        )
        size[size == 0] = 1.0  # nothing varies, and nothing is missed
        error = np.maximum((bent / size) ** 2 / 2, seen / size)
        if order == 1:
            error = np.maximum(error, added / size)
        beyond = np.flatnonzero(error > accuracy)
        if not beyond.size or beyond[0] + 1 >= end:
            return error
        end = beyond[0] + 1


def horizon(time: np.ndarray, error: np.ndarray, accuracy: float) -> np.ndarray:
    """When each error first exceeds the accuracy; the end of the run where none does."""
    found = np.full(error.shape[1], time[-1])
    for k, column in enumerate(error.T):
        beyond = np.flatnonzero(column > accuracy)
        if beyond.size:
            after = beyond[0]
            before = max(after - 1, 0)
            rise = column[after] - column[before]
            share = (accuracy - column[before]) / rise if rise > 0 else 0.0
            found[k] = time[before] + share * (time[after] - time[before])
    return found


def _envelope(time: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The largest within [t/2, t]."""
    begins = np.searchsorted(time, time / 2)
    return np.array([values[begin : k + 1].max(axis=0) for k, begin in enumerate(begins)])
