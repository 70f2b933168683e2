"""The plateau of a sweep of central differences.

Their error falls with the square of the perturbation δ, and their rounding grows with 1/δ; between
the two lies a plateau, if there is one. Each pair of neighbours (δ, δ′) is extrapolated, (D(δ′) −
r² D(δ)) / (1 − r²) with r = δ′/δ, which removes the error that falls with δ²; there is a plateau
where three such pairs agree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SETTLED = 0.1
"""Relative disagreement of neighbouring estimates up to which there is a plateau."""
LIKE, AGREED, NOTABLE = 5.0, 0.3, 1e-3
"""Criteria for a second derivative value in a sweep: the factor within which differences have the
size of the gradient; the share of their distance from it within which they agree with each other;
and the relative distance from the gradient at which they show another derivative.
"""
SAFETY = 10.0
"""Factor on the uncertainty of a plateau within which a correct gradient may differ from it."""


@dataclass(frozen=True)
class Plateau:
    """Plateau of a sweep: (objective, parameter); NaN where there is none."""

    value: np.ndarray
    error: np.ndarray
    decades: np.ndarray
    """Decades of perturbations over which the plateau extends."""


def plateau(steps: np.ndarray, sweep: np.ndarray, rounding: np.ndarray) -> Plateau:
    """Find the value on which three neighbouring pairs of perturbations agree best.

    `rounding` is the rounding error of each difference. Estimates that agree better than their
    rounding allows do so by chance: rounding is the least uncertainty of a plateau, and a plateau
    that consists of rounding only is none.
    """
    shape = sweep.shape[1:]
    value, error, decades = (np.full(shape, np.nan) for _ in range(3))
    if len(steps) < 4:
        return Plateau(value, error, decades)
    r2 = np.square(steps[1:] / steps[:-1])[:, None, None]
    pairs = (sweep[1:] - r2 * sweep[:-1]) / (1 - r2)
    windows = np.stack([pairs[k : len(pairs) - 2 + k] for k in range(3)])
    uncertainty, middle = (
        np.maximum(np.ptp(windows, axis=0), rounding[3:]),
        np.median(windows, axis=0),
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(uncertainty == 0, 0.0, uncertainty / np.abs(middle))
    relative = np.where(np.isfinite(relative), relative, np.inf)
    best = relative.argmin(axis=0)
    for o, p in np.ndindex(*shape):
        k = best[o, p]
        if relative[k, o, p] > SETTLED:
            continue
        value[o, p], error[o, p] = middle[k, o, p], uncertainty[k, o, p]
        near = np.abs(sweep[:, o, p] - value[o, p]) <= max(
            SAFETY * error[o, p], 1e-6 * abs(value[o, p])
        )
        decades[o, p] = np.log10(steps[near].max() / steps[near].min()) if near.any() else 0.0
    return Plateau(value, error, decades)


def other_slope(
    steps: np.ndarray,
    sweep: np.ndarray,
    gradient: np.ndarray,
    size: np.ndarray,
    rounding: np.ndarray,
) -> np.ndarray:
    """Compute the distance from the gradient to a second derivative value over larger
    perturbations; 0 where there is none.

    Errors of a smooth function fall with the square of the perturbation. Where three consecutive
    perturbations agree with each other far better than with the gradient, although they have its
    size, the function has one derivative locally and another one at a larger scale: it varies in
    small steps, as a force that changes within a time step makes it; and shorter time steps need
    not show it. `size` is that of the gradient, `rounding` that of the differences.
    """
    distance = np.zeros(gradient.shape)
    for k in range(len(steps) - 2):
        three = sweep[k : k + 3]
        error = np.abs(three - gradient).min(axis=0)
        alike = ((np.abs(three) > size / LIKE) & (np.abs(three) < size * LIKE)).all(axis=0)
        agree = np.ptp(three, axis=0) < AGREED * error
        seen = (error > NOTABLE * size) & (error > SAFETY * rounding[k + 2])
        distance = np.where(alike & agree & seen, np.maximum(distance, error), distance)
    return distance
