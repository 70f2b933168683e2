"""Gradients of ensembles on GPUs, as far as they can be tested without one: the kernel is the same
text, built for the processor, so that its numbers have the bits of single runs.
"""

from __future__ import annotations

import csv
import ctypes
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_gpu import COMPILER, fake_cupy

import varimech as vm
from varimech.backends import batch
from varimech.backends.batch import Bundle
from varimech.backends.machine import driver_text
from varimech.backends.native import NativeProgram
from varimech.benchmarks import bouncing_ball, five_bar
from varimech.core.errors import ModelError, VarimechError
from varimech.solving import gpu_runs

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")
COUNT = 9
QUOTIENT = driver_text("quotient.cu")
QUIET: dict[str, Any] = {"progress": False, "threads": 1}
FOLLOWED: dict[str, dict[str, Any]] = {
    "equal steps": {"step": 0.05, "integrator": "dop853"},
    "stages like ends of steps": {
        "step": 0.02,
        "integrator": "rk4",
        "formulation": "index1-stabilised",
    },
}
"""Where warps follow another one (gradient_kernel.cu)."""
FIVE_BAR: dict[str, dict[str, Any]] = {
    **FOLLOWED,
    "chosen steps": {"tolerance": 1e-5},
    "given steps": {"ends": [0.0, 0.1, 0.25, 0.35, 0.5, 0.65, 0.8, 1.0], "integrator": "dop853"},
    "trapezoidal rule": {"step": 0.01, "formulation": "ali3p"},
    "independent coordinates": {"tolerance": 1e-5, "formulation": "independent"},
}


def samples_of(m: vm.Mechanism, names: list[str]) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    return {n: m.parameters[n].value * (1 + 0.01 * rng.uniform(-1, 1, COUNT)) for n in names}


def gpu(monkeypatch: pytest.MonkeyPatch, **options: Any) -> Any:
    """A simulated GPU; samples are never rerun, nor executed in vectors, whose sines have other
    bits.
    """
    module = fake_cupy(**options)
    monkeypatch.setitem(sys.modules, "cupy", module)
    monkeypatch.setattr(NativeProgram, "has_lanes", False)
    monkeypatch.setattr(gpu_runs, "rerun_failed", _not_rerun)
    return module


def noted_sources(module: Any) -> list[str]:
    """Texts of the kernels that a simulated GPU builds from now on."""
    sources, build = list[str](), module.RawModule

    def noted(code: str, **options: Any) -> Any:
        sources.append(code)
        return build(code=code, **options)

    module.RawModule = noted
    return sources


def _not_rerun(*arguments: Any) -> dict[int, VarimechError]:
    left = arguments[-1]
    assert not left, f"samples {left} failed on the GPU"
    return {}


def check_same(here: vm.Ensemble, there: vm.Ensemble) -> None:
    assert here.gradient_array is not None
    assert there.gradient_array is not None
    assert np.abs(here.gradient_array).max() > 0
    np.testing.assert_array_equal(there.value_array, here.value_array)
    np.testing.assert_array_equal(there.gradient_array, here.gradient_array)
    assert there.parameter_names == here.parameter_names
    assert not there.failures


@needs_compiler
@pytest.mark.parametrize("scheme", FIVE_BAR)
def test_gradients_have_the_bits_of_the_processor(
    scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = gpu(monkeypatch)
    m, names = five_bar.mechanism(), list(five_bar.PARAMETERS)
    p = m.problem(five_bar.objectives(), wrt=names, duration=1.0, **FIVE_BAR[scheme])
    samples, sources = samples_of(m, names), noted_sources(module)
    check_same(p.ensemble(samples), p.ensemble(samples, executor="cuda"))
    assert ["__syncthreads" in source for source in sources] == [scheme in FOLLOWED]


def braked(count: int) -> vm.Mechanism:
    """A pendulum with so many brakes, each with a parameter."""
    m = vm.Mechanism("braked", gravity=(0, -9.81))
    strengths = [m.parameter(f"c{k}", 0.1 + 0.01 * k, unit="N·m·s") for k in range(count)]
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=1.0, mass=3.0)
    m.revolute("O")
    m.torque(
        "brakes",
        "rod",
        lambda s: (
            -sum(c * s.angular_velocity("rod") ** (2 * k + 1) for k, c in enumerate(strengths))
        ),
    )
    m.start(angle={"rod": -1.0})
    return m


