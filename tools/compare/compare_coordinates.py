"""Natural coordinates beside relative ones: operations, time per step and set-up, over size and on
benchmarks; docs/coordinates.md.
"""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from math import exp, log
from typing import Any

import numpy as np
from compare_scale import three_digits
from coordinates_side import AT_LEAST, INTEGRATORS, MEASURING, STEPS, Case
from pages import COLOURS, DOCS, ROOT, machine, markdown, run_side, show
from rich.console import Console

from varimech import schemes

PAGE, PICTURE = DOCS / "coordinates.md", DOCS / "images" / "compare_coordinates.png"
LIMIT = 45.0
"""Seconds that a case may take, set-up and runs; larger ones of its kind are not tried then."""
AT_ONCE = 1
"""Cases at a time; more of them are sooner done and less exact."""
ALIKE = 1.15
"""Times that differ by less than this factor are called equal."""
AGREEMENT = {"index1": 1e-8, "ali3p": 1e-3}
"""Largest distance (m) between where coordinates lead by the same step; the trapezoidal rule has an
error of its own in each.
"""
COORDINATES = [name for name in schemes.COORDINATES if name != "auto"]
"""Those that are measured: "auto" selects one of them."""
NATURAL, *RELATIVE = COORDINATES
SIZES: dict[str, dict[str, tuple[int, ...]]] = {
    "chain": {"index1": (5, 10, 20, 50, 100, 200, 500, 1000), "ali3p": (5, 10, 100, 1000)},
    "spatial chain": {"index1": (5, 10, 20, 50, 100, 200), "ali3p": (5, 100)},
    "binary tree": {"index1": (7, 15, 31, 63, 127), "ali3p": (7, 15)},
    "four-bars": {"index1": (1, 2, 5, 10, 20, 40, 100), "ali3p": (1, 2, 5, 10, 20, 40, 100)},
}
BENCHMARKS = ("pendulum", "five-bar", "bricard", "governor", "spatial-slider-crank", "chain")
"""Those of one loop or none."""
TITLES = {
    "chain": ("Planar chain", "The model is an open chain of N hinged bars (benchmark `chain`)."),
    "spatial chain": (
        "Spatial chain",
        "The model is an open chain of N bodies, connected by hinges whose axes alternate between two oblique directions.",
    ),
    "binary tree": (
        "Spatial binary tree",
        "The hinges are those of the spatial chain, but two further bodies are attached to each body. A tree with 3, 4, 5, … levels has N = 7, 15, 31, … bodies in total.",
    ),
    "four-bars": (
        "N four-bars",
        "The model is the planar benchmark `four-bar`: a row of N four-bars with 2 N + 1 bars, N loops and one degree of freedom.",
    ),
}
INTRODUCTION = """\
# Coordinates

A mechanism can be simulated in natural or in relative coordinates. Both give the same results; this page compares their speed.

- **Natural coordinates** (`natural`) are the components of points and vectors of the bodies; joints are constraints.
- **Relative coordinates** are joint coordinates along a spanning tree; constraints close the loops. The recursion over the bodies refers to their centres of
  mass (`rtdyn0`) or to the global origin (`rtdyn1`).

By default, Varimech selects the coordinates according to the topology of the mechanism. To select them yourself, use the argument `coordinates`, for
example `m.simulate(…, coordinates="rtdyn1")`. `python tools/compare/compare.py coordinates` repeats the measurements on this page, and `make compare`
repeats the measurements of all pages.
"""
RATIOS = f"""\
In general, relative coordinates suit open chains, open trees and spatial mechanisms; natural coordinates suit large planar mechanisms with loops. In
the following tables, each ratio is the time per step with natural coordinates, divided by the time per step with the faster kind of relative
coordinates (`rtdyn0` or `rtdyn1`). If a ratio is above 1, relative coordinates are faster. Times within {100 * (ALIKE - 1):.0f} % count as equal.
"""
REFERENCE_POINT = """\
**Reference point.** The next table shows operations and times with `rtdyn0` (centres of mass), divided by those with `rtdyn1` (origin). If a ratio is
above 1, `rtdyn1` is better:
"""
GROWTH = """\
**Growth.** How does the time per step and body (index 1) depend on the size of a model? The table shows the time per step and body of the largest
model, divided by that of the smallest model with at least 10 bodies. The numbers of bodies are given in parentheses. A ratio of 1 means that the time
per step grows linearly with the number of bodies.
"""
SETTINGS = f"""\
## Settings

- **Operations** are the scalar operations of the generated functions. In straight-line code, all arithmetic instructions count; instructions that
  only read, write or set a constant do not count. For large models, which use plans, the operations of each kernel are multiplied by the number of
  its elements. A factorisation counts as two operations per product and one per entry of L and per pivot. A solution counts as two operations per
  entry of L and U and one per pivot. For index 1, the tables list one evaluation of accelerations, multipliers and residuals; for ALI3-P, they list
  one step with predictor, iterations (average number) and projections. With derivatives, the count also includes the coefficients of the linearised
  equations and one evaluation of the tangent for each parameter.
- **Time** is given in µs per step, for compiled code. For each case, runs of {STEPS} steps are timed at least {AT_LEAST} times and for at least {MEASURING:g} s, and runs of
  a single step are timed equally often. The tables show the difference between the fastest runs of both kinds, divided by the difference between
  their numbers of steps. Index 1 uses projections and RK4 (three evaluations of the accelerations per step, and a fourth at its end); ALI3-P uses the
  trapezoidal rule. The step is 1 ms (benchmarks: 0.1 ms).
- **Set-up** is the time to derive and compile the equations with an empty cache and to compute the first step. It was measured once.
- **Derivatives** of the whole state are computed with respect to all parameters of the benchmark. The column lists the number of parameters.
- **Checks**: every case runs in a separate process. The final positions of the last point of the last body in different coordinates must agree to
  {AGREEMENT["index1"]:g} m (RK4) and {AGREEMENT["ali3p"]:g} m (trapezoidal rule).
- **A dash** means that a case is not supported (ALI3-P supports relative coordinates only up to a limited size) or took longer than {LIMIT:g} s including
  set-up. Larger models of the same kind are then omitted.
"""


