"""All design points of one side of a limit, and the half-spaces that approximate the safe domain:
the point nearest to the origin, and further points that rays from the origin meet before the planes
of the known points (as in `uncertainty/design_points.py`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..core.errors import VarimechError
from ..uncertainty.design_points import (
    APART,
    NEGLIGIBLE,
    RADII,
    RAYS,
    SEARCHES,
    SOONER,
    first_crossing,
    to_planes,
)
from ..uncertainty.sampling import stream
from .design_point_search import At, FormPoint, LostSearch, StandardColumn, nearest_point


@dataclass(frozen=True)
class Side:
    """A finite limit of a comparison in a probability."""

    column: int
    limit: float
    sign: float
    """1 if larger values fail, −1 if smaller values fail."""

    def broken(self, y: float) -> bool:
        """Whether a value violates the limit."""
        return self.sign * (y - self.limit) > 0


@dataclass(frozen=True, eq=False)
class DesignPoints:
    """Design points of one side of a limit."""

    points: tuple[FormPoint, ...]
    leave: bool = False
    """Whether a point is safe as soon as it is beyond one plane, because the origin failed at the
    time of the search. Otherwise a point is safe only within all planes.
    """

    @property
    def fails(self) -> bool:
        """Whether the origin fails according to the planes."""
        failing = [p.beta < 0 for p in self.points]
        return all(failing) if self.leave else any(failing)

    def holds(self, u: np.ndarray) -> np.ndarray:
        """Whether points are safe according to the planes, (point,)."""
        if not self.points:
            return np.ones(len(u), dtype=bool)
        within = np.array([u @ p.alpha <= p.beta for p in self.points])
        return np.asarray(within.any(axis=0) if self.leave else within.all(axis=0))


def all_points(
    column: StandardColumn, side: Side, seed: int, near: np.ndarray | None = None
) -> DesignPoints:
    """Find the design point nearest to the origin, and further ones that rays meet; none if neither
    a ray within six standard deviations nor a search reaches the limit. The first search starts
    near `near`.

    Raises:
        VarimechError: if rays or searches meet the limit, but no search converges, or if none of those
            that ended nearest to the origin converges.
    """
    d = len(column.point.mean)
    middle = column.at(np.zeros(d))
    drawn = stream(seed, 0).standard_normal((RAYS // 2, d))
    half = np.concatenate([np.eye(d), drawn, middle.slope[None] if middle.length else drawn[:0]])
    half /= np.linalg.norm(half, axis=1)[:, None]
    rays = np.concatenate([half, -half])
    beyond = column.values((RADII[:, None, None] * rays).reshape(-1, d)).reshape(RADII.size, -1)
    failing = side.sign * (middle.y - side.limit)

    def search(start: np.ndarray) -> FormPoint:
        point = nearest_point(column, side.limit, side.sign, start)
        if (point.beta < 0) != (failing > 0):
            raise VarimechError(
                f"{column.label}: the search for the design point of {side.limit:g} ended at a part"
                " of the limit that is not the nearest",
                remedy="use statistics='samples'",
            )
        return point

    oriented = (
        -side.sign * (beyond - side.limit) if failing > 0 else side.sign * (beyond - side.limit)
    )
    met = first_crossing(np.full(len(rays), -abs(failing)), oriented)
    points, failure, on_limit = list[FormPoint](), None, list[At]()
    starts = [np.zeros(d) if near is None else near] if middle.length > 0 else []
    if reached := bool(np.isfinite(met).any()):
        starts.append(rays[int(np.argmin(met))] * met.min())
    for start in starts:
        try:
            points.append(search(start))
            break
        except VarimechError as error:
            failure = error
            on_limit += _ended(error)
    for _ in range(SEARCHES):
        sooner = met < SOONER * to_planes(points, rays)
        if not sooner.any():
            break
        k = int(np.argmin(np.where(sooner, met, np.inf)))
        try:
            points.append(search(met[k] * rays[k]))
        except VarimechError as error:
            failure = error
            on_limit += _ended(error)
        met[rays @ rays[k] > np.cos(np.pi / 6)] = np.inf
    nearest = min((abs(p.beta) for p in points), default=math.inf)
    nearer = any(np.linalg.norm(at.u) < SOONER * nearest for at in on_limit)
    if nearer or (reached and not points):
        assert failure is not None
        raise failure
    return DesignPoints(distinct(points, failing > 0), failing > 0)


def _ended(error: VarimechError) -> list[At]:
    """Points on the limit at which a failed search ended: they show that the limit exists."""
    last = error.last if isinstance(error, LostSearch) else None
    return [] if last is None else [last]


def distinct(points: Sequence[FormPoint], leave: bool) -> tuple[FormPoint, ...]:
    """Remove points that coincide with, or are much less likely to be passed than, the nearest one."""
    toward = -1.0 if leave else 1.0
    points = sorted(points, key=lambda p: toward * p.beta)
    kept: list[FormPoint] = []
    for p in points:
        apart = all(np.linalg.norm(p.at.u - other.at.u) > APART for other in kept)
        if apart and tail(toward * p.beta) >= NEGLIGIBLE * tail(toward * points[0].beta):
            kept.append(p)
    return tuple(kept)


def tail(β: float) -> float:
    """Φ(−β)"""
    from scipy.special import ndtr

    return float(ndtr(-β))
