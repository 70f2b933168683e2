"""Adjoint gradients of ensembles: on the CPU against single runs and the direct method; on a GPU, as
far as that can be tested without one, against the CPU (the kernel is the same text).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from fake_gpu import COMPILER, fake_cupy

import varimech as vm
from varimech.analyses import row_runs
from varimech.backends.sweeps import SweepBatch
from varimech.benchmarks import bouncing_ball, chain, five_bar, friction_oscillator
from varimech.core.errors import ModelError, VarimechError
from varimech.solving import ensemble_runs, gpu_runs

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")
COUNT = 4
SHORT = 3
"""Steps of a section."""
FIVE_BAR: dict[str, dict[str, Any]] = {
    "equal steps": {"step": 0.05, "integrator": "dop853"},
    "chosen steps": {"tolerance": 1e-5},
    "trapezoidal rule": {"step": 0.01, "formulation": "ali3p"},
    "independent coordinates": {"tolerance": 1e-5, "formulation": "independent"},
}


def five_bars(scheme: str) -> vm.Problem:
    return five_bar.mechanism().problem(
        five_bar.objectives(),
        wrt=list(five_bar.PARAMETERS),
        duration=1.0,
        progress=False,
        **FIVE_BAR[scheme],
    )


def bounces() -> vm.Problem:
    """Impacts, values at events and extrema."""
    objectives = {
        **bouncing_ball.objectives(),
        "second": vm.time_of("floor", occurrence=2),
        "last": vm.time_of("floor"),
        "fastest": vm.peak('displacement_rate("guide")'),
    }
    duration = bouncing_ball.DURATION
    m = bouncing_ball.mechanism()
    return m.problem(objectives, wrt=["h", "e"], duration=duration, tolerance=1e-9, progress=False)


def stick_and_slip() -> vm.Problem:
    """Modes of friction change, and an implicit scheme meets the events."""
    m = friction_oscillator.mechanism()
    return m.problem(
        friction_oscillator.objectives(),
        wrt="all",
        duration=friction_oscillator.DURATION / 5,
        step=0.01,
        integrator="trapezoidal",
        progress=False,
    )


def fall() -> vm.Problem:
    """An event ends the run; the speed there is −√(2 g h)."""
    m = vm.Mechanism("falling", gravity=(0, -bouncing_ball.G))
    h = m.parameter("h", 0.9, unit="m")
    m.ground_point("O", (0, 0))
    m.body("ball", mass=1.0, inertia=0.004, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "ball.P", axis=(0, 1))
    m.event("floor", 'displacement("guide")', do="stop")
    m.start(displacement={"guide": h})
    objectives = {"speed": vm.final('displacement_rate("guide")', unit="m/s")}
    return m.problem(objectives, wrt=["h"], duration=1.0, step=0.02, integrator="rk4")


def assembled() -> vm.Problem:
    """A large mechanism, whose functions are plans."""
    m = chain.mechanism(20)
    options: dict[str, Any] = {"duration": 0.1, "step": 0.02, "integrator": "rk4"}
    return m.problem(chain.objectives(20), wrt="all", coordinates="natural", **options)


PROBLEMS: dict[str, Callable[[], vm.Problem]] = {
    **{name: partial(five_bars, name) for name in FIVE_BAR},
    "bounces": bounces,
    "stick and slip": stick_and_slip,
    "fall": fall,
    "assembled": assembled,
}


def samples_of(p: vm.Problem) -> dict[str, np.ndarray]:
    """The first one has the values of the problem."""
    rng = np.random.default_rng(5)
    f = p.function()
    values = f.x0 * (1 + 0.005 * rng.uniform(-1, 1, (COUNT, f.x0.size)))
    values[0] = f.x0
    return dict(zip(f.parameters, values.T, strict=True))


def gradients_of(e: vm.Ensemble) -> np.ndarray:
    assert not e.failures
    assert e.gradient_array is not None
    return e.gradient_array


def check_close(computed: np.ndarray, expected: np.ndarray) -> None:
    """To rounding, relative to the largest derivative of each objective."""
    size = np.abs(expected).max(axis=tuple(k for k in range(expected.ndim) if k != 1))
    shape = [-1 if k == 1 else 1 for k in range(expected.ndim)]
    assert (np.abs(computed - expected) / size.reshape(shape)).max() < 1e-12


@pytest.fixture
def no_reruns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples are computed by sweeps.c, never individually."""

    def refused(*arguments: Any) -> dict[int, VarimechError]:
        assert not arguments[-1], f"samples {arguments[-1]} failed"
        return {}

    for module in (ensemble_runs, gpu_runs, row_runs):
        monkeypatch.setattr(module, "rerun_failed", refused)


