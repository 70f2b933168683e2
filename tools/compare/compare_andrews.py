"""Andrews' squeezing mechanism: time to an accuracy, Varimech and its peers; docs/andrews.md and a
picture.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pages
from andrews_problem import ACCURACIES, DURATION, F_END, ONE_ANGLE, SEVEN_ANGLES
from rich.console import Console

PAGE, PICTURE = pages.DOCS / "andrews.md", pages.DOCS / "images" / "compare_andrews.png"
SIDES: tuple[tuple[str, Path | str], ...] = (
    ("andrews_varimech", sys.executable),
    ("andrews_casadi", pages.PEERS),
    ("andrews_scipy", pages.PEERS),
    ("andrews_exudyn", pages.PEERS),
    ("andrews_simbody", pages.PEERS),
)
PLACED = {"Varimech": (-1, 9, 0), SEVEN_ANGLES: (0, 4, 14), ONE_ANGLE: (5, 4, -7)}
"""Labels that are not above the end of their lines: at which point they are, and where
from there.
"""

INTRODUCTION = f"""\
# Andrews' squeezing mechanism

Andrews' squeezer has seven bodies and one degree of freedom. A motor turns its crank more than five times in {DURATION:g} s. The mechanism is
benchmark A03 of the IFToMM library and a classic test problem for solvers of differential-algebraic equations. This page compares the times that
several programs need to reach a given accuracy. The programs ran one after the other, each on one thread. To repeat the measurements, run
`python tools/compare/compare.py andrews`; `make compare` repeats the measurements of all pages.
"""
METHOD = f"""\
## Measurement

- **Error**: the distance of point F at {DURATION:g} s from ({F_END.real:.12f}, {F_END.imag:.12f}) m, divided by the length of that vector. All
  programs use the exact initial conditions of the test set. F moves on a circle, so its error can vanish by chance. The table therefore uses the
  larger of two values as the error of a setting: its own error and the error of the next finer setting.
- **Time**: the time of one call that simulates the whole duration, without reading the result. It is the shortest time of at least three repetitions
  (up to 200 within 0.8 s). Work that is done only once (building the model, deriving the equations, compiling) is listed as "build". Neither time
  includes the import of packages or the creation of CasADi's integrator.
- **Settings**: the number of steps was varied in factors of √2, and the tolerance in factors of √10. For each program, the table shows the fastest
  setting whose error does not exceed the limit.

## Settings

- **Varimech**: the model consists of bodies, joints, a spring and a torque, as a user would define it. It is simulated by
  `simulate(…, backend="native")` with an integrator and either a step or a tolerance; no other options were used.
- **CasADi**: CVODES solves equations that were written by hand for this mechanism, in two versions. One version uses seven angles (14 states); every
  evaluation solves a 13×13 linear system for accelerations and multipliers. The other version uses the crank angle only (2 states) and computes all
  points in closed form. Both versions use generated C code compiled with `gcc -O3 -march=native`, Adams' method with functional iteration, and
  `reltol = abstol`. In a comparison with interpreted equations, BDF was slower than Adams' method at every accuracy.
- **SciPy**: `solve_ivp` solves the equation for the crank angle only, with DOP853, RK45 or LSODA and `rtol = atol`. The right-hand side is written by
  hand in plain Python, because this is faster than NumPy for this problem.
- **Exudyn**: the model consists of `ObjectRigidBody2D` and `ObjectJointRevolute2D`. It is integrated by the trapezoidal rule (index 2) or by
  generalised α (spectral radius 0.95), with equal steps. Modified Newton's method is used with relative tolerances from 1e-6 to 1e-12 and the dense
  solver, in the build `exudynFast`, without output files and sensors. The explicit integrators of Exudyn do not support constraint joints.
- **Simbody** (the Debian package; measured only if `libsimbody-dev` is installed): the model has pin joints, and pairs of `PointInPlane` constraints
  close the loops at point E. It is integrated by `RungeKuttaMerson` or `RungeKuttaFeldberg`, with adaptive or fixed steps. The constraint tolerance
  is the default or 1e-3.
"""


def judged(settings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The settings of one engine, each with the larger one of its own error and that of the next
    finer one; the finest is left out.
    """
    return [
        {**setting, "error": max(setting["error"], finer["error"]), "own_error": setting["error"]}
        for setting, finer in pairwise(settings)
        if setting["method"] == finer["method"]
    ]


def quickest(curve: dict[str, Any], accuracy: float) -> dict[str, Any] | None:
    """The fastest setting that is accurate enough."""
    good = [s for s in curve["settings"] if s["error"] <= accuracy]
    return min(good, key=lambda s: s["milliseconds"], default=None)


HEADINGS = ["program", "method", *(f"error ≤ {accuracy:.0e}" for accuracy in ACCURACIES), "build"]
CHOSEN_HEADINGS = ["program", "error ≤", "method", "setting", "own error", "time"]


