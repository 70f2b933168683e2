"""The five-bar benchmark: gradients and ensembles of Varimech and its peers, set against one
reference; docs/benchmarks.md and a picture.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from pages import (
    DOCS,
    PEERS,
    ROOT,
    machine,
    markdown,
    number,
    run_side,
    show,
    time_cell,
    work_precision,
)
from rich.console import Console

from varimech.benchmarks import five_bar

PAGE, PICTURE = DOCS / "benchmarks.md", DOCS / "images" / "compare_five_bar.png"
sys.path.insert(0, str(ROOT / "tests"))

INTRODUCTION = """\
# Benchmarks

This page compares the speed of Varimech and other programs for a five-bar mechanism, and lists the accuracy of benchmarks with impacts and friction.
Three other pages contain further comparisons: [Scale](scale.md) for mechanisms with up to thousands of bodies, [Machines](machines.md) for the first
and later results of realistic machines, and [Contacts](contacts.md) for impacts and dry friction.

Each time is the shortest of at least five repetitions, and the programs ran one after the other. The steps or tolerances of each program were varied
in a sweep, and the tables show the fastest setting; no other option was varied. When all measurements were repeated on the same machine, the ratios
changed by up to 40 %. The time to build and compile a model is listed separately; the other times do not include it. `make compare` repeats all
measurements.
"""
IMPACTS = """
## Impacts and friction

The first seven benchmarks in this table contain events, which Varimech locates: impacts, the opening and closing of contacts, and transitions between
sticking and sliding. The last two benchmarks have no events. All values, and all derivatives computed by the direct and the adjoint method, agree
with their references to 2e-9 or better. The table shows the largest relative deviations or, if the reference is zero, the largest absolute deviations
in SI units. To solve one of the benchmarks, run `varimech benchmark NAME`.

| benchmark | reference | values | derivatives |
| --- | --- | --: | --: |
| two-balls | closed form: equal balls exchange their velocities | 6e-16 | 8e-16 |
| bouncing-ball | closed form: three impacts in 2 s; infinitely many in 8.14 s, then rest | 1e-12 | 4e-12 |
| friction-oscillator | closed form: seven reversals, then sticking | 4e-12 | 4e-12 |
| clearance-slider-crank | independent solution in two angles with complex steps and DOP853; three impacts in the guide | 1e-12 | 1e-10 |
| newtons-cradle | closed form: the derivatives are a permutation matrix | 4e-15 | 6e-16 |
| rocking-block | Housner's ratio of angular rates and elliptic integrals; three impacts | 2e-11 | 3e-10 |
| sliding-block | closed form: sliding and sticking on an incline | 2e-12 | 2e-12 |
| rolling-disc | closed form: linearised equation of the lean angle, below and above the critical speeds √(g r/3) and √(g r/4) | 2e-12 | 3e-12 |
| gear-train | closed form: Willis's equation, equivalent inertia and torque balances; 505 turns | 6e-12 | 2e-9 |

- **Derivatives across events** include the shift of the event time. In `two-balls`, the derivatives of the second ball's final position with respect
  to the initial positions and velocities are (1, 0, 1, 0). For the physics engine nimblephysics, its issue 97 reports (0.75, 0.25, 0.91, 0.08)
  instead.
- **Accumulating impacts** (infinitely many in a finite time) end in contact: at 10 s, the bouncing ball is at rest on the floor, and the derivatives of
  its final position are zero. The derivatives of ∫ y dt over all impacts agree with the closed form.
- **Touching balls**: the result depends on the impact law. Varimech uses Newton's law and determines all simultaneous impulses together, as a linear
  complementarity problem. If a moving ball hits four touching balls at rest, it rebounds with 3/5 of its velocity, and the other four balls move off
  with 2/5 of this velocity. If there are small gaps between the balls, they exchange their velocities one after the other.
"""
"""Not measured here: numbers of `varimech benchmark`."""
SETTINGS = """\
## Settings

- **Varimech**: the gradients are computed by `sensitivity(…, tolerance=…, backend="native")`; with the implicit integrator, `step=…` replaces the
  tolerance. The thousand runs are computed by `ensemble(…, step=…, integrator="dopri5")`. No other options were used. Every `sensitivity` call
  returns the objectives ψ, their gradients ψ' and the motion with its sensitivities.
