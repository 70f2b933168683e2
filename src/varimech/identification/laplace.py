"""Laplace approximation of a posterior, with exact second derivatives about the mode x₀:

    σ known:      x ~ N(x₀ − H⁻¹ g, H⁻¹),  H = ∂²U/∂x²,  g = ∂U/∂x  (zero except at bounds)
    σ estimated:  x | s as above,  p(s) ∝ |H|^(−1/2) exp(−n s − S e^(−2s)/2 + gᵀ H⁻¹ g/2),  s = log σ

The latter is a mixture of normal distributions over a grid of s. Both are exact for models that are
linear in the parameters with normal or flat priors: with flat ones, the mixture is Student's t.

Within bounds the distributions are truncated: points are drawn one parameter after the other from
truncated normal distributions, with weights (Geweke, Hajivassiliou and Keane).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..core.errors import ModelError
from ..core.messages import Message
from .log_posterior import Expansion
from .priors import Prior

PARTS = 4
"""Points of the grid of s per standard deviation: the trapezoidal rule has converged."""
NEGLIGIBLE = 40.0
"""Decrease of log p(s) + 2 s from its maximum at which the grid ends: e^−40 is below rounding, also
in variances.
"""
OUTSIDE = 1e-9
"""Probability outside the bounds that is ignored: below the accuracy of the approximation."""
POINTS = 2**15
"""Number of weighted points of a truncated distribution: quasi-random, errors of means about 1e-3
standard deviations.
"""
FEWEST = 100
"""Smallest effective number of points of a truncated distribution."""


@dataclass(frozen=True, eq=False)
class Laplace:
    """The approximation; `logs` are the values of s (only 0 if σ is known)."""

    logs: np.ndarray
    weights: np.ndarray
    """Probability of each value of s."""
    means: np.ndarray
    """(s, parameter)"""
    covariances: np.ndarray
    """(s, parameter, parameter)"""
    lower: np.ndarray
    upper: np.ndarray
    seed: int

    @cached_property
    def truncated(self) -> bool:
        """Whether bounds truncate the distribution."""
        return bool(self._outside.sum() > OUTSIDE)

    @property
    def mean(self) -> np.ndarray:
        """Means, (parameter)."""
        if self.truncated:
            x, w, _ = self._points
            return w @ x
        return self.weights @ self.means

    @property
    def covariance(self) -> np.ndarray:
        """Covariance, (parameter, parameter)."""
        if self.truncated:
            x, w, _ = self._points
            d = x - w @ x
            return (w * d.T) @ d
        d = self.means - self.mean
        return np.einsum("k,kij->ij", self.weights, self.covariances) + (self.weights * d.T) @ d

    def quantiles(self, probabilities: np.ndarray) -> np.ndarray:
        """Quantiles, (probability, parameter)."""
        count = self.means.shape[1]
        if self.truncated:
            x, w, _ = self._points
            columns = [_weighted_quantiles(x[:, k], w, probabilities) for k in range(count)]
        else:
            columns = [np.array(self._quantiles(k, probabilities)) for k in range(count)]
        return np.column_stack(columns)

    def draws(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Independent draws: x, (draw, parameter), and s, (draw)."""
        rng = np.random.default_rng([self.seed, 1])
        if self.truncated:
            x, w, s = self._points
            at = np.minimum(
                np.searchsorted(np.cumsum(w), (np.arange(count) + rng.random()) / count), w.size - 1
            )
            at = rng.permutation(at)
            return x[at], s[at]
        of = rng.choice(self.weights.size, count, p=self.weights)
        z = rng.standard_normal((count, self.means.shape[1]))
        return self.means[of] + np.einsum("nij,nj->ni", self._roots[of], z), self.logs[of]

    @cached_property
    def _roots(self) -> np.ndarray:
        return np.linalg.cholesky(self.covariances)

    @cached_property
    def _deviations(self) -> np.ndarray:
        """Standard deviations, (s, parameter)."""
        return np.sqrt(np.einsum("kii->ki", self.covariances))

    @cached_property
    def _outside(self) -> np.ndarray:
        """Probability of each parameter outside its bounds, before truncation."""
        from scipy.special import ndtr

        below = ndtr((self.lower - self.means) / self._deviations)
        above = ndtr((self.means - self.upper) / self._deviations)
        return self.weights @ (below + above)

    def _quantiles(self, k: int, probabilities: np.ndarray) -> list[float]:
        from scipy.optimize import brentq
        from scipy.special import ndtr, ndtri

        μ, σ = self.means[:, k], self._deviations[:, k]
        if self.weights.size == 1:
            return [float(μ[0] + σ[0] * ndtri(p)) for p in probabilities]
        quantiles = []
        for p in probabilities:
            each = μ + σ * ndtri(p)
            reach = float(np.ptp(each)) + float(σ.max())
            low, high = float(each.min()) - reach, float(each.max()) + reach
            excess = lambda x, p=p: float(self.weights @ ndtr((x - μ) / σ)) - p  # noqa: E731
            quantiles.append(brentq(excess, low, high, xtol=1e-13 * reach, rtol=1e-14))
        return quantiles

    @cached_property
    def _points(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Points of the truncated distribution, their weights, and s.

        Raises:
            ModelError: if the bounds leave too little of the distribution.
        """
        from scipy.special import ndtr
        from scipy.stats import qmc

        d = self.means.shape[1]
        order = np.argsort(-self._outside)  # the most truncated parameters first, for even weights
        u = qmc.Sobol(d + 1, seed=np.random.default_rng([self.seed, 2])).random(POINTS)
        of = np.minimum(np.searchsorted(np.cumsum(self.weights), u[:, d]), self.weights.size - 1)
        roots = np.linalg.cholesky(self.covariances[:, order][:, :, order])[of]
        z, x, logs = np.zeros((POINTS, d)), np.zeros((POINTS, d)), np.zeros(POINTS)
        for i, k in enumerate(order):
            centre = self.means[of, k] + np.einsum("nj,nj->n", roots[:, i, :i], z[:, :i])
            σ = roots[:, i, i]
            a, b = (self.lower[k] - centre) / σ, (self.upper[k] - centre) / σ
            flipped = b > -a  # compute in the tail where probabilities are not near 1
            low, high = np.where(flipped, -b, a), np.where(flipped, -a, b)
            below, inside = ndtr(low), ndtr(high) - ndtr(low)
            far = inside <= 0
            with np.errstate(divide="ignore"):
                logs += np.log(np.where(far, 0.0, inside))
            drawn = _quantile(below + u[:, i] * inside)
            z[:, i] = np.clip(np.where(flipped, -drawn, drawn), a, b)
            x[:, k] = centre + σ * z[:, i]
        w = np.exp(logs - logs.max()) if np.isfinite(logs.max()) else np.zeros(POINTS)
        if not (w.sum() > 0 and w.sum() ** 2 / (w @ w) >= FEWEST):
            raise ModelError(
                "nearly all of the Laplace approximation is outside the bounds",
                element="posterior",
                remedy=Message("use {method}, or wider {bounds} in the fit", method="nuts"),
            )
        return np.clip(x, self.lower, self.upper), w / w.sum(), self.logs[of]


def laplace(
    e: Expansion, s: float, count: int, prior: Prior, seed: int, *, sigma_known: bool
) -> Laplace:
    """The approximation about a mode.

    Args:
        e: expansion about the mode.
        s: logarithm of the noise there; 0 where σ is known.
        count: numbers in the data.
        prior: bounds and support.
        seed: of draws.
        sigma_known: whether σ is known.

    Raises:
        ModelError: where U is not convex, so that no normal distribution approximates it.
    """
    _check_convex(e, s)
    if sigma_known:
        logs = np.zeros(1)
        means, covariances, weights = *_normal(e, logs)[:2], np.ones(1)
    else:
        logs, weights = _noise_grid(e, s, count)
        means, covariances, _ = _normal(e, logs)
    return Laplace(logs, weights, means, covariances, prior.lower, prior.upper, seed)


def _normal(e: Expansion, s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means and covariances for values of s, and −½ log |H| + ½ gᵀ H⁻¹ g.

    Columns are scaled: parameters may have very different sizes.
    """
    H, g = e.hessian(s), e.gradient(s)
    scale = 1 / np.sqrt(np.einsum("kii->ki", H))
    R = np.linalg.cholesky(H * scale[:, :, None] * scale[:, None, :])
    inverse = np.linalg.inv(R)
    covariances = np.swapaxes(inverse, 1, 2) @ inverse * scale[:, :, None] * scale[:, None, :]
    steps = np.einsum("kij,kj->ki", covariances, g)
    halves = -np.log(np.einsum("kii->ki", R) / scale).sum(axis=1)
    return e.x - steps, covariances, halves + np.einsum("ki,ki->k", g, steps) / 2


def _noise_grid(e: Expansion, s: float, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Values of s, and their probabilities."""

    def log_density(values: np.ndarray) -> np.ndarray:
        return _normal(e, values)[2] - count * values - e.S * np.exp(-2 * values) / 2

    step = 1 / (PARTS * np.sqrt(2 * count))
    low = high = s
    top = -np.inf
    while True:
        logs = np.arange(np.floor(low / step), np.ceil(high / step) + 1) * step
        densities = log_density(logs)
        decayed = densities + 2 * np.maximum(logs - s, 0.0)
        top = decayed.max()
        ends = decayed[0] < top - NEGLIGIBLE, decayed[-1] < top - NEGLIGIBLE
        if all(ends):
            break
        reach = high - low + 8 * PARTS * step
        low, high = (low if ends[0] else low - reach / 4), (high if ends[1] else high + reach)
    weights = np.exp(densities - densities.max())
    return logs, weights / weights.sum()


def _check_convex(e: Expansion, s: float) -> None:
    H = e.hessian(s)
    scale = np.sqrt(np.abs(np.diag(H)))
    eigenvalues, vectors = (
        np.linalg.eigh(H / np.outer(scale, scale)) if scale.all() else (None, None)
    )
    if eigenvalues is None or vectors is None or eigenvalues[0] <= 0:
        raise ModelError(
            "the posterior is not curved like a normal distribution at its mode",
            element="posterior",
            remedy=Message("use {method}, or informative priors", method="nuts"),
        )


def _quantile(p: np.ndarray) -> np.ndarray:
    from scipy.special import ndtri

    return ndtri(np.clip(p, 1e-300, 1.0))


def _weighted_quantiles(x: np.ndarray, w: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    order = np.argsort(x)
    centres = np.cumsum(w[order]) - w[order] / 2
    return np.interp(probabilities, centres, x[order])
