"""What derivatives cost beside the motion alone, and beside a program by hand; docs/derivatives.md
and a picture.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from compare_five_bar import check_reference
from derivatives_problem import CHAIN_SIZES, CHAIN_STEPS, GOALS, WAYS
from pages import DOCS, PEERS, ROOT, machine, markdown, number, run_side, show
from rich.console import Console

PAGE, PICTURE = DOCS / "derivatives.md", DOCS / "images" / "compare_derivatives.png"
AGREE = 1e-5
"""Largest relative difference of Hessians, and of gradients of chains, between two engines."""
OURS = ("Varimech, DOP853", "Varimech, RK4", "Varimech, ALI3-P")
BY_HAND, APPENDED, CVODES = "CasADi, RK4", "CasADi, RK4, sensitivities appended", "CasADi, CVODES"
HEADINGS = ["", *OURS, BY_HAND, APPENDED, CVODES]
ROWS = {
    "gradient": ("gradient, direct", "gradient, adjoint"),
    "product": ("Hessians times a vector, forward", "Hessians times a vector, backward"),
    "Hessians": ("three Hessians, forward", "three Hessians, backward"),
}
"""Names of what is computed, each of both ways."""

INTRODUCTION = """\
# Cost of derivatives

What do first and second derivatives cost? This page compares their run times with the run time of the motion alone, and with programs written by hand
in CasADi for one particular mechanism. Each value is the shortest time of at least five complete calls on one core (three calls for runs with a
million steps). The ratio in parentheses is relative to the motion alone, with the same method and setting.
`python tools/compare/compare.py derivatives` repeats the measurements.
"""
FIVE_BAR = f"""\
## Five-bar: three objectives, five parameters, 5 s

The programs are compared at equal accuracy: the largest relative error of the 15 derivatives is below {GOALS[0]:.0e} in the first table and below {GOALS[1]:.0e} in the
second. Each program uses the smallest number of steps, or the loosest tolerance, that reaches this accuracy; the sweep begins with 100 steps or a
tolerance of 1e-2. ALI3-P does not reach either accuracy. Its times with steps of 1 ms are listed, but are not comparable with the other times. With
adaptive steps, direct and adjoint derivatives may need different tolerances. In this case, the table lists both, and the ratio for each method refers
to a motion computed with the same tolerance.
"""
CHAINS = f"""\
## Growth with the number of parameters

The model is a chain of N uniform bars with a total length of 10 m. Every length and mass is a parameter, so there are 2 N parameters. The only
objective is the integral of the squared speed of the chain's end over {CHAIN_STEPS} steps of 1 ms. Direct derivatives with respect to 100 parameters are
omitted, because their code takes a long time to compile. The hand-written program integrates the N angles with RK4 and differentiates in reverse
mode.
"""
MEMORY = """\
## Memory

The adjoint method records the steps of a run. If a memory limit does not allow all steps to be recorded, sections of the run are computed twice. The
table shows the time of a gradient over a million steps with several limits (five-bar, ALI3-P, 100 s, steps of 0.1 ms, three objectives). The last
column is the largest relative difference from the gradient that was computed with the most memory.
"""
SETTINGS = """\
## Settings

- **Varimech**: gradients are computed by `sensitivity` with `method="direct"` and `"adjoint"`, and second derivatives by `hessian` and
  `hessian_product` with `method="forward"` and `"backward"`. All calls use `backend="native"`. DOP853 and RK4 use index 1 with projections in natural
  coordinates. Only the final state is stored. The motion alone is computed by `simulate` without objectives. By default, the rows of a Hessian are
  computed in parallel on all cores; in these measurements, they share one core. The parts that DOP853 and RK4 have in common are built only once, and
  the build time of DOP853 includes them.
- **CasADi, RK4**: the equations of motion in two angles are written for this mechanism as one expression, which is evaluated four times per step. For
  the motion and the gradient, the expression is inlined; otherwise, it is called as a function. In each case, this choice was faster, or the
  alternative could not be compiled. `mapaccum` executes all steps (`fold` was equally fast). The motion includes ψ. Forward and reverse mode use
  `jtimes` with all seeds at once. Second derivatives are computed forward over reverse (as in `hessian`), in a direction that is an input; a Hessian
  takes one call for each parameter. CasADi compiles everything as one program (`jit`, `-O3 -march=native`) for a fixed number of steps.