@pytest.mark.parametrize("name", PROBLEMS)
def test_ensembles_have_the_adjoint_gradients_of_single_runs(name: str, no_reruns: None) -> None:
    p = PROBLEMS[name]()
    computed = gradients_of(p.ensemble(samples_of(p), method="adjoint"))
    np.testing.assert_array_equal(computed[0], p.gradient(method="adjoint").final_gradient)


@pytest.mark.parametrize("name", ["equal steps", "trapezoidal rule", "stick and slip", "fall"])
def test_adjoint_and_direct_gradients_of_ensembles_agree(name: str, no_reruns: None) -> None:
    """Steps are the same there."""
    p = PROBLEMS[name]()
    samples = samples_of(p)
    adjoint = gradients_of(p.ensemble(samples, method="adjoint"))
    check_close(adjoint, gradients_of(p.ensemble(samples, method="direct")))


def test_the_adjoint_of_a_fall_is_its_closed_form(no_reruns: None) -> None:
    p = fall()
    samples = samples_of(p)
    computed = gradients_of(p.ensemble(samples, method="adjoint"))[:, 0, 0]
    expected = -np.sqrt(bouncing_ball.G / (2 * samples["h"]))
    np.testing.assert_allclose(computed, expected, rtol=1e-9)


@pytest.mark.parametrize("steps", [1, SHORT])
@pytest.mark.parametrize("name", ["chosen steps", "trapezoidal rule", "bounces", "stick and slip"])
def test_sections_are_executed_twice_and_change_nothing(
    name: str, steps: int, no_reruns: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each section begins with its checkpoint; what stands behind the storage is not touched."""
    p = PROBLEMS[name]()
    samples = samples_of(p)
    whole = p.ensemble(samples, method="adjoint", threads=1)
    working, behind = SweepBatch.working, list[np.ndarray]()

    def guarded(self: SweepBatch, *given: Any) -> dict[str, Any]:
        arrays = working(self, *given)
        size = arrays["storage"].size
        storage = np.full(size + 100, np.nan)
        behind.append(storage[size:])
        return {**arrays, "storage": storage}

    monkeypatch.setattr(SweepBatch, "working", guarded)
    monkeypatch.setattr(SweepBatch, "fit", lambda self, numbers: setattr(self, "section", steps))
    divided = PROBLEMS[name]().ensemble(samples, method="adjoint", threads=1)
    assert len(behind) > 0
    assert np.isnan(np.concatenate(behind)).all()
    np.testing.assert_array_equal(divided.value_array, whole.value_array)
    check_close(gradients_of(divided), gradients_of(whole))


@needs_compiler
@pytest.mark.parametrize("memory", [10**9, 250_000])
@pytest.mark.parametrize("name", ["equal steps", "chosen steps", "bounces", "stick and slip"])
def test_a_gpu_has_the_adjoint_gradients_of_the_processor(
    name: str, memory: int, no_reruns: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one with little memory, where runs are divided into sections."""
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(memory))
    fit, sections = SweepBatch.fit, list[tuple[int, int]]()

    def noted(self: SweepBatch, numbers: float) -> None:
        fit(self, numbers)
        sections.append((self.section, self._steps))

    p = PROBLEMS[name]()
    samples = samples_of(p)
    here = p.ensemble(samples, method="adjoint")
    monkeypatch.setattr(SweepBatch, "fit", noted)
    there = p.ensemble(samples, method="adjoint", executor="cuda")
    np.testing.assert_array_equal(there.value_array, here.value_array)
    check_close(gradients_of(there), gradients_of(here))
    section, steps = sections[-1]
    assert (section == steps) == (memory == 10**9)


