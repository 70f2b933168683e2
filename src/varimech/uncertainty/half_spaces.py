"""Probabilities of half-spaces in the space of independent standard normal variables u.

Half-space i is  α_i'u ≥ β_i  with a unit vector α_i. The variables  y_i = α_i'u  are normal with
the correlation  R_ij = α_i'α_j,  so that the probability of the region beyond all planes is

    P(y ≥ β) = E[ Π_i e_i exp(μ_i²/2 − μ_i v_i) ],      R = L L',      w uniform,
    c_i = (β_i − Σ_{j<i} L_ij v_j) / L_ii,      e_i = Φ(μ_i − c_i),      v_i = μ_i − Φ⁻¹(w_i e_i),

an integral over a unit cube whose integrand is smooth for any shift μ; the shift that minimises the
maximum of the integrand makes it nearly constant. Differences of large numbers do not occur. The
integral is evaluated at points of a scrambled Sobol sequence; planes that are rarely passed come
first. (A. Genz, J. Comput. Graph. Stat. 1 (1992) 141–149; order after G. J. Gibson, C. A. Glasbey
and D. A. Elston, 1994; shift by Z. I. Botev, J. R. Stat. Soc. B 79 (2017) 125–148.) The union is a
sum of such events:

    P(∪ E_i) = Σ_i P(E_i ∩ Ē_j, j < i).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

POINTS = 2**14
"""Number of points of the sequence: relative errors are below 3e-4 for up to twelve planes up to
six standard deviations away, and below 1e-5 for unions (test_half_spaces); with more planes than
dimensions, where R is singular, errors of unions are up to 1e-4.
"""
RESOLVED = 1e-9
"""Probability of two planes above which formulas with an absolute error of 1e-15 are accurate
enough.
"""
DEPTHS = np.array([0.5, 1.0, 2.0])
"""Depths beyond a plane at which the event is evaluated, relative to the mean depth of the region
beyond it: 39, 63 and 86 % of its probability are nearer.
"""
REGULAR = 1e-12
"""Multiple of the identity that is added to R so that parallel planes leave it regular; it changes
a probability by less than √REGULAR, relatively.
"""


def beyond_all(directions: np.ndarray, β: np.ndarray) -> float:
    """Probability of the region beyond all planes.

    Args:
        directions: unit vectors α, (k, d).
        β: distances of the planes from the origin, (k,); negative if the origin is beyond a plane.
    """
    from scipy.special import ndtr
    from scipy.stats import multivariate_normal

    k = len(β)
    if k == 0:
        return 1.0
    if k == 1:
        return float(ndtr(-β[0]))
    R = (1 - REGULAR) * directions @ directions.T
    np.fill_diagonal(R, 1.0)
    if k == 2:
        exact = float(multivariate_normal.cdf(-β, np.zeros(2), R, allow_singular=True))
        if exact > RESOLVED:
            return exact
    return _by_sequence(R, β)


def depths_beyond(β: np.ndarray) -> np.ndarray:
    """Distances from the origin at which an event should still occur if it consists of the regions
    beyond planes.

    Args:
        β: distances of the planes, (k,), not negative.

    Returns:
        Distances, (k, depth).
    """
    # the mean depth is about 1/β far out, and √(2/π) for β = 0
    mean = 1 / np.maximum(β, math.sqrt(math.pi / 2))
    return np.asarray(β[:, None] + mean[:, None] * DEPTHS)


def union_shares(directions: np.ndarray, β: np.ndarray) -> np.ndarray:
    """Fraction of each half-space that is outside all previous ones, (k,)."""
    from scipy.special import ndtr

    shares = np.ones(len(β))
    for i in range(1, len(β)):
        signs = np.append(-np.ones(i), 1.0)  # not beyond the previous planes
        alone = float(ndtr(-β[i]))
        new = beyond_all(signs[:, None] * directions[: i + 1], signs * β[: i + 1])
        shares[i] = min(new / alone, 1.0) if alone > 0 else 0.0
    return shares


def union_of_half_spaces(directions: np.ndarray, β: np.ndarray) -> float:
    """Probability of the region beyond at least one of the planes; arguments as for
    `beyond_all`.
    """
    from scipy.special import ndtr

    return min(float(union_shares(directions, β) @ ndtr(-β)), 1.0)


def union_of_intersections(regions: Sequence[tuple[np.ndarray, np.ndarray]]) -> float:
    """Probability of the union of several regions, each beyond all of its planes.

    For more than two regions it is Ditlevsen's upper bound (J. Struct. Mech. 7 (1979)): the overlap
    of each region with the previous one that it overlaps most.

    Args:
        regions: directions and distances of the planes of each region, the most likely one first.
    """
    total = 0.0
    for i, (directions, β) in enumerate(regions):
        both = [
            beyond_all(np.concatenate([directions, a]), np.concatenate([β, b]))
            for a, b in regions[:i]
        ]
        total += beyond_all(directions, β) - max(both, default=0.0)
    return min(total, 1.0)


def _by_sequence(R: np.ndarray, β: np.ndarray) -> float:
    """Evaluate the integral over the unit cube, with the rarest variable first."""
    from scipy.special import ndtr, ndtri
    from scipy.stats import qmc

    order, L, middle = _ordered(R, β)
    β, k = β[order], len(β)
    μ = _shift(L, β, middle)
    w = qmc.Sobol(k - 1, seed=np.random.default_rng(0)).random(POINTS)
    product, v = np.ones(POINTS), np.zeros((POINTS, k))
    for i in range(k):
        c = (β[i] - v[:, :i] @ L[i, :i]) / L[i, i]
        e = ndtr(μ[i] - c)
        product = product * e
        if i < k - 1:
            v[:, i] = μ[i] - ndtri(np.maximum(w[:, i] * e, np.finfo(float).tiny))
            product = product * np.exp(μ[i] ** 2 / 2 - μ[i] * v[:, i])
    return float(product.mean())


def _shift(L: np.ndarray, β: np.ndarray, middle: np.ndarray) -> np.ndarray:
    """μ at the saddle point of the logarithm of the integrand, ψ(v, μ), with its last component 0:

        μ_i − v_i + h_i = 0,      μ_i = Σ_{j>i} h_j L_ji / L_jj,      h_i = φ(c_i − μ_i) / e_i.

    Zero if the saddle point is not found.
    """
    from scipy.optimize import root
    from scipy.special import log_ndtr

    n = len(β) - 1
    ratios = np.tril(L / L.diagonal()[:, None], -1)

    def residual(z: np.ndarray) -> np.ndarray:
        v, μ = np.append(z[:n], 0.0), np.append(z[n:], 0.0)
        at = μ - (β / L.diagonal() - ratios @ v)
        h = np.exp(-(at**2) / 2 - log_ndtr(at)) / math.sqrt(2 * math.pi)
        return np.concatenate([(μ - v + h)[:n], (μ - ratios.T @ h)[:n]])

    with np.errstate(all="ignore"):  # factors of parallel planes are step functions
        saddle = root(residual, np.concatenate([middle[:n], np.zeros(n)]))
    solved = saddle.success and np.isfinite(saddle.x).all()
    return np.append(saddle.x[n:], 0.0) if solved else np.zeros(n + 1)


def _ordered(R: np.ndarray, β: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Order of the variables, each time the rarest one if the previous ones have their means beyond
    their planes; L in this order, and these means.
    """
    from scipy.special import log_ndtr

    k, order = len(β), np.arange(len(β))
    R, β, L, mean = R.copy(), β.copy(), np.zeros_like(R), np.zeros(len(β))
    for i in range(k):
        rest = np.sqrt(np.maximum(R.diagonal()[i:] - (L[i:, :i] ** 2).sum(axis=1), REGULAR))
        c = (β[i:] - L[i:, :i] @ mean[:i]) / rest
        best = i + int(np.argmax(c))
        swap = [best, i]
        for array in (order, β, L):
            array[[i, best]] = array[swap]
        R[[i, best]] = R[swap]
        R[:, [i, best]] = R[:, swap]
        L[i, i] = rest[best - i]
        L[i + 1 :, i] = (R[i + 1 :, i] - L[i + 1 :, :i] @ L[i, :i]) / L[i, i]
        at = c[best - i]
        mean[i] = np.exp(-(at**2) / 2 - log_ndtr(-at)) / np.sqrt(2 * np.pi)  # mean of y beyond c
    return order, L, mean
