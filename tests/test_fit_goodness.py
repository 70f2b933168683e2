"""Goodness of fits, outliers and parameters at bounds: by simulation of a linear model, and for a
mechanism.
"""

from __future__ import annotations

import numpy as np
import pytest
from oscillator import oscillator
from scipy.optimize import lsq_linear
from scipy.stats import kstest

import varimech as vm
from test_fit import TIMES, TRUE, VALUES, exact, noisy, position
from varimech.identification.confidence import Confidence, at_bounds, confidence, intervals
from varimech.identification.goodness import goodness, serial_correlation, standardised

RUNS = 1000
FEWER = 400
COUNT, SIZES = 25, np.ones(3)
J = (
    np.column_stack([np.ones(COUNT), np.linspace(-1, 1, COUNT), np.cos(np.linspace(0, 4, COUNT))])
    * 3
)
FREE = np.full(3, np.inf)


def simulated(
    truth: np.ndarray,
    seed: int,
    *,
    sigma_given: bool,
    lower: np.ndarray = -FREE,
    upper: np.ndarray = FREE,
    noise: float = 1.0,
) -> tuple[np.ndarray, np.ndarray, Confidence]:
    """Least squares of J x = J truth + noise within bounds, by SciPy: parameters, residuals, and
    their covariance.
    """
    data = J @ truth + noise * np.random.default_rng(seed).standard_normal(COUNT)
    x = lsq_linear(J, data, (lower, upper), method="bvls").x
    r = J @ x - data
    return x, r, confidence(J, r, SIZES, float(np.linalg.norm(data)), sigma_given=sigma_given)


@pytest.mark.parametrize("sigma_given", [True, False])
def test_intervals_cover(sigma_given: bool) -> None:
    """95 % intervals hold each parameter in 95 % of 1,000 simulated fits: within three standard
    deviations of that count.
    """
    from scipy.stats import norm, t

    truth, hits = np.array([1.0, -2.0, 0.5]), np.zeros(3)
    for seed in range(RUNS):
        x, _, linear = simulated(truth, seed, sigma_given=sigma_given)
        factor = t.ppf(0.975, linear.dof) if linear.estimated else norm.ppf(0.975)
        low, high = intervals(x, linear, factor, np.zeros(3, dtype=int), -FREE, FREE)
        hits += (low <= truth) & (truth <= high)
    assert hits / RUNS == pytest.approx(0.95, abs=3 * np.sqrt(0.95 * 0.05 / RUNS))


@pytest.mark.parametrize("distance", [0.0, 0.05, 0.3])
def test_intervals_at_bounds_cover(distance: float) -> None:
    """With the truth at a bound, or one standard error or more inside, no parameter is held less
    often than in 95 %.
    """
    truth, upper = np.array([1.0, -2.0, 0.5]), np.array([np.inf, np.inf, 0.5 + distance])
    hits, at = np.zeros(3), 0
    for seed in range(RUNS):
        x, _, linear = simulated(truth, seed, sigma_given=True, upper=upper)
        sides = at_bounds(x, -FREE, upper, SIZES)
        low, high = intervals(x, linear, 1.959964, sides, -FREE, upper)
        hits += (low <= truth) & (truth <= high)
        at += int(sides[2] > 0)
        assert sides.tolist()[:2] == [0, 0] and high[2] <= upper[2] if sides[2] else True
    assert (hits / (RUNS) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / (RUNS))).all()
    assert at > 0.3 * RUNS if distance == 0 else at < 0.5 * RUNS


def test_one_sided_intervals_end_where_the_likelihood_ratio_says() -> None:
    """Independently: χ² with the parameter held, least over the others, exceeds the least one by
    1.96² at the end of the interval.
    """
    truth, upper = np.array([1.0, -2.0, 0.5]), np.array([np.inf, np.inf, 0.35])
    x, r, linear = simulated(truth, 3, sigma_given=True, upper=upper)
    sides = at_bounds(x, -FREE, upper, SIZES)
    low, high = intervals(x, linear, 1.959964, sides, -FREE, upper)
    assert sides[2] == 1 and high[2] == 0.35
    data = J @ x - r
    held = data - J[:, 2] * low[2]
    others = np.linalg.lstsq(J[:, :2], held, rcond=None)[0]
    assert np.sum((J[:, :2] @ others - held) ** 2) - r @ r == pytest.approx(1.959964**2, rel=1e-9)


def test_probabilities_of_good_fits_are_uniform() -> None:
    truth, p, correlated = np.array([1.0, -2.0, 0.5]), [], 0
    for seed in range(RUNS):
        _, r, linear = simulated(truth, seed, sigma_given=True)
        p.append(goodness(r, linear, sigma_given=True).p_value)
        correlated += serial_correlation(r) is not None
    assert kstest(p, "uniform").pvalue > 0.01
    assert correlated <= 0.001 * RUNS + 3 * np.sqrt(0.001 * RUNS)


@pytest.mark.parametrize("sigma_given", [True, False])
def test_hardly_any_good_fit_has_outliers(sigma_given: bool) -> None:
    """At most 1 % of them, within three standard deviations of the count."""
    marked = 0
    for seed in range(FEWER):
        _, r, linear = simulated(np.ones(3), seed, sigma_given=sigma_given)
        marked += int(standardised(r, linear, sigma_given=sigma_given)[1].any())
    assert marked <= 0.01 * FEWER + 3 * np.sqrt(0.01 * FEWER)