@needs_compiler
def test_launches_have_a_few_times_the_runs_that_are_under_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beyond that, storage would only take memory: four times 256 on one multiprocessor, however much
    memory there is; and less where there is not enough.
    """
    module: Any = fake_cupy(10**12)
    monkeypatch.setitem(sys.modules, "cupy", module)
    launched, zeros = list[int](), module.zeros

    def noted(shape: Any, dtype: Any = float) -> Any:
        launched.extend([shape] if isinstance(shape, int) else [])
        return zeros(shape, dtype)

    module.zeros = noted
    many(2).ensemble({"c0": np.linspace(0.01, 0.02, 1030)}, executor="cuda", method="adjoint")
    assert launched == [1024, 6]


@pytest.mark.parametrize("numbers", [0, 5_000, 20_000, 10**9])
def test_storage_is_bounded(numbers: int) -> None:
    sizes = dict.fromkeys(("objectives", "parameters", "numbers", "modes", "units", "samples"), 1)
    sizes |= {"states": 20, "coordinates": 6, "record_size": 250}
    description = {"rows": 2, "sizes": sizes, "arrays": {}, "settings": {}}
    batch = SweepBatch(description, [("time", "f8")], [0], 900, shared=False)
    least = min(batch.storage(section) for section in range(1, 901))
    batch.fit(numbers)
    assert batch.storage(batch.section) <= max(numbers, 1.02 * least)
    if numbers > least:
        more = batch.storage(min(900, batch.section + 10))
        assert more > numbers or batch.section == 900


def test_samples_with_more_steps_are_rerun_individually(monkeypatch: pytest.MonkeyPatch) -> None:
    p = five_bars("chosen steps")
    samples = samples_of(p)
    expected = gradients_of(p.ensemble(samples, method="adjoint"))
    monkeypatch.setattr(ensemble_runs, "MORE_STEPS", 0)
    monkeypatch.setattr(ensemble_runs, "LEAST_STEPS", 4)
    rerun, left = ensemble_runs.rerun_failed, list[int]()

    def noted(*arguments: Any) -> dict[int, VarimechError]:
        left.extend(arguments[-1])
        return rerun(*arguments)

    monkeypatch.setattr(ensemble_runs, "rerun_failed", noted)
    computed = gradients_of(p.ensemble(samples, method="adjoint", threads=1))
    assert sorted(left) == [0, 0, 0, 0]  # a thread takes one sample at a time
    np.testing.assert_array_equal(computed, expected)


def many(count: int) -> vm.Problem:
    """A pendulum with so many parameters, all of which brake it."""
    m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    brakes = [m.parameter(f"c{k}", 0.01, unit="N·m·s") for k in range(count)]
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=1.0, mass=3.0)
    m.revolute("O")
    m.torque("brake", "rod", lambda s: -sum(brakes) * s.angular_velocity("rod"))
    m.start(angle={"rod": -1.0})
    angle = {"angle": vm.final(lambda s: s.angle("rod"), unit="rad")}
    options: dict[str, Any] = {"duration": 0.5, "step": 0.05, "integrator": "rk4"}
    return m.problem(angle, wrt="all", progress=False, **options)


@needs_compiler
@pytest.mark.parametrize(
    ("count", "executor", "chosen"),
    [(40, None, "direct"), (41, None, "adjoint"), (40, "cuda", "direct"), (41, "cuda", "adjoint")],
)
def test_many_parameters_take_the_adjoint(
    count: int, executor: Any, chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy())
    methods, sampler_for = list[str](), ensemble_runs.sampler_for

    def noted(solver: Any, task: Any, *others: Any) -> Any:
        methods.append(task.method)
        return sampler_for(solver, task, *others)

    for module in (ensemble_runs, gpu_runs):
        monkeypatch.setattr(module, "sampler_for", noted)
    runs = many(count).ensemble({"c0": [0.01, 0.02]}, executor=executor)
    assert methods == [chosen]
    assert gradients_of(runs).shape == (2, 1, count)


@needs_compiler
def test_functions_on_a_gpu_have_adjoint_derivatives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy())
    p = five_bars("equal steps")
    f, x = p.function(), np.stack(list(samples_of(p).values()), axis=1)
    there = p.function("adjoint", executor="cuda").jacobian(x)
    check_close(there, f.jacobian(x))


def test_methods_of_ensembles() -> None:
    p = five_bars("equal steps")
    wrong: Any = "composite"
    with pytest.raises(ModelError, match="no method is called 'composite'; known: 'adjoint', 'au"):
        p.ensemble({"Ls1": [0.5]}, method=wrong)
    m = five_bar.mechanism()
    with pytest.raises(ModelError, match="CVODES does not report"):
        m.ensemble(
            five_bar.objectives(),
            {"Ls1": [0.5]},
            wrt="all",
            duration=1.0,
            integrator="cvodes",
            method="adjoint",
        )
