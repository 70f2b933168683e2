"""Counts of values by their distance from a centre, in bins that are finer the smaller the distance
is; merged exactly, in any order.

The key of a distance  d = x − c  is |d| as a floating-point number, truncated to the first r bits
of its fraction: 2ʳ equal bins in each octave. The keys of the nearest and the farthest distance so
far determine r, the largest (up to 6) for which both lie within a given number of bins; the keys of
a smaller r are those of a larger one, halved. So the bins depend only on the values themselves, and
a merged sketch is that of all values, in any order. A bin is no wider than 2⁻ʳ of its distance from
the centre, whatever the distribution: 1.6 % up to 16 octaves, 3.1 % up to 32, 6.3 % up to 64. C.
Masson, J. E. Rim and H. K. Lee, DDSketch, Proc. VLDB 12 (2019); halved keys: I. Epicoco et al.,
UDDSketch, IEEE Access 8 (2020).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.array_modules import module_of, on_host
from .histogram import coarser

SIDE = 1024
"""Number of bins on either side of the centre; a round value."""
FINEST = 6
"""Largest r: 1.6 % resolution, finer than sampling errors."""
DROPPED = 52 - FINEST
"""Bits of a floating-point number that its finest key omits."""
NEITHER = 1 << 62
"""Key of the smallest distance if there is no distance."""


@dataclass(frozen=True, eq=False)
class Sketch:
    """Counts of values by distance from a centre, one sketch for each column."""

    centre: np.ndarray
    """Centre c of each column; merged sketches have the same centre."""
    near: np.ndarray
    """Finest key of the smallest distance in each column, values at the centre excluded."""
    far: np.ndarray
    """Finest key of the largest distance in each column."""
    same: np.ndarray
    """Number of values at the centre."""
    counts: np.ndarray
    """(column, side, bin): side 0 is below the centre, 1 above; bins start at the nearest one."""

    @classmethod
    def of(cls, values: Any, centre: np.ndarray) -> Sketch:
        """Sketch of finite values, (n, column), which may be on a GPU."""
        module = module_of(values)
        n, columns = values.shape
        d = values - module.asarray(centre)
        keys = module.abs(d).view(np.int64)
        keys >>= DROPPED
        same = d == 0
        near = on_host(module.where(same, NEITHER, keys).min(axis=0))
        far = on_host(keys.max(axis=0))
        shift = _shift(near, far)
        keys >>= module.asarray(shift)
        keys -= module.asarray(near >> shift)
        keys += SIDE * (d > 0)
        keys = module.where(same, 2 * SIDE, keys)
        keys += module.asarray((2 * SIDE + 1) * np.arange(columns))
        counts = on_host(module.bincount(keys.ravel(), minlength=columns * (2 * SIDE + 1)))
        counts = counts.reshape(columns, -1)
        kind = np.min_scalar_type(n)
        return cls(
            centre,
            near,
            far,
            counts[:, -1].copy(),
            counts[:, :-1].reshape(columns, 2, SIDE).astype(kind),
        )

    def merged(self, other: Sketch) -> Sketch:
        """Sketch of the values of both sketches."""
        near, far = np.minimum(self.near, other.near), np.maximum(self.far, other.far)
        # no count can be larger than all of them together
        kind = np.min_scalar_type(
            int(self.same[0] + self.counts[0].sum() + other.same[0] + other.counts[0].sum())
        )
        counts = self._on(near, far, kind) + other._on(near, far, kind)
        return Sketch(self.centre, near, far, self.same + other.same, counts)

    def ordered(self) -> np.ndarray:
        """Counts from the smallest values to the largest, (column, bin)."""
        return np.concatenate(
            [self.counts[:, 0, ::-1], self.same[:, None], self.counts[:, 1]], axis=1
        )

    def bounds(self, place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of one bin in each column, by its index in order."""
        bin_ = place - SIDE  # below 0 on the lower side, 0 for the centre
        shift = _shift(self.near, self.far)
        near = np.where(self.near <= self.far, self.near, 0)
        key = ((near >> shift) + np.abs(bin_) - 1) << shift
        inner, outer = _distance(key), _distance(key + (1 << shift))
        lower = np.where(bin_ < 0, -outer, np.where(bin_ > 0, inner, 0.0))
        upper = np.where(bin_ < 0, -inner, np.where(bin_ > 0, outer, 0.0))
        return self.centre + lower, self.centre + upper

    def _on(self, near: np.ndarray, far: np.ndarray, kind: np.dtype) -> np.ndarray:
        """Counts in equal or coarser bins between these keys."""
        counts = self.counts.astype(kind)
        mine, shift = _shift(self.near, self.far), _shift(near, far)
        first, begin = self.near >> mine, near >> shift
        used = np.where(self.near <= self.far, (self.far >> mine) - first + 1, 0)
        for c in np.flatnonzero((shift != mine) | (begin != first)).tolist():
            counts[c] = 0
            if not used[c]:
                continue
            for side in range(2):
                at, coarse = coarser(
                    self.counts[c, side, : used[c]], int(first[c]), int(shift[c] - mine[c])
                )
                at -= int(begin[c])
                counts[c, side, at : at + len(coarse)] = coarse
        return counts


def _shift(near: np.ndarray, far: np.ndarray) -> np.ndarray:
    """Number of bits by which keys are shortened so that the keys of each column fit into the bins
    of a side.
    """
    shift = np.zeros(near.shape, np.int64)
    while (wide := (near <= far) & ((far >> shift) - (near >> shift) >= SIDE)).any():
        shift += wide
    return shift


def _distance(key: np.ndarray) -> np.ndarray:
    """Smallest distance with a given finest key."""
    return np.ascontiguousarray(key << DROPPED).view(float)
