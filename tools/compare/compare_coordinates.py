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

from varimech.schemes import COORDINATES

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
    "chain": ("Planar chain", "An open chain of N hinged bars: the benchmark `chain`."),
    "spatial chain": (
        "Spatial chain",
        "An open chain of N bodies, connected by hinges whose axes alternate between two oblique directions.",
    ),
    "binary tree": (
        "Spatial binary tree",
        "The same hinges, with two further bodies attached to each body: N = 7, 15, 31, … bodies at a depth of 3, 4, 5, …",
    ),
    "four-bars": (
        "N four-bars",
        "The benchmark `four-bar`: planar, N windows, 2 N + 1 bars, N loops, one degree of freedom.",
    ),
}
INTRODUCTION = """\
# Coordinates

This page compares the speed of natural coordinates (`natural`: points and vectors, with joints as constraints) and relative coordinates (joint
coordinates along a spanning tree, with loops closed by constraints). The recursion of relative coordinates refers to the centres of mass (`rtdyn0`) or to
the global origin (`rtdyn1`). The results of a simulation are the same. By default, Varimech selects coordinates by the topology of the mechanism; to
select them yourself, use `m.simulate(…, coordinates="rtdyn1")`. `python tools/compare/compare.py coordinates` repeats these measurements, and `make compare`
repeats those of all pages.
"""
SETTINGS = f"""\
## Settings

- **Operations**: scalar operations of the generated functions. In straight-line code, these are the arithmetic instructions (not those that
  read, write or set a constant). For large models, which use plans, the operations of each kernel are multiplied by the number of its elements.
  A factorisation counts as two operations per product and one per entry of L and per pivot; a solution, as two per entry of L and U and one per pivot.
  For index 1, the table lists one evaluation of accelerations, multipliers and residuals; for ALI3-P, one step with predictor, iterations (average
  number) and projections. With derivatives, the count also includes the coefficients of the linearised equations and one tangent evaluation per parameter.
- **Time**: µs per step, compiled: the fastest of at least {AT_LEAST} runs of {STEPS} steps within at least {MEASURING:g} s, minus the fastest
  of as many runs of one step, divided by the difference in steps. Index 1 uses projections and RK4 (three evaluations of the accelerations per step, and
  a fourth at its end), ALI3-P the trapezoidal rule. The step is 1 ms (benchmarks: 0.1 ms).
- **Set-up**: the time to derive and compile the equations with an empty cache, up to the end of the first step; a single measurement.
- **Derivatives**: of the whole state with respect to all parameters of the benchmark.
- Every case runs in a separate process. The final positions of the last point of the last body in different coordinates must agree to
  {AGREEMENT["index1"]:g} m (RK4) and {AGREEMENT["ali3p"]:g} m (trapezoidal rule).
- "–": not supported (ALI3-P supports relative coordinates up to a limited size only), or not completed within {LIMIT:g} s including set-up; larger models are then
  omitted.
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


def verdict(ratios: dict[int, float]) -> str:
    """Which coordinates to take, in words, from times natural over relative by size."""
    low, high = min(ratios.values()), max(ratios.values())
    span = f"{three_digits(low)} to {three_digits(high)}" if len(ratios) > 1 else three_digits(low)
    if low >= ALIKE:
        return f"**relative** (ratio {span})"
    if high <= 1 / ALIKE:
        return f"**natural** (ratio {span})"
    if low > 1 / ALIKE and high < ALIKE:
        return f"**either** (ratio {span})"
    each = ", ".join(f"{three_digits(ratio)} for N = {size:,}" for size, ratio in ratios.items())
    return f"**depends on the size** (ratio {each})"


def advice(rows: list[Row]) -> str:
    """What to take, in words, from the ratios."""
    lines = [
        f"## How to choose\n\nThe ratios in this summary are times with natural coordinates divided by times with relative coordinates (the faster of `rtdyn0` and `rtdyn1`). Times within {100 * (ALIKE - 1):.0f} % count as equal.\n"
    ]
    for name, (title, _) in TITLES.items():
        results = {
            f: {r.size: r.best for r in among(rows, name, f) if r.size and r.best}
            for f in INTEGRATORS
        }
        words = "; ".join(
            f"{TITLE_OF[f]}: {verdict(ratios)}" for f, ratios in results.items() if ratios
        )
        lines.append(f"- **{title}**. {words}.")
    lines.append("- **Benchmarks with at most one loop**, ratios:")
    for f in INTEGRATORS:
        for derivatives in (False, True):
            chosen = [
                r
                for r in rows
                if r.size is None and r.formulation == f and r.sensitivities == derivatives
            ]
            ratios = {r.name: r.best for r in chosen if r.best is not None}
            words = ", ".join(
                f"{name} {three_digits(ratio)}"
                for name, ratio in sorted(ratios.items(), key=lambda pair: -pair[1])
            )
            lines.append(f"  - {TITLE_OF[f]}{' with derivatives' if derivatives else ''}: {words}.")
    return "\n".join([*lines, reference_point(rows), growth(rows), ""])


def reference_point(rows: list[Row]) -> str:
    """Centre of mass against origin, in words."""
    words = []
    for key, called in (("operations", "operations"), ("microseconds", "time")):
        pairs = [
            (r.reports["rtdyn0"][key], r.reports["rtdyn1"][key])
            for r in rows
            if set(RELATIVE) <= set(r.reports)
        ]
        mean = exp(sum(log(a / b) for a, b in pairs) / len(pairs))
        words.append(
            f"for {called}, {three_digits(mean)} (geometric mean; above 1 in "
            f"{sum(a > b for a, b in pairs)} of {len(pairs)} cases, {three_digits(min(a / b for a, b in pairs))} to "
            f"{three_digits(max(a / b for a, b in pairs))})"
        )
    return f"- **Reference point**: the ratio of `rtdyn0` (centres of mass) to `rtdyn1` (origin) is, {'; '.join(words)}."


def growth(rows: list[Row]) -> str:
    """How the time per step and body grows with size, in words."""
    lines = [
        "- **Growth**: the time per step and body (index 1) of the largest model, divided by that of the smallest model with at least 10 bodies; 1 means that the time per step grows linearly."
    ]
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
                results.append(
                    f"{c} {three_digits(last[0] / first[0])} ({last[1]:,} and {first[1]} bodies)"
                )
        lines.append(f"  - {title}: {', '.join(results)}.")
    return "\n".join(lines)


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