def rows(curves: list[dict[str, Any]]) -> list[list[str]]:
    """A row an engine: milliseconds to each accuracy with the ratio to Varimech, and the seconds to
    build.
    """
    ours = [quickest(curves[0], accuracy) for accuracy in ACCURACIES]
    table = []
    for curve in curves:
        cells = []
        for accuracy, our in zip(ACCURACIES, ours, strict=True):
            base = None if curve is curves[0] or our is None else our["milliseconds"]
            their = quickest(curve, accuracy)
            cells.append(
                pages.time_cell(None if their is None else their["milliseconds"], base)
                if curve["settings"]
                else "–"
            )
        build = curve["build_seconds"]
        table.append(
            [curve["engine"], curve["how"], *cells, "–" if build is None else f"{build:.3f} s"]
        )
    return table


def chosen_rows(curves: list[dict[str, Any]]) -> list[list[str]]:
    """A row an engine and accuracy: the setting that was fastest."""
    return [
        [
            curve["engine"],
            f"{accuracy:.0e}",
            s["method"],
            s["name"],
            f"{s['own_error']:.1e}",
            f"{pages.number(s['milliseconds'])} ms",
        ]
        for curve in curves
        for accuracy in ACCURACIES
        if (s := quickest(curve, accuracy)) is not None
    ]


def shown(curves: list[dict[str, Any]]) -> str:
    """What the figures say, in two or three sentences."""
    ours, *others = curves
    accuracy = ACCURACIES[1]
    best = quickest(ours, accuracy)
    reached = [
        (computed["milliseconds"], curve)
        for curve in others
        if (computed := quickest(curve, accuracy))
    ]
    if best is None or not reached:
        return ""
    reached.sort(key=lambda pair: pair[0])
    ratios = ", ".join(
        f"{curve['engine']} {pages.number(time / best['milliseconds'])}×" for time, curve in reached
    )
    saved = [(time - best["milliseconds"]) / 1e3 for time, _ in reached]
    extra = [max(ours["build_seconds"] - curve["build_seconds"], 0) for _, curve in reached]
    needed = [
        f"{more / seconds:,.0f}" if seconds > 0 else "never"
        for more, seconds in zip(extra, saved, strict=True)
    ]
    earned = ", ".join(
        f"{curve['engine']} {runs}" for (_, curve), runs in zip(reached, needed, strict=True)
    )
    return (
        f"Varimech needs {pages.number(best['milliseconds'])} ms to reach an error of {accuracy:.0e}. The other programs take longer by these factors:\n{ratios}.\n"
        f"Building a model takes longer in Varimech than in the other programs. This difference is recovered after the following number of runs:\n{earned}.\n"
        "The programs for CasADi and SciPy contain equations derived by hand for this mechanism; the models for Varimech, Exudyn and Simbody consist of\n"
        "bodies and joints.\n"
    )


def write_page(curves: list[dict[str, Any]], versions: dict[str, str]) -> None:
    text = (
        f"{INTRODUCTION}\n{pages.machine(versions)}\n"
        "## Time to an accuracy\n\n"
        "The table gives the time for one run in milliseconds and, in parentheses, this time divided by the time of Varimech.\n\n"
        f"{pages.markdown(HEADINGS, rows(curves), 2)}\n{shown(curves)}\n"
        "![Time against error](images/compare_andrews.png)\n\n"
        f"The next table shows the settings with which these times were measured:\n\n{pages.markdown(CHOSEN_HEADINGS, chosen_rows(curves), 4)}\n{METHOD}"
    )
    PAGE.write_text(text, encoding="utf-8")


def compare_andrews() -> None:
    """Measures, shows and writes."""
    console = Console(stderr=True)
    reports = []
    for name, python in SIDES:
        with console.status(f"measuring: {name}"):
            reports.append(pages.run_side(name, python, {}))
    curves = [
        {**curve, "settings": judged(curve["settings"])}
        for report in reports
        for curve in report["curves"]
    ]
    versions = {name: version for report in reports for name, version in report["versions"].items()}
    pages.show(
        "Andrews' squeezing mechanism: time to an accuracy (ratio to Varimech)",
        HEADINGS,
        rows(curves),
        2,
    )
    pages.show("The settings behind it", CHOSEN_HEADINGS, chosen_rows(curves), 4)
    pages.work_precision(
        PICTURE,
        {curve["engine"]: curve["settings"] for curve in curves if curve["settings"]},
        title=f"Andrews' squeezing mechanism: one run of {DURATION:g} s",
        error="relative error of point F at the end (more accurate to the right)",
        time="time for one run, ms",
        limits=(1e-1, 1e-10),
        placed=PLACED,
    )
    write_page(curves, versions)
    console.print(f"written: {PAGE.relative_to(pages.ROOT)}, {PICTURE.relative_to(pages.ROOT)}")
