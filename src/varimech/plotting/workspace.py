"""Figure of a workspace: positions by their conditioning, and curves that bound them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .figure import COLOURS, INK, legend_beside, new_figure, quiet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SPECIAL = {"dead centre": "--", "singular position": "-."}


def workspace_figure(
    positions: np.ndarray,
    conditioning: np.ndarray,
    boundary: Mapping[str, Sequence[np.ndarray]],
    *,
    title: str = "",
) -> Figure:
    """Positions as points, pieces of the boundary as lines by source.

    Args:
        positions: (node, component) (m), in the plane or in space.
        conditioning: from 0 to 1, by node.
        boundary: limit → its pieces, (place, component) each.
        title: title above the figure.
    """
    figure = new_figure(7.2, 5.0)
    space = positions.shape[1] == 3
    ax: Any = figure.add_subplot(projection="3d" if space else None)
    points = ax.scatter(
        *positions.T, c=conditioning, s=7, cmap="viridis", vmin=0, vmax=1, linewidths=0
    )
    figure.colorbar(points, ax=ax, label="conditioning", shrink=0.7, location="left")
    for k, (source, pieces) in enumerate(sorted(boundary.items())):
        dashes = SPECIAL.get(source, "-")
        for j, piece in enumerate(pieces):
            label = source if j == 0 else None
            ax.plot(*piece.T, dashes, color=COLOURS[k % len(COLOURS)], linewidth=1.6, label=label)
    if boundary:
        legend_beside(ax)
    if space:
        ax.set_zlabel("z (m)")
    else:
        quiet(ax)
    ax.set_aspect("equal")
    ax.set_xlabel("x (m)")
    ax.set_ylabel("y (m)")
    if title:
        ax.set_title(title, fontsize=11, color=INK)
    return figure
