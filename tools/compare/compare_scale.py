"""Mechanisms of 10 to some thousand bodies: Varimech beside Exudyn, same step; docs/scale.md and a
picture.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pages import DOCS, PEERS, ROOT, machine, markdown, run_side, show
from rich.console import Console
from scale_problem import DURATIONS, PROBLEMS, Case, distance

PAGE, PICTURE = DOCS / "scale.md", DOCS / "images" / "compare_scale.png"
ENGINES: tuple[tuple[str, str, Path | str], ...] = (
    ("Varimech", "scale_varimech", sys.executable),
    ("Exudyn", "scale_exudyn", PEERS),
)
LIMIT = 3600.0
"""Seconds a side may take for one case."""
AS_ACCURATE = 1.5
"""Exudyn may use any setting whose error is at most so many times that of its default tolerance, or
that of Varimech.
"""

INTRODUCTION = """\
# Scale

This page compares the speed of Varimech and Exudyn for two planar mechanisms of uniform links (1 m, 1 kg) under gravity, with 10 to several thousand
bodies. Both programs use the trapezoidal rule with a step of 1 ms on one thread. The time per step is the duration of a whole call divided by the
number of its steps; it was measured for the fastest of at least five calls with 50 to 500 steps. Build times and memory were measured only once.
Every case ran in a separate process. To repeat the measurements, run `python tools/compare/compare.py scale`; `make compare` repeats the measurements
of all pages.
"""
TITLES = {
    "chain": (
        "Chain of N pendulums",
        "An open chain of N links is hinged to the ground at one end and starts horizontally from rest. It has N degrees of freedom.",
    ),
    "four-bars": (
        "N four-bars",
        "This mechanism, benchmark A02 of the IFToMM library, is a row of N connected four-bars. It has 2 N + 1 links, N loops and one degree of freedom. Initially, the cranks are upright and their upper ends have a speed of 1 m/s.",
    ),
}
SETTINGS = f"""\
## Settings

- **Simulated time**: {", ".join(f"{seconds:g} s (N = {size:,})" for size, seconds in DURATIONS.items())}.
  The four-bars reach a singular position after about 0.7 s, beyond the end of all runs.
- **Error**: each program is run a second time with a quarter of its step size. The error (in micrometres) is the largest difference between the two
  runs in the final positions of the ends of the first ten links (or cranks) and of the last link (or crank). The results of the two programs at the
  smaller step size must agree to within the sum of their errors. The trapezoidal rule is of order 2, so a program with a quarter of the other
  program's error would reach the same error with twice the step size.
- **Varimech**: the call is `simulate(…, step=1e-3, every=10**9, backend="native")`, without other options. The initial conditions of the four-bars
  are one angle and one speed; `near` gives approximate angles of all other links.
- **Exudyn**: `TrapezoidalIndex2`, the build without range checks (`exudynFast`), no files, no sensors, sparsity pattern reused.
  Several settings were tried, and the fastest is shown: modified Newton's method with relative tolerances from 1e-4 to 1e-8 (the default), and full
  Newton's method with 1e-4; the linear solver `EigenSparse` and, for up to 50 bodies, also `EXUdense` and `EigenDense`. A setting counts only if its error is at most {AS_ACCURATE:g} times the
  larger of two errors: that of Varimech, and that of Exudyn with its default tolerance.
- **Setup**: the time that Varimech takes to define the model.
- **Build**: the time from the first statement of the model to the end of the first step, without imports. For Varimech, it includes the derivation
  and compilation of the equations with an empty cache.
