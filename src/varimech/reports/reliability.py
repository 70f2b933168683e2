"""Report section on reliability: probabilities with their intervals, limits, and design point."""

from __future__ import annotations

import numpy as np

from ..uncertainty.reliability import Reliability
from ..web.plots import Axis, Plots, bar_height, bar_plot
from .tables import grid, note, section, table


def reliability_section(result: Reliability, plots: Plots) -> str:
    """The failure probability by all methods, and the contribution of each limit and each
    parameter.
    """
    frame = result.table()
    parts = [table(["method", *frame.columns], _rows(frame))]
    parts += [note(text) for text in result.notes]
    if result.limits:
        limits = result.limit_table()
        head = ["limit", "probability alone", "lower", "upper", "of the system without it"]
        parts.append(table(head, _rows(limits)))
    if result.design:
        names = list(result.design)
        head = ["parameter", "design point", "unit", "importance (%)"]
        rows = [
            [name, result.design[name], unit, 100 * result.importance[name]]
            for name, unit in zip(names, result.units, strict=True)
        ]
        sensitivities = result.sensitivity_table()
        parts.append(table(head, rows))
        heads = ["parameter", "∂β/∂mean", "∂β/∂σ", "∂P/∂mean", "∂P/∂σ"]
        parts.append(table(heads, _rows(sensitivities)))
        shares = np.array([result.importance[name] for name in names])
        order = np.argsort(-shares, kind="stable")
        bars = bar_plot(
            [names[k] for k in order],
            (100 * shares[order]).tolist(),
            Axis("importance at the design point", "%"),
            [f"{names[k]} = {result.design[names[k]]:.6g} {result.units[k]}" for k in order],
        )
        title = f"importance of parameters for {result.event}"
        parts.append(grid(plots.add(title, bars, height=bar_height(len(names)))))
    lead = (
        f"Event: {result.event}. P ≈ {result.probability:.4g}, reliability index"
        f" {result.beta:.4g}. Paths and peaks count at any time of the run."
    )
    return section("reliability", "Reliability", *parts, lead=lead)


def _rows(frame: object) -> list[list[object]]:
    """Rows of a table with their labels; unknown numbers are left empty."""
    return [
        [name, *(float(x) if np.isfinite(x) else None for x in row)]
        for name, row in zip(frame.index, frame.to_numpy().tolist(), strict=True)  # type: ignore[attr-defined]
    ]
