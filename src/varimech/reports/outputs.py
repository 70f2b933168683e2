"""Which measures of a run are shown, and their curves with derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..coordinates.redundancy import LOADS
from ..core.errors import ModelError
from ..plotting.figure import COLOURS
from ..results.run import Run
from .encoding import thinned
from .plots import Curve, Plots, axis_title, curve_plot
from .tables import grid, note

DASHES = ("solid", "dash", "dot", "dashdot")
FEW = 3
"""Points, angles and displacements shown if nothing else is asked for."""
BAND_NOTE = '<p class="band-note"></p>'
"""Where the page tells what bands are."""
ALIKE = 1e-6
"""Share of the largest change by which curves that are shown differ, and change at all."""
FEW_TIMES = 400
"""At which these are looked at."""
MOST_TIMES = 200_000
"""At which curves are evaluated, before those points are chosen that are worth plotting."""


def chosen(run: Run, show: Mapping[str, Any] | None) -> tuple[dict[str, list[str]], list[str]]:
    """Measures by kind, and points whose paths are traced: those asked for, or those that move
    most.
    """
    if show is None:
        points = _most_moving(run)
        return {**({"position": points} if points else {}), **_turning(run)}, points[:1]
    if not isinstance(show, Mapping):
        raise ModelError(
            f'report: show = {show!r} must map measures to names, such as {{"position": ["2"],'
            ' "trace": ["2"]}'
        )
    wanted = {
        kind: [names] if isinstance(names, str) else list(names) for kind, names in show.items()
    }
    traces = wanted.pop("trace", wanted.get("position", [])[:1])
    wanted.pop("energy", None)  # always shown
    return wanted, traces


def _most_moving(run: Run) -> list[str]:
    """Names of labelled points with the longest ways."""
    labels: dict[str, str] = run.drawing_plan["labels"]
    if run.time.size < 2 or not labels:
        return []
    paths = run.at_rows(thinned(run.time.size, FEW_TIMES)).paths(list(labels))
    ways = {
        labels[p]: float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())
        for p, path in paths.items()
    }
    longest = max(ways.values())
    moving = sorted(
        (name for name, way in ways.items() if way > 1e-3 * longest),
        key=lambda name: (-ways[name], name),
    )
    return moving[: FEW - 1]


def _turning(run: Run) -> dict[str, list[str]]:
    """Angles and displacements, those first that change most."""
    found = {}
    run = run.at_rows(thinned(run.time.size, FEW_TIMES))
    for kind in ("angle", "displacement"):
        curves = run.curves(kind)
        largest = max((np.ptp(curve) for curve in curves.values()), default=0.0)
        least = ALIKE * max(
            largest, 1e-6 * max((np.abs(curve).max() for curve in curves.values()), default=0.0)
        )
        most: dict[str, np.ndarray] = {}
        for name in sorted(curves, key=lambda name: -np.ptp(curves[name])):
            # a crank and its pin turn alike
            if (
                len(most) < FEW
                and np.ptp(curves[name]) > least
                and all(_differ(curves[name], c, least) for c in most.values())
            ):
                most[name] = curves[name]
        if most:
            found[kind] = [name for name in curves if name in most]
    return found


def _differ(curve: np.ndarray, other: np.ndarray, least: float) -> bool:
    return bool(np.abs(curve - other).max() > least)


def measure_plots(
    run: Run, measures: Mapping[str, list[str]], plots: Plots, covariance: np.ndarray | None = None
) -> str:
    """A plot a kind of measure."""
    run, made = at_most_times(run), []
    for kind, names in measures.items():
        curves: list[Curve] = []
        for k, name in enumerate(names):
            curves += _curves(
                run, kind, name, covariance, DASHES[k % len(DASHES)] if len(names) > 1 else ""
            )
        label = kind.replace("_", " ")
        made.append(
            plots.add(label, curve_plot(curves, axis_title(label, run.unit_of(kind, names))))
        )
    return (
        BAND_NOTE
        + note(run.redundant_reactions if LOADS.keys() & measures.keys() else "")
        + grid(*made)
    )


def _curves(
    run: Run, kind: str, name: str, covariance: np.ndarray | None, dash: str
) -> list[Curve]:
    """Of one measure, a component each; with standard deviations where parameters have a
    covariance. Where several are in one plot, each has a dash, and its components have colours.
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
    slopes = (
        array.transpose("time", ..., "parameter").to_numpy().reshape(run.time.size, len(lines), -1)
    )
    return [
        Curve(
            line.label,
            line.x,
            line.y,
            slopes=slopes[:, k],
            deviation=deviation(slopes[:, k], covariance),
            **styles[k],
        )
        for k, line in enumerate(lines)
    ]


def deviation(slopes: np.ndarray, covariance: np.ndarray | None) -> np.ndarray | None:
    """√(g'Cg) of each row g."""
    return (
        None
        if covariance is None
        else np.sqrt(np.maximum(np.einsum("ti,ij,tj->t", slopes, covariance, slopes), 0.0))
    )


def at_most_times(run: Run) -> Run:
    """A run with so few times that its curves do not take longer than the run itself."""
    return run if run.time.size <= MOST_TIMES else run.at_rows(thinned(run.time.size, MOST_TIMES))


def energy_plots(run: Run, plots: Plots) -> str:
    """Energies, and how the total one changes."""
    run = at_most_times(run)
    energies = {kind: run.energy(kind).to_numpy() for kind in ("kinetic", "potential")}
    energies["total"] = energies["kinetic"] + energies["potential"]
    curves = [Curve(kind, run.time, values) for kind, values in energies.items()]
    change = Curve("change", run.time, energies["total"] - energies["total"][0])
    return grid(
        plots.add("energies", curve_plot(curves, "energy (J)")),
        plots.add("total energy less that at the start", curve_plot([change], "change (J)")),
    )
