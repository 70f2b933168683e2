"""The flexible five-bar against its independent reference, and the formula of the paper against
differences.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest
from flexible_five_bar_reference import FlexibleFiveBar

import varimech as vm
from varimech.benchmarks.flexible_five_bar import (
    DERIVATIVES,
    DURATION,
    PARAMETERS,
    PLACES,
    POWERS,
    SOFT,
    STIFF,
    WRONG,
    mechanism,
    scaled_derivative,
)


def test_the_reference_gives_the_stored_values() -> None:
    places, derivatives = FlexibleFiveBar(2, PARAMETERS, E=SOFT).run(DURATION, 5e-4)
    for point, place in PLACES[SOFT].items():
        np.testing.assert_allclose(places[point], place, atol=1e-11)
    for name, value in DERIVATIVES[SOFT].items():
        assert derivatives[name] == pytest.approx(value, rel=1e-8), name


@pytest.mark.parametrize(("segments", "linear"), [(4, False), (3, True)])
def test_agrees_with_the_reference_for_the_stiff_beam(segments: int, linear: bool) -> None:
    material = "linear" if linear else "logarithmic"
    run = (
        mechanism(segments, material=material)
        .sensitivity((), PARAMETERS, duration=0.008, tolerance=1e-10)
        .run
    )
    places, derivatives = FlexibleFiveBar(segments, PARAMETERS, linear=linear).run(0.008, 2e-5)
    for point, place in places.items():
        np.testing.assert_allclose(run.position(point).to_numpy()[-1], place, atol=1e-12)
    for name, value in derivatives.items():
        assert scaled_derivative(run, name, 0.008) == pytest.approx(value, rel=1e-6, abs=1e-9), name


def test_differences_side_with_the_exact_formula() -> None:
    """They are of one program, whose nominal motion is the same by all formulas."""
    settings: dict[str, Any] = {"duration": DURATION, "step": 5e-4}
    direct = {
        f: scaled_derivative(
            mechanism(E=SOFT, formula=f).sensitivity((), ["L0"], **settings).run, "L0", DURATION
        )
        for f in POWERS
    }
    m, steps = mechanism(E=SOFT), (1e-4, 5e-5)
    by_step = [
        m.sensitivity((), ["L0"], method="finite-difference", relative_steps=(s,), **settings).run
        for s in steps
    ]
    coarse, fine = (scaled_derivative(r, "L0", DURATION) for r in by_step)
    extrapolated = (4 * fine - coarse) / 3
    assert direct["exact"] == pytest.approx(extrapolated, rel=1e-6)
    for formula in WRONG:
        assert abs(direct[formula] - extrapolated) > 0.3


def test_pure_penalty_derivatives_solve_the_tangent_linear_model() -> None:
    """Equations (7) to (9) of the paper: M q̈' + K̂ q' + Q̂ = 0 at every step, with λ = α Φ and M'
    q̈ in Q̂.
    """
    m, wrt = mechanism(), list(PARAMETERS)
    pure = vm.Penalty(factor=1e6, xi=0.0, inertial=False)
    run = m.sensitivity((), wrt, duration=0.05, step=1e-3, formulation=pure).run
    assert run._live is not None
    e, trajectory, ρ = run._live.equations, run._live.trajectory, run._live.parameters
    assert trajectory.sensitivities is not None
    n, count = e.q.numel(), e.λ.numel()
    strength = ca.SX.sym("α", count)
    forces = ca.substitute(e.forces, e.t, 0)
    F = ca.jtimes(e.constraints, e.q, strength * e.constraints, True) - forces
    K, F_, Ma = ca.jacobian(F, e.q), ca.jacobian(F, e.ρ), ca.jacobian(e.mass @ e.a, e.ρ)
    model = ca.Function("model", [e.q, e.a, e.ρ, strength], [e.mass, K, F_ + Ma, e.constraints])
    names = list(m.parameters)
    for state, S in zip(trajectory.states[1:], trajectory.sensitivities[1:], strict=True):
        q, a, λ = state[:n], state[2 * n : 3 * n], state[3 * n :]
        Φ = np.array(model(q, a, ρ, np.zeros(count))[3]).ravel()
        M, K_, Q_, _ = (np.array(x) for x in model(q, a, ρ, λ / Φ))
        parts = M @ S[2 * n : 3 * n], K_ @ S[:n], Q_[:, [names.index(p) for p in wrt]]
        size = sum(np.abs(part).max(axis=0) for part in parts)
        assert (np.abs(sum(parts)) < 1e-7 * size).all()


def test_the_stiff_beam_tends_to_the_rigid_bar() -> None:
    rigid = mechanism(rigid=True).simulate(0.5, step=1e-3).position("2").to_numpy()[-1]
    distances = []
    for E in (STIFF * 1e2, STIFF * 1e4):
        distances.append(
            np.linalg.norm(
                mechanism(8, E=E).simulate(0.5, step=1e-3).position("2").to_numpy()[-1] - rigid
            )
        )
    assert distances[1] < 1e-7
    assert distances[0] / distances[1] == pytest.approx(100, rel=0.2)
