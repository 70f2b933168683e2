"""Report section on a posterior distribution: table, histograms, and bands beside the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..identification.measurement import Measurement, component_suffix
from ..identification.posterior import Posterior
from ..plotting.figure import COLOURS
from ..web.plots import Axis, Curve, Plots, curve_plot, histogram_plot
from .tables import grid, section, table

BARS = 40
"""Bars of a histogram: a hundred draws in each of some thousand."""


def posterior_section(p: Posterior, plots: Plots) -> str:
    """Distributions of parameters and the resulting predictions."""
    frame, diagnosed = p.table(), p.diagnostics is not None
    columns = ["mode", "mean", "std", "lower", "upper"]
    columns += ["r_hat", "ess_bulk", "ess_tail"] if diagnosed else []
    rows = [
        [
            str(name),
            *[float(row[c]) for c in columns],
            row["unit"],
            p.prior.descriptions[str(name)],
            row["at"],
        ]
        for name, row in frame.iterrows()
    ]
    interval = [f"{100 * p.level:g} % from", "to"]
    head = ["parameter", "mode", "mean", "standard deviation", *interval]
    head += ["R̂", "effective draws", "of tails"] if diagnosed else []
    chains, draws = p.samples_array.shape[:2]
    lead = f"{chains} × {draws} draws" if diagnosed else f"Laplace approximation, {draws} draws"
    lead += f", {p.evaluations} runs ({p.failed} failed), {p.seconds:.2g} s."
    if diagnosed:
        lead += f" {p.divergences} divergences, acceptance {p.acceptance:.2f}."
    if (noise := p.noise) is not None:
        lead += f" Noise: standard deviation {noise['mean']:.4g} ± {noise['std']:.2g}."
    lead += "".join(f" Warning: {text}." for text in p.warnings)
    figures = [_histogram(p, k, plots) for k in range(len(p.fit.space.names))]
    figures += [_bands(p, name, m, plots) for name, m in p.fit.measured.items()]
    return section(
        "posterior",
        "Posterior distribution",
        table([*head, "unit", "prior", "at"], rows),
        grid(*figures),
        lead=lead,
    )


def _histogram(p: Posterior, k: int, plots: Plots) -> str:
    name, unit = p.fit.space.names[k], p.fit.space.units[k]
    counts, edges = np.histogram(p.samples_array[..., k], BARS)
    width = float(edges[1] - edges[0])
    spec = histogram_plot("draws", float(edges[0]), width, counts, Axis(name, unit))
    return plots.add(f"posterior of {name}", spec)


def _bands(p: Posterior, name: str, m: Measurement, plots: Plots) -> str:
    """Data of one measurement with the median and the band of the posterior."""
    bands, curves = p.bands(name), []
    t = bands["time"].to_numpy()
    low, middle, high = (
        bands[key].to_numpy().reshape(t.size, -1) for key in ("lower", "median", "upper")
    )
    for c in range(m.components):
        suffix, colour = component_suffix(m, c), COLOURS[c % len(COLOURS)]
        band: dict[str, Any] = {
            "band": (low[:, c], high[:, c]),
            "band_name": f"{100 * p.level:g} % band{suffix}",
        }
        error = None if m.sigma is None else m.sigma[:, c]
        data: dict[str, Any] = {"mode": "markers", "colour": colour, "error": error}
        curves += [
            Curve(f"median{suffix}", t, middle[:, c], colour=colour, **band),
            Curve(f"data{suffix}", m.times, m.values[:, c], **data),
        ]
    return plots.add(f"prediction of {name}", curve_plot(curves, Axis(name, m.unit)), height=320)
