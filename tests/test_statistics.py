"""Streaming statistics: merged parts equal the whole, histograms independent of the order;
quantiles against NumPy and SciPy.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import numpy as np
import pytest
from interval_coverage import covered
from scipy import stats

from varimech.uncertainty.estimates import mean_of
from varimech.uncertainty.histogram import Histogram
from varimech.uncertainty.quantiles import bracket, interval, quantile
from varimech.uncertainty.sketch import FINEST, SIDE, Sketch
from varimech.uncertainty.statistics import BLOCK, CoMoments, Summary
from varimech.uncertainty.study_text import known

PARTS = (3, 700, 1, 64, 300)


def columns(count: int = sum(PARTS)) -> np.ndarray:
    """Columns of all kinds: constant, zero, wide, skewed, far from zero, tiny, huge, discrete,
    initially zero.
    """
    rng = np.random.default_rng(5)
    z = rng.normal(size=count)
    late = np.where(np.arange(count) < 800, 0.0, z)
    kinds = [
        np.full(count, 0.1),
        np.zeros(count),
        z,
        np.exp(2 * z),
        1e6 + 1e-3 * z,
        1e-60 * z,
        1e60 * z,
        rng.integers(0, 3, count),
    ]
    return np.column_stack([*kinds, late, -1e-9 + 1e-12 * z])


def parts(values: np.ndarray) -> list[np.ndarray]:
    return np.split(values, np.cumsum(PARTS)[:-1])


def summary(values: np.ndarray) -> Summary:
    return Summary.of(values, np.zeros(values.shape[1]))


def test_parts_merged_are_the_whole() -> None:
    values = columns()
    first, *others = [summary(part) for part in parts(values)]
    for other in others:
        first = first.merged(other)
    assert first.count == len(values)
    exact = np.array([math.fsum(column) / len(values) for column in values.T])
    assert (np.abs(first.mean - exact) <= 4e-16 * np.abs(values).max(axis=0)).all()
    usual = np.ptp(values, axis=0) > 0
    np.testing.assert_allclose(first.variance[usual], values.var(axis=0, ddof=1)[usual], rtol=1e-9)
    m2, m3, m4 = (m[usual] / len(values) for m in (first.m2, first.m3, first.m4))
    np.testing.assert_allclose(m3 / m2**1.5, stats.skew(values[:, usual]), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(
        m4 / m2**2, stats.kurtosis(values[:, usual], fisher=False), rtol=1e-6
    )


def test_columns_that_do_not_vary_have_no_variance() -> None:
    values = columns()[:, :2]
    whole = summary(values[:100]).merged(summary(values[100:]))
    np.testing.assert_array_equal(whole.variance, 0)
    np.testing.assert_array_equal(whole.mean, values[0])
    for q in (0.0, 0.3, 1.0):
        np.testing.assert_array_equal(quantile(whole.histogram, whole.sketch, q), values[0])


def same(a: Histogram, b: Histogram) -> None:
    for name in ("count", "low", "high", "exponent", "first", "counts"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


def check_merging(each: list[Any], order: tuple[int, ...], whole: Any, compare: Any) -> Any:
    """Check that parts merged one after the other in an order, and in groups, equal the whole."""
    left = reduce(lambda a, b: a.merged(b), [each[k] for k in order])
    compare(left, whole)
    compare(each[0].merged(each[1]).merged(each[2].merged(each[3]).merged(each[4])), left)
    return left


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (4, 3, 2, 1, 0), (2, 0, 4, 1, 3)])
@pytest.mark.parametrize("bins", [16, 1024])
def test_histograms_do_not_depend_on_order(order: tuple[int, ...], bins: int) -> None:
    values = columns()
    each = [Histogram.of(part, bins) for part in parts(values)]
    left = check_merging(each, order, Histogram.of(values, bins), same)
    assert (left.counts.sum(axis=1, dtype=int) == len(values)).all()


def test_bins_hold_what_lies_within_their_bounds() -> None:
    values = columns()
    h = Histogram.of(values, 64)
    for c in range(values.shape[1]):
        counts, edges = h.counts[c, : h.used[c]], h.edges(c)
        assert counts.sum() == len(values)
        np.testing.assert_array_equal(
            counts, np.histogram(values[:, c], np.append(edges[:-1], np.inf))[0]
        )
        assert edges[0] <= values[:, c].min()
        assert values[:, c].max() < edges[-1]
        if c in (2, 3, 5, 6):  # columns that are not limited by rounding
            assert 32 <= counts.size <= 64


DISTRIBUTIONS = {
    "normal": stats.norm(3, 2),
    "reciprocal": stats.pareto(1.0),
    "Cauchy": stats.cauchy(1e6, 1e-3),
    "exponential": stats.expon(-5, 1e-8),
    "lognormal over 60 decades": stats.lognorm(20.0),
    "negative": stats.loggamma(0.01),
    "beta at both ends": stats.beta(0.01, 0.01),
    "uniform": stats.uniform(-1e-300, 2e-300),
}
"""Light and heavy tails, near and far from zero. 1/U, for U uniform, is Pareto's with exponent 1,
and its median is 2.
"""
PROBABILITIES = (0.0, 0.001, 0.05, 0.5, 0.77, 0.95, 0.9999, 1.0)


def drawn(count: int, columns: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Samples of every distribution, and the centre of each: a value near the middle, or another
    one.
    """
    rng = np.random.default_rng(7)
    values = [d.ppf(rng.random((count, columns))) for d in DISTRIBUTIONS.values()]
    return np.concatenate(values, axis=1), np.repeat(
        [d.ppf(0.4) for d in DISTRIBUTIONS.values()], columns
    )


