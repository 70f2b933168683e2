"""Real machines with default options on an empty cache: Varimech beside Exudyn and MuJoCo;
docs/machines.md.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from machines import HESSIAN, KINDS, MEMORY, SCISSORS, nominal
from machines_peers import GOAL
from pages import DOCS, PEERS, ROOT, machine, markdown, run_side, show
from rich.console import Console

PAGE = DOCS / "machines.md"
LIMIT = 120.0
"""Seconds that one process may take."""
ENGINES = {"MuJoCo": "machines_mujoco", "Exudyn": "machines_exudyn"}
NOT_STATED = {
    "vehicle": "prescribed motions of road and rack",
    "wishbone": "a prescribed motion of the wheel",
}
"""Machines that the other engines cannot represent, and the reason."""
Report = dict[str, Any]

INTRODUCTION = """\
# Machines

This page shows how long users wait for results when they simulate realistic machines with default options: for the first motion, for later motions,
and for gradients with respect to 40 parameters. Each row was measured in a separate process, on one thread, with an initially empty cache of compiled
code. All times are wall-clock times. The machines are defined in `tools/compare/machines.py`. To repeat the measurements, run
`python tools/compare/compare.py machines`; `make compare` repeats the measurements of all pages.

- **Setup**: the time to define the model, from the first Python statement to the last.
- **First**: the duration of the first call.
- **Later**: the median duration of five later calls, at least ten seconds after the start of the first call. Gradients are measured as soon as
  compiled code is in use, but after one minute at the latest. For the other engines, and for *Varimech, as accurate*, the column shows the fastest of
  at least three calls.
- **By**: Varimech compiles code in the background while it executes calls. Entries such as *by compiled code* show how the later calls were executed.
  For gradients, they also show when compiled code took over from bytecode.
- **Error**: the distance between a point of the machine and its exact position (computed with a tolerance of 1e-10) at the end of the motion.
"""
MOTION_TEXT = f"""\
## Motions

The other engines start from the positions and velocities that Varimech assembled. Several step sizes were tried for each engine. The table shows the
longest step whose error is at most {1e3 * GOAL:g} mm or, if no error is this small, the most accurate step. *Varimech, as accurate* uses the largest tolerance
that meets the same limit. MuJoCo uses RK4 and closes loops with `connect` constraints that are as stiff as the step allows. Exudyn uses the
trapezoidal rule with index-2 constraints. Neither engine can prescribe a motion as a constraint (Exudyn can only call a Python function in every
step), so the table contains no results of these engines for the vehicle and the double wishbone.
"""
GRADIENT_TEXT = """\
## Gradients

There are two objectives: the squared distance of a point from the origin at the end of the motion, and the integral of its squared speed. The double
wishbone has a single objective, the camber angle, which is differentiated with respect to 33 parameters. The limits in the table are targets of the
project; no test enforces them.

The other engines cannot compute derivatives of a motion with respect to parameters. Central differences require two runs per parameter, so the
columns for these engines show the time of one run (from the column *later* above) multiplied by twice the number of parameters. The time to rebuild
and reassemble the models is not included.
"""
START_TEXT = """\
## Start of scissor structures