@pytest.mark.parametrize("sigma_given", [True, False])
@pytest.mark.parametrize("rows", [[4], [4, 17], [0, 11, 24]])
def test_outliers_are_found_and_hide_no_others(sigma_given: bool, rows: list[int]) -> None:
    missed = 0
    for seed in range(200):
        data = J @ np.ones(3) + np.random.default_rng(seed).standard_normal(COUNT)
        data[rows] += 15 * np.array([1, -1, 1])[: len(rows)]
        r = J @ np.linalg.lstsq(J, data, rcond=None)[0] - data
        linear = confidence(J, r, SIZES, 1.0, sigma_given=sigma_given)
        missed += not set(rows) <= set(
            np.flatnonzero(standardised(r, linear, sigma_given=sigma_given)[1]).tolist()
        )
    assert missed <= 10


@pytest.fixture(scope="module")
def m() -> vm.Mechanism:
    return oscillator(VALUES)


def test_one_outlier_of_a_motion_is_named_and_widens_the_interval(m: vm.Mechanism) -> None:
    """χ² = 2,886 for one outlier used to come with a narrow interval and no word."""
    clean = noisy(1)
    data = clean.copy()
    data[12] += 0.12
    good = m.fit(
        vm.measurement(position, TIMES, clean, sigma=0.002, name="x", unit="m"),
        ["k", "c"],
        parameters={"x0": 0.1},
    )
    bad = m.fit(
        vm.measurement(position, TIMES, data, sigma=0.002, name="x", unit="m"),
        ["k", "c"],
        parameters={"x0": 0.1},
    )
    assert bad.goodness.chi2 == pytest.approx(
        np.sum(((exact(np.array([*bad.x, 0.1])) - data) / 0.002) ** 2), rel=1e-5
    )
    assert (
        bad.goodness.degrees_of_freedom == 38
        and bad.goodness.too_large
        and bad.goodness.p_value < 1e-100  # type: ignore[operator]
    )
    assert bad.outliers[["measurement", "row"]].to_numpy().tolist() == [["x", 12]]
    assert bad.outliers["standardised_residual"].item() == pytest.approx(-60, rel=0.1)
    wide = bad.intervals["upper"] - bad.intervals["lower"]
    narrow = (
        2 * 1.96 * 0.002 * np.sqrt(np.diag(np.linalg.inv(bad.jacobian.T @ bad.jacobian * 0.002**2)))
    )
    assert (wide.to_numpy() > 5 * narrow).all()
    text = repr(bad)
    assert "WARNING: χ² is impossibly large" in text and "1 outlier: x row 12 (t = 0.65 s, " in text
    assert f"χ² = {bad.goodness.chi2:.4g} for 38 degrees of freedom" in text
    assert (
        not good.warnings
        and not len(good.outliers)
        and 0.001 < (good.goodness.p_value or 0) < 0.999
    )


def test_wrong_sigma_and_wrong_models_are_reported(m: vm.Mechanism) -> None:
    loose = m.fit(vm.measurement(position, TIMES, noisy(1), sigma=0.02), list(TRUE), start=TRUE)
    assert (
        loose.goodness.too_small
        and "sigma= is about 1" in loose.warnings[0]
        and "times too large" in loose.warnings[0]
    )
    tight = m.fit(vm.measurement(position, TIMES, noisy(1), sigma=0.0004), list(TRUE), start=TRUE)
    unknown = m.fit(vm.measurement(position, TIMES, noisy(1)), list(TRUE), start=TRUE)
    assert tight.goodness.too_large and not len(
        tight.outliers
    )  # all samples are off: none of them is an outlier
    assert tight.intervals["upper"].to_numpy() == pytest.approx(
        unknown.intervals["upper"].to_numpy(), rel=1e-6
    )
    assert (
        unknown.goodness.chi2 is None
        and unknown.goodness.deviation == pytest.approx(0.002, rel=0.3)
        and not unknown.warnings
    )
    stiff = m.fit(
        vm.measurement(position, TIMES, noisy(1)), ["k"], parameters={"c": 0.1, "x0": 0.1}
    )  # with less damping than there is
    assert any("not random" in w for w in stiff.warnings)


def test_parameters_at_bounds_are_marked(m: vm.Mechanism) -> None:
    low = m.fit(
        vm.measurement(position, TIMES, noisy(1), sigma=0.002),
        list(TRUE),
        bounds={"c": (1.2, 5.0)},
        start={"c": 1.5},
    )
    assert low.at_bounds == {"c": "lower"} and low.intervals.loc["c", "at"] == "lower bound"
    row = low.intervals.loc["c"]
    assert row["lower"] == 1.2 < row["upper"] < 1.2 + 1.96 * row["standard_error"]
    assert "'c' is at its lower bound: its interval is one-sided" in repr(low)
    free = m.fit(
        vm.measurement(position, TIMES, noisy(1), sigma=0.002),
        list(TRUE),
        bounds={"c": (0.0, 5.0)},
        start=TRUE,
    )
    assert not free.at_bounds and " at\n" not in repr(free).split("reduced")[0]
