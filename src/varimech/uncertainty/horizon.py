"""Horizon of an expansion: its errors grow with time, because small changes of frequency become
large changes of phase.

The decisive quantity is the change of derivatives within one standard deviation of the parameters,

    s(t) = √tr[(HC)²] / √(g'Cg),

Both are replaced by their maximum within [t/2, t], so that zero crossings do no harm.

For an oscillation A cos φ(t) with an uncertain frequency s is the standard deviation of its phase.
Exactly, its mean is A cos φ e^(−s²/2) and its variance A² [½ + ½ cos 2φ e^(−2s²) − cos²φ e^(−s²)].
In standard deviations (the largest within [t/2, t]) the errors are

    second order:  s³/8 of the mean, s²/2 of the standard deviation where it is largest, because
                   third derivatives are neglected
    first order:   ½ |tr(HC)| of the mean; of the standard deviation, besides s²/2, the
                   second-order term

These estimates use derivatives at the means. Neighbouring runs (`neighbour_runs.py`) detect
curvature that does not oscillate, or not so slowly. The largest estimate counts, and the horizon is
the time at which it first exceeds the requested accuracy. For a quadratic the second order is
exact, and the estimate is conservative. `tests/test_moments.py` compares it with exact solutions.
"""

from __future__ import annotations

import numpy as np

from ..core.errors import VarimechWarning

NEGLIGIBLE = 0.01
"""Standard deviations below this fraction of the largest one up to the horizon are ignored: an
integral that has just begun may have any distribution.
"""
ROUNDING = 1e-9
"""Smallest scale of errors, as a fraction of the largest curvature effect: smaller effects are
rounding.
"""


class HorizonWarning(VarimechWarning):
    """Warning that a run is longer than the horizon of its moments."""


def estimated_error(
    order: int,
    time: np.ndarray,
    first_order: np.ndarray,
    curvature: np.ndarray,
    observed: np.ndarray,
    accuracy: float,
) -> np.ndarray:
    """Estimate the larger error of mean and standard deviation, in standard deviations, over time
    for each objective.

    Args:
        order: 1 or 2.
        time: times (s).
        first_order: √(g'Cg), (time, objective).
        curvature: √tr[(HC)²], likewise.
        observed: error of mean or standard deviation observed in neighbouring runs, likewise.
        accuracy: the error at which the horizon ends.
    """

    def error_of(
        first_order: np.ndarray, curvature: np.ndarray, observed: np.ndarray
    ) -> np.ndarray:
        """Error of one objective. The horizon and the values that determine it depend on each
        other; the iteration starts from the whole run and only shortens the horizon.
        """
        envelope, curvature_envelope = _envelope(time, first_order), _envelope(time, curvature)
        added = np.maximum(
            curvature / 2, np.hypot(first_order, curvature / np.sqrt(2)) - first_order
        )
        rounding, end = ROUNDING * max(curvature.max(), observed.max()), time.size
        while True:
            negligible = NEGLIGIBLE * first_order[:end].max()
            size = np.maximum(envelope, max(negligible, rounding))
            size[size == 0] = 1.0  # no variation, no error
            error = np.maximum((curvature_envelope / size) ** 2 / 2, observed / size)
            if order == 1:
                error = np.maximum(error, added / size)
            beyond = np.flatnonzero(error > accuracy)
            if not beyond.size or beyond[0] + 1 >= end:
                return error
            end = beyond[0] + 1

    columns = zip(first_order.T, curvature.T, observed.T, strict=True)
    return np.column_stack([error_of(*column) for column in columns])


def horizon(time: np.ndarray, error: np.ndarray, accuracy: float) -> np.ndarray:
    """Time (s) at which each error first exceeds the accuracy; the end of the run if it does
    not.
    """
    horizons = np.full(error.shape[1], time[-1])
    for k, column in enumerate(error.T):
        beyond = np.flatnonzero(column > accuracy)
        if beyond.size:
            after = beyond[0]
            before = max(after - 1, 0)
            rise = column[after] - column[before]
            share = (accuracy - column[before]) / rise if rise > 0 else 0.0
            horizons[k] = time[before] + share * (time[after] - time[before])
    return horizons


def _envelope(time: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Largest value within [t/2, t]."""
    begins = np.searchsorted(time, time / 2)
    return np.array([values[begin : k + 1].max(axis=0) for k, begin in enumerate(begins)])
