"""Plots as plain data for plotly.js: curves over time with bands, bars, and the data that link them
to the animation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..plotting.figure import COLOURS
from .encoding import escaped, floats, plot_text, plotted, worth_plotting

GREY = "#8a8a8a"
SHADE = 0.2
"""Opacity of bands."""


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
    mode: str = "lines"
    error: np.ndarray | None = None
    """Half-length of error bars."""


@dataclass
class Plots:
    """All plots of a page, in order."""

    specs: list[dict[str, object]] = field(default_factory=list)

    def add(self, title: str, spec: dict[str, object], *, height: int = 260) -> str:
        """Add a plot; returns its HTML element."""
        spec["title"] = title
        self.specs.append(spec)
        heading = f"<figcaption>{escaped(title)}</figcaption>" if title else ""
        return (
            f'<figure class="plot">{heading}<div class="plot-area"'
            f' data-plot="{len(self.specs) - 1}" style="height:{height}px" role="img"'
            f' aria-label="{escaped(title)}"></div></figure>'
        )


def _rgba(colour: str, opacity: float) -> str:
    """A translucent colour."""
    r, g, b = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({r},{g},{b},{opacity:g})"


def axis_title(name: str, unit: str) -> str:
    """A name with its unit."""
    return plot_text(f"{name} ({unit})" if unit else name)


def curve_plot(
    curves: Sequence[Curve],
    ylabel: str,
    *,
    xlabel: str = "time (s)",
    over_time: bool = True,
    limits: Sequence[float] = (),
    log: bool = False,
    until: float | None = None,
    marks: Sequence[float] | np.ndarray = (),
) -> dict[str, Any]:
    """Curves over a common axis.

    Args:
        curves: the curves.
        ylabel: label of the vertical axis.
        xlabel: label of the horizontal axis.
        over_time: whether the horizontal axis is time, which the animation follows.
        limits: values of dashed horizontal lines.
        log: whether the vertical axis is logarithmic.
        until: end of the range of validity; beyond it the plot is shaded.
        marks: places on the horizontal axis that are marked by thin lines, such as events.
    """
    data: list[dict[str, Any]] = []
    bands, named = [], []
    for k, curve in enumerate(curves):
        colour = curve.colour or COLOURS[k % len(COLOURS)]
        rows = worth_plotting(np.asarray(curve.y, dtype=float)[:, None])
        x, y = np.asarray(curve.x)[rows], np.asarray(curve.y)[rows]
        if curve.band is not None:
            lower, upper = (np.asarray(side)[rows] for side in curve.band)
            data += _band(x, lower, upper, colour, curve.band_name)
        elif curve.derivatives is not None or curve.deviation is not None:
            bands.append(_chosen_band(curve, rows, len(data)))
            data += _band(x, y, y, colour, "")
        named.append({"trace": len(data), "name": curve.name})
        data.append(_trace(curve, rows, colour))
    ends = [curve.x[k] for curve in curves for k in (0, -1)] or [0.0, 1.0]
    shapes = [_line(value) for value in limits] + ([] if until is None else [_beyond(until)])
    shapes += [_mark(float(place)) for place in marks]
    has_legend = sum(d["showlegend"] if "showlegend" in d else bool(d["name"]) for d in data) > 1
    layout = {
        "xaxis": {
            "title": {"text": plot_text(xlabel)},
            "range": [float(np.min(ends)), float(np.max(ends))],
        },
        "yaxis": {"title": {"text": ylabel}, "type": "log" if log else "linear"},
        "shapes": shapes,
        "showlegend": has_legend,
        "hovermode": "x unified",
    }
    return {
        "data": data,
        "layout": layout,
        "bands": bands,
        "curves": named,
        "over_time": over_time,
        "xlabel": xlabel,
    }


def _trace(curve: Curve, rows: np.ndarray, colour: str) -> dict[str, Any]:
    """A curve at some of its rows, for Plotly."""
    trace = {
        "type": "scatter",
        "mode": curve.mode,
        "name": plot_text(curve.name),
        "x": plotted(np.asarray(curve.x)[rows]),
        "y": plotted(np.asarray(curve.y)[rows]),
        "line": {"color": colour, "width": 1.8, "dash": curve.dash},
        "marker": {"color": colour, "size": 5},
        "hovertemplate": "%{y:.6g}",
    }
    if curve.error is not None:
        errors = plotted(curve.error[rows])
        trace["error_y"] = {"array": errors, "thickness": 1, "width": 2, "color": colour}
    return trace


def _band(
    x: np.ndarray, lower: np.ndarray, upper: np.ndarray, colour: str, name: str
) -> list[dict[str, object]]:
    common = {
        "type": "scatter",
        "mode": "lines",
        "x": plotted(x),
        "line": {"width": 0, "color": colour},
        "hoverinfo": "skip",
    }
    fill = {"fill": "tonexty", "fillcolor": _rgba(colour, SHADE)}
    return [
        {**common, "y": plotted(lower), "name": "", "showlegend": False},
        {**common, "y": plotted(upper), "name": plot_text(name), "showlegend": bool(name), **fill},
    ]


def _chosen_band(curve: Curve, rows: np.ndarray, place: int) -> dict[str, object]:
    """Data of a selectable band; its bounds are traces `place` and `place + 1`, its
    curve the next.
    """
    band: dict[str, object] = {"lower": place, "upper": place + 1, "line": place + 2}
    if curve.derivatives is not None:
        band["derivatives"] = [floats(column) for column in curve.derivatives[rows].T]
    if curve.deviation is not None:
        band["deviation"] = floats(curve.deviation[rows])
    return band


def _line(value: float) -> dict[str, object]:
    line = {"color": COLOURS[1], "width": 1.2, "dash": "dash"}
    return {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": value,
        "y1": value,
        "line": line,
    }


def _mark(place: float) -> dict[str, object]:
    line = {"color": GREY, "width": 0.8, "dash": "dot"}
    ends = {"x0": place, "x1": place, "y0": 0, "y1": 1}
    return {"type": "line", "xref": "x", "yref": "paper", "layer": "below", "line": line, **ends}


def _beyond(time: float) -> dict[str, object]:
    rest = {
        "yref": "paper",
        "y0": 0,
        "y1": 1,
        "fillcolor": _rgba(GREY, 0.18),
        "line": {"width": 0},
        "layer": "below",
    }
    return {"type": "rect", "xref": "x", "x0": time, "x1": 1e9, **rest}


def bar_plot(
    names: Sequence[str], values: Sequence[float], xlabel: str, notes: Sequence[str]
) -> dict[str, object]:
    """Horizontal bars, the first on top, one colour for each sign; `notes` are tooltips."""
    colours = [COLOURS[0] if v >= 0 else COLOURS[1] for v in values]
    bars = {
        "type": "bar",
        "orientation": "h",
        "y": [plot_text(n) for n in names],
        "x": [float(v) for v in values],
        "marker": {"color": colours},
        "text": [f"{v:.4g}".replace("-", "−") for v in values],
        "textposition": "auto",
        "cliponaxis": False,
        "hovertext": [plot_text(n) for n in notes],
        "hoverinfo": "text",
    }
    low, high = min(0.0, *values), max(0.0, *values)
    margin = 0.34 * (high - low) or 1.0  # for the numbers beside short bars
    layout = {
        "xaxis": {
            "title": {"text": xlabel},
            "zeroline": True,
            "range": [low - margin if low < 0 else low, high + margin if high > 0 else high],
        },
        "yaxis": {
            "autorange": "reversed",
            "type": "category",
            "automargin": True,
            "showgrid": False,
        },
        "showlegend": False,
        "bargap": 0.35,
    }
    return {"data": [bars], "layout": layout, "bands": [], "curves": [], "over_time": False}


def bar_height(count: int) -> int:
    """Height of a plot with so many bars (pixels)."""
    return 90 + 34 * count
