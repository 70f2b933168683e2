"""Random limits with known probabilities: one or two sides, products, spheres, paraboloids; and
intervals that are never empty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

import varimech as vm
from varimech.uncertainty.function import function_of
from varimech.uncertainty.global_study import GlobalStudy
from varimech.uncertainty.importance import gamma_interval
from varimech.uncertainty.openturns_distributions import distribution_of
from varimech.uncertainty.parameter_distributions import distributions_of

objective = vm.final(lambda s: s.time)
"""Placeholder for the objective, whose values are those of a plain function."""


@dataclass(frozen=True)
class Case:
    """g(u) ≥ limit for standard normal u, with the exact probability."""

    dimension: int
    limit: float
    exact: float
    value: Callable[[np.ndarray], np.ndarray]
    """(n, d) → (n,)"""
    gradient: Callable[[np.ndarray], np.ndarray]
    hessian: Callable[[np.ndarray], np.ndarray]


def quadratic(A: np.ndarray, b: np.ndarray, limit: float, exact: float) -> Case:
    """½u'Au + b'u."""
    return Case(
        len(b),
        limit,
        exact,
        lambda u: 0.5 * np.einsum("ni,ij,nj->n", u, A, u) + u @ b,
        lambda u: A @ u + b,
        lambda u: A,
    )


def rotated(rng: np.random.Generator, d: int) -> np.ndarray:
    return np.asarray(np.linalg.qr(rng.standard_normal((d, d)))[0])


def two_sided(rng: np.random.Generator) -> Case:
    """(w'u + m)² ≥ c², with one side nearer than the other by 2m."""
    d, c, m = int(rng.integers(1, 6)), rng.uniform(2, 4), rng.choice([0.0, rng.uniform(0, 0.3)])
    w = rotated(rng, d)[0]
    return quadratic(
        2 * np.outer(w, w),
        2 * m * w,
        c**2 - m**2,
        float(stats.norm.sf(c - m) + stats.norm.sf(c + m)),
    )


def half_space(rng: np.random.Generator) -> Case:
    d, β = int(rng.integers(1, 8)), rng.uniform(1, 5)
    return quadratic(np.zeros((d, d)), rotated(rng, d)[0], β, float(stats.norm.sf(β)))


def product(rng: np.random.Generator) -> Case:
    """(a'u)(b'u) ≥ c for orthogonal unit vectors a and b."""
    d, c = int(rng.integers(2, 6)), rng.uniform(2, 6)
    a, b = rotated(rng, d)[:2]
    exact = (
        2
        * quad(lambda x: stats.norm.pdf(x) * stats.norm.sf(c / x), 0, 12, points=[0.5, 1, 2, 4])[0]
    )
    return quadratic(np.outer(a, b) + np.outer(b, a), np.zeros(d), c, exact)


def sphere(rng: np.random.Generator) -> Case:
    d, r = int(rng.integers(2, 7)), rng.uniform(3, 5)
    return quadratic(2 * np.eye(d), np.zeros(d), r**2, float(stats.chi2.sf(r**2, d)))


def paraboloid(rng: np.random.Generator) -> Case:
    """w'u + a |u_⊥|² ≥ c; curved about the origin if 2 a c > 1, and then nearest on a ring."""
    d, c, a = int(rng.integers(2, 5)), rng.uniform(2, 4), rng.uniform(-0.1, 0.3)
    Q = rotated(rng, d)
    exact = quad(
        lambda s: stats.chi2.pdf(s, d - 1) * stats.norm.sf(c - a * s),
        0,
        80,
        points=[1e-6, 1, 4, 10, 20],
        limit=200,
    )[0]
    return quadratic(2 * a * (np.eye(d) - np.outer(Q[0], Q[0])), Q[0], c, exact)


FAMILIES = (half_space, two_sided, product, sphere, paraboloid)


@dataclass(eq=False)
class PlainRuns:
    """A plain function in place of runs of a mechanism."""

    case: Case
    distributions: Any
    objectives: dict[str, vm.Objective]
    fails: Callable[[np.ndarray], np.ndarray] | None = None
    error: Exception | None = None
    calls: Counter[str] = field(default_factory=Counter)
    simulation: Any = field(default_factory=lambda: SimpleNamespace(ρ=np.zeros(2), progress=False))

    @property
    def rows(self) -> PlainRuns:
        """Object that holds the objectives."""
        return self

    def values(self, points: np.ndarray) -> np.ndarray:
        return self.case.value(np.atleast_2d(points))[:, None]

    def reachable(self, points: np.ndarray) -> np.ndarray:
        self.calls["values"] += len(points)
        values = self.values(points)
        if self.fails is not None:
            values[self.fails(points)] = np.nan
        return values

    def gradient(self, point: np.ndarray) -> np.ndarray:
        self.calls["gradients"] += 1
        return self.case.gradient(point)[None]

    def hessian(self, point: np.ndarray) -> np.ndarray:
        return self.case.hessian(point)[None]

    @contextmanager
    def own_errors(self, doing: str) -> Iterator[None]:
        yield


def probability(
    case: Case, fails: Callable[[np.ndarray], np.ndarray] | None = None, **options: Any
) -> vm.Reliability:
    m = vm.Mechanism("plain", dimension=2)
    for k in range(case.dimension):
        m.parameter(f"u{k}", 0.0, distribution=stats.norm(0, 1))
    distributions = distributions_of(m.parameters, None)
    runs: Any = PlainRuns(case, distributions, {"g": objective}, fails)
    study = GlobalStudy(
        "plain",
        ("g",),
        ("",),
        distributions,
        runs,
        function_of(runs),
        distribution_of(distributions),
    )
    return study.probability(objective >= case.limit, **options)


@pytest.mark.parametrize("family", FAMILIES)
def test_intervals_hold_known_probabilities(family: Callable[[np.random.Generator], Case]) -> None:
    """At 99.9 %, for ten random limits of each family, from 1e-1 to 1e-7; and the intervals are
    short enough to be useful.
    """
    rng = np.random.default_rng(11)
    for seed in range(10):
        case = family(rng)
        estimate = probability(case, samples=2000, level=0.999, seed=seed)
        s = estimate.sampled
        assert s is not None and 0 <= s.lower < s.upper <= 1
        assert s.lower <= case.exact <= s.upper, (case, estimate)
        assert s.lower <= s.probability <= s.upper
        assert s.upper - s.lower < 1.5 * case.exact, (case, estimate)
        believed = estimate.sorm if np.isfinite(estimate.sorm) else estimate.form
        outside = not s.lower <= believed <= s.upper
        assert any("outside" in note for note in estimate.notes) == outside


@pytest.mark.parametrize("seed", range(5))
def test_both_sides_are_found(seed: int) -> None:
    case = two_sided(np.random.default_rng(100 + seed))
    estimate = probability(case, seed=seed)
    sides = {
        round(float(p.standard @ case.hessian(p.standard) @ estimate.points[0].standard), 6) > 0
        for p in estimate.points
    }
    if len(estimate.points) == 1:  # the other side is less likely by a factor of a thousand
        assert estimate.form == pytest.approx(case.exact, rel=1.1e-3)
    else:
        assert sides == {True, False} and len(estimate.points) == 2
        assert estimate.form == pytest.approx(
            case.exact, rel=1e-4
        ) and estimate.sorm == pytest.approx(case.exact, rel=1e-4)
        assert "another design point" in repr(estimate)


def test_a_limit_that_bends_around_the_origin_is_reported() -> None:
    estimate = probability(sphere(np.random.default_rng(3)))
    assert not estimate.nearest and "rely on samples only" in repr(estimate)


def test_an_event_that_ends_again_beyond_its_design_point_is_reported() -> None:
    """−(u + 2)²/2 ≥ −0.005: Φ(−1.9) − Φ(−2.1), of which FORM includes only the first term."""
    exact = float(stats.norm.sf(1.9) - stats.norm.sf(2.1))
    case = quadratic(np.array([[-1.0]]), np.array([-2.0]), 2.0 - 0.005, exact)
    estimate = probability(case)
    assert estimate.form == pytest.approx(stats.norm.sf(1.9), rel=1e-6)
    assert "ends again" in repr(estimate)
    straight = quadratic(np.zeros((1, 1)), np.array([-1.0]), 1.9, exact)
    assert "ends again" not in repr(probability(straight))


def test_a_vanishing_gradient_at_the_medians_is_no_end() -> None:
    """u² ≥ 9, for which neither the search of FORM nor its scale has a direction at the medians."""
    case = quadratic(np.array([[2.0]]), np.zeros(1), 9.0, float(2 * stats.norm.sf(3)))
    estimate = probability(case)
    assert estimate.form == pytest.approx(case.exact, rel=1e-6) and len(estimate.points) == 2


def test_runs_that_fail_widen_the_interval() -> None:
    """u₁ ≥ 3, where runs with u₂ > 1 fail: a fraction Φ(−1) of the event and of the rest of the
    space.
    """
    case = quadratic(np.zeros((2, 2)), np.array([1.0, 0.0]), 3.0, float(stats.norm.sf(3)))
    estimate = probability(case, fails=lambda u: u[:, 1] > 1, samples=4000)
    s = estimate.sampled
    assert s is not None and s.failed > 300
    assert s.lower < 0.9 * case.exact and s.upper > stats.norm.sf(1)
    assert f"{s.failed} samples failed" in repr(estimate)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_gamma_intervals_hold_those_of_counts(level: float) -> None:
    """Equal weights are Poisson counts, for which the exact interval is known; zero counts have an
    upper bound.
    """
    n, α = 500, 1 - level
    for hits in (0, 1, 7, 60):
        lower, upper = gamma_interval(np.full(hits, 1 / n), 1 / n, level)
        assert lower == pytest.approx(stats.chi2.ppf(α / 2, 2 * hits) / 2 / n if hits else 0.0)
        assert upper == pytest.approx(stats.chi2.ppf(1 - α / 2, 2 * hits + 2) / 2 / n)
        exact = stats.binomtest(hits, n).proportion_ci(level, method="exact")
        assert lower <= exact.low + 0.01 / n and exact.high <= upper
