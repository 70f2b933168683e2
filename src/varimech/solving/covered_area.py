"""Area of the image of a map from a region of the plane into the plane, from curves that bound it.

A point p of the image has N(p) preimages. Where the determinant of the map keeps its sign σ, their
number is σ times the winding number of the image of the boundary about p, so that

    N(p) = Σ c · (angle that a curve subtends at p) / 2π,

with c = σ for the boundary of the region, and c = 2 for folds (determinant zero), which bound a
sheet on either side. The image is N ≥ 1. Curves with N = 0 on one side bound it, and with Δ the
difference of N across a curve, to which coincident curves contribute c each,

    A  = Σ ± (c/Δ) ∫ ½ (x dy − y dx),      A' = Σ ± (c/Δ) ∫ (x' dy − y' dx),

where x', y' are derivatives of points of the curves; components tangential to a curve do not
contribute. Pieces of curves are parabolas through three points, so errors decrease with the fourth
power of their length.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

ASIDE = 1e-6
"""Distance from a piece, over its length, of the points at which preimages are counted: far above
rounding, far below the distance of other curves.
"""
SHORT = 1e-9
"""Length, over the size of the image, below which a piece is a point."""
STRAIGHT = 1e-14
"""Height of a parabola, over its length, below which it is rounding."""
GAUSS = 0.5 + np.array([-0.5, 0.5]) / np.sqrt(3)


@dataclass(frozen=True)
class CoveredArea:
    """Pieces of all curves that may bound the image."""

    points: np.ndarray
    """(piece, 3, 2): first point, a point in the middle, last point."""
    jumps: np.ndarray
    """c of each piece: its contribution to N on its left side."""

    @cached_property
    def area(self) -> float:
        """Area of the image."""
        a, b, c = self._polynomials
        piece, t0, t1, weight = self._outside
        a, b, c = a[piece] - a.mean(axis=0), b[piece], c[piece]

        def integral(t: np.ndarray) -> np.ndarray:
            return _cross(a, b) * t + _cross(a, c) * t**2 + _cross(b, c) * t**3 / 3

        return float(0.5 * np.sum(weight * (integral(t1) - integral(t0))))

    def area_derivatives(self, changes: np.ndarray) -> np.ndarray:
        """Compute A' from derivatives of the points, (piece, 3, 2, parameter)."""
        _, b, c = self._polynomials
        α, β, γ = _parabolas(changes)
        piece, t0, t1, weight = self._outside
        total = np.zeros(changes.shape[3])
        for x in GAUSS:  # Gauss quadrature is exact up to degree three
            t = (t0 + x * (t1 - t0))[:, None]
            along = (b[piece] + 2 * c[piece] * t)[:, :, None]
            s = t[:, :, None]
            moved = α[piece] + β[piece] * s + γ[piece] * s**2
            part = moved[:, 0] * along[:, 1] - moved[:, 1] * along[:, 0]
            total += 0.5 * ((weight * (t1 - t0)) @ part)
        return total

    @property
    def boundary(self) -> np.ndarray:
        """Indices of the pieces of which some part bounds the image."""
        piece, *_ = self._outside
        return np.unique(piece)

    def cut(self, k: int) -> list[np.ndarray]:
        """Return the parts of a piece that bound the image, each by three points."""
        piece, t0, t1, _ = self._outside
        a, b, c = (x[k] for x in self._polynomials)
        return [
            np.array([a + b * t + c * t**2 for t in (s, (s + e) / 2, e)])
            for s, e in zip(t0[piece == k], t1[piece == k], strict=True)
        ]

    @cached_property
    def gap(self) -> float:
        """Closure gap of the boundary (m): zero, unless parts were not separated."""
        _, b, c = self._polynomials
        piece, t0, t1, weight = self._outside
        along = b[piece] * (t1 - t0)[:, None] + c[piece] * (t1**2 - t0**2)[:, None]
        return float(np.linalg.norm(weight @ along))

    def count(self, places: np.ndarray) -> np.ndarray:
        """Compute N at the given places, (place, 2). A parabola subtends the angle of its chord,
        plus one turn at places between both, t² < s < t for p = a + b t + c s.
        """
        _, b, c = self._polynomials
        area = _cross(b, c)
        flat = np.abs(area) <= STRAIGHT * (b**2 + c**2).sum(axis=1)
        safe = np.where(flat, 1.0, area)
        counts = np.zeros(len(places))
        for k, p in enumerate(places):
            d, e = self.points[:, 0] - p, self.points[:, 2] - p
            across = _cross(d, e) + 0.0  # avoid −0.0, which arctan2 would map to −π
            angle = np.arctan2(across, np.einsum("ij,ij->i", d, e))
            t, s = -_cross(d, c) / safe, -_cross(b, d) / safe
            below = (across >= 0) == (area < 0)  # s < t, by the sign of the angle
            between = ~flat & (t > 0) & (t < 1) & (t**2 < s) & below
            counts[k] = self.jumps @ (angle / (2 * np.pi) + np.where(between, np.sign(area), 0.0))
        return np.rint(counts)

    @cached_property
    def _polynomials(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return _parabolas(self.points)

    @cached_property
    def _outside(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Parts of pieces that bound the image: piece, range of its parameter, ± c/Δ."""
        a, b, c = self._polynomials
        lengths = np.linalg.norm(np.diff(self.points, axis=1), axis=2).sum(axis=1)
        smallest = SHORT * float(np.ptp(self.points.reshape(-1, 2), axis=0).max(initial=0.0))
        parts = []
        for k, cuts in enumerate(self._cuts()):
            ends = np.unique([0.0, *cuts, 1.0])
            if lengths[k] > smallest:
                parts += [(k, s, e) for s, e in pairwise(ends) if e - s > SHORT]
        if not parts:
            return np.zeros(0, int), np.zeros(0), np.zeros(0), np.zeros(0)
        piece, t0, t1 = (np.array(x) for x in zip(*parts, strict=True))
        t = ((t0 + t1) / 2)[:, None]
        middle, along = a[piece] + b[piece] * t + c[piece] * t**2, b[piece] + 2 * c[piece] * t
        along /= np.linalg.norm(along, axis=1)[:, None] + np.finfo(float).tiny
        aside = (ASIDE * lengths[piece])[:, None] * np.column_stack([-along[:, 1], along[:, 0]])
        left, right = self.count(middle + aside), self.count(middle - aside)
        bounds = (left > 0) != (right > 0)
        sides = np.where(left > 0, 1.0, -1.0)
        weight = sides * self.jumps[piece] / np.where(bounds, left - right, 1.0)
        kept = bounds & (weight != 0)
        return piece[kept], t0[kept], t1[kept], weight[kept]

    def _cuts(self) -> list[list[float]]:
        """Return the parameters at which each piece crosses others."""
        low, high = self.points.min(axis=1), self.points.max(axis=1)
        # parabolas extend beyond the box of their points
        pad = 0.25 * (high - low).max(axis=1)[:, None]
        low, high = low - pad, high + pad
        meet = (low[:, None] <= high[None]).all(axis=2) & (low[None] <= high[:, None]).all(axis=2)
        cuts: list[list[float]] = [[] for _ in self.points]
        for i, j in zip(*np.nonzero(np.triu(meet, 1)), strict=True):
            for t, s in self._crossings(int(i), int(j)):
                cuts[i].append(t)
                cuts[j].append(s)
        return cuts

    def _crossings(self, i: int, j: int) -> list[tuple[float, float]]:
        """Return the parameters of two pieces where they cross, by Newton's method from crossings
        of chords.
        """
        a, b, c = self._polynomials
        grid = np.linspace(0, 1, 5)
        p, q = (a[k] + b[k] * grid[:, None] + c[k] * grid[:, None] ** 2 for k in (i, j))
        u, v = np.diff(p, axis=0)[:, None], np.diff(q, axis=0)[None]
        w = q[None, :-1] - p[:-1, None]
        across = _cross(u, v)
        safe = np.where(across == 0, np.inf, across)
        s, t = _cross(w, v) / safe, _cross(w, u) / safe
        hits = np.argwhere((s >= -0.1) & (s <= 1.1) & (t >= -0.1) & (t <= 1.1) & (across != 0))
        crossings = []
        for k, m in hits:
            x = np.array([(k + s[k, m]) / 4, (m + t[k, m]) / 4])
            for _ in range(5):
                gap = a[i] + b[i] * x[0] + c[i] * x[0] ** 2 - a[j] - b[j] * x[1] - c[j] * x[1] ** 2
                J = np.column_stack([b[i] + 2 * c[i] * x[0], -b[j] - 2 * c[j] * x[1]])
                if abs(np.linalg.det(J)) <= SHORT * np.prod(np.linalg.norm(J, axis=0)):
                    break
                x = x - np.linalg.solve(J, gap)
            if (x > 0).all() and (x < 1).all():
                crossings.append((float(x[0]), float(x[1])))
        return crossings


def _parabolas(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the coefficients of a + b t + c t² through points at t = 0, ½ and 1."""
    first, middle, last = points[:, 0], points[:, 1], points[:, 2]
    return first, -3 * first + 4 * middle - last, 2 * (first - 2 * middle + last)


def _cross(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.asarray(x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0])