@dataclass
class Row:
    """One mechanism by one formulation: reports by coordinates."""

    name: str
    size: int | None
    formulation: str
    sensitivities: bool = False
    reports: dict[str, dict[str, Any]] = field(default_factory=dict)

    def values(self, key: str) -> list[float | None]:
        return [self.reports[c][key] if c in self.reports else None for c in COORDINATES]

    def ratio(self, coordinates: str, key: str = "microseconds") -> float | None:
        """How many times as much as in these coordinates it takes in natural ones."""
        both = [self.reports[c][key] for c in (NATURAL, coordinates) if c in self.reports]
        return both[0] / both[1] if len(both) == 2 else None

    @property
    def best(self) -> float | None:
        """The same against the faster ones of the relative coordinates."""
        return max((r for c in RELATIVE if (r := self.ratio(c)) is not None), default=None)

    def check(self) -> None:
        """Stops if coordinates do not lead to the same motion."""
        ends = [np.array(report["position"]) for report in self.reports.values()]
        gap = max((float(np.linalg.norm(end - ends[0])) for end in ends), default=0.0)
        if gap > AGREEMENT[self.formulation]:
            raise SystemExit(
                f"{self.name}, N = {self.size}, {self.formulation}: coordinates lead to places {gap:.1e} m apart"
            )


TITLE_OF = {"index1": "index 1", "ali3p": "ALI3-P"}
HEADINGS = [
    *[f"operations, {c}" for c in COORDINATES],
    *[f"µs per step, {c}" for c in COORDINATES],
    *[f"natural / {c}" for c in RELATIVE],
    *[f"set-up in s, {c}" for c in COORDINATES],
]


def cells(row: Row) -> list[str]:
    operations = ["–" if x is None else f"{x:,.0f}" for x in row.values("operations")]
    ratios = [f"{three_digits(r)}×" if (r := row.ratio(c)) is not None else "–" for c in RELATIVE]
    times, setups = (
        list(map(three_digits, row.values(key))) for key in ("microseconds", "setup_seconds")
    )
    return [*operations, *times, *ratios, *setups]


