"""Cheapest tolerances of a suspension whose camber and toe stay within limits over the travel.

The double wishbone of another example. Its wheel moves by 60 mm to both sides; camber and toe must
each stay within limits at every instant of that, in 999 of 1000 suspensions. Which mounts have to
be accurate for it, and which need not be?
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import binomtest

import varimech as vm
from double_wishbone import DURATION, camber, suspension, toe

RISK = 1e-3
"""Share of suspensions whose camber may leave its limits, and likewise toe."""
LIMITS = {"camber": (-1.94, 1.29), "toe-in": (-0.75, 0.95)}
"""Limits over the travel (°); the nominal suspension has a tenth to a fifth of a degree to each."""
COSTS = {
    "LFz": "0.4 mm",
    "LRz": "0.4 mm",
    "UFy": "0.4 mm",
    "UFz": "0.4 mm",
    "URy": "0.4 mm",
    "URz": "0.4 mm",
    "TIz": "0.2 mm",
    "tie": "0.1 mm",
}
"""Tolerances that cost 1 more than the widest ones: of welded mounts, of the rack, which is bolted,
and of the tie rod, which has a thread.
"""
OUTPUTS = {"camber": camber, "toe-in": toe}
BLUE, GREY, RED = "#0b6fb8", "#999999", "#d1495b"


def mechanism() -> vm.Mechanism:
    """Return the suspension with tolerances of ± 0.5 mm that can be chosen."""
    m = suspension()
    for name, b in COSTS.items():
        m.tolerance(name, "0.5 mm", at_least="0.05 mm", at_most="2 mm", cost=vm.cost(1.0, b))
    return m


def problem(m: vm.Mechanism) -> vm.Problem:
    """Return the largest and smallest camber and toe-in over the travel as a problem."""
    ends: dict[str, vm.Objective] = {}
    for name, output in OUTPUTS.items():
        ends[f"largest {name}"] = vm.peak(output, unit="rad")
        ends[f"smallest {name}"] = vm.lowest(output, unit="rad")
    return m.problem(ends, duration=DURATION, tolerance=1e-6, output=DURATION)


def inside(risk: float) -> dict[str, vm.Constraint]:
    """Return the targets: camber and toe-in within their limits at all times, but for a risk."""
    targets = {}
    for name, output in OUTPUTS.items():
        low, high = np.radians(LIMITS[name]).tolist()
        targets[name] = vm.probability(vm.path(output, unit="rad").between(low, high)) >= 1 - risk
    return targets


def allocate(m: vm.Mechanism, samples: int | bool = 20_000) -> vm.Allocation:
    """Find the cheapest tolerances. Both outputs are nearly linear in the mounts, so that moments
    of first order are enough; samples check them.
    """
    return problem(m).allocate(inside(RISK), statistics="moments", order=1, verify=samples)


def extremes(p: vm.Problem, a: vm.Allocation, count: int, seed: int = 7) -> list[np.ndarray]:
    """Draw suspensions with the tolerances before and after.

    Returns:
        For each of both, largest and smallest camber, largest and smallest toe-in over the travel
        (°): (sample, objective).
    """
    studies = (
        p.monte_carlo(samples=count, seed=seed, keep=True),
        p.monte_carlo(a.distributions, samples=count, seed=seed, keep=True),
    )
    return [np.degrees(s.samples["values"].to_numpy()[:, -1]) for s in studies]


def outside(ends: np.ndarray) -> dict[str, np.ndarray]:
    """Return for each output which samples leave its limits: (sample,)."""
    return {
        name: (ends[:, 2 * k] > high) | (ends[:, 2 * k + 1] < low)
        for k, (name, (low, high)) in enumerate(LIMITS.items())
    }


def picture(a: vm.Allocation, drawn: list[np.ndarray]) -> Figure:
    """Draw what each tolerance costs, and distributions of camber and toe-in before and after."""
    figure = Figure(figsize=(11.0, 3.8), layout="constrained", dpi=110)
    left, *axes = figure.subplots(1, 3)
    y = np.arange(len(a.names))
    colours = {f"± 0.5 mm each: {a.cost_before:.1f}": GREY, f"allocated: {a.cost:.1f}": BLUE}
    keys = ("cost_before", "cost")
    for k, (key, (label, colour)) in enumerate(zip(keys, colours.items(), strict=True)):
        left.barh(y + 0.4 * k - 0.2, a.dataset[key], 0.4, color=colour, label=label)
    for k, t in enumerate(1e3 * a.after):
        at = (a.dataset["cost"][k].item(), k + 0.2)
        left.annotate(
            f"± {t:.2g} mm", at, (3, 0), va="center", textcoords="offset points", fontsize=8
        )
    left.set_yticks(y, list(a.names))
    left.invert_yaxis()
    left.set(xlabel="cost", xlim=(0, 2.35 * a.dataset["cost"].max().item()))
    left.legend(frameon=False, fontsize=8.5, loc="right")
    shown = {"smallest camber, wheel up (°)": (1, LIMITS["camber"][0])}
    shown["largest toe-in, wheel down (°)"] = (2, LIMITS["toe-in"][1])
    for ax, (label, (column, limit)) in zip(axes, shown.items(), strict=True):
        both = [ends[:, column] for ends in drawn]
        bins = np.histogram_bin_edges(np.concatenate(both), 60).tolist()
        for values, (name, colour) in zip(both, (("before", GREY), ("after", BLUE)), strict=True):
            ax.hist(values, bins, density=True, histtype="stepfilled", alpha=0.5, color=colour)
            ax.hist(values, bins, density=True, histtype="step", color=colour, label=name)
        ax.axvline(limit, color=RED, linestyle="--", label="limit")
        ax.set(xlabel=label, yticks=[])
        ax.legend(frameon=False, fontsize=8.5)
    for ax in (left, *axes):
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def main(out: Path = Path("out/suspension_camber"), samples: int = 20_000) -> vm.Allocation:
    """Print, verify and draw the cheapest tolerances, and write them for a workshop."""
    m = mechanism()
    a = allocate(m, samples)
    print(a)
    drawn = extremes(problem(m), a, samples)
    for when, ends in zip(("before", "after"), drawn, strict=True):
        for name, leaves in outside(ends).items():
            hits = int(leaves.sum())
            interval = binomtest(hits, samples).proportion_ci()
            print(
                f"{name} outside of its limits {when}: {hits} of {samples},"
                f" {100 * interval.low:.3f} to {100 * interval.high:.3f} % (95 %)"
            )
    out.mkdir(parents=True, exist_ok=True)
    print("for the workshop:", a.to_csv(out / "tolerances.csv"))
    picture(a, drawn).savefig(out / "suspension_camber.png")
    return a


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["out/suspension_camber"]))