- **Memory** (columns MB): the peak memory of the process or, if this is larger, of the compiler. It includes the imported libraries.
"""


@dataclass
class Row:
    """One case: the reports of both sides, None where one failed, and the setting that counts."""

    case: Case
    reports: dict[str, dict[str, Any] | None]

    @property
    def chosen(self) -> dict[str, dict[str, Any]]:
        """For each engine its fastest setting that is accurate enough."""
        first = {
            engine: report["settings"][0]["error"]
            for engine, report in self.reports.items()
            if report
        }
        computed = {}
        for engine, report in self.reports.items():
            if report:
                allowed = AS_ACCURATE * max(first[engine], first.get("Varimech", 0.0))
                computed[engine] = min(
                    (s for s in report["settings"] if s["error"] <= allowed),
                    key=lambda s: s["milliseconds"],
                )
        return computed

    @property
    def ratio(self) -> float | None:
        """How many times as long as Varimech Exudyn takes."""
        return (
            self.chosen["Exudyn"]["milliseconds"] / self.chosen["Varimech"]["milliseconds"]
            if len(self.chosen) == 2
            else None
        )


def check_agreement(row: Row) -> None:
    """Stops if the two engines do not compute the same motion."""
    ends = [np.array(report["positions"]) for report in row.reports.values() if report]
    if len(ends) == 2 and (gap := distance(*ends)) > (
        errors := sum(s["error"] for s in row.chosen.values())
    ):
        raise SystemExit(
            f"{row.case}: the engines differ by {gap:.1e} m, more than their errors ({errors:.1e} m)"
        )


def three_digits(x: float | None) -> str:
    """Three digits that count; a dash for nothing."""
    if x is None:
        return "–"
    return f"{x:,.0f}" if x >= 99.95 else f"{x:#.3g}"


STEP_HEADINGS = [
    "N",
    "bodies",
    "Varimech, ms per step",
    "Exudyn, ms per step",
    "Varimech is faster by",
    "Varimech, µs per step and body",
    "Exudyn, µs per step and body",
    "Varimech, error in µm",
    "Exudyn, error in µm",
]
BUILD_HEADINGS = [
    "N",
    "Varimech, setup, s",
    "Varimech, build, s",
    "Exudyn, build, s",
    "Varimech, MB",
    "Exudyn, MB",
    "Exudyn's linear solver, Newton's method, tolerance",
]


def both(values: dict[str, float]) -> list[str]:
    return [three_digits(values.get(engine)) for engine, _, _ in ENGINES]


def step_row(row: Row) -> list[str]:
    """Time per step, per step and body, and error of both."""
    chosen, bodies = row.chosen, row.case.bodies
    times = {engine: setting["milliseconds"] for engine, setting in chosen.items()}
    ratio = "–" if row.ratio is None else f"{three_digits(row.ratio)}×"
    return [
        f"{row.case.size:,}",
        f"{bodies:,}",
        *both(times),
        ratio,
        *both({engine: 1e3 * t / bodies for engine, t in times.items()}),
        *both({engine: 1e6 * setting["error"] for engine, setting in chosen.items()}),
    ]


def build_row(row: Row) -> list[str]:
    """Seconds to state and to build, and memory, of both; the setting of Exudyn that
    was fastest.
    """

    def of(key: str) -> dict[str, float]:
        return {engine: report[key] for engine, report in row.reports.items() if report}

    return [
        f"{row.case.size:,}",
        three_digits(of("stating_seconds").get("Varimech")),
        *both(of("build_seconds")),
        *both(of("megabytes")),
        row.chosen["Exudyn"]["name"] if "Exudyn" in row.chosen else "–",
    ]


def draw(rows: dict[str, list[Row]]) -> None:
    """Time per step over N, a panel a problem, a line an engine, the ratio between them."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(
        1, len(rows), figsize=(11, 5), dpi=150, layout="constrained", sharey=True
    )
    for axes, (problem, cases) in zip(panels, rows.items(), strict=True):
        for (engine, _, _), colour in zip(ENGINES, ("#c1121f", "#1d3557"), strict=True):
            points = [
                (row.case.size, row.chosen[engine]["milliseconds"])
                for row in cases
                if engine in row.chosen
            ]
            if not points:
                continue
            ours = engine == "Varimech"
            axes.loglog(
                *zip(*points, strict=True),
                "o-",
                color=colour,
                linewidth=2.6 if ours else 1.5,
                markersize=5,
            )
            axes.annotate(
                engine,
                points[-1],
                xytext=(9, 0),
                textcoords="offset points",
                va="center",
                color=colour,
                fontweight="bold" if ours else "normal",
            )
        for row in cases:
            if row.ratio is not None:
                middle = np.sqrt(
                    np.prod([setting["milliseconds"] for setting in row.chosen.values()])
                )
                place = (row.case.size, float(middle))
                axes.annotate(
                    f"{row.ratio:.0f}×",
                    place,
                    ha="center",
                    va="center",
                    color="#5f5f5f",
                    fontsize=9,
                    backgroundcolor="white",
                    zorder=1,
                )
        axes.set_xticks(list(DURATIONS), [f"{size:,}" for size in DURATIONS])
        axes.minorticks_off()
        axes.set_xlim(min(DURATIONS) / 2, max(DURATIONS) * 6)  # room for the labels
        axes.set_xlabel("N")
        axes.set_title(TITLES[problem][0], loc="left")
        axes.grid(which="major", alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("time per step, ms (between the lines: ratio)")
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE)


