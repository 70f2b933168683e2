"""Distribution of one parameter: normal, any continuous distribution of scipy.stats, or an object
with its methods.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.errors import Label, ModelError
from ..model.parameter import Parameter, Tolerance

FAR = 8.0
"""Standard deviations beyond which a tail probability (6e-16) is rounding."""
FARTHEST = 16.0
"""Standard deviations beyond which values no longer change: tail probabilities there are below
1e-57, and those below 1e-90, which quadrature rules for covariances require, raise warnings in
SciPy.
"""


@dataclass(frozen=True)
class Normal:
    """A normal distribution; tolerances are interpreted as normal distributions."""

    mean: float
    sigma: float

    def from_uniform(self, u: np.ndarray) -> np.ndarray:
        """Quantiles for given probabilities."""
        from scipy.special import ndtri

        return self.from_normal(ndtri(u))

    def from_normal(self, z: np.ndarray) -> np.ndarray:
        """Values for values of a standard normal variable."""
        return self.mean + self.sigma * z

    def slope(self, z: np.ndarray) -> np.ndarray:
        """Derivative of `from_normal`."""
        return np.full_like(z, self.sigma)

    @property
    def higher_moments(self) -> tuple[float, float]:
        """Third and fourth central moments."""
        return 0.0, 3 * self.sigma**4

    @property
    def family(self) -> str:
        """Name of the distribution without its numbers."""
        return "normal"

    @property
    def description(self) -> str:
        """The distribution as text."""
        return f"normal(mean={self.mean!r}, sigma={self.sigma!r})"


@dataclass(frozen=True)
class Other:
    """Any other distribution: a frozen distribution of scipy.stats, or an adapted object."""

    distribution: Any
    mean: float
    sigma: float

    def from_uniform(self, u: np.ndarray) -> np.ndarray:
        """Quantiles for given probabilities."""
        return np.asarray(self.distribution.ppf(u), dtype=float)

    def from_normal(self, z: np.ndarray) -> np.ndarray:
        """Values for values of a standard normal variable: each tail by its own probability,
        because 1 − p would lose it to rounding. Where quantiles far in the tails do not converge
        (for some beta distributions in SciPy, from 9 standard deviations), the bounds of the
        distribution.
        """
        from scipy.special import ndtr

        tail = ndtr(-np.minimum(np.abs(z), FARTHEST))
        values = np.where(z < 0, self.distribution.ppf(tail), self.distribution.isf(tail))
        if (lost := np.isnan(values) & (np.abs(z) > FAR)).any():
            lowest, highest = (float(self.from_uniform(np.array(p))) for p in (0.0, 1.0))
            values = np.where(lost, np.where(z < 0, lowest, highest), values)
        return np.asarray(values)

    def slope(self, z: np.ndarray) -> np.ndarray:
        """Derivative of `from_normal`: φ(z) over the density of the distribution at the value."""
        density = np.asarray(self.distribution.pdf(self.from_normal(z)))
        return np.asarray(np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi) / density)

    @property
    def higher_moments(self) -> tuple[float, float]:
        """Third and fourth central moments; infinite or NaN if they do not exist."""
        skewness, excess = (float(x) for x in self.distribution.stats(moments="sk"))
        return skewness * self.sigma**3, (excess + 3) * self.sigma**4

    @property
    def family(self) -> str:
        """Name of the distribution without its numbers."""
        frozen = self.distribution
        if isinstance(frozen, Frozen):
            return type(frozen.given).__name__
        return frozen.dist.name or type(frozen.dist).__name__

    @property
    def description(self) -> str:
        """The distribution as text."""
        frozen = self.distribution
        if isinstance(frozen, Frozen):
            return frozen.description
        given = [
            *(repr(float(x)) for x in frozen.args),
            *(f"{k}={float(x)!r}" for k, x in frozen.kwds.items()),
        ]
        return f"{self.family}({', '.join(given)})"


Marginal = Normal | Other


class Frozen:
    """Adapter that gives other objects the methods of frozen distributions of scipy.stats: the
    newer distributions of SciPy, with icdf and variance, and third-party ones.
    """

    def __init__(self, given: Any):
        self.given = given
        self._newer = hasattr(given, "icdf")

    @property
    def description(self) -> str:
        """The distribution as text, the same in any process."""
        return " ".join(repr(self.given).split()) if self._newer else type(self.given).__name__

    def ppf(self, p: object) -> object:
        """Quantile: value with probability p below it."""
        return self.given.icdf(p) if self._newer else self.given.ppf(p)

    def isf(self, p: object) -> object:
        """Upper quantile: value with probability p above it."""
        if self._newer:
            return self.given.iccdf(p)
        return (
            self.given.isf(p) if hasattr(self.given, "isf") else self.given.ppf(1 - np.asarray(p))
        )

    def stats(self, moments: str) -> tuple[object, ...]:
        """Mean and variance ("mv"), or skewness and excess kurtosis ("sk"); NaN if unknown."""
        if moments == "mv":
            return self.given.mean(), self.given.variance() if self._newer else self.given.var()
        if self._newer:
            return self.given.skewness(), self.given.kurtosis() - 3
        return (
            self.given.stats(moments="sk") if hasattr(self.given, "stats") else (math.nan, math.nan)
        )


def marginal(parameter: Parameter, distribution: object) -> Marginal:
    """Check the distribution of a parameter: a `Tolerance` about its value, or a distribution.

    Raises:
        ModelError: if it is not a usable distribution.
    """
    if isinstance(distribution, Tolerance):
        return Normal(parameter.value, distribution.sigma)
    label = Label(f"parameter {parameter.name!r}", "distribution")
    frozen = _frozen(label, parameter.value, distribution)
    try:
        mean, variance = (float(x) for x in frozen.stats(moments="mv"))
    except TypeError:
        raise ModelError(
            "has array-valued numbers; a parameter has one distribution", label=label
        ) from None
    result = Other(frozen, mean, math.sqrt(variance) if variance > 0 else math.nan)
    if not (math.isfinite(mean) and math.isfinite(result.sigma)):
        problem = (
            f"{result.description} has mean {mean:g} and variance {variance:g}; moments need a"
            " finite mean and a positive finite variance"
        )
        remedy = "give a distribution that has them, or truncate it"
        raise ModelError(problem, label=label, remedy=remedy)
    return Normal(mean, result.sigma) if _is_normal(distribution) else result


def _frozen(label: Label, nominal: float, distribution: object) -> Any:
    """Return a distribution with fixed parameters as a frozen distribution of scipy.stats."""
    from scipy.stats import rv_continuous, rv_histogram

    if isinstance(distribution, rv_histogram):
        return distribution()
    if isinstance(distribution, rv_continuous):
        problem = f"= scipy.stats.{distribution.name} is a family of distributions"
        remedy = (
            f"give its numbers too, such as scipy.stats.{distribution.name}(loc={nominal:g},"
            " scale=…)"
        )
        raise ModelError(problem, label=label, remedy=remedy)
    if isinstance(getattr(distribution, "dist", None), rv_continuous):
        return distribution
    discrete = hasattr(distribution, "dist") or "DiscreteDistribution" in (
        kind.__name__ for kind in type(distribution).__mro__
    )
    if (
        isinstance(distribution, type)
        or discrete
        or not any(all(hasattr(distribution, f) for f in each) for each in LOOKS)
    ):
        problem = (
            "is neither a varimech.Tolerance nor a continuous distribution with its numbers, such as"
            " scipy.stats.uniform(0.9, 0.2), nor an object with ppf(p), mean() and var()"
        )
        raise ModelError(problem, label=label, value=distribution)
    return Frozen(distribution)


def _is_normal(distribution: object) -> bool:
    from scipy import stats

    newer = getattr(stats, "Normal", None)
    return getattr(getattr(distribution, "dist", None), "name", "") == "norm" or (
        newer is not None and isinstance(distribution, newer)
    )


LOOKS = (("ppf", "mean", "var"), ("icdf", "iccdf", "mean", "variance"))
"""Methods by which a distribution is recognised, all without additional arguments."""
