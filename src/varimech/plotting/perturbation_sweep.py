"""Difference quotients over a sweep of perturbations: one panel for each parameter, one curve for
each objective, with the errors of other derivative methods as levels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .figure import COLOURS, INK, new_figure, quiet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FLOOR, CEILING = 1e-16, 10.0
"""A zero difference is drawn at the first value, near the rounding error; larger ones than the
second are clipped.
"""
GUIDES = (((1e-4, 1e-2), (1e-12, 1e-8), "δ²"), ((1e-11, 1e-8), (1e-8, 1e-11), "1/δ"))
"""Guide lines: truncation error δ² and rounding error 1/δ of central differences."""
STYLES: tuple[tuple[float, tuple[float, ...]], ...] = (
    (0, (4, 2)),
    (0, (1, 1.5)),
    (0, (6, 2, 1, 2)),
    (0, (5, 1, 1, 1, 1, 1)),
    (0, (1, 3)),
)


@dataclass(frozen=True)
class Curve:
    """Relative differences over relative perturbations."""

    label: str
    x: np.ndarray
    y: np.ndarray


@dataclass(frozen=True)
class Level:
    """Relative difference of another method (`kind`) for the objective `label`."""

    label: str
    kind: str
    value: float


def sweep_figure(
    panels: Mapping[str, tuple[Sequence[Curve], Sequence[Level]]],
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
    from matplotlib.lines import Line2D

    columns = min(3, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure = new_figure(max(6.4, 3.6 * columns), 1.5 + 2.9 * rows)
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    colour = {label: COLOURS[k % len(COLOURS)] for k, label in enumerate(labels)}
    kinds = list(dict.fromkeys(level.kind for _, levels in panels.values() for level in levels))
    style = {kind: STYLES[k % len(STYLES)] for k, kind in enumerate(kinds)}
    for ax, (name, (curves, levels)) in zip(axes.flat, panels.items(), strict=False):
        for curve in curves:
            y = np.maximum(curve.y, FLOOR)
            ax.loglog(curve.x, y, "o-", color=colour[curve.label], linewidth=1.4, markersize=3.2)
        for level in levels:
            height = min(max(level.value, FLOOR), CEILING)
            ax.axhline(
                height,
                color=colour[level.label],
                linestyle=style[level.kind],
                linewidth=1.1,
                alpha=0.8,
            )
        for x, y, text in GUIDES if curves else ():
            ax.loglog(x, y, color="#b5b5b5", linewidth=1.0, zorder=1)
            ax.annotate(
                text,
                (x[-1], y[-1]),
                color="#8a8a8a",
                fontsize=8,
                xytext=(3, -3),
                textcoords="offset points",
            )
        if not curves:
            ax.text(0.5, 0.5, "no dependence", transform=ax.transAxes, ha="center", color="#888888")
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
    handles = [
        Line2D(
            [],
            [],
            color=colour[label],
            marker="o",
            markersize=3.2,
            label=f"{label}, central differences",
        )
        for label in labels
    ]
    handles += [
        Line2D([], [], color="#666666", linestyle=style[kind], linewidth=1.0, label=kind)
        for kind in kinds
    ]
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=min(3, len(handles)),
        frameon=False,
        fontsize=9,
    )
    figure.suptitle(title, fontsize=12, color=INK)
    return figure
