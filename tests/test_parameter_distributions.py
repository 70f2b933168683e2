"""Distributions of parameters: marginals, correlations, and what they refuse."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import stats

import varimech as vm
from varimech.uncertainty.openturns_distributions import distribution_of
from varimech.uncertainty.parameter_distributions import ParameterDistributions, distributions_of


def parameters() -> dict[str, vm.Parameter]:
    m = vm.Mechanism("three", dimension=2)
    m.parameter("a", 1.0, unit="m", distribution=vm.Tolerance(0.03))
    m.parameter("b", 2.0, unit="kg")
    m.parameter("c", 5.0)
    return m.parameters


def distributions(
    given: dict[str, Any] | None = None, correlation: Any = None
) -> ParameterDistributions:
    return distributions_of(parameters(), given, correlation)


def test_a_tolerance_is_three_standard_deviations() -> None:
    s = distributions({"c": vm.Tolerance(0.4, sigmas=2)})
    assert s.names == ("a", "c") and s.units == ("m", "") and s.indices == [0, 2]
    assert s.mean.tolist() == [1.0, 5.0]
    assert s.sigma == pytest.approx([0.01, 0.2], rel=1e-15)
    assert s.normal and s.independent
    assert stats.norm.cdf(3) - stats.norm.cdf(-3) == pytest.approx(0.9973, abs=1e-5)


def test_given_distributions_replace_those_of_parameters() -> None:
    s = distributions({"a": stats.norm(1.5, 0.2), "b": stats.uniform(1, 2)})
    assert s.mean == pytest.approx([1.5, 2.0]) and s.sigma == pytest.approx([0.2, 2 / np.sqrt(12)])
    assert not s.normal and s.independent
    assert distributions({"a": None, "b": vm.Tolerance(0.1)}).names == ("b",)


def test_normal_values_have_the_covariance() -> None:
    R = [[1.0, 0.6, -0.2], [0.6, 1.0, 0.3], [-0.2, 0.3, 1.0]]
    s = distributions({"b": vm.Tolerance(0.3), "c": stats.norm(4.0, 2.0)}, R)
    σ = np.array([0.01, 0.1, 2.0])
    assert s.covariance == pytest.approx(np.outer(σ, σ) * R, rel=1e-14)
    z = np.array([[0.0, 0.0, 0.0], [1.0, -1.0, 2.0]])
    x = s.from_normal(z)
    assert x[0] == pytest.approx([1.0, 2.0, 4.0])
    root = np.linalg.cholesky(s.covariance)
    assert x[1] == pytest.approx(np.array([1.0, 2.0, 4.0]) + root @ z[1], rel=1e-14)
    assert s.from_uniform(stats.norm.cdf(z)) == pytest.approx(x, rel=1e-12)


def test_covariance_of_correlated_uniforms_is_known() -> None:
    """6/π asin(r/2), Pearson 1907."""
    s = distributions({"a": stats.uniform(0, 1), "b": stats.uniform(1, 3)}, {("a", "b"): 0.7})
    assert s.covariance[0, 1] == pytest.approx(3 / 12 * 6 / np.pi * np.arcsin(0.35), rel=1e-12)


def test_covariance_of_correlated_lognormals_is_known() -> None:
    s = distributions(
        {"b": stats.lognorm(0.5), "c": stats.lognorm(0.3, scale=2.0), "a": None}, {("b", "c"): -0.8}
    )
    exact = 2 * np.exp((0.25 + 0.09) / 2) * (np.exp(-0.8 * 0.15) - 1)
    assert s.covariance[0, 1] == pytest.approx(exact, rel=1e-12)


def test_values_have_the_reported_covariance() -> None:
    s = distributions(
        {"b": stats.gamma(2.0), "c": stats.uniform(4, 2)}, {("a", "b"): 0.5, ("b", "c"): 0.4}
    )
    x = s.from_uniform(stats.qmc.Sobol(3, seed=1).random_base2(14))
    assert x.mean(axis=0) == pytest.approx(s.mean, rel=2e-3)
    correlation = np.cov(x.T) / np.outer(s.sigma, s.sigma)
    assert correlation == pytest.approx(s.covariance / np.outer(s.sigma, s.sigma), abs=0.01)
    for k, exact in enumerate((stats.norm(1, 0.01), stats.gamma(2.0), stats.uniform(4, 2))):
        assert stats.kstest(x[:, k], exact.cdf).statistic < 0.005


def test_tails_are_kept() -> None:
    """1 − p would have rounded the upper one away."""
    s = distributions({"a": stats.gumbel_r(0, 1), "b": stats.norm(0, 1)}, {("a", "b"): 0.1})
    x = s.from_normal(np.array([[9.0, 0.0], [-9.0, 0.0]]))
    assert stats.gumbel_r.logsf(x[0, 0]) == pytest.approx(stats.norm.logsf(9.0), rel=1e-9)
    assert np.isfinite(x).all()


def test_rows_of_all_parameters() -> None:
    s = distributions({"c": vm.Tolerance(1.0)})
    rows = s.rows(np.array([[1.1, 5.1], [0.9, 4.9]]), np.array([1.0, 2.5, 5.0]))
    assert rows.tolist() == [[1.1, 2.5, 5.1], [0.9, 2.5, 4.9]]


def test_described_and_carried_to_other_processes() -> None:
    s = distributions({"b": stats.uniform(1, scale=2)}, {("a", "b"): 0.5})
    stated = s.described()
    assert [p["distribution"] for p in stated["parameters"]] == [
        "normal(mean=1.0, sigma=0.01)",
        "uniform(1.0, scale=2.0)",
    ]
    assert stated["parameters"][1]["quantiles"]["0.5"] == 2.0
    assert stated["correlation"] == [[1.0, 0.5], [0.5, 1.0]]
    assert pickle.loads(pickle.dumps(s)).described() == stated


class Even:
    """Between 0.9 and 1.1, written by a user."""

    def ppf(self, p: Any) -> Any:
        return 0.9 + 0.2 * np.asarray(p)

    def mean(self) -> float:
        return 1.0

    def var(self) -> float:
        return 0.2**2 / 12


def test_histograms_and_what_users_write_are_distributions() -> None:
    m, p = vm.Mechanism("one", dimension=2), np.array([0.001, 0.5, 0.9])
    m.parameter("a", 1.0, distribution=Even())
    histogram = stats.rv_histogram(([1, 1], [0.9, 1.0, 1.1]), density=False)
    for given in ({}, {"a": histogram}, {"a": histogram()}):
        s = distributions_of(m.parameters, given)
        assert (s.mean.item(), s.sigma.item()) == pytest.approx((1.0, 0.2 / np.sqrt(12)))
        np.testing.assert_allclose(s.from_uniform(p[:, None])[:, 0], 0.9 + 0.2 * p)
        np.testing.assert_allclose(s.marginals[0].from_normal(stats.norm.ppf(p)), 0.9 + 0.2 * p)
    assert distributions_of(m.parameters).described()["parameters"][0]["distribution"] == "Even"


@pytest.mark.skipif(not hasattr(stats, "Normal"), reason="an older SciPy")
def test_newer_distributions_of_scipy() -> None:
    even, normal = stats.Uniform(a=1.0, b=3.0), stats.Normal(mu=5.0, sigma=0.5)
    new, old = (
        distributions({"b": even, "c": normal}),
        distributions({"b": stats.uniform(1.0, 2.0), "c": stats.norm(5.0, 0.5)}),
    )
    u = np.array([[1e-9, 0.3, 0.9]])
    np.testing.assert_allclose(new.from_uniform(u), old.from_uniform(u), rtol=1e-14)
    assert new.marginals[2] == old.marginals[2]
    np.testing.assert_allclose(
        new.marginals[1].higher_moments, old.marginals[1].higher_moments, atol=1e-14
    )
    for wrong in (stats.Normal, stats.Binomial(n=3, p=0.5)):
        with pytest.raises(vm.ModelError, match="nor a continuous distribution with its numbers"):
            distributions({"a": wrong})


@pytest.mark.parametrize(
    ("given", "correlation", "says"),
    [
        ({"a": None}, None, r"no parameter has a distribution.*distribution=varimech.Tolerance"),
        ({"d": vm.Tolerance(0.1)}, None, r"no parameter is called 'd'"),
        ([0.1], None, r"distributions = \[0.1\] must be distributions by parameter"),
        ({"a": 0.1}, None, r"'a': distribution = 0.1 is neither"),
        ({"a": stats.norm}, None, r"'a'.*scipy.stats.norm is a family.*loc=1"),
        ({"a": stats.poisson(3)}, None, r"'a'.*nor a continuous distribution with its numbers"),
        (
            {"a": stats.gaussian_kde([1.0, 1.1])},
            None,
            r"nor an object with ppf\(p\), mean\(\) and var\(\)",
        ),
        ({"a": stats.cauchy(1, 1)}, None, r"'a'.*cauchy\(1.0, 1.0\) has mean (nan|inf)"),
        ({"a": stats.t(1.5)}, None, r"variance (nan|inf)"),
        ({"a": stats.norm([1, 2], 1)}, None, r"'a'.*array-valued"),
        ({"b": vm.Tolerance(1)}, {("a", "d"): 0.1}, r"varying parameter is called 'd'"),
        ({"b": vm.Tolerance(1)}, {("a", "c"): 0.1}, r"varying parameter is called 'c'"),
        ({"b": vm.Tolerance(1)}, {"ab": 0.1}, r"'ab' must be a pair"),
        ({"b": vm.Tolerance(1)}, {("a", "a"): 1.0}, r"with itself"),
        ({"b": vm.Tolerance(1)}, {("a", "b"): 1.0}, r"'a' with 'b' is 1; it must lie between"),
        ({"b": vm.Tolerance(1)}, {("a", "b"): "much"}, r"'a' with 'b' is 'much'"),
        ({"b": vm.Tolerance(1)}, {("a", "b"): 0.1, ("b", "a"): 0.2}, r"given twice: 0.1 and 0.2"),
        ({"b": vm.Tolerance(1)}, [[1.0]], r"2×2 matrix in the order 'a', 'b'"),
        (
            {"b": vm.Tolerance(1)},
            [[1.0, 0.1], [0.2, 1.0]],
            r"'a' with 'b' is 0.1, and the other way round 0.2",
        ),
        ({"b": vm.Tolerance(1)}, [[2.0, 0.1], [0.1, 1.0]], r"'a' with itself is 2"),
        ({"b": vm.Tolerance(1)}, [[1.0, np.nan], [np.nan, 1.0]], r"'a' with 'b' is nan"),
        ({"b": vm.Tolerance(1)}, {("a", "b"): np.nan}, r"'a' with 'b' is nan; it must be"),
        (
            {"b": vm.Tolerance(1), "c": vm.Tolerance(1)},
            {("a", "b"): 0.9, ("b", "c"): 0.9, ("a", "c"): -0.9},
            r"the matrix is not positive definite.*check first '.' with '.'",
        ),
    ],
)
def test_refuses(given: Any, correlation: Any, says: str) -> None:
    with pytest.raises(vm.ModelError, match=says):
        distributions(given, correlation)


def test_means_have_to_lie_within_bounds() -> None:
    m = vm.Mechanism("bounded", dimension=2)
    m.parameter("a", 1.0, bounds=(0.5, 1.5))
    with pytest.raises(vm.ModelError, match=r"'a': value 2 is outside its bounds"):
        distributions_of(m.parameters, {"a": stats.norm(2.0, 0.1)})


def test_openturns_takes_frozen_distributions_only() -> None:
    pytest.importorskip("openturns")
    with pytest.raises(
        vm.ModelError, match=r"openturns: Even is not a frozen distribution of scipy.stats"
    ):
        distribution_of(distributions({"b": Even()}))