The table shows how long it takes from the first statement of the model to the end of a simulation of 1 ms. If this time were proportional to the
number of bodies, the last column would be constant.
"""


def seconds(x: float | None) -> str:
    """Three digits that count."""
    return (
        "–"
        if x is None
        else f"{x:.0f} s"
        if x >= 99.5
        else f"{x:#.3g} s"
        if x >= 1
        else f"{1e3 * x:.3g} ms"
    )


def against(x: float, limit: float) -> list[str]:
    """A figure, its limit and the ratio of both."""
    return [seconds(x), seconds(limit), f"{x / limit:.2f}"]


def length(x: float) -> str:
    return f"{1e3 * x:.1e} mm"


MOTION_HEADINGS = ["machine", "engine", "setup", "first", "later", "error", "MB", "setting"]


def motion_rows(kind: str, reports: dict[str, Report | str]) -> list[list[str]]:
    """A row an engine; a text stands for what went wrong."""
    name, rows = nominal(kind).name, []
    for engine, report in reports.items():
        if isinstance(report, str):
            rows.append([name, engine, "–", "–", "–", "–", "–", report])
            continue
        times = [seconds(report[key]) for key in ("stating", "first", "later")]
        setting = report.get("setting", f"by {report.get('execution')}")
        memory = f"{report['megabytes']:.0f}"
        rows.append([name, engine, *times, length(report["error"]), memory, setting])
        if (loose := report.get("loose")) is not None:
            setting = f"tolerance {loose['tolerance']:g}"
            figures = ["", "", seconds(loose["later"]), length(loose["error"]), "", setting]
            rows.append([name, "Varimech, as accurate", *figures])
    return rows


GRADIENT_HEADINGS = [
    "machine",
    "parameters",
    "first",
    "limit",
    "ratio",
    "later",
    "limit",
    "ratio",
    "MB",
    "by",
    *(f"{engine}, differences" for engine in ENGINES),
]


def gradient_row(kind: str, report: Report | str, peers: dict[str, Report | str]) -> list[str]:
    known = KINDS[kind]
    theirs = [
        "–" if isinstance(peer, str) else seconds(peer["gradient"])
        for peer in map(peers.__getitem__, ENGINES)
    ]
    head = [nominal(kind).name, str(known.parameters)]
    if isinstance(report, str):
        limits = ["–", seconds(known.first), "–", "–", seconds(known.later), "–"]
        return [*head, *limits, "–", report, *theirs]
    return [
        *head,
        *against(report["first"], known.first),
        *against(report["later"], known.later),
        f"{report['megabytes']:.0f}",
        report["execution"],
        *theirs,
    ]


START_HEADINGS = ["bodies", "setup", "first motion", "MB", "both, ms per body"]


def start_row(levels: int, report: Report | str) -> list[str]:
    bodies = 12 * levels + 4
    if isinstance(report, str):
        return [str(bodies), "–", "–", "–", report]
    total = report["stating"] + report["first"]
    times = [seconds(report[key]) for key in ("stating", "first")]
    return [str(bodies), *times, f"{report['megabytes']:.0f}", f"{1e3 * total / bodies:.1f}"]


class Comparison:
    """Runs sides one after the other; a side that fails leaves the reason in its place."""

    def __init__(self) -> None:
        self.console = Console(stderr=True)
        self.versions: dict[str, str] = {}

    def side(self, name: str, python: Path | str, label: str, asked: Report) -> Report | str:
        with self.console.status(f"measuring: {label}"):
            try:
                report = run_side(name, python, asked, LIMIT)
            except subprocess.TimeoutExpired:
                return f"not within {LIMIT:g} s"
            except (subprocess.CalledProcessError, OSError) as error:
                self.console.print(f"{label}: {error}")
                return "failed" if Path(python).exists() else "not installed"
        self.versions |= report["versions"]
        return str(report["problem"]) if "problem" in report else report

    def varimech(self, analysis: str, *arguments: Any) -> Report | str:
        label = " ".join(map(str, ("Varimech,", analysis, *arguments)))
        asked = {"analysis": analysis, "arguments": arguments}
        return self.side("machines_varimech", sys.executable, label, asked)

    def motions(self, kind: str) -> dict[str, Report | str]:
        """The reports of all engines."""
        own = self.varimech("motion", kind)
        reports: dict[str, Report | str] = {"Varimech": own}
        if not isinstance(own, str):
            own["error"] = (
                sum((a - b) ** 2 for a, b in zip(own["position"], own["exact"], strict=True)) ** 0.5
            )
        for engine, side in ENGINES.items():
            if kind in NOT_STATED:
                reports[engine] = f"not supported: {NOT_STATED[kind]}"
            elif isinstance(own, str):
                reports[engine] = "no initial state"
            else:
                asked = {"machine": kind, "state": own["state"], "exact": own["exact"]}
                reports[engine] = self.side(side, PEERS, f"{engine}, {kind}", asked)
        return reports


def hessian_text(report: Report | str) -> str:
    if isinstance(report, str):
        return f"Exact Hessian of the spatial slider-crank: {report}.\n"
    return (
        f"The exact Hessian of the spatial slider-crank ({report['parameters']} parameters, 5 s) takes"
        f" {seconds(report['first'])} in the first call (limit {seconds(HESSIAN)}, ratio"
        f" {report['first'] / HESSIAN:.2f}) and {seconds(report['later'])} in later calls; the peak memory is"
        f" {report['megabytes']:.0f} MB.\n"
    )


SECOND = "rus", "ups"
"""A machine, and another one that is stated after it."""


def second_text(report: Report | str) -> str:
    names = [nominal(kind).name for kind in SECOND]
    if isinstance(report, str):
        return f"## A second machine\n\n{names[1]} after {names[0]}: {report}.\n"
    total = seconds(report["stating"] + report["first"])
    return (
        "## A second machine\n\n"
        f"The {names[0]} and the {names[1]} were simulated one after the other in the same process. For"
        f" the second machine, {total} pass between the first statement of its model and the end of its"
        f" first simulation (1 ms of motion). This simulation runs as {report['execution']}, and"
        f" {report['libraries'] or 'no'} libraries are built for it: the bytecode interpreter and the"
        " time loops are compiled only once per computer. Code for a particular model is compiled in"
        " the background if compiling is expected to save time. Large models with the same kinds of"
        " elements share this code.\n"
    )


MEMORY_TEXT = (
    "**MB**: the peak memory of the process. For Varimech, the peak memory of the largest finished"
    f" compiler process is added; the limit for this sum is {MEMORY:g} MB.\n"
)


def compare_machines() -> None:
    """Measure, show and write."""
    comparison = Comparison()
    motions = {kind: comparison.motions(kind) for kind in KINDS}
    gradients = {kind: comparison.varimech("gradient", kind) for kind in KINDS}
    starts = {levels: comparison.varimech("start", levels) for levels in SCISSORS}
    hessian = hessian_text(comparison.varimech("hessian"))
    tables = {
        MOTION_TEXT: (
            MOTION_HEADINGS,
            [row for kind, reports in motions.items() for row in motion_rows(kind, reports)],
        ),
        GRADIENT_TEXT: (
            GRADIENT_HEADINGS,
            [gradient_row(kind, gradients[kind], motions[kind]) for kind in KINDS],
        ),
        START_TEXT: (START_HEADINGS, [start_row(*item) for item in starts.items()]),
    }
    sections = []
    for text, (headings, rows) in tables.items():
        show(text.splitlines()[0].strip("# "), headings, rows, 1)
        sections.append(f"{text}\n{markdown(headings, rows, 1)}")
    sections.insert(2, hessian)
    second = second_text(comparison.varimech("second", *SECOND))
    parts = [INTRODUCTION, machine(comparison.versions), *sections, second, MEMORY_TEXT]
    page = "\n".join(parts)
    PAGE.write_text(page, encoding="utf-8")
    comparison.console.print(f"{hessian}written: {PAGE.relative_to(ROOT)}")
