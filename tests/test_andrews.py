"""Andrews' squeezer: every derivative by several methods, among them equations of motion written by
hand (`squeezer.py`).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import squeezer

import varimech as vm
from varimech.backends.compiler import find_compiler
from varimech.benchmarks import andrews

Array = np.ndarray
FAST = "native" if find_compiler() else "interpreted"
"""For what runs long."""
T = andrews.DURATION
STEPS = 600
"""Of the reference; runs store their results at the same times."""
OBJECTIVES = {
    "x of F": vm.final(lambda s: s.position("F")[0], unit="m"),
    "y of F": vm.final(lambda s: s.position("F")[1], unit="m"),
    "kinetic energy": vm.integral(lambda s: s.kinetic_energy, unit="J·s"),
    "impulse in O": vm.integral(lambda s: s.reaction("O")[0], unit="N·s"),
    "force in B": vm.final(lambda s: s.reaction("B")[0], unit="N"),
}
INTERPRETED: dict[str, Any] = {"duration": T}
"""Hardly anything here runs long enough to be compiled."""
TIGHT: dict[str, Any] = {**INTERPRETED, "tolerance": 1e-10, "output": T / STEPS}


@pytest.fixture(scope="module")
def mechanism() -> vm.Mechanism:
    return andrews.mechanism()


@pytest.fixture(scope="module")
def direct(mechanism: vm.Mechanism) -> vm.Gradient:
    return mechanism.sensitivity(OBJECTIVES, **TIGHT)


@cache
def by_hand() -> tuple[squeezer.Squeezer, list[Array]]:
    model = squeezer.perturbed()
    return model, list(model.run(T, STEPS))


def reference() -> tuple[Array, Array]:
    """Objectives and their gradients, (objective) and (objective, parameter)."""
    model, states = by_hand()
    computed = model.objectives(states[-1])
    return computed[:, 0].real, squeezer.derivatives(computed)


def numbers(g: vm.Gradient) -> tuple[Array, Array]:
    return g.value_history[-1], g.gradient_history[-1]


def relative(computed: Array, expected: Array) -> Array:
    return np.abs(computed / expected - 1)


# the reference itself


def test_equations_by_hand_have_the_start_and_the_angles_of_the_test_set() -> None:
    model, states = by_hand()
    assert tuple(squeezer.NOMINAL) == ("k", "l0", "torque", "rr", "m_AG")
    φ = model.closed()
    α = model.motion(φ, 0 * φ)[0][:, 0].real
    assert α[squeezer.OF] == pytest.approx(14222.4439199541, rel=1e-13)
    assert α[squeezer.FE] - α[squeezer.OF] == pytest.approx(-10666.8329399656, rel=1e-13)
    β, FE, γ, EG, δ, HE, ε = states[3 * STEPS // 5][:7, 0].real
    results = {"β": β, "Θ": FE - β, "γ": γ, "Φ": EG - δ, "δ": δ, "Ω": HE - ε, "ε": ε}
    assert results == pytest.approx(andrews.TEST_SET, abs=2e-9)  # which carry an error of 1.4e-9
    assert β == pytest.approx(andrews.CRANK_ANGLE, abs=1e-11)


def test_equations_by_hand_stay_closed_and_so_do_their_derivatives() -> None:
    model, states = by_hand()
    gaps = model.gaps(states[-1][:7])
    assert np.abs(gaps.real).max() < 1e-13
    assert np.abs(squeezer.derivatives(gaps) * list(squeezer.NOMINAL.values())).max() < 1e-11
    # the start is differentiated too: with rr all angles but β move
    start = squeezer.derivatives(states[0][:7])
    np.testing.assert_array_equal(start[:, :3], 0)
    np.testing.assert_array_equal(start[0], 0)
    assert np.abs(start[1:, 3]).min() > 0.1


# direct differentiation


def test_direct_equals_the_equations_by_hand(direct: vm.Gradient) -> None:
    """Measured: 2e-11 and 3e-10."""
    (values, gradient), (expected, derivatives) = numbers(direct), reference()
    assert gradient.shape == derivatives.shape == (5, 5)
    np.testing.assert_allclose(values, expected, rtol=2e-10)
    np.testing.assert_allclose(gradient, derivatives, rtol=2e-9)


def test_direct_equals_the_equations_by_hand_over_time(direct: vm.Gradient) -> None:
    model, states = by_hand()
    F = np.array([model.positions(y[:7])[:, squeezer.F] for y in states])
    place, derivatives = F[..., 0].real, squeezer.derivatives(F)
    computed = (
        direct.run.position("F", wrt="all").transpose("time", "component", "parameter").to_numpy()
    )
    largest = np.abs(derivatives).max(axis=(0, 1))
    assert (np.abs(computed - derivatives).max(axis=(0, 1)) < 1e-9 * largest).all()
    assert (
        np.abs(direct.run.position("F").transpose("time", "component").to_numpy() - place).max()
        < 1e-12
    )
    for column, row in ((2, 14), (3, 15)):  # the integrals
        history = np.array([y[row] for y in states])
        for ours, expected in (
            (direct.value_history[:, column, None], history[:, :1].real),
            (direct.gradient_history[:, column], squeezer.derivatives(history)),
        ):
            assert (np.abs(ours - expected).max(axis=0) < 1e-9 * np.abs(expected).max(axis=0)).all()


def test_direct_equals_extrapolated_differences_of_the_program(
    mechanism: vm.Mechanism, direct: vm.Gradient
) -> None:
    """Central differences have the errors C₂δ² + C₄δ⁴ + …; three of them leave δ⁶. Measured: 2e-7,
    where rounding is left.
    """
    δ = 1e-3
    settings = {
        **TIGHT,
        "method": "finite-difference",
        "relative_steps": (δ, δ / 2, δ / 4),
        "backend": FAST,
    }  # thirty runs
    differences = mechanism.sensitivity(OBJECTIVES, **settings)
    assert differences.sweep is not None
    a, b, c = differences.sweep.to_numpy()
    gradient = numbers(direct)[1]
    assert relative(c, gradient).max() > 1e-4
    first, second = (4 * b - a) / 3, (4 * c - b) / 3
    np.testing.assert_allclose((16 * second - first) / 15, gradient, rtol=1e-6)


# other methods


@cache
def trapezoidal(step: float) -> vm.Gradient:
    return andrews.mechanism().sensitivity(OBJECTIVES, step=step, every=100, **INTERPRETED)


def test_trapezoidal_rule_converges_with_order_two() -> None:
    """Errors of up to 6e-2 and 1.5e-2, whose ratio is near 4; extrapolation leaves 6e-4."""
    coarse, fine = (numbers(trapezoidal(h)) for h in (2.5e-5, 1.25e-5))
    for x, y, exact in zip(coarse, fine, reference(), strict=True):
        orders = np.log2(np.abs(x - exact) / np.abs(y - exact))
        np.testing.assert_allclose(orders, 2.0, atol=0.15)
        np.testing.assert_allclose((4 * y - x) / 3, exact, rtol=1e-3)
        assert relative(y, exact).max() < 3e-2
    assert trapezoidal(1.25e-5).run.info["residuals"][0] < 1e-14


@pytest.mark.parametrize(
    ("settings", "values", "derivatives"),
    [
        # measured: 9e-10 and 1e-8; 3e-9 and 2e-7 (coordinates are chosen anew); 4e-10 and 5e-9
        ({"formulation": "index1-stabilised"}, 5e-9, 5e-8),
        ({"formulation": "independent"}, 1e-8, 1e-6),
        ({"integrator": "dopri5"}, 2e-9, 2e-8),
    ],
    ids=lambda x: next(iter(x.values())) if isinstance(x, dict) else "",
)
def test_other_methods_agree(
    mechanism: vm.Mechanism, settings: dict[str, Any], values: float, derivatives: float
) -> None:
    computed = numbers(
        mechanism.sensitivity(OBJECTIVES, tolerance=1e-10, **settings, **INTERPRETED)
    )
    for ours, expected, rtol in zip(computed, reference(), (values, derivatives), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=rtol)


def test_penalties_agree_as_far_as_joints_give_way(mechanism: vm.Mechanism) -> None:
    """The error falls like 1/factor: 5e-3 of the derivatives, then 5e-4."""
    soft, stiff = (
        numbers(
            mechanism.sensitivity(
                OBJECTIVES, tolerance=1e-8, formulation=vm.Penalty(f, omega=1000.0), **INTERPRETED
            )
        )
        for f in (1e6, 1e7)
    )
    for x, y, exact in zip(soft, stiff, reference(), strict=True):
        assert relative(y, exact).max() < 1e-3
        errors = [np.abs(z - exact).reshape(5, -1).max(axis=1) for z in (x, y)]
        np.testing.assert_allclose(errors[0] / errors[1], 10, rtol=0.1)


def test_composite_system_equals_direct_at_equal_steps(mechanism: vm.Mechanism) -> None:
    composite = mechanism.sensitivity(
        OBJECTIVES, step=2.5e-5, every=100, method="composite", **INTERPRETED
    )
    direct = trapezoidal(2.5e-5)
    np.testing.assert_allclose(
        composite.gradient_history[-1], direct.gradient_history[-1], rtol=1e-8
    )
    np.testing.assert_allclose(
        composite.value_history, direct.value_history, rtol=1e-10, atol=1e-14
    )
    assert not np.array_equal(composite.gradient_history[-1], direct.gradient_history[-1])


# the motion


def test_crank_angle_and_energy_balance(mechanism: vm.Mechanism) -> None:
    run = mechanism.simulate(**INTERPRETED, tolerance=1e-10)
    assert andrews.angles(run, 0.03)["β"] == pytest.approx(andrews.CRANK_ANGLE, abs=1e-8)
    assert by_hand()[1][3 * STEPS // 5][0, 0].real == pytest.approx(
        andrews.angles(run, 0.03)["β"], abs=1e-10
    )
    work = andrews.TORQUE * np.ptp(run.angle("OF").to_numpy())
    balance = np.abs(andrews.energy_balance(run))
    assert 0 < balance.max() < 1e-9 * work


def test_pivots_as_parameters_leave_the_motion_as_it_is() -> None:
    """Coordinates of A and B are parameters where asked for; a shift of all pivots shifts the
    motion alone.
    """
    plain, open_ = andrews.mechanism(), andrews.mechanism(pivots="OABC")
    assert set(open_.parameters) - set(plain.parameters) == {
        f"{c}_{p}" for c in "xy" for p in "OABC"
    }
    shift = {f"x_{p}": x + 0.01 for p, (x, _) in andrews.GROUND.items()}
    F, same, moved = (
        m.simulate(0.01, parameters=p, tolerance=1e-9)
        .position("F")
        .transpose("time", "component")
        .to_numpy()
        for m, p in ((plain, {}), (open_, {}), (open_, shift))
    )
    assert np.abs(same - F).max() < 1e-12 and np.abs(moved - F - [0.01, 0.0]).max() < 1e-9
