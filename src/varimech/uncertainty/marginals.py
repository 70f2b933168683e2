"""The spread of one parameter: normal, any continuous distribution of scipy.stats, or whatever has
its functions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.errors import ModelError
from ..model.parameter import Parameter, Tolerance


@dataclass(frozen=True)
class Normal:
    """A normal distribution; tolerances are read as one."""

    mean: float
    sigma: float

    def from_uniform(self, u: np.ndarray) -> np.ndarray:
        """Values with given probabilities to stay below."""
        from scipy.special import ndtri

        return self.from_normal(ndtri(u))

    def from_normal(self, z: np.ndarray) -> np.ndarray:
        """Values for those of a standard normal variable."""
        return self.mean + self.sigma * z

    @property
    def higher_moments(self) -> tuple[float, float]:
        """Third and fourth central moments."""
        return 0.0, 3 * self.sigma**4

    @property
    def words(self) -> str:
        """In words."""
        return f"normal(mean={self.mean!r}, sigma={self.sigma!r})"


@dataclass(frozen=True)
class Other:
    """Any other distribution: a frozen one of scipy.stats, or what is made to look like one."""

    distribution: Any
    mean: float
    sigma: float

    def from_uniform(self, u: np.ndarray) -> np.ndarray:
        """Values with given probabilities to stay below."""
        return np.asarray(self.distribution.ppf(u), dtype=float)

    def from_normal(self, z: np.ndarray) -> np.ndarray:
        """Values for those of a standard normal variable: each tail by its own probability, which 1
        − p would round away.
        """
        from scipy.special import ndtr

        tail = ndtr(-np.abs(z))
        return np.where(z < 0, self.distribution.ppf(tail), self.distribution.isf(tail))

    @property
    def higher_moments(self) -> tuple[float, float]:
        """Third and fourth central moments; infinite, or not a number, where there are none."""
        skewness, excess = (float(x) for x in self.distribution.stats(moments="sk"))
        return skewness * self.sigma**3, (excess + 3) * self.sigma**4

    @property
    def words(self) -> str:
        """In words."""
        frozen = self.distribution
        if isinstance(frozen, Frozen):
            return frozen.words
        given = [
            *(repr(float(x)) for x in frozen.args),
            *(f"{k}={float(x)!r}" for k, x in frozen.kwds.items()),
        ]
        return f"{frozen.dist.name or type(frozen.dist).__name__}({', '.join(given)})"


Marginal = Normal | Other


class Frozen:
    """Objects with other functions than frozen distributions of scipy.stats, seen as one of them:
    its newer ones, with icdf and variance, and those of other people.
    """

    def __init__(self, given: Any):
        self.given = given
        self._newer = hasattr(given, "icdf")

    @property
    def words(self) -> str:
        """The same in any process."""
        return " ".join(repr(self.given).split()) if self._newer else type(self.given).__name__

    def ppf(self, p: Any) -> Any:
        """Values with probability p to stay below."""
        return self.given.icdf(p) if self._newer else self.given.ppf(p)

    def isf(self, p: Any) -> Any:
        """Values with probability p to stay above."""
        if self._newer:
            return self.given.iccdf(p)
        return (
            self.given.isf(p) if hasattr(self.given, "isf") else self.given.ppf(1 - np.asarray(p))
        )

    def stats(self, moments: str) -> tuple[Any, ...]:
        """Mean and variance ("mv"), or skewness and excess kurtosis ("sk"), not a number where
        these are not known.
        """
        if moments == "mv":
            return self.given.mean(), self.given.variance() if self._newer else self.given.var()
        if self._newer:
            return self.given.skewness(), self.given.kurtosis() - 3
        return (
            self.given.stats(moments="sk") if hasattr(self.given, "stats") else (math.nan, math.nan)
        )


def marginal(parameter: Parameter, spread: Any) -> Marginal:
    """The checked spread of a parameter: a `Tolerance` about its nominal value, or a distribution
    as it is.
    """
    if isinstance(spread, Tolerance):
        return Normal(parameter.value, spread.sigma)
    name = f"parameter {parameter.name!r}"
    frozen = _frozen(name, parameter.value, spread)
    try:
        mean, variance = (float(x) for x in frozen.stats(moments="mv"))
    except TypeError:
        raise ModelError(
            f"{name}: spread has several values for one number; a parameter has one distribution"
        ) from None
    found = Other(frozen, mean, math.sqrt(variance) if variance > 0 else math.nan)
    if not (math.isfinite(mean) and math.isfinite(found.sigma)):
        raise ModelError(
            f"{name}: spread {found.words} has mean {mean:g} and variance {variance:g}; moments"
            " need a finite mean and a positive finite variance: give a distribution that has"
            " them, or cut its tails off"
        )
    return Normal(mean, found.sigma) if _is_normal(spread) else found


def _frozen(name: str, nominal: float, spread: Any) -> Any:
    """A distribution with its numbers, as frozen ones of scipy.stats look."""
    from scipy.stats import rv_continuous, rv_histogram

    if isinstance(spread, rv_histogram):
        return spread()
    if isinstance(spread, rv_continuous):
        raise ModelError(
            f"{name}: spread = scipy.stats.{spread.name} is a family of distributions; give its"
            f" numbers too, such as scipy.stats.{spread.name}(loc={nominal:g}, scale=…)"
        )
    if isinstance(getattr(spread, "dist", None), rv_continuous):
        return spread
    discrete = hasattr(spread, "dist") or "DiscreteDistribution" in (
        kind.__name__ for kind in type(spread).__mro__
    )
    if (
        isinstance(spread, type)
        or discrete
        or not any(all(hasattr(spread, f) for f in each) for each in LOOKS)
    ):
        raise ModelError(
            f"{name}: spread = {spread!r} is neither a varimech.Tolerance nor a continuous"
            " distribution with its numbers, such as scipy.stats.uniform(0.9, 0.2), nor an object"
            " with ppf(p), mean() and var()"
        )
    return Frozen(spread)


def _is_normal(spread: Any) -> bool:
    from scipy import stats

    newer = getattr(stats, "Normal", None)
    return getattr(getattr(spread, "dist", None), "name", "") == "norm" or (
        newer is not None and isinstance(spread, newer)
    )


LOOKS = (("ppf", "mean", "var"), ("icdf", "iccdf", "mean", "variance"))
"""Functions by which a distribution is known, all of them without further numbers."""
