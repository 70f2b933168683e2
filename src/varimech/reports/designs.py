"""Report sections on an optimal design, and on parameters fitted to data."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..identification.fit import Fit
from ..identification.fit_figures import confidence_band
from ..identification.fit_text import goodness_text
from ..identification.measurement import Measurement, component_suffix
from ..optimization.design_figures import BEFORE, compared
from ..optimization.optimum import Optimum
from ..optimization.starts_text import notes
from ..plotting.figure import COLOURS
from ..web.encoding import printed
from ..web.plots import Axis, Curve, Plots, curve_plot
from .tables import grid, section, table


def optimum_section(optimum: Optimum, plots: Plots) -> str:
    """Values before and after, active bounds and constraints, the motion before and after, and the
    course of the search.
    """
    p, s, μ = optimum.problem, optimum.problem.space, optimum.best.optimality.bounds
    unit = f" {p.goal.unit}" if p.goal.unit else ""
    columns = (p.names, s.start, optimum.best.x, s.units, s.lower, s.upper, μ)
    rows = [
        [c.item() if isinstance(c, np.generic) else c for c in row]
        for row in zip(*columns, strict=True)
    ]
    parts = [
        table(
            ["parameter", "before", "after", "unit", "lower bound", "upper bound", "multiplier"],
            rows,
        )
    ]
    if p.rows:
        shown = ["value", "unit", "lower", "upper", "multiplier", "active"] + (
            ["time", "between", "violation"] if p.paths else []
        )
        constraints = optimum.constraints
        parts.append(
            table(
                ["constraint", *shown],
                [[str(n), *[row[c] for c in shown]] for n, row in constraints.iterrows()],
            )
        )
    if len(optimum.optima) > 1:
        optima = optimum.local_optima.reset_index()
        parts.append(
            table(
                [str(c) for c in optima.columns],
                [list(row) for row in optima.itertuples(index=False)],
            )
        )
    parts.append(grid(*_compared(optimum, plots), *_search(optimum, plots)))
    state = "Converged" if optimum.converged else "Not converged"
    lead = (
        f"{p.name}: {printed(optimum.objective_before)}{unit} before{_broken(optimum)},"
        f" {printed(optimum.objective)}{unit} after. {state} in {optimum.iterations} iterations,"
        f" {optimum.evaluations} runs ({len(p.failures)} failed), {optimum.seconds:.2g} s"
        f" ({optimum.settings.solver}): {optimum.message}."
        f" {' '.join(f'{line[0].upper()}{line[1:]}.' for line in map(str, notes(optimum)))}"
    )
    return section("optimum", "Locally optimal design", *parts, lead=lead)


def _broken(optimum: Optimum) -> str:
    """Constraints that are violated before the optimisation: a better objective there is not a
    better design.
    """
    units = {r.name: r.constraint.of.unit for r in optimum.problem.rows}
    violations = [
        f"{name} by {printed(amount, 3)} {units[name]}".rstrip()
        for name, amount in optimum.broken_before.items()
    ]
    return f" (violating {' and '.join(violations)})" if violations else ""


def _compared(optimum: Optimum, plots: Plots) -> list[str]:
    """Objectives and constrained quantities over time, before and after."""
    figures = []
    for quantity in compared(optimum):
        curves = [
            Curve(
                label,
                run.time,
                run.measure(quantity.function).to_numpy().reshape(run.time.size, -1)[:, 0],
                colour=colour,
            )
            for run, colour, label in (
                (optimum.before, BEFORE, "before"),
                (optimum.after, COLOURS[0], "after"),
            )
        ]
        if any(np.ptp(c.y) for c in curves):  # functions of parameters alone are constant
            figures.append(
                plots.add(
                    quantity.label,
                    curve_plot(curves, Axis(quantity.label, quantity.unit), limits=quantity.limits),
                )
            )
    return figures


def _search(optimum: Optimum, plots: Plots) -> list[str]:
    """Objective and parameters over the iterations."""
    p, trace = optimum.problem, optimum.best.trace
    steps = np.arange(len(trace), dtype=float)
    log = bool((trace[:, 0] > 0).all() and trace[:, 0].max() > 100 * trace[:, 0].min())
    objective = Curve(p.name, steps, trace[:, 0], mode="lines+markers")
    alike = len(set(p.space.units)) == 1 or bool((trace[0, 2:] == 0).any())
    parameters = [
        Curve(
            name,
            steps,
            trace[:, 2 + k] if alike else trace[:, 2 + k] / trace[0, 2 + k],
            mode="lines+markers",
        )
        for k, name in enumerate(p.names)
    ]
    ordinate = Axis("parameters", p.space.units[0]) if alike else Axis("parameter / initial value")
    iteration = Axis("iteration")
    together = "search: parameters" if len(parameters) > 1 else "search"
    return [
        plots.add("search", curve_plot([objective], Axis(p.name, p.goal.unit, log), x=iteration)),
        plots.add(together, curve_plot(parameters, ordinate, x=iteration)),
    ]


def fit_section(fit: Fit, plots: Plots) -> str:
    """Values with their intervals, and curves with the data."""
    columns, share = ["value", "standard_error", "lower", "upper"], f"{100 * fit.level:g} %"
    rows = [
        [str(n), *[float(row[c]) for c in columns], row["unit"], row["at"]]
        for n, row in fit.intervals.iterrows()
    ]
    figures = [_fit_plot(fit, name, m, plots) for name, m in fit.measured.items()]
    undetermined = "".join(
        f" The data do not determine {', '.join(group)}." for group in fit.undetermined
    )
    message = fit.message.replace("`", "").rstrip(".")
    lead = (
        f"{'Converged' if fit.converged else 'Not converged'} in {fit.evaluations} runs,"
        f" {fit.seconds:.2g} s: {message}.{undetermined}"
    )
    lead += "".join(
        f" {text}."
        for text in (*goodness_text(fit), *(f"Warning: {text}" for text in fit.warnings))
    )
    head = ["parameter", "value", "standard error", f"{share} from", "to", "unit", "at"]
    deviation_rows = [
        [name, deviation, fit.measured[name].unit]
        for name, deviation in fit.residual_deviation.items()
    ]
    outlying = [list(row) for row in fit.outliers.itertuples(index=False)]
    outliers = [table([*map(str, fit.outliers.columns)], outlying)] if outlying else []
    deviations = table(["measured", "standard deviation of residuals", "unit"], deviation_rows)
    return section(
        "fit", "Fit to data", table(head, rows), deviations, *outliers, grid(*figures), lead=lead
    )


def _fit_plot(fit: Fit, name: str, m: Measurement, plots: Plots) -> str:
    """Data of one measurement with the fitted curve and its confidence band."""
    curve, half = confidence_band(fit, fit.run, m.function, m.components)
    curves = []
    for c in range(m.components):
        suffix, colour, y = component_suffix(m, c), COLOURS[c % len(COLOURS)], curve[:, c]
        band, share = (y - half[:, c], y + half[:, c]), f"{100 * fit.level:g} % band{suffix}"
        error = None if m.sigma is None else m.sigma[:, c]
        data: dict[str, Any] = {"mode": "markers", "colour": colour, "error": error}
        curves += [
            Curve(f"fit{suffix}", fit.run.time, y, band=band, band_name=share, colour=colour),
            Curve(f"data{suffix}", m.times, m.values[:, c], **data),
        ]
    return plots.add(name, curve_plot(curves, Axis(name, m.unit)), height=320)
