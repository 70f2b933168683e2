"""Statistics by second moments, samples, FORM and polynomial chaos against closed forms; their
derivatives against finite differences with common random numbers; the automatic choice.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from random_functions import OPTIONS, carrier, differences, evaluator, function_of
from scipy import stats

import varimech as vm
from varimech.robust.design_point_search import FormPoint, StandardColumn, curved_at, nearest_point
from varimech.robust.evaluator import StatisticsEvaluator
from varimech.robust.first_moments import FirstMoments, _probability_error
from varimech.robust.sampled_statistics import FEWEST_BEYOND, SampledStatistics
from varimech.robust.settings import StatisticsSettings
from varimech.robust.statistic import Probability
from varimech.robust.verification import interval

QUADRATIC = function_of("a**2 + 3 * a * b - b + c")
LINEAR = function_of("3 * a - 2 * b + c")
NORMAL = {"a": (1.0, vm.Tolerance(0.3)), "b": (2.0, vm.Tolerance(0.6)), "c": (0.5, None)}
MIXED = {
    "a": (1.0, stats.uniform(0.7, 0.6)),
    "b": (2.0, stats.lognorm(0.2, scale=2.0)),
    "c": (0.5, vm.Tolerance(0.2, sigmas=2)),
}
EVERY: dict[str, vm.Statistic] = {
    "mean": vm.mean(QUADRATIC),
    "std": vm.std(QUADRATIC),
    "worst": vm.worst(QUADRATIC, sigma=3),
    "quantile": vm.quantile(QUADRATIC, 0.95),
    "probability": vm.probability(QUADRATIC.between(4.0, 7.0)),
}


def check_derivatives(ev: StatisticsEvaluator, rel: float, step: float = 1e-4) -> None:
    """Check derivatives with respect to nominal values and widths by finite differences with the
    same random numbers.
    """
    x = ev.design.start
    scale = np.abs(ev.run(x).derivatives).max(axis=1, keepdims=True)
    by_differences = differences(lambda x: ev.run(x).values, x, step)
    assert ev.run(x).derivatives / scale == pytest.approx(by_differences / scale, abs=rel)


def quadratic_of_normal() -> tuple[float, float, np.ndarray, np.ndarray]:
    """Mean and variance of `QUADRATIC` with correlation 0.3, and their derivatives with respect to
    a, b, and both widths.
    """
    a, b, c, σa, σb, r = 1.0, 2.0, 0.5, 0.1, 0.2, 0.3
    mean = a**2 + σa**2 + 3 * (a * b + r * σa * σb) - b + c
    C = np.array([[σa**2, r * σa * σb], [r * σa * σb, σb**2]])
    g, H = np.array([2 * a + 3 * b, 3 * a - 1]), np.array([[2.0, 3.0], [3.0, 0.0]])
    variance = g @ C @ g + 0.5 * np.trace(H @ C @ H @ C)
    dC = [np.array([[2 * σa, r * σb], [r * σb, 0.0]]), np.array([[0.0, r * σa], [r * σa, 2 * σb]])]
    of_widths = [(g @ d @ g + np.trace(H @ d @ H @ C)) / 3 for d in dC]
    dmean = np.array([2 * a + 3 * b, 3 * a - 1, (2 * σa + 3 * r * σb) / 3, r * σa])
    return mean, float(variance), dmean, np.array([*(2 * H @ C @ g), *of_widths])


def test_second_moments_of_a_quadratic_function_of_normal_variables() -> None:
    ev = evaluator(
        carrier(NORMAL),
        {k: EVERY[k] for k in ("mean", "std", "worst", "quantile", "probability")},
        nominals=["a", "b"],
        widths=["a", "b"],
        correlation={("a", "b"): 0.3},
    )
    ev.settings = StatisticsSettings(order=2)
    mean, variance, dmean, dvariance = quadratic_of_normal()
    outcome, σ = ev.run(ev.design.start), math.sqrt(variance)
    assert ev.titles["std"] == "moments of order 2"
    assert outcome.values[:3] == pytest.approx([mean, σ, mean + 3 * σ], rel=1e-10)
    assert outcome.derivatives[0] == pytest.approx(dmean, rel=1e-8)
    assert outcome.derivatives[1] == pytest.approx(dvariance / (2 * σ), rel=1e-8)
    check_derivatives(ev, 1e-8, step=1e-3)
    pair = ev.methods[0].evaluate(ev.design.start)["mean"].derivatives[0, -1]
    assert pair == pytest.approx(3 * 0.1 * 0.2, rel=1e-8)  # E[3ab] contains 3 r σa σb


def test_second_moments_of_independent_variables_that_are_not_normal() -> None:
    quantities = {k: EVERY[k] for k in ("mean", "std")}
    ev = evaluator(carrier(MIXED), quantities, nominals=["a", "b"], widths=["a", "b", "c"])
    ev.settings = StatisticsSettings(order=2)
    outcome = ev.run(ev.design.start)
    A, B = stats.uniform(0.7, 0.6), stats.lognorm(0.2, scale=2.0)
    a = [A.moment(k) for k in range(5)]
    b = [B.moment(k) for k in range(3)]
    mean = a[2] + 3 * a[1] * b[1] - b[1] + 0.5
    # E[(a² + 3ab − b)²], and c is added independently
    square = a[4] + 9 * a[2] * b[2] + b[2] + 6 * a[3] * b[1] - 2 * a[2] * b[1] - 6 * a[1] * b[2]
    variance = square - (mean - 0.5) ** 2 + 0.1**2
    assert outcome.values == pytest.approx([mean, math.sqrt(variance)], rel=1e-8)
    assert outcome.derivatives[1, 4] == pytest.approx(0.1 / math.sqrt(variance) / 2, rel=1e-8)
    check_derivatives(ev, 1e-7, step=1e-3)


def test_cubic_function_has_exact_derivatives_of_second_moments() -> None:
    f = function_of("a**2 * b + b**3 / 10 + c * a")
    ev = evaluator(
        carrier(NORMAL), {"mean": vm.mean(f), "std": vm.std(f)}, nominals=["a", "b", "c"]
    )
    ev.settings = StatisticsSettings(order=2)
    check_derivatives(ev, 1e-7, step=1e-3)


def test_form_of_a_linear_function_of_normal_variables_is_exact() -> None:
    quantities = {
        "rare": vm.probability(LINEAR >= 1.5),
        "system": vm.probability(LINEAR <= 0.4, function_of("a + b") <= 3.2),
        "quantile": vm.quantile(LINEAR, 0.001),
    }
    ev = evaluator(
        carrier(NORMAL), quantities, nominals=["a", "b"], widths=["a", "b"], method="form"
    )
    outcome = ev.run(ev.design.start)
    m, σ = -0.5, math.sqrt(9 * 0.1**2 + 4 * 0.2**2)
    β = (1.5 - m) / σ
    r = (3 * 0.1**2 - 2 * 0.2**2) / (σ * math.sqrt(0.05))
    upper = [0.9 / σ, 0.2 / math.sqrt(0.05)]
    both = stats.multivariate_normal.cdf(upper, [0, 0], [[1, r], [r, 1]])
    z = stats.norm.ppf(0.001)
    assert outcome.values[0] == pytest.approx(stats.norm.sf(β), rel=1e-8)
    assert outcome.values[1] == pytest.approx(both, rel=1e-6)
    assert outcome.values[2] == pytest.approx(m + z * σ, rel=1e-8)
    of_β = -stats.norm.pdf(β)
    expected = np.array([-3 / σ, 2 / σ, -β / σ * (9 * 0.1 / σ) / 3, -β / σ * (4 * 0.2 / σ) / 3])
    assert outcome.derivatives[0] == pytest.approx(of_β * expected, rel=1e-6)
    check_derivatives(ev, 1e-5, step=1e-3)
    errors = ev.methods[0].evaluate(ev.design.start, errors=True)
    assert errors["rare"].errors[0] < 1e-6 * outcome.values[0]


def test_form_of_limits_far_away_and_out_of_reach() -> None:
    bounded = function_of("sin(a)")
    quantities = {
        "far": vm.probability(LINEAR <= -6.0),
        "never": vm.probability(bounded >= 2.0),
        "always": vm.probability(bounded <= 2.0),
        "almost met": vm.probability(function_of("0.01 * exp(a)") >= -0.01),
    }
    ev = evaluator(carrier(NORMAL), quantities, nominals=["a", "b"], method="form")
    values = ev.methods[0].evaluate(ev.design.start, errors=True)
    σ = math.sqrt(9 * 0.1**2 + 4 * 0.2**2)
    assert values["far"].values[0] == pytest.approx(stats.norm.cdf(-5.5 / σ), rel=1e-6)
    assert values["far"].values[0] < 1e-20
    assert values["never"].values[0] == 0.0
    assert values["always"].values[0] == 1.0
    assert values["always"].errors[0] == 1e-9
    assert values["almost met"].values[0] == 1.0


def test_form_follows_two_design_points_and_their_correlation() -> None:
    f = function_of("(a - 1)**2 * 30 + (b - 2)")
    ev = evaluator(
        carrier(NORMAL), {"p": vm.probability(f <= 1.2)}, nominals=["a", "b"], method="form"
    )
    outcome = ev.run(ev.design.start)
    ((_, own),) = ev.methods[0]._points.items()  # type: ignore[attr-defined]
    assert len(own.points) == 2
    # given a, b is normal
    a = np.linspace(0.3, 1.7, 20001)
    inside = stats.norm.pdf(a, 1, 0.1) * stats.norm.cdf((1.2 - 30 * (a - 1) ** 2) / 0.2)
    exact = 1 - np.trapezoid(inside, a)
    assert 1 - outcome.values[0] == pytest.approx(exact, rel=0.35)  # FORM is of first order
    error = ev.methods[0].evaluate(ev.design.start, errors=True)["p"].errors[0]
    assert abs(1 - outcome.values[0] - exact) < 2 * error
    check_derivatives(ev, 1e-4, step=1e-3)


SHIFTED = {"a": (0.0, vm.Tolerance(3.0)), "b": (0.0, vm.Tolerance(3.0))}


def test_form_adds_the_ways_out_of_failure() -> None:
    """If the medians fail, a two-sided limit is satisfied beyond either of two planes."""
    square = function_of("(a + 0.3)**2")
    quantities = {
        "outside": vm.probability(square >= 1.0),
        "both": vm.probability(square >= 1.0, function_of("b") <= 0.5),
    }
    ev = evaluator(carrier(SHIFTED), quantities, nominals=["a"], widths=["a"], method="form")
    outcome = ev.run(ev.design.start)
    exact = stats.norm.sf(0.7) + stats.norm.cdf(-1.3)
    assert outcome.values == pytest.approx([exact, exact * stats.norm.cdf(0.5)], rel=1e-7)
    above, below = stats.norm.pdf(0.7), stats.norm.pdf(1.3)
    expected = np.array([above - below, (0.7 * above + 1.3 * below) / 3])
    assert outcome.derivatives[0] == pytest.approx(expected, rel=1e-6)
    check_derivatives(ev, 1e-5, step=1e-3)


def test_form_searches_anew_where_followed_points_jump_across_the_origin() -> None:
    """From a = 5 to 2, a step of the search from a = 1 passes the origin: a = −1 is not the design
    point, and according to its plane the medians do not fail.
    """
    ev = evaluator(
        carrier({"a": (5.0, vm.Tolerance(3.0))}),
        {"p": vm.probability(function_of("a**2") <= 1.0)},
        nominals=["a"],
        method="form",
    )
    assert ev.run(np.array([5.0])).values[0] == pytest.approx(stats.norm.cdf(-4.0), rel=1e-6)
    outcome = ev.run(np.array([2.0]))
    assert outcome.values[0] == pytest.approx(stats.norm.cdf(-1.0), rel=1e-6)
    assert outcome.derivatives[0, 0] == pytest.approx(-stats.norm.pdf(1.0), rel=1e-6)


@pytest.mark.parametrize(
    ("f", "statistic", "exact"),
    [
        # y with Φ(√y − 0.3) − Φ(−√y − 0.3) = p
        ("(a + 0.3)**2", lambda f: vm.quantile(f, 0.5), 0.495),
        ("(a + 0.3)**2", lambda f: vm.quantile(f, 0.95), 4.182),
        ("sin(3 * a + 0.3)", lambda f: vm.quantile(f, 0.5), 0.007),
        ("sin(3 * a + 0.3)", lambda f: vm.probability(f <= 0.5), 0.664),
        ("a**2", lambda f: vm.quantile(f, 0.5), 0.4549),
    ],
)
def test_limits_that_are_met_again_leave_no_small_error(
    f: str, statistic: Any, exact: float
) -> None:
    """FORM follows one plane only, and its error estimate shows it; the automatic choice avoids
    FORM.
    """
    asked, m = {"x": statistic(function_of(f))}, carrier(SHIFTED)
    form = m.statistics(asked, method="form", **OPTIONS)
    assert abs(form["x"] - exact) > 0.05
    assert form.error.item() > 0.5 * abs(form["x"] - exact)
    auto = m.statistics(asked, **OPTIONS)
    assert abs(auto["x"] - exact) < 1.5 * auto.error.item() + 0.005


def test_thin_bands_of_failure_leave_no_small_error() -> None:
    """(a + 2)² ≤ 0.01 ends again 0.2 beyond the design point, where neither its curvature nor a few
    plain samples reveal it.
    """
    asked, m = {"x": vm.probability(function_of("(a + 2)**2") <= 0.01)}, carrier(SHIFTED)
    exact = stats.norm.cdf(-1.9) - stats.norm.cdf(-2.1)
    form = m.statistics(asked, method="form", **OPTIONS)
    missed = stats.norm.cdf(-2.1)
    assert form["x"] - exact == pytest.approx(missed, rel=1e-6)
    assert form.error.item() > 0.5 * missed
    auto = m.statistics(asked, **OPTIONS)
    assert abs(auto["x"] - exact) < 1.5 * auto.error.item()


def test_second_order_probability_of_a_parabola() -> None:
    """The limit is a parabola at the design point: Breitung's formula in closed form."""
    f = function_of("a + 0.5 * (b - 2)**2")
    ev = evaluator(
        carrier({"a": (0.0, vm.Tolerance(3.0)), "b": (2.0, vm.Tolerance(3.0)), "c": (0, None)}),
        {"p": vm.probability(f >= 4.0)},
        nominals=["a"],
        method="form",
    )
    column = StandardColumn(ev.task, ev.design.at(ev.design.start), 0, "f")
    point: FormPoint = nearest_point(column, 4.0, 1.0, np.array([3.9, 0.0]))
    assert point.at.u == pytest.approx([4.0, 0.0], abs=1e-6)
    curved = curved_at(column, point.at.u)
    assert np.diag([0.0, 1.0]) == pytest.approx(curved.H, abs=1e-6)
    assert math.isnan(point.second_order(curved))  # curved like a sphere of radius 1


