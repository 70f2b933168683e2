"""Probabilities of half-spaces against one-dimensional integrals and closed forms."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import ndtr

from varimech.uncertainty.design_points import to_planes
from varimech.uncertainty.half_spaces import (
    beyond_all,
    union_of_half_spaces,
    union_of_intersections,
    union_shares,
)


def equal(k: int, ρ: float) -> np.ndarray:
    """Unit vectors with the same correlation between any two."""
    a = np.zeros((k, k + 1))
    a[:, 0], a[np.arange(k), np.arange(1, k + 1)] = np.sqrt(ρ), np.sqrt(1 - ρ)
    return a


def integral(k: int, ρ: float, β: float, union: bool) -> float:
    """Of equally correlated variables: independent of each other for a given common part."""

    def density(s: float) -> float:
        p = ndtr((np.sqrt(ρ) * s - β) / np.sqrt(1 - ρ))
        each = -np.expm1(k * np.log1p(-min(p, 1 - 1e-16))) if union else p**k
        return float(stats.norm.pdf(s) * each)

    ends = np.linspace(-7, 14, 64)
    parts = pairwise(ends)
    return float(sum(quad(density, a, b, epsabs=0, epsrel=1e-11)[0] for a, b in parts))


@pytest.mark.parametrize("k", [2, 3, 8])
@pytest.mark.parametrize("ρ", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("β", [0.5, 3.0, 6.0])
def test_equal_planes(k: int, ρ: float, β: float) -> None:
    a, distances = equal(k, ρ), np.full(k, β)
    both = integral(k, ρ, β, union=False)
    assert beyond_all(a, distances) == pytest.approx(both, rel=5e-6 if k == 2 else 1e-4)
    either = integral(k, ρ, β, union=True)
    assert union_of_half_spaces(a, distances) == pytest.approx(either, rel=1e-5)


def test_independent_planes_are_products() -> None:
    β = np.array([1.0, -0.5, 3.0, 6.0])
    assert beyond_all(np.eye(4), β) == pytest.approx(np.prod(ndtr(-β)), rel=1e-9)
    assert union_of_half_spaces(np.eye(4), β) == pytest.approx(1 - np.prod(ndtr(β)), rel=1e-9)


def test_sequences_are_those_of_the_oldest_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    """SciPy before 1.15 knows `seed` only."""
    own = stats.qmc.Sobol

    def older(d: int, *, scramble: bool = True, bits: int | None = None, seed: Any = None) -> Any:
        return own(d, scramble=scramble, bits=bits, seed=seed)

    monkeypatch.setattr(stats.qmc, "Sobol", older)
    assert beyond_all(np.eye(3), np.ones(3)) == pytest.approx(ndtr(-1.0) ** 3, rel=1e-6)


def test_planes_of_a_plane() -> None:
    """More planes than dimensions, parallel ones among them."""
    a = np.array([[1.0, 0.0], [-1.0, 0.0], [1.0, 0.0]])
    assert union_of_half_spaces(a, np.array([3.0, 3.0, 3.0])) == pytest.approx(
        2 * ndtr(-3.0), rel=1e-5
    )
    assert union_shares(a, np.array([3.0, 3.0, 3.5])) == pytest.approx([1, 1, 0], abs=1e-5)
    b = np.array([[1, 0], [0, 1], [1 / np.sqrt(2), 1 / np.sqrt(2)]])
    assert beyond_all(b, np.full(3, 2.0)) == pytest.approx(ndtr(-2.0) ** 2, rel=1e-5)


def test_union_of_intersections() -> None:
    """Two opposite quadrants do not overlap; a quadrant and a half-space that contains it do."""
    a, β = np.eye(2), np.full(2, 1.5)
    quadrant = float(ndtr(-1.5) ** 2)
    assert union_of_intersections([(a, β), (-a, β)]) == pytest.approx(2 * quadrant, rel=1e-6)
    inside = union_of_intersections([(a[:1], β[:1]), (a, β)])
    assert inside == pytest.approx(float(ndtr(-1.5)), rel=1e-6)


@dataclass(frozen=True)
class Point:
    beta: float
    standard: np.ndarray


def test_tangent_planes_are_met_along_rays() -> None:
    """A plane at the distance β is met after β/cos θ, the nearest of several first."""
    θ = np.array([0.0, 0.5, 1.0, 2.0])
    rays = np.column_stack([np.cos(θ), np.sin(θ)])
    points = [Point(3.0, np.array([3.0, 0.0]))]
    assert to_planes(points, rays) == pytest.approx([*(3 / np.cos(θ[:3])), np.inf])
    points.append(Point(1.0, np.array([0.0, 1.0])))
    expected = [3.0, 1 / np.sin(0.5), 1 / np.sin(1.0), 1 / np.sin(2.0)]
    assert to_planes(points, rays) == pytest.approx(expected)
