"""What chosen steps are chosen by: positions, velocities, derivatives and integrals, each by a
scale that means something.
"""

from __future__ import annotations

import math
from typing import Any

import casadi as ca
import numpy as np
import pytest
from both_backends import both_backends

import varimech as vm
from varimech.benchmarks import five_bar
from varimech.core.schedule import LONGEST_GRADUAL


def pendulum(angle: float) -> vm.Mechanism:
    m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    L = m.parameter("L", 1.0)
    m.bar("rod", "O", "tip", length=L, mass=3.0)
    m.revolute("O")
    m.start(angle={"rod": m.parameter("a", angle)})
    return m


def oscillator(start: float) -> vm.Mechanism:
    """1 kg on a spring of 100 N/m, no gravity."""
    m = vm.Mechanism("oscillator", dimension=2)
    m.ground_point("O", (0, 0))
    m.body("block", mass=1.0, inertia=1.0, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "block.P", axis=(1, 0))
    m.spring("spring", "ground.O", "block.P", stiffness=100, natural_length=1.0)
    m.start(displacement={"guide": m.parameter("x", start)})
    return m


@both_backends
@pytest.mark.parametrize("integrator", ["dopri5", "dop853"])
@pytest.mark.parametrize("angle", [-math.pi / 2, math.pi / 2], ids=["hanging", "upright"])
def test_what_is_at_rest_takes_few_steps(angle: float, integrator: str, backend: str) -> None:
    run = pendulum(angle).simulate(1.0, integrator=integrator, backend=backend)
    assert run.info["steps"] < 100
    assert run.step_ends is not None and np.diff(run.step_ends).max() == pytest.approx(
        LONGEST_GRADUAL
    )  # of the run, whatever its error
    assert float(np.abs(run.angle("rod") - angle).max()) < 1e-12


@pytest.mark.parametrize(
    ("motion", "exact", "steps"),
    [
        (lambda t: 0 * t + 1, lambda t: 0 * t + 1, 100),
        (lambda t: 1 + t**5, lambda t: 1 + t**5, 1000),
        (
            lambda t: vm.exp(-(((t - 1.5) / 0.1) ** 2)),
            lambda t: np.exp(-(((t - 1.5) / 0.1) ** 2)),
            400,
        ),
    ],
    ids=["still", "slow", "short"],
)
def test_a_driven_rod_that_stands_still_or_starts_slowly(
    motion: Any, exact: Any, steps: int
) -> None:
    m = vm.Mechanism("driven", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=1.0, mass=3.0)
    m.revolute("O")
    m.drive_angle("motor", "rod", motion)
    run = m.simulate(3.0)
    assert run.info["steps"] < steps
    np.testing.assert_allclose(run.angle("rod"), exact(run.time), rtol=1e-9, atol=1e-7)


@both_backends
def test_derivatives_are_controlled_where_nothing_moves(backend: str) -> None:
    """x = 1 is at rest; ∂x(t)/∂x(0) = cos ωt all the same."""
    m = oscillator(1.0)
    objective = vm.final(lambda s: s.displacement("guide"))
    for method in ("direct", "finite-difference", "composite"):
        g = m.sensitivity(objective, wrt="x", duration=3.0, method=method, backend=backend)
        assert float(g.gradient[0, 0]) == pytest.approx(
            math.cos(30.0), abs=2e-6 if method == "finite-difference" else 1e-7
        )


@both_backends
def test_integrals_are_controlled_where_nothing_moves(backend: str) -> None:
    g = oscillator(1.0).sensitivity(
        vm.integral(lambda s: vm.sin(50 * s.time) ** 2), wrt="x", duration=10.0, backend=backend
    )
    assert float(g.values[0]) == pytest.approx(5 - math.sin(1000) / 200, rel=1e-7)


@pytest.mark.parametrize("integrator", ["cvodes", "idas"])
def test_integrals_are_controlled_by_sundials_too(integrator: str) -> None:
    objective = vm.integral(lambda s: vm.sin(50 * s.time) ** 2)
    g = oscillator(1.0).sensitivity(
        objective, wrt="x", duration=10.0, tolerance=1e-6, output=10.0, integrator=integrator
    )
    assert float(g.values[0]) == pytest.approx(5 - math.sin(1000) / 200, rel=1e-5)


@both_backends
def test_a_wild_trial_does_not_switch_error_control_off(backend: str) -> None:
    """A mass falls on ground of 1e8 N/m; steps that try to go through it are refused, and leave no
    trace.
    """
    m = vm.Mechanism("bounce", gravity=(0, -9.81))
    m.body("b", mass=1.0, inertia=1.0, points={"A": (0, 0)}, floating=True)
    m.force(
        "floor",
        "b.A",
        lambda s: (0, vm.where(s.position("b.A")[1] < 0, -1e8 * s.position("b.A")[1], 0)),
    )
    m.start(position={"b.A": (0, 1)}, angle={"b": 0.0})
    run = m.simulate(1.0, tolerance=1e-6, backend=backend)
    down, contact = math.sqrt(2 / 9.81), math.pi / 1e4
    t = 1.0 - down - contact
    v = math.sqrt(2 * 9.81)
    assert float(run.position("b.A")[-1, 1]) == pytest.approx(v * t - 9.81 / 2 * t**2, abs=1e-3)


