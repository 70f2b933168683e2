"""Report sections on uncertainty: moments with the contribution of each parameter, and Monte Carlo
samples with histograms.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..plotting.figure import COLOURS
from ..uncertainty.moments import Moments
from ..uncertainty.study import Study
from ..uncertainty.study_figures import MOST_PARTS
from ..uncertainty.study_text import known_table
from ..web.encoding import printed
from ..web.plots import (
    GREY,
    Axis,
    Curve,
    Plots,
    bar_height,
    bar_plot,
    curve_plot,
    histogram_plot,
)
from .tables import folded, grid, section, table

SIGMAS = 3.0
"""Half-width of bands, in standard deviations, as usual for tolerances."""
MOST_BARS = 64
"""Largest number of bars of a histogram: as many as remain legible."""


def moments_section(moments: Moments, plots: Plots) -> str:
    """Means and bands over time, shares of the variance at the end."""
    last = moments.dataset.isel(time=-1)
    means, deviations = last["mean"].values.tolist(), last["std"].values.tolist()
    columns = (moments.objective_names, means, deviations, moments.units, moments.horizons.tolist())
    rows = [list(row) for row in zip(*columns, strict=True)]
    objectives = range(len(moments.objective_names))
    resolved = moments.known_over_time
    over_time = [plot for k in resolved for plot in _moments_over_time(moments, k, plots)]
    return section(
        "moments",
        "Tolerances",
        table(["objective", "mean", "standard deviation", "unit", "valid up to (s)"], rows),
        grid(*over_time),
        grid(*(_shares(moments, k, plots) for k in objectives)),
        folded("all contributions", _contributions(moments)),
        lead=(
            f"Means and standard deviations of order {moments.order} by exact derivatives, as"
            " functions of the end time; shares at the end of the run."
        ),
    )


def _moments_over_time(moments: Moments, k: int, plots: Plots) -> Iterator[str]:
    """Mean with its band, and standard deviations by parameter, of one objective."""
    name, unit, bands = moments.objective_names[k], moments.units[k], moments.bands(SIGMAS)
    lower, upper = (bands[side].isel(objective=k).to_numpy() for side in ("lower", "upper"))
    mean, label = moments.mean.isel(objective=k).to_numpy(), f"± {SIGMAS:g} standard deviations"
    curves = [Curve("mean", moments.time, mean, band=(lower, upper), band_name=label)]
    if moments.order == 2:
        first = moments.first_mean.isel(objective=k).to_numpy()
        curves.append(Curve("at the means", moments.time, first, colour=GREY, dash="dash"))
    end = float(moments.horizons[k])
    until = end if end < moments.time[-1] else None
    valid = f": valid within {moments.accuracy:g} standard deviations up to {end:.3g} s"
    title = name if until is None else name + valid
    yield plots.add(title, curve_plot(curves, Axis(name, unit), until=until))
    title = f"standard deviation of {name} by each parameter alone"
    yield plots.add(title, _deviations(moments, k))


def _shares(moments: Moments, k: int, plots: Plots) -> str:
    """Contributions of parameters to the variance of one objective, the largest first."""
    name, s = moments.objective_names[k], moments.distributions
    share = moments.contributions.isel(time=-1, objective=k).to_numpy()
    order = np.argsort(-share, kind="stable")
    names = [s.names[i] for i in order]
    notes = [f"{s.names[i]}: σ = {printed(s.sigma[i])} {s.units[i]}" for i in order]
    label = Axis(f"share of the variance of {name}", "%")
    spec = bar_plot(names, (100 * share[order]).tolist(), label, notes)
    title = f"contributions to the variance of {name}"
    return plots.add(title, spec, height=bar_height(len(names)))


def _deviations(moments: Moments, k: int) -> dict[str, Any]:
    """Deviations |∂ψ/∂ρ| σ over time for the parameters that contribute most; not these, but their
    squares add up.
    """
    std = moments.std.isel(objective=k).to_numpy()
    deviations = np.abs(moments.derivatives[:, k]) * moments.distributions.sigma
    order = np.argsort(-deviations.sum(axis=0), kind="stable")[:MOST_PARTS]
    curves = [Curve("all parameters", moments.time, std, colour=GREY)]
    curves += [
        Curve(
            moments.distributions.names[i],
            moments.time,
            deviations[:, i],
            dash="dot",
            colour=COLOURS[i % len(COLOURS)],
        )
        for i in order
    ]
    end = float(moments.horizons[k])
    return curve_plot(
        curves,
        Axis("standard deviation", moments.units[k]),
        until=end if end < moments.time[-1] else None,
    )


def _contributions(moments: Moments) -> str:
    head = ["objective", "parameter", "σ of the parameter", "∂ψ/∂ρ", "share of the variance (%)"]
    rows = [
        [r["objective"], r["parameter"], r["sigma"], r["derivative"], 100 * r["contribution"]]
        for r in moments.table().to_dict("records")
    ]
    return table(head, rows)


def study_section(study: Study, plots: Plots) -> str:
    """Means and quantiles over time, histograms at the end."""
    figures = []
    quantiles = study.quantile([0.05, 0.95]).to_numpy()
    data = study.dataset
    for k, (name, unit) in enumerate(zip(study.objective_names, study.units, strict=True)):
        extremes = (data["lowest"].to_numpy()[:, k], data["highest"].to_numpy()[:, k])
        band = (quantiles[0, :, k], quantiles[1, :, k])
        median = study.quantile(0.5).to_numpy()[:, k]
        if study.time.size > 1:
            mean = study.mean.to_numpy()[:, k]
            for title, base in ((name, np.zeros_like(mean)), (f"{name} minus its mean", mean)):
                low, high, five, most = (side - base for side in (*extremes, *band))
                middle = Curve("median", study.time, median - base, colour=GREY, dash="dash")
                average = Curve("mean", study.time, mean - base, colour=COLOURS[0])
                curves = [
                    replace(middle, band=(low, high), band_name="all samples"),
                    replace(average, band=(five, most), band_name="5 % to 95 %"),
                ]
                figures.append(plots.add(title, curve_plot(curves, Axis(title, unit))))
        figures.append(plots.add(f"{name} at the end", _histogram(study, name, unit)))
    failed = f"; {study.failed} failed" if study.failed else ""
    requested = "" if study.stopped is None else f" of {study.stopped:,}, stopped early"
    sampling = (
        f"{study.count:,} samples{requested} ({study.sampling.kind}, seed"
        f" {study.sampling.seed}){failed}"
    )
    lead = (
        f"{sampling}, in {study.seconds['run']:.2g} s. ± is the half-width of a 95 % confidence"
        " interval of the mean; other "
    )
    lead += "numbers are rounded to the digits that their own 95 % intervals support."
    return section(
        "study",
        "Monte Carlo",
        table(*known_table(study)),
        grid(*figures),
        folded("distributions of the parameters", _distributions(study)),
        lead=lead,
    )


def _distributions(study: Study) -> str:
    """Distribution of each parameter."""
    parameters = study.distributions.described()["parameters"]
    rows = [[p["name"], p["mean"], p["sigma"], p["unit"], p["distribution"]] for p in parameters]
    return table(["parameter", "mean", "standard deviation", "unit", "distribution"], rows)


def _histogram(study: Study, name: str, unit: str) -> dict[str, Any]:
    """Histogram with neighbouring bins merged to a legible number."""
    counts = study.histogram(name)
    middles, width = counts["value"].to_numpy(), float(counts.attrs["width"])
    # Rice's rule
    together = max(1, -(-len(middles) // min(MOST_BARS, math.ceil(2 * study.count ** (1 / 3)))))
    groups = np.add.reduceat(counts.to_numpy(), np.arange(0, len(middles), together))
    starts = middles[::together] - width / 2
    return histogram_plot("samples", float(starts[0]), together * width, groups, Axis(name, unit))
