"""Acceptance figures of Monte Carlo studies: within their own intervals, the same wherever they
run, resumed after a kill, and fast.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from acceptance import Figure

import varimech as vm
from varimech.benchmarks import five_bar

MANY = 10**6
TESTS = Path(__file__).parents[2] / "tests" / "support"
SHORT: dict[str, Any] = {"step": 0.05, "every": 20}
"""Runs of twenty steps, of which only the end is stored."""


def _apart(a: vm.Study, b: vm.Study) -> float:
    """Largest difference of what two studies tell."""
    differences = [
        np.abs(getattr(a, name) - getattr(b, name)).max().item() for name in ("mean", "variance")
    ]
    asked = [0.01, 0.5, 0.99]
    quantiles = [
        np.abs(getattr(a, name)(asked) - getattr(b, name)(asked)).max().item()
        for name in ("quantile", "resolution")
    ]
    return max(*differences, *quantiles, float(a.count != b.count))


def pendulum_studies() -> Iterator[Figure]:
    """Monte Carlo studies of the pendulum against integrals over exact motions; the study of a million
    samples is killed and resumed.
    """
    from pendulum_exact import DURATION, exact_moments

    from test_monte_carlo import study

    whole = study(samples=MANY, **SHORT)
    for computed in (study(samples=10_000, **SHORT), whole):
        for of, exact in zip(("mean", "variance"), exact_moments(DURATION), strict=True):
            bounds = computed.interval(0.999, of=of).isel(time=-1)
            middle, half = (bounds.upper + bounds.lower) / 2, (bounds.upper - bounds.lower) / 2
            share = float((np.abs(middle - exact) / half).max())
            yield Figure(
                f"{of} of {computed.count:,} samples: error relative to the 99.9 % interval",
                share,
                1.0,
                shown="{:.2f}",
            )
    with tempfile.TemporaryDirectory() as folder:
        taken = _killed_in_the_middle(folder)
        yield Figure(
            f"share of {MANY:,} samples that were computed before the study was killed",
            taken / MANY,
            0.1,
            True,
            "{:.2f}",
        )
        resumed = study(samples=MANY, checkpoint=folder, **SHORT)
        yield Figure(
            "resumed study: difference from an uninterrupted study",
            _apart(whole, resumed),
            0.0,
        )


def _killed_in_the_middle(folder: str) -> int:
    """Begin a study in another process, kill it when a tenth is done, and tell how far it came."""
    script = (
        f"from test_monte_carlo import study; study(samples={MANY}, checkpoint={folder!r},"
        f" **{SHORT!r})"
    )
    state, taken = Path(folder) / "state.npz", 0
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}
    with subprocess.Popen([sys.executable, "-c", script], env=environment) as process:
        while taken < MANY / 10 and process.poll() is None:
            time.sleep(0.05)
            taken = _taken(state)
        process.send_signal(signal.SIGKILL)
    return _taken(state)


def _taken(state: Path) -> int:
    if not state.exists():
        return 0
    with np.load(state) as arrays:
        return int(arrays["taken"])


def studies_elsewhere() -> Iterator[Figure]:
    """The same study on one thread, on two threads, and on a cluster that loses a worker."""
    from distributed import Client, LocalCluster

    from test_monte_carlo import study

    request: dict[str, Any] = {"samples": 40_000, "control": True}
    one = study(executor=1, **request)
    yield Figure(
        "difference between the studies on one and on two threads",
        _apart(one, study(executor=2, **request)),
        0.0,
    )
    with (
        LocalCluster(
            n_workers=3, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        Client(cluster) as client,
    ):
        victim = next(iter(client.run(os.getpid).values()))
        subprocess.Popen(["sh", "-c", f"sleep 1; kill -9 {victim}"])
        there = study(executor=client, **request)
        yield Figure(
            "difference between the studies on one thread and on three Dask workers, one of which is killed",
            _apart(one, there),
            0.0,
        )


def studies_throughput() -> Iterator[Figure]:
    """Samples per second of the five-bar on all cores (5 s, error of ψ ≤ 2e-5)."""
    options: dict[str, Any] = {"tolerance": 1e-5, "output": 5.0}
    m, objectives = five_bar.mechanism(), {"psi1": five_bar.objectives()["psi1"]}
    settings: tuple[dict[str, Any], ...] = {"tolerance": 1e-12}, options
    exact, computed = (m.sensitivity(objectives, duration=5.0, **h).values.item() for h in settings)
    yield Figure("relative error of ψ in a sample", abs(computed / exact - 1), 2e-5)
    distributions = {name: vm.Tolerance(0.005) for name in ("Ls1", "Ls2", "L_A1")}
    best = 0.0
    for _ in range(3):
        study = m.monte_carlo(objectives, distributions, duration=5.0, samples=20_000, **options)
        best = max(best, study.count / study.seconds["run"])
    yield Figure("samples per second", best, 4000, at_least=True, shown="{:.0f}")
