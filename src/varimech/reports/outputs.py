"""Selection of the plotted outputs of a run, and their curves with derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..coordinates.redundancy import LOADS
from ..core.errors import ModelError
from ..plotting.figure import COLOURS
from ..results.run import MOST_MARKED, Run
from ..web.encoding import thinned
from ..web.plots import Axis, Curve, Plots, curve_plot
from .tables import folded, grid, note, section, table

DASHES = ("solid", "dash", "dot", "dashdot")
FEW = 3
"""Number of points, angles and displacements that are shown by default."""
BAND_NOTE = '<p class="band-note"></p>'
"""Filled by the page with a description of the bands."""
ALIKE = 1e-6
"""Curves are shown by default only if they change, and differ from each other, by more than this
share of the largest change.
"""
FEW_EVENTS = 12
"""Largest number of events that are listed at once."""
FEW_TIMES = 400
"""Number of times at which curves are compared; a round value."""
MOST_TIMES = 200_000
"""Largest number of times at which curves are evaluated, before the points to plot are selected; a
round value.
"""


def chosen(run: Run, show: Mapping[str, Any] | None) -> tuple[dict[str, list[str]], list[str]]:
    """Outputs by kind, and points whose paths are traced.

    Args:
        run: the run.
        show: outputs by kind, and "trace"; None for those that change most.

    Raises:
        ModelError: if `show` is not a mapping.
    """
    if show is None:
        points = _most_moving(run)
        return {**({"position": points} if points else {}), **_turning(run)}, points[:1]
    if not isinstance(show, Mapping):
        problem = 'must map outputs to names, such as {"position": ["2"], "trace": ["2"]}'
        raise ModelError(problem, element="report", field="show", value=show)
    requested = {
        kind: [names] if isinstance(names, str) else list(names) for kind, names in show.items()
    }
    traces = requested.pop("trace", requested.get("position", [])[:1])
    requested.pop("energy", None)  # always shown
    return requested, traces


def _most_moving(run: Run) -> list[str]:
    """Names of the labelled points with the longest paths."""
    labels: dict[str, str] = run.drawing_plan["labels"]
    if run.time.size < 2 or not labels:
        return []
    paths = run.at_rows(thinned(run.time.size, FEW_TIMES)).paths(list(labels))
    lengths = {
        labels[p]: float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())
        for p, path in paths.items()
    }
    longest = max(lengths.values())
    moving = sorted(
        (name for name, length in lengths.items() if length > 1e-3 * longest),
        key=lambda name: (-lengths[name], name),
    )
    return moving[: FEW - 1]


def _turning(run: Run) -> dict[str, list[str]]:
    """Angles and displacements with the largest changes."""
    selected = {}
    run = run.at_rows(thinned(run.time.size, FEW_TIMES))
    for kind in ("angle", "displacement"):
        curves = run.curves(kind)
        largest = max((np.ptp(curve) for curve in curves.values()), default=0.0)
        least = ALIKE * max(
            largest, 1e-6 * max((np.abs(curve).max() for curve in curves.values()), default=0.0)
        )
        most: dict[str, np.ndarray] = {}
        for name in sorted(curves, key=lambda name: -np.ptp(curves[name])):
            # a crank and its pin have the same angle
            if (
                len(most) < FEW
                and np.ptp(curves[name]) > least
                and all(_differ(curves[name], c, least) for c in most.values())
            ):
                most[name] = curves[name]
        if most:
            selected[kind] = [name for name in curves if name in most]
    return selected


def _differ(curve: np.ndarray, other: np.ndarray, least: float) -> bool:
    return bool(np.abs(curve - other).max() > least)


def output_plots(
    run: Run, outputs: Mapping[str, list[str]], plots: Plots, covariance: np.ndarray | None = None
) -> str:
    """One plot for each kind of output."""
    run, figures = at_most_times(run), []
    marks = run.events.times[:MOST_MARKED]
    for kind, names in outputs.items():
        curves: list[Curve] = []
        for k, name in enumerate(names):
            curves += _curves(
                run, kind, name, covariance, DASHES[k % len(DASHES)] if len(names) > 1 else ""
            )
        label = kind.replace("_", " ")
        figures.append(
            plots.add(label, curve_plot(curves, Axis(label, run.unit_of(kind, names)), marks=marks))
        )
    return (
        BAND_NOTE
        + note(run.redundant_reactions if LOADS.keys() & outputs.keys() else "")
        + grid(*figures)
    )


def _curves(
    run: Run, kind: str, name: str, covariance: np.ndarray | None, dash: str
) -> list[Curve]:
    """Curves of one output, one for each component, with standard deviations if parameters have a
    covariance.

    If several outputs share a plot, each has a dash pattern and its components have colours.
    """
    lines = run.panels(**{kind: [name]})[0].lines
    styles: list[dict[str, Any]] = [{}] * len(lines)
    if dash and len(lines) > 1:
        styles = [{"dash": dash, "colour": COLOURS[k % len(COLOURS)]} for k in range(len(lines))]
    if not run.parameter_names:
        return [
            Curve(line.label, line.x, line.y, **style)
            for line, style in zip(lines, styles, strict=True)
        ]
    array = getattr(run, kind)(name, wrt="all")
    derivatives = (
        array.transpose("time", ..., "parameter").to_numpy().reshape(run.time.size, len(lines), -1)
    )
    return [
        Curve(
            line.label,
            line.x,
            line.y,
            derivatives=derivatives[:, k],
            deviation=deviation(derivatives[:, k], covariance),
            **styles[k],
        )
        for k, line in enumerate(lines)
    ]


def deviation(derivatives: np.ndarray, covariance: np.ndarray | None) -> np.ndarray | None:
    """√(g'Cg) of each row g."""
    return (
        None
        if covariance is None
        else np.sqrt(
            np.maximum(np.einsum("ti,ij,tj->t", derivatives, covariance, derivatives), 0.0)
        )
    )


def at_most_times(run: Run) -> Run:
    """The run with at most `MOST_TIMES` times, so that curves take less time than
    the run itself.
    """
    return run if run.time.size <= MOST_TIMES else run.at_rows(thinned(run.time.size, MOST_TIMES))


def energy_plots(run: Run, plots: Plots) -> str:
    """Energies, and the change of the total energy."""
    run = at_most_times(run)
    marks = run.events.times[:MOST_MARKED]
    energies = {kind: run.energy(kind).to_numpy() for kind in ("kinetic", "potential")}
    energies["total"] = energies["kinetic"] + energies["potential"]
    curves = [Curve(kind, run.time, values) for kind, values in energies.items()]
    title = "change of the total energy"
    change = Curve(title, run.time, energies["total"] - energies["total"][0])
    return grid(
        plots.add("energies", curve_plot(curves, Axis("energy", "J"), marks=marks)),
        plots.add(title, curve_plot([change], Axis("change", "J"), marks=marks)),
    )


def events_section(run: Run) -> str:
    """Impacts, releases, changes of friction and declared events; empty if there are none."""
    events = run.events
    if not events:
        return ""
    head = ["time (s)", "what", "of", "rate before", "rate after", "impulse"]
    rows = [[e.time, e.what, e.name, e.before, e.after, e.impulse or None] for e in events]
    shown = table(head, rows[:FEW_EVENTS])
    rest = rows[FEW_EVENTS:MOST_MARKED]
    more = folded(f"{len(rest)} more", table(head, rest)) if rest else ""
    lead = (
        f"{len(events)} events; dotted lines mark them in the plots. Rates are those of gaps and"
        " slips, in m/s or rad/s; impulses in N·s or N·m·s."
    )
    return section("events", "Events", shown, more, lead=lead)
