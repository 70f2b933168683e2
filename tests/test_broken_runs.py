"""Runs that break off say when, and where to look."""

from __future__ import annotations

from typing import Any

import pytest
from refusals import pendulum, swinging

import varimech as vm


def test_a_force_that_becomes_nan_stops_the_run() -> None:
    m = pendulum()
    m.force("steady", "tip", (1, 0))
    m.force("fading", "tip", lambda s: (vm.sqrt(0.5 - s.time), 0))
    m.start(angle={"rod": -1.0})
    with pytest.raises(
        vm.SimulationError,
        match=r"'pendulum': step \d+, t = 0\.5 s, h = .* s: .*NaN.*look at 'fading'",
    ) as caught:
        m.simulate(1.0, step=0.02)
    error = caught.value
    assert error.worst == "fading"
    assert error.time == pytest.approx(0.5, abs=1e-6)
    assert m.simulate(0.5, step=0.02).time[-1] == 0.5


@pytest.mark.parametrize(
    "function",
    [
        lambda s: (0, vm.sqrt(0.95 + s.position("tip")[1])),
        lambda s: (0, vm.sqrt(1 + s.velocity("tip")[0])),
    ],
    ids=["position", "velocity"],
)
def test_a_force_of_the_state_that_becomes_nan_is_named(function: Any) -> None:
    m = swinging()
    m.force("steady", "tip", (0, 0))
    m.force("wall", "tip", function)
    with pytest.raises(vm.SimulationError, match="look at 'wall'") as caught:
        m.simulate(3.0, step=0.01)
    assert caught.value.worst == "wall"
    assert 0 < caught.value.time < 3.0


def test_a_driver_that_becomes_nan_is_named() -> None:
    m = pendulum()
    m.drive_angle("motor", "rod", lambda t: vm.sqrt(0.5 - t))
    m.start()
    with pytest.raises(vm.SimulationError, match="look at 'motor'") as caught:
        m.simulate(1.0, step=0.01)
    assert caught.value.worst == "motor"
    assert caught.value.time == pytest.approx(0.5, abs=0.011)  # √ has no slope at 0.5 s


def test_an_objective_that_is_nan_is_named() -> None:
    with pytest.raises(
        vm.SimulationError, match=r"the value of objective 'goal' is not finite from t = 0 s on"
    ) as caught:
        swinging().sensitivity(
            {"goal": vm.final(lambda s: vm.sqrt(-1 - s.time))}, duration=0.02, step=0.01
        )
    assert caught.value.worst == "goal"


def test_the_step_at_which_an_objective_fails() -> None:
    goal = {"goal": vm.final(lambda s: vm.sqrt(0.05 - s.time))}
    with pytest.raises(vm.SimulationError) as caught:
        swinging().sensitivity(goal, duration=0.1, step=0.001, every=10)
    assert caught.value.step == round(caught.value.time / 0.001)


def test_the_gradient_of_a_way_from_rest_is_finite() -> None:
    m = swinging()
    travelled = {
        "travelled": vm.integral(lambda s: vm.norm(s.velocity("tip")))
    }  # |v| has no derivative at rest
    exact = m.sensitivity(travelled, duration=0.1, step=0.01).gradient.values
    differences = m.sensitivity(
        travelled, duration=0.1, step=0.01, method="finite-difference"
    ).gradient.values
    assert exact == pytest.approx(differences, rel=1e-6, abs=1e-9)


def test_a_force_that_is_nan_at_the_start() -> None:
    m = pendulum()
    m.force("early", "tip", lambda s: (vm.sqrt(s.time - 1), 0))
    m.start(angle={"rod": -1.0})
    with pytest.raises(
        vm.AssemblyError,
        match="mechanism 'pendulum': the initial state is not finite; check 'early'",
    ):
        m.simulate(0.02, step=0.01)


def test_a_spring_without_length_at_the_start_is_named() -> None:
    m = pendulum()
    m.spring("coil", "tip", m.ground_point("P", (1, 0)), stiffness=10, natural_length=0.1)
    m.start(angle={"rod": 0.0})
    with pytest.raises(vm.AssemblyError, match="not finite; check 'coil'"):
        m.simulate(0.02, step=0.01)


def test_a_step_that_does_not_converge() -> None:
    m = pendulum()
    k = m.parameter("k", 10.0)
    m.bar("second", "tip", "end", length=1, mass=1)
    m.revolute("tip")
    m.torsional_spring("coil", "O", stiffness=k, rest_angle=2.0)
    m.start(angle={"rod": -1.0, "second": 0.0})
    with pytest.raises(
        vm.SimulationError, match=r"step \d+, t = .* s, h = 0\.1 s: no convergence .*smaller step"
    ) as caught:
        m.simulate(1.0, step=0.1, parameters={"k": 1e8})
    error = caught.value
    assert error.time == pytest.approx(0.1 * error.step)
    assert error.worst == "rigidity of rod"
    assert error.residual > 1e-3
    assert f"worst constraint {error.worst!r}, residual {error.residual:.3g}" in str(error)
    m.simulate(1.0, step=0.1)


@pytest.mark.parametrize("coordinates", ["natural", "rtdyn1"])
@pytest.mark.parametrize("backend", ["native", "interpreted"])
def test_a_motion_that_grows_from_step_to_step_is_no_result(coordinates: str, backend: str) -> None:
    """A damper so stiff that explicit steps of 0.1 s multiply every speed, in a run that ends
    before anything overflows.
    """
    m = vm.Mechanism("damped pendulum", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "P", length=1.0, mass=1.0)
    m.revolute("O")
    m.torsional_damper("oil", "rod", damping=20.0)
    m.start(angle={"rod": 0.5}, speed={"rod": 1.0})
    options: dict[str, Any] = {"integrator": "rk4", "coordinates": coordinates, "backend": backend}
    with pytest.raises(vm.SimulationError, match=r"diverged .* the step is too large") as caught:
        m.simulate(0.8, step=0.1, **options)
    assert 0 < caught.value.time < 0.8
    assert abs(m.simulate(0.8, step=0.01, **options).angular_velocity("rod")).max() == 1.0
