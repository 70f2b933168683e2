"""Varimech's side of the comparison: its public calls only, compiled backend."""

from __future__ import annotations

from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
from problem import (
    DURATION,
    ENSEMBLE_ERROR,
    SAMPLES,
    TESTED,
    Curve,
    Point,
    Report,
    Throughput,
    coarsest,
    fastest,
    reference_values,
    timed,
)

import varimech as vm
from varimech.benchmarks import five_bar

LAST_ONLY = 10**9
TOLERANCES: list[dict[str, Any]] = [
    {"tolerance": 10 ** (-k / 4), "output": DURATION} for k in range(8, 45)
]
STEPS: list[dict[str, Any]] = [
    {"step": DURATION / round(60 * 2 ** (k / 2)), "every": LAST_ONLY} for k in range(24)
]
METHODS = {
    "Varimech": (
        (
            "direct sensitivities, index 1 with projections, Dormand–Prince of order 8, steps by"
            " tolerance"
        ),
        TOLERANCES,
    ),
    "Varimech, implicit": (
        "direct sensitivities, index-3 augmented Lagrangian, trapezoidal rule",
        STEPS,
    ),
}
"""By engine: how, and its settings from coarse to fine."""
BEST = "dopri5"
"""For many runs, with equal steps."""


def gradient_curve(engine: str) -> Curve:
    mechanism, objectives = five_bar.mechanism(), five_bar.objectives()
    options, settings = METHODS[engine]

    def solve(setting: dict[str, Any]) -> vm.Gradient:
        return mechanism.sensitivity(
            objectives, duration=DURATION, backend="native", progress=False, **setting
        )

    build_seconds, _ = timed(lambda: solve(settings[0]))
    curve = Curve(engine, options, build_seconds)
    for setting in settings:
        seconds, solution = fastest(partial(solve, setting))
        name = (
            f"tolerance {setting['tolerance']:.1e}"
            if "tolerance" in setting
            else f"{round(DURATION / setting['step'])} steps"
        )
        curve.points.append(Point(name, 1e3 * seconds, solution.gradient_history[-1].tolist()))
    return curve


def throughputs(exact: np.ndarray) -> list[Throughput]:
    mechanism, objectives = five_bar.mechanism(), five_bar.objectives()

    def psi(values: np.ndarray, steps: int, threads: int) -> np.ndarray:
        ensemble = mechanism.ensemble(
            objectives,
            {"Ls1": values},
            duration=DURATION,
            step=DURATION / steps,
            integrator=BEST,
            backend="native",
            threads=threads,
            progress=False,
        )
        return ensemble.values.to_numpy()

    steps, error = coarsest(
        range(40, 4000, 5), lambda n: psi(SAMPLES[TESTED], n, 1), exact, ENSEMBLE_ERROR
    )
    results = []
    for threads in (1, 2):
        seconds, _ = fastest(partial(psi, SAMPLES, steps, threads), 3.0)
        results.append(
            Throughput(
                "Varimech",
                f"{threads} thread{'s'[: threads - 1]}",
                f"{steps} steps",
                error,
                len(SAMPLES),
                seconds,
            )
        )
    return results


if __name__ == "__main__":
    exact = reference_values()
    Report(
        {"varimech": version("varimech")},
        [gradient_curve(engine) for engine in METHODS],
        throughputs(exact),
    ).print()