@pytest.mark.parametrize("method", ["samples", "chaos"])
@pytest.mark.parametrize("distributions", [NORMAL, MIXED], ids=["normal", "mixed"])
def test_sampling_and_polynomials_agree_with_independent_samples(
    method: str, distributions: dict[str, Any]
) -> None:
    ev = evaluator(
        carrier(distributions),
        EVERY,
        nominals=["a", "b"],
        widths=["a", "b"],
        method=method,
    )
    ev.settings = StatisticsSettings(samples=1024 if method == "samples" else 90, degree=4)
    computed = ev.methods[0].evaluate(ev.design.start, errors=True)
    u = np.random.default_rng(7).standard_normal((400_000, len(ev.design.distributions.names)))
    values = ev.design.at(ev.design.start).values(u)
    a, b = values.T[:2]
    c = values[:, 2] if values.shape[1] > 2 else 0.5
    ψ = a**2 + 3 * a * b - b + c
    for name, statistic in EVERY.items():
        value, lower, upper = interval(statistic, ψ[:, None])
        assert lower < value < upper
        # 1.5 half widths of 95 % are 99.7 %
        tolerance = computed[name].errors[0] + 0.75 * (upper - lower)
        assert computed[name].values[0] == pytest.approx(value, abs=tolerance), name
        # 1,024 independent samples have the half width 1.96 √(p (1 − p)/n)/f = 0.13 σ at 95 %
        assert computed[name].errors[0] < 0.13 * ψ.std(), name
    check_derivatives(ev, 1e-6)


