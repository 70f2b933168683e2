"""A pencil for drawings of elements: bodies, pins, ground, springs and arrows on a page of 6 by 4,
in the colours of the figures.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.path import Path as Outline

from varimech.plotting.figure import COLOURS, INK, new_figure

Place = tuple[float, float]
FIRST, SECOND, GIVEN = COLOURS[0], COLOURS[3], COLOURS[1]
"""Of the first body, the second one, and of what is measured or given."""
METAL, PALE = "#8a8a8a", "#e9eef4"


DRAWINGS: dict[str, Callable[[Sketch], None]] = {}


def drawing(draw: Callable[[Sketch], None]) -> Callable[[Sketch], None]:
    """Goes by the name of its function."""
    DRAWINGS[draw.__name__] = draw
    return draw


def from_(place: Place, length: float, angle: float) -> Place:
    """The place at a distance in a direction (degrees)."""
    return place[0] + length * math.cos(math.radians(angle)), place[1] + length * math.sin(
        math.radians(angle)
    )


class Sketch:
    """A page with a pencil. Places are (x, y) on it."""

    def __init__(self) -> None:
        self.figure = new_figure(4.2, 2.8)
        self.figure.set_layout_engine("none")
        self.ax: Any = self.figure.add_axes((0, 0, 1, 1))
        self.ax.set(xlim=(0, 6), ylim=(0, 4), aspect="equal")
        self.ax.axis("off")

    def save(self, file: Path) -> None:
        """As SVG of full width and no more height than needed, the same to the last
        byte each time.
        """
        import matplotlib
        from matplotlib.transforms import Bbox

        drawn = [a.get_tightbbox() for a in (*self.ax.lines, *self.ax.patches, *self.ax.texts)]
        used = Bbox.union(
            [box for box in drawn if box and np.isfinite(box.extents).all()]
        ).transformed(self.figure.dpi_scale_trans.inverted())
        page = Bbox([[0, used.y0 - 0.1], [self.figure.get_figwidth(), used.y1 + 0.1]])
        with matplotlib.rc_context({"svg.hashsalt": file.stem, "svg.fonttype": "path"}):
            self.figure.savefig(file, metadata={"Date": None, "Creator": None}, bbox_inches=page)

    def line(
        self,
        *places: Place,
        colour: str = INK,
        width: float = 1.0,
        style: str = "-",
        order: float = 2,
    ) -> None:
        x, y = zip(*places, strict=True)
        self.ax.plot(
            x,
            y,
            color=colour,
            linewidth=width,
            linestyle=style,
            zorder=order,
            solid_capstyle="round",
            solid_joinstyle="round",
        )

    def bar(self, *places: Place, colour: str = FIRST, faint: bool = False) -> None:
        self.line(
            *places,
            colour=colour if not faint else _faint(colour),
            width=7,
            order=1.5 if faint else 3,
        )

    def body(self, *places: Place, colour: str = FIRST) -> None:
        """A rounded outline through places."""
        p = np.array(places)
        mid = (p + np.roll(p, -1, axis=0)) / 2
        vertices = [tuple(mid[-1])]
        for corner, end in zip(p, mid, strict=True):
            vertices += [tuple(corner), tuple(end)]
        codes = [Outline.MOVETO] + [Outline.CURVE3] * (len(vertices) - 1)
        self._patch(
            "PathPatch",
            Outline(vertices, codes),
            facecolor=_faint(colour, 0.8),
            edgecolor=colour,
            linewidth=1.8,
            zorder=1,
        )

    def box(
        self, centre: Place, width: float, height: float, angle: float = 0.0, colour: str = SECOND
    ) -> None:
        corners = [(x * width / 2, y * height / 2) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        self.polygon(*[_moved(centre, c, angle) for c in corners], colour=colour)

    def polygon(self, *places: Place, colour: str = SECOND, order: float = 2) -> None:
        self._patch(
            "Polygon",
            list(places),
            facecolor=_faint(colour, 0.75),
            edgecolor=colour,
            linewidth=1.6,
            zorder=order,
        )

    def pin(self, place: Place, name: str = "", shift: Place = (0.16, 0.16)) -> None:
        self.ax.plot(
            *place,
            "o",
            color="white",
            markeredgecolor=INK,
            markersize=7,
            markeredgewidth=1.3,
            zorder=5,
        )
        self.text((place[0] + shift[0], place[1] + shift[1]), name)

    def centre(self, place: Place, name: str = "", shift: Place = (0.18, 0.12)) -> None:
        """A centre of mass."""
        self.ax.plot(*place, "o", color="white", markeredgecolor=INK, markersize=9, zorder=5)
        self.ax.plot(*place, "+", color=INK, markersize=8, zorder=6)
        self.text((place[0] + shift[0], place[1] + shift[1]), name)

    def text(self, place: Place, words: str, colour: str = INK, size: float = 11) -> None:
        from matplotlib.patheffects import withStroke

        if words:
            label = self.ax.text(*place, words, fontsize=size, color=colour, zorder=8, va="center")
            label.set_path_effects([withStroke(linewidth=3, foreground="white")])

    def wall(self, first: Place, second: Place) -> None:
        """Ground, hatched on the right of the way from first to second."""
        a, b = np.array(first), np.array(second)
        scheme = (b - a) / np.linalg.norm(b - a)
        back = 0.22 * (np.array([scheme[1], -scheme[0]]) - scheme)
        for s in np.linspace(0.08, 1, max(3, round(float(np.linalg.norm(b - a)) / 0.22))):
            p = a + s * (b - a)
            self.line(tuple(p), tuple(p + back), colour=METAL, width=0.9, order=1)
        self.line(first, second, colour=INK, width=1.6, order=1)

    def support(self, place: Place, name: str = "O", shift: Place = (0.2, 0.2)) -> None:
        """A pin on the ground."""
        x, y = place
        self._patch(
            "Polygon",
            [(x, y), (x - 0.27, y - 0.42), (x + 0.27, y - 0.42)],
            facecolor=PALE,
            edgecolor=INK,
            zorder=1.2,
        )
        self.wall((x - 0.45, y - 0.42), (x + 0.45, y - 0.42))
        self.pin(place, name, shift)

    def arrow(
        self,
        start: Place,
        end: Place,
        name: str = "",
        colour: str = INK,
        shift: Place = (0.1, 0.1),
        *,
        both: bool = False,
    ) -> None:
        self._arrow(start, end, colour, "<|-|>" if both else "-|>")
        middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2) if both else end
        self.text((middle[0] + shift[0], middle[1] + shift[1]), name, colour)

    def turn(
        self,
        centre: Place,
        radius: float,
        first: float,
        last: float,
        name: str = "",
        colour: str = GIVEN,
        away: float = 0.3,
    ) -> None:
        """A turning arrow, angles in degrees."""
        φ = np.radians(np.linspace(first, last, 60))
        x, y = centre[0] + radius * np.cos(φ), centre[1] + radius * np.sin(φ)
        self.ax.plot(x[:-6], y[:-6], color=colour, linewidth=1.3, zorder=6)
        self._arrow((x[-8], y[-8]), (x[-1], y[-1]), colour, "-|>")
        middle = math.radians((first + last) / 2)
        self.text(
            (
                centre[0] + (radius + away) * math.cos(middle) - 0.08,
                centre[1] + (radius + away) * math.sin(middle),
            ),
            name,
            colour,
        )

    def measure(
        self,
        first: Place,
        second: Place,
        name: str,
        offset: float = 0.45,
        colour: str = GIVEN,
        shift: Place = (-0.1, 0.22),
    ) -> None:
        """A dimension, drawn to the left of the way from first to second."""
        a, b = np.array(first), np.array(second)
        scheme = (b - a) / np.linalg.norm(b - a)
        side = offset * np.array([-scheme[1], scheme[0]])
        for p in (a, b):
            self.line(tuple(p), tuple(p + 1.15 * side), colour=colour, width=0.6, order=1)
        self.arrow(tuple(a + side), tuple(b + side), name, colour, shift, both=True)

    def axes(
        self,
        origin: Place,
        angle: float = 0.0,
        size: float = 0.8,
        names: tuple[str, str] = ("x", "y"),
        colour: str = INK,
    ) -> None:
        """Two axes; the angle in degrees."""
        for turn, name in zip((0.0, 90.0), names, strict=True):
            φ = math.radians(angle + turn)
            self.arrow(
                origin,
                (origin[0] + size * math.cos(φ), origin[1] + size * math.sin(φ)),
                name,
                colour,
            )

    def spring(self, first: Place, second: Place, colour: str = INK) -> None:
        a, b = np.array(first), np.array(second)
        side = 0.16 * np.array([a[1] - b[1], b[0] - a[0]]) / np.linalg.norm(b - a)
        s = np.array([0, 0.2, *np.linspace(0.24, 0.76, 12), 0.8, 1])
        swing = np.array([0, 0, *[(-1) ** k for k in range(12)], 0, 0])
        self.line(
            *map(tuple, a + s[:, None] * (b - a) + swing[:, None] * side), colour=colour, width=1.4
        )

    def dashpot(self, first: Place, second: Place, colour: str = INK) -> None:
        a, b = np.array(first), np.array(second)
        side = 0.17 * np.array([a[1] - b[1], b[0] - a[0]]) / np.linalg.norm(b - a)

        def at(s: float, t: float = 0.0) -> Place:
            x, y = a + s * (b - a) + t * side
            return float(x), float(y)

        self.line(at(0), at(0.38), colour=colour, width=1.4)
        self.line(at(0.62, 1), at(0.38, 1), at(0.38, -1), at(0.62, -1), colour=colour, width=1.4)
        self.line(at(0.52, 0.8), at(0.52, -0.8), colour=colour, width=2.2)
        self.line(at(0.52), at(1), colour=colour, width=1.4)

    def cylinder(
        self, first: Place, second: Place, radius: float, colour: str = FIRST, order: float = 2
    ) -> None:
        """A shaft in space from one end to the other, seen from the side of the second."""
        a, b = np.array(first), np.array(second)
        angle = math.degrees(math.atan2(b[1] - a[1], b[0] - a[0]))
        side = radius * np.array([a[1] - b[1], b[0] - a[0]]) / np.linalg.norm(b - a)
        style = {"facecolor": _faint(colour, 0.75), "edgecolor": colour, "linewidth": 1.5}
        self._patch(
            "Ellipse", tuple(a), 0.6 * radius, 2 * radius, angle=angle, zorder=order, **style
        )
        self._patch(
            "Polygon",
            [a + side, b + side, b - side, a - side],
            zorder=order,
            **{**style, "edgecolor": "none"},
        )
        for s in (side, -side):
            self.line(tuple(a + s), tuple(b + s), colour=colour, width=1.5, order=order)
        self._patch(
            "Ellipse", tuple(b), 0.6 * radius, 2 * radius, angle=angle, zorder=order, **style
        )

    def ball(self, place: Place, radius: float, colour: str = SECOND, order: float = 3) -> None:
        self._patch(
            "Circle",
            place,
            radius,
            facecolor=_faint(colour, 0.75),
            edgecolor=colour,
            linewidth=1.6,
            zorder=order,
        )

    def _patch(self, kind: str, *arguments: Any, **style: Any) -> None:
        from matplotlib import patches

        self.ax.add_patch(getattr(patches, kind)(*arguments, **style))

    def _arrow(self, start: Place, end: Place, colour: str, style: str) -> None:
        look = {
            "arrowstyle": style,
            "color": colour,
            "linewidth": 1.3,
            "mutation_scale": 11,
            "shrinkA": 0,
            "shrinkB": 0,
        }
        self.ax.annotate("", xy=end, xytext=start, arrowprops=look, zorder=7)


def _faint(colour: str, by: float = 0.7) -> str:
    """The colour on its way to white."""
    r, g, b = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{round(c + by * (255 - c)):02x}" for c in (r, g, b))


def _moved(centre: Place, local: Place, angle: float) -> Place:
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    return centre[0] + c * local[0] - s * local[1], centre[1] + s * local[0] + c * local[1]
