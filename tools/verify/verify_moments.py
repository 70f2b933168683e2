"""Acceptance figures of moments: exact where they can be, of the orders of theory elsewhere, and
good up to the horizon.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator

import numpy as np
from acceptance import Figure

import varimech as vm
from varimech.benchmarks import find_benchmark
from varimech.benchmarks.outcome import worst
from varimech.benchmarks.pendulum_tolerance import exact_moments, mechanism, objectives


def moments_of_simple_models() -> Iterator[Figure]:
    """Moments of a linear and a quadratic model with correlated parameters, against closed forms."""
    from test_moments import ANY, LINEAR, SQUARE, TIME, linear_derivatives, linear_oscillator

    m, r, σ = linear_oscillator(), 0.6, np.array([0.1, 0.2])
    C = np.outer(σ, σ) * [[1, r], [r, 1]]
    for order in (1, 2):
        moments = m.moments(
            LINEAR, correlation={("F", "x0"): r}, duration=TIME, order=order, tolerance=1e-11
        )
        g = linear_derivatives(moments.time)
        v = np.einsum("ti,ij,tj->t", g, C, g)
        off = float(np.abs(moments.variance.values[:, 0] / v - 1).max())
        yield Figure(
            f"variance of a linear model of correlated parameters, order {order}, relative error",
            off,
            1e-8,
        )
    moments = m.moments(
        SQUARE, correlation={("F", "x0"): r}, duration=TIME, tolerance=1e-11, accuracy=ANY
    )
    μ = g @ [1.0, 0.5]
    off = float(np.abs(moments.variance.values[:, 0] / (4 * μ**2 * v + 2 * v**2) - 1).max())
    yield Figure(
        "variance of a quadratic of correlated normal parameters, order 2, relative error",
        off,
        1e-8,
    )


def moments_of_the_pendulum() -> Iterator[Figure]:
    """Moments of the pendulum against integrals over exact motions."""
    m = mechanism()
    theory = {"first_mean": 2, "mean": 4, "first_variance": 4, "variance": 4}
    errors: dict[str, list[np.ndarray]] = {name: [] for name in theory}
    for width in (0.03, 0.015):
        moments = m.moments(
            objectives(), {"L": vm.Tolerance(width)}, duration=3.0, tolerance=1e-12, output=1.0
        )
        exact = exact_moments(moments.time, 1.0, width / 3)
        for name, list_ in errors.items():
            list_.append(
                np.abs(moments.dataset[name].values[1:, 0] - exact["variance" in name][1:])
            )
    for name, (coarse, fine) in errors.items():
        off = float(np.abs(np.log2(coarse / fine) - theory[name]).max())
        what = f"{name.replace('_', ' ')}: order of the error in σ, difference from {theory[name]}"
        yield Figure(what, off, 0.1, shown="{:.3f}")
    for order in (1, 2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", vm.HorizonWarning)
            moments = m.moments(objectives(), duration=10.0, order=order, output=0.02)
        mean, variance = exact_moments(moments.time, 1.0, 0.1 / 3)
        σ = np.sqrt(variance)
        largest = np.array(
            [
                σ[np.searchsorted(moments.time, t / 2) : k + 1].max()
                for k, t in enumerate(moments.time)
            ]
        )
        missed = np.maximum(
            np.abs(moments.mean.values[:, 0] - mean), np.abs(moments.std.values[:, 0] - σ)
        )
        true = moments.time[np.flatnonzero(missed > 0.1 * largest + 1e-9)[0]]
        off = abs(math.log(moments.horizon.item() / true))
        yield Figure(
            f"horizon of order {order} ({moments.horizon.item():.2f} s): difference from the true horizon",
            off,
            0.2,
            shown="{:.1%}",
        )


def benchmarks_with_tolerances() -> Iterator[Figure]:
    """Both examples of Choi (2005): moments and Monte Carlo against integrals over exact motions."""
    for name in ("pendulum-tolerance", "slider-crank-tolerance"):
        yield Figure(
            f"{name}, largest share of a tolerance",
            worst(find_benchmark(name).solve().checks).share,
            1.0,
            shown="{:.1%}",
        )
