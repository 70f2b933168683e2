"""Mean and variance of a function of random parameters by its Taylor expansion about their means.

    ψ ≈ ψ₀ + g'x + ½ x'Hx,      E[x] = 0,  E[xx'] = C

    first order:    mean ψ₀,                variance g'Cg = Σᵢ Σⱼ gᵢ gⱼ Cᵢⱼ
    second order:   mean ψ₀ + ½ tr(HC),     variance g'Cg + ½ tr[(HC)²]            (normal x)
                    variance Σ gᵢ²μ₂ᵢ + Σ gᵢHᵢᵢμ₃ᵢ + ¼ Σ Hᵢᵢ²(μ₄ᵢ − μ₂ᵢ²)
                             + ½ Σ_{i≠j} Hᵢⱼ²μ₂ᵢμ₂ⱼ                                (independent x)

with μₖ the central moments of each parameter. The second-order variances are exact for the
quadratic. Covariances count with factor 1: the ½ in eq. (4) of Choi, Lee and Yoo (2005) is an error
(its sum contains each pair twice, as it should).

Arrays are (time, objective, parameter, parameter), or the leading ones of these dimensions.
"""

from __future__ import annotations

import numpy as np

from ..core.errors import ModelError
from ..core.messages import Call, Message
from .parameter_distributions import ParameterDistributions

ROUNDING = 1e-12
"""Standard deviations below this fraction of an objective's largest value count as zero."""


def first_variance(g: np.ndarray, C: np.ndarray) -> np.ndarray:
    """g'Cg."""
    return np.maximum(np.einsum("toi,ij,toj->to", g, C, g), 0.0)


def second_mean(values: np.ndarray, H: np.ndarray, C: np.ndarray) -> np.ndarray:
    """ψ₀ + ½ tr(HC)."""
    return values + 0.5 * np.einsum("toij,ji->to", H, C)


def squared_curvature(H: np.ndarray, C: np.ndarray) -> np.ndarray:
    """tr[(HC)²]: twice the variance due to curvature for normal parameters."""
    HC = H @ C
    return np.maximum(np.einsum("toij,toji->to", HC, HC), 0.0)


def second_variance(
    g: np.ndarray, H: np.ndarray, distributions: ParameterDistributions
) -> np.ndarray:
    """Variance of the quadratic."""
    if distributions.normal:
        return first_variance(g, distributions.covariance) + 0.5 * squared_curvature(
            H, distributions.covariance
        )
    return _of_independent(g, H, distributions)


FIRST_OR_SAMPLES = Message("use {order} or {}", Call("monte_carlo"), order=1)


def check_second(distributions: ParameterDistributions) -> None:
    """Check that the variance of the quadratic can be computed.

    Raises:
        ModelError: for correlated parameters that are not normal, or without fourth moments.
    """
    if not (distributions.normal or distributions.independent):
        problem = (
            "a variance of order 2 is available for normal or for independent parameters; these are"
            " correlated and not all normal"
        )
        raise ModelError(problem, element="moments", remedy=FIRST_OR_SAMPLES)
    for name, m in zip(distributions.names, distributions.marginals, strict=True):
        if not np.isfinite(m.higher_moments).all():
            problem = (
                "a variance of order 2 needs four moments of each parameter, and"
                f" {m.description} of {name!r} does not have them"
            )
            raise ModelError(problem, element="moments", remedy=FIRST_OR_SAMPLES)


def _of_independent(
    g: np.ndarray, H: np.ndarray, distributions: ParameterDistributions
) -> np.ndarray:
    μ2, (μ3, μ4) = (
        distributions.sigma**2,
        np.array([m.higher_moments for m in distributions.marginals]).T,
    )
    diagonal = np.einsum("toii->toi", H)
    linear = g**2 @ μ2 + (g * diagonal) @ μ3
    alone = 0.25 * diagonal**2 @ (μ4 - μ2**2)
    pairs = 0.5 * (np.einsum("toij,i,j->to", H**2, μ2, μ2) - diagonal**2 @ μ2**2)
    return np.maximum(linear + alone + pairs, 0.0)


def contributions(values: np.ndarray, g: np.ndarray, C: np.ndarray) -> np.ndarray:
    """Fraction of each parameter in the first-order variance, gᵢ (Cg)ᵢ / g'Cg: they sum to 1; 0 if
    there is only rounding.
    """
    parts = g * (g @ C)
    whole = parts.sum(axis=-1, keepdims=True)
    rounding = (ROUNDING * np.nanmax(np.abs(values), axis=0))[:, None] ** 2
    return np.divide(parts, whole, out=np.zeros_like(parts), where=whole > rounding)
