"""Large models on GPUs, whose functions are plans, as far as they can be tested without one: the
kernel is the same text, built for the processor.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from fake_gpu import COMPILER, fake_cupy
from long_chain import BARS, chain, objectives

import varimech as vm
from varimech.backends.cuda_plans import thread_size
from varimech.backends.native import NativeProgram
from varimech.core.errors import ModelError, VarimechError
from varimech.schemes import choose
from varimech.solving import gpu_runs, programs
from varimech.solving.ensemble_runs import sampler_for
from varimech.solving.task import Task

pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")
COUNT = 4
SCHEMES: dict[str, dict[str, Any]] = {
    "trapezoidal rule": {"step": 0.02, "formulation": "ali3p"},
    "chosen steps": {"tolerance": 1e-6, "coordinates": "natural"},
    "recursive": {"step": 0.01, "integrator": "dopri5", "coordinates": "rtdyn0"},
}
"""A chain has 54 unknowns and multipliers in natural coordinates; recursion needs no more."""


def samples_of(m: vm.Mechanism) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    return {n: p.value * (1 + 0.01 * rng.uniform(-1, 1, COUNT)) for n, p in m.parameters.items()}


def gpu(monkeypatch: pytest.MonkeyPatch, **options: Any) -> None:
    """A simulated GPU; samples are never rerun, nor executed in vectors."""

    def not_rerun(*arguments: Any) -> dict[int, VarimechError]:
        left = arguments[-1]
        assert not left, f"samples {left} failed on the GPU"
        return {}

    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(**options))
    monkeypatch.setattr(NativeProgram, "has_lanes", False)
    monkeypatch.setattr(gpu_runs, "rerun_failed", not_rerun)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_large_models_give_the_same_numbers(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values and derivatives with respect to three parameters, whose rows are filled up to four."""
    gpu(monkeypatch)
    m = chain()
    options: dict[str, Any] = {"duration": 0.1, "progress": False, **SCHEMES[scheme]}
    p, samples = m.problem(objectives(), wrt=["L", "M", "c"], **options), samples_of(m)
    here, there = p.ensemble(samples), p.ensemble(samples, executor="cuda")
    assert here.gradient_array is not None
    assert there.gradient_array is not None
    np.testing.assert_allclose(there.value_array, here.value_array, rtol=1e-12)
    scales = np.abs(here.gradient_array).max(axis=0)
    assert (scales > 0).all()
    assert (np.abs(there.gradient_array - here.gradient_array) / scales).max() < 1e-10


def test_values_are_those_of_single_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu(monkeypatch)
    m, samples = chain(), samples_of(chain())
    options: dict[str, Any] = {"tolerance": 1e-8, "coordinates": "natural", "progress": False}
    there = m.ensemble(objectives(), samples, duration=0.1, executor="cuda", **options)
    for k in range(2):
        values = {name: float(column[k]) for name, column in samples.items()}
        run = m.simulate(0.1, parameters=values, **options)
        height = run.position(f"P{BARS}")[-1, 1].item()
        assert there.value_array[k, 0] == pytest.approx(height, rel=1e-10)


def test_gradients_are_derivatives_of_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """By differences of ensembles without derivatives, both on the GPU."""
    gpu(monkeypatch)
    m, ε = chain(), 1e-6
    L = m.parameters["L"].value
    options: dict[str, Any] = {"duration": 0.1, "progress": False, **SCHEMES["trapezoidal rule"]}
    near = m.ensemble(objectives(), {"L": [L - ε, L + ε]}, executor="cuda", **options)
    exact = m.ensemble(
        objectives(), {"L": [L]}, wrt=["c", "L"], executor="cuda", **options
    ).gradient_array
    assert exact is not None
    differences = (near.value_array[1] - near.value_array[0]) / (2 * ε)
    np.testing.assert_allclose(exact[0, :, 1], differences, rtol=1e-6)


def test_events_of_assembled_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain that hits a stop; its functions are assembled however small it is."""
    gpu(monkeypatch)
    monkeypatch.setattr(programs, "EVENTFUL", 0)
    m = chain(3)
    e = m.parameter("e", 0.5)
    m.stop("stop", lambda s: s.position("b2.P3")[1], lower=-0.12, restitution=e)
    p = m.problem(objectives(3), wrt=["L", "M", "e"], duration=0.3, tolerance=1e-6, progress=False)
    samples = samples_of(m)
    here, there = p.ensemble(samples), p.ensemble(samples, executor="cuda")
    assert here.gradient_array is not None
    assert there.gradient_array is not None
    assert np.abs(here.gradient_array[:, 1, 2]).min() > 1e-3  # it has hit the stop
    np.testing.assert_allclose(there.value_array, here.value_array, rtol=1e-12)
    np.testing.assert_allclose(there.gradient_array, here.gradient_array, rtol=1e-10, atol=1e-13)


def test_a_study_of_a_large_model(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu(monkeypatch)
    studies = [
        chain().monte_carlo(
            objectives(), duration=0.05, samples=50, executor=executor, **SCHEMES["recursive"]
        )
        for executor in (1, "cuda")
    ]
    here, there = (study.dataset.isel(time=-1) for study in studies)
    for name in ("mean", "std"):
        assert float(np.abs(here[name]).min()) > 0
        np.testing.assert_allclose(there[name], here[name], rtol=1e-10)


def test_a_thread_has_only_so_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu(monkeypatch)
    bars = 100
    p = chain(bars).problem(
        objectives(bars), wrt=["L", "M", "c"], duration=0.01, step=0.01, integrator="dop853",
        coordinates="natural", progress=False,
    )  # fmt: skip
    with pytest.raises(ModelError, match=r"needs \d+ bytes, .* has 512000; .* fewer parameters"):
        p.ensemble({"L": [0.01, 0.0101]}, executor="cuda")


def test_the_size_of_a_thread_is_that_of_its_arrays() -> None:
    """Of a trapezoidal rule, by hand."""
    m = chain()
    method, schedule = choose(0.1, step=0.02, formulation="ali3p")
    task = Task(schedule.last_only(), objectives(), None, "auto", False)
    sampler = sampler_for(m._solvers.of(method), task, COUNT)
    assert sampler is not None
    sizes = sampler.native.generated_sizes
    states, unknowns = 3 * 2 * BARS + BARS, 2 * BARS
    assert sizes["states"] == states
    expected = (2 + 6) * states + 2 * 2 + 2 * 2 * unknowns + sizes["penalties"]
    assert thread_size(sizes) == 8 * (expected + sizes["workspace"] + sizes["reals"])
