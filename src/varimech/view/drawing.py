"""Drawings of a mechanism: bodies as lines between their points, springs as zigzags, joints as dots, traces of points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .figure import COLOURS, INK, new_figure, quiet

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Shape:
    """Something drawn through points: a body, or a spring or damper between two of them."""

    kind: str
    """"body", "beam", "spring" or "damper"."""
    name: str
    points: tuple[str, ...]


def draw(
    shapes: Sequence[Shape],
    frames: Sequence[Mapping[str, np.ndarray]],
    traces: Mapping[str, np.ndarray],
    labels: Mapping[str, str],
    fixed: Sequence[str],
    *,
    title: str = "",
) -> Figure:
    """The mechanism at several instants (the last one strong, earlier ones faint), with the paths of points.

    Args:
        shapes: what to draw.
        frames: for each instant the position of every point.
        traces: name of a point → its path, (time, component).
        labels: point → text beside it.
        fixed: points of the ground.
        title: above the drawing.
    """
    size = next(iter(frames[0].values())).size
    figure = new_figure(6.4, 5.4)
    ax: Any = figure.add_subplot(projection="3d" if size == 3 else None)
    bodies = [s.name for s in shapes if s.kind in ("body", "beam")]
    for name, path in traces.items():
        ax.plot(*path.T, color="#999999", linewidth=0.8, zorder=1)
        ax.plot([], [], color="#999999", linewidth=0.8, label=f"path of {name}")
    for k, frame in enumerate(frames):
        strong = k == len(frames) - 1
        alpha = 1.0 if strong else 0.12 + 0.25 * k / max(1, len(frames) - 1)
        for shape in shapes:
            _draw_shape(ax, shape, frame, bodies, alpha, strong)
    _draw_points(ax, frames[-1], labels, fixed)
    if size == 2:
        ax.margins(0.1)
        ax.set_aspect("equal", adjustable="datalim")
        quiet(ax)
    else:
        ax.set_aspect("equal")
        ax.set_zlabel("z (m)")
    ax.set_xlabel("x (m)")
    ax.set_ylabel("y (m)")
    if traces:
        ax.legend(frameon=False, fontsize=9)
    if title:
        ax.set_title(title, fontsize=11, color=INK)
    return figure


def _draw_shape(ax: Any, shape: Shape, frame: Mapping[str, np.ndarray], bodies: list[str], alpha: float, strong: bool) -> None:
    path = np.array([frame[p] for p in shape.points])
    if shape.kind in ("spring", "damper"):
        if strong:
            ax.plot(*(_zigzag(*path) if shape.kind == "spring" else path).T, color="#777777", linewidth=1.0, zorder=2)
        return
    colour = COLOURS[bodies.index(shape.name) % len(COLOURS)]
    ax.plot(*path.T, color=colour, linewidth=4.0 if strong else 2.5, alpha=alpha, solid_capstyle="round", zorder=3)


def _draw_points(ax: Any, frame: Mapping[str, np.ndarray], labels: Mapping[str, str], fixed: Sequence[str]) -> None:
    from matplotlib.patheffects import withStroke

    for point, text in labels.items():
        marker = "s" if point in fixed else "o"
        ax.plot(*[[c] for c in frame[point]], marker, color="white", markeredgecolor=INK, markersize=7, zorder=4)
        if frame[point].size == 2:
            label = ax.annotate(text, frame[point], xytext=(9, 9), textcoords="offset points", fontsize=10, color=INK, zorder=5)
            label.set_path_effects([withStroke(linewidth=3, foreground="white")])
        else:
            ax.text(*frame[point], f"  {text}", fontsize=10, color=INK)


def _zigzag(start: np.ndarray, end: np.ndarray, turns: int = 9) -> np.ndarray:
    """A spring's outline: straight ends, zigzag between."""
    axis = end - start
    length = float(np.linalg.norm(axis)) or 1.0
    side = np.array([-axis[1], axis[0], *np.zeros(axis.size - 2)]) / length
    s = np.concatenate([[0.0], np.linspace(0.2, 0.8, 2 * turns + 1), [1.0]])
    swing = np.zeros_like(s)
    swing[2:-2] = 0.03 * length * np.where(np.arange(s.size - 4) % 2, -1.0, 1.0)
    return start + s[:, None] * axis + swing[:, None] * side
