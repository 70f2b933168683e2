"""Probabilities and quantiles by the first-order reliability method (FORM).

Each limit is replaced by its tangent planes at the design points, so that the safe domain is a
polyhedron  α_k·u ≤ β_k  in the standard normal space:

    P = Φ_n(β; R),   R_kl = α_k·α_l,      dP = Σ ∂P/∂β_k dβ_k + Σ ∂P/∂R_kl dR_kl .

One plane needs no second derivatives; several planes need dα/dx if their correlation matters. A
quantile is the largest value at the distance β = Φ⁻¹(p) from the origin (inverse FORM), and its
derivative is ∂y/∂x at that point. Exact for linear functions of normal parameters.

Where the origin fails and several planes bound the failure domain, the safe domain is a union of
half-spaces, which is split into disjoint parts:  P(∪ E_k) = Σ P(E_k ∩ Ē_j, j < k).

Errors are estimated in three ways: by the curvatures of the limits (SORM) and, for quantiles, by
further design points of the limit; by plain samples, which reveal limits that are crossed again
beyond a plane; and by samples around the design points, which reveal where the limit departs from
its planes (`planes_check.py`). Curvatures alone do not suffice: the limit of strongly correlated or
bounded parameters departs from its tangent plane within one standard deviation in a manner that
second derivatives do not describe.

At the reference design, further design points are searched for along rays (as in
`uncertainty/design_points.py`); at other designs all of them are followed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from ..core.errors import ModelError
from ..uncertainty.half_spaces import depths_beyond
from ..uncertainty.sampled import clopper_pearson
from ..uncertainty.sampling import stream
from .design_point_search import (
    Curved,
    FormPoint,
    StandardColumn,
    curved_at,
    extreme_on_sphere,
    nearest_point,
)
from .design_point_sets import DesignPoints, Side, all_points, distinct, tail
from .method import StatisticsTask, Values
from .normal_box import box_derivatives, box_probability
from .planes_check import missed, samples_around, within
from .random_design import RandomPoint
from .settings import StatisticsSettings
from .statistic import Probability, Quantile

UNREACHED = 1e-9
"""Error of a probability whose limit was not reached within six standard deviations: Φ(−6)."""
MATTERS = 1e-9
"""Derivative of the probability with respect to the correlation of two planes above which the
correlation is taken into account: the accuracy of the probability itself.
"""
CHECKS = 256
"""Plain samples that check probabilities at the reference design, for which values of runs suffice:
they detect errors of some 8 % near 0.5, and take about as long as the rays.
"""
CERTAIN = 0.999
"""Level of the confidence interval of these samples: FORM is assumed to be in error if it lies
outside.
"""
STRETCH = 1.2
"""Factor by which the estimated error of a quantile is increased until samples do not contradict
it.
"""


@dataclass(eq=False)
class FormMethod:
    """FORM as a method that computes statistics (see the module docstring)."""

    task: StatisticsTask
    settings: StatisticsSettings = field(default_factory=StatisticsSettings)
    _points: dict[tuple[str, Side], DesignPoints] = field(default_factory=dict)
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
        results = {}
        point = self.task.design.at(x)
        kept: dict[int, StandardColumn] = {}

        def column(c: int, name: str) -> StandardColumn:
            label = f"statistic {name!r}"
            return kept.setdefault(c, StandardColumn(self.task, point, c, label))

        drawn = self._samples(point) if errors else None
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
            if drawn is not None:
                error = max(error, _contradiction(statistic, value, drawn[:, places]))
            results[name] = Values(np.array([value]), slope[None], np.array([error]))
        return results

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
        if not at.length > 0:  # at the medians
            return at.y, at.by_variable, math.inf
        p = FormPoint(at, sign)
        off = _error_by_curvature(p, curved_at(column, at.u))
        every = all_points(column, Side(column.column, at.y, 1.0), self.settings.seed, at.u)
        if every.points:
            off += abs(_polyhedron([every])[0] - statistic.p)
        density = math.exp(-β * β / 2) / math.sqrt(2 * math.pi) / at.length
        return at.y, at.by_variable, max(off / density, self._missed_quantile(column, p, every))

    def _missed_quantile(self, column: StandardColumn, p: FormPoint, every: DesignPoints) -> float:
        """Error of a quantile according to samples around its design point."""
        own = DesignPoints((p,))
        drawn = samples_around([p, *every.points], self.settings.seed)
        y = p.sign * (column.values(drawn.u) - p.at.y)
        held = own.holds(drawn.u)

        def off(e: float) -> tuple[float, float]:
            return missed(drawn.weights, within(y, e), held)

        lowest, highest = off(0.0)
        error = max(-lowest, highest, 0.0)
        if error == 0:
            return 0.0
        density = math.exp(-p.beta * p.beta / 2) / math.sqrt(2 * math.pi) / p.at.length
        error /= density
        # the density varies along the way: extend the interval until it agrees with the samples
        scale = float(np.nanmax(np.abs(y)))
        while error < scale and (off(-error)[1] > 0 or off(error)[0] < 0):
            error *= STRETCH
        return error

    def _probability(
        self, name: str, sides: list[Side], columns: list[StandardColumn], errors: bool
    ) -> tuple[float, np.ndarray, float]:
        groups, points = list[DesignPoints](), list[tuple[FormPoint, StandardColumn]]()
        size = self.task.design.size
        for side, column in zip(sides, columns, strict=True):
            own = self._design_points(name, side, column)
            groups.append(own)
            points += [(p, column) for p in own.points]
            outside = not own.points
            if outside and side.broken(column.at(np.zeros(len(column.point.mean))).y):
                return 0.0, np.zeros(size), UNREACHED if errors else math.nan
        if not points:  # no limit can be reached
            return 1.0, np.zeros(size), UNREACHED if errors else math.nan
        value, of_β, of_R = _polyhedron(groups)
        α = np.array([p.alpha for p, _ in points])
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
            off = [_error_by_curvature(p, curved[k]) for k, (p, _) in enumerate(points)]
            again = [self._met_again(*each) for each in zip(sides, columns, groups, strict=True)]
            shown = self._missed_probability(sides, columns, groups)
            error = min(1.0, max(sum(off) + sum(again), shown))
        return value, slope, error

    def _missed_probability(
        self, sides: list[Side], columns: list[StandardColumn], groups: list[DesignPoints]
    ) -> float:
        """Error of a probability according to samples around the design points."""
        drawn = samples_around([p for g in groups for p in g.points], self.settings.seed)
        point = columns[0].point
        values, _ = self.task.runs.reachable(point.rows(point.values(drawn.u)))
        holds, held = np.ones(len(drawn.u)), np.ones(len(drawn.u), dtype=bool)
        for side, group in zip(sides, groups, strict=True):
            margin = side.sign * (side.limit - values[:, side.column])
            holds *= np.where(np.isnan(margin), math.nan, margin >= 0)
            held &= group.holds(drawn.u)
        lowest, highest = missed(drawn.weights, holds, held)
        return max(-lowest, highest, 0.0)

    def _met_again(self, side: Side, column: StandardColumn, group: DesignPoints) -> float:
        """Probability that is counted beyond design points although the limit is crossed again
        there: thin bands, which neither curvatures nor a few plain samples reveal.
        """
        from scipy.special import ndtr

        if not group.points:
            return 0.0
        β = np.array([p.beta for p in group.points])
        outwards = np.copysign(1.0, β)[:, None] * np.array([p.alpha for p in group.points])
        radii = depths_beyond(np.abs(β))
        u = (radii[:, :, None] * outwards[:, None, :]).reshape(-1, outwards.shape[1])
        values, _ = self.task.runs.reachable(column.point.rows(column.point.values(u)))
        y = values[:, side.column].reshape(radii.shape)
        held = side.sign * (y - side.limit) <= 0  # false where a run fails
        ends = held if not group.leave else side.sign * (y - side.limit) > 0
        return float(np.where(ends, ndtr(-radii), 0.0).max(axis=1).sum())

    def _design_points(self, name: str, side: Side, column: StandardColumn) -> DesignPoints:
        """Follow the design points of the last design; search for all of them again if there are
        none, or if they jumped to another part of the limit.
        """
        last = self._points.get((name, side))
        group = DesignPoints(())
        if last is not None:
            followed = [nearest_point(column, side.limit, side.sign, p.at.u) for p in last.points]
            group = DesignPoints(distinct(followed, last.leave), last.leave)
        if not group.points or group.fails != side.broken(column.value_at_medians):
            group = all_points(column, side, self.settings.seed)
        self._points[name, side] = group
        return group

    def _samples(self, point: RandomPoint) -> np.ndarray:
        """Values at plain samples, (sample, column), without failed runs."""
        u = stream(self.settings.seed, 1).standard_normal((CHECKS, len(point.mean)))
        values, _ = self.task.runs.reachable(point.rows(point.values(u)))
        return np.asarray(values[np.isfinite(values).all(axis=1)])


def _contradiction(statistic: Probability | Quantile, value: float, drawn: np.ndarray) -> float:
    """Error of a statistic according to plain samples; 0 if they agree with it.

    Args:
        statistic: the statistic.
        value: value of the statistic by FORM.
        drawn: values of its functions, (sample, function).
    """
    if not len(drawn):
        return 0.0
    if isinstance(statistic, Quantile):
        y = drawn[:, 0]
        lower, upper = clopper_pearson(int((y <= value).sum()), y.size, CERTAIN)
        agrees = lower <= statistic.p <= upper
        return 0.0 if agrees else abs(value - float(np.quantile(y, statistic.p)))
    lowest, highest = (
        np.array([getattr(limit, bound) for limit in statistic.limits])
        for bound in ("lower", "upper")
    )
    held = int(((drawn >= lowest) & (drawn <= highest)).all(axis=1).sum())
    lower, upper = clopper_pearson(held, len(drawn), CERTAIN)
    return 0.0 if lower <= value <= upper else abs(value - held / len(drawn))


def _error_by_curvature(p: FormPoint, curved: Curved) -> float:
    """Difference of the probabilities of first and second order; infinite if the limit is curved
    too much for the second-order formula.
    """
    off = abs(p.second_order(curved) - tail(p.beta))
    return off if math.isfinite(off) else math.inf


def _polyhedron(groups: Sequence[DesignPoints]) -> tuple[float, np.ndarray, np.ndarray]:
    """Probability of the safe domain, and its derivatives with respect to the distances and the
    correlations of all planes, group by group.
    """
    points = [p for group in groups for p in group.points]
    β, α = np.array([p.beta for p in points]), np.array([p.alpha for p in points])
    R = α @ α.T
    np.fill_diagonal(R, 1.0)
    value, of_β, of_R = 0.0, np.zeros(β.size), np.zeros_like(R)
    for lower, upper in _parts(groups, β):
        value += box_probability(lower, upper, R)
        of_lower, of_upper, of_pair = box_derivatives(lower, upper, R)
        of_β, of_R = of_β + of_lower + of_upper, of_R + of_pair
    return value, of_β, of_R


def _parts(
    groups: Sequence[DesignPoints], β: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield disjoint boxes that make up the safe domain: for each group of which one passed plane
    suffices for safety, one plane is passed and none of the planes before it.
    """
    first = np.cumsum([0, *(len(g.points) for g in groups)])
    choices = [range(len(g.points)) if g.leave and g.points else (-1,) for g in groups]
    for chosen in product(*choices):
        lower, upper = np.full(β.size, -np.inf), β.copy()
        for start, end, k in zip(first, first[1:], chosen, strict=False):
            if k >= 0:
                upper[start:end] = np.inf
                upper[start + k] = β[start + k]
                lower[start : start + k] = β[start : start + k]
        yield lower, upper


def _sides(statistic: Probability, columns: list[int]) -> list[Side]:
    sides = []
    for c, limit in zip(columns, statistic.limits, strict=True):
        if math.isfinite(limit.upper):
            sides.append(Side(c, limit.upper, 1.0))
        if math.isfinite(limit.lower):
            sides.append(Side(c, limit.lower, -1.0))
    return sides
