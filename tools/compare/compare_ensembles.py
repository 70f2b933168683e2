"""Many runs of the five-bar: Varimech beside its peers, what a study costs beside its runs, how
many samples suffice; docs/ensembles.md.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from ensembles_problem import GOAL, HALF_WIDTH, TESTED
from pages import COLOURS, DOCS, HERE, PEERS, ROOT, machine, markdown, number, run_side, show
from rich.console import Console

PAGE, PICTURE, GPU_RESULTS = (
    DOCS / "ensembles.md",
    DOCS / "images" / "compare_ensembles.png",
    HERE / "gpu_h200.json",
)
GPU_GRADIENTS = HERE / "gpu_gradients_h200.json"
SIDES = (("casadi", PEERS), ("varimech", sys.executable), ("exudyn", PEERS), ("mujoco", PEERS))
LABELS = {"random": "random", "latin-hypercube": "Latin hypercube", "sobol": "Sobol"}

INTRODUCTION = f"""\
# Ensembles

This page shows how many runs per second Varimech and other programs compute, how many samples a study needs, and how much overhead a study has. Each
time is the shortest of at least five complete calls (three for Exudyn and Dask), without compilation. Other programs may have been running at the
same time; they mainly affect the measurements with two cores. The load of the machine is listed at the end of the page.
`python tools/compare/compare.py ensembles` repeats the measurements.

## Runs per second

Each sample simulates the five-bar for 5 s, with five parameters varied within ±{100 * HALF_WIDTH:g} %, and evaluates the objective ψ¹ (the integrated
squared displacement of point 2) at the end. The programs are compared at equal accuracy: each uses the coarsest setting for which the largest
relative error of ψ¹ over {TESTED} such samples stays below {GOAL:.0e}. The column "instructions per run" shows how many instructions of the generated
functions a run executes. It is available for explicit integrators with equal steps only.
"""
RUN_SETTINGS = """\
- **Varimech**: `m.monte_carlo(…, backend="native")` draws its samples and accumulates statistics (mean, variance, histograms).
  `m.ensemble(…, backend="native")` uses given samples and returns ψ¹ for each of them. Only the final state is stored. Even with the loosest
  tolerance of the sweep, adaptive runs are more accurate than required, because they always take a minimum number of steps.
- **CasADi, by hand**: the equations of motion in two angles were derived by hand for this mechanism. RK4 is unrolled as one expression, the whole run
  is compiled (`-O3 -march=native`), and `map` executes the samples. The program returns only ψ¹ and performs no checks.
- **MuJoCo**: the model is described on the page [Benchmarks](benchmarks.md). One model per sample is prepared in advance, and `rollout` executes the
  runs. ψ¹ is integrated by Simpson's rule.
- **Exudyn**: the model is described on the page [Benchmarks](benchmarks.md). Every process prepares one model per sample in advance. Two tolerances of
  Newton's method were tried, and the table shows the faster one.
"""
VECTORS = """\
## Samples in vectors