- **Exudyn**: the settings are `TrapezoidalIndex2`, modified Newton's method (relative tolerance 1e-4 or 1e-10, whichever is faster), the dense
  solver, one thread, the build without range checks (`exudynFast`) and no output files. Gradients are central differences with perturbations of
  ±1e-4; the ten systems are prepared in advance. The thousand runs are divided between two processes. Each process builds its system once and changes
  one number for each run. Only 100 runs were measured, and the time was scaled to 1,000.
- **MuJoCo**: the model has hinge joints, one `connect` constraint with a time constant of 2.5 steps and an impedance of 0.9999, and sensors for point
  2. It is simulated by `rollout` with RK4. Gradients are central differences with perturbations of ±1e-4; the models are prepared in advance. Time
  constant, impedance and perturbation were not varied. With up to 16,000 steps, the error does not fall below about 2e-5; the reason was not
  investigated. The thousand runs use two threads and models that are prepared in advance.
- **CasADi + IDAS**: the index-1 system in natural coordinates was written by hand, with Baumgarte stabilisation (both stabilisation parameters are 10
  s⁻¹). IDAS computes its forward sensitivities.
- **SciPy DOP853** and **CasADi + CVODES**: the equations of motion in two angles were derived by hand for this mechanism, and the equations of their
  sensitivities were appended. They were written with CasADi and compiled (`-O3 -march=native`). CVODES uses Adams' method and functional iteration.
  Both methods have a high order, and the equations have no constraints, so these two rows show what a program written for a single mechanism can
  achieve.

