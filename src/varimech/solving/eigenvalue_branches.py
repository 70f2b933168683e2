"""Eigenvalues λᵢ(v) as continuous functions of a parameter, and where they meet a condition.

From one value to the next, eigenvalues are matched by their derivatives: the predictions of both
ends for the middle,

    λᵢ(a) + ½ h λᵢ'(a)   and   λⱼ(b) − ½ h λⱼ'(b),

are assigned to each other with the least sum of distances. Where a match is not much nearer than
the next eigenvalue, the interval is halved. Where eigenvalues meet (a pair becomes real), no
derivative continues them: either order is right, and the least distance decides.

A condition is F = Re(w λ) + c v = 0: w = 1 for the imaginary axis, w = −i/2π and c = −n for a
frequency that equals n v. Newton's method solves it within the interval where F changes its sign,
and

    dv/dρ = −Re(w λ_ρ) / (Re(w λ_v) + c).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..results.eigenvalue_curves import Branches, Crossing
from .eigenvalues import Spectrum

At = Callable[[float], Spectrum]
"""Parameter value → spectrum; the first derivatives are with respect to that parameter."""
HALVINGS = 7
"""Largest number of halvings of an interval: eigenvalues that are still not separated meet there.
"""
CLEAR = 0.25
"""Share of the distance to the next eigenvalue by which a match may miss the prediction."""
TOGETHER = 1e-7
"""Distance, over the largest eigenvalue, below which two eigenvalues are equal, as those of
symmetric mechanisms are everywhere.
"""
ON_IT = 1e-10
"""Distance from a condition, over the largest eigenvalue, that counts as rounding."""
ITERATIONS = 60
"""Iterations of Newton's method within an interval: bisection alone reaches rounding in 52."""
CONVERGED = 1e-14
"""Step of the parameter, relative to its size, at which the iteration ends."""


class CountChange(Exception):
    """The number of eigenvalues changes.

    Attributes:
        value: value of the parameter at which the number differs.
    """

    def __init__(self, value: float):
        super().__init__(value)
        self.value = value


@dataclass(frozen=True)
class Condition:
    """The condition F = Re(w λ) + c v = 0."""

    w: complex
    c: float = 0.0
    oscillating: bool = False
    """Whether only eigenvalues with Im λ > 0 count."""


def track(at: At, values: np.ndarray) -> Branches:
    """Track branches over increasing or decreasing values, in the order of frequencies at the first
    one.

    Raises:
        CountChange: if the number of eigenvalues changes.
    """
    spectra = [at(float(v)) for v in values]
    first = spectra[0].values
    for v, s in zip(values, spectra, strict=True):
        if s.values.size != first.size:
            raise CountChange(float(v))
    order = np.array(
        sorted(
            range(first.size), key=lambda k: (abs(first[k].imag), -first[k].real, -first[k].imag)
        ),
        dtype=int,
    )
    orders = [order]
    for (a, x), (b, y) in pairwise(zip(values, spectra, strict=True)):
        orders.append(_match(at, float(a), x, float(b), y, HALVINGS)[orders[-1]])
    ordered = list(zip(spectra, orders, strict=True))
    derivatives = []
    for s, k in ordered:
        assert s.derivatives is not None
        derivatives.append(s.derivatives[k])
    return Branches(
        np.asarray(values, dtype=float),
        np.array([s.values[k] for s, k in ordered]),
        np.array(derivatives),
    )


def _match(at: At, a: float, x: Spectrum, b: float, y: Spectrum, halvings: int) -> np.ndarray:
    """Return, for each eigenvalue at a, the index of its continuation at b."""
    from scipy.optimize import linear_sum_assignment

    if not x.values.size:
        return np.zeros(0, dtype=int)
    ahead, back = _predicted(x, (b - a) / 2), _predicted(y, (a - b) / 2)
    distance = np.abs(ahead[:, None] - back[None, :])
    _, partner = linear_sum_assignment(distance)
    if halvings and not _is_clear(x, y, distance, partner):
        middle = (a + b) / 2
        z = at(middle)
        if z.values.size == x.values.size:
            first = _match(at, a, x, middle, z, halvings - 1)
            return _match(at, middle, z, b, y, halvings - 1)[first]
    return np.asarray(partner)


