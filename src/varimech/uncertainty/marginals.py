"""The spread of one parameter: normal, or any continuous distribution of scipy.stats."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ModelError
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
    """Any other distribution: a frozen one of scipy.stats."""

    distribution: Any
    mean: float
    sigma: float

    def from_uniform(self, u: np.ndarray) -> np.ndarray:
        """Values with given probabilities to stay below."""
        return np.asarray(self.distribution.ppf(u), dtype=float)

    def from_normal(self, z: np.ndarray) -> np.ndarray:
        """Values for those of a standard normal variable: each tail by its own probability, which 1 − p would round away."""
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
        given = [*(repr(float(x)) for x in frozen.args), *(f"{k}={float(x)!r}" for k, x in frozen.kwds.items())]
        return f"{frozen.dist.name or type(frozen.dist).__name__}({', '.join(given)})"


Marginal = Normal | Other


def marginal(parameter: Parameter, spread: Any) -> Marginal:
    """The checked spread of a parameter: a `Tolerance` about its nominal value, or a frozen distribution as it is."""
    if isinstance(spread, Tolerance):
        return Normal(parameter.value, spread.sigma)
    from scipy.stats import rv_continuous

    name = f"parameter {parameter.name!r}"
    if isinstance(spread, rv_continuous):
        raise ModelError(
            f"{name}: spread = scipy.stats.{spread.name} is a family of distributions; give its numbers too, "
            f"such as scipy.stats.{spread.name}(loc={parameter.value:g}, scale=…)"
        )
    if not isinstance(getattr(spread, "dist", None), rv_continuous):
        raise ModelError(
            f"{name}: spread = {spread!r} is neither a varimech.Tolerance nor a frozen continuous distribution of scipy.stats, "
            "such as scipy.stats.uniform(0.9, 0.2)"
        )
    try:
        mean, variance = (float(x) for x in spread.stats(moments="mv"))
    except TypeError:
        raise ModelError(f"{name}: spread has several values for one number; a parameter has one distribution") from None
    found = Other(spread, mean, math.sqrt(variance) if variance > 0 else math.nan)
    if not (math.isfinite(mean) and math.isfinite(found.sigma)):
        raise ModelError(
            f"{name}: spread {found.words} has mean {mean:g} and variance {variance:g}; moments need a finite mean and a positive finite "
            "variance: give a distribution that has them, or cut its tails off"
        )
    return Normal(mean, found.sigma) if spread.dist.name == "norm" else found