def test_polynomials_of_normal_and_uniform_variables_are_exact_for_polynomials() -> None:
    parameters = {**NORMAL, "b": (2.0, stats.uniform(1.7, 0.6))}
    quantities = {k: EVERY[k] for k in ("mean", "std")}
    ev = evaluator(
        carrier(parameters), quantities, nominals=["a", "b"], widths=["a", "b"], method="chaos"
    )
    σa, σb = 0.1, 0.6 / math.sqrt(12)
    μ4 = 0.6**4 / 80
    mean = 1 + σa**2 + 6 - 2 + 0.5
    # (2 + 6) α + 2 β + α² + 3 α β with deviations α and β
    variance = 64 * σa**2 + 4 * σb**2 + 2 * σa**4 + 9 * σa**2 * σb**2
    outcome = ev.run(ev.design.start)
    assert μ4 == pytest.approx(stats.uniform(1.7, 0.6).stats("k") * σb**4 + 3 * σb**4)
    assert outcome.values == pytest.approx([mean, math.sqrt(variance)], rel=1e-9)
    of_σa = (128 * σa + 8 * σa**3 + 18 * σa * σb**2) / (2 * math.sqrt(variance))
    assert outcome.derivatives[1, 2] == pytest.approx(of_σa / 3, rel=1e-8)


