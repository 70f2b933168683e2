"""Varimech's side of the comparison: its public calls only, compiled backend."""

from __future__ import annotations

from functools import partial
from importlib.metadata import version

import numpy as np
from problem import DURATION, SAMPLES, TESTED, Curve, Point, Report, Throughput, cheapest, fastest, reference_values, timed

import varimech as vm
from varimech.benchmarks import five_bar

LAST_ONLY = 10**9
METHODS = {
    "dopri5": ("Varimech", "direct sensitivities, index 1 with projections, Dormand–Prince of order 5", 40, 14),
    "trapezoidal": ("Varimech, implicit", "direct sensitivities, index-3 augmented Lagrangian, trapezoidal rule", 60, 24),
}
"""By integrator: engine, how, fewest steps, and how many settings with √2 times as many steps each."""
BEST = "dopri5"


def gradient_curve(integrator: str) -> Curve:
    mechanism, objectives = five_bar.mechanism(), five_bar.objectives()
    engine, how, fewest, count = METHODS[integrator]

    def solve(steps: int) -> vm.Gradient:
        return mechanism.sensitivity(
            objectives,
            duration=DURATION,
            step=DURATION / steps,
            every=LAST_ONLY,
            integrator=integrator,
            backend="native",
            progress=False,
        )

    sweep = [round(fewest * 2 ** (k / 2)) for k in range(count)]
    build_seconds, _ = timed(lambda: solve(sweep[0]))
    curve = Curve(engine, how, build_seconds)
    for steps in sweep:
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
            integrator=BEST,
            backend="native",
            threads=threads,
            progress=False,
        )
        return ensemble.values.to_numpy()

    steps, error = cheapest(lambda n: psi(SAMPLES[TESTED], n, 1), range(40, 4000, 5), exact)
    found = []
    for threads in (1, 2):
        seconds, _ = fastest(partial(psi, SAMPLES, steps, threads), 3.0)
        found.append(
            Throughput("Varimech", f"{threads} thread{'s'[: threads - 1]}", f"{steps} steps", error, len(SAMPLES), seconds)
        )
    return found


if __name__ == "__main__":
    exact = reference_values()
    Report({"varimech": version("varimech")}, [gradient_curve(integrator) for integrator in METHODS], throughputs(exact)).print()
