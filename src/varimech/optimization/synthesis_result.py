"""Result of a synthesis: the best design, other optima, residuals and defects."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..results.kinematics import Kinematics
from ..results.result import Description, Result

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class Synthesis(Result):
    """A design that approximates targets by least squares."""

    mechanism: str
    driver: str
    parameters: dict[str, float]
    """The best design, for use in `m.kinematics(…, parameters=s.parameters)`."""
    values: np.ndarray
    """Values of the driver at the targets (rad or m)."""
    targets: np.ndarray
    """Values of the targets, (target, number)."""
    residuals: np.ndarray
    """Outputs minus targets, (target, number)."""
    error: float
    """Root mean square of the residuals."""
    error_before: float
    """Root mean square of the residuals of the nominal design; NaN if it does not reach all
    targets.
    """
    converged: bool
    optima: tuple[tuple[float, dict[str, float]], ...]
    """Distinct local optima, the best first: error and parameters."""
    failed_starts: int
    """Number of initial designs that do not assemble, or do not reach all targets on one branch."""
    defects: tuple[str, ...]
    """Defects such as targets out of order, or a driver that does not turn fully."""
    kinematics: Kinematics
    """Kinematics of the best design over the targets."""

    _dims = ("target", "number")

    @property
    def info(self) -> dict[str, Any]:
        """Mechanism, driver, parameters, errors and defects."""
        return {
            "mechanism": self.mechanism,
            "driver": self.driver,
            "parameters": self.parameters,
            "error": self.error,
            "error_before": self.error_before,
            "converged": self.converged,
            "failed_starts": self.failed_starts,
            "defects": list(self.defects),
        }

    @cached_property
    def dataset(self) -> xr.Dataset:
        """Targets, residuals, and values of the driver."""
        import xarray as xr

        dims = ("target", "number")
        variables = {
            "wanted": (dims, self.targets),
            "residual": (dims, self.residuals),
            "value": (("target",), self.values),
        }
        return xr.Dataset(variables, coords={"target": np.arange(len(self.targets))})

    @property
    def local_optima(self) -> pd.DataFrame:
        """Table of the distinct local optima, the best first."""
        import pandas as pd

        return pd.DataFrame([{"error": error, **x} for error, x in self.optima])

    def plot(self, *, point: str | None = None, style: str | None = None) -> Figure:
        """Plot the residuals of all targets, or the path of a point with the targets.

        Args:
            point: point whose path was synthesised, in the plane.
            style: "paper" for the format of a paper.

        Returns:
            A figure.
        """
        from ..plotting.figure import Line, Panel, line_figure

        if point is None:
            k = np.arange(len(self.targets), dtype=float)
            lines = [Line(str(i), k, self.residuals[:, i]) for i in range(self.residuals.shape[1])]
            return line_figure([Panel("residual", lines)], xlabel="target", style=style)
        figure = self.kinematics.plot(path=point, style=style)
        figure.axes[0].plot(*self.targets[:, :2].T, "o", color="#d1495b", markersize=4, zorder=9)
        return figure

    def _described(self) -> Description:
        rows = [[name, value] for name, value in self.parameters.items()]
        state = "" if self.converged else ", not converged"
        title = (
            f"Synthesis of {self.mechanism!r}: {len(self.targets)} targets, root mean square error"
            f" {self.error:.3g} ({self.error_before:.3g} before){state}"
        )
        notes = [*self.defects]
        if len(self.optima) > 1:
            others = ", ".join(f"{error:.3g}" for error, _ in self.optima[1:6])
            notes.append(f"other local optima have errors of {others}")
        if self.failed_starts:
            notes.append(f"{self.failed_starts} starts do not reach all targets on one branch")
        return Description(title, tables=[(["parameter", "value"], rows)], notes=notes)