def test_the_error_of_a_worst_value_by_polynomials_is_that_of_its_mean_and_deviation() -> None:
    statistics = {k: EVERY[k] for k in ("mean", "std", "worst")}
    result = carrier(NORMAL).statistics(
        {**statistics, "least": vm.worst(QUADRATIC, sigma=-3)}, method="chaos", degree=1, **OPTIONS
    )
    mean, std, worst, least = result.dataset["error"].to_numpy()
    assert mean > 0 and std > 0
    assert [worst, least] == pytest.approx([mean + 3 * std] * 2)


BOUNDED: list[Any] = [
    stats.triang(0.2, loc=0.7, scale=0.6),
    stats.truncnorm(-1, 2, loc=1.0, scale=0.2),
    stats.beta(2, 4, loc=0.7, scale=0.6),
]


@pytest.mark.parametrize("p", [0.02, 0.99])
@pytest.mark.parametrize("given", BOUNDED, ids=["triangular", "truncated normal", "beta"])
def test_errors_of_polynomials_hold_in_the_tails(given: Any, p: float) -> None:
    """Polynomials of normal variables have the largest residual in the tails of bounded variables,
    where there are few runs: the sum may even stay within a limit that the variable exceeds.
    """
    a = function_of("a")
    quantities = {"q": vm.quantile(a, p), "p": vm.probability(a <= float(given.ppf(p)))}
    by_chaos = carrier({"a": (1.0, given)}).statistics(quantities, method="chaos", **OPTIONS)
    for name, exact in (("q", given.ppf(p)), ("p", p)):
        error = by_chaos.error.sel(statistic=name).item()
        assert abs(by_chaos[name] - exact) < 1.2 * error  # the error is an estimate
        assert error > 0.05 * (given.std() if name == "q" else min(p, 1 - p))


