"""Panels of figures with measured data, one for each measurement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..plotting.figure import INK, legend_beside, new_figure, quiet
from .measurement import Measurement, component_suffix

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def new_panels(measured: Mapping[str, Measurement]) -> tuple[Figure, Any]:
    """A figure with a panel for each measurement, over a common time axis."""
    figure = new_figure(7.5, 1.0 + 2.6 * len(measured))
    axes = figure.subplots(len(measured), 1, sharex=True, squeeze=False)[:, 0]
    axes[-1].set_xlabel("time (s)")
    return figure, axes


def draw_samples(ax: Axes, m: Measurement, c: int) -> None:
    """The samples of a component, with error bars where σ is known."""
    ax.errorbar(
        m.times,
        m.values[:, c],
        None if m.sigma is None else m.sigma[:, c],
        fmt="o",
        markersize=3,
        color=INK,
        elinewidth=0.7,
        alpha=0.8,
        label=f"data{component_suffix(m, c)}",
    )


def finish(ax: Axes, name: str, m: Measurement) -> None:
    """Label a panel, and place its legend beside it."""
    ax.set_ylabel(f"{name} ({m.unit})" if m.unit else name)
    quiet(ax)
    ax.margins(x=0.01)
    legend_beside(ax)
