"""FORM and SORM of a limit or a system: probabilities of the regions beyond tangent planes.

For a series system, all design points of all limits are taken together: the probability is that of
the union of their half-spaces, exact for linear limits of normal parameters,

    P = Σ s_i Φ(−β_i),      s_i the share of half-space i outside those before it,

and the second-order probability has that of each point by its own formula in place of Φ(−β_i). For
a parallel system, the probability is that of the intersection of the half-spaces at each joint
design point.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..core.errors import VarimechError
from .design_points import FORMULAS, NEGLIGIBLE, DesignPoint, design_points, scale_of
from .half_spaces import (
    depths_beyond,
    union_of_half_spaces,
    union_of_intersections,
    union_shares,
)
from .joint_points import joint_points, ray_starts
from .limits import Limit, System

MOST_PLANES = 24
"""Maximum number of half-spaces of a union, the nearest ones: eight design points of three
limits.
"""
STEP = 1e-4
"""Step of means and standard deviations, in standard deviations, for finite differences of
probabilities of half-spaces: their third derivatives are of the order of 1, so the error is about
1e-8.
"""


@dataclass(frozen=True, eq=False)
class FirstOrder:
    """Design points of an event that does not occur at the medians."""

    system: System
    points: tuple[DesignPoint, ...]
    """Design points, the nearest first; joint ones of a parallel system, the likeliest first."""
    owners: tuple[int, ...]
    """Index of the limit of each point of a series system."""
    limits: tuple[float, ...]
    """Probability that each limit alone is exceeded."""
    without: tuple[float, ...]
    """Probability of the system without each limit."""
    remarks: tuple[str, ...]

    @cached_property
    def probability(self) -> float:
        """First-order probability."""
        return _probability(self.points, self.system.series)

    @cached_property
    def sorms(self) -> dict[str, float]:
        """Second-order probabilities by formula; for series systems only."""
        if not self.system.series:
            return dict.fromkeys(FORMULAS, math.nan)
        shares = union_shares(*_half_spaces(self.points))
        return {
            formula: min(float(shares @ [p.sorms[formula] for p in self.points]), 1.0)
            for formula in FORMULAS
        }

    def derivatives(self) -> tuple[np.ndarray, np.ndarray]:
        """∂P/∂μ and ∂P/∂σ of the first-order probability, (d,) each.

        For one design point they are −φ(β) ∂β/∂μ, exactly; for several, the planes shift and rotate
        with the parameters, and the curvature of the limits is neglected.
        """
        if len(self.points) == 1 and self.system.series:
            density = math.exp(-(self.points[0].beta ** 2) / 2) / math.sqrt(2 * math.pi)
            means, sigmas = self.points[0].planes.distance_slopes
            return -density * means, -density * sigmas
        σ = self.system.study.distributions.sigma
        steps = STEP * np.diag(σ)
        still = np.zeros_like(σ)
        pairs = [
            [
                (self._moved(*change) - self._moved(*(-x for x in change))) / (2 * STEP * σ[j])
                for change in ((steps[j], still), (still, steps[j]))
            ]
            for j in range(len(σ))
        ]
        means, sigmas = np.array(pairs).T
        return means, sigmas

    def _moved(self, δμ: np.ndarray, δσ: np.ndarray) -> float:
        """Probability for other means and standard deviations."""
        planes = [p.planes.moved(δμ, δσ) for p in self.points]
        if self.system.series:
            return union_of_half_spaces(
                np.concatenate([p.directions[:1] for p in planes]),
                np.concatenate([p.distances[:1] for p in planes]),
            )
        return union_of_intersections([(p.directions, p.distances) for p in planes])


def first_order(system: System, rng: np.random.Generator) -> FirstOrder:
    """Search for all design points.

    Raises:
        VarimechError: if there is none.
    """
    return _series(system, rng) if system.series else _parallel(system, rng)


def _series(system: System, rng: np.random.Generator) -> FirstOrder:
    by_limit, remarks = list[list[DesignPoint]](), list[str]()
    for limit in system.limits:
        try:
            by_limit.append(design_points(limit, rng))
        except VarimechError as error:
            if len(system.limits) == 1 or isinstance(system.study.runs.error, KeyboardInterrupt):
                raise
            by_limit.append([])
            remarks.append(f"counted as impossible: {error}")
    if not any(by_limit):
        raise VarimechError(
            f"probability of {system.name}: none of these limits has a design point;"
            f" {remarks[0].removeprefix('counted as impossible: ')}"
        )
    every = sorted(
        ((p, k) for k, points in enumerate(by_limit) for p in points), key=lambda pair: pair[0].beta
    )
    kept = [(p, k) for p, k in every if p.form >= NEGLIGIBLE * every[0][0].form][:MOST_PLANES]
    remarks += _thin(system, kept)
    return FirstOrder(
        system,
        tuple(p for p, _ in kept),
        tuple(k for _, k in kept),
        tuple(_probability(points) for points in by_limit),
        tuple(_probability([p for p, k in kept if k != i]) for i in range(len(by_limit))),
        tuple(remarks),
    )


def _thin(system: System, points: Sequence[tuple[DesignPoint, int]]) -> list[str]:
    """Remarks if a limit is met again not far beyond a design point, which FORM and SORM do not
    detect.
    """
    directions, distances = _half_spaces([p for p, _ in points])
    radii = depths_beyond(distances)
    beyond = system.beyond(
        (radii[:, :, None] * directions[:, None, :]).reshape(-1, directions.shape[1])
    )
    owners = np.repeat([k for _, k in points], radii.shape[1])
    left = beyond[np.arange(len(owners)), owners].reshape(radii.shape) < 0
    ends = int(left.any(axis=1).sum())
    if not ends:
        return []
    at = "the design point" if len(points) == 1 else f"{ends} of {len(points)} design points"
    return [
        f"the event ends again not far beyond {at}, but FORM and SORM include everything"
        " beyond it: rely on samples only"
    ]


def _parallel(system: System, rng: np.random.Generator) -> FirstOrder:
    """Search for joint design points; searches also start at the design points of the limits."""
    holds = system.beyond(np.zeros((1, len(system.study.names))))[0] >= 0
    starts, alone = list[np.ndarray](), list[float]()
    for limit, held in zip(system.limits, holds, strict=True):
        points = _points_of(limit.contrary if held else limit, rng, required=not held)
        p = _probability(points)
        alone.append(1 - p if held else p)
        starts += [] if held else [p.standard for p in points]
    starts += ray_starts(system, rng)
    scales = np.array([_scale(limit) for limit in system.limits])
    points = joint_points(system, starts, scales)
    without = [
        alone[1 - k] if len(alone) == 2 else _without(system, k, holds, points, scales)
        for k in range(len(alone))
    ]
    return FirstOrder(system, tuple(points), (), tuple(alone), tuple(without), ())


def _points_of(limit: Limit, rng: np.random.Generator, *, required: bool) -> list[DesignPoint]:
    """Design points of a limit; none if the limit cannot be reached and points are not
    `required`.
    """
    try:
        return design_points(limit, rng)
    except VarimechError:
        if required or isinstance(limit.study.runs.error, KeyboardInterrupt):
            raise
        return []


def _without(
    system: System, k: int, holds: np.ndarray, points: Sequence[DesignPoint], scales: np.ndarray
) -> float:
    """Probability of a parallel system without one of its limits."""
    rest, others = system.without(k), np.delete(holds, k)
    if others.all():  # the event occurs at the medians
        return math.nan
    joint = joint_points(rest, [p.standard for p in points], np.delete(scales, k))
    return _probability(joint, series=False)


def _scale(limit: Limit) -> float:
    """Standard deviation of the objective; for an objective without gradient at the medians, its
    distance from the limit.
    """
    at_origin = limit(np.zeros((1, len(limit.study.names))))[0]
    return scale_of(limit) or abs(float(at_origin)) or 1.0


def _half_spaces(points: Sequence[DesignPoint]) -> tuple[np.ndarray, np.ndarray]:
    """Directions and distances of single limits at their design points."""
    d = len(points[0].standard)
    directions = [
        p.standard / p.beta if p.beta > 0 and p.stationary else p.planes.directions[0]
        for p in points
    ]
    return np.array(directions).reshape(-1, d), np.array([p.beta for p in points])


def _probability(points: Sequence[DesignPoint], series: bool = True) -> float:
    """First-order probability of the region beyond the planes at any of the design points."""
    if not points:
        return 0.0
    if series:
        return union_of_half_spaces(*_half_spaces(points))
    return union_of_intersections([(p.planes.directions, p.planes.distances) for p in points])