- **CasADi, RK4, sensitivities appended**: the sensitivity equations S' = A S + B are appended to the same state by hand. Second derivatives use forward mode.
- **CasADi, CVODES**: the same equations are integrated by the Adams method with functional iteration, with CasADi's forward and adjoint
  sensitivities. The right-hand sides and their derivatives are compiled. The sweep, however, uses interpreted right-hand sides. Their values differ
  by rounding, so CVODES takes different steps. The sweep therefore leaves a margin of a fifth of the target error.
- **Not measured**: CasADi's second derivatives at the second target error, CasADi's second derivatives with CVODES, and forward over forward for RK4
  without appended sensitivities.

The reference solution is described on the page [Benchmarks](benchmarks.md). The comparison checks that the Hessians of all programs, and the
gradients of the chains from both programs, agree to a relative difference of 1e-5.
"""


def find(engines: list[dict[str, Any]], name: str, goal: float) -> dict[str, Any] | None:
    return next((e for e in engines if e["engine"] == name and e["goal"] in (goal, None)), None)


def share_motions(engines: list[dict[str, Any]]) -> None:
    """Both ways of an engine with the same setting have the same motion: the faster measurement
    counts for both.
    """
    for engine in engines:
        for scheme in engine["ways"].values():
            same = [
                w["milliseconds"]["motion"]
                for w in engine["ways"].values()
                if w["setting"] == scheme["setting"]
            ]
            scheme["milliseconds"]["motion"] = min(same)


def check_hessians(engines: list[dict[str, Any]]) -> None:
    """Stops if two engines differ; ALI3-P with its long steps is left out."""
    every = [
        np.array(w["hessians"])
        for e in engines
        if e["goal"]
        for w in e["ways"].values()
        if w["hessians"]
    ]
    size = np.abs(every[0]).max(axis=(1, 2))[:, None, None]
    for hessians in every:
        if (off := float((np.abs(hessians - every[0]) / size).max())) > AGREE:
            raise SystemExit(f"Hessians differ by {off:.1e}")


def check_chains(chains: list[dict[str, Any]]) -> None:
    """Stops if gradients of chains by RK4, by both programs, differ."""
    for size in CHAIN_SIZES:
        results = [
            np.array(c["gradient"])
            for c in chains
            if c["size"] == size and c["engine"].endswith("RK4")
        ]
        if (
            off := float(np.abs(results[0] - results[-1]).max() / np.abs(results[0]).max())
        ) > AGREE:
            raise SystemExit(f"gradients of the chain of {size} differ by {off:.1e}")


def ratio(scheme: dict[str, Any], what: str) -> str:
    if what not in scheme["milliseconds"]:
        return "–"
    ms = scheme["milliseconds"]
    return f"{number(ms[what])} ms ({number(ms[what] / ms['motion'])}×)"


def five_bar_rows(engines: list[dict[str, Any]], goal: float) -> list[list[str]]:
    """A column an engine."""
    chosen = [find(engines, name, goal) for name in HEADINGS[1:]]

    def each(of: Any) -> list[str]:
        return ["–" if e is None else of(e) for e in chosen]

    def both(key: Any) -> list[str]:
        return each(lambda e: " / ".join(dict.fromkeys(key(w) for w in e["ways"].values())))

    def built(e: dict[str, Any], order: str) -> str:
        results = [
            f"{seconds:.1f}"
            for name, seconds in e["build_seconds"].items()
            if name.startswith(order)
        ]
        return f"{' / '.join(results)} s" if results else "–"

    rows = [
        ["setting", *both(lambda w: w["setting"])],
        ["error", *both(lambda w: f"{w['error']:.1e}")],
        [
            "motion alone",
            *each(
                lambda e: (
                    f"{number(min(w['milliseconds']['motion'] for w in e['ways'].values()))} ms"
                )
            ),
        ],
    ]
    for what, names in ROWS.items():
        for name, scheme in zip(names, WAYS, strict=True):
            rows.append(
                [
                    name,
                    *each(
                        lambda e, scheme=scheme, what=what: (
                            ratio(e["ways"][scheme], what) if scheme in e["ways"] else "–"
                        )
                    ),
                ]
            )
    for order in ("first", "second"):
        rows.append([f"build, {order} derivatives", *each(lambda e, order=order: built(e, order))])
    return rows


CHAIN_HEADINGS = [
    "N",
    "parameters",
    "program",
    "motion alone",
    "direct",
    "adjoint",
    "build: motion, direct, adjoint",
]


def chain_rows(chains: list[dict[str, Any]]) -> list[list[str]]:
    rows = []
    for c in sorted(chains, key=lambda c: c["size"]):
        built = ", ".join(
            f"{c['build_seconds'][w]:.1f} s" if w in c["build_seconds"] else "–"
            for w in ("motion", "direct", "adjoint")
        )
        times = [
            f"{number(c['milliseconds']['motion'])} ms",
            ratio(c, "direct"),
            ratio(c, "adjoint"),
        ]
        rows.append([str(c["size"]), str(2 * c["size"]), c["engine"], *times, built])
    return rows


MEMORY_HEADINGS = ["memory limit", "time", "ratio to the motion alone", "difference"]


def memory_rows(memory: dict[str, Any]) -> list[list[str]]:
    rows = [
        [
            f"{b['megabytes']:,g} MB",
            f"{b['seconds']:.2f} s",
            f"{number(b['seconds'] / memory['motion'])}×",
            f"{b['difference']:.0e}",
        ]
        for b in memory["bounds"]
    ]
    return [["motion alone", f"{memory['motion']:.2f} s", "1.00×", "–"], *rows]


def bracketed(engine: str) -> str:
    """The name of an engine, with its method in parentheses."""
    program, method = engine.split(", ", 1)
    return f"{program} ({method})"


def losses(engines: list[dict[str, Any]], chains: list[dict[str, Any]]) -> str:
    """Where a program by hand is faster, told as a list."""
    lines = []

    def tell(
        where: str, ours: dict[str, float], theirs: dict[str, float], names: dict[str, str]
    ) -> None:
        slower = [
            f"{name} {number(ours[k] / theirs[k])}×"
            for k, name in names.items()
            if k in ours and k in theirs and ours[k] > theirs[k]
        ]
        if slower:
            lines.append(f"- {where}: {'; '.join(slower)}.\n")

    def times(name: str, goal: float) -> dict[str, float]:
        e = find(engines, name, goal) or {"ways": {}}
        return {
            what if what == "motion" else f"{what}, {scheme}": t
            for scheme, w in e["ways"].items()
            for what, t in w["milliseconds"].items()
        }

    names = {
        "motion": "motion",
        **{
            f"{what}, {scheme}": both[k]
            for what, both in ROWS.items()
            for k, scheme in enumerate(WAYS)
        },
    }
    for goal in GOALS:
        for ours in OURS[:2]:
            for theirs in (BY_HAND, APPENDED, CVODES):
                tell(
                    f"Five-bar, error ≤ {goal:.0e}, {bracketed(ours)} against {bracketed(theirs)}",
                    times(ours, goal),
                    times(theirs, goal),
                    names,
                )
    for c in chains:
        if c["engine"] == BY_HAND:
            for mine in chains:
                if mine["size"] == c["size"] and mine["engine"] != BY_HAND:
                    same = {k: k for k in c["milliseconds"]}
                    building = {k: f"building the {k}" for k in c["build_seconds"]}
                    where = f"Chain of {c['size']}, {bracketed(mine['engine'])} against {bracketed(BY_HAND)}"
                    tell(where, mine["milliseconds"], c["milliseconds"], same)
                    tell(where, mine["build_seconds"], c["build_seconds"], building)
    options = "".join(lines) or "Nowhere in these tables.\n"
    return f"## Where Varimech is slower than a hand-written program\n\nThe list contains every measurement in which the hand-written program was faster, and shows the time of Varimech divided by the time of the hand-written program:\n\n{options}"


def draw(engines: list[dict[str, Any]], chains: list[dict[str, Any]]) -> None:
    """Left: times for the five-bar at the first goal, a group of bars a quantity. Right: gradients
    over the motion, over the parameters.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(
        1, 2, figsize=(13, 5.5), dpi=150, layout="constrained", width_ratios=(1.45, 1)
    )
    names = {
        "motion": "motion\nalone",
        "gradient": "gradient",
        "product": "Hessians\n× vector",
        "Hessians": "three\nHessians",
    }
    series = [
        (OURS[0], "#c1121f"),
        (OURS[1], "#e5787f"),
        (BY_HAND, "#1d3557"),
        (APPENDED, "#6a8caf"),
        (CVODES, "#e09f3e"),
    ]
    width = 0.85 / len(series)
    for k, (name, colour) in enumerate(series):
        ways = (find(engines, name, GOALS[0]) or {"ways": {}})["ways"].values()
        for at, what in enumerate(names):
            times = [w["milliseconds"][what] for w in ways if what in w["milliseconds"]]
            if not times:
                continue  # it reached no such error, or does not give this
            x = at + (k - (len(series) - 1) / 2) * width
            left.bar(x, min(times), width * 0.92, color=colour, label=name if at == 0 else None)
            left.annotate(
                number(min(times)),
                (x, min(times)),
                xytext=(0, 2),
                textcoords="offset points",
                ha="center",
                fontsize=7.5,
            )
    left.set_yscale("log")
    left.set_ylim(0.1, 400)
    left.set_xticks(range(len(names)), list(names.values()))
    left.set_ylabel("time, ms (the faster of forward and backward)")
    left.set_title(f"Five-bar, 3 objectives, 5 parameters, error ≤ {GOALS[0]:.0e}", loc="left")
    left.legend(frameon=False, loc="upper left", fontsize=9)
    for name, colour in ((OURS[2], "#c1121f"), (OURS[1], "#e5787f"), (BY_HAND, "#1d3557")):
        for method, style in (("direct", "o--"), ("adjoint", "o-")):
            points = [
                (2 * c["size"], c["milliseconds"][method] / c["milliseconds"]["motion"])
                for c in chains
                if c["engine"] == name and method in c["milliseconds"]
            ]
            if points:
                right.loglog(
                    *zip(*points, strict=True),
                    style,
                    color=colour,
                    linewidth=2,
                    markersize=5,
                    label=f"{name}, {method}",
                )
    right.set_xticks([2 * n for n in CHAIN_SIZES], [str(2 * n) for n in CHAIN_SIZES])
    right.set_yticks([1, 2, 5, 10, 20, 40], ["1", "2", "5", "10", "20", "40"])
    right.minorticks_off()
    right.set_xlabel("parameters (chain of half as many bars)")
    right.set_ylabel("gradient of one objective over the motion alone")
    right.set_title("Growth with the number of parameters", loc="left")
    right.set_ylim(1, 45)
    right.legend(frameon=False, loc="upper left", fontsize=9, handlelength=3.2)
    for axes in (left, right):
        axes.grid(axis="y", which="major", alpha=0.3)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE)


