"""Probabilities and quantiles by the first-order reliability method (FORM).

Each limit is replaced by its tangent planes at the design points, so that not failing is a
polyhedron  α_k·u ≤ β_k  in the standard normal space:

    P = Φ_n(β; R),   R_kl = α_k·α_l,      dP = Σ ∂P/∂β_k dβ_k + Σ ∂P/∂R_kl dR_kl .

One plane needs no second derivatives; several need dα/dx, if their correlation matters. A quantile
is the largest value at the distance β = Φ⁻¹(p) from the origin (inverse FORM), with the derivative
∂y/∂x there. Exact for linear functions of normal parameters; errors are estimated by the curvatures
of the limits (SORM).

Other design points are looked for along rays at the reference design (as in
`uncertainty/design_points.py`); at other designs all of them are followed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..core.errors import ModelError, VarimechError
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
from .design_point_search import (
    FormPoint,
    StandardColumn,
    curved_at,
    extreme_on_sphere,
    nearest_point,
)
from .method import StatisticsTask, Values
from .normal_box import box_derivatives, box_probability
from .settings import StatisticsSettings
from .statistic import Probability, Quantile

UNREACHED = 1e-9
"""Error of a probability whose limit was not met within six standard deviations: Φ(−6)."""
MATTERS = 1e-9
"""Derivative of the probability with respect to a correlation of two planes above which it counts:
accuracy of the probability itself.
"""


@dataclass(frozen=True)
class Side:
    """One finite limit of one comparison of a probability."""

    column: int
    limit: float
    sign: float
    """1 where larger values fail."""

    def broken(self, y: float) -> bool:
        """Whether a value fails."""
        return self.sign * (y - self.limit) > 0


@dataclass(eq=False)
class FormMethod:
    """The method; see the head of this file."""

    task: StatisticsTask
    settings: StatisticsSettings = field(default_factory=StatisticsSettings)
    _points: dict[tuple[str, Side], list[np.ndarray]] = field(default_factory=dict)
    """Design points of the last design, by statistic and side."""
    _quantiles: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, statistic in self.task.statistics.items():
            if not isinstance(statistic, (Probability, Quantile)):
                problem = "FORM has probabilities and quantiles only"
                remedy = "use statistics='moments'"
                raise ModelError(problem, element=f"statistic {name!r}", remedy=remedy)
            if statistic.over_time:
                problem = "FORM has quantiles of numbers, and this is one of a path"
                remedy = "use statistics='samples', or the quantile of vm.peak of it"
                raise ModelError(problem, element=f"statistic {name!r}", remedy=remedy)

    @property
    def title(self) -> str:
        """See `StatisticsMethod`."""
        return "FORM"

    def evaluate(self, x: np.ndarray, *, errors: bool = False) -> Mapping[str, Values]:
        """See `StatisticsMethod`."""
        found = {}
        point = self.task.design.at(x)
        kept: dict[int, StandardColumn] = {}

        def column(c: int, name: str) -> StandardColumn:
            label = f"statistic {name!r}"
            return kept.setdefault(c, StandardColumn(self.task, point, c, label))

        for name, statistic in self.task.statistics.items():
            places = [int(c[0]) for c in self.task.columns(statistic)]
            if isinstance(statistic, Quantile):
                one = self._quantile(name, statistic, column(places[0], name), errors)
            else:
                assert isinstance(statistic, Probability)
                sides = _sides(statistic, places)
                columns = [column(s.column, name) for s in sides]
                one = self._probability(name, sides, columns, errors)
            value, slope, error = one
            found[name] = Values(np.array([value]), slope[None], np.array([error]))
        return found

    def _quantile(
        self, name: str, statistic: Quantile, column: StandardColumn, errors: bool
    ) -> tuple[float, np.ndarray, float]:
        from scipy.special import ndtri

        z = float(ndtri(statistic.p))
        sign, β = (1.0, z) if z >= 0 else (-1.0, -z)
        start = self._quantiles.get(name)
        middle = np.zeros(len(column.point.mean))
        at = column.at(middle) if β == 0 else extreme_on_sphere(column, β, sign, start)
        self._quantiles[name] = at.u
        if not errors:
            return at.y, at.by_variable, math.nan
        p = FormPoint(at, sign)
        off = abs(p.second_order(curved_at(column, at.u)) - float(_tail(β)))
        density = math.exp(-β * β / 2) / math.sqrt(2 * math.pi) / at.length
        return at.y, at.by_variable, off / density

    def _probability(
        self, name: str, sides: list[Side], columns: list[StandardColumn], errors: bool
    ) -> tuple[float, np.ndarray, float]:
        points = list[tuple[FormPoint, StandardColumn]]()
        size = self.task.design.size
        for side, column in zip(sides, columns, strict=True):
            own = self._design_points(name, side, column)
            points += [(p, column) for p in own]
            if not own and side.broken(column.at(np.zeros(len(column.point.mean))).y):
                return 0.0, np.zeros(size), UNREACHED if errors else math.nan
        if not points:  # every limit is out of reach
            return 1.0, np.zeros(size), UNREACHED if errors else math.nan
        β = np.array([p.beta for p, _ in points])
        α = np.array([p.alpha for p, _ in points])
        R = α @ α.T
        np.fill_diagonal(R, 1.0)
        lower = np.full(β.size, -np.inf)
        value = box_probability(lower, β, R)
        _, of_β, of_R = box_derivatives(lower, β, R)
        slope = of_β @ np.array([p.beta_derivatives for p, _ in points])
        matter = np.abs(np.tril(of_R, -1)) > MATTERS
        curved = {}
        for k, (p, column) in enumerate(points):
            if errors or matter[k].any() or matter[:, k].any():
                curved[k] = curved_at(column, p.at.u)
        for i, j in zip(*np.nonzero(matter), strict=True):
            dα = [points[k][0].alpha_derivatives(curved[k]) for k in (i, j)]
            slope = slope + of_R[i, j] * (α[j] @ dα[0] + α[i] @ dα[1])
        error = math.nan
        if errors:
            off = [
                p.second_order(curved[k]) - float(_tail(p.beta)) for k, (p, _) in enumerate(points)
            ]
            error = min(1.0, float(np.abs(off).sum()))
        return value, slope, error

    def _design_points(self, name: str, side: Side, column: StandardColumn) -> list[FormPoint]:
        """Those of the last design, followed; or a search for all of them."""
        key = name, side
        if key not in self._points:
            points = _all_points(column, side, self.settings.seed)
        else:
            points = []
            for u in self._points[key]:
                points.append(nearest_point(column, side.limit, side.sign, u))
            points = _distinct(points)
        self._points[key] = [p.at.u for p in points]
        return points


def _sides(statistic: Probability, columns: list[int]) -> list[Side]:
    sides = []
    for c, limit in zip(columns, statistic.limits, strict=True):
        if math.isfinite(limit.upper):
            sides.append(Side(c, limit.upper, 1.0))
        if math.isfinite(limit.lower):
            sides.append(Side(c, limit.lower, -1.0))
    return sides


def _all_points(column: StandardColumn, side: Side, seed: int) -> list[FormPoint]:
    """The design point nearest to the origin, and others that rays meet; none where no ray within
    six standard deviations and no search meets the limit.

    Raises:
        VarimechError: if rays meet the limit, but no search converges.
    """
    d = len(column.point.mean)
    middle = column.at(np.zeros(d))
    drawn = stream(seed, 0).standard_normal((RAYS // 2, d))
    half = np.concatenate([np.eye(d), drawn, middle.slope[None] if middle.length else drawn[:0]])
    half /= np.linalg.norm(half, axis=1)[:, None]
    rays = np.concatenate([half, -half])
    beyond = column.values((RADII[:, None, None] * rays).reshape(-1, d)).reshape(RADII.size, -1)
    failing = side.sign * (middle.y - side.limit)
    oriented = (
        -side.sign * (beyond - side.limit) if failing > 0 else side.sign * (beyond - side.limit)
    )
    met = first_crossing(np.full(len(rays), -abs(failing)), oriented)
    points, failure = list[FormPoint](), None
    starts = [np.zeros(d)] if middle.length > 0 else []
    if reached := bool(np.isfinite(met).any()):
        starts.append(rays[int(np.argmin(met))] * met.min())
    for start in starts:
        try:
            points.append(nearest_point(column, side.limit, side.sign, start))
            break
        except VarimechError as error:
            failure = error
    if failing > 0 and points:
        return points[:1]  # where the origin fails, not failing is beyond one plane
    for _ in range(SEARCHES):
        sooner = met < SOONER * to_planes(points, rays)
        if not sooner.any():
            break
        k = int(np.argmin(np.where(sooner, met, np.inf)))
        try:
            points.append(nearest_point(column, side.limit, side.sign, met[k] * rays[k]))
        except VarimechError as error:
            failure = error
        met[rays @ rays[k] > np.cos(np.pi / 6)] = np.inf
    if not points and reached:
        assert failure is not None
        raise failure
    return _distinct(points)


def _distinct(points: list[FormPoint]) -> list[FormPoint]:
    """Without those that are the same, or much less likely than the nearest."""
    points = sorted(points, key=lambda p: p.beta)
    kept: list[FormPoint] = []
    for p in points:
        apart = all(np.linalg.norm(p.at.u - other.at.u) > APART for other in kept)
        if apart and _tail(p.beta) >= NEGLIGIBLE * _tail(points[0].beta):
            kept.append(p)
    return kept


def _tail(β: float) -> float:
    from scipy.special import ndtr

    return float(ndtr(-β))
