"""Bar charts of named numbers, the largest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .figure import COLOURS, INK, new_figure, quiet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_BARS = 20
"""Largest number of bars in a panel, as many as remain legible; the smallest are omitted beyond."""


def bar_figure(
    panels: Mapping[str, np.ndarray], names: Sequence[str], *, title: str = ""
) -> Figure:
    """Horizontal bars, one panel for each label, with different colours for positive and negative
    values.

    Args:
        panels: axis label → values, one for each name.
        names: names of the bars.
        title: title of the figure.
    """
    count = min(len(names), MOST_BARS)
    figure = new_figure(7.0, 0.8 + len(panels) * (0.5 + 0.28 * count))
    axes = figure.subplots(len(panels), 1, squeeze=False)[:, 0]
    for ax, (label, values) in zip(axes, panels.items(), strict=True):
        order = np.argsort(-np.abs(values), kind="stable")[:count][::-1]
        colours = [COLOURS[0] if values[k] >= 0 else COLOURS[1] for k in order]
        ax.barh(np.arange(count), values[order], 0.66, color=colours)
        ax.set_yticks(np.arange(count), [names[k] for k in order], parse_math=False)
        ax.axvline(0.0, color=INK, linewidth=0.8)
        ax.set_xlabel(label)
        quiet(ax)
        ax.grid(visible=False, axis="y")
    if title:
        figure.suptitle(title, fontsize=12, color=INK)
    return figure
