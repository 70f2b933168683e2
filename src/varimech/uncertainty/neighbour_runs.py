"""Error of an expansion from neighbouring runs, for any objective.

With u one standard deviation in some direction, ψ at the means ± u has an even and an odd part;
minus those of the expansion they are

    q = ½ (ψ₊ + ψ₋) − ψ₀ − ½ u'Hu,      c = ½ (ψ₊ − ψ₋) − g'u        (first order: without H).

For a normal parameter, c z³ changes the derivative g'u to g'u + 3c in the variance, and q z⁴ adds
3q to the mean; without H, q z² adds q to the mean and 2q² to the variance. Over directions that
decompose the covariance (C = Σ u u') this yields a second mean and a second standard deviation,
whose differences from those of the expansion are its error. In the direction in which an objective
varies most, 3c and 3q are errors by themselves. Derivatives at the means do not reveal a function
that is curved by third derivatives alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .expansion import ROUNDING, first_variance, squared_curvature
from .parameter_distributions import ParameterDistributions


@dataclass(frozen=True, eq=False)
class NeighbourRuns:
    """Objectives at one standard deviation on both sides of the means, in several directions."""

    directions: np.ndarray
    """u, (direction, parameter): directions that decompose the covariance, then for each objective
    the direction in which it varies most.
    """
    plus: np.ndarray
    """ψ₊, (direction, time, objective); NaN if a run failed."""
    minus: np.ndarray
    """ψ₋, likewise."""

    def of(self, objective: int) -> int:
        """Index of the direction in which an objective varies most; with one parameter there is
        only one direction.
        """
        parameters = self.directions.shape[1]
        return 0 if parameters == 1 else parameters + objective

    def along(self, arrays: np.ndarray) -> np.ndarray:
        """Select for each objective its own direction: (direction, time, objective) → (time,
        objective).
        """
        return np.stack([arrays[self.of(k), :, k] for k in range(arrays.shape[2])], axis=1)


def directions_of(g: np.ndarray, distributions: ParameterDistributions) -> np.ndarray:
    """Directions, (direction, parameter): columns of a root of C, and for each objective C
    g/√(g'Cg) at the time when the standard deviation is largest.
    """
    C, σ = distributions.covariance, np.sqrt(first_variance(g, distributions.covariance))
    if len(distributions.names) == 1:
        return distributions.sigma[None]
    values, vectors = np.linalg.eigh(C / np.outer(distributions.sigma, distributions.sigma))
    root = (
        np.diag(distributions.sigma)
        if distributions.independent
        else distributions.sigma[:, None] * vectors * np.sqrt(np.maximum(values, 0.0))
    )
    largest = []
    for k, row in enumerate(np.nanargmax(σ, axis=0)):
        largest.append(C @ g[row, k] / σ[row, k] if σ[row, k] > 0 else distributions.sigma)
    return np.concatenate([root.T, largest])


def unexplained(
    values: np.ndarray,
    g: np.ndarray,
    H: np.ndarray | None,
    C: np.ndarray,
    neighbours: NeighbourRuns,
) -> np.ndarray:
    """Larger error of mean and standard deviation, in units of the objectives, (time, objective);
    failed runs are ignored.
    """
    U, d = neighbours.directions, g.shape[-1]
    linear = np.einsum("toi,ki->kto", g, U)
    odd = np.nan_to_num((neighbours.plus - neighbours.minus) / 2 - linear)
    even = (neighbours.plus + neighbours.minus) / 2 - values
    if H is not None:
        even = even - np.einsum("ki,toij,kj->kto", U, H, U) / 2
    even = np.nan_to_num(even)
    first, curved = first_variance(g, C), 0.0 if H is None else squared_curvature(H, C) / 2
    added = 2 * (even[:d] ** 2).sum(axis=0) if H is None else curved
    second = np.sqrt(((linear + 3 * odd)[:d] ** 2).sum(axis=0) + added)
    of_std = np.abs(second - np.sqrt(first + curved))
    of_mean = (1 if H is None else 3) * np.abs(even[:d].sum(axis=0))
    alone = 3 * np.abs(
        neighbours.along(odd if H is None else np.maximum(np.abs(odd), np.abs(even)))
    )
    error = np.maximum(np.maximum(of_std, of_mean), alone)
    return np.where(error > ROUNDING * np.nanmax(np.abs(values), axis=0), error, 0.0)