@needs_compiler
def test_more_columns_than_warps_of_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine columns are two groups of five, the last of which lacks one; 33 samples two blocks, the
    last of which has one sample. Every second state is stored.
    """
    module = gpu(monkeypatch)
    m = braked(9)
    names, sources = list(m.parameters), noted_sources(module)
    first = m.parameters[names[0]]
    objectives = {"work": vm.integral(lambda s: first * s.angular_velocity("rod") ** 2)}
    options: dict[str, Any] = {"duration": 0.3, "step": 0.05, "integrator": "rk4", "every": 2}
    p = m.problem(objectives, wrt=names, **options)
    rng = np.random.default_rng(6)
    samples = {n: m.parameters[n].value * (1 + 0.01 * rng.uniform(-1, 1, 33)) for n in names}
    direct = p.ensemble(samples, method="direct", executor="cuda")  # beyond 8, others are faster
    check_same(p.ensemble(samples), direct)
    assert "#define VM_FOLLOWERS 5\n" in sources[0]
    assert "#define VM_PARAMETERS 9\n" in sources[0]


@needs_compiler
def test_a_gpu_with_little_shared_memory_has_one_thread_a_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = gpu(monkeypatch, shared=1024)
    m, sources = pendulum(), noted_sources(module)
    p = m.problem(ANGLE, **SHORT)
    samples = samples_of(m, ["L"])
    check_same(p.ensemble(samples), p.ensemble(samples, executor="cuda"))
    assert "__syncthreads" not in sources[0]


@needs_compiler
def test_a_run_that_fails_does_not_disturb_its_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """A crank so long that the loop does not close is a failure, as on the processor."""
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy())
    monkeypatch.setattr(NativeProgram, "has_lanes", False)
    m, names = five_bar.mechanism(), list(five_bar.PARAMETERS)
    samples = samples_of(m, names)
    samples["L_A1"][4] *= 30
    options: dict[str, Any] = {"duration": 0.5, **FOLLOWED["equal steps"], **QUIET}
    here = m.ensemble(five_bar.objectives(), samples, wrt=names, **options)
    there = m.ensemble(five_bar.objectives(), samples, wrt=names, executor="cuda", **options)
    assert set(here.failures) == set(there.failures) == {4}
    assert here.gradient_array is not None
    assert np.isnan(here.gradient_array).all(axis=(1, 2)).tolist() == [k == 4 for k in range(COUNT)]
    np.testing.assert_array_equal(there.gradient_array, here.gradient_array)


@needs_compiler
def test_quotients_without_branches(tmp_path: Path) -> None:
    """Those of all numbers are within one unit in the last place; zero and infinite ones are exact."""
    entry = 'extern "C" double quotient(double a, double b) { return vm_fast_quotient(a, b); }'
    text, library = tmp_path / "quotient.cpp", tmp_path / "quotient.so"
    text.write_text("\n".join(["#include <math.h>", "#include <string.h>", QUOTIENT, entry]))
    flags = ["-O2", "-ffp-contract=off", "-fPIC", "-shared"]
    subprocess.run([str(COMPILER), *flags, text, "-o", library], check=True)
    quotient = ctypes.CDLL(str(library)).quotient
    quotient.argtypes, quotient.restype = 2 * [ctypes.c_double], ctypes.c_double
    rng = np.random.default_rng(7)
    pairs = rng.normal(size=(20_000, 2)) * 10.0 ** rng.integers(-120, 120, (20_000, 2))
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -2.0]
    for a, b in pairs:
        assert abs(quotient(a, b) - a / b) <= np.spacing(abs(a / b))
    with np.errstate(all="ignore"):
        for a in special:
            for b in special:
                np.testing.assert_equal(quotient(a, b), np.divide(a, b))


@needs_compiler
def test_gradients_are_derivatives_of_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """By differences of ensembles without derivatives, both on the GPU."""
    gpu(monkeypatch)
    m = five_bar.mechanism()
    options: dict[str, Any] = {"duration": 1.0, "step": 0.05, "integrator": "dop853"}
    ε, mean = 1e-5, m.parameters["Ls1"].value
    objective = {"psi1": five_bar.objectives()["psi1"]}
    near = m.ensemble(
        objective, {"Ls1": [mean - ε, mean + ε]}, executor="cuda", progress=False, **options
    )
    exact = m.ensemble(
        objective, {"Ls1": [mean]}, wrt=["Ls2", "Ls1"], executor="cuda", progress=False, **options
    )
    assert exact.gradient_array is not None
    difference = (near.value_array[1, 0] - near.value_array[0, 0]) / (2 * ε)
    assert exact.gradient_array[0, 0, 1] == pytest.approx(difference, rel=1e-7)


@needs_compiler
def test_gradients_across_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """Impacts, values at events and extrema; the first sample has the closed form."""
    gpu(monkeypatch)
    m = bouncing_ball.mechanism()
    rate = 'displacement_rate("guide")'
    objectives = {
        **bouncing_ball.objectives(),
        "second": vm.time_of("floor", occurrence=2),
        "fastest": vm.peak(rate),
    }
    p = m.problem(objectives, wrt=["h", "e"], duration=bouncing_ball.DURATION, tolerance=1e-9)
    samples = samples_of(m, ["h", "e"])
    for name, column in samples.items():
        column[0] = m.parameters[name].value
    there = p.ensemble(samples, executor="cuda")
    check_same(p.ensemble(samples), there)
    assert there.gradient_array is not None
    height, derivatives = bouncing_ball.flight(bouncing_ball.DURATION)
    assert there.value_array[0, 0] == pytest.approx(height, abs=1e-8)
    expected = [derivatives["h"], derivatives["e"]]
    np.testing.assert_allclose(there.gradient_array[0, 0], expected, rtol=1e-7)


@needs_compiler
def test_gradients_of_a_run_that_an_event_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fall over h takes √(2h/g); steps are equal, and the last one is shortened."""
    gpu(monkeypatch)
    m = vm.Mechanism("falling", gravity=(0, -bouncing_ball.G))
    h = m.parameter("h", 0.9, unit="m")
    m.ground_point("O", (0, 0))
    m.body("ball", mass=1.0, inertia=0.004, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "ball.P", axis=(0, 1))
    m.event("floor", 'displacement("guide")', do="stop")
    m.start(displacement={"guide": h})
    objectives = {"speed": vm.final('displacement_rate("guide")', unit="m/s")}
    p = m.problem(objectives, wrt=["h"], duration=1.0, step=0.02, integrator="rk4")
    samples = samples_of(m, ["h"])
    there = p.ensemble(samples, executor="cuda")
    check_same(p.ensemble(samples), there)
    assert there.gradient_array is not None
    expected = -np.sqrt(bouncing_ball.G / (2 * samples["h"]))
    np.testing.assert_allclose(there.gradient_array[:, 0, 0], expected, rtol=1e-9)