def benchmark_cells(row: Row) -> list[str]:
    report = next(iter(row.reports.values()))
    return [
        row.name,
        f"{report['loops']}",
        TITLE_OF[row.formulation],
        f"{report['parameters'] or '–'}",
        *cells(row),
    ]


BENCHMARK_HEADINGS = ["benchmark", "loops", "formulation", "derivatives", *HEADINGS]


def measure(line: list[tuple[Row, Case]], console: Console) -> None:
    """Cases of growing size, up to the first one that is refused or takes too long."""
    for row, case in line:
        called = f"{case.name}{'' if case.size is None else f', N = {case.size}'}, {case.formulation}, {case.coordinates}"
        try:
            report = run_side("coordinates", sys.executable, asdict(case), LIMIT)
        except subprocess.TimeoutExpired:
            report = {"refused": f"more than {LIMIT:g} s"}
        if "refused" in report:
            console.print(f"{called}: {report['refused']}")
            return
        console.print(f"{called}: {report['microseconds']:.3g} µs, {report['setup_seconds']:.3g} s")
        row.reports[case.coordinates] = report


def measured(console: Console) -> list[Row]:
    rows = [Row(name, n, f) for name, sizes in SIZES.items() for f in sizes for n in sizes[f]]
    rows += [
        Row(name, None, f, sensitivities=s)
        for name in BENCHMARKS
        for f in INTEGRATORS
        for s in (False, True)
    ]
    lines: dict[object, list[tuple[Row, Case]]] = {}
    for row in rows:
        for c in COORDINATES:
            key = row.name, row.formulation, row.sensitivities, row.size is None, c
            lines.setdefault(key, []).append(
                (row, Case(row.name, row.size, c, row.formulation, row.sensitivities))
            )
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda line: measure(line, console), lines.values()))
    for row in rows:
        row.check()
    return [row for row in rows if row.reports]


def among(rows: list[Row], name: str, formulation: str) -> list[Row]:
    """Those of a family by a formulation."""
    return [
        row
        for row in rows
        if row.size is not None and row.name == name and row.formulation == formulation
    ]


def verdict(ratios: dict[int, float]) -> list[str]:
    """Which coordinates to take, and the ratios, from times natural over relative by size."""
    if not ratios:
        return ["–", "–"]
    low, high = min(ratios.values()), max(ratios.values())
    span = f"{three_digits(low)} to {three_digits(high)}" if len(ratios) > 1 else three_digits(low)
    if low >= ALIKE:
        return ["relative", span]
    if high <= 1 / ALIKE:
        return ["natural", span]
    if low > 1 / ALIKE and high < ALIKE:
        return ["either", span]
    return ["depends on the size", span]


ADVICE_HEADINGS = ["model", *[h for f in TITLE_OF.values() for h in (f"{f}: faster", "ratio")]]
SINGLE_HEADINGS = [
    "benchmark",
    *[f"{f}{d}" for f in TITLE_OF.values() for d in ("", ", derivatives")],
]


def advice(rows: list[Row]) -> str:
    """What to take, from the ratios."""
    families = [
        [
            title,
            *[
                cell
                for f in INTEGRATORS
                for cell in verdict(
                    {r.size: r.best for r in among(rows, name, f) if r.size and r.best}
                )
            ],
        ]
        for name, (title, _) in TITLES.items()
    ]
    single = {
        (r.name, r.formulation, r.sensitivities): three_digits(r.best)
        for r in rows
        if r.size is None
    }
    benchmarks = [
        [name, *[single.get((name, f, d), "–") for f in INTEGRATORS for d in (False, True)]]
        for name in BENCHMARKS
    ]
    return "\n".join(
        [
            f"## How to choose\n\n{RATIOS}",
            markdown(ADVICE_HEADINGS, families, 1),
            "The ratios of the benchmarks with at most one loop are:\n",
            markdown(SINGLE_HEADINGS, benchmarks, 1),
            reference_point(rows),
            growth(rows),
        ]
    )


