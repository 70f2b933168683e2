"""Figures of a fit: data, curve and confidence band."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..optimization.design_figures import BEFORE
from ..plotting.figure import COLOURS, INK
from ..plotting.style import in_style
from ..results.run import Run
from .measured_panels import draw_samples, finish, new_panels
from .measurement import component_suffix

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .fit import Fit


def draw_fit(fit: Fit, style: str | None) -> Figure:
    """A panel for each measurement: samples, curve and band."""
    figure, axes = new_panels(fit.measured)
    first = fit.curve_run(fit.space.start)
    for ax, (name, m) in zip(axes, fit.measured.items(), strict=True):
        curve, half = confidence_band(fit, fit.run, m.function, m.components)
        initial = first.measure(m.function).to_numpy().reshape(first.time.size, -1)
        for c in range(m.components):
            colour, suffix = COLOURS[c % len(COLOURS)], component_suffix(m, c)
            ax.plot(
                first.time,
                initial[:, c],
                color=BEFORE,
                linewidth=1.0,
                linestyle="--",
                label=f"initial{suffix}",
            )
            ax.fill_between(
                fit.run.time,
                curve[:, c] - half[:, c],
                curve[:, c] + half[:, c],
                color=colour,
                alpha=0.25,
                linewidth=0,
            )
            ax.plot(
                fit.run.time,
                curve[:, c],
                color=colour,
                linewidth=1.5,
                label=f"fit{suffix}, {100 * fit.level:g} % band",
            )
            draw_samples(ax, m, c)
        finish(ax, name, m)
    values = ", ".join(f"{n} = {v:.5g}" for n, v in fit.parameters.items())
    figure.suptitle(f"{fit.label}: {values}", fontsize=12, color=INK)
    return in_style(figure, style)


def confidence_band(
    fit: Fit, run: Run, function: Any, components: int
) -> tuple[np.ndarray, np.ndarray]:
    """A curve and the half-width of its confidence band: (time, component) each."""
    curve = run.measure(function).to_numpy().reshape(run.time.size, components)
    derivatives = run.measure(function, wrt="all").to_numpy().reshape(run.time.size, components, -1)
    variance = np.einsum("tci,ij,tcj->tc", derivatives, fit.confidence.prediction, derivatives)
    return curve, fit.factor * np.sqrt(np.maximum(variance, 0.0))
