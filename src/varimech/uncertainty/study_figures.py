"""Figures of moments and studies: means and bands over time, horizons, and contributions to
variances.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.markup import counted
from ..plotting.figure import COLOURS, INK, legend_beside, new_figure, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .moments import Moments
    from .sobol import SobolIndices
    from .study import Study

MEAN, FIRST, BEYOND = COLOURS[0], "#777777", "#eeeeee"
MOST_PARTS = 6
"""Maximum number of parameters that are drawn individually, so that the figure stays legible."""


def draw_moments(moments: Moments, sigmas: float) -> Figure:
    """Draw one row for each objective: its mean with a band on the left, its standard deviation
    with the contributions of the parameters on the right.
    """
    bands, count = moments.bands(sigmas), len(moments.objective_names)
    figure = new_figure(11.0, 1.2 + 2.4 * count)
    axes = figure.subplots(count, 2, sharex=True, squeeze=False)
    for k, (left, right) in enumerate(axes):
        t, mean = moments.time, moments.mean.isel(objective=k).to_numpy()
        known = k in moments.known_over_time  # otherwise at the end only
        lower, upper = (bands[side].isel(objective=k).to_numpy() for side in ("lower", "upper"))
        left.fill_between(
            t,
            lower,
            upper,
            color=MEAN,
            alpha=0.22,
            linewidth=0,
            label=f"± {sigmas:g} standard deviations",
        )
        left.plot(t, mean, color=MEAN, linewidth=1.6, label="mean")
        if not known:
            spread = [[mean[-1] - lower[-1]], [upper[-1] - mean[-1]]]
            left.errorbar(t[-1:], mean[-1:], yerr=spread, color=MEAN, fmt="o", clip_on=False)
        if moments.order == 2:
            first = moments.first_mean.isel(objective=k).to_numpy()
            left.plot(
                t, first, color=FIRST, linewidth=1.0, linestyle="--", label="mean, first order"
            )
        if known:
            _draw_parts(right, moments, k)
        else:
            right.set_axis_off()
        name, unit = (
            moments.objective_names[k],
            f" ({moments.units[k]})" if moments.units[k] else "",
        )
        left.set_ylabel(f"{name}{unit}")
        right.set_ylabel(f"standard deviation{unit}")
        for ax in (left, right):
            _mark_horizon(ax, float(moments.horizons[k]), float(t[-1]), named=ax is right)
            quiet(ax)
            ax.margins(x=0)
        if known:
            legend_beside(right)
    for column in axes.T:
        figure.align_ylabels(column)
        column[-1].set_xlabel("time (s)")
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(),
        loc="outside lower left",
        ncols=3,
        frameon=False,
        fontsize=9,
    )
    figure.suptitle(f"{moments.label}: moments of order {moments.order}", fontsize=12, color=INK)
    return figure


def _draw_parts(ax: Axes, moments: Moments, k: int) -> None:
    """Draw the standard deviation, filled with the contributions to the variance; the smallest ones
    are combined. Contributions that correlations make negative are drawn as lines instead.
    """
    t, std = moments.time, moments.std.isel(objective=k).to_numpy()
    parts = moments.contributions.isel(objective=k).to_numpy() * std[:, None]
    order = np.argsort(-np.abs(parts).sum(axis=0), kind="stable")
    named, others = (
        (order, order[:0])
        if order.size <= MOST_PARTS
        else (order[: MOST_PARTS - 1], order[MOST_PARTS - 1 :])
    )
    heights = [parts[:, i] for i in named] + ([parts[:, others].sum(axis=1)] if others.size else [])
    labels = [moments.distributions.names[i] for i in named] + (
        [f"{others.size} others"] if others.size else []
    )
    colours = [COLOURS[i % len(COLOURS)] for i in named] + ([FIRST] if others.size else [])
    if (parts >= -1e-9 * std.max()).all():
        ax.stackplot(t, *heights, colors=colours, labels=labels, alpha=0.45, linewidth=0)
    else:
        for height, label, colour in zip(heights, labels, colours, strict=True):
            ax.plot(t, height, color=colour, linewidth=1.2, linestyle="--", label=label)
        ax.axhline(0.0, color=FIRST, linewidth=0.8)
    ax.plot(t, std, color=INK, linewidth=1.2, label="standard deviation")


def _mark_horizon(ax: Axes, horizon: float, end: float, *, named: bool) -> None:
    """Mark the horizon of the expansion by a line, with a label for the legend if `named`, and the
    time after it in grey.
    """
    if horizon < end:
        ax.axvspan(horizon, end, color=BEYOND, zorder=0)
        label = f"horizon, {horizon:.3g} s" if named else None
        ax.axvline(horizon, color=INK, linewidth=1.0, linestyle=":", label=label)


def draw_study(study: Study, sigmas: float | None) -> Figure:
    """Draw one panel for each objective."""
    count = len(study.objective_names)
    figure = new_figure(8.0, 1.0 + 2.4 * count)
    axes = figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0]
    if sigmas is None:
        lower, upper = study.quantile([0.05, 0.95]).to_numpy()
        label = "5 % to 95 %"
    else:
        bands = study.bands(sigmas)
        lower, upper, label = (
            bands["lower"].to_numpy(),
            bands["upper"].to_numpy(),
            f"± {sigmas:g} standard deviations",
        )
    for k, (ax, name, unit) in enumerate(
        zip(axes, study.objective_names, study.units, strict=True)
    ):
        ax.fill_between(
            study.time, lower[:, k], upper[:, k], color=MEAN, alpha=0.22, linewidth=0, label=label
        )
        ax.plot(study.time, study.mean.to_numpy()[:, k], color=MEAN, linewidth=1.6, label="mean")
        ax.set_ylabel(f"{name} ({unit})" if unit else name)
        quiet(ax)
    legend_beside(axes[0])
    figure.align_ylabels(axes)
    axes[-1].set_xlabel("time (s)")
    axes[-1].margins(x=0)
    figure.suptitle(
        f"{study.label}: {counted(study.count, 'sample', 'samples')}", fontsize=12, color=INK
    )
    return figure


def draw_sobol(indices: SobolIndices) -> Figure:
    """Draw one panel for each objective, with intervals if available."""
    objectives, names = indices.dataset["objective"].values, indices.dataset["parameter"].values
    figure = new_figure(1.6 + max(2.4, 0.9 * len(names)), 1.0 + 2.4 * len(objectives))
    axes = figure.subplots(len(objectives), 1, sharex=True, squeeze=False)[:, 0]
    for ax, objective in zip(axes, objectives, strict=True):
        _sobol_bars(ax, indices, str(objective))
    axes[0].legend(frameon=False, fontsize=9)
    figure.suptitle(f"{indices.label}: Sobol indices", fontsize=12, color=INK)
    return figure


def _sobol_bars(ax: Axes, indices: SobolIndices, objective: str) -> None:
    """Draw first-order and total indices side by side."""
    at = indices.dataset.sel(objective=objective)
    places = np.arange(at.sizes["parameter"])
    for kind, shift, colour, label in (
        ("first", -0.2, COLOURS[0], "first order"),
        ("total", 0.2, COLOURS[3], "total"),
    ):
        height = at[kind].to_numpy()
        ax.bar(places + shift, height, 0.38, color=colour, label=label)
        if f"{kind}_lower" in at:
            error = np.abs(
                np.stack([at[f"{kind}_lower"].to_numpy(), at[f"{kind}_upper"].to_numpy()]) - height
            )
            ax.errorbar(
                places + shift, height, error, fmt="none", ecolor=INK, elinewidth=1.0, capsize=3
            )
    quiet(ax)
    ax.grid(visible=False, axis="x")
    ax.set_xticks(places, [str(n) for n in at["parameter"].values])
    ax.set_ylabel(f"share of the variance of {objective}")
