"""Histograms that can be merged exactly, in any order.

Bins are the intervals  [k 2ᵉ, (k + 1) 2ᵉ)  of a grid that depends only on the smallest and the
largest value so far: e is the smallest exponent for which both lie within a given number of bins. A
coarser grid contains the bounds of every finer one, so merging two histograms adds bins, and the
result is the histogram of all values, in any order. Between half and all of the bins are used.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..core.array_modules import module_of, on_host

BINS = 1024
"""Number of bins, a round value: a bin is at most 0.2 % of the range."""
RELATIVE = 40
"""No bin is narrower than 2⁻⁴⁰ of the largest value: finer bins would only resolve rounding; bin
indices stay exact.
"""
LOWEST = -960
"""Smallest exponent, so that scaling stays within the range of numbers."""


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts of values in bins, one histogram for each column."""

    count: int
    """Number of values in each column."""
    low: np.ndarray
    high: np.ndarray
    exponent: np.ndarray
    """Exponent e of each column: its bins are 2ᵉ wide."""
    first: np.ndarray
    """Index k of the first bin of each column, which contains its smallest value."""
    counts: np.ndarray
    """(column, bin)"""

    @classmethod
    def of(cls, values: Any, bins: int = BINS) -> Histogram:
        """Histogram of finite values, (n, column), which may be on a GPU."""
        module = module_of(values)
        low, high = on_host(values.min(axis=0)), on_host(values.max(axis=0))
        exponent, first = _grid(low, high, bins)
        n, columns = values.shape
        places = values * module.asarray(np.ldexp(1.0, -exponent))
        module.floor(places, out=places)
        # exact: whole numbers below 2⁵³
        places -= module.asarray((first - bins * np.arange(columns)).astype(float))
        all_places = places.astype(np.intp).ravel()
        counts = on_host(module.bincount(all_places, minlength=columns * bins))
        counts = counts.reshape(columns, bins).astype(np.min_scalar_type(n))
        return cls(n, low, high, exponent, first, counts)

    def merged(self, other: Histogram) -> Histogram:
        """Histogram of the values of both histograms."""
        count = self.count + other.count
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        exponent, first = _grid(low, high, self.counts.shape[1])
        kind = np.min_scalar_type(count)
        counts = self._on(exponent, first, kind) + other._on(exponent, first, kind)
        return Histogram(count, low, high, exponent, first, counts)

    def ordered(self) -> np.ndarray:
        """Counts from the smallest values to the largest, (column, bin)."""
        return self.counts

    def bounds(self, place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of one bin in each column, by its index in order."""
        return (self.first + place) * self.width, (self.first + place + 1) * self.width

    @property
    def width(self) -> np.ndarray:
        """Width of the bins of each column."""
        return np.ldexp(1.0, self.exponent)

    def edges(self, column: int) -> np.ndarray:
        """Edges of the used bins of a column."""
        return (self.first[column] + np.arange(self.used[column] + 1)) * self.width[column]

    @cached_property
    def used(self) -> np.ndarray:
        """Number of used bins of each column, up to that of its largest value."""
        return (np.floor(self.high * np.ldexp(1.0, -self.exponent)) - self.first + 1).astype(
            np.int64
        )

    def _on(self, exponent: np.ndarray, first: np.ndarray, kind: np.dtype) -> np.ndarray:
        """Counts on an equal or coarser grid."""
        counts = self.counts.astype(kind)
        # column by column is faster than indexing all at once
        for c in np.flatnonzero((exponent != self.exponent) | (first != self.first)).tolist():
            begin, coarse = coarser(
                self.counts[c, : self.used[c]],
                int(self.first[c]),
                int(exponent[c] - self.exponent[c]),
            )
            begin -= int(first[c])
            counts[c] = 0
            counts[c, begin : begin + len(coarse)] = coarse
        return counts


def coarser(counts: np.ndarray, first: int, times: int) -> tuple[int, np.ndarray]:
    """Counts on bins 2^times as wide, and the index of the first of them."""
    if not times:
        return first, counts
    begin, size = first >> times, len(counts)
    second = min(((begin + 1) << times) - first, size)  # where the second coarse bin begins
    step = min(1 << times, size)
    bounds = np.arange(second - step, size, step)
    bounds[0] = 0
    return begin, np.add.reduceat(counts, bounds)


def _grid(low: np.ndarray, high: np.ndarray, bins: int) -> tuple[np.ndarray, np.ndarray]:
    """Exponents and first bins of grids for columns between these values. Scaling by powers of two
    is exact, and so is the whole computation.
    """
    half, largest = high / 2 - low / 2, np.maximum(np.abs(low), np.abs(high))
    by_range = np.where(half > 0, np.frexp(half)[1] - 1 - bins.bit_length(), LOWEST)
    by_size = np.where(largest > 0, np.frexp(largest)[1] - RELATIVE, LOWEST)
    exponent = np.maximum(np.maximum(by_range, by_size), LOWEST).astype(np.int64)
    while True:
        scale = np.ldexp(1.0, -exponent)
        first = np.floor(low * scale)
        wide = np.floor(high * scale) - first >= bins
        if not wide.any():
            return exponent, first.astype(np.int64)
        exponent += wide
