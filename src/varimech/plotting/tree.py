"""Drawings of trees: nodes in layers from left to right, additional connections as
dashed curves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .figure import COLOURS, GRID, INK, new_figure
from .outline import Branch

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW, GAP = 0.5, 0.3
"""Distance of rows, and margin on both sides of a text on a line (in)."""
WIDEST, HIGHEST = 16.0, 21.0
"""Largest drawing (in); larger trees are drawn more densely, and labels without space
are omitted.
"""
LETTER, LINE = 0.078, 0.16
"""Upper estimates of the width of a letter and of the height of a line (in)."""
CUT = COLOURS[1]


class Chord(NamedTuple):
    """A connection outside the tree."""

    label: str
    first: str
    second: str


@dataclass(frozen=True)
class _Layout:
    """Positions of the nodes (in, y downwards)."""

    place: dict[str, tuple[float, float]]
    depth: dict[str, int]
    carriers: set[str]
    """Nodes that have children."""
    trunks: list[float]
    """x at which the lines into each layer branch."""


def draw_tree(branches: Sequence[Branch], chords: Sequence[Chord], *, title: str = "") -> Figure:
    """Draw one or more trees with additional connections.

    Args:
        branches: the nodes, parents before their children; the parent of a root is "".
        chords: additional connections.
        title: title of the drawing.
    """
    layout = _laid_out(branches)
    curves = [_curve(layout, chord, k) for chord, k in zip(chords, _numbered(chords), strict=True)]
    corners = np.array([*layout.place.values(), *(point for curve in curves for point in curve)])
    beyond = (
        max([len(b.node) / 2 for b in branches] + [len(c.label) / 2 for c in chords]) * LETTER + GAP
    )
    left, right = (
        corners[:, 0].min() - beyond,
        max(corners[:, 0].max() + beyond, 1.2 * LETTER * len(title)),
    )
    top, bottom = corners[:, 1].min() - (0.9 if title else 0.4), corners[:, 1].max() + 0.4
    figure = new_figure(right - left, bottom - top)
    figure.set_layout_engine("none")  # inches are inches
    ax = figure.add_axes((0, 0, 1, 1), xlim=(left, right), ylim=(bottom, top))
    ax.set_axis_off()
    ax.text(left + GAP, top + 0.3, title, fontsize=11, color=INK, va="center", parse_math=False)
    _draw_lines(ax, branches, layout)
    labels = _Labels(ax)
    for b in branches:
        labels.node(b, layout)
    for b in branches:
        x, y = layout.place[b.node]
        start, end = layout.trunks[layout.depth[b.node]], x - _half(b.node)
        labels.beside(b.label, [((start + end) / 2, y - LINE / 2)] if b.label else [], INK)
    for chord, curve in zip(chords, curves, strict=True):
        ax.plot(*curve.T, "--", color=CUT, linewidth=1.3, zorder=2)
        labels.beside(chord.label, [curve[k] for k in (20, 16, 24, 12, 28, 8, 32, 5, 35)], CUT)
    return figure


def _laid_out(branches: Sequence[Branch]) -> _Layout:
    """Place each leaf in its own row and parents in the middle of their children; free roots go
    beside the children of the first root.
    """
    depth = {branches[0].node: 0}
    children: dict[str, list[str]] = {b.node: [] for b in branches}
    for b in branches[1:]:
        depth[b.node] = depth.get(b.parent, 0) + 1
        if b.parent:
            children[b.parent].append(b.node)
    rows: dict[str, int] = {}
    for b in reversed(branches):
        rows[b.node] = max(1, sum(rows[c] for c in children[b.node]))
    top = {"": 0}
    for b in branches:
        top[b.node] = top[b.parent]
        top[b.parent] += rows[b.node]
    y: dict[str, float] = {}
    for b in reversed(branches):
        here = children[b.node]
        y[b.node] = (y[here[0]] + y[here[-1]]) / 2 if here else float(top[b.node])
    x, trunks = _columns(branches, depth)
    scale, row = min(1.0, WIDEST / max(x[-1], 1)), min(ROW, HIGHEST / max(top[""], 1))
    place = {b.node: (scale * x[depth[b.node]], row * y[b.node]) for b in branches}
    return _Layout(place, depth, {b.parent for b in branches}, [scale * t for t in trunks])


def _columns(branches: Sequence[Branch], depth: dict[str, int]) -> tuple[list[float], list[float]]:
    """Centre of each layer, and where the lines into it branch, with space for all labels."""
    nodes, lines = ([0.0] * (max(depth.values()) + 1) for _ in range(2))
    for b in branches:
        d = depth[b.node]
        nodes[d], lines[d] = max(nodes[d], 2 * _half(b.node)), max(lines[d], LETTER * len(b.label))
    x, trunks = [0.0], [0.0]
    for d in range(1, len(nodes)):
        trunks.append(x[-1] + nodes[d - 1] / 2 + GAP / 2)
        x.append(trunks[-1] + lines[d] + GAP + nodes[d] / 2)
    return x, trunks


def _half(name: str) -> float:
    """Half the width of a node."""
    return LETTER * len(name) / 2 + 0.08


def _numbered(chords: Sequence[Chord]) -> list[int]:
    """For each chord, the number of previous chords between the same two nodes."""
    seen: dict[frozenset[str], int] = {}
    numbers = []
    for chord in chords:
        pair = frozenset((chord.first, chord.second))
        numbers.append(seen.get(pair, 0))
        seen[pair] = numbers[-1] + 1
    return numbers


def _curve(layout: _Layout, chord: Chord, index: int) -> np.ndarray:
    """A cubic curve between two nodes: around leaves on the right, between the rows if one has
    children, below the root.
    """
    ends = sorted((chord.first, chord.second), key=lambda node: layout.place[node][1])
    (x1, y1), (x2, y2) = (layout.place[node] for node in ends)
    depths = [layout.depth[node] for node in ends]
    apart = 1 + index / 2
    if 0 in depths:
        y_max = y2 + apart * (0.4 + 0.1 * abs(depths[0] - depths[1]))
        controls = [(x1, y1), (0.8 * x1 + 0.2 * x2, y_max), (0.2 * x1 + 0.8 * x2, y_max), (x2, y2)]
    elif layout.carriers.isdisjoint(ends):
        x1, x2 = (x + _half(node) for x, node in ((x1, ends[0]), (x2, ends[1])))
        x_max = max(x1, x2) + apart * (0.4 + 0.3 * (y2 - y1))
        controls = [(x1, y1), (x_max, y1), (x_max, y2), (x2, y2)]
    else:
        aside = 0.0 if depths[0] != depths[1] else 0.4
        middle = (y1 + y2) / 2 + 0.15 * index
        controls = [
            (x1, y1 + LINE / 2),
            (x1 + aside, middle),
            (x2 + aside, middle),
            (x2, y2 - LINE / 2),
        ]
    t = np.linspace(0, 1, 41)[:, None]
    weights = np.hstack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3])
    return np.asarray(weights @ np.array(controls))


def _draw_lines(ax: Axes, branches: Sequence[Branch], layout: _Layout) -> None:
    """Draw the tree; a root without a parent gets a short dotted line."""
    for free in (False, True):
        path: list[tuple[float, float]] = []
        for b in branches[1:]:
            x, y = layout.place[b.node]
            trunk = layout.trunks[layout.depth[b.node]]
            if free and not b.parent:
                path += [(trunk, y), (x, y), (np.nan, np.nan)]
            elif not free and b.parent:
                x0, y0 = layout.place[b.parent]
                path += [(x0, y0), (trunk, y0), (trunk, y), (x, y), (np.nan, np.nan)]
        ax.plot(
            *np.array(path).reshape(-1, 2).T,
            ":" if free else "-",
            color=INK,
            linewidth=1.2,
            zorder=1,
        )


class _Labels:
    """Texts, placed as long as there is space."""

    def __init__(self, ax: Axes):
        self.ax = ax
        self.taken: list[tuple[float, float, float, float]] = []

    def node(self, b: Branch, layout: _Layout) -> None:
        """Draw a node: its name in a box, or a dot if there is no space."""
        x, y = layout.place[b.node]
        fill = "white" if b.label else GRID
        if self._free(x, y, _half(b.node) + 0.02, 0.6 * LINE):
            box = {"boxstyle": "round,pad=0.3", "edgecolor": INK, "linewidth": 1.0}
            box["facecolor"] = fill
            self._text(x, y, b.node, fontsize=9, color=INK, bbox=box, zorder=4)
        else:
            self.ax.plot([x], [y], "o", color=fill, markeredgecolor=INK, markersize=4, zorder=3)

    def beside(self, text: str, places: Sequence[tuple[float, float]], colour: str) -> None:
        """Write a text at the first free position, if there is one."""
        place = next(
            (p for p in places if self._free(p[0], p[1], LETTER * len(text) / 2, LINE / 2)), None
        )
        if place is not None:
            box = {"pad": 1, "facecolor": "white", "edgecolor": "none"}
            self._text(*place, text, fontsize=8, color=colour, bbox=box, zorder=3)

    def _text(self, x: float, y: float, text: str, **style: Any) -> None:
        self.ax.text(x, y, text, ha="center", va="center", parse_math=False, **style)

    def _free(self, x: float, y: float, half_width: float, half_height: float) -> bool:
        """Whether a position is free; if so, it is marked as taken."""
        box = (x - half_width, x + half_width, y - half_height, y + half_height)
        if any(
            box[0] < b and a < box[1] and box[2] < d and c < box[3] for a, b, c, d in self.taken
        ):
            return False
        self.taken.append(box)
        return True