The reference gradient was computed by the hand-derived program with a tolerance of 1e-13. It agrees with the converged gradient in the tests to all
digits that are given there. The error of a gradient is the largest of the 15 relative errors of ψ'. Exudyn and MuJoCo do not compute sensitivities,
so they need ten runs for a gradient.
"""


def passes_table_1(gradient: np.ndarray) -> bool:
    errors = np.linalg.norm(gradient - five_bar.REFERENCE, axis=1)
    combined = (five_bar.TOLERANCES[2] / five_bar.TOLERANCES * errors).sum()
    return bool((errors <= five_bar.TOLERANCES).all() and combined <= 3 * five_bar.TOLERANCES[2])


def check_reference(gradient: np.ndarray) -> None:
    """Stops if the reference is not the one of the tests, to the digits printed there."""
    from test_five_bar import CONVERGED_GRADIENT

    if np.abs(gradient - CONVERGED_GRADIENT).max() > 1e-7:
        raise SystemExit("the reference gradient differs from the one of the tests")


def quickest(curve: dict[str, Any], holds: Callable[[np.ndarray, float], bool]) -> float | None:
    """Least milliseconds of the settings that are accurate enough."""
    times = [
        p["milliseconds"] for p in curve["points"] if holds(np.array(p["gradient"]), p["error"])
    ]
    return min(times, default=None)


GOALS: tuple[tuple[str, Callable[[np.ndarray, float], bool]], ...] = (
    ("passes Table 1", lambda gradient, _: passes_table_1(gradient)),
    ("error ≤ 1e-5", lambda _, error: error <= 1e-5),
    ("error ≤ 1e-7", lambda _, error: error <= 1e-7),
)


def gradient_rows(curves: list[dict[str, Any]]) -> list[list[str]]:
    """A row an engine: milliseconds to each goal with the ratio to Varimech, and the seconds to
    build.
    """
    ours = [quickest(curves[0], holds) for _, holds in GOALS]
    rows = []
    for curve in curves:
        cells = []
        for (_, holds), our in zip(GOALS, ours, strict=True):
            cells.append(time_cell(quickest(curve, holds), None if curve is curves[0] else our))
        rows.append([curve["engine"], curve["how"], *cells, f"{curve['build_seconds']:.2f} s"])
    return rows


def throughput_rows(throughputs: list[dict[str, Any]]) -> list[list[str]]:
    """A row an engine: runs per second, and how many times as many the fastest of Varimech does."""
    rates = [t["runs"] / t["seconds"] for t in throughputs]
    ours = max(
        rate for t, rate in zip(throughputs, rates, strict=True) if t["engine"] == "Varimech"
    )
    return [
        [
            t["engine"],
            t["workers"],
            t["setting"],
            f"{t['error']:.1e}",
            number(rate),
            f"{number(ours / rate)}×",
        ]
        for t, rate in zip(throughputs, rates, strict=True)
    ]


GRADIENT_HEADINGS = ["program", "method", *(name for name, _ in GOALS), "build"]
THROUGHPUT_HEADINGS = [
    "program",
    "with",
    "step",
    "error of ψ",
    "runs per second",
    "speed ratio",
]


PLACED = {"CasADi + CVODES": (-1, 0, -9), "Varimech, implicit": (-1, -9, 9), "MuJoCo": (-1, 0, -9)}
"""Labels that are not above the end of their lines: at which point they are, and where
from there.
"""


def draw(curves: list[dict[str, Any]]) -> None:
    """Time against error."""
    work_precision(
        PICTURE,
        {curve["engine"]: curve["points"] for curve in curves},
        title="Five-bar benchmark: gradient of three objectives to five parameters",
        error="largest relative error of the 15 derivatives (more accurate to the right)",
        time="time for the gradient, ms",
        limits=(1, 1e-12),
        placed=PLACED,
    )


def write_page(
    gradients: list[list[str]], throughputs: list[list[str]], versions: dict[str, str]
) -> None:
    PAGE.write_text(
        f"{INTRODUCTION}\n{machine(versions)}\n"
        "## Gradient of three objectives with respect to five parameters\n\n"
        "The five-bar benchmark is simulated for 5 s. The table gives the time for a complete gradient in milliseconds and, in parentheses, this time divided by the time in the first row. A setting *passes Table 1* if its errors with respect to the published gradient (Table 1 of the benchmark) are within the [published limits](library.md#five-bar).\n\n"
        f"{markdown(GRADIENT_HEADINGS, gradients, 2)}\n"
        "![Time against error](images/compare_five_bar.png)\n\n"
        "## A thousand runs\n\n"
        "The same mechanism is run 1,000 times, with different natural lengths of its first spring (±5 %); only ψ is computed. Each program uses the fewest\n"
        "steps for which the largest relative error of ψ over five samples stays below 1e-4. The last column is a ratio of speeds: the speed of the fastest\n"
        "Varimech row divided by the speed in the row itself.\n\n"
        f"{markdown(THROUGHPUT_HEADINGS, throughputs, 3)}\n{SETTINGS}{IMPACTS}",
        encoding="utf-8",
    )


def compare_five_bar() -> None:
    """Measures, shows and writes."""
    console = Console(stderr=True)
    reports = []
    reference: dict[str, Any] = {}
    for name, python in (
        ("casadi", PEERS),
        ("varimech", sys.executable),
        ("exudyn", PEERS),
        ("mujoco", PEERS),
    ):
        with console.status(f"measuring: {name}"):
            reports.append(run_side(name, python, reference))
        reference = reference or reports[0]["reference"]
    exact = np.array(reference["gradient"])
    check_reference(exact)
    casadi, *others = reports
    curves = [curve for report in (*others, casadi) for curve in report["curves"]]
    for curve in curves:
        for point in curve["points"]:
            point["error"] = float(np.abs(np.array(point["gradient"]) / exact - 1).max())
    gradients = gradient_rows(curves)
    throughputs = throughput_rows([t for report in others for t in report["throughputs"]])
    versions = {
        name: version
        for report in (*others, casadi)
        for name, version in report["versions"].items()
    }
    show("Gradient: time to an accuracy (ratio to Varimech)", GRADIENT_HEADINGS, gradients, 2)
    show("Ensemble of five-bar runs, error of ψ ≤ 1e-4", THROUGHPUT_HEADINGS, throughputs, 3)
    draw(curves)
    write_page(gradients, throughputs, versions)
    console.print(f"written: {PAGE.relative_to(ROOT)}, {PICTURE.relative_to(ROOT)}")