def pendulum() -> vm.Mechanism:
    m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    L = m.parameter("L", 1.0, unit="m", bounds=(0.5, None))
    c = m.parameter("c", 0.1, unit="N·m·s")
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=L, mass=2.9 + c)
    m.revolute("O")
    m.torque("brake", "rod", lambda s: -c * s.angular_velocity("rod"))
    m.start(angle={"rod": -1.0})
    return m


ANGLE = {"angle": vm.final(lambda s: s.angle("rod"), unit="rad")}
SHORT: dict[str, Any] = {"duration": 0.5, "step": 0.05, "integrator": "rk4", "wrt": ["L", "c"]}


@needs_compiler
def test_samples_that_fail_are_rerun_on_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one comes to no end on the GPU, the third one has derivatives that are not finite
    there; the last one has no mass, which is an error anywhere.
    """
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy())
    launch = batch.Gpu.launch

    def failing(self: batch.Gpu, values: Any) -> dict[str, Any]:
        outcomes = launch(self, values)
        outcomes["status"][1], outcomes["gradients"][2, -1, 0, 1] = 2, np.nan
        return outcomes

    monkeypatch.setattr(batch.Gpu, "launch", failing)
    samples = {"L": [1.0, 0.9, 1.1, 1.0], "c": [0.1, 0.1, 0.1, -2.95]}
    runs = pendulum().ensemble(ANGLE, samples, executor="cuda", **QUIET, **SHORT)
    alone = pendulum().ensemble(ANGLE, samples, **QUIET, **SHORT)
    assert set(runs.failures) == set(alone.failures) == {3}
    assert str(runs.failures[3]) == str(alone.failures[3])
    assert runs.gradient_array is not None
    assert alone.gradient_array is not None
    np.testing.assert_allclose(runs.gradient_array[:3], alone.gradient_array[:3], rtol=1e-12)
    assert np.isnan(runs.gradient_array[3]).all()


@needs_compiler
def test_a_gpu_whose_samples_all_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy())
    runs = pendulum().ensemble(ANGLE, {"c": [-3.0, -2.95]}, executor="cuda", **QUIET, **SHORT)
    assert set(runs.failures) == {0, 1}


class Short(MemoryError):
    """As cupy raises it."""


@needs_compiler
@pytest.mark.parametrize(
    "error", [Short("Out of memory allocating 8 bytes"), RuntimeError("CUDA_ERROR_OUT_OF_MEMORY")]
)
def test_a_gpu_that_runs_out_of_memory_takes_half(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = gpu(monkeypatch)
    zeros, launched = module.zeros, list[int]()

    def limited(shape: Any, dtype: Any = float) -> Any:
        if isinstance(shape, int):  # the statuses: one a run
            launched.append(shape)
            if shape > 5:
                raise error
        return zeros(shape, dtype)

    module.zeros = limited
    m = pendulum()
    samples = samples_of(m, ["L"])
    there = m.ensemble(ANGLE, samples, executor="cuda", **QUIET, **SHORT)
    assert launched == [9, 4, 4, 1]
    check_same(m.ensemble(ANGLE, samples, **QUIET, **SHORT), there)


@needs_compiler
def test_a_gpu_without_memory_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    module = gpu(monkeypatch)

    def none(shape: Any, dtype: Any = float) -> Any:
        raise Short("Out of memory allocating 8 bytes")

    module.zeros = none
    m = pendulum()
    expected = "not enough memory for 4 runs at once.*; end other programs on the GPU, or leave"
    with pytest.raises(VarimechError, match=expected):
        m.ensemble(ANGLE, samples_of(m, ["L"]), executor="cuda", **QUIET, **SHORT)


@needs_compiler
def test_another_error_of_a_gpu_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    module = gpu(monkeypatch)

    def broken(shape: Any, dtype: Any = float) -> Any:
        raise RuntimeError("an illegal memory access was encountered")

    module.zeros = broken
    m = pendulum()
    with pytest.raises(RuntimeError, match="illegal memory access"):
        m.ensemble(ANGLE, samples_of(m, ["L"]), executor="cuda", **QUIET, **SHORT)


@needs_compiler
def test_memory_of_derivatives_limits_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Local arrays of 1024 threads are reserved, once; what remains is for values and results."""
    from fake_gpu import Kernel

    module = gpu(monkeypatch, memory=1524)
    monkeypatch.setattr(Kernel, "local_size_bytes", 1)
    zeros, launched = module.zeros, list[int]()

    def noted(shape: Any, dtype: Any = float) -> Any:
        launched.extend([shape] if isinstance(shape, int) else [])
        return zeros(shape, dtype)

    module.zeros = noted
    m = pendulum()
    m.ensemble(ANGLE, samples_of(m, ["L"]), executor="cuda", **QUIET, **SHORT)
    # a run: 2 parameters; 2 rows of a value and 2 derivatives; 3 residuals, a status: 96 bytes
    assert launched == [4, 4, 1]
    assert int(0.8 * (1524 - 1024)) // 96 == 4


