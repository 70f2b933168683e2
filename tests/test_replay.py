"""Gradients leave results between steps to a second run over the same steps, which ends as the first did,
to the last bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from both_backends import both_backends
from loops import OBJECTIVES, four_bar

import varimech as vm
from varimech.analyses.gradients import gradient
from varimech.core.schedule import LONGEST, LONGEST_GRADUAL
from varimech.solving.gradual_forces import is_gradual_along
from varimech.solving.solver import Solver

SCHEMES: dict[str, dict[str, Any]] = {
    "default": {},
    "order 5": {"integrator": "dopri5"},
    "relative": {"coordinates": "rtdyn1", "tolerance": 1e-6},
    "independent": {"formulation": "independent", "integrator": "dop853"},
    "stabilised": {"formulation": "index1-stabilised", "integrator": "dop853"},
}


@both_backends
@pytest.mark.parametrize("options", SCHEMES.values(), ids=SCHEMES.keys())
def test_the_second_run_ends_as_the_first(options: dict[str, Any], backend: str) -> None:
    g = four_bar().sensitivity(
        OBJECTIVES, duration=0.7, backend=backend, method="direct", **options
    )
    stored, steps = g.run.live.computed, g.run.info["steps"]
    assert stored.time.size <= min(steps, 500) + 1 < g.time.size == 501
    assert set(stored.time) <= set(np.asarray(g.run.step_ends))
    np.testing.assert_array_equal(g.value_history[-1], g.final_values)
    np.testing.assert_array_equal(g.gradient_history[-1], g.final_gradient)
    replayed = g.run.live.derivatives
    np.testing.assert_array_equal(replayed.states[-1], stored.states[-1])
    assert replayed.sensitivities is not None and stored.sensitivities is not None
    np.testing.assert_array_equal(replayed.sensitivities[-1], stored.sensitivities[-1])
    np.testing.assert_array_equal(replayed.step_ends, g.run.step_ends)


def test_jumps_in_time_are_passed_by_the_same_steps() -> None:
    m = vm.Mechanism("block", dimension=2)
    m.ground_point("O", (0, 0))
    m.body("block", mass=m.parameter("m", 2.0), inertia=1.0, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "block.P", axis=(1, 0))
    m.force("push", "block.P", lambda s: (vm.where(s.time > 0.31, 3.0, 0.0), 0))
    m.start(displacement={"guide": 0.0})
    g = m.sensitivity({"x": vm.final(lambda s: s.displacement("guide"))}, duration=1.0)
    np.testing.assert_array_equal(g.gradient_history[-1], g.final_gradient)
    late = g.time > 0.32
    exact = -3.0 * (g.time[late] - 0.31) ** 2 / 2 / 4.0
    np.testing.assert_allclose(g.gradient_history[late, 0, 0], exact, rtol=1e-7)


def test_results_between_steps_are_those_of_a_run_that_stores_them() -> None:
    p = four_bar().problem(OBJECTIVES, duration=0.7)
    left, indices = p.gradient("direct"), [0, 1]
    s = p._simulation
    at_once = gradient(s, OBJECTIVES, indices, "direct", (1e-4,), 100.0, over_time=True)
    assert at_once.run.live.computed.time.size == 501
    for name in ("time", "value_history", "gradient_history", "final_values", "final_gradient"):
        np.testing.assert_array_equal(getattr(left, name), getattr(at_once, name), err_msg=name)
    for wrt in (None, "all"):
        np.testing.assert_array_equal(
            left.run.reaction("A", wrt=wrt), at_once.run.reaction("A", wrt=wrt)
        )
    part = left.run.at_rows(np.array([3, 400]))
    np.testing.assert_array_equal(
        part.position("C", wrt="L"), at_once.run.position("C", wrt="L")[[3, 400]]
    )


def test_nothing_runs_twice_before_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[str] = []
    run = Solver.run

    def counted(self: Solver, task: Any, *arguments: Any, **options: Any) -> Any:
        runs.append(task.method if task.indices is not None else "motion")
        return run(self, task, *arguments, **options)

    monkeypatch.setattr(Solver, "run", counted)
    m = four_bar()
    for method, asked in (("direct", ["direct"]), ("adjoint", ["motion", "direct"])):
        runs.clear()
        g = m.sensitivity(OBJECTIVES, duration=0.3, method=method)
        _ = repr(g), g.gradient, g.values, g.time, g.to_dataframe(), g.run.info, g.run.step_ends
        assert g.run.parameter_names and runs == [method]
        for _ in range(2):
            _ = g.run.position("C"), g.value_history
            _ = g.run.position("C", wrt="L"), g.history
        assert runs == [method, *asked]


def test_a_mechanism_that_was_changed_does_not_change_its_results() -> None:
    m = four_bar.__wrapped__()  # its own: other tests share the cached one
    g = m.sensitivity(OBJECTIVES, duration=0.3)
    whole = four_bar().sensitivity(OBJECTIVES, duration=0.3)
    m.torsional_damper("later", "A", damping=3.0)
    np.testing.assert_array_equal(g.gradient_history, whole.gradient_history)


# longer steps where nothing can hide in them


def _block(force: Any = None, **objective: Any) -> tuple[vm.Mechanism, dict[str, vm.Objective]]:
    m = vm.Mechanism("block", dimension=2)
    m.ground_point("O", (0, 0))
    m.parameter("p", 2.0)
    m.body("block", mass=1.0, inertia=1.0, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "block.P", axis=(1, 0))
    m.spring("spring", "ground.O", "block.P", stiffness=1.0, natural_length=0.5, damping=0.1)
    if force is not None:
        m.force("force", "block.P", force)
    m.start(displacement={"guide": 1.0})
    return m, {name: vm.integral(f) for name, f in objective.items()}


GRADUAL: dict[str, tuple[Any, Any]] = {
    "elements": (None, None),
    "constant": ((1.0, 0.0), None),
    "polynomial": (lambda s: (-(s.displacement("guide") ** 3), 0), None),
    "of time": (lambda s: (vm.sin(50 * s.time) * s.velocity("block.P")[0], 0), None),
    "of parameters": (lambda s: (vm.exp(-s.parameter("p")) * s.velocity("block.P")[0], 0), None),
    "square": (None, lambda s: s.displacement("guide") ** 2),
}
ABRUPT: dict[str, tuple[Any, Any]] = {
    "detent": (lambda s: (vm.exp(-((s.displacement("guide") / 1e-3) ** 2)), 0), None),
    "stop": (lambda s: (-1e4 * vm.maximum(s.displacement("guide") - 0.9, 0), 0), None),
    "pole": (lambda s: (1 / (s.displacement("guide") ** 2 + 1e-6), 0), None),
    "narrow integrand": (None, lambda s: vm.exp(-((s.displacement("guide") / 1e-3) ** 2))),
}


@pytest.mark.parametrize("case", [*GRADUAL, *ABRUPT])
def test_what_may_hide_between_stages_bounds_the_steps(case: str) -> None:
    force, integrand = {**GRADUAL, **ABRUPT}[case]
    m, objectives = _block(force, **({} if integrand is None else {"integral": integrand}))
    assert is_gradual_along(m.data, objectives) is (case in GRADUAL)
    run = m.problem(objectives, duration=1e-2).gradient().run
    longest = np.diff(np.asarray(run.step_ends)).max() / 1e-2
    if case in ABRUPT:
        assert longest <= LONGEST * (1 + 1e-9)
    elif case != "of time":  # which has a limit of its own
        assert longest == pytest.approx(LONGEST_GRADUAL)
