"""Measures adjoint gradients and Hessian-vector products of ensembles on a GPU, and compares them with
the processor on 10,000 five-bars. Needs a GPU, varimech and cupy.

    python tools/compare/gpu_adjoints.py gpu_adjoints.json

Kernels are timed alone, with values that are on the GPU already, the fastest of three; whole calls
with results on the host. The file is written after each row, so that an interruption loses only the
current one.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from gpu_gradients import DURATION, NAMES
from gpu_timing import COMPARED, Results, difference, launches, rows_of, timed

import varimech as vm
from varimech.backends.batch import Gpu
from varimech.backends.cuda import SweepingGpu, gpu_for
from varimech.backends.sampler import Sampler
from varimech.backends.sweeps import SweepBatch
from varimech.benchmarks import five_bar
from varimech.schemes import choose
from varimech.sensitivity.objective import Objective
from varimech.solving.ensemble_runs import sampler_for
from varimech.solving.second_order_samples import product_sampler
from varimech.solving.task import Task

DOP853: dict[str, Any] = {"step": DURATION / 30, "integrator": "dop853"}
SCHEMES: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("index 1, Dormand–Prince 8, 30 equal steps", DOP853, 1 << 17),
    ("index 1, Dormand–Prince 8, tolerance 1e-3", {"tolerance": 1e-3}, 1 << 17),
    ("ALI3-P, trapezoidal rule, steps of 5 ms", {"step": 5e-3}, 1 << 15),
)
"""Method, settings, samples."""
SECTION = 6
"""Steps of a section in the row that shows what executing a run twice costs."""
PARAMETERS = (4, 16, 40, 64, 120)
"""Of a pendulum with two bars, where the direct and the adjoint method are compared."""
PRODUCTS = ("direct", "adjoint")
"""Methods of first derivatives of runs that carry their derivative in a direction."""


def task_of(
    setting: dict[str, Any], objectives: dict[str, Objective], indices: list[int], method: str
) -> Task:
    schedule = choose(DURATION, **setting)[1]
    return Task(schedule.last_only(), objectives, indices, "auto", False, method)


def sampler_of(
    m: vm.Mechanism,
    setting: dict[str, Any],
    objectives: dict[str, Objective],
    method: str,
    wrt: Any,
) -> Sampler:
    solver = m._solvers.of(choose(DURATION, **setting)[0])
    indices = m.data.parameter_set.indices(wrt)
    sampler = sampler_for(solver, task_of(setting, objectives, indices, method), COMPARED)
    assert sampler is not None
    return sampler


def kernel(sampler: Sampler, rows: np.ndarray, section: int | None = None) -> dict[str, Any]:
    """Times a kernel."""
    built: list[Gpu] = []
    compiling = timed(lambda: built.append(gpu_for(sampler)))
    gpu, row = built[0], dict[str, Any]()
    if isinstance(gpu, SweepingGpu) and isinstance(gpu.batch, SweepBatch):
        gpu.fit(len(rows))
        gpu.batch.section = min(section or gpu.batch.section, gpu.batch.section)
        row = {"steps_of_a_section": gpu.batch.section, "bytes_per_run": gpu.batch.run_size}
    return {"nvrtc_seconds": compiling, **launches(gpu, rows, "per_second"), **row}


def compared(here: np.ndarray, there: np.ndarray) -> dict[str, Any]:
    """The largest difference of derivatives, and of how many samples."""
    good = np.isfinite(here).all(axis=(1, 2)) & np.isfinite(there).all(axis=(1, 2))
    return {
        "samples_compared": int(good.sum()),
        "largest_relative_difference": difference(here[good], there[good]),
    }


def adjoint(m: vm.Mechanism, setting: dict[str, Any], count: int, section: int | None) -> Any:
    """Gradients of three objectives with respect to five parameters."""
    sampler = sampler_of(m, setting, five_bar.objectives(), "adjoint", NAMES)
    rows = rows_of(m, max(count, COMPARED))
    timing = kernel(sampler, rows[:count], section)
    here, there = sampler(rows[:COMPARED]), sampler.by(gpu_for(sampler), rows[:COMPARED])
    assert here.gradients is not None
    assert there.gradients is not None
    return {**timing, **compared(here.gradients[:, -1], there.gradients[:, -1])}


def products(m: vm.Mechanism, setting: dict[str, Any], count: int, method: str) -> Any:
    """Hessian-vector products of three objectives with respect to five parameters."""
    solver = m._solvers.of(choose(DURATION, **setting)[0])
    indices = m.data.parameter_set.indices(NAMES)
    task = task_of(setting, five_bar.objectives(), indices, method)
    sampler = product_sampler(solver, task, COMPARED)
    assert sampler is not None
    rows = rows_of(m, max(count, COMPARED))
    directions = np.random.default_rng(9).normal(size=rows.shape) * rows[0]
    gpus: dict[Sampler, Gpu] = {}

    def on_gpu(runs: Sampler, values: np.ndarray) -> Any:
        if runs not in gpus:
            gpus[runs] = gpu_for(runs)
        return runs.by(gpus[runs], values)

    there, _ = sampler(rows[:COMPARED], directions[:COMPARED], on_gpu)  # kernels are built
    here, _ = sampler(rows[:COMPARED], directions[:COMPARED], lambda runs, values: runs(values))
    seconds = timed(lambda: sampler(rows[:count], directions[:count], on_gpu))
    found: dict[str, Any] = {
        "samples": count,
        "call_seconds": seconds,
        "calls_per_second": count / seconds,
    }
    if sampler.steps is None:
        found["kernel"] = kernel(sampler.along, np.hstack([rows, directions])[:count])
    return {**found, **compared(here, there)}


def pendulum(parameters: int) -> vm.Mechanism:
    """Two bars with brakes in proportion to the angular velocity, each the sum of many."""
    m = vm.Mechanism("two bars", gravity=(0, -9.81))
    m.ground_point("P", (0, 0))
    for bar, (first, second) in {"a": ("P", "Q"), "b": ("Q", "R")}.items():
        brakes = [m.parameter(f"{bar}{k}", 1e-3 * (1 + k)) for k in range(parameters // 2)]
        m.bar(bar, first, second, length=1.0, mass=1.0)
        m.revolute(first)

        def brake(s: Any, bar: str = bar, brakes: list[Any] = brakes) -> Any:
            return -sum(brakes) / len(brakes) * s.angular_velocity(bar)

        m.torque(f"brake {bar}", bar, brake)
    m.start(angle={"a": -1.0, "b": -1.2})
    return m


def both_methods(parameters: int, count: int) -> Any:
    """The gradient of one objective with respect to many parameters, direct and adjoint."""
    m = pendulum(parameters)
    objectives = {"psi": vm.integral(lambda s: s.angle("b") ** 2)}
    rows = rows_of(m, count)
    setting = {"step": DURATION / 100, "integrator": "dop853"}
    by = {
        method: kernel(sampler_of(m, setting, objectives, method, list(m.parameters)), rows)
        for method in ("direct", "adjoint")
    }
    return {"parameters": parameters, **by}


def main(path: Path) -> None:
    results = Results(path, objectives=list(five_bar.OBJECTIVES), parameters=NAMES)
    m = five_bar.mechanism()
    for scheme, setting, count in SCHEMES:
        results.add("adjoint", {"method": scheme, **adjoint(m, setting, count, None)})
        for method in PRODUCTS:
            row = products(m, setting, count, method)
            results.add("products", {"method": scheme, "over": method, **row})
    scheme, setting, count = SCHEMES[0]
    results.add(
        "adjoint", {"method": f"{scheme}, in sections", **adjoint(m, setting, count, SECTION)}
    )
    for parameters in PARAMETERS:
        results.add("many parameters", both_methods(parameters, 1 << 15))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("gpu_adjoints.json"))
