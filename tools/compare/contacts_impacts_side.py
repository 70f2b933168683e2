"""Gradients over many impacts: the benchmark `clearance-slider-crank`, run for longer, so that the
slider bounces into contact, leaves it and bounces again. Times of motion and gradients by compiled
code, and how far all derivative methods and coordinates agree.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from problem import fastest

import varimech as vm
from varimech.benchmarks import clearance_slider_crank as benchmark

DURATION = 0.035
"""s; 26 impacts, and two times in which the slider stays in contact."""
TIMED = (1e-8, 1e-10)
"""Tolerances whose times are measured."""
EXACT = 1e-12
"""Tolerance at which gradients are compared."""
PERTURBATION = 1e-4
"""Of differences, relative; the best of 1e-5, 3e-5, 1e-4 and 2e-4."""
COORDINATES = ("natural", "rtdyn0", "rtdyn1")
METHODS = ("direct", "adjoint")


def values(m: vm.Mechanism, options: dict[str, Any], parameters: dict[str, float]) -> np.ndarray:
    """All objectives for some values of parameters."""
    wrt = benchmark.PARAMETERS[0]
    g = m.sensitivity(benchmark.objectives(), wrt, parameters=parameters, **options)
    return g.final_values


def differences(of: Callable[[dict[str, float]], np.ndarray], m: vm.Mechanism) -> np.ndarray:
    """Derivatives by central differences of order four, which locate all events anew."""
    columns = []
    for name in benchmark.PARAMETERS:
        x = m.parameters[name].value
        h = PERTURBATION * x
        near, far = (of({name: x + d}) - of({name: x - d}) for d in (h, 2 * h))
        columns.append((8 * near - far) / (12 * h))
    return np.column_stack(columns)


def main() -> None:
    m, objectives = benchmark.mechanism(), benchmark.objectives()
    wrt = list(benchmark.PARAMETERS)
    always: dict[str, Any] = {"duration": DURATION, "output": DURATION, "backend": "native"}
    times = []
    for tolerance in TIMED:
        calls: dict[str, Callable[[], Any]] = {
            "motion": partial(m.simulate, tolerance=tolerance, **always)
        }
        for method in METHODS:
            calls[method] = partial(
                m.sensitivity, objectives, wrt, method=method, tolerance=tolerance, **always
            )
        for call in calls.values():
            call()  # which may compile
        taken = {name: 1e3 * fastest(call, 2.0)[0] for name, call in calls.items()}
        times.append({"tolerance": tolerance, **taken})
    gradients = {}
    for coordinates in COORDINATES:
        for method in METHODS:
            g = m.sensitivity(
                objectives,
                wrt,
                method=method,
                tolerance=EXACT,
                coordinates=coordinates,
                **always,
            )
            gradients[f"{method}, {coordinates}"] = g.final_gradient
    exact = {**always, "tolerance": EXACT}
    gradients["differences"] = differences(partial(values, m, exact), m)
    events = m.simulate(**exact).events
    impacts = sum(e.what == "impact" for e in events)
    first, *others = gradients.items()
    sizes = np.abs(first[1]).max(axis=1, keepdims=True)
    off = {name: float((np.abs(g - first[1]) / sizes).max()) for name, g in others}
    report = {
        "impacts": impacts,
        "releases": len(events) - impacts,
        "parameters": len(wrt),
        "objectives": len(objectives),
        "times": times,
        "first": first[0],
        "off": off,
        "versions": {"varimech": vm.__version__},
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
