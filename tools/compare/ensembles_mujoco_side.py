"""MuJoCo's ensembles: its side of the five-bar with other parameter values in every model; models
are made before the clock starts.
"""

from __future__ import annotations

import numpy as np
from ensembles_problem import GOAL, TESTED, Throughput, report, samples
from mujoco_side import batch, mujoco
from problem import coarsest, fastest

LADDER = [2 * round(40 * 1.06**k) for k in range(60)]
RUNS = 1000


def throughputs(exact: np.ndarray) -> list[Throughput]:
    steps, error = coarsest(
        LADDER, lambda n: batch(list(samples(TESTED)), n, 2).psi()[:, 0], exact, GOAL
    )
    results = []
    for threads, workers in ((1, "1 thread"), (2, "2 threads")):
        seconds, _ = fastest(batch(list(samples(RUNS)), steps, threads).psi, 3.0)
        results.append(
            Throughput(
                "MuJoCo",
                "RK4, closed by a connect constraint",
                f"{steps} steps",
                error,
                workers,
                RUNS,
                seconds,
            )
        )
    return results


if __name__ == "__main__":
    report(throughputs, {"mujoco": mujoco().__version__})