def same_sketch(a: Sketch, b: Sketch) -> None:
    for name in ("centre", "near", "far", "same", "counts"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (4, 3, 2, 1, 0), (2, 0, 4, 1, 3)])
@pytest.mark.parametrize("about", [0.0, 0.1, 1e60])
def test_sketches_do_not_depend_on_order(order: tuple[int, ...], about: float) -> None:
    heavy = drawn(sum(PARTS))[0]
    values = np.concatenate([columns(), heavy], axis=1)
    centre = np.full(values.shape[1], about)
    each = [Sketch.of(part, centre) for part in parts(values)]
    left = check_merging(each, order, Sketch.of(values, centre), same_sketch)
    np.testing.assert_array_equal(left.ordered().sum(axis=1), len(values))


@pytest.mark.parametrize("q", PROBABILITIES)
def test_quantiles_are_within_their_stated_error_whatever_the_distribution(q: float) -> None:
    """The reference are the quantiles of the samples by NumPy; the error is small relative to the
    distance from the centre.
    """
    heavy, centre = drawn(5_000)
    values, centre = (
        np.concatenate([columns(5_000), heavy], axis=1),
        np.concatenate([np.zeros(10), centre]),
    )
    s = Summary.of(values[:2000], centre).merged(Summary.of(values[2000:], centre))
    exact = np.quantile(values, q, axis=0, method="inverted_cdf")
    lower, upper = bracket(s.histogram, s.sketch, q * len(values))
    rounding = 4e-16 * (np.abs(exact) + np.abs(centre))
    assert (lower - rounding <= exact).all() and (exact <= upper + rounding).all()
    estimate = quantile(s.histogram, s.sketch, q)
    assert (lower <= estimate).all() and (estimate <= upper).all()
    octaves = np.ptp(
        np.log2(np.abs(values - centre), where=values != centre, out=np.full(values.shape, np.nan)),
        axis=0,
    )
    bits = np.clip(np.floor(np.log2(SIDE / (np.nan_to_num(octaves) + 2))), 0, FINEST)
    assert (
        upper - lower
        <= np.exp2(-bits) * 1.01 * np.maximum(np.abs(lower - centre), np.abs(upper - centre))
        + rounding
    ).all()
    assert (upper - lower <= s.histogram.width).all()


@pytest.mark.parametrize("count", [30, 500])
def test_intervals_of_quantiles_cover_whatever_the_distribution(count: int) -> None:
    """300 studies of each distribution; 95 % minus three standard errors is 91 %."""
    values, centre = drawn(count, 300)
    s = Summary.of(values, centre)
    for q in (0.02, 0.5, 0.9):
        exact = np.repeat([d.ppf(q) for d in DISTRIBUTIONS.values()], 300)
        lower, upper = interval(s.histogram, s.sketch, q, 0.95)
        rounding = 4e-16 * np.abs(exact)
        assert (lower <= upper).all()
        covered_by = (
            ((lower - rounding <= exact) & (exact <= upper + rounding))
            .reshape(-1, 300)
            .mean(axis=1)
        )
        assert (covered_by > 0.91).all(), (q, covered_by)
    assert np.isneginf(interval(s.histogram, s.sketch, 0.0, 0.95)[0]).all()
    assert np.isposinf(interval(s.histogram, s.sketch, 1.0, 0.95)[1]).all()


