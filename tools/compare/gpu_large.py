"""Measures ensembles of large models on a GPU, whose functions are plans: chains of bars. Needs a GPU,
varimech and cupy.

    python tools/compare/gpu_large.py gpu_large.json

Kernels are timed alone, with parameter values that are on the GPU already, the fastest of three; the
processor as whole calls of `ensemble` on all cores, once compiled. Every kernel is compared with the
processor on 10,000 samples. The file is written after each model, so that an interruption loses only
the current one.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from gpu_timing import COMPARED, Results, difference, launches, rows_of, timed

import varimech as vm
from varimech.backends.batch import Gpu
from varimech.backends.cuda import gpu_for
from varimech.backends.sampler import Sampler, Samples
from varimech.schemes import choose
from varimech.solving.ensemble_runs import run_many, sampler_for
from varimech.solving.task import Task

DURATION = 0.2
NATURAL = {"coordinates": "natural"}
MODELS: tuple[tuple[str, int, dict[str, Any], list[str] | None, int], ...] = (
    ("20 bars, recursive, Dormand–Prince 5, 20 equal steps", 20,
     {"step": DURATION / 20, "integrator": "dopri5"}, None, 1 << 18),
    ("20 bars, natural coordinates, tolerance 1e-5", 20, {"tolerance": 1e-5, **NATURAL}, None, 1 << 16),
    ("20 bars, natural coordinates, ALI3-P, steps of 5 ms", 20,
     {"step": 5e-3, "formulation": "ali3p"}, None, 1 << 16),
    ("50 bars, natural coordinates, Dormand–Prince 5, 100 equal steps", 50,
     {"step": DURATION / 100, "integrator": "dopri5", **NATURAL}, None, 1 << 16),
    ("20 bars, recursive, 20 equal steps, gradients", 20,
     {"step": DURATION / 20, "integrator": "dopri5"}, ["L", "M", "c"], 1 << 17),
    ("20 bars, natural coordinates, 20 equal steps, gradients", 20,
     {"step": DURATION / 20, "integrator": "dopri5", **NATURAL}, ["L", "M", "c"], 1 << 15),
)  # fmt: skip
"""What is run, bars, settings, parameters of the gradient, samples."""


def chain(bars: int) -> vm.Mechanism:
    """Bars of 1 m in all, hinged to each other with some friction, the first to the ground."""
    m = vm.Mechanism("chain", gravity=(0, -9.81))
    L = m.parameter("L", 1 / bars, unit="m")
    M = m.parameter("M", 0.02, unit="kg")
    c = m.parameter("c", 1e-4, unit="N·m·s")
    m.ground_point("P0", (0, 0))
    for k in range(bars):
        m.bar(f"b{k}", f"P{k}", f"P{k + 1}", length=L, mass=M)
        m.revolute(f"P{k}")
        if k:
            m.torsional_damper(f"d{k}", f"P{k}", damping=c)
    m.start(angle={f"b{k}": -0.05 * k for k in range(bars)})
    return m


def objectives(bars: int) -> dict[str, vm.Objective]:
    tip = f"P{bars}"
    return {
        "height": vm.final(lambda s: s.position(tip)[1], unit="m"),
        "area": vm.integral(lambda s: s.position(tip)[0] ** 2, unit="m²·s"),
    }


def measured(
    what: str, bars: int, setting: dict[str, Any], wrt: list[str] | None, count: int
) -> dict[str, Any]:
    """Times one kernel, and compares it with the processor."""
    m = chain(bars)
    method, schedule = choose(DURATION, **setting)
    indices = None if wrt is None else m.data.parameter_set.indices(wrt)
    task = Task(schedule.last_only(), objectives(bars), indices, "auto", False)
    solver = m._solvers.of(method)
    sampler = sampler_for(solver, task, COMPARED)
    assert sampler is not None
    rows = rows_of(m, max(count, COMPARED))
    built: list[Gpu] = []
    compiling = timed(lambda: built.append(gpu_for(sampler)))
    timing = launches(built[0], rows[:count], "runs_per_second")
    threads = os.cpu_count() or 1
    run_many(solver, task, rows[:64], threads)
    here, _, elapsed = run_many(solver, task, rows[:COMPARED], threads)
    return {
        "model": what,
        "nvrtc_seconds": compiling,
        **timing,
        "cpu_threads": threads,
        "cpu_runs_per_second": COMPARED / elapsed,
        **compared(here, sampler, built[0], rows[:COMPARED]),
    }


def compared(here: Samples, sampler: Sampler, gpu: Gpu, rows: np.ndarray) -> dict[str, Any]:
    """Largest differences of values and derivatives, over the largest of each among the samples."""
    there = sampler.by(gpu, rows)
    good = here.done & there.done
    report = {
        "samples_compared": int(good.sum()),
        "failed_on_gpu": int((~there.done).sum()),
        "largest_relative_difference_of_values": difference(
            here.values[good, -1], there.values[good, -1]
        ),
    }
    if here.gradients is not None and there.gradients is not None:
        largest = difference(here.gradients[good, -1], there.gradients[good, -1])
        report["largest_relative_difference_of_gradients"] = largest
    return report


def main(path: Path) -> None:
    results = Results(path)
    for model in MODELS:
        results.add("models", measured(*model))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("gpu_large.json"))
