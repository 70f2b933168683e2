"""Tolerances of a clearance: moments, Monte Carlo, Sobol indices and a Dask cluster with events; and
a gradient over many impacts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import varimech as vm
from varimech.benchmarks import clearance_slider_crank

DURATION, SAMPLES = 6.5e-3, 512
DISTRIBUTIONS: Any = {"c": norm(1e-3, 1e-5), "e": norm(0.4, 0.005), "L_crank": norm(0.153, 2e-5)}


def objectives() -> dict[str, vm.Objective]:
    """Lost motion of the guide, and its first impact."""
    return {
        "mean square": vm.integral(lambda s: s.deviation("guide")[1] ** 2 / DURATION, unit="m²"),
        "largest": vm.peak(lambda s: s.deviation("guide")[1], unit="m"),
        "first impact": vm.time_of("guide.left"),
        "speed": vm.at(
            "guide.left", lambda s: s.rate(s.deviation("guide")[1]), occurrence=2, unit="m/s"
        ),
    }


def study(**options: Any) -> vm.Study:
    m = clearance_slider_crank.mechanism()
    given: Any = {"duration": DURATION, "tolerance": 1e-9, "samples": SAMPLES, **options}
    return m.monte_carlo(objectives(), DISTRIBUTIONS, **given)


def test_moments_of_lost_motion_are_those_of_samples() -> None:
    m = clearance_slider_crank.mechanism()
    moments = m.moments(objectives(), DISTRIBUTIONS, duration=DURATION, order=1, tolerance=1e-9)
    samples = study()
    last = moments.dataset.isel(time=-1)
    mean, std = last["mean"].to_numpy(), last["std"].to_numpy()
    assert (samples.mean[-1].to_numpy() - mean) / std == pytest.approx(0, abs=4 / np.sqrt(SAMPLES))
    # four standard errors of a standard deviation of 512 normal samples: 12.5 %
    assert samples.std[-1].to_numpy() / std == pytest.approx(1, abs=4 / np.sqrt(2 * SAMPLES))
    assert std[1] == pytest.approx(1e-5, rel=1e-9)  # the slider reaches its guide


def test_sobol_indices_of_a_clearance() -> None:
    pytest.importorskip("openturns")
    m = clearance_slider_crank.mechanism()
    problem = m.problem(objectives(), duration=DURATION, tolerance=1e-9)
    indices = problem.openturns(DISTRIBUTIONS).sobol(samples=256, level=0.999)
    gradient = problem.gradient().final_gradient
    variances = (gradient * [1e-5, 0.005, 2e-5]) ** 2
    shares = variances / variances.sum(axis=1, keepdims=True)
    at = indices.dataset  # nearly linear: first indices are the shares of the variance
    assert (at["first_lower"].to_numpy() < shares + 0.01).all()
    assert (at["first_upper"].to_numpy() > shares - 0.01).all()
    assert indices.first.sel(objective="largest", parameter="c").item() == pytest.approx(1)
    assert indices.first.sel(objective="speed").to_numpy().argmax() == shares[3].argmax()
    assert (at["first_upper"] - at["first_lower"]).max() < 0.6


def test_a_cluster_gives_the_same_bits_with_events() -> None:
    distributed = pytest.importorskip("distributed")
    options: Any = {"samples": 96, "chunk": 32, "keep": True}
    here = study(executor=1, **options)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        there = study(executor=client, **options)
    assert here.count == there.count == 96 and here.failed == there.failed == 0
    for name, values in here.samples.items():
        np.testing.assert_array_equal(values, there.samples[name], err_msg=str(name))
    np.testing.assert_array_equal(here.mean, there.mean)
    assert here.std[-1].min() > 0


def test_all_methods_agree_over_26_impacts() -> None:
    m, wrt = clearance_slider_crank.mechanism(), list(clearance_slider_crank.PARAMETERS)
    options: Any = {"duration": 0.035, "output": 0.035, "tolerance": 1e-12}

    def gradient(**more: Any) -> vm.Gradient:
        given: Any = {"parameters": {}, **options, **more}
        return m.sensitivity(clearance_slider_crank.objectives(), wrt, **given)

    first = gradient(method="direct", coordinates="natural")
    assert [e.what for e in first.run.events].count("impact") == 26
    expected = first.final_gradient
    sizes = np.abs(expected).max(axis=1, keepdims=True)
    for method, coordinates in (
        ("adjoint", "natural"),
        ("direct", "rtdyn0"),
        ("adjoint", "rtdyn1"),
    ):
        other = gradient(method=method, coordinates=coordinates).final_gradient
        assert (other - expected) / sizes == pytest.approx(0, abs=1e-8)
        assert not np.array_equal(other, expected)
    x = m.parameters["c"].value
    h = 1e-4 * x
    near, far = (
        gradient(parameters={"c": x + d}).final_values
        - gradient(parameters={"c": x - d}).final_values
        for d in (h, 2 * h)
    )
    assert ((8 * near - far) / (12 * h) - expected[:, 0]) / sizes[:, 0] == pytest.approx(
        0, abs=1e-8
    )
