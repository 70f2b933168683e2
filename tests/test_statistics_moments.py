"""Statistics by moments: closed forms of linear and quadratic functions, and all derivatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from random_functions import OPTIONS, carrier, differences, evaluator, function_of
from scipy import stats

import varimech as vm
from varimech.robust.normal_box import box_derivatives, box_probability
from varimech.robust.second_moments import SecondMoments

LINEAR = function_of("3 * a + 2 * b + c * a**2")
NORMAL = {"a": (1.0, vm.Tolerance(0.3)), "b": (2.0, vm.Tolerance(0.6)), "c": (0.0, None)}


def test_linear_function_of_correlated_normal_variables() -> None:
    quantities = {
        "mean": vm.mean(LINEAR),
        "std": vm.std(LINEAR),
        "quantile": vm.quantile(LINEAR, 0.99),
        "worst": vm.worst(LINEAR, sigma=-3),
        "probability": vm.probability(LINEAR.between(5.5, 7.8)),
    }
    ev = evaluator(
        carrier(NORMAL),
        quantities,
        nominals=["a"],
        widths=["a", "b"],
        correlation={("a", "b"): 0.3},
    )
    outcome = ev.run(ev.design.start)
    ρ, σa, σb = 0.3, 0.1, 0.2
    σ = math.sqrt(9 * σa**2 + 4 * σb**2 + 12 * ρ * σa * σb)
    z, (lower, upper) = stats.norm.ppf(0.99), ((5.5 - 7) / σ, (7.8 - 7) / σ)
    inside = stats.norm.cdf(upper) - stats.norm.cdf(lower)
    assert outcome.values == pytest.approx([7, σ, 7 + z * σ, 7 - 3 * σ, inside], rel=1e-12)
    # σ² = 9 σa² + …, and each width is 3 σ
    dσ = np.array([0.0, (18 * σa + 12 * ρ * σb) / 6 / σ, (8 * σb + 12 * ρ * σa) / 6 / σ])
    dm = np.array([3.0, 0.0, 0.0])
    of_m, of_σ = stats.norm.pdf([lower, upper]) / σ @ [[1, lower], [-1, -upper]]
    expected = [dm, dσ, dm + z * dσ, dm - 3 * dσ, of_m * dm + of_σ * dσ]
    assert outcome.derivatives == pytest.approx(np.array(expected), rel=1e-10, abs=1e-12)
    correlation = ev.methods[0].evaluate(ev.design.start)["std"].derivatives[0, -1]
    assert correlation == pytest.approx(6 * σa * σb / σ, rel=1e-12)
    assert ev.counts.gradients <= 2


def test_nominal_values_move_the_deviation_through_second_derivatives() -> None:
    f = function_of("a**2 * b + c * b**3")
    quantities = {"std": vm.std(f), "probability": vm.probability(f <= 2.4, f >= 0.5)}
    ev = evaluator(
        carrier({**NORMAL, "c": (0.1, None)}),
        quantities,
        nominals=["a", "b", "c"],
        widths=["a"],
        correlation={("a", "b"): -0.4},
    )
    x = ev.design.start
    a, b, c, ρ, σa, σb = 1.0, 2.0, 0.1, -0.4, 0.1, 0.2
    g = np.array([2 * a * b, a**2 + 3 * c * b**2])
    C = np.array([[σa**2, ρ * σa * σb], [ρ * σa * σb, σb**2]])
    H = np.array([[2 * b, 2 * a, 0.0], [2 * a, 6 * c * b, 3 * b**2]])
    σ = math.sqrt(g @ C @ g)
    outcome = ev.run(x)
    assert outcome.values[0] == pytest.approx(σ, rel=1e-12)
    assert outcome.derivatives[0, :3] == pytest.approx(g @ C @ H / σ, rel=1e-9)
    by_differences = differences(lambda x: ev.run(x).values, x, 1e-3)
    assert outcome.derivatives == pytest.approx(by_differences, rel=1e-7)


def test_system_of_correlated_limits_against_the_bivariate_normal_distribution() -> None:
    f, g = function_of("a + b"), function_of("a - b")
    quantities = {"both": vm.probability(f <= 3.1, g >= -1.2)}
    ev = evaluator(carrier(NORMAL), quantities, nominals=["a", "b"], widths=["a", "b"])
    σ2 = 0.1**2 + 0.2**2
    r = -(0.1**2 - 0.2**2) / σ2
    upper = np.array([0.1, 0.2]) / math.sqrt(σ2)
    expected = stats.multivariate_normal.cdf(upper, [0, 0], [[1, r], [r, 1]])
    outcome = ev.run(ev.design.start)
    assert outcome.values[0] == pytest.approx(expected, rel=1e-7)
    by_differences = differences(lambda x: ev.run(x).values, ev.design.start, 1e-3)
    assert outcome.derivatives == pytest.approx(by_differences, rel=1e-8)


def test_correlated_variables_that_are_not_normal_have_covariances_by_their_copula() -> None:
    parameters = {
        "a": (1.0, stats.uniform(0.8, 0.4)),
        "b": (2.0, stats.lognorm(0.1, scale=2.0)),
        "c": (0.0, None),
    }
    m, pair = carrier(parameters), ("a", "b")

    def deviation(r: float) -> tuple[float, float]:
        ev = evaluator(
            m, {"std": vm.std(LINEAR)}, nominals=["a"], widths=["a"], correlation={pair: r}
        )
        values = ev.methods[0].evaluate(ev.design.start)["std"]
        return float(values.values[0]), float(values.derivatives[0, -1])

    σ, slope = deviation(0.5)
    h = 1e-4
    assert slope == pytest.approx(
        (deviation(0.5 + h)[0] - deviation(0.5 - h)[0]) / (2 * h), rel=1e-6
    )
    assert σ != pytest.approx(deviation(0.4)[0], rel=1e-3)


def test_path_has_statistics_at_every_stored_time() -> None:
    m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    L = m.parameter("L", 1.0, unit="m", distribution=vm.Tolerance(0.03))
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=L, mass=3.0)
    m.revolute("O")
    m.start(angle={"rod": -1.0})
    p = m.problem(wrt="L", duration=1.0, output=0.1)
    from varimech.robust.evaluator import StatisticsEvaluator
    from varimech.robust.random_design import random_design

    design = random_design(p._simulation, None, None, nominals=["L"], widths=["L"])
    angle = vm.path(lambda s: s.angle("rod"), unit="rad")
    ev = StatisticsEvaluator(p._simulation, design, {}, {"σ": vm.std(angle)}, method="moments")
    outcome = ev.run(design.start)
    of_path = m.problem({"angle": vm.final(lambda s: s.angle("rod"))}, duration=1.0, output=0.1)
    moments = of_path.moments(order=1)
    assert outcome.time == pytest.approx(moments.time)
    assert outcome.paths[0] == pytest.approx(moments.std.to_numpy()[:, 0], rel=1e-6, abs=1e-12)
    by_differences = differences(lambda x: ev.run(x).paths[0], design.start, 1e-3)
    assert outcome.path_derivatives[0] == pytest.approx(by_differences, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("p", [0.01, 0.95, 0.99])
def test_errors_of_moments_see_the_tails_of_uniform_variables(p: float) -> None:
    """Uniform variables have no skewness and shorter tails than normal ones; the estimate holds to
    a factor of two.
    """
    a = vm.final("a")
    m = carrier({"a": (0.5, stats.uniform(0, 1))})
    asked = {"q": vm.quantile(a, p), "P": vm.probability(a <= p)}
    result = m.statistics(asked, method="moments", **OPTIONS)
    for name in asked:  # both statistics are p itself
        error = result.error.sel(statistic=name).item()
        assert 0.005 < abs(result[name] - p) < 2 * error < 0.5


def test_errors_of_moments_are_infinite_where_the_tails_are_unknown() -> None:
    """Student's distribution with four degrees of freedom has no fourth moment, and an object with
    quantiles, mean and variance provides no higher moments.
    """

    class Uniform:
        def ppf(self, p: Any) -> Any:
            return 0.7 + 0.6 * np.asarray(p)

        def mean(self) -> float:
            return 1.0

        def var(self) -> float:
            return 0.6**2 / 12

    f = function_of("3 * a")
    for given in (Uniform(), stats.t(4, loc=1.0, scale=0.1)):
        result = carrier({"a": (1.0, given), "b": (1.0, given)}).statistics(
            {
                "q": vm.quantile(f, 0.9),
                "p": vm.probability(f <= 3.4),
                "s": vm.std(f),
                "n": vm.quantile(function_of("a - a"), 0.9),
            },
            method="moments",
            **OPTIONS,
        )
        errors = result.error.to_numpy()
        assert errors[0] == math.inf
        assert errors[1] == pytest.approx(result["p"])  # anything from 0 to 1
        assert errors[2] < 1e-9 and errors[3] == 0


def test_errors_of_moments_contain_deviations_that_are_too_small() -> None:
    """The deviation is three times that of order 1: an estimate linear in the error would be
    1e-8.
    """
    f = vm.final("(a + 0.3)**2 + b")
    m = carrier({"a": (0.0, vm.Tolerance(3.0)), "b": (0.0, vm.Tolerance(0.3))})
    result = m.statistics({"P": vm.probability(f >= 4.0)}, method="moments", **OPTIONS)
    exact = 0.0556  # from 2,000,000 samples
    assert result["P"] < 1e-6
    assert exact / 2 < result.error.item()


def test_fourth_moments_of_quadratic_functions_of_normal_variables() -> None:
    """κ₄ = 48 (1 + 4) of (z + 1)², a noncentral χ² variable."""
    ev = evaluator(
        carrier({"a": (1.0, vm.Tolerance(3.0))}), {"m": vm.std(vm.final("a**2"))}, nominals=["a"]
    )
    x = ev.design.start
    assert SecondMoments(ev.task).moments(x).fourth == pytest.approx([48.0 + 192.0], rel=1e-9)


@pytest.mark.parametrize("method", ["moments", "form"])
def test_limits_that_coincide_count_once(method: str) -> None:
    """Left and right side of a symmetric mechanism: P = Φ(β), β = (3.2 − a − b)/σ, for both."""
    once, twice = vm.final("a + b"), vm.final("2*a + 2*b")
    m = carrier({"a": (1.0, vm.Tolerance(0.3)), "b": (2.0, vm.Tolerance(0.6))})
    both = {"P": vm.probability(once <= 3.2, twice <= 6.4)}
    ev = evaluator(m, both, nominals=["a"], widths=["a"], method=method)
    outcome = ev.run(ev.design.start)
    σ = math.hypot(0.1, 0.2)
    β = 0.2 / σ
    density = stats.norm.pdf(β)
    assert outcome.values[0] == pytest.approx(stats.norm.cdf(β), rel=1e-9)
    # dσ/dt = σ_a/(3 σ)
    expected = [-density / σ, -density * β / σ * 0.1 / (3 * σ)]
    assert outcome.derivatives[0] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_bounds_of_equal_variables(sign: float) -> None:
    """Z and ±Z: the narrowest interval counts, and only its ends have derivatives."""
    R = np.array([[1.0, sign], [sign, 1.0]])
    lower, upper = np.array([-1.0, -np.inf]), np.array([np.inf, 0.5])
    if sign < 0:
        lower, upper = np.array([-1.0, -0.5]), np.array([np.inf, np.inf])
    of_lower, of_upper, of_R = box_derivatives(lower, upper, R)
    assert box_probability(lower, upper, R) == pytest.approx(
        stats.norm.cdf(0.5) - stats.norm.cdf(-1.0), rel=1e-12
    )
    near, far = stats.norm.pdf(0.5), stats.norm.pdf(1.0)
    expected = ([-far, 0.0], [0.0, near]) if sign > 0 else ([-far, -near], [0.0, 0.0])
    assert of_lower == pytest.approx(expected[0], rel=1e-12)
    assert of_upper == pytest.approx(expected[1], rel=1e-12)
    assert not of_R.any()


@pytest.mark.parametrize("nominals", [["a"], []])
def test_errors_of_quantiles_see_curvature_whatever_varies(nominals: list[str]) -> None:
    """(a + 1)² is monotonic for likely values of a, so its quantile follows from that of a."""
    m = carrier({"a": (1.0, vm.Tolerance(1.2))})
    q = {"q": vm.quantile(vm.final("(a + 1)**2"), 0.99)}
    ev = evaluator(m, q, nominals=nominals, widths=["a"])
    values = ev.methods[0].evaluate(ev.design.start, errors=True)["q"]
    exact = (2 + 0.4 * stats.norm.ppf(0.99)) ** 2
    assert 0.5 < exact - values.values[0] < values.errors[0]
