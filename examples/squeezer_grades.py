"""Cheapest ISO tolerance grades of Andrews' squeezer for an accurate crank angle.

Seven lengths of the squeezer vary. After 10 ms, a third of its first turn, the angle of the crank must
have a standard deviation of a third of a degree at most. Workshops work to grades of ISO 286-1: which
grade does each length need, and what do grades cost more than tolerances of any width?
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import varimech as vm
from varimech.benchmarks import andrews

DURATION = 0.01
"""Time at which the angle counts (s)."""
LIMIT = math.radians(1.0) / 3
"""Largest standard deviation of the crank's angle (rad)."""
LENGTHS = ("rr", *(f"L_{name}" for name in andrews.LENGTHS))
COST = vm.grade_cost({5: 16.0, 6: 10.0, 7: 6.5, 8: 4.2, 9: 2.8, 10: 1.9, 11: 1.3, 12: 0.9})
"""Of each length, by grade: about half as much again for a grade finer."""
ANGLE = vm.final('angle("OF")', unit="rad")
BLUE, RED, GREY = "#0b6fb8", "#d1495b", "#999999"


def mechanism() -> vm.Mechanism:
    """Return the squeezer with lengths of grade IT8, which may become IT5 to IT12."""
    m = andrews.mechanism(lengths=True)
    for name in LENGTHS:
        m.tolerance(name, "IT8", at_least="IT5", at_most="IT12", cost=COST)
    return m


def problem(m: vm.Mechanism) -> vm.Problem:
    """Return the angle of the crank as a problem."""
    return m.problem({"angle": ANGLE}, LENGTHS, duration=DURATION, tolerance=1e-8)


def allocate(m: vm.Mechanism, samples: int | bool = 20_000) -> vm.Allocation:
    """Find the cheapest grades."""
    return problem(m).allocate({"angle": vm.std(ANGLE) <= LIMIT}, grades=True, verify=samples)


def picture(a: vm.Allocation) -> Figure:
    """Draw the cost of each length before and after with its grade, and sums."""
    figure = Figure(figsize=(9.0, 3.8), layout="constrained", dpi=110)
    left, right = figure.subplots(1, 2, width_ratios=(2, 1))
    y = np.arange(len(a.names))
    left.barh(y - 0.2, a.dataset["cost_before"], 0.4, color=GREY, label="IT8 each")
    left.barh(y + 0.2, a.dataset["cost"], 0.4, color=BLUE, label="allocated")
    for k, (name, t) in enumerate(zip(a.names, 1e6 * a.after, strict=True)):
        label = f"IT{a.grades[name]}, ± {t:.3g} μm"
        at = (a.dataset["cost"][k].item(), k + 0.2)
        left.annotate(
            label, at, (4, 0), va="center", textcoords="offset points", fontsize=8.5, color=BLUE
        )
    left.set_yticks(y, list(a.names))
    left.invert_yaxis()
    left.set(xlabel="cost", xlim=(0, 14))
    left.legend(frameon=False, loc="lower right")
    assert a.equal is not None
    sums = {"equal widths": a.equal.cost, "grades": a.cost, "any width": a.continuous_cost}
    bars = right.bar(list(sums), list(sums.values()), color=(RED, BLUE, GREY))
    right.bar_label(bars, fmt="%.1f")
    right.set(ylabel="cost at the same limit")
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def main(out: Path = Path("out/squeezer_grades"), samples: int = 20_000) -> vm.Allocation:
    """Print, verify and draw the grades, and write them for a workshop."""
    a = allocate(mechanism(), samples)
    print(a)
    out.mkdir(parents=True, exist_ok=True)
    print("for the workshop:", a.to_csv(out / "tolerances.csv"))
    picture(a).savefig(out / "squeezer_grades.png")
    return a


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["out/squeezer_grades"]))