def test_executors_of_ensembles(monkeypatch: pytest.MonkeyPatch) -> None:
    m, samples = pendulum(), {"L": [1.0]}
    wrong: Any = "gpu"
    with pytest.raises(ModelError, match="ensemble: executor = 'gpu' must be 'cuda', or omitted"):
        m.ensemble(ANGLE, samples, executor=wrong, **SHORT)
    with pytest.raises(ModelError, match="asks for a GPU; leave one of them out"):
        m.ensemble(ANGLE, samples, executor="cuda", backend="interpreted", **SHORT)
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(ModelError, match="needs cupy, which is not installed; pip install"):
        m.ensemble(ANGLE, samples, executor="cuda", **SHORT)


def test_a_driver_that_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = fake_cupy()

    def count() -> int:
        raise RuntimeError(
            "cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime"
        )

    module.cuda.runtime.getDeviceCount = count
    monkeypatch.setitem(sys.modules, "cupy", module)
    with pytest.raises(ModelError, match=r"driver is too old .*; update the driver"):
        pendulum().ensemble(ANGLE, {"L": [1.0]}, executor="cuda", **SHORT)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[vm.Problem, Path]:
    """A problem with derivatives, as bundles for both targets."""
    objectives = {**ANGLE, "work": vm.integral(lambda s: s.angular_velocity("rod") ** 2)}
    p, folder = pendulum().problem(objectives, **SHORT), tmp_path_factory.mktemp("bundles")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NativeProgram, "has_lanes", False)
        for target in ("c", "cuda"):
            p.export(folder / target, target=target)
    return p, folder


@needs_compiler
def test_a_bundle_for_gpus_has_derivatives(
    exported: tuple[vm.Problem, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu(monkeypatch)
    p, folder = exported
    bundle = Bundle(folder / "cuda")
    assert bundle.check() == 0
    results = bundle.run({"L": [1.0, 0.4]})  # the second is out of bounds
    assert list(results) == ["angle", "work", "dangle/dL", "dangle/dc", "dwork/dL", "dwork/dc"]
    exact = p.ensemble({"L": [1.0]}).gradient_array
    assert exact is not None
    assert results["dwork/dc"][0, -1] == exact[0, 1, 1]
    assert np.isnan(results["dwork/dc"][1]).all()


def test_a_bundle_in_c_writes_derivatives(
    exported: tuple[vm.Problem, Path], tmp_path: Path
) -> None:
    p, folder = exported
    (tmp_path / "samples.csv").write_text("L\n1.01\n", encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-I", folder / "c/run.py", "samples.csv", "results.csv"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    with (tmp_path / "results.csv").open(newline="", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    exact = p.ensemble({"L": [1.01]}).gradient_array
    assert exact is not None
    computed = [[float(row[f"d{o}/d{x}"]) for x in ("L", "c")] for o in ("angle", "work")]
    np.testing.assert_allclose(computed, exact[0], rtol=1e-12)
