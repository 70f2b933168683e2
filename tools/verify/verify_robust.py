"""Acceptance figures of robust design: statistics and their derivatives against closed forms, cheapest
tolerances against Lagrange's solution, and the five-bar's risk against a million samples.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from acceptance import Figure
from scipy import stats

import varimech as vm

sys.path.append(str(Path(__file__).parents[2] / "examples"))

MEANS, WIDTHS = np.array([1.0, -0.5]), np.array([0.3, 0.2])
GRADIENT, CURVATURE = np.array([2.0, -1.0]), np.array([[0.8, 0.3], [0.3, -0.5]])


def statistics_of_a_quadratic() -> Iterator[Figure]:
    """Mean and variance of f = gᵀx + ½ xᵀHx for normal variables x, with derivatives."""
    from random_functions import OPTIONS, carrier

    m = carrier({})
    for name, mean in zip("xy", MEANS, strict=True):
        m.parameter(name, float(mean))
    for name, width in zip("xy", WIDTHS, strict=True):
        m.tolerance(name, float(width))
    f = vm.final("2*x - y + 0.4*x**2 + 0.3*x*y - 0.25*y**2")
    wanted = {"mean": vm.mean(f), "deviation": vm.std(f)}
    result = m.problem(wanted, **OPTIONS).statistics(method="moments", order=2)
    σ = WIDTHS / 3  # a tolerance is three standard deviations
    g = GRADIENT + CURVATURE @ MEANS
    C = np.diag(σ**2)
    mean = GRADIENT @ MEANS + MEANS @ CURVATURE @ MEANS / 2 + np.trace(CURVATURE @ C) / 2
    variance = g @ C @ g + np.trace(CURVATURE @ C @ CURVATURE @ C) / 2
    yield Figure("mean, relative error", abs(result["mean"] / mean - 1), 1e-10)
    off = abs(result["deviation"] / math.sqrt(variance) - 1)
    yield Figure("standard deviation, relative error", off, 1e-10)
    # ∂var/∂μ = 2 H C g;  ∂var/∂σᵢ = 2 σᵢ gᵢ² + 2 σᵢ (H C H)ᵢᵢ;  ∂σᵢ/∂width = 1/3
    by_mean = (CURVATURE @ C @ g) / math.sqrt(variance)
    by_width = σ * (g**2 + np.diag(CURVATURE @ C @ CURVATURE)) / math.sqrt(variance) / 3
    expected = np.concatenate([by_mean, by_width])
    by_statistic = result.dataset.sel(statistic="deviation")
    found = np.concatenate([by_statistic[k] for k in ("nominal_derivatives", "width_derivatives")])
    off = float(np.abs(found - expected).max() / np.abs(expected).max())
    yield Figure(
        "derivatives of the standard deviation with respect to means and tolerances, relative error",
        off,
        1e-9,
    )


def cheapest_tolerances() -> Iterator[Figure]:
    """Cheapest tolerances: reciprocal costs against Lagrange's closed form, and the five-bar at a given risk."""
    import cheapest_tolerances as example
    from test_allocation import LINEAR, allocate, lagrange, reciprocal

    σ = 8e-5
    a = allocate(reciprocal(1.0), {"deviation": vm.std(LINEAR) <= σ})
    off = float(np.abs(a.after / lagrange(σ) - 1).max())
    yield Figure("cheapest tolerances with reciprocal costs, relative error", off, 1e-8)
    m = example.mechanism()
    p = m.problem({"peak": example.PEAK}, duration=example.DURATION)
    a = p.allocate(example.safe(example.RISK), statistics="form", verify=False)
    yield Figure(
        "five-bar: saving relative to equal tolerances with the same risk",
        a.saving,
        0.2,
        at_least=True,
        shown="{:.3f}",
    )
    yield Figure("five-bar: number of gradient runs", a.runs["gradient_runs"], 99, shown="{:.0f}")
    ends = p.with_options(tolerance=1e-7, output=example.DURATION)
    study = ends.monte_carlo(a.distributions, samples=1_000_000, seed=77, keep=True)
    peaks = study.samples["values"].to_numpy().reshape(1_000_000, -1)[:, -1]
    risk = float((peaks > example.LIMIT).mean())
    yield Figure(
        "five-bar: risk in a million samples, relative difference from the target",
        abs(risk / example.RISK - 1),
        0.05,
    )


def first_passage() -> Iterator[Figure]:
    """First passage: probability that an undamped oscillator with random amplitude ever exceeds a limit."""
    from random_functions import carrier

    m = carrier({})
    m.parameter("a", 1.0)
    m.tolerance("a", 0.3)
    limit = vm.peak("a * sin(7*t)") >= 1.25
    found = m.reliability(limit, duration=1.0, tolerance=1e-9)
    expected = float(stats.norm.sf(2.5))
    off = abs(float(found.probability) / expected - 1)
    yield Figure("probability by FORM, relative error", off, 1e-6)
