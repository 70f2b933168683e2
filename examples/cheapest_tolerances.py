"""Cheapest tolerances of a five-bar whose bearing force stays below a limit.

The five-bar of the sensitivity benchmark, its first two seconds from rest. The force in bearing A
must not exceed 35 N at any time, in 99 of 100 machines. Tolerances of the natural lengths of the
springs and of the mass, the centre of mass and the length of bar A1 are chosen for the least cost,
each with a reciprocal cost of its own; then for other risks.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import varimech as vm
from varimech.benchmarks import five_bar

DURATION = 2.0
"""s"""
LIMIT = 35.0
"""Largest force in bearing A (N)."""
RISK = 0.01
"""Share of machines that may exceed it."""
RISKS = (0.1, 0.03, 0.01, 1e-3, 1e-4)
"""Risks of the curve."""
COSTS = {"Ls1": "50 mm", "Ls2": "20 mm", "m_A1": "50 g", "xG_A1": "10 mm", "L_A1": "20 mm"}
"""Tolerances that cost 1 more than the widest ones."""
PEAK = vm.peak('norm(reaction("A"))', unit="N")

BLUE, RED, GREY, INK = "#0b6fb8", "#d1495b", "#999999", "#333333"


def mechanism() -> vm.Mechanism:
    """Return the five-bar with tolerances of 1 % that can be chosen."""
    m = five_bar.mechanism()
    for name, b in COSTS.items():
        m.tolerance(name, 0.01 * m.parameters[name].value, cost=vm.cost(1.0, b))
    return m


def safe(risk: float) -> vm.Constraint:
    """Return the target for a risk."""
    return vm.probability(PEAK <= LIMIT) >= 1 - risk


def picture(a: vm.Allocation, curve: vm.AllocationCurve) -> Figure:
    """Draw costs before and after, beside equal tolerances, and cost against risk."""
    figure = Figure(figsize=(10.0, 4.2), layout="constrained", dpi=120)
    left, right = figure.subplots(1, 2)
    y = np.arange(len(a.names))
    assert a.equal is not None
    equal = [c.cost.value(float(t)) for c, t in zip(a.choices, a.equal.widths, strict=True)]
    for k, (costs, colour, label) in enumerate(
        (
            (a.dataset["cost_before"].to_numpy(), GREY, f"1 % of each: {a.cost_before:.1f}"),
            (np.array(equal), RED, f"equal shares at equal risk: {a.equal.cost:.1f}"),
            (a.dataset["cost"].to_numpy(), BLUE, f"allocated: {a.cost:.1f}"),
        )
    ):
        left.barh(y + 0.26 * (k - 1), costs, 0.26, color=colour, label=label)
    for k, t in enumerate(100 * a.after / a.dataset["nominal"].to_numpy()):
        left.annotate(
            f"± {t:.2g} %", (a.dataset["cost"][k].item(), k + 0.26), (4, 0), va="center",
            textcoords="offset points", fontsize=8.5, color=BLUE,
        )  # fmt: skip
    left.set_yticks(y, list(a.names))
    left.invert_yaxis()
    left.set_xlabel("cost")
    left.set_title(f"Force below {LIMIT:g} N in 99 of 100 machines", fontsize=11, color=INK)
    left.legend(frameon=False, fontsize=9)
    risks = 1 - curve.targets
    right.plot(risks, curve.equal_cost, "D--", color=RED, markersize=5, label="equal shares")
    right.plot(risks, curve.cost, "o-", color=BLUE, label="allocated")
    right.set_xscale("log")
    right.set_ylim(bottom=0)
    right.set_xlabel("risk: share of machines beyond the limit")
    right.set_ylabel("cost")
    right.set_title("Cost against risk", fontsize=11, color=INK)
    right.legend(frameon=False, fontsize=9)
    for ax in (left, right):
        _quiet(ax)
    left.grid(visible=False, axis="y")
    return figure


def _quiet(ax: Axes) -> None:
    ax.grid(color="#d9d9d9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def main(
    out: Path = Path("out/cheapest_tolerances"), samples: int = 20_000
) -> tuple[vm.Allocation, vm.AllocationCurve]:
    """Print and draw the cheapest tolerances, and write them for a workshop."""
    m = mechanism()
    p = m.problem(duration=DURATION)
    a = p.allocate({"force below the limit": safe(RISK)}, statistics="form", verify=samples)
    print(a)
    curve = p.allocation_curve([safe(risk) for risk in RISKS], statistics="form", verify=False)
    print(curve)
    out.mkdir(parents=True, exist_ok=True)
    print("for the workshop:", a.to_csv(out / "tolerances.csv"))
    picture(a, curve).savefig(out / "cheapest_tolerances.png")
    return a, curve


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["out/cheapest_tolerances"]))