def _predicted(s: Spectrum, h: float) -> np.ndarray:
    assert s.derivatives is not None
    derivatives = s.derivatives[:, 0]
    return np.asarray(s.values + h * np.where(np.isfinite(derivatives), derivatives, 0.0))


def _is_clear(x: Spectrum, y: Spectrum, distance: np.ndarray, partner: np.ndarray) -> bool:
    """Whether each match is much nearer than all other, distinct eigenvalues."""
    n = len(partner)
    size = TOGETHER * max(np.abs(x.values).max(), np.abs(y.values).max())
    p, q = x.values, y.values[partner]
    same = (np.abs(p[:, None] - p) <= size) & (np.abs(q[:, None] - q) <= size)
    missed = distance[range(n), partner]
    others = np.where(same, np.inf, distance[:, partner])
    return bool((missed <= CLEAR * others.min(axis=1) + size).all())


def crossings(at: At, branches: Branches, condition: Condition) -> list[Crossing]:
    """Find where branches with Im λ ≥ 0 meet a condition, in the order of values. A branch that
    stays on it (undamped oscillations on the imaginary axis) does not meet it.
    """
    located = []
    λ, v = branches.eigenvalues, branches.values
    F = (condition.w * λ).real + condition.c * v[:, None]
    largest = float(np.abs(λ).max(initial=0.0))
    signs = np.where(np.abs(F) > ON_IT * abs(condition.w) * largest, np.sign(F), 0.0)
    for j in range(λ.shape[1]):
        for i, k in pairwise(np.flatnonzero(signs[:, j])):
            if signs[i, j] == signs[k, j] or k > i + 2 or not branches.joins(int(i), int(k)):
                continue
            lowest = λ[i : k + 1, j].imag.min() / (largest or 1.0)
            if lowest < -TOGETHER or (condition.oscillating and lowest <= TOGETHER):
                continue
            located.append(_located(at, branches, (int(i), int(k)), j, condition))
    return sorted(located, key=lambda c: (c.value * np.sign(v[-1] - v[0]), c.branch))


def _located(
    at: At, branches: Branches, rows: tuple[int, int], j: int, condition: Condition
) -> Crossing:
    """Locate a crossing by Newton's method between two values, with bisection where it leaves them."""
    ends = [
        (float(branches.values[i]), branches.eigenvalues[i, j], branches.derivatives[i, j, 0])
        for i in rows
    ]

    def condition_at(v: float, λ: complex) -> float:
        return float((condition.w * λ).real + condition.c * v)

    (a, λa, _), (b, λb, _) = ends
    rising = condition_at(b, λb) > condition_at(a, λa)
    v = a + (b - a) * condition_at(a, λa) / (condition_at(a, λa) - condition_at(b, λb))
    width = abs(b - a)
    for _ in range(ITERATIONS):
        s = at(v)
        assert s.derivatives is not None
        i = int(np.abs(s.values - _between(ends, v)).argmin())
        λ, λ_ = complex(s.values[i]), s.derivatives[i]
        ends[int((condition_at(v, λ) > 0) == rising)] = (v, λ, λ_[0])
        slope = float((condition.w * λ_[0]).real + condition.c)
        step = -condition_at(v, λ) / slope if np.isfinite(slope) and slope else np.inf
        low, high = sorted((ends[0][0], ends[1][0]))
        if not low <= v + step <= high:
            step = (low + high) / 2 - v
        v += step
        if abs(step) <= CONVERGED * max(abs(v), width):
            break
    passes = np.isfinite(slope) and slope != 0
    further = (condition.w * λ_[1:]).real
    return Crossing(v, j, λ, slope, -further / slope if passes else np.full(further.shape, np.nan))


def _between(ends: list[tuple[float, complex, complex]], v: float) -> complex:
    """Interpolate by Hermite's cubic between two values, or by the chord where a derivative is
    missing.
    """
    (a, x, x_), (b, y, y_) = ends
    h = b - a
    if not h:
        return x
    s = (v - a) / h
    chord = x + s * (y - x)
    if not np.isfinite([x_, y_]).all():
        return chord
    return chord + s * (1 - s) * ((1 - s) * (h * x_ - (y - x)) - s * (h * y_ - (y - x)))
