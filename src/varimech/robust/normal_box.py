"""The probability that correlated standard normal variables stay in a box, with derivatives:

    P = P[a_i ≤ Z_i ≤ b_i for all i],   Z ~ N(0, R)
    ∂P/∂b_i = φ(b_i) P[others | Z_i = b_i],    ∂P/∂a_i = −φ(a_i) P[others | Z_i = a_i]
    ∂P/∂R_ij = Σ ± φ₂(c_i, c_j; R_ij) P[others | Z_i = c_i, Z_j = c_j]

the sum over the corners c of the two intervals, − for one lower bound of the two (R. L. Plackett,
Biometrika 41 (1954)). Two variables by quadrature; more by the integration of Genz in SciPy, with
an absolute error of about 1e-8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np

DEGENERATE = 1 - 1e-12
"""Largest correlation: above it, the conditional variance would be dominated by rounding."""
ACCURACY, POINTS = 1e-9, 200_000
"""Absolute error that Genz's integration of three or more variables aims at, and maximum number of
its points for each variable; more digits would take seconds.
"""


def box_probability(lower: np.ndarray, upper: np.ndarray, R: np.ndarray) -> float:
    """P[lower ≤ Z ≤ upper]"""
    box = _without_copies(lower, upper, R)
    lower, upper, R = box.lower, box.upper, box.R
    if (lower >= upper).any():
        return 0.0
    if lower.size == 0:
        return 1.0
    if lower.size == 1:
        return _interval(float(lower[0]), float(upper[0]))
    if lower.size == 2:
        return _two(lower, upper, float(R[0, 1]))
    from scipy.stats import multivariate_normal

    normal = multivariate_normal(
        np.zeros(lower.size),
        R,
        allow_singular=True,
        seed=0,
        maxpts=POINTS * lower.size,
        abseps=ACCURACY,
        releps=ACCURACY,
    )
    return float(normal.cdf(upper, lower_limit=lower))


def box_derivatives(
    lower: np.ndarray, upper: np.ndarray, R: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """∂P/∂lower, ∂P/∂upper, and ∂P/∂R_ij of each pair (in both of its entries, symmetric).

    Of equal variables only the narrowest bounds count; of equal bounds the first.
    """
    n = lower.size
    box = _without_copies(lower, upper, R)
    of_lower, of_upper, of_pairs = _derivatives(box)
    of_bounds, of_R = np.zeros(2 * n), np.zeros((n, n))
    # a bound of a copy with opposite sign is a bound on the other side
    of_bounds[box.lower_from] += np.where(box.lower_from < n, of_lower, -of_lower)
    of_bounds[box.upper_from] += np.where(box.upper_from < n, -of_upper, of_upper)
    of_R[np.ix_(box.kept, box.kept)] = of_pairs
    return of_bounds[:n], of_bounds[n:], of_R


@dataclass(frozen=True, eq=False)
class _Box:
    """A box without unbounded variables and without copies of variables."""

    lower: np.ndarray
    upper: np.ndarray
    R: np.ndarray
    kept: list[int]
    """Indices of its variables among the original ones."""
    lower_from: np.ndarray
    """Index of the original bound of each lower bound, counting all lower bounds, then all upper
    bounds.
    """
    upper_from: np.ndarray


def _without_copies(lower: np.ndarray, upper: np.ndarray, R: np.ndarray) -> _Box:
    """Remove variables that are unbounded, or (up to their sign) equal to another one, whose
    interval is intersected with theirs: R without them is less often singular.
    """
    n = lower.size
    lower, upper, kept = lower.copy(), upper.copy(), list[int]()
    lower_from, upper_from = np.arange(n), n + np.arange(n)
    for i in np.flatnonzero(np.isfinite(lower) | np.isfinite(upper)).tolist():
        same = [k for k in kept if abs(R[i, k]) > DEGENERATE]
        if not same:
            kept.append(i)
            continue
        k, own = same[0], ((lower[i], i), (upper[i], n + i))
        if R[i, k] < 0:
            own = (-upper[i], n + i), (-lower[i], i)
        if own[0][0] > lower[k]:
            lower[k], lower_from[k] = own[0]
        if own[1][0] < upper[k]:
            upper[k], upper_from[k] = own[1]
    pairs = R[np.ix_(kept, kept)]
    return _Box(lower[kept], upper[kept], pairs, kept, lower_from[kept], upper_from[kept])


def _derivatives(box: _Box) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """∂P/∂lower, ∂P/∂upper, ∂P/∂R of a box without copies."""
    lower, upper, R, n = box.lower, box.upper, box.R, box.lower.size
    of_lower, of_upper, of_R = np.zeros(n), np.zeros(n), np.zeros((n, n))
    if (lower >= upper).any():
        return of_lower, of_upper, of_R
    for i in range(n):
        of_lower[i] = -_given(lower, upper, R, [i], [lower[i]])
        of_upper[i] = _given(lower, upper, R, [i], [upper[i]])
        for j in range(i):
            corners = product(((lower[i], -1), (upper[i], 1)), ((lower[j], -1), (upper[j], 1)))
            of_R[i, j] = of_R[j, i] = sum(
                s * t * _given(lower, upper, R, [i, j], [a, b]) for (a, s), (b, t) in corners
            )
    return of_lower, of_upper, of_R


def _given(
    lower: np.ndarray, upper: np.ndarray, R: np.ndarray, fixed: list[int], at: list[float]
) -> float:
    """Density of the fixed variables at a point, times the conditional probability of the
    others.
    """
    if not np.isfinite(at).all():
        return 0.0
    c, rest = np.array(at), [k for k in range(lower.size) if k not in fixed]
    S = _regular(R[np.ix_(fixed, fixed)])
    inverse = np.linalg.inv(S)
    exponent = -0.5 * c @ inverse @ c - 0.5 * len(fixed) * math.log(2 * math.pi)
    density = math.exp(exponent) / math.sqrt(np.linalg.det(S))
    if not rest or density == 0:
        return density
    weights = R[np.ix_(rest, fixed)] @ inverse
    mean = weights @ c
    variance = R[np.ix_(rest, rest)] - weights @ R[np.ix_(fixed, rest)]
    determined = np.diag(variance) <= 1 - DEGENERATE  # by the fixed variables
    if ((mean < lower[rest]) | (mean > upper[rest]))[determined].any():
        return 0.0
    free = np.flatnonzero(~determined)
    σ = np.sqrt(np.diag(variance)[free])
    left = variance[np.ix_(free, free)] / np.outer(σ, σ)
    a, b = ((bound[rest] - mean)[free] / σ for bound in (lower, upper))
    return density * box_probability(a, b, np.clip(left, -1.0, 1.0))


def _regular(S: np.ndarray) -> np.ndarray:
    """Correlation matrix of one or two variables, with the correlation limited to `DEGENERATE`."""
    if len(S) == 1:
        return S
    r = float(np.clip(S[0, 1], -DEGENERATE, DEGENERATE))
    return np.array([[1.0, r], [r, 1.0]])


def _interval(a: float, b: float) -> float:
    """Φ(b) − Φ(a), computed by the upper tails if both are positive."""
    from scipy.special import ndtr

    return float(ndtr(b) - ndtr(a)) if a < 0 else float(ndtr(-a) - ndtr(-b))


def _two(lower: np.ndarray, upper: np.ndarray, r: float) -> float:
    """Probability of a box of two variables: ∫ φ(z) P[Z₂ in its interval | Z₁ = z] dz."""
    from scipy.integrate import quad

    r = float(np.clip(r, -DEGENERATE, DEGENERATE))
    σ = math.sqrt(1 - r * r)

    def density(z: float) -> float:
        inside = _interval((lower[1] - r * z) / σ, (upper[1] - r * z) / σ)
        return math.exp(-z * z / 2) / math.sqrt(2 * math.pi) * inside

    # the probability beyond 12 standard deviations is below 1e-32
    a, b = max(float(lower[0]), -12.0), min(float(upper[0]), 12.0)
    if a >= b:
        return 0.0
    kinks = [float(c) / r for c in (lower[1], upper[1]) if r and math.isfinite(c)]
    inner = sorted(k for k in kinks if a < k < b)
    edges = [a, *inner, b]
    return sum(
        float(quad(density, p, q, epsabs=1e-13, epsrel=1e-11, limit=200)[0])
        for p, q in pairwise(edges)
    )