def test_polynomials_of_degree_one_have_errors_of_quantiles() -> None:
    result = carrier(NORMAL).statistics(
        {"q": vm.quantile(LINEAR, 0.9)}, method="chaos", degree=1, **OPTIONS
    )
    exact = -0.5 + stats.norm.ppf(0.9) * 0.5
    assert result["q"] == pytest.approx(exact, abs=1e-3)
    assert result.error.item() > abs(result["q"] - exact)


@pytest.mark.parametrize("p", [0.02, 0.98, 0.999])
def test_quantiles_by_form_where_the_limit_is_curved_more_than_the_sphere(p: float) -> None:
    """The largest value of 3 (0.7 + 0.6 Φ(u₁)) − 2 (2 + 0.2 u₂) on the circle of radius Φ⁻¹(p)."""
    dists = {"a": (1.0, stats.uniform(0.7, 0.6)), "b": (2.0, vm.Tolerance(0.6))}
    result = carrier(dists).statistics(
        {"q": vm.quantile(function_of("3 * a - 2 * b"), p)}, method="form", **OPTIONS
    )
    z = stats.norm.ppf(p)
    angles = np.linspace(0, 2 * np.pi, 400_001)
    u = abs(z) * np.array([np.cos(angles), np.sin(angles)])
    y = 3 * (0.7 + 0.6 * stats.norm.cdf(u[0])) - 2 * (2 + 0.2 * u[1])
    assert result["q"] == pytest.approx(y.max() if z > 0 else y.min(), abs=1e-8)


