"""Figures of allocations: tolerances and costs before and after, and cost against risk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..plotting.figure import COLOURS, INK, new_figure, quiet
from ..plotting.style import in_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .allocation import Allocation
    from .allocation_curve import AllocationCurve

BEFORE, AFTER, EQUAL = "#999999", COLOURS[0], COLOURS[1]


def draw_allocation(a: Allocation, style: str | None) -> Figure:
    """Draw the tolerances with their bounds on the left and their costs on the right."""
    figure = new_figure(10.0, 1.6 + 0.55 * len(a.names))
    left, right = figure.subplots(1, 2, sharey=True)
    _draw_tolerances(left, a)
    _draw_costs(right, a)
    y = np.arange(len(a.names))
    labels = [f"{c.name} ({c.unit})" if c.unit else c.name for c in a.choices]
    left.set_yticks(y, labels, parse_math=False)
    left.set_ylim(len(a.names) - 0.45, -0.55)
    for ax in (left, right):
        quiet(ax)
        ax.grid(visible=False, axis="y")
    figure.suptitle(_title(a), fontsize=12, color=INK)
    handles, texts = right.get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside lower center", ncols=3, frameon=False)
    return in_style(figure, style)


def _title(a: Allocation) -> str:
    if a.equal is None:
        return f"{a.label}: cost {a.cost_before:.4g} → {a.cost:.4g}"
    return (
        f"{a.label}: cost {a.cost_before:.4g} → {a.cost:.4g}"
        f" (equal tolerances at equal risk: {a.equal.cost:.4g})"
    )


def _draw_tolerances(ax: Axes, a: Allocation) -> None:
    """Draw each tolerance relative to its value before, because units differ."""
    y, unit = np.arange(len(a.names)), a.before
    ax.hlines(y, a.lower / unit, a.upper / unit, color="#dddddd", linewidth=7, zorder=1)
    ax.plot(np.ones(y.size), y, "o", color=BEFORE, markersize=7, zorder=3)
    if a.equal is not None:
        ax.plot(a.equal.widths / unit, y, "D", color=EQUAL, markersize=5.5, zorder=3)
    ax.plot(a.after / unit, y, "o", color=AFTER, markersize=8, zorder=4)
    for k, grade in enumerate(a.grades.get(name, "") for name in a.names):
        if grade:
            place = (a.after[k] / unit[k], k)
            ax.annotate(
                f"IT{grade}", place, (0, 8), textcoords="offset points", ha="center", fontsize=8
            )
    ax.set_xscale("log")
    ax.set_xlabel("tolerance, relative to before (grey: bounds)")


def _draw_costs(ax: Axes, a: Allocation) -> None:
    y, height = np.arange(len(a.names)), 0.26
    costs = [(a.dataset["cost_before"].to_numpy(), BEFORE, "before")]
    if a.equal is not None:
        equal = [c.cost.value(t) for c, t in zip(a.choices, a.equal.widths.tolist(), strict=True)]
        costs.append((np.array(equal), EQUAL, "equal tolerances at equal risk"))
    costs.append((a.dataset["cost"].to_numpy(), AFTER, "allocated"))
    for k, (values, colour, label) in enumerate(costs):
        ax.barh(y + (k - (len(costs) - 1) / 2) * height, values, height, color=colour, label=label)
    ax.set_xlabel("cost")


def draw_curve(curve: AllocationCurve, style: str | None) -> Figure:
    """Draw cost against the target, and the corresponding tolerances."""
    figure = new_figure(10.0, 4.2)
    left, right = figure.subplots(1, 2)
    x, axis = curve.risks
    before = next(a for a in curve.allocations if a is not None).before
    left.plot(x, curve.cost.to_numpy(), "o-", color=AFTER, label="cheapest tolerances")
    equal = curve.equal_cost.to_numpy()
    if np.isfinite(equal).any():
        left.plot(x, equal, "D--", color=EQUAL, markersize=5, label="equal tolerances")
    left.set_ylabel("cost")
    for k, name in enumerate(curve.dataset["parameter"].to_numpy().tolist()):
        widths = curve.tolerance.sel(parameter=name).to_numpy()
        colour = COLOURS[k % len(COLOURS)]
        right.plot(x, widths / before[k], "o-", color=colour, markersize=4, label=name)
    right.set_ylabel("tolerance, relative to before")
    right.set_yscale("log")
    for ax in (left, right):
        if (x > 0).all() and x.max() > 5 * x.min():  # more than half a decade
            ax.set_xscale("log")
        ax.set_xlabel(axis)
        ax.legend(frameon=False, fontsize=9)
        quiet(ax)
    figure.suptitle(f"{curve.label}: cost against risk", fontsize=12, color=INK)
    return in_style(figure, style)