@pytest.mark.parametrize("integrator", ["dopri5", "dop853", "rk4"])
@pytest.mark.parametrize("angle", [0.3, 1.2, 3.0, -1.0])
def test_independent_coordinates_are_chosen_anew_where_one_turns_back(
    angle: float, integrator: str
) -> None:
    """The x of a rod says nothing of its motion where it is horizontal, its y where it
    is vertical.
    """
    m = pendulum(angle)
    objective = vm.final(lambda s: s.position("tip")[0])
    options: dict[str, Any] = {"step": 2e-3} if integrator == "rk4" else {}
    exact = m.sensitivity(objective, wrt="L", duration=1.0, tolerance=1e-11)
    gradient = m.sensitivity(
        objective,
        wrt="L",
        duration=1.0,
        integrator=integrator,
        formulation="independent",
        **options,
    )
    assert (
        gradient.run.info["selections"] > 1 or angle == -1.0
    )  # which swings through the lowest position only
    assert float(gradient.values[0]) == pytest.approx(float(exact.values[0]), abs=1e-7)
    assert float(gradient.gradient[0, 0]) == pytest.approx(float(exact.gradient[0, 0]), rel=1e-5)


@pytest.mark.parametrize("integrator", ["cvodes", "idas"])
def test_ensembles_of_sundials_in_threads(integrator: str) -> None:
    m, x = pendulum(0.3), vm.final(lambda s: s.position("tip")[0])
    lengths = [0.95, 1.0, 1.05, 2.0] * 2
    ensemble = m.ensemble(
        x, {"L": lengths}, duration=1.0, wrt=["L"], integrator=integrator, tolerance=1e-7, threads=4
    )
    alone = m.ensemble(x, {"L": lengths}, duration=1.0, wrt=["L"], tolerance=1e-10, threads=1)
    assert not ensemble.failures
    np.testing.assert_allclose(ensemble.values, alone.values, rtol=0, atol=1e-5)
    assert ensemble.gradient is not None and alone.gradient is not None
    np.testing.assert_allclose(ensemble.gradient, alone.gradient, rtol=0, atol=1e-4)


def test_a_composite_system_that_comes_apart_says_so() -> None:
    options: dict[str, Any] = {
        "duration": 30.0,
        "step": 0.12,
        "integrator": "rk4",
        "formulation": vm.Stabilised(omega=0),
    }
    for method in ("direct", "composite"):
        with pytest.raises(vm.SimulationError):
            pendulum(0.3).sensitivity(
                vm.final(lambda s: s.position("tip")[0]), wrt="L", method=method, **options
            )


def test_more_results_than_anybody_can_store() -> None:
    with pytest.raises(
        vm.ModelError, match=r"output = 1e-08 s is too short: .* more than 1e\+07 of them"
    ):
        pendulum(0.3).simulate(1000.0, output=1e-8)
    with pytest.raises(
        vm.ModelError,
        match=(
            r"step = 1e-08 s with every = 1 would store more than 1e\+07 results; a larger every="
        ),
    ):
        pendulum(0.3).simulate(1.0, step=1e-8)


@both_backends
@pytest.mark.parametrize("tolerance", [1e-8, 1e-10])
def test_integrals_that_are_mostly_rounding_shorten_no_steps(
    tolerance: float, backend: str
) -> None:
    """A five-bar that hardly moves: ψ = ∫ |r₂ − r₂₀|² dt is known to rounding of r₂ only, and grows
    with the square of the motion.
    """
    m, near = five_bar.mechanism(), {"Ls1": 2.4319235744576, "Ls2": 1.8448688868054}
    ψ = []
    for δ in (1e-5, 1e-9):
        moved = {"Ls1": near["Ls1"] + δ, "Ls2": near["Ls2"] - δ}
        g = m.sensitivity(
            five_bar.objectives()["psi1"],
            ["Ls1"],
            duration=1.0,
            tolerance=tolerance,
            parameters=moved,
            backend=backend,
            output=1.0,
        )
        assert g.run.info["steps"] < 200
        ψ.append(g.values.item() / δ**2)
    assert ψ[0] == pytest.approx(ψ[1], rel=1e-3)


@both_backends
def test_integrals_of_nothing_but_rounding_do_not_stop_a_run(backend: str) -> None:
    """How far the middle of a bar is from its end never changes; coordinates that err alike would
    not show how well it is known.
    """
    m = five_bar.mechanism()
    # a root in an integrand bounds steps at a fiftieth of the run
    run = m.simulate(1.0, tolerance=1e-8, output=1.0, longest_step=0.02)
    L = float(np.linalg.norm(run.position("12.com")[0] - run.position("12.1")[0]))
    change = vm.integral(lambda s: ca.norm_2(s.position("12.com") - s.position("12.1")) - L)
    g = m.sensitivity(
        change, duration=1.0, tolerance=1e-8, output=1.0, method="adjoint", backend=backend
    )
    assert g.run.info["steps"] < 10 * run.info["steps"]
    assert abs(g.values.item()) < 1e-14
