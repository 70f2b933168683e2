"""Root loci: eigenvalues over a parameter, and where they cross the imaginary axis."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..plotting.figure import COLOURS, INK, MARK, new_figure, quiet
from ..plotting.style import in_style
from .eigenvalue_curves import Crossing, EigenvalueCurves
from .result import Description, Variable

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class RootLocus(EigenvalueCurves):
    """Eigenvalues over values of a parameter, each branch continuous; made by
    `Mechanism.root_locus`. Conjugate eigenvalues are on separate branches.
    """

    places: tuple[Crossing, ...]
    """Crossings of the imaginary axis by branches with Im λ ≥ 0."""

    growth_rate = Variable("Re λ (value, branch), 1/s.")
    frequency = Variable("Im λ / 2π (value, branch), Hz; negative for conjugates.")

    @cached_property
    def dataset(self) -> xr.Dataset:
        """`growth_rate` and `frequency` (value, branch) with their derivatives (…, parameter);
        `crossing_value`, `crossing_frequency`, `crossing_branch` and `crossing_derivative` of values
        at which a growth rate passes zero.
        """
        import xarray as xr

        every = np.arange(self.branches.eigenvalues.shape[1])
        met = self._crossing_variables("crossing", self.places)
        return xr.Dataset({**self._curves(every), **met}, coords=self._coords(every))

    @property
    def crossings(self) -> pd.DataFrame:
        """Values at which a growth rate passes zero: frequency there (Hz), branch, whether it grows
        beyond, and derivatives of the value with respect to further parameters.
        """
        import pandas as pd

        rows = [
            [c.value, c.eigenvalue.imag / (2 * np.pi), c.branch + 1, self._grows(c), *c.derivatives]
            for c in self.places
        ]
        further = [f"d{self.parameter}/d{name}" for name in self.parameter_names[1:]]
        head = [self.parameter, "frequency (Hz)", "branch", "beyond", *further]
        return pd.DataFrame(rows, columns=head)

    def _grows(self, c: Crossing) -> str:
        onward = c.slope * (self.values[-1] - self.values[0])
        return "grows" if onward > 0 else "dies away"

    def plot(self, *, style: str | None = None) -> Figure:
        """Plot the eigenvalues in the complex plane (begin: dot, end: square), and growth rates
        over the parameter; values at which one passes zero are marked.

        Args:
            style: "paper" for the format of a paper.

        Returns:
            A figure.
        """
        figure = new_figure(10.0, 4.4)
        plane, over = figure.subplots(1, 2)
        for j in range(self.branches.eigenvalues.shape[1]):
            λ, colour = self.branches.eigenvalues[:, j], COLOURS[j % len(COLOURS)]
            curve, values = self.branches.broken(λ), self.branches.broken(self.values)
            plane.plot(curve.real, curve.imag / (2 * np.pi), color=colour, linewidth=1.5)
            over.plot(values, curve.real, color=colour, linewidth=1.5)
            plane.plot(λ.real[0], λ.imag[0] / (2 * np.pi), "o", color=colour, markersize=4)
            plane.plot(λ.real[-1], λ.imag[-1] / (2 * np.pi), "s", color=colour, markersize=4)
        for c in self.places:
            f = c.eigenvalue.imag / (2 * np.pi)
            for side in {f, -f}:
                plane.plot(0.0, side, "x", color=INK, markersize=8)
            over.plot(c.value, 0.0, "x", color=INK, markersize=8)
            over.annotate(
                f"{c.value:.4g}", (c.value, 0.0), xytext=(4, 6), textcoords="offset points"
            )
        plane.axvline(0.0, color=MARK, linewidth=0.8)
        over.axhline(0.0, color=MARK, linewidth=0.8)
        plane.set_xlabel("growth rate Re λ (1/s)")
        plane.set_ylabel("frequency Im λ / 2π (Hz)")
        over.set_xlabel(self.axis)
        over.set_ylabel("growth rate Re λ (1/s)")
        over.margins(x=0)
        for ax in (plane, over):
            quiet(ax)
        if not style:
            figure.suptitle(f"{self.mechanism}: eigenvalues over {self.axis}", color=INK)
        return in_style(figure, style, titled=False)

    def _described(self) -> Description:
        count = self.branches.eigenvalues.shape[1]
        title = (
            f"Root locus of {self.mechanism!r}, {self.at}: {count} eigenvalues over {self.axis} ="
            f" {self.values[0]:g} … {self.values[-1]:g}"
        )
        table = self.crossings
        notes = self._notes
        if not self.places:
            return Description(title, notes=["no growth rate passes zero", *notes])
        rows = [list(row) for row in table.itertuples(index=False)]
        return Description(title, tables=[([str(c) for c in table.columns], rows)], notes=notes)