def compare_derivatives() -> None:
    """Measures, shows and writes."""
    console = Console(stderr=True)
    with console.status("measuring: derivatives, CasADi"):
        casadi = run_side("derivatives_casadi", PEERS, {})
    check_reference(np.array(casadi["gradient"]))
    with console.status("measuring: derivatives, Varimech"):
        varimech = run_side(
            "derivatives_varimech", sys.executable, {"gradient": casadi["gradient"]}
        )
    engines, chains = varimech["engines"] + casadi["engines"], varimech["chains"] + casadi["chains"]
    share_motions(engines)
    check_hessians(engines)
    check_chains(chains)
    parts = [INTRODUCTION, machine(varimech["versions"] | casadi["versions"])]
    parts += [
        "![Times of derivatives, and their growth](images/compare_derivatives.png)\n",
        FIVE_BAR,
    ]
    for goal in GOALS:
        rows = five_bar_rows(engines, goal)
        show(f"Five-bar, error ≤ {goal:.0e}", HEADINGS, rows, 1)
        parts += [f"Error ≤ {goal:.0e}:\n", markdown(HEADINGS, rows, 1)]
    for text, title, headings, rows, left in (
        (CHAINS, "Chains", CHAIN_HEADINGS, chain_rows(chains), 0),
        (MEMORY, "Memory", MEMORY_HEADINGS, memory_rows(varimech["memory"]), 1),
    ):
        show(title, headings, rows, left)
        parts += [text, markdown(headings, rows, left)]
    draw(engines, chains)
    PAGE.write_text("\n".join([*parts, losses(engines, chains), SETTINGS]), encoding="utf-8")
    console.print(f"written: {PAGE.relative_to(ROOT)}, {PICTURE.relative_to(ROOT)}")
