"""Runs that choose their steps are as accurate as asked, on every benchmark; other ways to solve
agree within their order.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import squeezer
from scipy.integrate import solve_ivp

import varimech as vm
from test_benchmarks import slider_crank_alone
from test_five_bar import CONVERGED_GRADIENT
from varimech.backends.compiler import find_compiler
from varimech.benchmarks import (
    andrews,
    bricard,
    five_bar,
    four_bar,
    governor,
    pendulum,
    spatial_slider_crank,
)
from varimech.benchmarks.outcome import energy_drift, row_at

Array = np.ndarray
FAST = "native" if find_compiler() else "interpreted"
"""For what runs long."""
Paths = dict[str, Array]
"""Places of points over time, (time, component)."""
FACTOR = 10.0
"""Largest error over the tolerance."""


def solved_alone(rates: Callable[[float, Array], Any], start: list[float], times: Array) -> Array:
    """Solution of a few differential equations, (component, time), to about twelve digits."""
    solution = solve_ivp(
        rates, (0.0, times[-1]), start, method="DOP853", rtol=1e-12, atol=1e-12, t_eval=times
    )
    assert solution.success
    return np.asarray(solution.y)


# motions by other methods


def five_bar_paths(times: Array) -> Paths:
    """Computed independently; ten digits are stored."""
    with (Path(__file__).parent / "data" / "five_bar.csv").open() as file:
        rows = list(csv.DictReader(file))
    np.testing.assert_allclose([float(row["t"]) for row in rows], times, atol=1e-12)
    return {p: np.array([[float(row[c + p]) for c in "xy"] for row in rows]) for p in "123"}


def pendulum_paths(times: Array) -> Paths:
    θ = solved_alone(lambda t, y: (y[1], -9.81 * math.cos(y[0])), [math.pi, 0.0], times)[0]
    return {"mass": np.column_stack([np.cos(θ), np.sin(θ)])}


def andrews_paths(times: Array) -> Paths:
    model = squeezer.Squeezer(
        **{name: np.array([value + 0j]) for name, value in squeezer.NOMINAL.items()}
    )
    places = np.array(
        [model.positions(y[:7])[..., 0].real for y in model.run(times[-1], times.size - 1)]
    )
    points = {"F": squeezer.F, "FE.E": squeezer.END, "D": squeezer.D}
    points |= {
        f"{name}.com": k for k, name in enumerate(("OF", "FE", "BDE", "EG", "AG", "HE", "AH"))
    }
    return {name: places[:, :, k] for name, k in points.items()}


def bricard_paths(times: Array) -> Paths:
    """By one coordinate out of all, at a tolerance of 1e-12; it goes through the
    published points.
    """
    run = bricard.mechanism().simulate(
        times[-1],
        tolerance=1e-12,
        output=times[1],
        formulation="independent",
    )
    for t, place in bricard.PLACES.items():
        np.testing.assert_allclose(run.position("P3")[row_at(run, t)], place, atol=2e-9)
    return {f"P{k}": run.position(f"P{k}").to_numpy() for k in (2, 3, 4, 5)}


def governor_paths(times: Array) -> Paths:
    """Lagrange's equations for the angle ψ of the shaft, the droop φ of both rods, and the height s
    of the slider.

    2T = I(φ) ψ̇² + 2 J φ̇² + 3 ṡ²; each spring, of length l = |(cos φ, 2 (1 − s) − sin φ)| / 2,
    pulls with k (l − l₀) + c l̇.
    """
    bar, tip, g, k, c, l0, r = 0.3, 5.0, 9.81, 8e5, 4e4, 0.5, 0.05
    m = bar + tip
    com = (bar / 2 + tip) / m
    along, across = bar * 0.01**2 / 6, bar * (1 + 0.01**2) / 12
    across += bar * (com - 0.5) ** 2 + tip * (1 - com) ** 2
    J = across + m * com**2

    def rates(_: float, y: Array) -> tuple[float, ...]:
        _, φ, s, ω, u, v = y.tolist()
        C, S = math.cos(φ), math.sin(φ)
        arm = r + com * C
        I = 2 * (across * C**2 + along * S**2 + m * arm**2) + along + 0.005
        I_φ = 4 * ((along - across) * C * S - m * arm * com * S)
        dx, dz = C / 2, 1 - S / 2 - s
        length = math.hypot(dx, dz)
        by_φ, by_s = -(dx * S + dz * C) / (2 * length), -dz / length
        pull = k * (length - l0) + c * (by_φ * u + by_s * v)
        φ̈ = (I_φ * ω**2 / 4 + m * g * com * C - pull * by_φ) / J
        return ω, u, v, -I_φ * u * ω / I, φ̈, -g - 2 * pull * by_s / 3

    ψ, φ, s = solved_alone(rates, [0.0, math.pi / 6, 0.5, 2 * math.pi, 0.0, 0.0], times)[:3]
    x, z = r + np.cos(φ), 1 - np.sin(φ)
    tips = {
        f"tip {side}": np.column_stack([q * x * np.cos(ψ), q * x * np.sin(ψ), z])
        for side, q in (("right", 1), ("left", -1))
    }
    return {"S": np.column_stack([0 * s, 0 * s, s]), **tips}


def slider_crank_paths(times: Array) -> Paths:
    alone = slider_crank_alone(times.tolist())
    θ, x = alone["crank"], alone["slider"]
    crank = np.column_stack([0 * θ, 0.1 - 0.08 * np.sin(θ), 0.12 + 0.08 * np.cos(θ)])
    return {"B": crank, "slider.C": np.column_stack([x, 0 * x, 0 * x])}


def four_bar_paths(times: Array) -> Paths:
    """All cranks parallel: one equation."""
    θ = four_bar.crank_angle(2, times)
    return {f"crank {i}.B{i}": np.column_stack([i + np.cos(θ), np.sin(θ)]) for i in range(3)}


@dataclass(frozen=True)
class Case:
    """A mechanism, and places of its points by another method at equally spaced times."""

    build: Callable[[], vm.Mechanism]
    duration: float
    paths: Callable[[Array], Paths]
    backend: str = "auto"


CASES = {
    "five-bar": Case(five_bar.mechanism, 5.0, five_bar_paths),
    "pendulum": Case(pendulum.mechanism, 10.0, pendulum_paths),
    "andrews": Case(andrews.mechanism, 0.05, andrews_paths),
    "bricard": Case(bricard.mechanism, 10.0, bricard_paths),
    "governor": Case(governor.mechanism, 1.0, governor_paths, FAST),
    "slider-crank": Case(spatial_slider_crank.mechanism, 5.0, slider_crank_paths),
    "four-bar": Case(four_bar.mechanism, 10.0, four_bar_paths),
}
TIMES = 501
"""Stored, with those of the reference."""


@cache
def built(name: str) -> tuple[vm.Mechanism, Paths]:
    case = CASES[name]
    return case.build(), case.paths(np.linspace(0.0, case.duration, TIMES))


def error(name: str, integrator: str, tolerance: float, coordinates: str) -> float:
    """Of all places at all stored times, the largest, relative to the largest coordinate."""
    (mechanism, paths), case = built(name), CASES[name]
    run = mechanism.simulate(
        case.duration,
        tolerance=tolerance,
        integrator=integrator,
        coordinates=coordinates,
        backend=case.backend,
    )
    assert run.time.size == TIMES
    off = {
        p: np.abs(run.position(p).transpose("time", "component").to_numpy() - path).max()
        for p, path in paths.items()
    }
    assert all(path.shape[0] == TIMES and np.ptp(path) > 0 for path in paths.values())
    return float(max(off.values()) / max(np.abs(path).max() for path in paths.values()))


ACCURACY: list[tuple[str, str, tuple[float, ...], str]] = [
    (name, "dop853", (1e-4, 1e-6, 1e-8, 1e-10), coordinates)
    for name in CASES
    for coordinates in ("natural", "rtdyn0", "rtdyn1")
]
ACCURACY += [
    (name, "dopri5", (1e-4, 1e-6, 1e-8), coordinates)
    for name in CASES
    for coordinates in ("natural", "rtdyn1")
    # within its long steps Bricard's redundant constraints contradict each other, and errors come
    # to some 40 tolerances (docs/theory.md)
    if (name, coordinates) != ("bricard", "rtdyn1")
]
ACCURACY += [
    (name, integrator, (1e-6,), "natural")
    for name in ("five-bar", "andrews")
    for integrator in ("cvodes", "idas")
]


@pytest.mark.parametrize(("name", "integrator", "tolerances", "coordinates"), ACCURACY)
def test_as_accurate_as_asked(
    name: str, integrator: str, tolerances: tuple[float, ...], coordinates: str
) -> None:
    errors = {
        tolerance: error(name, integrator, tolerance, coordinates) for tolerance in tolerances
    }
    factors = {tolerance: e / tolerance for tolerance, e in errors.items()}
    assert max(factors.values()) <= FACTOR, factors
    # a smaller tolerance is of use, until the digits of the reference are reached
    computed = list(errors.values())
    assert all(finer < coarser or finer < 1e-9 for coarser, finer in pairwise(computed)), errors


# the five-bar's gradients by all formulations


def gradients(**settings: Any) -> Array:
    gradient = five_bar.mechanism().sensitivity(
        five_bar.objectives(), five_bar.PARAMETERS, duration=5.0, **settings
    )
    return gradient.gradient_history[-1]


def apart(first: Array, second: Array) -> Array:
    """For each objective the 2-norm of the difference of two gradients, over that of
    the gradient.
    """
    return np.asarray(
        np.linalg.norm(first - second, axis=1) / np.linalg.norm(CONVERGED_GRADIENT, axis=1)
    )


def gradient_errors(**settings: Any) -> Array:
    return apart(gradients(**settings), CONVERGED_GRADIENT)


@pytest.mark.parametrize(
    ("settings", "limit"),
    [
        # seven decimals of the reference are known: 1e-8 of the first objective's
        ({"tolerance": 1e-10}, 2e-8),
        ({"tolerance": 1e-10, "formulation": "index1-stabilised"}, 2e-8),
        ({"tolerance": 1e-10, "formulation": "independent"}, 2e-8),
        ({"tolerance": 1e-9, "integrator": "dopri5"}, 2e-8),
        ({"tolerance": 1e-9, "formulation": vm.Penalty(factor=1e7)}, 1e-6),
        ({"tolerance": 1e-7, "integrator": "cvodes"}, 1e-6),
        ({"tolerance": 1e-7, "integrator": "idas"}, 1e-6),
    ],
    ids=lambda x: "-".join(str(v) for v in x.values()) if isinstance(x, dict) else "",
)
def test_five_bar_gradients_to_a_tolerance(settings: dict[str, Any], limit: float) -> None:
    errors = gradient_errors(**settings)
    assert (errors < limit).all(), errors


@pytest.mark.parametrize("integrator", ["trapezoidal", "hht", "generalised-alpha"])
def test_five_bar_gradients_of_order_two(integrator: str) -> None:
    coarse, fine = (gradient_errors(step=h, every=50, integrator=integrator) for h in (4e-3, 2e-3))
    assert (fine < 2e-5).all(), fine
    np.testing.assert_allclose(np.log2(coarse / fine), 2, atol=0.15)


@pytest.mark.parametrize("formulation", ["index1", "index1-stabilised", "independent"])
def test_five_bar_gradients_of_order_four(formulation: str) -> None:
    """The error is soon below the digits of the reference: differences of three runs tell the
    order, which comes down to 4 from above.
    """
    results = [
        gradients(step=h, every=50, integrator="rk4", formulation=formulation)
        for h in (5e-3, 2.5e-3, 1.25e-3)
    ]
    coarse, fine = (apart(x, y) for x, y in pairwise(results))
    orders = np.log2(coarse / fine)
    assert ((orders > 3.9) & (orders < 4.4)).all(), orders
    assert (apart(results[-1], CONVERGED_GRADIENT) < 2e-8).all()


def test_five_bar_gradients_with_penalties_are_off_by_one_over_the_factor() -> None:
    soft, stiff = (
        gradient_errors(tolerance=1e-9, formulation=vm.Penalty(factor=f)) for f in (1e5, 1e6)
    )
    np.testing.assert_allclose(soft / stiff, 10, rtol=0.1)


def test_penalties_with_the_trapezoidal_rule_and_usual_steps() -> None:
    coarse, fine = (
        gradient_errors(step=h, every=50, formulation=vm.Penalty(factor=1e7)) for h in (4e-3, 2e-3)
    )
    np.testing.assert_allclose(np.log2(coarse / fine), 2, atol=0.15)


# long runs


def test_bricard_with_ali3p() -> None:
    """Overconstrained, 10 s: constraints at rounding, everything else of order two."""
    mechanism, steps = bricard.mechanism(), (1e-2, 5e-3, 2.5e-3)
    runs = [mechanism.simulate(10.0, step=h, every=round(0.5 / h)) for h in steps]
    for run in runs:
        position, velocity, acceleration = run.info["residuals"]
        assert position < 1e-13
        assert velocity < 1e-12
        assert acceleration < 1e-9
    drifts = np.array([energy_drift(run) for run in runs])
    assert drifts[-1] < 1e-5
    np.testing.assert_allclose(np.log2(drifts[:-1] / drifts[1:]), 2.0, atol=0.1)
    for t, place in bricard.PLACES.items():
        x = [run.position("P3").to_numpy()[row_at(run, t)] for run in runs]
        errors = np.array([np.abs(y - place).max() for y in x])
        assert errors[-1] < 1e-5
        np.testing.assert_allclose(np.log2(errors[:-1] / errors[1:]), 2.0, atol=0.05)
        np.testing.assert_allclose((4 * x[2] - x[1]) / 3, place, atol=1e-7)


def test_governor_to_its_end() -> None:
    """Stiff: stability bounds the steps, which stay alike throughout, and the trapezoidal rule goes
    the same way. In relative coordinates a tenth of the steps, which are half as many, is rejected.
    """
    mechanism = governor.mechanism()
    chosen = mechanism.simulate(10.0, tolerance=1e-7, backend=FAST, coordinates="natural")
    smallest, largest = chosen.info["step"]
    typical = 10.0 / chosen.info["steps"]
    assert chosen.time[-1] == 10.0
    assert smallest > typical / 10
    assert largest < 10 * typical
    assert chosen.info["rejected"] < chosen.info["steps"] / 100
    equal = mechanism.simulate(10.0, step=1e-3, every=20)
    np.testing.assert_allclose(chosen.time, equal.time, atol=1e-12)
    s, expected = (run.displacement("guide").to_numpy() for run in (equal, chosen))
    assert np.ptp(expected) > 0.2
    assert np.abs(s - expected).max() < 1e-4  # 3e-5, of order two
    assert equal.info["residuals"][0] < 1e-14
    for run, lost in ((chosen, 1e-9), (equal, 1e-5)):
        momentum = governor.angular_momentum(run)
        assert np.abs(momentum / momentum[0] - 1).max() < lost
        assert governor.energy_rise(run) < lost


def test_forty_windows_to_the_end() -> None:
    run = four_bar.mechanism(40).simulate(10.0, tolerance=1e-8, backend=FAST)
    θ = run.angle("crank 0").to_numpy()
    assert np.abs(θ - four_bar.crank_angle(40, run.time)).max() < 1e-4
    assert θ[0] - θ[-1] > 8 * math.pi  # four turns, each through two singular positions
    assert energy_drift(run) < 1e-8
    for crank in (20, 40):
        assert np.abs(run.angle(f"crank {crank}").to_numpy() - θ).max() < 1e-10
