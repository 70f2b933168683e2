"""Figures of a moment over time, by both orders and by Monte Carlo, with the differences to a
reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

import varimech as vm

from .outcome import legend_beside

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, SAMPLES = "#333333", "#e08a00"


def moments_figure(
    title: str,
    ylabel: str,
    unit: str,
    moments: vm.Moments,
    curves: Mapping[str, np.ndarray],
    study: vm.Study,
    of: str,
) -> Figure:
    """Curves above, their differences to the last curve below; points with 95 % intervals are Monte
    Carlo estimates.

    Args:
        title: title of the figure.
        ylabel: name of the quantity.
        unit: unit of the quantity.
        moments: moments that provide times and horizon.
        curves: name → values over time; the last one is the reference of the differences.
        study: Monte Carlo study, at some of these times.
        of: "mean", "variance" or "std", the estimate to draw.
    """
    *others, last = curves
    base, t = curves[last], moments.time
    panels = [
        vm.Panel(f"{ylabel} ({unit})", [vm.Line(name, t, y) for name, y in curves.items()]),
        vm.Panel(
            f"difference to {last} ({unit})",
            [vm.Line(name, t, curves[name] - base) for name in others],
        ),
    ]
    figure = vm.line_figure(panels, title=title)
    figure.axes[0].lines[-1].set(linestyle="--", color=INK)
    value, interval = (
        getattr(study, of).isel(objective=0).to_numpy(),
        study.interval(of=of).isel(objective=0),
    )
    below, above = value - interval["lower"].to_numpy(), interval["upper"].to_numpy() - value
    there = np.interp(study.time, t, base)
    for ax, shift in zip(figure.axes, (0.0, there), strict=True):
        ax.errorbar(
            study.time,
            value - shift,
            np.array([below, above]),
            fmt="o",
            markersize=2.5,
            color=SAMPLES,
            elinewidth=1.0,
            capsize=1.5,
            label=f"Monte Carlo, {study.count} samples",
        )
        horizon = moments.horizon.item()
        if horizon < t[-1]:
            ax.axvline(
                horizon, color=INK, linewidth=1.0, linestyle=":", label=f"horizon, {horizon:.3g} s"
            )
        legend_beside(ax)
        ax.margins(x=0.01)
        ax.set_title("", loc="right")  # a single line has its name there; it is in the legend now
    return figure
