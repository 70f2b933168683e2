"""Figures of moments and of studies: means and bands over time, and where moments stop to hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..view.figure import COLOURS, INK, new_figure, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .moments import Moments
    from .study import Study

MEAN, FIRST, BEYOND = COLOURS[0], "#777777", "#eeeeee"


def draw_moments(moments: Moments, sigmas: float) -> Figure:
    """A panel an objective."""
    bands, t = moments.bands(sigmas), moments.time

    def draw(ax: Axes, k: int) -> None:
        lower, upper = (bands[side].isel(objective=k).to_numpy() for side in ("lower", "upper"))
        _band(ax, t, lower, upper, f"± {sigmas:g} standard deviations")
        ax.plot(t, moments.mean.isel(objective=k), color=MEAN, linewidth=1.6, label="mean")
        if moments.order == 2:
            first = moments.first_mean.isel(objective=k)
            ax.plot(t, first, color=FIRST, linewidth=1.0, linestyle="--", label="mean, first order")
        mark_horizon(ax, float(moments.horizons[k]), float(t[-1]))

    return _panels(f"{moments.label}: moments of order {moments.order}", moments.objective_names, moments.units, draw)


def mark_horizon(ax: Axes, horizon: float, end: float) -> None:
    """A line where the expansion stops to hold, and grey behind it."""
    if horizon < end:
        ax.axvspan(horizon, end, color=BEYOND, zorder=0)
        ax.axvline(horizon, color=INK, linewidth=1.0, linestyle=":", label=f"horizon, {horizon:.3g} s")


def draw_study(study: Study, sigmas: float | None) -> Figure:
    """A panel an objective; the band is that of 90 % of the samples where no number of standard deviations is given."""
    if sigmas is None:
        lower, upper, label = *study.quantile([0.05, 0.95]), "5 % to 95 %"
    else:
        bands = study.bands(sigmas)
        lower, upper, label = bands["lower"], bands["upper"], f"± {sigmas:g} standard deviations"

    def draw(ax: Axes, k: int) -> None:
        _band(ax, study.time, lower[:, k].to_numpy(), upper[:, k].to_numpy(), label)
        ax.plot(study.time, study.mean.isel(objective=k), color=MEAN, linewidth=1.6, label="mean")

    return _panels(f"{study.label}: {study.count} samples", study.objective_names, study.units, draw)


def _band(ax: Axes, t: np.ndarray, lower: np.ndarray, upper: np.ndarray, label: str) -> None:
    ax.fill_between(t, lower, upper, color=MEAN, alpha=0.22, linewidth=0, label=label)


def _panels(title: str, names: Sequence[str], units: Sequence[str], draw: Callable[[Axes, int], None]) -> Figure:
    """Panels below each other over time, each drawn by its number."""
    figure = new_figure(8.0, 1.0 + 2.4 * len(names))
    axes = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    for k, (ax, name, unit) in enumerate(zip(axes, names, units, strict=True)):
        draw(ax, k)
        ax.set_ylabel(f"{name} ({unit})" if unit else name)
        quiet(ax)
        ax.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.3)
    figure.align_ylabels(axes)
    axes[-1].set_xlabel("time (s)")
    axes[-1].margins(x=0)
    figure.suptitle(title, fontsize=12, color=INK)
    return figure
