"""Varimech's side of the comparison: its public calls only, compiled backend."""

from __future__ import annotations

from functools import partial
from importlib.metadata import version

import numpy as np
from problem import DURATION, SAMPLES, TESTED, Curve, Point, Report, Throughput, cheapest, fastest, reference_values, timed

import varimech as vm
from varimech.benchmarks import five_bar

STEPS = tuple(round(60 * 2 ** (k / 2)) for k in range(24))
LAST_ONLY = 10**9


def gradient_curve() -> Curve:
    mechanism, objectives = five_bar.mechanism(), five_bar.objectives()

    def solve(steps: int) -> vm.Gradient:
        return mechanism.sensitivity(
            objectives, duration=DURATION, step=DURATION / steps, every=LAST_ONLY, backend="native", progress=False
        )

    build_seconds, _ = timed(lambda: solve(STEPS[0]))
    curve = Curve("Varimech", "direct sensitivities, index-3 augmented Lagrangian, trapezoidal rule", build_seconds)
    for steps in STEPS:
        seconds, solution = fastest(partial(solve, steps))
        curve.points.append(Point(f"{steps} steps", 1e3 * seconds, solution.gradient_history[-1].tolist()))
    return curve


def throughputs(exact: np.ndarray) -> list[Throughput]:
    mechanism, objectives = five_bar.mechanism(), five_bar.objectives()

    def psi(values: np.ndarray, steps: int, threads: int) -> np.ndarray:
        ensemble = mechanism.ensemble(
            objectives,
            {"Ls1": values},
            duration=DURATION,
            step=DURATION / steps,
            backend="native",
            threads=threads,
            progress=False,
        )
        return ensemble.values.to_numpy()

    steps, error = cheapest(lambda n: psi(SAMPLES[TESTED], n, 1), range(100, 4000, 20), exact)
    found = []
    for threads in (1, 2):
        seconds, _ = fastest(partial(psi, SAMPLES, steps, threads), 3.0)
        found.append(
            Throughput("Varimech", f"{threads} thread{'s'[: threads - 1]}", f"{steps} steps", error, len(SAMPLES), seconds)
        )
    return found


if __name__ == "__main__":
    exact = reference_values()
    Report({"varimech": version("varimech")}, [gradient_curve()], throughputs(exact)).print()
