"""Piecewise polynomials of tables, as symbolic expressions.

    f(x) = Σ_k c_ik (x − x_i)^k,     x_i ≤ x < x_{i+1}

All coefficients of a piece are selected first, and the polynomial is evaluated once: derivatives of
any order share the selection, and are exact at x_i, too. Whether x has passed x_i is stated as
¬max(x_i − x, 0), which other packages read as a kink (steps end there), not as a jump
(`sensitivity/smoothness`, `solving/time_resolution`).

Tried and rejected: Σ_i p_i(min(max(x, x_i), x_{i+1})). CasADi takes the mean of both sides as
derivative where two arguments of min and max are equal, so second derivatives at x_i are half of
their correct value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

from .symbols import SX

Values = Sequence[Any] | np.ndarray
"""Numbers, or scalar expressions."""
MARGIN = 1e-9
"""Share of a table's range by which an argument may leave it under outside="error": the time of a
stage is rounded, so a run to the last row would end outside of it.
"""


@dataclass(frozen=True)
class Pieces:
    """Polynomials, from left to right."""

    breaks: list[float]
    """Argument at which each piece but the first begins."""
    origins: list[float]
    coefficients: list[list[Any]]
    """Coefficients of (x − origin)^k, k = 0, 1, …; omitted ones are zero."""


class Selection:
    """The piece that contains an argument."""

    def __init__(self, x: SX, pieces: Pieces):
        after = [ca.logic_not(ca.fmax(b - x, 0)) for b in pieces.breaks]
        self._chosen = [SX(1)]
        if after:
            inner = [a - b for a, b in pairwise(after)]
            self._chosen = [ca.logic_not(after[0]), *inner, after[-1]]
        self._offset = x - self._selected(pieces.origins)

    def value(self, pieces: Pieces) -> SX:
        """Evaluate the polynomial of this piece. Other `pieces` may have other coefficients, but
        the same breaks and origins.
        """
        degree = max(map(len, pieces.coefficients)) - 1
        total = SX(0)
        for k in range(degree, -1, -1):
            column = [c[k] if k < len(c) else 0.0 for c in pieces.coefficients]
            total = self._selected(column) + self._offset * total
        return total

    def _selected(self, values: Sequence[Any]) -> SX:
        """Return the value of the selected piece: a sum of which all other terms are zero, so it is
        exact.
        """
        if len({v for v in values if isinstance(v, float)}) == 1 and not any(
            isinstance(v, SX) for v in values
        ):
            return SX(values[0])
        terms = [
            SX.binary(ca.OP_IF_ELSE_ZERO, chosen, SX(v))
            for chosen, v in zip(self._chosen, values, strict=True)
            if isinstance(v, SX) or v != 0
        ]
        return sum(terms[1:], terms[0])


def pieces_of(x: np.ndarray, y: Values, kind: str, outside: str, ends: str) -> Pieces:
    """Return the polynomials through the points of a table, and those outside of its range.

    Args:
        x: arguments, increasing.
        y: values, numbers or expressions.
        kind: "linear", "pchip" or "cubic".
        outside: "linear", "hold", "error" or "repeat".
        ends: end conditions of a cubic spline.
    """
    v = [value if isinstance(value, SX) else float(value) for value in y]
    h = np.diff(x).tolist()
    δ = [(b - a) / step for a, b, step in zip(v, v[1:], h, strict=False)]
    if kind == "linear":
        rows = [[a, slope] for a, slope in zip(v, δ, strict=False)]
        last = δ[-1]
    else:
        s = _slopes(x, v, kind, outside, ends)
        rows = [_hermite(*each) for each in zip(v, s, s[1:], δ, h, strict=False)]
        last = s[-1]
    breaks, origins = x[1:-1].tolist(), x[:-1].tolist()
    before, after = float(x[0]), float(np.nextafter(x[-1], np.inf))
    if outside == "repeat" or (outside == "linear" and kind == "linear"):
        return Pieces(breaks, origins, rows)
    first, final = [v[0], rows[0][1]], [v[-1], last]
    if outside == "hold":
        first, final = first[:1], final[:1]
    elif outside == "error":
        margin = MARGIN * float(x[-1] - x[0])
        before, after, first, final = before - margin, after + margin, [np.nan], [np.nan]
    return Pieces(
        [before, *breaks, after], [float(x[0]), *origins, float(x[-1])], [first, *rows, final]
    )


def wrapped_argument(x: SX, grid: np.ndarray) -> SX:
    """Shift the argument by whole periods into the range of a table that repeats."""
    period = float(grid[-1] - grid[0])
    return x - period * ca.floor((x - float(grid[0])) / period)


def _hermite(a: Any, slope: Any, next_slope: Any, δ: Any, h: float) -> list[Any]:
    """Return the coefficients of the cubic with given values and slopes at both ends, in SciPy's
    order.
    """
    t = (slope + next_slope - 2 * δ) / h
    return [a, slope, (δ - slope) / h - t, t / h]


def _slopes(x: np.ndarray, v: list[Any], kind: str, outside: str, ends: str) -> list[Any]:
    """Return the derivatives at the points: SciPy's for numbers, expressions of the values
    otherwise.
    """
    if kind == "cubic":
        return _spline_slopes(x, v, ends)
    if outside == "repeat":  # add two points on each side, of the neighbouring periods
        period, size = x[-1] - x[0], x.size
        around = np.concatenate([x[-3:-1] - period, x, x[1:3] + period])
        return _pchip_slopes(around, [*v[-3:-1], *v, *v[1:3]])[2 : 2 + size]
    return _pchip_slopes(x, v)


def _spline_slopes(x: np.ndarray, v: list[Any], ends: str) -> list[Any]:
    """Return the slopes of a cubic spline, which are linear in its values."""
    from scipy.interpolate import CubicSpline  # slow to import, and rarely needed

    def at_points(columns: np.ndarray) -> np.ndarray:
        spline = CubicSpline(x, columns, bc_type=ends)
        return np.concatenate([spline.c[-2], spline(x[-1:], 1)])

    if not any(isinstance(value, SX) for value in v):
        return list(at_points(np.array(v)).tolist())
    unit = np.eye(x.size)
    if ends == "periodic":  # the last value is the first
        unit[-1], unit[:, -1] = unit[0], 0.0
    parts = at_points(unit)
    known = np.array([0.0 if isinstance(value, SX) else value for value in v])
    symbolic = [k for k, value in enumerate(v) if isinstance(value, SX)]
    return [
        sum((float(row[k]) * v[k] for k in symbolic if row[k]), SX(float(row @ known)))
        for row in parts
    ]


def _pchip_slopes(x: np.ndarray, v: list[Any]) -> list[Any]:
    """Return the slopes of PCHIP: weighted harmonic means of the slopes of neighbouring intervals,
    zero at extrema (F. N. Fritsch and J. Butland, SIAM J. Sci. Stat. Comput. 5 (1984) 300-304); at
    the ends, slopes of a parabola through three points.
    """
    if not any(isinstance(value, SX) for value in v):
        from scipy.interpolate import PchipInterpolator  # slow to import, and rarely needed

        curve = PchipInterpolator(x, np.array(v))
        return [*curve.c[-2].tolist(), float(curve(x[-1], 1))]
    h = np.diff(x).tolist()
    δ = [SX(b - a) / step for a, b, step in zip(v, v[1:], h, strict=False)]
    if len(δ) == 1:
        return [δ[0], δ[0]]
    inner = [_mean(*each) for each in zip(δ, δ[1:], h, h[1:], strict=False)]
    return [_end(δ[0], δ[1], h[0], h[1]), *inner, _end(δ[-1], δ[-2], h[-1], h[-2])]


def _mean(a: SX, b: SX, h: float, after: float) -> SX:
    """Return (w₁ + w₂)/(w₁/a + w₂/b) where a and b have the same sign, otherwise 0; it never
    divides by 0.
    """
    first, second = 2 * after + h, after + 2 * h
    product = ca.fmax(a * b, 0)
    none = ca.logic_not(product)
    below = SX.binary(ca.OP_IF_ELSE_ZERO, ca.logic_not(none), first * b + second * a)
    return (first + second) * product / (below + none)


def _end(a: SX, b: SX, h: float, after: float) -> SX:
    """Return the slope of a parabola through three points at an end, limited to between 0 and 3 a."""
    slope = ((2 * h + after) * a - h * b) / (h + after)
    return ca.fmin(ca.fmax(slope, ca.fmin(3 * a, 0)), ca.fmax(3 * a, 0))
