"""Coverage of confidence intervals of means: many studies of plain functions at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import ndtri

from varimech.uncertainty.estimates import LEVEL, mean_of
from varimech.uncertainty.sampling import Sampling, chunk_size
from varimech.uncertainty.statistics import CoMoments, both

OBJECTIVES: dict[str, tuple[Callable[[np.ndarray], np.ndarray], tuple[float, float]]] = {
    "smooth": (lambda z: np.sin(1 + 0.3 * z[..., 0]) + 0.2 * z[..., 1], (0.3 * np.cos(1), 0.2)),
    "exponential": (lambda z: np.exp(0.5 * z[..., 0] + 0.3 * z[..., 1]), (0.5, 0.3)),
    "quadratic": (lambda z: (z[..., 0] + 1) ** 2 + z[..., 1], (2.0, 1.0)),
    "product": (lambda z: (z[..., 0] + 1) * (z[..., 1] + 1), (1.0, 1.0)),
}
"""Functions of two standard normal parameters, and their gradients at the means for the control
variate.
"""


def true_mean(objective: Callable[[np.ndarray], np.ndarray]) -> float:
    """Mean by Gauss quadrature."""
    node, weight = np.polynomial.hermite_e.hermegauss(40)
    grid = np.stack(np.meshgrid(node, node, indexing="ij"), axis=-1)
    return float(np.einsum("i,j,ij->", weight, weight, objective(grid)) / weight.sum() ** 2)


def covered(kind: str, samples: int, studies: int) -> dict[str, tuple[float, float]]:
    """Fractions of the studies whose 95 % interval contains the true mean, without and with control
    variate; a column is a study and an objective.
    """
    size = chunk_size(kind, samples, 1)
    draws = [Sampling(kind, seed, size, 2) for seed in range(studies)]
    groups: list[CoMoments | None] = [None] * draws[0].replicates
    for k, first in enumerate(range(0, samples, size)):
        z = ndtri(np.stack([s.points(k)[: samples - first] for s in draws], axis=1))
        values = np.concatenate([f(z) for f, _ in OBJECTIVES.values()], axis=1)
        control = np.concatenate([z @ np.array(g) for _, g in OBJECTIVES.values()], axis=1)
        groups[k % len(groups)] = both(groups[k % len(groups)], CoMoments.of(values, control))
    truth = np.repeat([true_mean(f) for f, _ in OBJECTIVES.values()], studies)
    shares = []
    for controlled in (False, True):
        mean = mean_of([g for g in groups if g is not None], controlled=controlled)
        hit = np.abs(mean.value - truth) <= mean.half_width(LEVEL)
        shares.append(hit.reshape(len(OBJECTIVES), studies).mean(axis=1))
    return {name: (float(shares[0][k]), float(shares[1][k])) for k, name in enumerate(OBJECTIVES)}