def reference_point(rows: list[Row]) -> str:
    """Centre of mass against origin."""
    table = []
    for key, called in (("operations", "operations"), ("microseconds", "time")):
        ratios = [
            r.reports["rtdyn0"][key] / r.reports["rtdyn1"][key]
            for r in rows
            if set(RELATIVE) <= set(r.reports)
        ]
        mean = exp(sum(map(log, ratios)) / len(ratios))
        table.append(
            [
                called,
                three_digits(mean),
                f"{three_digits(min(ratios))} to {three_digits(max(ratios))}",
                f"{sum(ratio > 1 for ratio in ratios)} of {len(ratios)}",
            ]
        )
    return (
        f"{REFERENCE_POINT}\n{markdown(['', 'geometric mean', 'range', 'cases above 1'], table, 1)}"
    )


def growth(rows: list[Row]) -> str:
    """How the time per step and body grows with size."""
    table = []
    for name, (title, _) in TITLES.items():
        results = []
        for c in COORDINATES:
            reports = [
                r.reports[c]
                for r in among(rows, name, "index1")
                if c in r.reports and r.reports[c]["bodies"] >= 10
            ]
            if len(reports) > 1:
                first, last = (
                    (r["microseconds"] / r["bodies"], r["bodies"])
                    for r in (reports[0], reports[-1])
                )
                results.append(f"{three_digits(last[0] / first[0])} ({first[1]} to {last[1]:,})")
            else:
                results.append("–")
        table.append([title, *results])
    return f"{GROWTH}\n{markdown(['model', *COORDINATES], table, 1)}"


def draw(rows: list[Row]) -> None:
    """Time per step and body over the number of bodies, a panel a family."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(2, 2, figsize=(11, 8), dpi=150, layout="constrained", sharey=True)
    for axes, (name, (title, _)) in zip(panels.flat, TITLES.items(), strict=True):
        for coordinates, colour in zip(COORDINATES, COLOURS[:1] + COLOURS[2:4], strict=True):
            for formulation, style in zip(INTEGRATORS, ("o-", "s:"), strict=True):
                results = [
                    r.reports[coordinates]
                    for r in among(rows, name, formulation)
                    if coordinates in r.reports
                ]
                points = [
                    (report["bodies"], report["microseconds"] / report["bodies"])
                    for report in results
                ]
                if points:
                    label = f"{coordinates}, {TITLE_OF[formulation]}"
                    axes.loglog(
                        *zip(*points, strict=True),
                        style,
                        color=colour,
                        linewidth=1.6,
                        markersize=4.5,
                        label=label,
                    )
        axes.xaxis.set_major_formatter("{x:,g}")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.set_title(title, loc="left")
        axes.grid(which="major", alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in panels[1]:
        axes.set_xlabel("bodies")
    for axes in panels[:, 0]:
        axes.set_ylabel("µs per step and body")
    figure.legend(
        *panels[1, 1].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=3,
        frameon=False,
    )
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE)


def write_page(rows: list[Row]) -> None:
    version = next(iter(rows[0].reports.values()))["version"]
    parts = [
        INTRODUCTION,
        machine({"varimech": version}),
        advice(rows),
        f"![Time per step and body](images/{PICTURE.name})\n",
    ]
    for name, (title, text) in TITLES.items():
        parts.append(f"## {title}\n\n{text}\n")
        for f in INTEGRATORS:
            table = [[f"{row.size:,}", *cells(row)] for row in among(rows, name, f)]
            parts.append(
                f"`{f}` with `{INTEGRATORS[f]}`:\n\n{markdown(['N', *HEADINGS], table, 0)}"
            )
    single = [benchmark_cells(row) for row in rows if row.size is None]
    parts.append(
        f"## Benchmarks with at most one loop\n\n{markdown(BENCHMARK_HEADINGS, single, 1)}"
    )
    PAGE.write_text("\n".join([*parts, SETTINGS]), encoding="utf-8")


def compare_coordinates() -> None:
    """Measures, shows and writes."""
    console = Console(stderr=True)
    rows = measured(console)
    for name in TITLES:
        for f in INTEGRATORS:
            show(
                f"{name}, {f}",
                ["N", *HEADINGS],
                [[f"{row.size}", *cells(row)] for row in among(rows, name, f)],
                0,
            )
    draw(rows)
    write_page(rows)
    console.print(f"written: {PAGE.relative_to(ROOT)}, {PICTURE.relative_to(ROOT)}")
