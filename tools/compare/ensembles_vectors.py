"""Samples in vectors beside the same samples one by one: both compiled, by one thread, in turn, within
one process. `python tools/compare/ensembles_vectors.py` prints the table by itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import varimech as vm
from varimech.backends.sampler import Sampler
from varimech.benchmarks import andrews, clearance_slider_crank, five_bar, spatial_slider_crank
from varimech.schemes import choose
from varimech.solving.ensemble_runs import CHUNK, sampler_for
from varimech.solving.task import Task

HALF_WIDTH = 0.01
"""Largest relative distance of a parameter from its nominal value."""
REPETITIONS = 5


@dataclass(frozen=True)
class Case:
    """Runs that are measured, and the ratio of rates that they shall have."""

    what: str
    mechanism: Callable[[], vm.Mechanism]
    objectives: Mapping[str, vm.Objective]
    varied: Sequence[str]
    duration: float
    options: dict[str, Any]
    samples: int
    wanted: float
    gradients: bool = False


EQUAL = {"step": five_bar.DURATION / 25, "integrator": "dop853"}

CASES = (
    Case(
        "five-bar, Dormand–Prince 8, 25 equal steps, ψ¹",
        five_bar.mechanism,
        {"psi1": five_bar.objectives()["psi1"]},
        five_bar.PARAMETERS,
        five_bar.DURATION,
        EQUAL,
        1 << 14,
        3.0,
    ),
    Case(
        "the same, gradients of three objectives with respect to five parameters",
        five_bar.mechanism,
        five_bar.objectives(),
        five_bar.PARAMETERS,
        five_bar.DURATION,
        EQUAL,
        1 << 12,
        2.5,
        gradients=True,
    ),
    Case(
        "Andrews' squeezer, eight lengths, tolerance 1e-5, turn of the crank",
        lambda: andrews.mechanism(lengths=True),
        {"turned": vm.integral("angular_velocity('OF')", unit="rad")},
        ("rr", "l0", *(f"L_{name}" for name in andrews.LENGTHS)),
        andrews.DURATION,
        {"tolerance": 1e-5},
        1 << 12,
        2.5,
    ),
    Case(
        "spatial slider-crank, relative coordinates, tolerance 1e-5, ψ",
        spatial_slider_crank.mechanism,
        spatial_slider_crank.objectives(),
        tuple(spatial_slider_crank.PSI_GRADIENT),
        spatial_slider_crank.DURATION,
        {"tolerance": 1e-5},
        1 << 11,
        2.5,
    ),
    Case(
        "clearance slider-crank, three impacts in its joint, tolerance 1e-6",
        clearance_slider_crank.mechanism,
        clearance_slider_crank.objectives(),
        clearance_slider_crank.PARAMETERS,
        clearance_slider_crank.DURATION,
        {"tolerance": 1e-6},
        10_000,
        2.0,
    ),
)


def vectors() -> list[dict[str, Any]]:
    """Rates of all cases, samples per second of CPU time."""
    return [_measured(case) for case in CASES]


def _measured(case: Case) -> dict[str, Any]:
    m = case.mechanism()
    sampler, rows = _sampler(case, m), _rows(case, m)
    ways = {"one by one": sampler._processor, "in vectors": sampler._lanes}
    best, outcomes = dict.fromkeys(ways, np.inf), {}
    for _ in range(REPETITIONS):  # in turn, so that both meet the same disturbances
        for name, execute in ways.items():
            began = time.thread_time()
            parts = [
                sampler.by(execute, rows[first : first + CHUNK])
                for first in range(0, len(rows), CHUNK)
            ]
            best[name] = min(best[name], time.thread_time() - began)
            outcomes[name] = np.concatenate([part.values[:, -1] for part in parts])
    single, lanes = outcomes.values()
    return {
        "what": case.what,
        "samples": len(rows),
        "rates": {name: len(rows) / seconds for name, seconds in best.items()},
        "ratio": best["one by one"] / best["in vectors"],
        "wanted": case.wanted,
        "width": sampler.width,
        "done": float(np.isfinite(lanes).all(axis=1).mean()),
        "difference": float(np.nanmax(np.abs(lanes - single) / np.abs(single))),
    }


def _sampler(case: Case, m: vm.Mechanism) -> Sampler:
    method, schedule = choose(case.duration, **case.options)
    names = list(m.parameters)
    indices = [names.index(name) for name in case.varied] if case.gradients else None
    task = Task(schedule.last_only(), case.objectives, indices, "native", False)
    sampler = sampler_for(m._solvers.of(method), task, case.samples)
    assert sampler is not None and sampler.native.has_lanes
    sampler.native.build()
    sampler.native.build_lanes()
    return sampler


def _rows(case: Case, m: vm.Mechanism) -> np.ndarray:
    names, rows = list(m.parameters), np.tile(m.data.parameter_set.nominal, (case.samples, 1))
    varied = [names.index(name) for name in case.varied]
    draws = np.random.default_rng(8).uniform(-1, 1, (case.samples, len(varied)))
    rows[:, varied] *= 1 + HALF_WIDTH * draws
    return rows


if __name__ == "__main__":
    for row in vectors():
        print(row)
