"""Measures ensembles on a GPU and writes gpu_h200.json, which `compare.py ensembles` sets into its
page. Needs a GPU, varimech and cupy.

    python tools/compare/gpu.py [name of the file]

Kernels are timed alone, with parameter values that are on the GPU already, the fastest of three;
studies as whole calls, once compiled. Every kernel is compared with the processor on the first
samples.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

import varimech as vm
from varimech.backends.cuda import check_gpu, gpu_for
from varimech.backends.sampler import Sampler
from varimech.benchmarks import andrews, five_bar
from varimech.schemes import choose
from varimech.solving.ensemble_runs import sampler_for
from varimech.solving.task import Task

DURATION = five_bar.DURATION
HALF_WIDTH = 0.01
PSI = {"psi1": five_bar.objectives()["psi1"]}
TURNED = {"turned": vm.integral(lambda s: s.angular_velocity("OF"), unit="rad")}
COMPARED = 10_000
REPETITIONS = 3
KERNELS: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("ALI3-P, trapezoidal rule, steps of 1 ms", {"step": 1e-3}, 1 << 18),
    (
        "index 1, Dormand–Prince 8, equal steps",
        {"step": DURATION / 30, "integrator": "dop853"},
        1 << 20,
    ),
    ("index 1, RK4, equal steps", {"step": DURATION / 250, "integrator": "rk4"}, 1 << 20),
    ("index 1, Dormand–Prince 8, tolerance 1e-3", {"tolerance": 1e-3}, 1 << 20),
)
"""Method, settings, samples."""
STUDIES = (10**6, 10**7)
SQUEEZER_SAMPLES = 200_000
SQUEEZER_TOLERANCES = {"rr": 5e-5, "l0": 5e-4} | {f"L_{name}": 5e-5 for name in andrews.LENGTHS}
"""Tolerances of lengths (m)."""


def sampler_of(m: vm.Mechanism, setting: Mapping[str, Any], runs: int) -> Sampler:
    method, schedule = choose(DURATION, **setting)
    sampler = sampler_for(
        m._solvers.of(method), Task(schedule.last_only(), PSI, None, "native"), runs
    )
    assert sampler is not None
    return sampler


def kernel(m: vm.Mechanism, method: str, setting: Mapping[str, Any], count: int) -> dict[str, Any]:
    """Times one kernel, and compares it with the processor."""
    import cupy

    sampler = sampler_of(m, setting, count)
    gpu = gpu_for(sampler)
    rows = m.data.parameter_set.nominal * (
        1
        + HALF_WIDTH
        * np.random.default_rng(8).uniform(-1, 1, (count, m.data.parameter_set.nominal.size))
    )
    values = cupy.asarray(rows)

    def launch() -> None:
        gpu.launch(values)
        cupy.cuda.runtime.deviceSynchronize()

    launch()
    seconds = min(timed(launch) for _ in range(REPETITIONS))
    here, there = (execute(rows[:COMPARED]) for execute in (sampler, lambda x: sampler.by(gpu, x)))
    if not (here.done.all() and there.done.all()):
        raise SystemExit(
            f"{method}: runs failed: {(~here.done).sum()} on the processor, {(~there.done).sum()}"
            " on the GPU"
        )
    steps = round(DURATION / setting["step"]) if "step" in setting else None
    return {
        "method": method,
        "steps": steps,
        "samples": count,
        "seconds": seconds,
        "runs_per_second": count / seconds,
        "sample_steps_per_second": None if steps is None else count * steps / seconds,
        "largest_relative_difference": float(
            np.abs(there.values[:, -1] / here.values[:, -1] - 1).max()
        ),
        "samples_compared": len(here.done),
    }


def study(
    what: str, m: vm.Mechanism, objectives: Any, distributions: Any, count: int, **options: Any
) -> dict[str, Any]:
    """Times a whole study; one of a launch before compiles everything."""

    def execute(samples: int) -> vm.Study:
        return m.monte_carlo(
            objectives,
            distributions,
            samples=samples,
            executor="cuda",
            backend="native",
            progress=False,
            **options,
        )

    execute(1 << 20)  # also builds CuPy's own kernels for arrays of that size
    seconds = timed(lambda: execute(count))
    return {
        "what": what,
        "samples": count,
        "seconds": seconds,
        "samples_per_second": count / seconds,
    }


def timed(what: Callable[[], object]) -> float:
    began = time.perf_counter()
    what()
    return time.perf_counter() - began


def device() -> str:
    import cupy

    properties = cupy.cuda.runtime.getDeviceProperties(0)
    return f"{properties['name'].decode()}, {properties['multiProcessorCount']} multiprocessors"


def main(path: Path) -> None:
    check_gpu()
    report: dict[str, Any] = {
        "device": device(),
        "date": date.today().isoformat(),
        "kernels": [],
        "studies": [],
    }

    def add(kind: str, row: dict[str, Any]) -> None:
        report[kind].append(row)
        print(json.dumps(row, ensure_ascii=False), flush=True)
        # written after each row, so that an interruption loses only the current one
        text = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
        path.write_text(text, encoding="utf-8")

    m = five_bar.mechanism()
    for method, setting, count in KERNELS:
        add("kernels", kernel(m, method, setting, count))
    distributions = {
        name: vm.Tolerance(HALF_WIDTH * m.parameters[name].value) for name in five_bar.PARAMETERS
    }
    fastest = {"duration": DURATION, "step": DURATION / 30, "integrator": "dop853", "every": 30}
    for count in STUDIES:
        add(
            "studies",
            study(
                "five-bar, Dormand–Prince 8 with 30 steps, ψ¹ at the end",
                m,
                PSI,
                distributions,
                count,
                **fastest,
            ),
        )
    squeezer, tolerances = (
        andrews.mechanism(lengths=True),
        {name: vm.Tolerance(x) for name, x in SQUEEZER_TOLERANCES.items()},
    )
    options = {"duration": andrews.DURATION, "tolerance": 1e-6, "output": andrews.DURATION}
    what = (
        "Andrews' squeezer, eight lengths with tolerances, tolerance 1e-6, turn of the crank at"
        " the end"
    )
    add("studies", study(what, squeezer, TURNED, tolerances, SQUEEZER_SAMPLES, **options))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("gpu_h200.json"))
