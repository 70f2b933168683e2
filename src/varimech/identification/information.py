"""Fisher information of sensors about parameters, and the criteria for experiments:

    F = P + Σ Jᵀ J / σ²,   J = ∂y/∂θ at the sample times,   P the precision of the priors

    D: log |F|,   A: −Σ (F⁻¹)_ii / d_i²,   one parameter: −log (F⁻¹)_ii

with d the sizes of the parameters; larger is better. For settings u of the excitation, ∂F/∂u = Σ
(∂J/∂uᵀ J + Jᵀ ∂J/∂u)/σ², with exact second derivatives of y.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SINGULAR = 1e-14
"""Smallest eigenvalue of the scaled F, relative to the largest, for which all parameters count as
determined: the square of `confidence.UNDETERMINED`.
"""


@dataclass(frozen=True)
class Criterion:
    """Optimality criterion of an experiment."""

    kind: str
    """"D", "A", or "one"."""
    sizes: np.ndarray
    of: int = 0
    """Index of the parameter, for "one"."""

    def value(self, F: np.ndarray) -> float:
        """Value of the criterion: larger is better; −∞ if F does not determine the parameters."""
        scaled = F * np.outer(self.sizes, self.sizes)
        values, vectors = np.linalg.eigh(scaled)
        singular = values <= SINGULAR * max(values[-1], 0.0)
        if singular.all() or (singular.any() and self.kind != "one"):
            return -np.inf
        if self.kind == "D":
            return float(np.log(values).sum())
        if self.kind == "one":
            row = vectors[self.of]
            if np.abs(row[singular]).max(initial=0.0) > np.sqrt(SINGULAR):
                return -np.inf
            return -float(np.log((row[~singular] ** 2 / values[~singular]).sum()))
        return -float((1 / values).sum())

    def gradient(self, F: np.ndarray) -> np.ndarray:
        """∂value/∂F, symmetric, for F that determines all parameters."""
        d = self.sizes
        inverse = np.linalg.inv(F * np.outer(d, d))
        if self.kind == "D":
            scaled = inverse
        elif self.kind == "A":
            scaled = inverse @ inverse
        else:
            column = inverse[:, self.of]
            scaled = np.outer(column, column) / column[self.of]
        return scaled * np.outer(d, d)

    def covariance(self, F: np.ndarray) -> np.ndarray:
        """F⁻¹ (Cramér–Rao); infinite for parameters that F does not determine."""
        d = self.sizes
        values, vectors = np.linalg.eigh(F * np.outer(d, d))
        singular = values <= SINGULAR * max(values[-1], 0.0)
        if singular.all():
            return np.full(F.shape, np.inf)
        W = vectors[:, ~singular] / np.sqrt(values[~singular])
        C = W @ W.T * np.outer(d, d)
        open_ = np.abs(vectors[:, singular]).max(axis=1, initial=0.0) > np.sqrt(SINGULAR)
        C[open_] = C[:, open_] = np.inf
        return C

    def efficiency(self, value: float, best: float) -> float:
        """Fraction of the samples of the present experiment that the best experiment would need."""
        if self.kind == "A":
            return best / value
        share = (value - best) / (self.sizes.size if self.kind == "D" else 1)
        return float(np.exp(share))
