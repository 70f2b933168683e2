"""Streaming statistics: parts merged are the whole, histograms whatever the order; quantiles, against NumPy and SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from interval_coverage import covered
from varimech.uncertainty.estimates import mean_of
from varimech.uncertainty.histogram import Histogram
from varimech.uncertainty.statistics import BLOCK, CoMoments, Summary

PARTS = (3, 700, 1, 64, 300)


def columns(count: int = sum(PARTS)) -> np.ndarray:
    """Of all kinds: constant, zero, wide, skew, far from zero, tiny, huge, discrete, zero at first."""
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


def test_parts_merged_are_the_whole() -> None:
    values = columns()
    first, *others = [Summary.of(part) for part in parts(values)]
    for other in others:
        first = first.merged(other)
    assert first.count == len(values)
    exact = np.array([math.fsum(column) / len(values) for column in values.T])
    assert (np.abs(first.mean - exact) <= 4e-16 * np.abs(values).max(axis=0)).all()
    usual = np.ptp(values, axis=0) > 0
    np.testing.assert_allclose(first.variance[usual], values.var(axis=0, ddof=1)[usual], rtol=1e-9)
    m2, m3, m4 = (m[usual] / len(values) for m in (first.m2, first.m3, first.m4))
    np.testing.assert_allclose(m3 / m2**1.5, stats.skew(values[:, usual]), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(m4 / m2**2, stats.kurtosis(values[:, usual], fisher=False), rtol=1e-6)


def test_columns_that_do_not_vary_have_no_variance() -> None:
    values = columns()[:, :2]
    whole = Summary.of(values[:100]).merged(Summary.of(values[100:]))
    np.testing.assert_array_equal(whole.variance, 0)
    np.testing.assert_array_equal(whole.mean, values[0])
    for q in (0.0, 0.3, 1.0):
        np.testing.assert_array_equal(whole.histogram.quantile(q), values[0])


def same(a: Histogram, b: Histogram) -> None:
    for name in ("count", "low", "high", "exponent", "first", "counts"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (4, 3, 2, 1, 0), (2, 0, 4, 1, 3)])
@pytest.mark.parametrize("bins", [16, 1024])
def test_histograms_do_not_depend_on_order(order: tuple[int, ...], bins: int) -> None:
    values = columns()
    each = [Histogram.of(part, bins) for part in parts(values)]
    left = each[order[0]]
    for k in order[1:]:
        left = left.merged(each[k])
    same(left, Histogram.of(values, bins))
    same(each[0].merged(each[1]).merged(each[2].merged(each[3]).merged(each[4])), left)
    assert (left.counts.sum(axis=1, dtype=int) == len(values)).all()


def test_bins_hold_what_lies_within_their_bounds() -> None:
    values = columns()
    h = Histogram.of(values, 64)
    for c in range(values.shape[1]):
        counts, edges = h.counts[c, : h.used[c]], h.edges(c)
        assert counts.sum() == len(values)
        np.testing.assert_array_equal(counts, np.histogram(values[:, c], np.append(edges[:-1], np.inf))[0])
        assert edges[0] <= values[:, c].min()
        assert values[:, c].max() < edges[-1]
        if c in (2, 3, 5, 6):  # where rounding does not limit them
            assert 32 <= counts.size <= 64


@pytest.mark.parametrize("q", [0.0, 0.001, 0.05, 0.5, 0.77, 0.95, 1.0])
def test_quantiles_are_those_of_numpy_within_a_bin(q: float) -> None:
    values = columns(20_000)
    h = Histogram.of(values)
    exact = np.quantile(values, q, axis=0, method="inverted_cdf")
    assert (np.abs(h.quantile(q) - exact) <= h.width).all()
    np.testing.assert_array_equal(h.quantile(0.0), values.min(axis=0))
    np.testing.assert_array_equal(h.quantile(1.0), values.max(axis=0))


def test_wide_tables_are_done_in_blocks() -> None:
    values = np.random.default_rng(1).normal(size=(BLOCK // 8, 20))
    whole, one = Summary.of(values), Summary.of(np.ascontiguousarray(values[:, 9:10]))
    np.testing.assert_allclose(whole.mean[9], one.mean[0], atol=1e-14)
    np.testing.assert_array_equal(whole.histogram.counts[9], one.histogram.counts[0])
    np.testing.assert_allclose(whole.m4, ((values - values.mean(axis=0)) ** 4).sum(axis=0), rtol=1e-12)


def test_co_moments_of_parts_are_those_of_the_whole() -> None:
    rng = np.random.default_rng(2)
    x = 5 + rng.normal(size=(500, 2))
    y = 3 * x + rng.normal(size=(500, 2)) + [0, 1e3]
    each = [CoMoments.of(b, Summary.of(b), a) for a, b in zip(np.split(x, [7, 300]), np.split(y, [7, 300]), strict=True)]
    whole = each[0].merged(each[1]).merged(each[2])
    for c in range(2):
        S = 499 * np.cov(x[:, c], y[:, c])
        np.testing.assert_allclose([whole.xx[c], whole.xy[c], whole.yy[c]], [S[0, 0], S[0, 1], S[1, 1]], rtol=1e-12)
        np.testing.assert_allclose([whole.control[c], whole.mean[c]], [x[:, c].mean(), y[:, c].mean()], rtol=1e-14)
    assert whole.columns(slice(1, 2)).mean == whole.mean[1]


def test_the_error_of_a_mean_is_the_deviation_over_the_root_of_the_number() -> None:
    y = np.random.default_rng(4).normal(3.0, 2.0, (500, 1))
    found = mean_of([CoMoments.of(y, Summary.of(y), np.zeros_like(y))], controlled=False)
    assert found.error == pytest.approx(y.std(axis=0, ddof=1) / np.sqrt(500), rel=1e-12)
    replicates = [CoMoments.of(part, Summary.of(part), np.zeros_like(part)) for part in np.split(y, 10)]
    means = y.reshape(10, 50).mean(axis=1)
    assert mean_of(replicates, controlled=False).error == pytest.approx(means.std(ddof=1) / np.sqrt(10), rel=1e-12)


def test_intervals_of_hypercubes_cover() -> None:
    """Of 1,000 studies each; 93 to 97 %. Sixteen replicates, with a control fitted to their means, reached 90 %."""
    for name, shares in covered("latin-hypercube", 256, 1000).items():
        assert all(0.93 <= share <= 0.97 for share in shares), (name, shares)