def test_errors_of_samples_of_a_skewed_distribution() -> None:
    """The influence of a sample on the mean is ψ − μ, on the deviation ((ψ − μ)² − σ²)/(2σ): with the
    skewness 2 and the kurtosis 9 of an exponential distribution the variance of the estimate of
    μ + kσ is (1 + 2k + 2k²)σ²/n.
    """
    n, groups = 1 << 18, 1 << 10
    ψ = np.random.default_rng(5).exponential(size=(n, 1))
    sampled = SampledStatistics(ψ, np.zeros((n, 1, 1)), groups)
    for k in (3.0, -3.0):
        error = sampled.of(vm.worst(QUADRATIC, sigma=k), [0])[2]
        # 1,024 groups yield a deviation to 2.2 %, and the variance of ψ² to some per cent
        assert error == pytest.approx(1.96 * math.sqrt((1 + 2 * k + 2 * k**2) / n), rel=0.1)
    assert sampled.of(EVERY["std"], [0])[2] == pytest.approx(1.96 * math.sqrt(2 / n), rel=0.1)


@pytest.mark.parametrize("method", ["samples", "chaos", "form"])
def test_derivatives_with_respect_to_a_correlation(method: str) -> None:
    """Derivatives of σ² = 9 σa² + 4 σb² − 12 r σa σb, by each method that samples or searches
    in u.
    """
    statistic = vm.quantile(LINEAR, 0.975) if method == "form" else vm.std(LINEAR)
    ev = evaluator(
        carrier(NORMAL),
        {"s": statistic},
        nominals=["a"],
        correlation={("a", "b"): 0.3},
        method=method,
    )
    ev.settings = StatisticsSettings(samples=1024 if method == "samples" else None)
    values = ev.methods[0].evaluate(ev.design.start)["s"]
    σa, σb = 0.1, 0.2
    σ = math.sqrt(9 * σa**2 + 4 * σb**2 - 12 * 0.3 * σa * σb)
    z = stats.norm.ppf(0.975) if method == "form" else 1.0
    assert values.derivatives[0, -1] == pytest.approx(-6 * σa * σb / σ * z, rel=0.01)


def test_the_error_of_a_probability_by_moments_is_what_a_wrong_deviation_makes_of_it() -> None:
    """Mean and deviation may each be in error by 0.1 σ: to either side, and with a larger
    deviation.
    """
    ev = evaluator(carrier(NORMAL), {"p": vm.probability(LINEAR <= 0.5)}, nominals=["a"])
    moments = FirstMoments(ev.task).moments(ev.design.start)
    (p,) = ev.task.statistics.values()
    assert isinstance(p, Probability)
    z, none, share = 1.0 / 0.5, np.zeros(1), 0.1
    error = _probability_error(p, [np.array([0])], moments, np.array([share * 0.5]), none, none)
    far = [(z - share) / (1 + share), (z + share) / (1 + share), z - share, z + share]
    assert error == pytest.approx(np.abs(stats.norm.cdf(far) - stats.norm.cdf(z)).max())


def test_the_deviation_of_what_does_not_vary_is_zero() -> None:
    ev = evaluator(
        carrier(NORMAL), {"s": vm.std(function_of("2 * c"))}, nominals=["a", "c"], widths=["b"]
    )
    ev.settings = StatisticsSettings(order=2)
    outcome = ev.run(ev.design.start)
    assert outcome.values == [0.0] and not outcome.derivatives.any()


