"""Every combination of formulation and integrator on every benchmark: what accuracy costs. Compiled
backend, one run after the other.
"""

from __future__ import annotations

import json
import time
from contextlib import suppress
from importlib import import_module
from typing import Any

import numpy as np

import varimech as vm

MECHANISMS = {
    "pendulum": (10.0, ""),
    "five-bar": (5.0, ""),
    "andrews": (0.05, ""),
    "spatial-slider-crank": (5.0, ""),
    "bricard": (10.0, "redundant"),
    "governor": (1.0, "stiff"),
    "four-bar": (10.0, "singular positions"),
}
"""Benchmarks: duration (s) and what makes them difficult."""
METHODS = (
    ("ali3p", "trapezoidal"),
    ("ali3p", "hht"),
    ("ali3p", "generalised-alpha"),
    ("index1", "rk4"),
    ("index1", "dopri5"),
    ("index1", "dop853"),
    ("index1-stabilised", "dop853"),
    ("independent", "dop853"),
    ("penalty", "dop853"),
    ("index1-stabilised", "cvodes"),
    ("index1-stabilised", "idas"),
)
ACCURACIES = (1e-3, 1e-6, 1e-9)
PATIENCE = 8.0
"""Seconds for all settings of one method on one mechanism; what is not reached by then is not
reached.
"""
POINTS = 50
"""At so many times results are compared."""


def ladder(integrator: str, duration: float) -> list[dict[str, Any]]:
    """Settings from coarse to fine: a factor of 10 in a tolerance, of 2 in a step."""
    if integrator in ("trapezoidal", "hht", "generalised-alpha", "rk4"):
        return [{"step": duration / (POINTS * 2**k), "every": 2**k} for k in range(1, 15)]
    return [{"tolerance": 10.0**-k, "output": duration / POINTS} for k in range(2, 13)]


def positions(run: vm.Run, points: list[str]) -> np.ndarray:
    return np.concatenate(
        [run.position(point).transpose("time", "component").to_numpy() for point in points], axis=1
    )


def measured(name: str) -> dict[str, list[float | None]]:
    """By method: milliseconds to each accuracy, None where it is not reached."""
    duration, _ = MECHANISMS[name]
    m = import_module(f"varimech.benchmarks.{name.replace('-', '_')}").mechanism()
    points = [f"{body.name}.{point}" for body in m.data.moving_bodies for point in body.points]
    tight = m.simulate(
        duration,
        tolerance=1e-10 if name == "four-bar" else 1e-12,
        output=duration / POINTS,
        backend="native",
    )
    exact = positions(tight, points)
    size = float(np.abs(exact).max())
    computed: dict[str, list[float | None]] = {}
    for formulation, integrator in METHODS:
        best: list[float | None] = [None] * len(ACCURACIES)
        with suppress(vm.VarimechError):  # compiles
            m.simulate(
                duration,
                integrator=integrator,
                formulation=formulation,
                backend="native",
                **ladder(integrator, duration)[0],
            )
        began = time.perf_counter()
        for setting in ladder(integrator, duration):
            call = {
                "integrator": integrator,
                "formulation": formulation,
                "backend": "native",
                **setting,
            }
            try:
                runs = [m.simulate(duration, **call) for _ in range(3)]
            except vm.VarimechError:
                continue
            error = float(np.abs(positions(runs[0], points) - exact).max()) / size
            milliseconds = 1e3 * min(run.info["seconds"]["run"] for run in runs)
            for k, accuracy in enumerate(ACCURACIES):
                before = best[k]
                if error <= accuracy and (before is None or milliseconds < before):
                    best[k] = milliseconds
            if best[-1] is not None or time.perf_counter() - began > PATIENCE:
                break
        computed[f"{formulation} · {integrator}"] = best
    return computed


def main() -> None:
    print(
        json.dumps(
            {
                "mechanisms": {name: measured(name) for name in MECHANISMS},
                "versions": {"varimech": vm.__version__},
            }
        )
    )


if __name__ == "__main__":
    main()
