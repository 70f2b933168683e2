"""The pendulum of the benchmark with a distribution of its length, exact by elliptic functions and
quadrature.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ellipj, ellipk
from scipy.stats import norm

import varimech as vm
from varimech.benchmarks import pendulum

DISTRIBUTIONS = {"L": vm.Tolerance(0.15)}
"""σ = 0.05 m."""
OBJECTIVES = {
    "x": vm.final(lambda s: s.position("mass")[0], unit="m"),
    "y": vm.final(lambda s: s.position("mass")[1], unit="m"),
}
DURATION = 1.0


def mass(L: np.ndarray, t: float) -> np.ndarray:
    """Position (x, y) of the mass at a time, released from the horizontal: sin(θ/2) = k sn(K −
    √(g/L) t, k), k = sin 45°; (value, component).
    """
    sn = ellipj(ellipk(0.5) - np.sqrt(pendulum.G / L) * t, 0.5)[0]
    half = np.sqrt(0.5) * sn
    θ = 2 * np.arcsin(half)  # from the vertical, begins at 90°
    return np.column_stack([-L * np.sin(θ), -L * np.cos(θ)])


def exact_moments(t: float, L: float = 1.0, σ: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of x and y."""
    z, w = np.polynomial.hermite_e.hermegauss(60)
    values, w = mass(L + σ * z, t), w / w.sum()
    mean = w @ values
    return mean, w @ (values - mean) ** 2


def exact_quantile(q: float, t: float, L: float = 1.0, σ: float = 0.05) -> np.ndarray:
    """Quantiles of x and y, which are monotonic in L."""
    ends = np.sort(mass(norm.ppf([q, 1 - q], L, σ), t), axis=0)
    return ends[0] if q < 0.5 else ends[1]
