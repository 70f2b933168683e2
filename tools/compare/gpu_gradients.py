"""Measures gradients of ensembles on a GPU: three objectives of the five-bar with respect to five
parameters. Needs a GPU, varimech and cupy.

    python tools/compare/gpu_gradients.py gpu_gradients.json

Kernels are timed alone, with parameter values that are on the GPU already, the fastest of three;
whole calls of `ensemble` with the results as an `Ensemble` on the host. Every kernel is compared with
the processor on 10,000 samples. The file is written after each method, so that an interruption loses
only the current one.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

import varimech as vm
from varimech.backends.batch import Gpu
from varimech.backends.cuda import check_gpu, gpu_for
from varimech.backends.sampler import Sampler
from varimech.benchmarks import five_bar
from varimech.schemes import choose
from varimech.solving.ensemble_runs import sampler_for
from varimech.solving.task import Task

DURATION, NAMES = five_bar.DURATION, list(five_bar.PARAMETERS)
HALF_WIDTH = 0.01
COMPARED, CALLED = 10_000, 1 << 20
REPETITIONS = 3
METHODS: tuple[tuple[str, dict[str, Any], int], ...] = (
    (
        "index 1, Dormand–Prince 8, 30 equal steps",
        {"step": DURATION / 30, "integrator": "dop853"},
        1 << 20,
    ),
    (
        "index 1, Dormand–Prince 5, 100 equal steps",
        {"step": DURATION / 100, "integrator": "dopri5"},
        1 << 19,
    ),
    ("index 1, RK4, 205 equal steps", {"step": DURATION / 205, "integrator": "rk4"}, 1 << 19),
    ("index 1, Dormand–Prince 8, tolerance 1e-3", {"tolerance": 1e-3}, 1 << 19),
    ("ALI3-P, trapezoidal rule, steps of 5 ms", {"step": 5e-3}, 1 << 17),
)
"""Method, settings, samples."""


def rows_of(m: vm.Mechanism, count: int) -> np.ndarray:
    """Values of all parameters within 1 % of the nominal ones."""
    nominal = m.data.parameter_set.nominal
    shares = np.random.default_rng(8).uniform(-1, 1, (count, nominal.size))
    return np.asarray(nominal * (1 + HALF_WIDTH * shares))


def sampler_of(m: vm.Mechanism, setting: dict[str, Any]) -> Sampler:
    method, schedule = choose(DURATION, **setting)
    indices = m.data.parameter_set.indices(NAMES)
    task = Task(schedule.last_only(), five_bar.objectives(), indices, "auto", False)
    sampler = sampler_for(m._solvers.of(method), task, COMPARED)
    assert sampler is not None
    return sampler


def compared(sampler: Sampler, gpu: Gpu, rows: np.ndarray) -> dict[str, Any]:
    """Largest differences of values and derivatives, over the largest of each among the samples."""
    here, there = sampler(rows), sampler.by(gpu, rows)
    good = here.done & there.done
    assert here.gradients is not None
    assert there.gradients is not None

    def difference(a: np.ndarray, b: np.ndarray) -> float:
        a, b = a[good, -1], b[good, -1]
        return float((np.abs(a - b).max(axis=0) / np.abs(a).max(axis=0)).max())

    return {
        "samples_compared": int(good.sum()),
        "failed_on_cpu": int((~here.done).sum()),
        "failed_on_gpu": int((~there.done).sum()),
        "largest_relative_difference_of_values": difference(here.values, there.values),
        "largest_relative_difference_of_gradients": difference(here.gradients, there.gradients),
    }


def kernel(m: vm.Mechanism, method: str, setting: dict[str, Any], count: int) -> dict[str, Any]:
    """Times one kernel, and compares it with the processor."""
    import cupy

    sampler = sampler_of(m, setting)
    built: list[Gpu] = []
    rows = rows_of(m, max(count, COMPARED))
    compiling = timed(lambda: built.append(gpu_for(sampler)))
    gpu, most = built[0], min(count, built[0].most)
    values = cupy.asarray(rows[:most])

    def launch() -> None:
        gpu.launch(values)
        cupy.cuda.runtime.deviceSynchronize()

    first = timed(launch)
    seconds = min(timed(launch) for _ in range(REPETITIONS))
    return {
        "method": method,
        "samples": most,
        "nvrtc_seconds": compiling,
        "first_launch_seconds": first,
        "seconds": seconds,
        "gradients_per_second": most / seconds,
        "local_memory_bytes_per_thread": int(gpu._kernel.local_size_bytes),
        "registers": int(gpu._kernel.num_regs),
        **compared(sampler, gpu, rows[:COMPARED]),
    }


def whole_call(m: vm.Mechanism, method: str, setting: dict[str, Any]) -> dict[str, Any]:
    """Times `ensemble` with its results on the host, once compiled (cupy keeps kernels)."""
    rows = rows_of(m, CALLED)
    columns = dict(zip(m.parameters, rows.T, strict=False))
    p = m.problem(five_bar.objectives(), wrt=NAMES, duration=DURATION, progress=False, **setting)
    p.ensemble({name: column[:1024] for name, column in columns.items()}, executor="cuda")
    results: list[vm.Ensemble] = []
    seconds = timed(lambda: results.append(p.ensemble(columns, executor="cuda")))
    return {
        "method": method,
        "samples": CALLED,
        "seconds": seconds,
        "gradients_per_second": CALLED / seconds,
        "failed": len(results[0].failures),
        "seconds_of_parts": results[0].seconds,
    }


def timed(what: Callable[[], object]) -> float:
    began = time.perf_counter()
    what()
    return time.perf_counter() - began


def main(path: Path) -> None:
    check_gpu()
    import cupy

    properties = cupy.cuda.runtime.getDeviceProperties(0)
    report: dict[str, Any] = {
        "device": properties["name"].decode(),
        "date": date.today().isoformat(),
        "objectives": list(five_bar.OBJECTIVES),
        "parameters": NAMES,
        "kernels": [],
        "calls": [],
    }

    def add(kind: str, row: dict[str, Any]) -> None:
        report[kind].append(row)
        print(json.dumps(row, ensure_ascii=False), flush=True)
        path.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    m = five_bar.mechanism()
    for number, (method, setting, count) in enumerate(METHODS):
        add("kernels", kernel(m, method, setting, count))
        if number == 0:
            add("calls", whole_call(m, method, setting))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("gpu_gradients.json"))