On this processor, {width} samples are computed simultaneously in vector registers
([details](decisions/2026-11-execution.md#samples-are-executed-in-vectors)). The table compares this vectorised execution with computing the samples
one by one; both use compiled code on one thread. Rates refer to CPU time. Each rate is the highest of five measurements, taken alternately for the
two variants. Parameters vary within ±1 %, and only the final state is stored. The column "at least" gives the smallest acceptable ratio. The last
column gives the largest relative difference between the results. It is 0 if the vectorised code executes exactly the same operations. If the
equations contain sines or cosines, it is of the order of the rounding error.
"""
COSTS = """\
## Overhead of a study

In addition to the runs, a study draws samples (in this case, of five uniformly distributed parameters), accumulates statistics (moments up to the
fourth, histograms) and merges chunks. The table shows the time that these operations take on one core:
"""
SAMPLES = f"""\
## Number of samples

The table shows the half-width of the 95 % confidence interval of the mean of ψ¹ (the median over three seeds). The five parameters of the five-bar
have tolerances of ±{100 * HALF_WIDTH:g} % (3σ). With a control variate, the mean is corrected by the first-order model, which requires one run with derivatives.
Confidence intervals cover sampling error only; the discretisation error (up to {GOAL:.0e} of ψ¹ in this case) remains.
"""
CLUSTER = """\
## Threads and processes

The table compares two executions of the same study: on two threads, and on a `LocalCluster` of two processes with one thread each.
"""
ON_GPU = """\
## GPU

The following results were measured with `tools/compare/gpu.py` ({device}, {date}). Each time is the shortest kernel time of three launches,
with the parameter values already stored on the GPU. The models are the five-bar (5 s, ψ¹) and the slider-crank with clearance, including its impacts.
Their parameters vary within ±1 %. The last column shows the largest difference from the CPU results, relative to the largest value, with the number
of samples compared in parentheses.
"""

GRADIENTS_ON_GPU = """\
The next table shows gradients of three objectives with respect to five parameters, computed with the direct method (`tools/compare/gpu_gradients.py`,
{date}). The times are kernel times. For explicit integrators with equal steps, separate warps compute the columns of derivatives. In all other cases,
one thread computes a motion and all its derivatives in local memory, and the memory bandwidth limits the rate.
"""

RUN_HEADINGS = [
    "program",
    "method",
    "setting",
    "error of ψ¹",
    "with",
    "runs per second",
    "Varimech is faster by",
    "instructions per run",
]
VECTOR_HEADINGS = [
    "samples",
    "number",
    "one by one",
    "in vectors",
    "ratio",
    "at least",
    "difference",
]
COST_HEADINGS = ["operation", "µs per sample"]
MEMORY_HEADINGS = ["samples", "peak memory of the process"]
SAMPLE_HEADINGS = [
    "samples",
    *(f"{label}{control}" for label in LABELS.values() for control in ("", ", control")),
]
CLUSTER_HEADINGS = [
    "",
    "samples",
    "2 threads",
    "2 processes of Dask",
    "same numbers to the last bit",
]
KERNEL_HEADINGS = [
    "method",
    "steps",
    "samples",
    "seconds",
    "runs per second",
    "steps per second",
    "difference (samples)",
]
GRADIENT_HEADINGS = ["method", "samples", "seconds", "gradients per second", "difference (samples)"]
STUDY_HEADINGS = ["study, whole call", "samples", "seconds", "samples per second"]


def vector_rows(measured: list[dict[str, Any]]) -> list[list[str]]:
    return [
        [
            v["what"],
            f"{v['samples']:,}",
            *(f"{v['rates'][way]:,.0f}/s" for way in ("one by one", "in vectors")),
            number(v["ratio"]),
            f"{v['wanted']:g}",
            f"{v['difference']:.0e}" if v["difference"] else "0",
        ]
        for v in measured
    ]


def rate(t: dict[str, Any]) -> float:
    return float(t["runs"] / t["seconds"])


def cores(t: dict[str, Any]) -> int:
    return int(t["workers"].split()[0])


def run_rows(throughputs: list[dict[str, Any]]) -> list[list[str]]:
    """A row an engine, method and number of cores; ratios are to the fastest study on as many
    cores.
    """
    best = {
        n: max(rate(t) for t in throughputs if "monte_carlo" in t["engine"] and cores(t) == n)
        for n in (1, 2)
    }
    return [
        [
            t["engine"],
            t["how"],
            t["setting"],
            f"{t['error']:.1e}",
            t["workers"],
            number(rate(t)),
            f"{number(best[cores(t)] / rate(t))}×",
            f"{t['operations']:,.0f}" if t["operations"] else "–",
        ]
        for t in throughputs
    ]


def in_words(throughputs: list[dict[str, Any]]) -> str:
    """The figure that counts, beside each peer's best."""
    ours = max(
        (t for t in throughputs if t["engine"].startswith("Varimech") and cores(t) == 2), key=rate
    )
    peers: dict[str, dict[str, Any]] = {}
    for t in throughputs:
        if not t["engine"].startswith("Varimech") and (
            t["engine"] not in peers or rate(t) > rate(peers[t["engine"]])
        ):
            peers[t["engine"]] = t
    ratios = ", ".join(
        f"{number(rate(ours) / rate(t))} ({name}: {number(rate(t))}, {t['workers']})"
        for name, t in peers.items()
    )
    alone = max(
        (
            t
            for t in throughputs
            if "monte_carlo" in t["engine"] and cores(t) == 1 and t["operations"]
        ),
        key=rate,
    )
    rk4 = next(
        t
        for t in throughputs
        if "monte_carlo" in t["engine"] and cores(t) == 1 and "RK4" in t["how"]
    )
    by_hand = next(t for t in throughputs if t["engine"].startswith("CasADi") and cores(t) == 1)
    return (
        f"On two cores, Varimech computes **{number(rate(ours))} runs per second** ({ours['how']}, {ours['setting']}). This is faster than the\n"
        f"best results of the other programs by factors of {ratios}.\n\n"
        f"Much of the difference is due to the integrator. With RK4 on one core, Varimech computes {number(rate(rk4))} runs per second, and the hand-written program, which\n"
        f"has two coordinates instead of six and no constraints, computes {number(rate(by_hand))}.\n\n"
        f"On one core, a study executes {alone['operations'] * rate(alone):.1e} instructions of the generated functions per second. Instructions for sampling,\n"
        "assembly, combining stages and accumulating statistics are not counted.\n"
    )


def sample_rows(intervals: list[dict[str, Any]]) -> list[list[str]]:
    results = {(i["kind"], i["samples"]): i for i in intervals}
    sizes = sorted({size for _, size in results})
    return [
        [
            f"{n:,}",
            *(
                f"{results[kind, n][which]:.1e}"
                for kind in LABELS
                for which in ("plain", "controlled")
            ),
        ]
        for n in sizes
    ]


def needed(intervals: list[dict[str, Any]], std: float) -> str:
    """What the most frugal kind saves, in words."""
    last = max(i["samples"] for i in intervals)
    best = min((i for i in intervals if i["samples"] == last), key=lambda i: i["controlled"])
    as_many = (1.96 * std / best["controlled"]) ** 2
    return (
        f"With {LABELS[best['kind']]} sampling and a control variate, {last:,} samples give the mean to ±{best['controlled']:.1e}. "
        f"With random sampling and no control variate, {as_many:.0e} samples would be needed (ψ¹ has a standard deviation of {std:.2g}).\n"
    )


def cluster_rows(cluster: list[dict[str, Any]]) -> list[list[str]]:
    return [
        [
            c["what"],
            f"{c['samples']:,}",
            *(
                f"{number(c['samples'] / c['seconds'][name])}/s"
                for name in ("2 threads", "2 processes of Dask")
            ),
            "yes" if c["same_bits"] else "no",
        ]
        for c in cluster
    ]


def gpu_section(gpu: dict[str, Any]) -> str:
    kernels = [
        [
            k["method"],
            "–" if k["steps"] is None else f"{k['steps']:,}",
            f"{k['samples']:,}",
            f"{k['seconds']:.3g}",
            f"{k['runs_per_second']:.3g}",
            "–" if k["sample_steps_per_second"] is None else f"{k['sample_steps_per_second']:.3g}",
            f"{k['largest_relative_difference']:.1e} ({k['samples_compared']:,})",
        ]
        for k in gpu["kernels"]
    ]
    studies = [
        [s["what"], f"{s['samples']:,}", f"{s['seconds']:.3g}", f"{s['samples_per_second']:.3g}"]
        for s in gpu["studies"]
    ]
    return (
        f"{ON_GPU.format(**gpu)}\n{markdown(KERNEL_HEADINGS, kernels, 1)}\n"
        'In whole studies (`monte_carlo(…, executor="cuda")`), the GPU also draws the samples and accumulates the statistics:\n\n'
        f"{markdown(STUDY_HEADINGS, studies, 1)}\n"
        f"{gradient_section(json.loads(GPU_GRADIENTS.read_text(encoding='utf-8')))}"
    )


def gradient_section(gpu: dict[str, Any]) -> str:
    """Gradients on the GPU, and how far they are from those of the CPU."""
    kernels = [
        [
            k["method"],
            f"{k['samples']:,}",
            f"{k['seconds']:.3g}",
            f"{k['gradients_per_second']:.3g}",
            f"{k['largest_relative_difference_of_gradients']:.1e} ({k['samples_compared']:,})",
        ]
        for k in gpu["kernels"]
    ]
    call = gpu["calls"][0]
    return (
        f"{GRADIENTS_ON_GPU.format(**gpu)}\n{markdown(GRADIENT_HEADINGS, kernels, 1)}\n"
        f'A whole call of `ensemble(…, wrt=…, executor="cuda")` with {call["samples"]:,} samples takes'
        f" {call['seconds']:.3g} s ({call['gradients_per_second']:.3g} gradients per second).\n\n"
    )


def draw(throughputs: list[dict[str, Any]], intervals: list[dict[str, Any]]) -> None:
    """Left runs per second, a bar an engine and method; right half-widths against samples."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(
        1, 2, figsize=(13, 5.2), dpi=150, layout="constrained", width_ratios=(1.15, 1)
    )
    shown = [t for t in throughputs if "ensemble" not in t["engine"]]
    names = {
        (t["engine"], t["how"]): [
            u for u in shown if (u["engine"], u["how"]) == (t["engine"], t["how"])
        ]
        for t in shown
    }
    bars = sorted(names.items(), key=lambda bar: max(map(rate, bar[1])))
    for k, ((engine, _), both) in enumerate(bars):
        pale, full = (
            (COLOURS[1], COLOURS[0]) if engine.startswith("Varimech") else ("#98a3b5", COLOURS[2])
        )
        for t in both:
            place = k + (0.2 if cores(t) == 1 else -0.2)
            left.barh(place, rate(t), 0.38, color=pale if cores(t) == 1 else full)
            left.annotate(
                f"{rate(t):,.0f}",
                (rate(t), place),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize=9,
            )
    left.set_yticks(
        range(len(bars)),
        [
            f"{engine.removesuffix(', `monte_carlo`')}\n{short(options, both[0]['setting'])}"
            for (engine, options), both in bars
        ],
        fontsize=9,
    )
    left.set_xscale("log")
    left.set_xlim(10, 1e6)
    left.set_xlabel("runs per second")
    left.set_title("Five-bar, 5 s, ψ¹ to 2e-5: pale on one core, full on two", loc="left")
    for k, (kind, label) in enumerate(LABELS.items()):
        points = sorted((i for i in intervals if i["kind"] == kind), key=lambda i: i["samples"])
        counts, colour = [p["samples"] for p in points], (COLOURS[6], COLOURS[3], COLOURS[0])[k]
        for which, style in (("plain", "o-"), ("controlled", "o--")):
            name = f"{label}{', control' if which == 'controlled' else ''}"
            half = [p[which] for p in points]
            right.loglog(counts, half, style, color=colour, markersize=4, linewidth=1.7, label=name)
    right.set_xlabel("samples")
    right.set_ylabel("half of the 95 % interval, m²·s")
    right.set_title("Mean of ψ¹, five tolerances of ±1 %", loc="left")
    right.legend(frameon=False, fontsize=9, loc="lower left")
    for axes in (left, right):
        axes.grid(which="major", axis="both" if axes is right else "x", alpha=0.3)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE)


def short(options: str, setting: str) -> str:
    """Method and setting in few words."""
    for words in (
        "index 1 with projections, ",
        ", equal steps",
        ", tolerance",
        ", closed by a connect constraint",
        ", index 2",
    ):
        options = options.replace(words, "")
    return f"{options}, {setting.split(',')[0]}"


def compare_ensembles() -> None:
    """Measures, shows and writes."""
    console = Console(stderr=True)
    reports: dict[str, dict[str, Any]] = {}
    loads: dict[str, float] = {}
    reference: dict[str, Any] = {}
    for name, python in SIDES:
        with console.status(f"measuring: {name}"):
            loads[name] = os.getloadavg()[0]
            reports[name] = run_side(f"ensembles_{name}", python, reference)
        reference = reference or {"exact": reports["casadi"]["exact"]}
    ours = reports["varimech"]
    throughputs = [
        t
        for name in ("varimech", "casadi", "mujoco", "exudyn")
        for t in reports[name]["throughputs"]
    ]
    intervals, (whole,) = ours["intervals"][:-1], ours["intervals"][-1:]
    runs, costs = (
        run_rows(throughputs),
        [[c["what"], f"{c['microseconds']:.2f}"] for c in ours["costs"]],
    )
    used = [[f"{u['samples']:,}", f"{u['megabytes']:.0f} MB"] for u in ours["memory"]]
    in_vectors = vector_rows(ours["vectors"])
    half_widths, clusters = sample_rows(intervals), cluster_rows(ours["cluster"])
    for title, headings, rows, texts in (
        ("Five-bar runs per second", RUN_HEADINGS, runs, 3),
        ("Samples in vectors", VECTOR_HEADINGS, in_vectors, 1),
        ("Beside the runs", COST_HEADINGS, costs, 1),
        ("Memory", MEMORY_HEADINGS, used, 0),
        ("Half-widths", SAMPLE_HEADINGS, half_widths, 0),
        ("Threads and processes", CLUSTER_HEADINGS, clusters, 1),
    ):
        show(title, headings, rows, texts)
    draw(throughputs, intervals)
    gpu = (
        gpu_section(json.loads(GPU_RESULTS.read_text(encoding="utf-8")))
        if GPU_RESULTS.exists()
        else ""
    )
    versions = {
        name: version for report in reports.values() for name, version in report["versions"].items()
    }
    PAGE.write_text(
        f"{INTRODUCTION}\n{markdown(RUN_HEADINGS, runs, 3)}\n{in_words(throughputs)}\n"
        f"![Runs per second, and half-widths against samples](images/compare_ensembles.png)\n\n{RUN_SETTINGS}\n"
        f"{VECTORS.format(width=ours['vectors'][0]['width'])}\n{markdown(VECTOR_HEADINGS, in_vectors, 1)}\n{COSTS}\n"
        f"{markdown(COST_HEADINGS, costs, 1)}\n"
        f"The next table shows that memory use does not grow with the number of samples. It lists the peak memory of one process after studies of increasing\n"
        f"size. These studies store ψ¹ at every step and have chunks of 1,024 samples:\n\n"
        f"{markdown(MEMORY_HEADINGS, used, 0)}\n{SAMPLES}\n{markdown(SAMPLE_HEADINGS, half_widths, 0)}\n{needed(intervals, whole['std'])}\n"
        f"{CLUSTER}\n{markdown(CLUSTER_HEADINGS, clusters, 1)}\n{gpu}{machine(versions)}"
        f"Load of the machine (mean of the preceding minute, including the comparison itself): "
        f"{', '.join(f'{load:.1f} ({name})' for name, load in loads.items())}.\n",
        encoding="utf-8",
    )
    console.print(f"written: {PAGE.relative_to(ROOT)}, {PICTURE.relative_to(ROOT)}")
