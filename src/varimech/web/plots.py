"""Plots as plain data, which the scripts of a page draw: curves over an axis with bands, bars,
histograms, and the data that link them to the animation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..plotting.figure import COLOURS
from .encoding import doubles, escaped, singles, worth_plotting

GREY = "#8a8a8a"


@dataclass(frozen=True)
class Axis:
    """An axis: the scripts write its numbers with a prefix of the unit."""

    label: str
    unit: str = ""
    log: bool = False
    ends: tuple[float, float] | None = None
    """First and last number; by default those of the data."""

    @property
    def data(self) -> dict[str, Any]:
        """The axis, for a page."""
        plain = {"label": self.label, "unit": self.unit, "log": self.log}
        return plain if self.ends is None else {**plain, "range": [float(x) for x in self.ends]}


TIME = Axis("time", "s")


@dataclass(frozen=True)
class Curve:
    """A curve with optional bands and error bars."""

    name: str
    x: np.ndarray
    y: np.ndarray
    derivatives: np.ndarray | None = None
    """∂y/∂ρ, (point, parameter), for a band that readers select."""
    deviation: np.ndarray | None = None
    """Standard deviation, for another selectable band."""
    band: tuple[np.ndarray, np.ndarray] | None = None
    """Lower and upper bound of a permanent band."""
    band_name: str = ""
    colour: str = ""
    dash: str = "solid"
    """"solid", "dash", "dot", "dashdot" or "longdash"."""
    mode: str = "lines"
    """"lines", "markers" or "lines+markers"."""
    error: np.ndarray | None = None
    """Half-length of error bars."""


@dataclass
class Plots:
    """All plots of a page, in order."""

    specs: list[dict[str, Any]] = field(default_factory=list)

    def add(self, title: str, spec: dict[str, Any], *, height: int = 260) -> str:
        """Add a plot; returns its HTML element. A single curve is named in the heading."""
        spec["title"] = title
        self.specs.append(spec)
        single = _single_name(spec.get("curves", ()), title)
        heading = f"<figcaption>{escaped(title + single)}</figcaption>" if title else ""
        return (
            f'<figure class="plot">{heading}<div class="plot-area"'
            f' data-plot="{len(self.specs) - 1}" style="height:{height}px" role="group"'
            f' aria-label="Plot: {escaped(title + single)}. Arrow keys read it out."></div></figure>'
        )


def _single_name(curves: Sequence[dict[str, Any]], title: str) -> str:
    """Addition to a title that names the only curve; several have a legend."""
    names = [curve["name"] for curve in curves]
    if len(names) != 1 or not names[0] or curves[0].get("band", {}).get("name"):
        return ""
    if f" {title}".endswith(f" {names[0]}"):
        return ""
    return f": {names[0]}"


def curve_plot(
    curves: Sequence[Curve],
    y: Axis,
    *,
    x: Axis = TIME,
    limits: Sequence[float] = (),
    until: float | None = None,
    marks: Sequence[float] | np.ndarray = (),
    nearest: str = "x",
) -> dict[str, Any]:
    """Curves over a common axis.

    Args:
        curves: the curves.
        y: the vertical axis.
        x: the horizontal axis; the animation follows it if it is `TIME`.
        limits: values of dashed horizontal lines.
        until: end of the range of validity; beyond it the plot is shaded.
        marks: places on the horizontal axis that are marked by thin lines, such as events.
        nearest: content of the read-out: all curves at the nearest x ("x"), or the nearest point
            ("point"), for curves that run back and forth.
    """
    data: list[dict[str, Any]] = []
    places: list[np.ndarray] = []
    for k, curve in enumerate(curves):
        rows = worth_plotting(np.asarray(curve.y, dtype=float)[:, None])
        places.append(np.asarray(curve.x, dtype=float)[rows])
        entry = _curve(curve, rows, curve.colour or COLOURS[k % len(COLOURS)])
        same = next((i for i in range(k) if np.array_equal(places[i], places[k])), None)
        data.append({**entry, "x": doubles(places[k]) if same is None else same})
    return {
        "kind": "curves",
        "x": x.data,
        "y": y.data,
        "curves": data,
        "limits": [float(value) for value in limits],
        "until": until,
        "marks": [float(place) for place in marks],
        "over_time": x is TIME,
        "nearest": nearest,
    }


def _curve(curve: Curve, rows: np.ndarray, colour: str) -> dict[str, Any]:
    """A curve at some of its rows, without its x values."""
    entry: dict[str, Any] = {
        "name": curve.name,
        "y": doubles(np.asarray(curve.y)[rows]),
        "colour": colour,
        "dash": curve.dash,
        "mode": curve.mode,
    }
    if curve.error is not None:
        entry["error"] = singles(curve.error[rows])
    if curve.band is not None:
        lower, upper = (doubles(np.asarray(side)[rows]) for side in curve.band)
        entry["band"] = {"lower": lower, "upper": upper, "name": curve.band_name}
    if curve.derivatives is not None:
        entry["derivatives"] = [singles(column) for column in curve.derivatives[rows].T]
    if curve.deviation is not None:
        entry["deviation"] = singles(curve.deviation[rows])
    return entry


def histogram_plot(
    name: str, start: float, width: float, counts: np.ndarray, x: Axis
) -> dict[str, Any]:
    """Bars of equal width that stand side by side.

    Args:
        name: the counted quantity.
        start: lower end of the first bar.
        width: width of a bar.
        counts: heights of the bars.
        x: the horizontal axis.
    """
    bars = {"name": name, "start": start, "width": width, "colour": COLOURS[0]}
    spec = curve_plot([], Axis(name), x=x)
    return {**spec, "histogram": {**bars, "counts": [int(n) for n in counts]}}


def bar_plot(
    names: Sequence[str], values: Sequence[float], x: Axis, notes: Sequence[str]
) -> dict[str, Any]:
    """Horizontal bars, the first on top, one colour for each sign; `notes` are read-outs."""
    bars = {"name": x.label, "values": [float(v) for v in values]}
    return {
        "kind": "bars",
        "names": list(names),
        "series": [{**bars, "colour": COLOURS[0], "negative": COLOURS[1]}],
        "x": x.data,
        "notes": list(notes),
        "over_time": False,
    }


def bar_height(count: int) -> int:
    """Height of a plot with so many bars (pixels)."""
    return 64 + 32 * count
