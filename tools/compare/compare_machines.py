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
    "vehicle": "drives of road and rack",
    "wishbone": "a drive of the wheel",
}
"""Machines that the other engines cannot state, and because of what."""
Report = dict[str, Any]

INTRODUCTION = """\
# Machines

This page shows how long users of real machines wait: for the first motion, for later motions, and for gradients with 40 parameters, with default options.
Every row is measured in a process of its own with an empty cache of compiled code, one thread, seconds of wall time. `make compare` repeats the
measurements (`python tools/compare/compare.py machines` those of this page only). `tools/compare/machines.py` states the machines.

- **States**: from the first statement of the model until it is complete.
- **Later**: the median of five calls that begin ten seconds after the first one has begun or later; of gradients, when compiled code has taken over,
  or after a minute. Code is compiled in the background while calls go on; *by* names what executes later calls, and from when on.
- **Error**: distance of a point of the machine from its exact position (Varimech with a tolerance of 1e-10) at the end of the motion.
"""
MOTION_TEXT = f"""\
## Motions

The other engines start with the positions and velocities that Varimech assembles. They use the longest of several steps whose error is at most
{1e3 * GOAL:g} mm, or the most accurate one if none is; *Varimech, as accurate* uses the largest tolerance that reaches the same. MuJoCo: RK4, loops closed by
`connect` constraints as stiff as the step allows. Exudyn: trapezoidal rule, index-2 constraints. Neither of them has drives that are constraints (Exudyn has Python functions
called in every step), so the vehicle and the double wishbone are not stated there.
"""
GRADIENT_TEXT = """\
## Gradients

Objectives are the squared distance of a point at the end and the integral of its squared speed (double wishbone: camber, 33 parameters). Other engines have no
derivatives of motions with respect to parameters: central differences take two motions for each parameter, and the table shows that many times a later motion
of theirs, without building models anew and without assembling them. Limits are goals of the project, not assertions of tests.
"""
START_TEXT = """\
## Start of scissor structures

From the first statement to the end of a motion of 1 ms. Linear growth keeps the last column constant.
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


MOTION_HEADINGS = ["machine", "engine", "states", "first", "later", "error", "MB", "setting"]


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


START_HEADINGS = ["bodies", "states", "first motion", "MB", "both, ms a body"]


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
                reports[engine] = f"not stated: {NOT_STATED[kind]}"
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
        f"Exact Hessian of the spatial slider-crank ({report['parameters']} parameters, 5 s): first"
        f" {seconds(report['first'])} (limit {seconds(HESSIAN)}, ratio"
        f" {report['first'] / HESSIAN:.2f}), later {seconds(report['later'])},"
        f" {report['megabytes']:.0f} MB.\n"
    )


SECOND = "rus", "ups"
"""A machine, and another one that is stated after it."""


def second_text(report: Report | str) -> str:
    names = [nominal(kind).name for kind in SECOND]
    if isinstance(report, str):
        return f"A second machine ({names[1]} after {names[0]}): {report}.\n"
    total = seconds(report["stating"] + report["first"])
    return (
        "## A second machine\n\n"
        f"{names[1]} after {names[0]} in one process: its first motion (1 ms) ends {total} after its"
        f" first statement, by {report['execution']}, with {report['libraries']} libraries built for"
        " it. The interpreter of bytecode and the time loops are compiled once for each computer."
        " Compiled code is built for each program, in the background and when it pays; large models"
        " with the same kinds of elements share it.\n"
    )


MEMORY_TEXT = (
    "**MB**: peak of the process plus that of its largest compiler process that has ended; the limit is"
    f" {MEMORY:g} MB. Exudyn and MuJoCo: peak of the process.\n"
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
