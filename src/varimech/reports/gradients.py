"""Report sections on a gradient (objectives over time, scaled derivatives as bars, a table of all
values) and on a certificate.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..coordinates.redundancy import not_unique
from ..optimization.design_figures import quantities_of
from ..plotting.figure import COLOURS
from ..plotting.perturbation_sweep import CEILING, FLOOR
from ..results.certificate import Certificate
from ..results.gradient import Gradient
from ..sensitivity.objective import Objective
from ..web.encoding import escaped, printed
from ..web.plots import GREY, Axis, Curve, Plots, bar_height, bar_plot, curve_plot
from .outputs import BAND_NOTE, at_most_times
from .provenance import parameter_scales
from .tables import folded, grid, note, section, table

DASHES = ("dash", "dot", "dashdot", "longdash")


def gradient_section(gradient: Gradient, plots: Plots) -> str:
    """Scaled derivatives, which are comparable, and the unscaled ones."""
    g = gradient
    nominal, scaling = g.run.info["parameters"], parameter_scales(g.run)
    values, scales = (
        np.array([numbers[n] for n in g.parameter_names]) for numbers in (nominal, scaling)
    )
    names = [
        n if v else f"{n}, by {printed(s)} {u}".rstrip()
        for n, v, s, u in zip(g.parameter_names, values, scales, g.parameter_units, strict=True)
    ]
    last, rows, bars = g.final_gradient, [], []
    for k, name in enumerate(g.objective_names):
        notes = []
        for i, parameter in enumerate(g.parameter_names):
            unit = per(g.units[k], g.parameter_units[i])
            scaled = values[i] * last[k, i]
            rows.append([name, parameter, float(last[k, i]), unit, float(scaled), g.units[k]])
            notes.append(
                f"∂{name}/∂{parameter} = {printed(last[k, i])} {unit}; {parameter} ="
                f" {printed(values[i])} {g.parameter_units[i]}"
            )
        spec = bar_plot(
            names, (scales * last[k]).tolist(), Axis(f"ρ ∂{name}/∂ρ", g.units[k]), notes
        )
        heading = f"{name} = {printed(g.final_values[k])} {g.units[k]}"
        bars.append(plots.add(heading, spec, height=bar_height(len(g.parameter_names))))
    head = ["objective ψ", "parameter ρ", "∂ψ/∂ρ", "unit", "ρ ∂ψ/∂ρ", "unit"]
    parts = [
        note(not_unique(map(repr, g.not_unique), g.run.redundant_reactions)),
        grid(*bars, small=True),
        folded("all derivatives", table(head, rows, digits=9)),
    ]
    if g.time.size > 1:
        parts.append(BAND_NOTE + grid(*_histories(g, plots), small=True))
    lead = (
        f"Derivatives at the end of the run by {g.method} differentiation. Bars are scaled, ρ"
        " ∂ψ/∂ρ: a hundredth of each is the first-order effect of 1 % more of that parameter."
    )
    if not values.all():
        lead += (
            " Derivatives with respect to parameters that are zero are scaled by the width of their"
            " bounds or tolerances, or by one unit."
        )
    return section("gradient", "Gradient", *parts, lead=lead)


def _histories(g: Gradient, plots: Plots) -> list[str]:
    """Objectives as functions of the end time."""
    complete = len(g.gradient_history) == g.time.size and list(g.run.parameter_names) == list(
        g.parameter_names
    )
    figures = _quantities(g, plots)
    for k, name in enumerate(g.objective_names):
        derivatives = g.gradient_history[:, k] if complete else None
        curve = Curve(name, g.time, g.value_history[:, k], derivatives=derivatives)
        figures.append(plots.add(f"cumulative {name}", curve_plot([curve], Axis(name, g.units[k]))))
    return figures


def _quantities(g: Gradient, plots: Plots) -> list[str]:
    """Over time, the function of each objective that it integrates or evaluates at a time or an
    extremum; for other objectives, their own history.
    """
    run, figures = at_most_times(g.run), []
    for name, objective in g.objectives.items() if run.is_live else ():
        if not isinstance(objective, Objective) or not (objective.integrand or objective.samples):
            continue
        for quantity in quantities_of(name, objective):
            y = run.measure(quantity.function).to_numpy().reshape(run.time.size, -1)[:, 0]
            axis = Axis(quantity.label, quantity.unit)
            figures.append(plots.add(quantity.label, curve_plot([Curve("", run.time, y)], axis)))
    return figures


def per(unit: str, parameter_unit: str) -> str:
    """Unit of a derivative."""
    if not parameter_unit:
        return unit or "1"
    return (
        f"{unit or '1'}/({parameter_unit})"
        if any(c in parameter_unit for c in "/· ")
        else f"{unit or '1'}/{parameter_unit}"
    )


def certificate_section(certificate: Certificate, plots: Plots) -> str:
    """Reliable digits, the findings that limit them, and the sweep of differences."""
    c = certificate
    rows: list[list[object]] = []
    for (o, p), value in np.ndenumerate(c.gradient):
        digits = [round(float(d), 1) if np.isfinite(d) else None for d in c.digit_array[:, o, p]]
        rows.append(
            [c.objective_names[o], c.parameter_names[p], float(value), *digits, c.verdict(o, p)]
        )
    head = [
        "objective",
        "parameter",
        "derivative",
        "digits (computed)",
        "digits (motion)",
        "verdict",
    ]
    findings = "".join(f"<li>{escaped(f.text)}</li>" for f in c.findings)
    panels, against = c.sweep_panels()
    sweeps = [
        plots.add(f"differences for {name}", _sweep(c, *panel, against), height=380)
        for name, panel in panels.items()
        if panel[0]
    ]
    verdict = (
        "All derivatives are trusted." if c.trusted else f"Not trusted: {', '.join(c.reasons)}."
    )
    lead = (
        f"{verdict} The gradient was recomputed with every available method; digits that agree, of"
        " the computed function and of "
    )
    return section(
        "certificate",
        "Certificate",
        table(head, rows, digits=9),
        f'<ul class="findings">{findings}</ul>' if findings else "",
        folded("differences over a sweep of perturbations", grid(*sweeps)) if sweeps else "",
        lead=lead + "the exact motion.",
    )


def _sweep(c: Certificate, curves: Any, levels: Any, against: str) -> dict[str, Any]:
    """Difference quotients over the perturbation, with other derivative methods."""
    colour = {name: COLOURS[k % len(COLOURS)] for k, name in enumerate(c.objective_names)}
    x = np.array(c.relative_steps)
    drawn = [
        Curve(v.label, v.x, np.maximum(v.y, FLOOR), colour=colour[v.label], mode="lines+markers")
        for v in curves
    ]
    kinds = list(dict.fromkeys(level.kind for level in levels))
    for level in levels:
        height = min(max(level.value, FLOOR), CEILING)
        name, dash = f"{level.kind}, {level.label}", DASHES[kinds.index(level.kind) % len(DASHES)]
        drawn.append(
            Curve(
                name,
                x[[0, -1]],
                np.full(2, height),
                colour=colour.get(level.label, GREY),
                dash=dash,
            )
        )
    ends = (float(x.min()), float(x.max()))
    return curve_plot(
        drawn,
        Axis(f"difference to {against}", log=True),
        x=Axis("relative perturbation", log=True, ends=ends),
        nearest="point",
    )
