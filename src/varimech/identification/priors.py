"""Prior distributions of fitted parameters: log densities with two derivatives.

log p(x) = Σ log p_i(x_i), within the bounds; parameters are independent a priori. A flat prior is
constant within the bounds. Derivatives are closed forms for normal and uniform distributions, and
otherwise differences of order 6 of the log density (errors about 1e-10 of its curvature).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.errors import ModelError, check_named, unknown_name
from ..core.messages import Message
from ..model.parameter import Parameter
from ..optimization.space import Space
from ..uncertainty.marginals import Frozen, Marginal, Normal, marginal

Priors = Mapping[str, Any]
"""Parameter → `Tolerance`, distribution with its parameters, or None for a flat one."""
LEAST_INSIDE = 1e-3
"""Smallest probability of a prior within the bounds: less indicates a contradiction; a round value.
"""
STEP = 2e-2
"""Step of differences of log densities, in standard deviations: errors of order 6 and rounding are
about equal.
"""
STENCIL = np.arange(-3, 4)
FIRST = np.array([-1, 9, -45, 0, 45, -9, 1]) / 60
SECOND = np.array([2, -27, 270, -490, 270, -27, 2]) / 180
"""Central differences of order 6."""


@dataclass(frozen=True, eq=False)
class Prior:
    """Independent prior distributions, in the order of the fitted parameters."""

    names: tuple[str, ...]
    marginals: tuple[Marginal | None, ...]
    """None for a flat prior."""
    lower: np.ndarray
    upper: np.ndarray
    """`lower` and `upper` are the ends of the interval, within bounds and support, in which the density
    is positive.
    """

    @property
    def descriptions(self) -> dict[str, str]:
        """Parameter → its prior as text."""
        return {
            n: "flat" if m is None else m.description
            for n, m in zip(self.names, self.marginals, strict=True)
        }

    @property
    def flat(self) -> np.ndarray:
        """Which priors are flat."""
        return np.array([m is None for m in self.marginals])

    def negative_log(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """V = −log p up to a constant, V' and V'' (diagonal) of rows of values: (row), (row,
        parameter), (row, parameter). V is infinite outside the bounds.
        """
        V, first, second = np.zeros(len(x)), np.zeros(x.shape), np.zeros(x.shape)
        for k, m in enumerate(self.marginals):
            if m is not None:
                v, first[:, k], second[:, k] = self._one(m, k, x[:, k])
                V += v
        outside = ((x < self.lower) | (x > self.upper)).any(axis=1)
        return np.where(outside, np.inf, V), first, second

    def _one(self, m: Marginal, k: int, x: np.ndarray) -> tuple[np.ndarray, ...]:
        if isinstance(m, Normal):
            z = (x - m.mean) / m.sigma
            return z * z / 2, z / m.sigma, np.full(x.shape, m.sigma**-2)
        if m.family == "uniform":
            return np.zeros(x.shape), np.zeros(x.shape), np.zeros(x.shape)
        low, high = m.distribution.support()
        room = np.minimum(x - low, high - x) / 4  # so that differences stay inside the support
        h = np.minimum(STEP * m.sigma, np.maximum(room, 1e-8 * m.sigma))
        v = -np.asarray(m.distribution.logpdf(x[:, None] + h[:, None] * STENCIL), dtype=float)
        good = np.isfinite(v).all(axis=1)
        steps = np.where(good[:, None], v, 0.0)
        return v[:, 3], steps @ FIRST / h, steps @ SECOND / h**2

    def widths(self) -> np.ndarray:
        """Standard deviation of each prior; infinite where it is flat."""
        return np.array([math.inf if m is None else m.sigma for m in self.marginals])


def prior_of(
    space: Space, parameters: Mapping[str, Parameter], replacements: Priors | None, analysis: str
) -> Prior:
    """The checked priors of fitted parameters: those of the parameters, replaced or supplemented by
    those given.

    Raises:
        ModelError: for unknown names, distributions without a density, and priors that contradict
            the bounds.
    """
    check_named(f"{analysis}: prior", replacements, "{'L': varimech.Tolerance(0.01)}")
    for name in replacements or {}:
        if name not in space.names:
            raise unknown_name("fitted parameter", name, space.names)
    marginals, lower, upper = [], space.lower.copy(), space.upper.copy()
    for k, name in enumerate(space.names):
        p = parameters[name]
        distribution = (
            replacements[name] if replacements and name in replacements else p.distribution
        )
        m = None if distribution is None else marginal(p, distribution)
        marginals.append(m)
        if m is not None:
            lower[k], upper[k] = _supported(analysis, name, m, lower[k], upper[k])
    return Prior(space.names, tuple(marginals), lower, upper)


def _supported(
    analysis: str, name: str, m: Marginal, low: float, high: float
) -> tuple[float, float]:
    """Bounds of a parameter, restricted to the support of its prior."""
    from scipy.stats import norm

    frozen = norm(m.mean, m.sigma) if isinstance(m, Normal) else m.distribution
    if isinstance(frozen, Frozen) or not hasattr(frozen, "logpdf"):
        raise ModelError(
            f"of {name!r}, {m.description}, has no density",
            element=analysis,
            field="prior",
            remedy="give a varimech.Tolerance or a distribution of scipy.stats with its numbers",
        )
    inside = float(frozen.cdf(high) - frozen.cdf(low))
    if inside < LEAST_INSIDE:
        raise ModelError(
            f"of {name!r}, {m.description}, has only {inside:.2g} of its probability"
            f" within the bounds ({low:g}, {high:g})",
            element=analysis,
            field="prior",
            remedy=Message("give another prior, or wider {bounds}"),
        )
    support = frozen.support()
    return max(low, float(support[0])), min(high, float(support[1]))
