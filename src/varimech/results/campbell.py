"""Campbell diagrams: frequencies over a speed, with the orders of excitation, and the critical
speeds at which frequency and excitation coincide.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..plotting.figure import COLOURS, INK, MARK, new_figure, quiet
from ..plotting.style import in_style
from .eigenvalue_curves import Crossing, EigenvalueCurves
from .result import Description, Variable

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure

OSCILLATES = 1e-7
"""Fraction of the largest eigenvalue above which an imaginary part counts as oscillation."""


@dataclass(frozen=True, eq=False, repr=False)
class Campbell(EigenvalueCurves):
    """Frequencies of small motions over a speed; made by `Mechanism.campbell`."""

    orders: tuple[float, ...]
    """Multiples of the rotational frequency at which excitation occurs."""
    revolutions: float
    """Revolutions per second per unit of the speed parameter."""
    places: tuple[tuple[float, Crossing], ...]
    """Order, and the crossing at which a frequency equals that multiple of the rotational
    frequency.
    """

    frequency = Variable("Im λ / 2π (value, branch), Hz; NaN where nothing oscillates.")
    growth_rate = Variable("Re λ (value, branch), 1/s.")

    @property
    def info(self) -> dict[str, Any]:
        """Mechanism, place, parameter, orders and revolutions."""
        return {
            **super().info,
            "orders": list(self.orders),
            "revolutions": self.revolutions,
        }

    @cached_property
    def dataset(self) -> xr.Dataset:
        """`frequency` and `growth_rate` (value, branch) of the oscillating branches, with
        derivatives (…, parameter); `critical_value`, `critical_order`, `critical_frequency`,
        `critical_branch` and `critical_derivative` of the critical speeds.
        """
        import xarray as xr

        λ = self.branches.eigenvalues
        shown = λ.imag > OSCILLATES * np.abs(λ).max(initial=0.0)
        kept = np.flatnonzero(shown.any(axis=0))
        variables = self._curves(kept) | self._crossing_variables(
            "critical", tuple(c for _, c in self.places)
        )
        orders = np.array([order for order, _ in self.places])
        variables["critical_order"] = ("critical", orders)
        data = xr.Dataset(variables, coords=self._coords(kept))
        hidden = xr.DataArray(shown[:, kept], dims=("value", "branch"))
        for name in ("frequency", "growth_rate", "frequency_derivative", "growth_rate_derivative"):
            attrs = data[name].attrs
            data[name] = data[name].where(hidden).assign_attrs(attrs)
        return data

    @property
    def critical_speeds(self) -> pd.DataFrame:
        """Critical speeds: order, frequency (Hz), branch, growth rate (1/s), and derivatives with
        respect to further parameters.
        """
        import pandas as pd

        rows = [
            [
                *(c.value, order, c.eigenvalue.imag / (2 * np.pi), c.branch + 1),
                *(c.eigenvalue.real, *c.derivatives),
            ]
            for order, c in self.places
        ]
        further = [f"d{self.parameter}/d{name}" for name in self.parameter_names[1:]]
        head = [self.parameter, "order", "frequency (Hz)", "branch", "growth rate (1/s)", *further]
        return pd.DataFrame(rows, columns=head)

    def plot(self, *, style: str | None = None) -> Figure:
        """Plot frequencies over the speed, the orders as lines from zero, and the critical speeds.

        Args:
            style: "paper" for the format of a paper.

        Returns:
            A figure.
        """
        from matplotlib.patheffects import withStroke

        figure = new_figure(7.0, 4.6)
        ax = figure.add_subplot()
        frequency = self.dataset["frequency"]
        for k, branch in enumerate(frequency["branch"].to_numpy()):
            curve = frequency.sel(branch=branch).to_numpy()
            broken = self.branches.broken
            ax.plot(broken(self.values), broken(curve), color=COLOURS[k % len(COLOURS)], lw=1.5)
        top = float(np.nanmax(frequency.to_numpy())) if frequency.size else 1.0
        for order in self.orders:
            line = order * self.revolutions * self.values
            ax.plot(self.values, line, "--", color=MARK, linewidth=1.0)
            last = int(np.flatnonzero(line <= 1.12 * top)[-1]) if (line <= 1.12 * top).any() else 0
            ax.annotate(
                f"{order:g}×",
                (self.values[last], line[last]),
                xytext=(-4, 4),
                textcoords="offset points",
                ha="right",
                color=INK,
                fontsize=9,
            )
        for _, c in self.places:
            f = c.eigenvalue.imag / (2 * np.pi)
            ax.plot(c.value, f, "o", color="white", markeredgecolor=INK, markersize=6)
            label = ax.annotate(
                f"{c.value:.4g}", (c.value, f), xytext=(6, -12), textcoords="offset points"
            )
            label.set_path_effects([withStroke(linewidth=3, foreground="white")])
        ax.set_ylim(0.0, 1.15 * top)
        ax.margins(x=0)
        ax.set_xlabel(self.axis)
        ax.set_ylabel("frequency (Hz)")
        quiet(ax)
        if not style:
            ax.set_title(f"{self.mechanism}: Campbell diagram", fontsize=11, color=INK)
        return in_style(figure, style, titled=False)

    def _described(self) -> Description:
        orders = ", ".join(f"{order:g}" for order in self.orders)
        title = (
            f"Campbell diagram of {self.mechanism!r}, {self.at}: orders {orders} over {self.axis} ="
            f" {self.values[0]:g} … {self.values[-1]:g}"
        )
        if not self.places:
            return Description(title, notes=["no critical speed", *self._notes])
        table = self.critical_speeds
        rows = [list(row) for row in table.itertuples(index=False)]
        return Description(
            title, tables=[([str(c) for c in table.columns], rows)], notes=self._notes
        )