def test_samples_resolve_the_quantiles_that_are_asked_for() -> None:
    result = carrier(NORMAL).statistics(
        {"q": vm.quantile(LINEAR, 0.99)}, method="samples", **OPTIONS
    )
    count = int(result.methods["q"].split()[0])
    assert count * 0.01 >= FEWEST_BEYOND
    σ = math.hypot(3 * 0.1, 2 * 0.2)
    error = result.dataset["error"].item()
    assert result["q"] == pytest.approx(-0.5 + stats.norm.ppf(0.99) * σ, abs=error)
    kinked = function_of("a + 0.1 * sqrt((b - 2)**2 + 1e-4)")
    rare = carrier(NORMAL).statistics({"q": vm.quantile(kinked, 1 - 1e-4)}, **OPTIONS)
    needed = re.search(r"([\d.e+]+) samples would be needed", rare.reasons["q"])
    assert rare.methods["q"] == "FORM" and needed is not None
    assert float(needed[1]) * 1e-4 >= FEWEST_BEYOND


def test_choice_by_estimated_errors() -> None:
    flat = function_of("a + 0.01 * a * b")
    curved = function_of("(a - 1)**2 + (b - 2)**2")
    wavy = function_of("sin(60 * a)")
    p = carrier(NORMAL).problem(**OPTIONS)
    chosen = p.statistics({"s": vm.std(flat)})
    assert chosen.methods["s"] == "moments of order 1"
    assert "estimated errors" in chosen.reasons["s"]
    of_curved = p.statistics({"s": vm.std(curved)})
    assert of_curved.methods["s"] == "moments of order 2"
    assert of_curved["s"] == pytest.approx(math.sqrt(2 * 0.1**4 + 2 * 0.2**4), rel=1e-8)
    of_wavy = p.statistics({"s": vm.std(wavy)})
    assert of_wavy.methods["s"].endswith("samples")
    # the phase of sin(60 a), with a deviation of 6 rad, is practically uniformly distributed
    assert of_wavy["s"] == pytest.approx(math.sqrt(0.5), abs=of_wavy.dataset["error"].item())
    assert p.statistics({"p": vm.probability(flat <= 1.25)}).methods["p"] == "FORM"
    ring = p.statistics({"p": vm.probability(curved <= 0.1)})
    assert ring.methods["p"] != "FORM"


@pytest.mark.parametrize("first", ["ring", "plane"])
def test_a_quantile_whose_error_is_unknown_is_not_taken_for_exact(first: str) -> None:
    """A circle around the origin has no second-order probability; the other statistic is exact by
    FORM.
    """
    quantiles = {
        "ring": vm.quantile(function_of("(a + 0.05)**2 + b**2"), 0.95),
        "plane": vm.quantile(function_of("a"), 0.95),
    }
    ordered = {first: quantiles[first], **quantiles}
    p = carrier({"a": (0.0, vm.Tolerance(3.0)), "b": (0.0, vm.Tolerance(3.0))}).problem(**OPTIONS)
    by_form = p.statistics(ordered, method="form")
    exact = stats.ncx2(2, 0.05**2).ppf(0.95)
    assert by_form["ring"] < exact / 2
    assert by_form.error.sel(statistic="ring").item() == math.inf
    chosen = p.statistics(ordered)
    assert chosen.methods["ring"] != "FORM"
    assert abs(chosen["ring"] - exact) < chosen.error.sel(statistic="ring").item()


def test_derivatives_with_respect_to_the_bounds_of_a_uniform_distribution() -> None:
    result = carrier({**NORMAL, "a": (1.0, stats.uniform(0.7, 0.6))}).statistics(
        {"mean": vm.mean(QUADRATIC), "std": vm.std(QUADRATIC)}, method="chaos", **OPTIONS
    )
    bounds = result.bound_derivatives()

    def at(lower: float, upper: float) -> np.ndarray:
        m = carrier({**NORMAL, "a": ((lower + upper) / 2, stats.uniform(lower, upper - lower))})
        s = m.statistics(
            {"mean": vm.mean(QUADRATIC), "std": vm.std(QUADRATIC)}, method="chaos", **OPTIONS
        )
        return s.value.to_numpy()

    h = 1e-4
    of_lower = (at(0.7 + h, 1.3) - at(0.7 - h, 1.3)) / (2 * h)
    of_upper = (at(0.7, 1.3 + h) - at(0.7, 1.3 - h)) / (2 * h)
    assert bounds["lower"].to_numpy() == pytest.approx(of_lower, rel=1e-6)
    assert bounds["upper"].to_numpy() == pytest.approx(of_upper, rel=1e-6)
