"""The cheapest tolerances of a five-bar by `allocate`, and by nested loops: an optimiser whose every
step draws samples; docs/nested_loops.md.

Both minimise the cost of five tolerances so that a bearing force exceeds its limit in one of 100
machines (examples/cheapest_tolerances.py). Nested loops bound the 99 % quantile of samples with
common random numbers, which is continuous in the tolerances as a share of samples is not, and take
differences of it.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from pages import DOCS, ROOT, machine, markdown, number, show
from scipy.optimize import minimize

import varimech as vm

sys.path.insert(0, str(ROOT / "examples"))
import cheapest_tolerances as example

PAGE = DOCS / "nested_loops.md"
SAMPLES = (500, 2000)
"""Samples of each estimate of nested loops."""
CHECK = 100_000
"""Independent samples that show the risk of each result: it is then known to 6 %."""
STEP = 0.02
"""Differences of nested loops in ln t: many samples are on both sides of the quantile then."""
INTRODUCTION = """\
# Nested loops

Which tolerances are cheapest for a given risk? Without derivatives of statistics, this search needs nested loops: an optimiser varies the tolerances, and each of its steps runs a Monte Carlo study to estimate the risk. [`allocate`](allocation.md) uses derivatives of statistics instead. This page compares both approaches for the [five-bar](gallery.md#cheapest-tolerances), whose bearing force is allowed to exceed 35 N in at most 1 % of the machines. To repeat the measurements, run `python tools/compare/compare.py robust`.
"""
SETTINGS = """\
## Settings

- **allocate**: the risk is computed by the first-order reliability method (`statistics="form"`) and is not verified by sampling. The number of runs includes those for the [baseline](allocation.md), which is the design with equal tolerances and the same risk.
- **Nested loops**: SLSQP varies the logarithms of the tolerances, with exact derivatives of the cost. The constraint limits the 99 % quantile of the force. In each step, this quantile is estimated from the samples of one `m.problem(…).ensemble(…)`, always with the same random numbers. Its derivatives are approximated by forward differences with steps of 2 %.
- **Results**: the risk of each design is estimated from 100,000 independent samples and stated with its 95 % confidence interval. Times are CPU seconds, summed over all threads, without compilation.
"""


@dataclass(frozen=True)
class Outcome:
    """Tolerances by one of the methods."""

    name: str
    widths: dict[str, float]
    cost: float
    runs: int
    gradient_runs: int
    seconds: float


def problem() -> vm.Problem:
    """The peak force at the end of the run."""
    p = example.mechanism().problem({"peak": example.PEAK}, duration=example.DURATION)
    return p.with_options(tolerance=1e-7, output=example.DURATION)


def by_allocation() -> Outcome:
    p = problem()
    options: dict[str, Any] = {"statistics": "form", "verify": False}
    p.allocate(example.safe(example.RISK), **options)  # compiles
    began = time.process_time()
    a = p.allocate(example.safe(example.RISK), **options)
    seconds = time.process_time() - began
    runs = a.runs["runs"], a.runs["gradient_runs"]
    return Outcome("`allocate`", a.tolerances, a.cost, *runs, seconds)


def by_nested_loops(samples: int) -> Outcome:
    m, p = example.mechanism(), problem()
    tolerances = {name: q.distribution for name, q in m.parameters.items()}
    names = list(tolerances)
    nominal = np.array([m.parameters[name].value for name in names])
    first = np.array([t.width for t in tolerances.values()])
    low, high = np.log(np.array([t.limits for t in tolerances.values()]).T / first)
    z = np.random.default_rng(5).standard_normal((samples, len(names))) / 3
    runs = 0

    def widths(s: np.ndarray) -> np.ndarray:
        return np.asarray(first * np.exp(s))

    def quantile(s: np.ndarray) -> float:
        nonlocal runs
        runs += samples
        values = nominal + z * widths(s)
        e = p.ensemble(dict(zip(names, values.T, strict=True)))
        return float(np.quantile(e.values.to_numpy().reshape(samples, -1)[:, -1], 1 - example.RISK))

    def slopes(s: np.ndarray) -> np.ndarray:
        at = quantile(s)
        return -np.array([(quantile(s + STEP * e) - at) / STEP for e in np.eye(s.size)])

    def cost(s: np.ndarray) -> float:
        each = zip(tolerances.values(), widths(s), strict=True)
        return float(sum(t.cost.value(float(w)) for t, w in each))

    def cost_slopes(s: np.ndarray) -> np.ndarray:
        each = zip(tolerances.values(), widths(s), strict=True)
        return np.array([t.cost.derivative(float(w)) * w for t, w in each])

    quantile(np.zeros(len(names)))  # compiles
    runs, began = 0, time.process_time()
    found = minimize(
        cost,
        np.zeros(len(names)),
        jac=cost_slopes,
        method="SLSQP",
        bounds=list(zip(low, high, strict=True)),
        constraints={"type": "ineq", "fun": lambda s: example.LIMIT - quantile(s), "jac": slopes},
        options={"ftol": 1e-6, "maxiter": 60},
    )
    seconds = time.process_time() - began
    chosen = dict(zip(names, widths(found.x).tolist(), strict=True))
    name = f"nested loops, {samples:,} samples"
    return Outcome(name, chosen, cost(found.x), runs, 0, seconds)


def risk(widths: dict[str, float]) -> tuple[float, float]:
    """Share of independent samples beyond the limit, and half of its 95 % interval."""
    given = {name: vm.Tolerance(t) for name, t in widths.items()}
    study = problem().monte_carlo(given, samples=CHECK, seed=991, keep=True)
    peaks = study.samples["values"].to_numpy().reshape(CHECK, -1)[:, -1]
    share = float((peaks > example.LIMIT).mean())
    return share, 1.96 * float(np.sqrt(share * (1 - share) / CHECK))


def compare_robust() -> None:
    """Measure both, and write the page."""
    outcomes = [by_allocation(), *(by_nested_loops(n) for n in SAMPLES)]
    headings = ["", "cost", "risk (%)", "runs", "with gradients", "seconds"]
    rows = []
    for o in outcomes:
        share, half = risk(o.widths)
        cells = [f"{o.cost:.3f}", f"{100 * share:.2f} ± {100 * half:.2f}"]
        counts = [f"{o.runs:,}", f"{o.gradient_runs:,}" if o.gradient_runs else "–"]
        rows.append([o.name, *cells, *counts, number(o.seconds)])
    show("cheapest tolerances", headings, rows, 1)
    table = markdown(headings, rows, 1)
    versions = {"Varimech": vm.__version__, "SciPy": scipy.__version__}
    PAGE.write_text(
        "\n".join([INTRODUCTION, table, SETTINGS, machine(versions)]) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    compare_robust()
