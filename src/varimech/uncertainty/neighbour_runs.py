"""What runs beside the means show of an expansion's error, whatever the objective.

With u a standard deviation in some direction, ψ at the means ± u has an even and an odd part; less
those of the expansion these are

    q = ½ (ψ₊ + ψ₋) − ψ₀ − ½ u'Hu,      c = ½ (ψ₊ − ψ₋) − g'u        (first order: without H).

Of a normal parameter, c z³ makes of the slope g'u one of g'u + 3c as far as the variance goes, and
q z⁴ adds 3q to the mean; without H, q z² adds q to it and 2q² to the variance. Over directions that
share out the covariance (C = Σ u u') this sums up to a second mean and a second standard deviation,
and how far these are from those of the expansion is its error. In the direction in which an
objective varies most, 3c and 3q are errors by themselves. A function that bends by its third
derivatives alone has none of this at the means.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .expansion import ROUNDING, first_variance, squared_curvature
from .parameter_distributions import ParameterDistributions


@dataclass(frozen=True, eq=False)
class Beside:
    """Objectives one standard deviation to either side of the means, in some directions."""

    directions: np.ndarray
    """u, (direction, parameter): those that share out the covariance, then for each objective the
    one in which it varies most.
    """
    there: np.ndarray
    """ψ₊, (direction, time, objective); NaN where a run failed."""
    back: np.ndarray
    """ψ₋"""

    def of(self, objective: int) -> int:
        """The direction in which an objective varies most; with one parameter there is only one."""
        parameters = self.directions.shape[1]
        return 0 if parameters == 1 else parameters + objective

    def along(self, arrays: np.ndarray) -> np.ndarray:
        """Of (direction, time, objective), each objective in its own direction: (time,
        objective).
        """
        return np.stack([arrays[self.of(k), :, k] for k in range(arrays.shape[2])], axis=1)


def directions_of(g: np.ndarray, spreads: ParameterDistributions) -> np.ndarray:
    """(direction, parameter): columns of a root of C, and for each objective C g/√(g'Cg), when this
    is largest.
    """
    C, σ = spreads.covariance, np.sqrt(first_variance(g, spreads.covariance))
    if len(spreads.names) == 1:
        return spreads.sigma[None]
    values, vectors = np.linalg.eigh(C / np.outer(spreads.sigma, spreads.sigma))
    root = (
        np.diag(spreads.sigma)
        if spreads.independent
        else spreads.sigma[:, None] * vectors * np.sqrt(np.maximum(values, 0.0))
    )
    largest = []
    for k, row in enumerate(σ.argmax(axis=0)):
        largest.append(C @ g[row, k] / σ[row, k] if σ[row, k] > 0 else spreads.sigma)
    return np.concatenate([root.T, largest])


def unexplained(
    values: np.ndarray, g: np.ndarray, H: np.ndarray | None, C: np.ndarray, beside: Beside
) -> np.ndarray:
    """Error of mean or standard deviation, the larger of both, in units of the objectives: (time,
    objective); failed runs count nothing.
    """
    U, d = beside.directions, g.shape[-1]
    slope = np.einsum("toi,ki->kto", g, U)
    odd = np.nan_to_num((beside.there - beside.back) / 2 - slope)
    even = (beside.there + beside.back) / 2 - values
    if H is not None:
        even = even - np.einsum("ki,toij,kj->kto", U, H, U) / 2
    even = np.nan_to_num(even)
    first, known = first_variance(g, C), 0.0 if H is None else squared_curvature(H, C) / 2
    added = 2 * (even[:d] ** 2).sum(axis=0) if H is None else known
    second = np.sqrt(((slope + 3 * odd)[:d] ** 2).sum(axis=0) + added)
    of_std = np.abs(second - np.sqrt(first + known))
    of_mean = (1 if H is None else 3) * np.abs(even[:d].sum(axis=0))
    alone = 3 * np.abs(beside.along(odd if H is None else np.maximum(np.abs(odd), np.abs(even))))
    error = np.maximum(np.maximum(of_std, of_mean), alone)
    return np.where(error > ROUNDING * np.abs(values).max(axis=0), error, 0.0)
