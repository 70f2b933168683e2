"""Probabilities of half-spaces in the space of independent standard normal variables u.

Half-space i is  α_i'u ≥ β_i  with a unit vector α_i. The variables  y_i = α_i'u  are normal with
the correlation  R_ij = α_i'α_j,  so that being beyond all planes has the probability

    P(y ≥ β) = E[ Π_i e_i ],      e_i = Φ(−c_i),      c_i = (β_i − Σ_{j<i} L_ij v_j) / L_ii,
    v_i = −Φ⁻¹(w_i e_i),          R = L L',           w uniform,

an integral over a unit cube that is smooth, and accurate relative to its value however rare the
event is: no difference of large numbers occurs. It is evaluated at points of a scrambled Sobol
sequence; planes that are rarely passed come first. (A. Genz, J. Comput. Graph. Stat. 1 (1992)
141–149; the order after G. J. Gibson, C. A. Glasbey and D. A. Elston, 1994.) The union is a sum of
such events:

    P(∪ E_i) = Σ_i P(E_i ∩ Ē_j, j < i).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

POINTS = 2**14
"""Points of the sequence: of five planes four standard deviations away, or less, the relative error
is below 1e-3; that of a union below 1e-5 (test_half_spaces).
"""
RESOLVED = 1e-9
"""Probability of two planes above which formulas with an absolute error of 1e-15 are used."""
REGULAR = 1e-12
"""Share of the identity in R, so that parallel planes leave it regular; it moves a probability by
less than √REGULAR, relatively.
"""


def beyond_all(directions: np.ndarray, β: np.ndarray) -> float:
    """Probability of being beyond all planes.

    Args:
        directions: unit vectors α, (k, d).
        β: distances of the planes from the origin, (k,); negative for a plane that the origin is
            beyond.
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


def union_shares(directions: np.ndarray, β: np.ndarray) -> np.ndarray:
    """Share of each half-space that lies in none of those before it, (k,)."""
    from scipy.special import ndtr

    shares = np.ones(len(β))
    for i in range(1, len(β)):
        signs = np.append(-np.ones(i), 1.0)  # not beyond those before
        alone = float(ndtr(-β[i]))
        new = beyond_all(signs[:, None] * directions[: i + 1], signs * β[: i + 1])
        shares[i] = min(new / alone, 1.0) if alone > 0 else 0.0
    return shares


def union_of_half_spaces(directions: np.ndarray, β: np.ndarray) -> float:
    """Probability of being beyond at least one of the planes; arguments as of `beyond_all`."""
    from scipy.special import ndtr

    return min(float(union_shares(directions, β) @ ndtr(-β)), 1.0)


def union_of_intersections(regions: Sequence[tuple[np.ndarray, np.ndarray]]) -> float:
    """Probability of at least one of several regions, each beyond all of its planes.

    Of more than two regions it is Ditlevsen's upper bound (J. Struct. Mech. 7 (1979)): the overlap
    of each with that of those before with which it overlaps most.

    Args:
        regions: directions and distances of the planes of each, the most likely one first.
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
    """The integral over the unit cube, with the rarest variable first."""
    from scipy.special import ndtr, ndtri
    from scipy.stats import qmc

    order, L = _ordered(R, β)
    β, k = β[order], len(β)
    w = qmc.Sobol(k - 1, rng=np.random.default_rng(0)).random(POINTS)
    product, v = np.full(POINTS, float(ndtr(-β[0]))), np.zeros((POINTS, k))
    e = product.copy()
    for i in range(1, k):
        with np.errstate(divide="ignore"):  # a probability of 0 contributes nothing
            v[:, i - 1] = -ndtri(np.maximum(w[:, i - 1] * e, np.finfo(float).tiny))
        e = ndtr((v[:, :i] @ L[i, :i] - β[i]) / L[i, i])
        product = product * e
    return float(product.mean())


def _ordered(R: np.ndarray, β: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An order of the variables, each time the one that is rarest when those before have their
    means beyond their planes; and L for it.
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
        mean[i] = np.exp(-(at**2) / 2 - log_ndtr(-at)) / np.sqrt(2 * np.pi)  # of y beyond c
    return order, L
