"""Drawings of a mechanism: bodies as lines between their points, springs as zigzags, joints as
dots, sliders as blocks on rails, paths of points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.coordinate_scales import TINY
from .figure import COLOURS, INK, new_figure, quiet

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Shape:
    """A body drawn through its points, or a spring or damper between two points."""

    kind: str
    """"body", "beam", "spring" or "damper"."""
    name: str
    points: tuple[str, ...]


@dataclass(frozen=True)
class Slider:
    """A sliding joint: a block at its point, and the rail along its direction if it is fixed to the
    ground.
    """

    point: str
    size: float
    """Size of the block (m)."""
    direction: np.ndarray
    """Unit vector of the sliding direction."""
    reach: tuple[float, float] | None
    """Lengths of the rail against and along the direction (m); None without a rail."""

    def ends(self, position: np.ndarray) -> np.ndarray:
        """Ends of the rail, or of the block if there is no rail: (end, component) (m)."""
        back, forward = self.reach or (self.size / 2, self.size / 2)
        return np.array([position - back * self.direction, position + forward * self.direction])

    @property
    def up(self) -> np.ndarray:
        """In the plane, the unit vector from the rail to the block; never downwards."""
        x, y = self.direction
        return np.array([-y, x]) if x >= 0 else np.array([y, -x])


def draw(
    shapes: Sequence[Shape],
    frames: Sequence[Mapping[str, np.ndarray]],
    traces: Mapping[str, np.ndarray],
    labels: Mapping[str, str],
    fixed: Sequence[str],
    sliders: Sequence[Slider] = (),
    *,
    title: str = "",
) -> Figure:
    """The mechanism at several instants (the last one bold, earlier ones faint), with the paths of
    points.

    Args:
        shapes: bodies, springs and dampers.
        frames: for each instant the position of every point (m).
        traces: name of a point → its path, (time, component) (m).
        labels: point → text beside it.
        fixed: points of the ground.
        sliders: sliding joints.
        title: title above the drawing.
    """
    size = next(iter(frames[0].values())).size
    figure = new_figure(6.4, 5.4)
    ax: Any = figure.add_subplot(projection="3d" if size == 3 else None)
    bodies = [s.name for s in shapes if s.kind in ("body", "beam")]
    for (name, path), dashes in zip(traces.items(), cycle(("-", "--", ":", "-.")), strict=False):
        ax.plot(*path.T, dashes, color="#888888", linewidth=0.9, zorder=1, label=f"path of {name}")
    for k, frame in enumerate(frames):
        bold = k == len(frames) - 1
        alpha = 1.0 if bold else 0.12 + 0.25 * k / max(1, len(frames) - 1)
        for shape in shapes:
            _draw_shape(ax, shape, frame, bodies, alpha, bold)
    for slider in sliders:
        _draw_slider(ax, slider, frames[-1][slider.point])
    _draw_points(ax, frames[-1], labels, fixed, _lines_at(shapes, sliders, frames[-1]))
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


def _draw_shape(
    ax: Any,
    shape: Shape,
    frame: Mapping[str, np.ndarray],
    bodies: list[str],
    alpha: float,
    bold: bool,
) -> None:
    path = np.array([frame[p] for p in shape.points])
    if shape.kind in ("spring", "damper"):
        if bold:
            ax.plot(
                *(_zigzag(*path) if shape.kind == "spring" else path).T,
                color="#777777",
                linewidth=1.0,
                zorder=2,
            )
        return
    colour = COLOURS[bodies.index(shape.name) % len(COLOURS)]
    ax.plot(
        *path.T,
        color=colour,
        linewidth=4.0 if bold else 2.5,
        alpha=alpha,
        solid_capstyle="round",
        zorder=3,
    )


def _draw_slider(ax: Any, slider: Slider, position: np.ndarray) -> None:
    from matplotlib.patheffects import withTickedStroke

    ends, grey = slider.ends(position), "#777777"
    if position.size == 3:
        if slider.reach is not None:
            ax.plot(*ends.T, color=grey, linewidth=1.0, zorder=1.5)
        ax.plot(
            *[[c] for c in position],
            "s",
            color="#e6e6e6",
            markeredgecolor=INK,
            markersize=12,
            zorder=2.5,
        )
        return
    half, rise = slider.size / 2 * slider.direction, 0.3 * slider.size * slider.up
    block = position + np.array([-half - rise, half - rise, half + rise, -half + rise])
    ax.fill(*block.T, facecolor="#e6e6e6", edgecolor=INK, linewidth=1.0, zorder=2.5)
    if slider.reach is not None:
        # the hatching is on the right-hand side of the line
        rail = (ends if slider.direction[0] >= 0 else ends[::-1]) - rise
        hatched = withTickedStroke(angle=-135, spacing=6, length=0.8)
        ax.plot(*rail.T, color=grey, linewidth=1.0, zorder=1.5, path_effects=[hatched])


def _draw_points(
    ax: Any,
    frame: Mapping[str, np.ndarray],
    labels: Mapping[str, str],
    fixed: Sequence[str],
    lines: np.ndarray,
) -> None:
    from matplotlib.patheffects import withStroke

    for point, text in labels.items():
        marker = "s" if point in fixed else "o"
        ax.plot(
            *[[c] for c in frame[point]],
            marker,
            color="white",
            markeredgecolor=INK,
            markersize=7,
            zorder=4,
        )
        if frame[point].size == 2:
            x, y = _free_direction(frame[point], lines)
            style: dict[str, Any] = {
                "ha": "center",
                "va": "center",
                "fontsize": 10,
                "color": INK,
                "zorder": 5,
            }
            label = ax.annotate(
                text,
                frame[point],
                xytext=((10 + 3 * len(text)) * x, 16 * y),
                textcoords="offset points",
                **style,
            )
            label.set_path_effects([withStroke(linewidth=3, foreground="white")])
        else:
            ax.text(*frame[point], f"  {text}", fontsize=10, color=INK)


def _lines_at(
    shapes: Sequence[Shape], sliders: Sequence[Slider], frame: Mapping[str, np.ndarray]
) -> np.ndarray:
    """All straight lines of a drawing, (line, end, component), which labels avoid."""
    lines = [(frame[a], frame[b]) for s in shapes for a, b in pairwise(s.points)]
    lines += [tuple(s.ends(frame[s.point])) for s in sliders]
    size = next(iter(frame.values())).size
    if size == 2:  # keep clear of the hatching below
        lines += [(frame[s.point], frame[s.point] - s.size * s.up) for s in sliders]
    return np.array(lines) if lines else np.zeros((0, 2, size))


def _free_direction(position: np.ndarray, lines: np.ndarray) -> np.ndarray:
    """Of eight directions from a point, the one farthest from all lines through it; the upper right
    one in a tie.
    """
    a, along = lines[:, 0], lines[:, 1] - lines[:, 0]
    lengths = np.maximum(np.linalg.norm(along, axis=1), TINY)
    share = np.clip(((position - a) * along).sum(axis=1) / lengths**2, 0, 1)
    through = np.linalg.norm(a + share[:, None] * along - position, axis=1) < 0.02 * lengths
    leaving = np.concatenate([(end - position)[through] for end in (lines[:, 0], lines[:, 1])])
    leaving = leaving[np.linalg.norm(leaving, axis=1) > 0]
    around = np.pi / 4 * np.array([1, 2, 3, 0, 4, 7, 6, 5])
    directions = np.column_stack([np.cos(around), np.sin(around)])
    if not len(leaving):
        return np.asarray(directions[0])
    nearest = (directions @ (leaving / np.linalg.norm(leaving, axis=1)[:, None]).T).max(axis=1)
    return np.asarray(directions[np.argmin(nearest.round(2))])


def _zigzag(start: np.ndarray, end: np.ndarray, turns: int = 9) -> np.ndarray:
    """Outline of a spring: straight ends with a zigzag in between."""
    axis = end - start
    length = float(np.linalg.norm(axis)) or 1.0
    side = np.array([-axis[1], axis[0], *np.zeros(axis.size - 2)]) / length
    s = np.concatenate([[0.0], np.linspace(0.2, 0.8, 2 * turns + 1), [1.0]])
    offset = np.zeros_like(s)
    offset[2:-2] = 0.03 * length * np.where(np.arange(s.size - 4) % 2, -1.0, 1.0)
    return start + s[:, None] * axis + offset[:, None] * side
