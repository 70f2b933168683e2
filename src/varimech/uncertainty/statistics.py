"""Streaming statistics: means and central moments of columns of values, merged pairwise.

For parts a and b with n = n_a + n_b values and δ = x̄_b − x̄_a,

    x̄ = x̄_a + δ n_b / n,        M₂ = M₂a + M₂b + δ² n_a n_b / n,

and likewise M₃ and M₄, sums of powers of x − x̄. P. Pébay, Formulas for robust, one-pass parallel
computation of covariances and arbitrary-order statistical moments, Sandia report SAND2008-6212
(2008). Within a part all values are taken relative to the first one, so the variance of a constant
column is exactly zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from ..core.array_modules import module_of, on_host
from .histogram import BINS, Histogram
from .sketch import Sketch

BLOCK = 1 << 16
"""Number of values processed at a time, so that they stay in the cache of the CPU."""


@dataclass(frozen=True, eq=False)
class Summary:
    """Count, mean, M₂ to M₄, histogram and sketch of each column."""

    mean: np.ndarray
    m2: np.ndarray
    m3: np.ndarray
    m4: np.ndarray
    histogram: Histogram
    sketch: Sketch

    @classmethod
    def of(cls, values: Any, centre: np.ndarray, bins: int = BINS) -> Summary:
        """Summary of finite values, (n, column), at least one, which may be on a GPU; `centre` is the
        sketch centre of each column.
        """
        columns = values.shape[1]
        wide = max(1, BLOCK // len(values)) if module_of(values) is np else columns
        parts = [
            cls._of_few(values[:, k : k + wide], centre[k : k + wide], bins)
            for k in range(0, columns, wide)
        ]
        return parts[0] if len(parts) == 1 else _side_by_side(parts)

    @classmethod
    def _of_few(cls, values: Any, centre: np.ndarray, bins: int) -> Summary:
        module = module_of(values)
        values = module.ascontiguousarray(values)
        d, offset = _from_mean(values)
        d2 = d * d
        sums = [module.einsum("ij,ij->j", a, b) for a, b in ((d, d), (d2, d), (d2, d2))]
        mean, m2, m3, m4 = map(on_host, (values[0] + offset, *sums))
        return cls(mean, m2, m3, m4, Histogram.of(values, bins), Sketch.of(values, centre))

    @property
    def count(self) -> int:
        """Number of values in each column."""
        return self.histogram.count

    @property
    def variance(self) -> np.ndarray:
        """Unbiased variance of each column; NaN for a single value."""
        return self.m2 / (self.count - 1) if self.count > 1 else np.full_like(self.m2, np.nan)

    def merged(self, other: Summary) -> Summary:
        """Summary of the values of both summaries."""
        a, b, n = self.count, other.count, self.count + other.count
        δ = other.mean - self.mean
        u = δ / n
        m2 = self.m2 + other.m2 + δ * u * a * b
        m3 = (
            self.m3
            + other.m3
            + δ * u * u * (a * b * (a - b))
            + 3 * u * (a * other.m2 - b * self.m2)
        )
        m4 = (
            self.m4
            + other.m4
            + δ * u**3 * (a * b * (a * a - a * b + b * b))
            + 6 * u * u * (a * a * other.m2 + b * b * self.m2)
            + 4 * u * (a * other.m3 - b * self.m3)
        )
        histogram, sketch = self.histogram.merged(other.histogram), self.sketch.merged(other.sketch)
        return Summary(self.mean + u * b, m2, m3, m4, histogram, sketch)


def _side_by_side(parts: list[Summary]) -> Summary:
    """Combine summaries of different columns."""

    def joined(of: list[Any], names: tuple[str, ...]) -> dict[str, np.ndarray]:
        return {name: np.concatenate([getattr(x, name) for x in of]) for name in names}

    h, s = [p.histogram for p in parts], [p.sketch for p in parts]
    histogram = Histogram(h[0].count, **joined(h, ("low", "high", "exponent", "first", "counts")))
    sketch = Sketch(**joined(s, ("centre", "near", "far", "same", "counts")))
    return Summary(**joined(parts, ("mean", "m2", "m3", "m4")), histogram=histogram, sketch=sketch)


@dataclass(frozen=True, eq=False)
class CoMoments:
    """Means of values y and of a control x, and sums of products of their deviations; zeros without
    a control.
    """

    count: int
    mean: np.ndarray
    control: np.ndarray
    """Mean of x."""
    yy: np.ndarray
    xy: np.ndarray
    xx: np.ndarray

    @classmethod
    def without_control(cls, summary: Summary) -> CoMoments:
        """Co-moments of values that have a summary."""
        none = np.zeros_like(summary.mean)
        return cls(summary.count, summary.mean, none, summary.m2, none, none)

    @classmethod
    def of(cls, values: Any, control: Any) -> CoMoments:
        """Co-moments of finite values, (n, column), and their control; both may be on a GPU."""
        (dy, mean), (dx, offset) = _from_mean(values), _from_mean(control)
        products = ((dy, dy), (dx, dy), (dx, dx))
        sums = [module_of(values).einsum("ij,ij->j", a, b) for a, b in products]
        return cls(len(values), *map(on_host, (values[0] + mean, control[0] + offset, *sums)))

    @classmethod
    def of_parts(cls, values: Any, control: Any | None, sizes: Sequence[int]) -> list[CoMoments]:
        """Co-moments of parts of the values with `sizes` rows each, computed at once if the sizes
        are equal.
        """
        control = module_of(values).zeros_like(values) if control is None else control
        equal = len(set(sizes)) == 1
        if not equal:
            ends = np.cumsum([0, *sizes]).tolist()
            return [cls.of(values[a:b], control[a:b]) for a, b in pairwise(ends)]
        y, x = (a.reshape(len(sizes), sizes[0], -1) for a in (values, control))
        (dy, mean), (dx, offset) = _from_mean(y, 1), _from_mean(x, 1)
        sums = [(a * b).sum(axis=1) for a, b in ((dy, dy), (dx, dy), (dx, dx))]
        arrays = [on_host(a) for a in (y[:, 0] + mean, x[:, 0] + offset, *sums)]
        return [cls(sizes[0], *[a[k] for a in arrays]) for k in range(len(sizes))]

    def merged(self, other: CoMoments) -> CoMoments:
        """Co-moments of the values of both."""
        n = self.count + other.count
        share, both = other.count / n, self.count * other.count / n
        δy, δx = other.mean - self.mean, other.control - self.control
        return CoMoments(
            n,
            self.mean + share * δy,
            self.control + share * δx,
            self.yy + other.yy + both * δy * δy,
            self.xy + other.xy + both * δx * δy,
            self.xx + other.xx + both * δx * δx,
        )

    def columns(self, selected: slice) -> CoMoments:
        """Co-moments of a range of the columns."""
        return CoMoments(
            self.count,
            *[getattr(self, name)[selected] for name in ("mean", "control", "yy", "xy", "xx")],
        )


Statistics = TypeVar("Statistics", Summary, CoMoments)


def both(a: Statistics | None, b: Statistics | None) -> Statistics | None:
    """Merge two parts, either of which may be None."""
    return b if a is None else a if b is None else a.merged(b)


def _from_mean(values: Any, axis: int = 0) -> tuple[Any, Any]:
    """Deviations from the mean along an axis, and the mean relative to the first value."""
    d = values - values.take([0], axis=axis)
    offset = d.mean(axis=axis)
    d -= offset if axis == 0 else offset[:, None]
    return d, offset
