"""Runs of central differences: in vectors of samples where there are any, with the results of single
runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import varimech as vm
from varimech.backends import compiler, machine
from varimech.backends.native import NativeProgram
from varimech.benchmarks import bouncing_ball, five_bar
from varimech.solving import differences
from varimech.solving.solver import Solver

pytestmark = pytest.mark.skipif(
    compiler.find_compiler() is None, reason="no C compiler on this machine"
)

STEPS = (1e-4, 1e-6)
BY_DIFFERENCES: dict[str, Any] = {
    "method": "finite-difference",
    "relative_steps": STEPS,
    "progress": False,
}


@pytest.fixture
def single_runs(monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    """Parameter values of all runs that are executed individually, all of them as bytecode."""
    machine.lane_machine()  # differences do not wait for its first build
    monkeypatch.setattr(NativeProgram, "load", lambda self: False)
    monkeypatch.setattr(NativeProgram, "build_in_background", lambda self, estimated: None)
    rows: list[np.ndarray] = []
    run = Solver.run

    def counted(self: Solver, task: Any, ρ: np.ndarray, **options: Any) -> Any:
        rows.append(ρ)
        return run(self, task, ρ, **options)

    monkeypatch.setattr(Solver, "run", counted)
    return rows


def one_by_one(monkeypatch: pytest.MonkeyPatch, call: Callable[[], vm.Gradient]) -> vm.Gradient:
    with monkeypatch.context() as changed:
        changed.setattr(differences, "has_lane_machine", lambda within: False)
        return call()


CASES: dict[str, dict[str, Any]] = {
    "chosen steps": {"tolerance": 1e-6},
    "equal steps": {"step": 0.02, "integrator": "rk4"},
    "trapezoidal rule": {"step": 0.02},
    "an integrator that remembers": {"step": 0.02, "integrator": "generalised-alpha"},
}


@pytest.mark.parametrize("name", CASES)
def test_vectors_have_the_bits_of_single_runs(
    name: str, single_runs: list[np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    m, names = five_bar.mechanism(), list(five_bar.PARAMETERS)

    def call() -> vm.Gradient:
        return m.sensitivity(
            five_bar.objectives(), names, duration=0.4, **BY_DIFFERENCES, **CASES[name]
        )

    vectors, own = call(), len(single_runs)
    assert own == (2 if name == "chosen steps" else 1)  # one chooses the steps
    single = one_by_one(monkeypatch, call)
    assert len(single_runs) == 2 * own + 2 * len(STEPS) * len(names)
    assert np.abs(single.gradient.to_numpy()).min() > 0
    np.testing.assert_array_equal(vectors.gradient, single.gradient)
    assert vectors.sweep is not None and single.sweep is not None
    np.testing.assert_array_equal(vectors.sweep, single.sweep)
    for wrt in names:
        np.testing.assert_array_equal(
            vectors.run.position("2", wrt=wrt), single.run.position("2", wrt=wrt)
        )


def test_events_move_with_the_parameters(
    single_runs: list[np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    m = bouncing_ball.mechanism()
    height = {"height": vm.final(lambda s: s.position("ball.com")[1])}

    def call() -> vm.Gradient:
        return m.sensitivity(height, duration=2.0, tolerance=1e-11, **BY_DIFFERENCES)

    vectors = call()
    assert len(single_runs) == 1
    np.testing.assert_array_equal(vectors.gradient, one_by_one(monkeypatch, call).gradient)
    exact = m.sensitivity(height, duration=2.0, tolerance=1e-11)
    np.testing.assert_allclose(vectors.gradient, exact.gradient, rtol=1e-6)


def test_perturbations_that_fail_leave_the_others(single_runs: list[np.ndarray]) -> None:
    """A bar that is three times as long, or has a negative length, fits nowhere."""
    m, psi = five_bar.mechanism(), {"psi1": five_bar.objectives()["psi1"]}
    options: dict[str, Any] = {"duration": 0.4, "tolerance": 1e-8, "progress": False}
    given = {**BY_DIFFERENCES, **options, "relative_steps": (2.0, 1e-5, 1e-6)}
    g = m.sensitivity(psi, ["L_A1"], **given)
    assert len(single_runs) == 4  # one that chooses the steps, the nominal one, and the two
    exact = m.sensitivity(psi, ["L_A1"], **options)
    np.testing.assert_allclose(g.gradient, exact.gradient, rtol=1e-7)
    assert g.sweep is not None
    np.testing.assert_array_equal(np.isnan(g.sweep.to_numpy().ravel()), [True, False, False])


def falling(height: float) -> vm.Mechanism:
    """It falls until it reaches the ground, at √(2 h/g)."""
    m = vm.Mechanism("falling", gravity=(0, -10.0))
    h = m.parameter("h", height)
    m.ground_point("O", (0, 0))
    m.body("b", mass=2.0, inertia=1.0, points={"C": (0, 0)})
    m.prismatic("g", "ground.O", "b.C", axis=(0, 1))
    m.event("landing", "displacement('g')", do="stop")
    m.start(displacement={"g": h})
    return m


LANDING = {"t": vm.time_of("landing")}


def test_runs_that_an_event_ends_are_executed_individually(single_runs: list[np.ndarray]) -> None:
    g = falling(0.5).sensitivity(LANDING, duration=1.0, output=0.1, **BY_DIFFERENCES)
    assert len(single_runs) == 1 + 2 * len(STEPS)
    assert g.gradient.item() == pytest.approx(0.1**0.5, rel=1e-8)  # 1/√(2 g h)


def test_an_end_beyond_a_stored_time_has_no_difference() -> None:
    """At 0.3 s it is 1e-6 of its height above the ground, and lands before if perturbed by 1e-4."""
    m = falling(0.45 * (1 + 1e-6))
    options = {**BY_DIFFERENCES, "relative_steps": (1e-4,), "duration": 1.0, "output": 0.1}
    with pytest.raises(vm.VarimechError, match=r"an event ends the run at t = 0\.3\d* s, and"):
        m.sensitivity(LANDING, **options)


def test_compiled_single_runs_go_on_until_vectors_are_compiled(
    single_runs: list[np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vectors of bytecode are slower than compiled single runs."""
    m, begun = falling(1.0), list[str]()
    place = {"x": vm.final("displacement('g')")}
    options = {**BY_DIFFERENCES, "duration": 0.1, "step": 0.01, "backend": "native"}
    monkeypatch.setattr(NativeProgram, "load_lanes", lambda self: False)
    monkeypatch.setattr(
        NativeProgram, "build_lanes_in_background", lambda self: begun.append("lanes")
    )
    single = m.sensitivity(place, **options)
    assert begun == ["lanes"] and len(single_runs) == 1 + 2 * len(STEPS)
    monkeypatch.setattr(NativeProgram, "load_lanes", lambda self: True)
    vectors = m.sensitivity(place, **options)
    assert len(single_runs) == 2 + 2 * len(STEPS)
    np.testing.assert_array_equal(vectors.gradient, single.gradient)
