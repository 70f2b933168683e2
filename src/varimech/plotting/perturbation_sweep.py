"""Difference quotients over a sweep of perturbations: one panel for each parameter, one curve for
each objective, with the errors of other derivative methods as levels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .figure import COLOURS, INK, Line, new_figure, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

FLOOR, CEILING = 1e-16, 10.0
"""Limits of drawn differences: a zero is drawn at the first value, near the rounding error; larger
ones than the second are clipped.
"""
GUIDES = (((1e-4, 1e-2), (1e-12, 1e-8), "δ²"), ((1e-11, 1e-8), (1e-8, 1e-11), "1/δ"))
"""Guide lines: truncation error δ² and rounding error 1/δ of central differences."""
Dashes = tuple[float, tuple[float, ...]]
STYLES: tuple[Dashes, ...] = (
    (0, (4, 2)),
    (0, (1, 1.5)),
    (0, (6, 2, 1, 2)),
    (0, (5, 1, 1, 1, 1, 1)),
    (0, (1, 3)),
)


@dataclass(frozen=True)
class Level:
    """Relative difference of another method (`kind`) for the objective `label`."""

    label: str
    kind: str
    value: float


def sweep_figure(
    panels: Mapping[str, tuple[Sequence[Line], Sequence[Level]]],
    labels: Sequence[str],
    *,
    title: str,
    against: str,
) -> Figure:
    """Panels side by side with common logarithmic axes.

    Args:
        panels: parameter → its curves and levels.
        labels: objectives, in the order of their colours.
        title: title of the figure.
        against: the reference of the differences.
    """
    columns = min(3, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure = new_figure(max(6.4, 3.6 * columns), 1.5 + 2.9 * rows)
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    colour = {label: COLOURS[k % len(COLOURS)] for k, label in enumerate(labels)}
    kinds = dict.fromkeys(level.kind for _, levels in panels.values() for level in levels)
    style = {kind: STYLES[k % len(STYLES)] for k, kind in enumerate(kinds)}
    for ax, (name, (curves, levels)) in zip(axes.flat, panels.items(), strict=False):
        _draw_panel(ax, curves, levels, colour, style)
        ax.set_title(name, fontsize=10, color=INK)
        ax.set_ylim(3e-17, 30)
        quiet(ax)
    for ax in axes.flat[len(panels) :]:
        ax.set_visible(False)
    for column in range(columns):
        lowest = max(row for row in range(rows) if row * columns + column < len(panels))
        axes[lowest, column].set_xlabel("relative perturbation", fontsize=9)
        axes[lowest, column].tick_params(labelbottom=True)
    figure.supylabel(f"relative difference to {against}", fontsize=10, color=INK)
    handles = _handles(colour, style)
    place: dict[str, Any] = {"loc": "outside lower center", "ncols": min(3, len(handles))}
    figure.legend(handles=handles, frameon=False, fontsize=9, **place)
    figure.suptitle(title, fontsize=12, color=INK)
    return figure


def _draw_panel(
    ax: Axes,
    curves: Sequence[Line],
    levels: Sequence[Level],
    colour: Mapping[str, str],
    style: Mapping[str, Dashes],
) -> None:
    for curve in curves:
        y = np.maximum(curve.y, FLOOR)
        ax.loglog(curve.x, y, "o-", color=colour[curve.label], linewidth=1.4, markersize=3.2)
    for level in levels:
        height, dashes = min(max(level.value, FLOOR), CEILING), style[level.kind]
        ax.axhline(height, color=colour[level.label], linestyle=dashes, linewidth=1.1, alpha=0.8)
    if not curves:
        ax.text(0.5, 0.5, "no dependence", transform=ax.transAxes, ha="center", color="#888888")
        return
    place: dict[str, Any] = {"xytext": (3, -3), "textcoords": "offset points"}
    for x, y, text in GUIDES:
        ax.loglog(x, y, color="#b5b5b5", linewidth=1.0, zorder=1)
        ax.annotate(text, (x[-1], y[-1]), color="#8a8a8a", fontsize=8, **place)


def _handles(colour: Mapping[str, str], style: Mapping[str, Dashes]) -> list[Line2D]:
    """Entries of the legend: a curve for each objective, a line for each other method."""
    from matplotlib.lines import Line2D

    return [
        *(
            Line2D([], [], color=c, marker="o", markersize=3.2, label=f"{n}, central differences")
            for n, c in colour.items()
        ),
        *(
            Line2D([], [], color="#666666", linestyle=dashes, linewidth=1.0, label=kind)
            for kind, dashes in style.items()
        ),
    ]
