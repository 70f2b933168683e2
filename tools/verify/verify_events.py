"""Acceptance figures of events: gradients over many impacts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from acceptance import Figure

import varimech as vm
from varimech.benchmarks import clearance_slider_crank

REPETITIONS = 100


def gradients_over_impacts() -> Iterator[Figure]:
    """Cost and agreement over 26 impacts of the clearance slider-crank."""
    m, wrt = clearance_slider_crank.mechanism(), list(clearance_slider_crank.PARAMETERS)
    options: Any = {"duration": 0.035, "output": 0.035}

    def gradient(**more: Any) -> vm.Gradient:
        return m.sensitivity(clearance_slider_crank.objectives(), wrt, **{**options, **more})

    motion = _fastest(lambda: m.simulate(backend="native", **options))
    for method in ("direct", "adjoint"):
        took = _fastest(partial(gradient, method=method, backend="native"))
        what = f"{method} method: time of a gradient over 26 impacts, relative to the motion"
        yield Figure(what, took / motion, 3.0, shown="{:.2f}")
    first = gradient(method="direct", coordinates="natural", tolerance=1e-12)
    impacts = sum(e.what == "impact" for e in first.run.events)
    yield Figure("number of impacts", impacts, 20, at_least=True, shown="{:.0f}")
    sizes = np.abs(first.final_gradient).max(axis=1, keepdims=True)
    for coordinates in ("natural", "rtdyn0", "rtdyn1"):
        for method in ("direct", "adjoint"):
            g = gradient(method=method, coordinates=coordinates, tolerance=1e-12).final_gradient
            off = float((np.abs(g - first.final_gradient) / sizes).max())
            yield Figure(
                f"{method} method, {coordinates} coordinates: largest relative difference of the gradient",
                off,
                1e-8,
            )


def _fastest(call: Callable[[], object]) -> float:
    call()  # which may compile
    times = []
    for _ in range(REPETITIONS):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return min(times)
