"""Points in the unit cube: the same wherever they are made, different in every chunk, as even as
their kind promises.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest
from scipy.stats.qmc import discrepancy

from varimech.uncertainty.sampling import KINDS, REPLICATES, Sampling, chunk_size


@pytest.mark.parametrize("kind", KINDS)
def test_chunks_follow_from_their_numbers_alone(kind: str) -> None:
    s = Sampling(kind, 3, 64, 3)
    chunks = {k: s.points(k) for k in (35, 0, 1, 16, 17)}
    for k, points in chunks.items():
        assert points.shape == (64, 3)
        assert points.min() > 0
        assert points.max() < 1
        np.testing.assert_array_equal(points, Sampling(kind, 3, 64, 3).points(k))
        assert not np.isin(points, Sampling(kind, 4, 64, 3).points(k)).any()
        assert not any(np.isin(points, other).any() for j, other in chunks.items() if j != k)


@pytest.mark.parametrize("kind", KINDS)
def test_one_after_the_other_is_the_same(kind: str) -> None:
    on = Sampling(kind, 3, 8, 2)
    for k in [*range(40), 3, 19, 35]:
        np.testing.assert_array_equal(on.points(k), Sampling(kind, 3, 8, 2).points(k))


@pytest.mark.parametrize("kind", KINDS)
def test_coordinates_are_uniform(kind: str) -> None:
    s = Sampling(kind, 0, 64, 2)
    points = np.concatenate([s.points(k) for k in range(32)])
    for column in points.T:
        assert kstest(column, "uniform").pvalue > 1e-3
    assert abs(np.corrcoef(points.T)[0, 1]) < 4 / np.sqrt(len(points))


def test_a_chunk_is_a_latin_hypercube() -> None:
    points = Sampling("latin-hypercube", 1, 100, 4).points(7)
    for column in points.T:
        np.testing.assert_array_equal(np.sort(np.floor(100 * column)), np.arange(100))


def test_chunks_go_on_with_their_sobol_sequence() -> None:
    """All points of a replicate together are a net: one in each of as many intervals; so are those
    of others, at other places.
    """
    s = Sampling("sobol", 1, 32, 3)
    for replicate in (0, 5):
        points = np.concatenate([s.points(replicate + REPLICATES * turn) for turn in range(4)])
        for column in points.T:
            np.testing.assert_array_equal(np.sort(np.floor(128 * column)), np.arange(128))
        assert discrepancy(points) < 0.2 * discrepancy(
            np.random.default_rng(0).random(points.shape)
        )


@pytest.mark.parametrize(
    ("samples", "columns", "size"),
    [
        (1, 1, 1),
        (20, 1, 1),
        (100, 1, 4),
        (10_000, 1, 512),
        (10**5, 300, 1024),
        (10**6, 300, 4096),
        (10**8, 1, 2**13),
        (10**8, 300, 2**13),
        (10**6, 10**6, 16),
    ],
)
def test_chunks_are_as_large_as_a_study_needs(samples: int, columns: int, size: int) -> None:
    assert chunk_size("random", samples, columns) == size
    assert chunk_size("random", samples, columns, target=True) == min(size, 256)
    assert chunk_size("sobol", samples, columns) in (
        size,
        max(1, size // 2),
    )  # twice as many replicates have their share


@pytest.mark.parametrize("samples", [1, 31, 33, 500, 1000, 4096, 99_999, 10**6 + 7])
def test_hypercubes_leave_few_samples_over(samples: int) -> None:
    """A part of a hypercube is as uneven as random samples, and would decide the error of all."""
    chunks, rest = divmod(samples, chunk_size("latin-hypercube", samples, 1))
    assert chunks >= min(samples, REPLICATES)
    assert rest <= max(REPLICATES, samples / 100)