def imported(rows: dict[str, list[Row]]) -> str:
    """How much memory imports take, as a sentence; of the first case, which has the least to
    describe.
    """
    computed: dict[str, float] = {}
    for row in (row for cases in rows.values() for row in cases):
        computed = {
            engine: report["imported_megabytes"] for engine, report in row.reports.items() if report
        } | computed
    return (
        "Imports alone use "
        + " and ".join(f"{megabytes:.0f} MB ({engine})" for engine, megabytes in computed.items())
        + ".\n"
    )


def write_page(rows: dict[str, list[Row]], versions: dict[str, str]) -> None:
    sections = [
        f"## {TITLES[problem][0]}\n\n{TITLES[problem][1]}\n\n"
        f"{markdown(STEP_HEADINGS, [step_row(row) for row in cases], 0)}\n"
        f"{markdown(BUILD_HEADINGS, [build_row(row) for row in cases], 0)}\n"
        for problem, cases in rows.items()
    ]
    PAGE.write_text(
        f"{INTRODUCTION}\n{machine(versions)}\n![Time per step over N](images/compare_scale.png)\n\n"
        f"{''.join(sections)}{SETTINGS}  {imported(rows)}",
        encoding="utf-8",
    )


def measured(case: Case, console: Console) -> Row:
    """Both sides of one case; one that fails is told and left out."""
    row = Row(case, {})
    for engine, side, python in ENGINES:
        with console.status(f"measuring: {engine}, {case.problem}, N = {case.size}"):
            try:
                row.reports[engine] = run_side(side, python, asdict(case), LIMIT)
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                console.print(f"{engine}, {case.problem}, N = {case.size}: {error}")
                row.reports[engine] = None
    check_agreement(row)
    return row


def compare_scale() -> None:
    """Measures, shows and writes."""
    console = Console(stderr=True)
    rows = {
        problem: [measured(Case(problem, size), console) for size in DURATIONS]
        for problem in PROBLEMS
    }
    reports = [
        report
        for cases in rows.values()
        for row in cases
        for report in row.reports.values()
        if report
    ]
    versions = {name: version for report in reports for name, version in report["versions"].items()}
    for problem, cases in rows.items():
        show(
            f"{TITLES[problem][0]}: time per step",
            STEP_HEADINGS,
            [step_row(row) for row in cases],
            0,
        )
        show(
            f"{TITLES[problem][0]}: building, memory, setting of Exudyn",
            BUILD_HEADINGS,
            [build_row(row) for row in cases],
            0,
        )
    draw(rows)
    write_page(rows, versions)
    console.print(f"written: {PAGE.relative_to(ROOT)}, {PICTURE.relative_to(ROOT)}")
