"""Varimech's side of the comparison of contacts: rigid surfaces and Coulomb friction with located
events, exact derivatives; its public calls only, compiled backend.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import contacts_problem as contacts
import numpy as np
from contacts_problem import DURATIONS, Exact, Point
from problem import fastest, timed

import varimech as vm
from varimech.benchmarks import bouncing_ball, friction_oscillator

TOLERANCES = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
METHODS = ("direct", "adjoint")
CASES = {
    "ball": (bouncing_ball, "height", ("h", "e")),
    "oscillator": (friction_oscillator, "final x", ("x0", "v0", "F")),
}
"""Benchmark, its objective and its parameters."""


def measured(case: str, exact: Exact) -> tuple[list[Point], dict[str, float]]:
    """All tolerances, and seconds of first calls with default options."""
    benchmark, name, parameters = CASES[case]
    m = benchmark.mechanism()
    objectives = {name: benchmark.objectives()[name]}
    always: dict[str, Any] = {"duration": DURATIONS[case], "progress": False}
    first = {
        "motion": timed(lambda: m.simulate(**always))[0],
        "gradient": timed(lambda: m.sensitivity(objectives, parameters, **always))[0],
    }
    points = []
    for tolerance in TOLERANCES:
        options = {
            **always,
            "tolerance": tolerance,
            "output": DURATIONS[case],
            "backend": "native",
        }
        m.simulate(**options)  # which may compile
        seconds, run = fastest(partial(m.simulate, **options), 0.2)
        error = exact.error(float(run.displacement("guide")[-1]))
        for method in METHODS:
            gradient = partial(m.sensitivity, objectives, parameters, method=method, **options)
            gradient()
            took, result = fastest(gradient, 0.2)
            off = exact.gradient_error(np.array(result.final_gradient)[0])
            points.append(
                Point(
                    case,
                    "Varimech",
                    f"events, {method} derivatives",
                    f"tolerance {tolerance:g}",
                    1e3 * seconds,
                    error,
                    1e3 * took,
                    off,
                )
            )
    return points, first


def main() -> None:
    points, first = [], {}
    for case, exact in contacts.references().items():
        of_case, first[case] = measured(case, exact)
        points += of_case
    contacts.report(points, {"varimech": vm.__version__}, first=first)


if __name__ == "__main__":
    main()
