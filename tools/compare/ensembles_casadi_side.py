"""The reference of all ensembles, and many runs as a careful user writes them with CasADi for this
one mechanism: two angles, RK4.

A step is one expression that has the rates four times, `mapaccum` repeats it, and the whole run is
compiled; `map` takes one sample after the other, or shares them out among threads.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
from casadi_side import COMPILED, augmented, ca, dop853, five_bar_rates
from derivatives_casadi_side import START, equal_steps
from ensembles_problem import GOAL, TESTED, Throughput, samples
from problem import DURATION, coarsest, fastest

FINEST = 1e-12
LADDER = range(60, 600, 5)
RUNS = 2000


def run_of(steps: int, options: dict[str, Any]) -> Any:
    """ψ¹ as a function of the parameters."""
    x, ρ, rate = five_bar_rates()
    P, ψ = equal_steps((x, ρ, rate[:5]), START, steps, DURATION / steps, inlined=True)
    return ca.Function("run", [P], [ψ], options)


def operations(steps: int) -> int:
    """Of a run: four times the rates in every step; the sums of RK4 are left out."""
    x, ρ, rate = five_bar_rates()
    return 4 * steps * int(ca.Function("f", [x, ρ], [rate[:5]], {"cse": True}).n_instructions())


def throughputs(exact: np.ndarray) -> list[Throughput]:
    def psi(steps: int) -> np.ndarray:
        return np.array(run_of(steps, {}).map(TESTED)(samples(TESTED).T)).ravel()

    steps, error = coarsest(LADDER, psi, exact, GOAL)
    run, rows, computed = run_of(steps, COMPILED), samples(RUNS).T, []
    for threads, workers in ((1, "1 thread"), (2, "2 threads")):
        many = run.map(RUNS) if threads == 1 else run.map(RUNS, "thread", threads)
        seconds, _ = fastest(partial(many, rows), 3.0)
        computed.append(
            Throughput(
                "CasADi, by hand",
                "two angles, RK4, compiled",
                f"{steps} steps",
                error,
                workers,
                RUNS,
                seconds,
                operations(steps),
            )
        )
    return computed


def main() -> None:
    rates = augmented()
    exact = np.array([dop853(rates, FINEST, ρ)[24] for ρ in samples(TESTED)])
    report = {"exact": exact.tolist(), "throughputs": [asdict(t) for t in throughputs(exact)]}
    print(json.dumps(report | {"versions": {"casadi": ca.__version__}}))


if __name__ == "__main__":
    main()
