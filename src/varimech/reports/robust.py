"""Report sections on robust design: statistics with their sensitivities, allocated tolerances with
their costs, cost against risk, verification by samples, and distributions before and after.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..optimization.design_figures import BEFORE
from ..plotting.figure import COLOURS
from ..robust.allocation import Allocation
from ..robust.allocation_curve import AllocationCurve
from ..robust.before_after import Distribution, TwoDesigns
from ..robust.statistics_result import Statistics
from ..robust.verification import Verification
from ..web.encoding import printed
from ..web.plots import Axis, Curve, Plots, bar_height, bar_plot, curve_plot
from .tables import grid, note, section, table

BINS = 30
"""Bins of a distribution: a number at which it is smooth with its samples."""


def statistics_section(s: Statistics, plots: Plots) -> str:
    """Values with errors, effects of nominal values and tolerances, and bands over time."""
    shown = s.table().reset_index()
    rows = [list(row) for row in shown.itertuples(index=False)]
    figures = [_effects(s, name, plots) for name in s.found if not s.statistics[name].over_time]
    for name, statistic in s.statistics.items():
        if statistic.over_time:
            curve = Curve(statistic.label, s.time, s.found[name].values)
            figures.append(plots.add(name, curve_plot([curve], Axis(name, statistic.unit))))
    reasons = "".join(note(f"{name}: {text}") for name, text in s.reasons.items() if text)
    lead = (
        "Statistics over the tolerances of the parameters, with an estimated error of each. Effects"
        " are derivatives times one standard deviation of a nominal value (name), or times the"
        f" whole tolerance (± name). {s.counts}; {s.seconds:.2g} s."
    )
    head = [str(column) for column in shown.columns]
    return section(
        "statistics", "Statistics", table(head, rows), reasons, grid(*figures), lead=lead
    )


def _effects(s: Statistics, name: str, plots: Plots) -> str:
    """Effects of parameters on a statistic, the largest first."""
    d, unit = s.design, s.statistics[name].unit
    derivatives = s.found[name].derivatives[0, : len(d.variables)]
    σ = dict(zip(d.distributions.names, d.distributions.sigma.tolist(), strict=True))
    sizes = [σ.get(n, 0.0) for n in d.nominals]
    sizes += [σ[n] * d.sigmas[i] for n, i in zip(d.widths, d.width_columns, strict=True)]
    effects = derivatives * np.array(sizes)
    order = np.argsort(-np.abs(effects), kind="stable")
    order = order[effects[order] != 0][:BINS]
    names = [d.variables[k] for k in order]
    notes = [f"derivative {printed(float(derivatives[k]), 4)}" for k in order]
    spec = bar_plot(names, effects[order].tolist(), Axis(f"effect on {name}", unit), notes)
    return plots.add(f"effects on {name}", spec, height=bar_height(len(names)))


def allocation_section(a: Allocation, plots: Plots) -> str:
    """Tolerances before and after, the cost and the effect of each, constraints, and verification."""
    shown = a.table().reset_index()
    rows = [list(row) for row in shown.itertuples(index=False)]
    head = ["constraint", "rule", "before", "after", "unit", "multiplier"]
    bounded = [[b.name, b.rule, b.before, b.value, b.unit, b.multiplier] for b in a.constraints]
    parts = [table([str(c) for c in shown.columns], rows), table(head, bounded)]
    if a.nominals:
        moved = [[name, *pair] for name, pair in a.nominals.items()]
        parts.append(table(["nominal value", "before", "after"], moved))
    parts += [note(str(text)) for text in a._notes()]
    figures = [*_tolerances(a, plots), *_contributions(a, plots)]
    parts.append(grid(*figures))
    equal = (
        "" if a.equal is None else f"; {a.equal.rule} at equal risk cost {printed(a.equal.cost, 5)}"
    )
    state = "Converged" if a.converged else "Not converged"
    lead = (
        f"Cost {printed(a.cost_before, 5)} before, {printed(a.cost, 5)} after{equal}. {state}:"
        f" {a.message}; statistics by {a.method}, {a.seconds:.2g} s. A leverage above 1: the"
        " tolerance before should be tightened; below 1: it may be relaxed."
    )
    return section("allocation", "Allocated tolerances", *parts, lead=lead)


def _tolerances(a: Allocation, plots: Plots) -> list[str]:
    """Tolerances and costs before and after."""
    change = 100 * a.after / a.before
    notes = [
        f"± {printed(float(old), 4)} → ± {printed(float(new), 4)} {c.unit}"
        for c, old, new in zip(a.choices, a.before, a.after, strict=True)
    ]
    before, after = (a.dataset[key].to_numpy() for key in ("cost_before", "cost"))
    costs = [
        f"{printed(float(x), 5)} → {printed(float(y), 5)}"
        for x, y in zip(before, after, strict=True)
    ]
    drawn = [
        ("tolerances after, in % of those before", Axis("tolerance", "%"), change, notes),
        ("cost of each tolerance", Axis("cost"), after, costs),
    ]
    height = bar_height(len(a.names))
    return [
        plots.add(title, bar_plot(a.names, values.tolist(), axis, remarks), height=height)
        for title, axis, values, remarks in drawn
    ]


def _contributions(a: Allocation, plots: Plots) -> list[str]:
    """Contribution of each tolerance to the constraints, (∂s/∂t) t, the largest first."""
    figures = []
    for b, derivatives in zip(a.constraints, a.risk, strict=True):
        contributions = derivatives * a.after
        if not contributions.any():
            continue
        order = np.argsort(-np.abs(contributions), kind="stable")
        names = [f"± {a.names[k]}" for k in order]
        notes = [f"derivative {printed(float(derivatives[k]), 4)}" for k in order]
        spec = bar_plot(
            names, contributions[order].tolist(), Axis(f"contribution to {b.name}", b.unit), notes
        )
        title = f"derivative of {b.name} times the tolerance"
        figures.append(plots.add(title, spec, height=bar_height(len(names))))
    return figures


def curve_section(curve: AllocationCurve, plots: Plots) -> str:
    """Cost against risk, and the corresponding tolerances."""
    x, axis = curve.targets, Axis(curve.rule, curve.unit)
    # 0.99, 0.999, … are far apart on this scale
    if curve.unit == "" and curve.rule.startswith("probability"):
        x, axis = 1 - x, Axis(f"1 − {curve.rule}", "", log=True)
    order = np.argsort(x)
    costs = [
        ("cheapest tolerances", curve.cost.to_numpy(), COLOURS[0], "solid"),
        ("equal tolerances", curve.equal_cost.to_numpy(), COLOURS[1], "dash"),
    ]
    curves = [
        Curve(name, x[order], y[order], colour=colour, dash=dash, mode="lines+markers")
        for name, y, colour, dash in costs
        if np.isfinite(y).any()
    ]
    widths = curve.tolerance
    unit = str(next(a for a in curve.allocations if a is not None).choices[0].unit)
    alike = len({c.unit for a in curve.allocations if a is not None for c in a.choices}) == 1
    each = [
        Curve(
            str(name),
            x[order],
            (w if alike else w / np.nanmax(w))[order],
            mode="lines+markers",
            colour=COLOURS[k % len(COLOURS)],
        )
        for k, name in enumerate(widths["parameter"].to_numpy().tolist())
        for w in [widths.sel(parameter=name).to_numpy()]
    ]
    ordinate = Axis("tolerance ±", unit) if alike else Axis("tolerance ±, relative to the widest")
    figures = [
        plots.add("cost against risk", curve_plot(curves, Axis("cost"), x=axis)),
        plots.add("tolerances against risk", curve_plot(each, ordinate, x=axis)),
    ]
    rows = curve._described().tables
    return section(
        "curve",
        "Cost against risk",
        grid(*figures),
        *(table(*each_table) for each_table in rows),
        lead=f"The cheapest tolerances for each target of the {curve.rule}.",
    )


def verification_part(check: Verification | None, designs: TwoDesigns | None, plots: Plots) -> str:
    """Results of independent samples, and distributions before and after."""
    parts = list[str]()
    lead = "Not verified by independent samples."
    if check is not None:
        own = check._described()
        parts += [table(*each) for each in own.tables]
        parts += [note(str(text)) for text in own.notes]
        lead = f"{own.title}."
    if designs is not None:
        every = designs.distributions()
        parts.append(grid(*(_distribution(d, plots) for d in every)))
        if every:
            lead += f" Distributions before and after are those of {every[0].after.size:,} samples."
    return section("verification", "Verification", *parts, lead=lead)


def _distribution(d: Distribution, plots: Plots) -> str:
    """Densities before and after, each with its own bins, and the limits."""
    curves = []
    for every, colour, label in ((d.before, BEFORE, "before"), (d.after, COLOURS[0], "after")):
        x = every[np.isfinite(every)]
        if x.size < BINS:
            continue
        edges = np.histogram_bin_edges(x, BINS)
        density = np.histogram(x, edges)[0] / (every.size * np.diff(edges))
        middles = (edges[1:] + edges[:-1]) / 2
        width = edges[1] - edges[0]
        places = [middles[0] - width, *middles, middles[-1] + width]
        missing = every.size - x.size
        name = f"{label} ({missing:,} of {every.size:,} samples could not be run)"
        heights = np.array([0.0, *density, 0.0])
        curves.append(Curve(name if missing else label, np.array(places), heights, colour=colour))
    axis = Axis(f"quantity of {d.name}", d.unit)
    label = f"density (1/{d.unit})" if d.unit else "density"
    spec: dict[str, Any] = curve_plot(curves, Axis(label), x=axis, marks=d.limits)
    return plots.add(f"distribution behind {d.name}, before and after", spec)
