"""Figures of an optimum: the motion before and after, and the search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..plotting.figure import COLOURS, INK, new_figure, quiet
from ..plotting.style import in_style
from ..sensitivity.objective import Objective
from .quantities import Path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .optimum import Optimum

BEFORE, AFTER = "#999999", COLOURS[0]
LIMIT = COLOURS[1]
SMALL_CHANGE = 0.1
"""Parameter changes below this fraction of the distance between the parameters are drawn relative
to the initial values; a round value.
"""
MOST_PATHS = 4
"""Maximum number of path constraints that are drawn."""


def draw_optimum(optimum: Optimum, style: str | None) -> Figure:
    """Draw the objective and path constraints over time on the left, the search over its iterations
    on the right.
    """
    shown = [(_over_time(optimum), "time (s)"), (_over_iterations(optimum), "iteration")]
    shown = [(panels, xlabel) for panels, xlabel in shown if panels]
    figure = new_figure(5.5 * len(shown), 1.0 + 2.4 * max(len(panels) for panels, _ in shown))
    sides: Any = figure.subfigures(1, len(shown), squeeze=False)[0]
    for part, (panels, xlabel) in zip(sides, shown, strict=True):
        axes = part.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        for ax, draw in zip(axes, panels, strict=True):
            draw(ax)
            quiet(ax)
            ax.margins(x=0.02)
        part.align_ylabels(axes)
        axes[-1].set_xlabel(xlabel)
    p = optimum.problem
    unit = f" {p.goal.unit}" if p.goal.unit else ""
    title = (
        f"{optimum.label}: {p.name} {optimum.objective_before:.4g} → {optimum.objective:.4g}{unit}"
    )
    figure.suptitle(title, fontsize=12, color=INK)
    return in_style(figure, style)


@dataclass(frozen=True)
class Compared:
    """A function of the state that is drawn over time, before and after."""

    label: str
    function: Any
    unit: str
    limits: list[float]


def compared(optimum: Optimum) -> list[Compared]:
    """Functions that are optimised or bounded over time, the objective first."""
    p, goal = optimum.problem, optimum.problem.goal
    functions = []
    if isinstance(goal, Objective):
        functions = quantities_of(p.name, goal)
    paths = [(r, r.constraint.of) for r in p.rows if isinstance(r.constraint.of, Path)]
    for r, path in paths[:MOST_PATHS]:
        limits = [b for b in (r.constraint.lower, r.constraint.upper) if np.isfinite(b)]
        functions.append(Compared(r.name, path.function, path.unit, limits))
    return functions


def quantities_of(name: str, goal: Objective) -> list[Compared]:
    """Functions that an objective of a run consists of."""
    functions = []
    if goal.integrand is not None:
        functions.append(
            Compared(f"integrand of {name}", goal.integrand, _per_second(goal.unit), [])
        )
    if goal.final is not None:
        functions.append(Compared(name, goal.final, goal.unit, []))
    functions += [Compared(name, each.function, goal.unit, []) for each in goal.samples]
    return functions


def _per_second(unit: str) -> str:
    """Unit of an integrand."""
    if unit in ("", "s"):
        return ""
    if unit.endswith("·s"):
        return unit.removesuffix("·s")
    for power, next_power in (("/s", "/s²"), ("/s²", "/s³"), ("/s³", "/s⁴")):
        if unit.endswith(power):
            return unit.removesuffix(power) + next_power
    return f"{unit}/s"


def _over_time(optimum: Optimum) -> list[Callable[[object], None]]:
    goal, panels = optimum.problem.goal, [_drawn(optimum, each) for each in compared(optimum)]
    if not isinstance(goal, Objective):
        return panels
    if len(panels) > 1 and goal.integrand is None and goal.final is not None:
        values = [run.measure(goal.final).to_numpy() for run in (optimum.before, optimum.after)]
        # functions of parameters alone are constant over time
        panels = panels[1:] if not any(np.ptp(v) for v in values) else panels
    return panels


def _drawn(optimum: Optimum, quantity: Compared) -> Callable[[Any], None]:
    def draw(ax: Axes) -> None:
        for run, colour, name in (
            (optimum.before, BEFORE, "before"),
            (optimum.after, AFTER, "after"),
        ):
            ax.plot(
                run.time,
                run.measure(quantity.function).to_numpy(),
                color=colour,
                linewidth=1.5,
                label=name,
            )
        for limit in quantity.limits:
            ax.axhline(limit, color=LIMIT, linewidth=1.0, linestyle="--")
        ax.set_ylabel(f"{quantity.label} ({quantity.unit})" if quantity.unit else quantity.label)
        ax.legend(facecolor="white", edgecolor="none", framealpha=0.9, fontsize=9, loc="best")

    return draw


def _over_iterations(optimum: Optimum) -> list[Callable[[Any], None]]:
    p, history = optimum.problem, optimum.best.trace
    steps = np.arange(len(history))

    def objective(ax: Axes) -> None:
        values = history[:, 0]
        ax.plot(steps, values, color=AFTER, marker="o", markersize=3, linewidth=1.2)
        if (values > 0).all() and values.max() > 100 * values.min():
            ax.set_yscale("log")
        ax.set_ylabel(f"{p.name} ({p.goal.unit})" if p.goal.unit else p.name)

    def infeasibility(ax: Axes) -> None:
        ax.plot(steps, history[:, 1], color=LIMIT, marker="o", markersize=3, linewidth=1.2)
        ax.set_yscale("symlog", linthresh=1e-9)
        ax.set_ylabel("infeasibility")

    def parameters(ax: Axes) -> None:
        same_unit = len(set(p.space.units)) == 1 or (history[0, 2:] == 0).any()
        change = np.abs(history[:, 2:] - history[0, 2:]).max()
        small = (
            same_unit
            and len(set(p.space.units)) == 1
            and change < SMALL_CHANGE * np.ptp(history[0, 2:])
        )
        for k, name in enumerate(p.names):
            values = history[:, 2 + k] if same_unit else history[:, 2 + k] / history[0, 2 + k]
            if small:  # otherwise the changes would be invisible
                values = values - values[0]
            ax.plot(
                steps,
                values,
                color=COLOURS[k % len(COLOURS)],
                marker="o",
                markersize=3,
                linewidth=1.2,
                label=name,
            )
        label, unit = "change of parameters" if small else "parameters", p.space.units[0]
        ax.set_ylabel(
            "parameter / initial value" if not same_unit else f"{label} ({unit})" if unit else label
        )
        ax.legend(frameon=False, fontsize=9, loc="best")

    panels: list[Callable[[Any], None]] = [objective]
    if p.rows and history[:, 1].max() > 0:
        panels.append(infeasibility)
    return [*panels, parameters]
