"""Exudyn's ensembles: its side of the five-bar with other parameter values in every model; every
process keeps the models of all samples.
"""

from __future__ import annotations

import multiprocessing
from contextlib import suppress
from typing import Any

import numpy as np
from ensembles_problem import GOAL, TESTED, Throughput, report, samples
from exudyn_side import Model, exudyn
from problem import coarsest, fastest

LADDER = [round(600 * 1.05**k) for k in range(6, 20)]
TOLERANCES = (1e-6, 1e-10)
"""Relative ones of Newton's method; the loose one of the gradients, 1e-4, does not
reach the goal.
"""

_kept: list[Model] = []


def keep_models() -> None:
    _kept.extend(Model(ρ) for ρ in samples(TESTED))


def run_sample(task: tuple[int, int, float]) -> float:
    sample, steps, tolerance = task
    return float(_kept[sample].psi(steps, tolerance)[0])


def psi(pool: Any, steps: int, tolerance: float) -> np.ndarray:
    """ψ¹ of all tested samples."""
    return np.array(
        pool.map(run_sample, [(k, steps, tolerance) for k in range(TESTED)], chunksize=10)
    )


def throughputs(exact: np.ndarray) -> list[Throughput]:
    """One and two processes, with the faster of both tolerances of Newton's method."""

    def measured(pool: Any, workers: str, tolerance: float, steps: int, error: float) -> Throughput:
        seconds, _ = fastest(lambda: psi(pool, steps, tolerance), 3.0, at_least=3)
        setting = f"{steps} steps, Newton {tolerance:.0e}"
        return Throughput(
            "Exudyn", "trapezoidal rule, index 2", setting, error, workers, TESTED, seconds
        )

    settings: dict[float, tuple[int, float]] = {}
    with multiprocessing.Pool(2, initializer=keep_models) as pool:
        for tolerance in TOLERANCES:
            with suppress(RuntimeError):  # never accurate enough

                def at(steps: int, tolerance: float = tolerance) -> np.ndarray:
                    return psi(pool, steps, tolerance)

                settings[tolerance] = coarsest(LADDER, at, exact, GOAL)
        two = {
            tolerance: measured(pool, "2 processes", tolerance, *settings[tolerance])
            for tolerance in settings
        }
    best = min(two, key=lambda tolerance: two[tolerance].seconds)
    with multiprocessing.Pool(1, initializer=keep_models) as pool:
        return [measured(pool, "1 process", best, *settings[best]), two[best]]


if __name__ == "__main__":
    report(throughputs, {"exudyn": exudyn().__version__})
