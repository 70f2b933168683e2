"""Line figures: panels over a common horizontal axis, in one restrained style. No global state, no
display needed.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np

from .style import in_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0b6fb8", "#d1495b", "#2a9d5c", "#e08a00", "#6c4ab6", "#00838f", "#8c564b", "#555555")
"""Distinguishable for colour-blind readers, too: the colours differ in lightness."""
INK, GRID, MARK = "#333333", "#d9d9d9", "#8a8a8a"


@dataclass(frozen=True)
class Line:
    """One curve."""

    label: str
    x: np.ndarray
    y: np.ndarray


@dataclass(frozen=True)
class Panel:
    """Curves that share a vertical axis."""

    ylabel: str
    lines: list[Line] = field(default_factory=list)


def line_figure(
    panels: Sequence[Panel],
    *,
    title: str = "",
    xlabel: str = "time (s)",
    style: str | None = None,
    marks: Sequence[float] | np.ndarray = (),
) -> Figure:
    """Panels one below another with a common horizontal axis.

    Args:
        panels: the panels.
        title: title of the figure.
        xlabel: label of the horizontal axis.
        style: "paper" for a figure in the format of a paper; it has a title only if one is given.
        marks: places on the horizontal axis that are marked by thin lines, such as times of events.

    Returns:
        A figure.
    """
    figure = new_figure(7.0, 1.0 + 2.2 * len(panels))
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for ax, panel in zip(axes, panels, strict=True):
        for k, line in enumerate(panel.lines):
            ax.plot(
                line.x, line.y, color=COLOURS[k % len(COLOURS)], linewidth=1.5, label=line.label
            )
        for place in marks:
            ax.axvline(place, color=MARK, linewidth=0.7, linestyle=":", zorder=0.5)
        ax.set_ylabel(panel.ylabel)
        quiet(ax)
        if len(panel.lines) > 1:
            legend_beside(ax)
        elif panel.lines and panel.lines[0].label:
            ax.set_title(panel.lines[0].label, fontsize=9, loc="right", color=INK)
    figure.align_ylabels(axes)
    axes[-1].set_xlabel(xlabel)
    axes[-1].margins(x=0)
    if title:
        figure.suptitle(title, fontsize=12, color=INK)
    return in_style(figure, style, titled=bool(title))


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of a width and height (in) that needs no display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", dpi=120)
    FigureCanvasAgg(figure)
    return figure


def picture(figure: Figure) -> str:
    """A figure as a self-contained HTML element."""
    buffer = BytesIO()
    figure.savefig(buffer, format="svg")
    return (
        f'<img src="data:image/svg+xml;base64,{b64encode(buffer.getvalue()).decode()}"'
        ' style="max-width:100%"/>'
    )


def legend_beside(ax: Axes) -> None:
    """Place the legend of a panel to the right of it."""
    ax.legend(
        frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.3
    )


def quiet(ax: Axes) -> None:
    """Apply a light grid and remove the box."""
    ax.grid(color=GRID, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color("#888888")
    ax.tick_params(colors=INK, labelsize=9)
