"""Measures ensembles on a GPU and writes gpu_h200.json, which `compare.py ensembles` sets into its
page. Needs a GPU, varimech and cupy.

    python tools/compare/gpu.py [name of the file]

Kernels are timed alone, with parameter values that are on the GPU already, the fastest of three;
studies as whole calls, once compiled. Every kernel is compared with the processor on the first
samples.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gpu_timing import COMPARED, HALF_WIDTH, Results, difference, launches, rows_of, timed

import varimech as vm
from varimech.backends.cuda import gpu_for
from varimech.backends.sampler import Sampler
from varimech.benchmarks import andrews, clearance_slider_crank, five_bar
from varimech.schemes import choose
from varimech.solving.ensemble_runs import sampler_for
from varimech.solving.task import Task

DURATION = five_bar.DURATION
PSI = {"psi1": five_bar.objectives()["psi1"]}
TURNED = {"turned": vm.integral(lambda s: s.angular_velocity("OF"), unit="rad")}
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
"""Method, settings, samples, of the five-bar."""
WITH_EVENTS = (
    "clearance slider-crank with impacts, Dormand–Prince 8, tolerance 1e-6",
    {"tolerance": 1e-6},
    1 << 18,
)
STUDIES = (10**6, 10**7)
SQUEEZER_SAMPLES = 200_000
SQUEEZER_TOLERANCES = {"rr": 5e-5, "l0": 5e-4} | {f"L_{name}": 5e-5 for name in andrews.LENGTHS}
"""Tolerances of lengths (m)."""


def sampler_of(
    m: vm.Mechanism, objectives: Any, duration: float, setting: Mapping[str, Any], runs: int
) -> Sampler:
    method, schedule = choose(duration, **setting)
    sampler = sampler_for(
        m._solvers.of(method), Task(schedule.last_only(), objectives, None, "native"), runs
    )
    assert sampler is not None
    return sampler


def kernel(
    m: vm.Mechanism,
    objectives: Any,
    duration: float,
    method: str,
    setting: Mapping[str, Any],
    count: int,
) -> dict[str, Any]:
    """Times one kernel, and compares it with the processor."""
    sampler = sampler_of(m, objectives, duration, setting, count)
    gpu, rows = gpu_for(sampler), rows_of(m, max(count, COMPARED))
    timing = launches(gpu, rows[:count], "runs_per_second")
    here, there = sampler(rows[:COMPARED]), sampler.by(gpu, rows[:COMPARED])
    if (here.done != there.done).any():
        raise SystemExit(
            f"{method}: runs failed: {(~here.done).sum()} on the processor, {(~there.done).sum()}"
            " on the GPU"
        )
    good = here.done
    steps = round(duration / setting["step"]) if "step" in setting else None
    return {
        "method": method,
        "steps": steps,
        **timing,
        "sample_steps_per_second": None if steps is None else steps * timing["runs_per_second"],
        "largest_relative_difference": difference(here.values[good, -1], there.values[good, -1]),
        "samples_compared": int(good.sum()),
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


def main(path: Path) -> None:
    results = Results(path)
    m = five_bar.mechanism()
    for method, setting, count in KERNELS:
        results.add("kernels", kernel(m, PSI, DURATION, method, setting, count))
    results.add(
        "kernels",
        kernel(
            clearance_slider_crank.mechanism(),
            clearance_slider_crank.objectives(),
            clearance_slider_crank.DURATION,
            *WITH_EVENTS,
        ),
    )
    distributions = {
        name: vm.Tolerance(HALF_WIDTH * m.parameters[name].value) for name in five_bar.PARAMETERS
    }
    fastest = {"duration": DURATION, "step": DURATION / 30, "integrator": "dop853", "every": 30}
    for count in STUDIES:
        results.add(
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
    results.add("studies", study(what, squeezer, TURNED, tolerances, SQUEEZER_SAMPLES, **options))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("gpu_h200.json"))
