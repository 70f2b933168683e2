"""Measures gradients of ensembles on a GPU: three objectives of the five-bar with respect to five
parameters. Needs a GPU, varimech and cupy.

    python tools/compare/gpu_gradients.py gpu_gradients.json

Kernels are timed alone, with parameter values that are on the GPU already, the fastest of three;
whole calls of `ensemble` with the results as an `Ensemble` on the host. Every kernel is compared with
the processor on 10,000 samples. The file is written after each method, so that an interruption loses
only the current one.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from gpu_timing import COMPARED, Results, difference, launches, rows_of, timed

import varimech as vm
from varimech.backends.batch import Gpu
from varimech.backends.cuda import gpu_for
from varimech.backends.sampler import Sampler
from varimech.benchmarks import five_bar
from varimech.schemes import choose
from varimech.solving.ensemble_runs import sampler_for
from varimech.solving.task import Task

DURATION, NAMES = five_bar.DURATION, list(five_bar.PARAMETERS)
CALLED = 1 << 20
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
    return {
        "samples_compared": int(good.sum()),
        "failed_on_cpu": int((~here.done).sum()),
        "failed_on_gpu": int((~there.done).sum()),
        "largest_relative_difference_of_values": difference(
            here.values[good, -1], there.values[good, -1]
        ),
        "largest_relative_difference_of_gradients": difference(
            here.gradients[good, -1], there.gradients[good, -1]
        ),
    }


def kernel(m: vm.Mechanism, method: str, setting: dict[str, Any], count: int) -> dict[str, Any]:
    """Times one kernel, and compares it with the processor."""
    sampler = sampler_of(m, setting)
    built: list[Gpu] = []
    rows = rows_of(m, max(count, COMPARED))
    compiling = timed(lambda: built.append(gpu_for(sampler)))
    return {
        "method": method,
        "nvrtc_seconds": compiling,
        **launches(built[0], rows[:count], "gradients_per_second"),
        **compared(sampler, built[0], rows[:COMPARED]),
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


def main(path: Path) -> None:
    results = Results(path, objectives=list(five_bar.OBJECTIVES), parameters=NAMES)
    m = five_bar.mechanism()
    for number, (method, setting, count) in enumerate(METHODS):
        results.add("kernels", kernel(m, method, setting, count))
        if number == 0:
            results.add("calls", whole_call(m, method, setting))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("gpu_gradients.json"))
