"""What a sweep of central differences agrees on.

Their error falls with the square of the perturbation δ, and their rounding grows with 1/δ; between the two lies a plateau, if there is one.
Each pair of neighbours (δ, δ′) is extrapolated, (D(δ′) − r² D(δ)) / (1 − r²) with r = δ′/δ, which removes the error that falls with δ²; there
is a plateau where three such pairs agree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SETTLED = 0.1
"""Relative disagreement of neighbouring estimates up to which there is a plateau."""
LIKE, NOTABLE = 5.0, 1e-3
"""Factor within which slopes are of the size of the gradient, and relative distance from it at which they are another one."""
SAFETY = 10.0
"""Uncertainties of a plateau by which it may differ from a gradient that is right."""


@dataclass(frozen=True)
class Plateau:
    """What a sweep agrees on: (objective, parameter); NaN where it does not."""

    value: np.ndarray
    error: np.ndarray
    decades: np.ndarray
    """Over how many decades of perturbations it does."""


def plateau(steps: np.ndarray, sweep: np.ndarray) -> Plateau:
    """What estimates by three neighbouring pairs of perturbations agree on best."""
    shape = sweep.shape[1:]
    value, error, decades = (np.full(shape, np.nan) for _ in range(3))
    if len(steps) < 4:
        return Plateau(value, error, decades)
    r2 = np.square(steps[1:] / steps[:-1])[:, None, None]
    pairs = (sweep[1:] - r2 * sweep[:-1]) / (1 - r2)
    windows = np.stack([pairs[k : len(pairs) - 2 + k] for k in range(3)])
    spread, middle = np.ptp(windows, axis=0), np.median(windows, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(spread == 0, 0.0, spread / np.abs(middle))
    relative = np.where(np.isfinite(relative), relative, np.inf)
    best = relative.argmin(axis=0)
    for o, p in np.ndindex(*shape):
        k = best[o, p]
        if relative[k, o, p] > SETTLED:
            continue
        value[o, p], error[o, p] = middle[k, o, p], spread[k, o, p]
        near = np.abs(sweep[:, o, p] - value[o, p]) <= max(SAFETY * error[o, p], 1e-6 * abs(value[o, p]))
        decades[o, p] = np.log10(steps[near].max() / steps[near].min()) if near.any() else 0.0
    return Plateau(value, error, decades)


def other_slope(steps: np.ndarray, sweep: np.ndarray, gradient: np.ndarray, size: np.ndarray, rounding: np.ndarray) -> np.ndarray:
    """How far a second slope, which larger perturbations have, is from the gradient; 0 where there is none.

    Errors of a smooth function fall with the square of the perturbation. Where they do not fall from one perturbation to the next, although
    both slopes are of the size of the gradient, the function has one slope seen closely and another one from afar: it runs in small steps, as
    a force makes them that changes within a time step; and shorter time steps need not show it. `size` is that of the gradient, `rounding`
    that of the differences.
    """
    found = np.zeros(gradient.shape)
    for k in range(len(steps) - 1):
        away, next_away = (sweep[i] - gradient for i in (k, k + 1))
        error, next_error = np.abs(away), np.abs(next_away)
        alike = np.logical_and.reduce([(np.abs(D) > size / LIKE) & (np.abs(D) < size * LIKE) for D in sweep[k : k + 2]])
        near = np.sqrt(steps[k + 1] / steps[k])
        # one slope is on one side; differences that jump about are those of perturbations that change the whole motion
        stays = (next_error > near * error) & (near * next_error < error) & (away * next_away > 0)
        seen = (next_error > NOTABLE * size) & (next_error > SAFETY * rounding[k + 1])
        found = np.where(alike & stays & seen, np.maximum(found, next_error), found)
    return found