def test_the_median_of_a_reciprocal_is_known() -> None:
    """Equal bins between the extremes would yield 8.5, because the largest of 20,000 samples is
    some 20,000.
    """
    values = 1 / np.random.default_rng(0).random((20_000, 1))
    s = Summary.of(values, np.array([2.0]))
    assert quantile(s.histogram, s.sketch, 0.5).item() == pytest.approx(np.median(values), rel=1e-3)
    assert quantile(s.histogram, s.sketch, 0.95).item() == pytest.approx(
        np.quantile(values, 0.95), rel=0.016
    )
    lower, upper = interval(s.histogram, s.sketch, 0.5, 0.999)
    assert lower < 2 < upper and upper - lower < 0.1


@pytest.mark.parametrize(
    ("value", "half", "text"),
    [
        (2.0108643, 0.028, "2.01"),
        (169.64812, 110.0, "200"),
        (0.72714783, 0.00028, "0.7271"),
        (-3.2e-9, 1e-10, "-3.2e-09"),
        (1.5e12, 2e10, "1.50e+12"),
        (0.003, 0.5, "0.0"),
        (-0.003, 0.5, "0.0"),
        (3.3, 0.0, "3.3"),
        (3.3, math.inf, "–"),
        (math.nan, 1.0, "–"),
    ],
)
def test_numbers_are_printed_with_the_digits_that_are_known(
    value: float, half: float, text: str
) -> None:
    assert known(value, half) == text


def test_wide_tables_are_done_in_blocks() -> None:
    values = np.random.default_rng(1).normal(size=(BLOCK // 8, 20))
    whole, one = summary(values), summary(np.ascontiguousarray(values[:, 9:10]))
    np.testing.assert_allclose(whole.mean[9], one.mean[0], atol=1e-14)
    np.testing.assert_array_equal(whole.histogram.counts[9], one.histogram.counts[0])
    np.testing.assert_array_equal(whole.sketch.counts[9], one.sketch.counts[0])
    np.testing.assert_allclose(
        whole.m4, ((values - values.mean(axis=0)) ** 4).sum(axis=0), rtol=1e-12
    )


def test_co_moments_of_parts_are_those_of_the_whole() -> None:
    rng = np.random.default_rng(2)
    x = 5 + rng.normal(size=(500, 2))
    y = 3 * x + rng.normal(size=(500, 2)) + [0, 1e3]
    each = [
        CoMoments.of(b, a)
        for a, b in zip(np.split(x, [7, 300]), np.split(y, [7, 300]), strict=True)
    ]
    whole = each[0].merged(each[1]).merged(each[2])
    for c in range(2):
        S = 499 * np.cov(x[:, c], y[:, c])
        np.testing.assert_allclose(
            [whole.xx[c], whole.xy[c], whole.yy[c]], [S[0, 0], S[0, 1], S[1, 1]], rtol=1e-12
        )
        np.testing.assert_allclose(
            [whole.control[c], whole.mean[c]], [x[:, c].mean(), y[:, c].mean()], rtol=1e-14
        )
    assert whole.columns(slice(1, 2)).mean == whole.mean[1]


def test_the_error_of_a_mean_is_the_deviation_over_the_root_of_the_number() -> None:
    y = np.random.default_rng(4).normal(3.0, 2.0, (500, 1))
    estimate = mean_of([CoMoments.of(y, np.zeros_like(y))], controlled=False)
    assert estimate.error == pytest.approx(y.std(axis=0, ddof=1) / np.sqrt(500), rel=1e-12)
    replicates = [CoMoments.of(part, np.zeros_like(part)) for part in np.split(y, 10)]
    means = y.reshape(10, 50).mean(axis=1)
    assert mean_of(replicates, controlled=False).error == pytest.approx(
        means.std(ddof=1) / np.sqrt(10), rel=1e-12
    )


def test_intervals_of_hypercubes_cover() -> None:
    """1,000 studies each cover 93 to 97 %. Sixteen replicates, with a control fitted to their
    means, reached 90 %.
    """
    for name, shares in covered("latin-hypercube", 256, 1000).items():
        assert all(0.93 <= share <= 0.97 for share in shares), (name, shares)
