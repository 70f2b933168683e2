"""Figures of a posterior (distributions of parameters and pairs, bands beside the data) and of
experiments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..plotting.figure import COLOURS, INK, legend_beside, new_figure, quiet
from ..plotting.style import in_style
from ..uncertainty.marginals import Normal
from .measured_panels import draw_samples, finish, new_panels
from .measurement import component_suffix

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .experiment_result import Experiment
    from .posterior import Posterior

PRIOR = "#777777"
BINS = 40
"""Bins of a histogram: a hundred draws in each, for a few thousand."""
MOST_EXPERIMENTS = 12
"""Largest number of experiments that are drawn."""
MOST_POINTS = 2000
"""Largest number of points that are drawn for a pair: more would overlap."""


def draw_posterior(p: Posterior, style: str | None) -> Figure:
    """Histograms on the diagonal, with priors and intervals; draws of pairs below it."""
    names, units = p.fit.space.names, p.fit.space.units
    labels = [f"{n} ({u})" if u else n for n, u in zip(names, units, strict=True)]
    flat, n = p.samples_array.reshape(-1, len(names)), len(names)
    figure = new_figure(1.2 + 2.4 * n, 1.0 + 2.2 * n)
    axes: Any = figure.subplots(n, n, squeeze=False)
    shown = flat[:: max(1, len(flat) // MOST_POINTS)]
    for i, j in np.ndindex(n, n):
        ax = axes[i, j]
        if j > i:
            ax.set_axis_off()
            continue
        if i == j:
            _draw_marginal(ax, p, i, flat[:, i])
        else:
            ax.plot(shown[:, j], shown[:, i], ".", color=COLOURS[0], markersize=2, alpha=0.35)
            ax.set_ylabel(labels[i] if j == 0 else "")
        if i == n - 1:
            ax.set_xlabel(labels[j])
        ax.ticklabel_format(useOffset=False)
        ax.locator_params(nbins=4)
        quiet(ax)
    handles = axes[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower left", ncols=3, frameon=False, fontsize=9)
    figure.suptitle(f"{p.label}: posterior ({p.method})", fontsize=12, color=INK)
    return in_style(figure, style)


def _draw_marginal(ax: Axes, p: Posterior, k: int, x: np.ndarray) -> None:
    ax.hist(x, BINS, density=True, color=COLOURS[0], alpha=0.55, label="posterior")
    low, _, high = (float(each[k]) for each in p._interval)
    ax.axvspan(low, high, color=COLOURS[0], alpha=0.12, label=f"{100 * p.level:g} % interval")
    ends = ax.get_xlim()
    m = p.prior.marginals[k]
    if m is not None:
        from scipy.stats import norm

        frozen: Any = norm(m.mean, m.sigma) if isinstance(m, Normal) else m.distribution
        grid = np.linspace(*ends, 200)
        ax.plot(grid, frozen.pdf(grid), color=PRIOR, linestyle="--", label="prior")
        ax.set_xlim(ends)
    ax.set_yticks([])


def draw_bands(p: Posterior, style: str | None) -> Figure:
    """A panel for each measurement: samples, median and bands."""
    measured = p.fit.measured
    figure, axes = new_panels(measured)
    for ax, (name, m) in zip(axes, measured.items(), strict=True):
        bands = p.bands(name)
        t = bands["time"].to_numpy()
        low, middle, high = (
            bands[key].to_numpy().reshape(t.size, -1) for key in ("lower", "median", "upper")
        )
        for c in range(m.components):
            colour, suffix = COLOURS[c % len(COLOURS)], component_suffix(m, c)
            ax.fill_between(t, low[:, c], high[:, c], color=colour, alpha=0.3, linewidth=0)
            label = f"median{suffix}, {100 * p.level:g} % band"
            ax.plot(t, middle[:, c], color=colour, linewidth=1.4, label=label)
            draw_samples(ax, m, c)
        finish(ax, name, m)
    figure.suptitle(f"{p.label}: prediction of the posterior", fontsize=12, color=INK)
    return in_style(figure, style)


def draw_experiment(e: Experiment, style: str | None) -> Figure:
    """Standard deviations by experiment, relative to the best one."""
    d = e.dataset["std"].to_numpy()[:MOST_EXPERIMENTS]
    labels = [c.label for c in e.choices[:MOST_EXPERIMENTS]]
    figure = new_figure(8.0, 1.2 + 0.35 * len(labels))
    ax = figure.subplots()
    rows = np.arange(len(labels))
    for k, name in enumerate(e.names):
        y = rows + 0.12 * (k - (len(e.names) - 1) / 2)
        colour = COLOURS[k % len(COLOURS)]
        shown = np.isfinite(d[:, k])
        ax.plot((d[:, k] / d[0, k])[shown], y[shown], "o", color=colour, markersize=5, label=name)
    ax.axvline(1.0, color=PRIOR, linewidth=0.8)
    ax.set_yticks(rows, labels)
    ax.invert_yaxis()
    ax.set_xlabel("standard deviation / that of the best experiment")
    quiet(ax)
    legend_beside(ax)
    figure.suptitle(f"{e.label}: experiments", fontsize=12, color=INK)
    return in_style(figure, style)
