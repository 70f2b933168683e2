"""Probabilities and quantiles of linear limits of correlated bounded parameters, against quadrature
and samples in the space of the Gaussian copula; errors of moments of products.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from random_functions import OPTIONS, carrier, function_of
from scipy import stats
from scipy.special import ndtr, ndtri

import varimech as vm
from varimech.robust.verification import interval


def quantiles(given: Any, z: np.ndarray) -> np.ndarray:
    """F⁻¹(Φ(z)), each tail by its own probability."""
    return np.where(z < 0, given.ppf(ndtr(-np.abs(z))), given.isf(ndtr(-np.abs(z))))


def exceeded(given: list[Any], ρ: float, a: list[float], c: float) -> float:
    """P[a₁x₁ + a₂x₂ > c] by quadrature over z₁ of the probability that x₂ is above (or, for a₂ < 0,
    below) its limit.
    """
    z = np.linspace(-8.5, 8.5, 40_001)
    x = (c - a[0] * quantiles(given[0], z)) / a[1]
    below, above = given[1].cdf(x), given[1].sf(x)
    limit = np.where(below < 0.5, ndtri(below), -ndtri(above))
    beyond = math.copysign(1.0, a[1]) * (ρ * z - limit) / math.sqrt(1 - ρ**2)
    return float(np.trapezoid(stats.norm.pdf(z) * ndtr(beyond), z))


def linear(a: list[float]) -> vm.Objective:
    return function_of(" + ".join(f"({k}) * p{i}" for i, k in enumerate(a)))


def mechanism(given: list[Any]) -> vm.Mechanism:
    return carrier({f"p{i}": (float(one.mean()), one) for i, one in enumerate(given)})


LIMITS: list[tuple[list[Any], float, list[float], float]] = [
    # distributions, correlation, factors, limit
    (
        [stats.triang(0.8439, 1.5261, 1.4342), stats.triang(0.8156, 1.3514, 1.452)],
        -0.696,
        [-2.3, -0.81],
        -6.003,
    ),
    (
        [stats.triang(0.1786, 1.3082, 1.6052), stats.uniform(1.2379, 1.9224)],
        -0.959,
        [2.485, 1.308],
        8.5978,
    ),
    (
        [stats.triang(0.652, 2.6743, 1.8798), stats.norm(3.3831, 0.9487)],
        0.619,
        [2.372, -0.89],
        6.9636,
    ),
    (
        [stats.uniform(2.5233, 1.4568), stats.triang(0.5741, 1.9905, 1.7836)],
        0.886,
        [-0.673, 1.217],
        1.7299,
    ),
    (
        [stats.uniform(2.1806, 0.6612), stats.beta(1.658, 3.2317, 3.0396, 1.7745)],
        0.969,
        [-2.339, 0.997],
        -2.0422,
    ),
]


@pytest.mark.parametrize("case", range(len(LIMITS)))
def test_errors_of_probabilities_where_the_limit_leaves_its_tangent_plane(case: int) -> None:
    """These limits differ from their planes by a tenth to a quarter of the probability, which
    second derivatives at the design point do not reveal.
    """
    given, ρ, a, c = LIMITS[case]
    exact = exceeded(given, ρ, a, c)
    for method in ("form", "auto"):
        result = mechanism(given).statistics(
            {"p": vm.probability(linear(a) <= c)},
            correlation={("p0", "p1"): ρ},
            method=method,
            **OPTIONS,
        )
        off, error = abs(1 - result["p"] - exact), result.error.item()
        assert off < 2 * error
        if result.methods["p"] == "FORM":
            assert off > 0.05 * exact
        if method == "auto":
            assert error < 0.2 * exact


def test_errors_of_probabilities_of_random_limits() -> None:
    """For 20 random pairs of bounded parameters, at least 19 are within two stated errors."""
    rng = np.random.default_rng(4)
    covered = 0
    for _ in range(20):
        given = [
            stats.truncnorm(
                -rng.uniform(0.3, 2.5), rng.uniform(0.3, 2.5), 3.0, rng.uniform(0.2, 1)
            ),
            stats.uniform(2.0, rng.uniform(0.5, 2.0)),
        ]
        ρ = float(rng.uniform(0.5, 0.98) * rng.choice([-1, 1]))
        a = [float(rng.choice([-1, 1]) * rng.uniform(0.3, 1) / one.std()) for one in given]
        z = rng.multivariate_normal([0, 0], [[1, ρ], [ρ, 1]], 10_000)
        y = sum(k * quantiles(one, each) for k, one, each in zip(a, given, z.T, strict=True))
        c = float(np.quantile(y, 1 - 10 ** rng.uniform(-2.5, -0.5)))
        result = mechanism(given).statistics(
            {"p": vm.probability(linear(a) <= c)},
            correlation={("p0", "p1"): ρ},
            method="form",
            **OPTIONS,
        )
        covered += abs(1 - result["p"] - exceeded(given, ρ, a, c)) < 2 * result.error.item() + 1e-5
    assert covered >= 19


CORNER = [
    [1, -0.59, 0.66, 0.89],
    [-0.59, 1, -0.42, -0.56],
    [0.66, -0.42, 1, 0.63],
    [0.89, -0.56, 0.63, 1],
]
PLATEAU = [
    [1, -0.63, 0.92, 0.77],
    [-0.63, 1, -0.62, -0.53],
    [0.92, -0.62, 1, 0.77],
    [0.77, -0.53, 0.77, 1],
]


@pytest.mark.parametrize(
    ("given", "R", "a", "c", "β"),
    [
        # a failed search from the medians had left only a farther point, at 4.7 standard deviations
        (
            [
                stats.beta(2.19, 3.3, 1.49, 1.41),
                stats.beta(2.59, 4.06, 2.55, 0.75),
                stats.triang(0.78, 2.16, 1.86),
                stats.norm(3.86, 0.26),
            ],
            CORNER,
            [-2.54, -5.25, -1.04, 3.04],
            -9.5,
            3.15,
        ),
        # no ray meets the limit; the computed probability was exactly 1
        (
            [
                stats.uniform(2.73, 1.79),
                stats.truncnorm(-1.87, 2.27, 2.7, 0.44),
                stats.uniform(2.7, 1.05),
                stats.uniform(2.07, 1.13),
            ],
            PLATEAU,
            [-1.33, -2.24, 1.43, 1.35],
            -0.28,
            2.96,
        ),
    ],
    ids=["farther point", "certainty"],
)
def test_design_points_that_no_ray_meets(
    given: list[Any], R: list[list[float]], a: list[float], c: float, β: float
) -> None:
    rng = np.random.default_rng(1)
    u = rng.standard_normal((400_000, 4))
    z = u @ np.linalg.cholesky(R).T
    grid = np.linspace(-6, 6, 4001)
    tables = [
        np.interp(each, grid, quantiles(one, grid)) for one, each in zip(given, z.T, strict=True)
    ]
    failing = np.array(a) @ np.array(tables) > c
    exact = float(failing.mean())
    nearest = float(np.linalg.norm(u[failing], axis=1).min())
    assert nearest == pytest.approx(β, abs=0.3)
    result = mechanism(given).statistics(
        {"p": vm.probability(linear(a) <= c)}, correlation=R, method="form", **OPTIONS
    )
    p = 1 - result["p"]
    # the sample nearest to the medians is hardly nearer than the design point
    assert p > 0.8 * stats.norm.sf(nearest)
    assert abs(p - exact) < 2 * result.error.item() + 3 * math.sqrt(exact / 400_000)


def test_quantiles_of_linear_limits_within_two_errors() -> None:
    for given, ρ, a, c in LIMITS:
        p = 1 - exceeded(given, ρ, a, c)
        result = mechanism(given).statistics(
            {"q": vm.quantile(linear(a), p)},
            correlation={("p0", "p1"): ρ},
            method="form",
            **OPTIONS,
        )
        assert 0 < abs(result["q"] - c) < 2 * result.error.item()


@pytest.mark.parametrize("shape", [(2.557539540190844, 2.633879118313826), (2.0, 3.0)])
def test_covariances_of_beta_variables_are_finite(shape: tuple[float, float]) -> None:
    """The quadrature rule for covariances needs quantiles for 1e-98, which SciPy does not
    provide.
    """
    r = 0.73
    given = [stats.uniform(0.5, 1.0), stats.beta(*shape)]
    result = mechanism(given).statistics(
        {"s": vm.std(linear([1.0, 1.0]))},
        correlation={("p0", "p1"): r},
        method="moments",
        **OPTIONS,
    )
    z = np.linspace(-8, 8, 1601)
    x, y = (quantiles(one, z) - one.mean() for one in given)
    density = stats.multivariate_normal([0, 0], [[1, r], [r, 1]]).pdf(
        np.stack(np.meshgrid(z, z, indexing="ij"), axis=-1)
    )
    covariance = x @ density @ y * (z[1] - z[0]) ** 2
    exact = math.sqrt(given[0].var() + given[1].var() + 2 * covariance)
    assert result["s"] == pytest.approx(exact, rel=1e-6)


def test_errors_of_moments_see_products_of_parameters() -> None:
    """ψ = a + b + c + d + k (abcd + …): runs along each parameter and along their sum detect less
    than half of the error. E[(Σxᵢ)²] and the variance of products of independent normal variables
    are known.
    """
    k = 0.35
    names = {n: (0.0, vm.Tolerance(3.0)) for n in "abc"}
    f = function_of(f"2 * a + b * (a**2 - c**2) * {k}")
    # Var = 4 + k² E[b²(a² − c²)²] = 4 + k² (3 + 3 − 2)
    exact = math.sqrt(4 + 4 * k**2)
    for order in (1, 2):
        result = carrier(names).statistics(
            {"s": vm.std(f)}, method="moments", order=order, **OPTIONS
        )
        assert result["s"] == pytest.approx(2.0, rel=1e-9)
        assert abs(result["s"] - exact) < 2 * result.error.item()
    assert abs(carrier(names).statistics({"s": vm.std(f)}, **OPTIONS)["s"] - exact) < 0.02 * exact


def test_runs_that_fail_widen_the_verification_of_probabilities_and_quantiles() -> None:
    """Of 10,000 samples 90 failed, all of them beyond the limit: the true fraction within it is
    0.982, and the samples show 9,820 of the 9,910 others.
    """
    f = function_of("a")
    ψ = np.concatenate([np.linspace(0, 1, 9_820), np.linspace(2, 3, 90)])[:, None]
    _, lower, upper = interval(vm.probability(f <= 1.0), ψ, 90)
    lowest, highest = stats.beta.ppf([0.025, 0.975], [9_820, 9_911], [181, 90])
    assert [lower, upper] == pytest.approx([lowest, highest], rel=1e-12)
    assert lower < 0.982 < upper
    _, alone, _ = interval(vm.probability(f <= 1.0), ψ)
    assert alone > 0.982  # without failed runs
    _, low, high = interval(vm.quantile(f, 0.985), ψ, 90)
    assert low < 1.0 and high > 2.0
    assert interval(vm.quantile(f, 0.9995), ψ, 90)[2] == math.inf


def test_a_limit_beyond_any_number_has_a_distance() -> None:
    """The limit is 40 standard deviations away: Φ(−40) is below the smallest number."""
    names = {"a": (1.0, vm.Tolerance(0.3)), "b": (2.0, vm.Tolerance(0.6))}
    limit = 3.0 + 40 * math.hypot(0.1, 0.2)
    far = carrier(names).reliability(function_of("a + b") >= limit, **OPTIONS)
    assert far.form == 0.0 and far.beta == pytest.approx(40, rel=1e-4)
    assert any("40 standard deviations away" in note for note in far.notes)
