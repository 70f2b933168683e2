"""Second derivatives of objectives, labelled, and those of any measure over time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..core.errors import ModelError, unknown_name
from ..core.markup import Displayed, html_heading, html_table
from ..core.symbols import SX
from ..sensitivity.objective import StateFunction
from .labels import COMPONENTS, along_time, table_text, with_units
from .run import Run
from .saving import save_dataset

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


@dataclass(frozen=True)
class Hessian(Displayed):
    """Objectives ψ, their gradients and Hessians with respect to parameters.

    Exact: derivatives of the discrete solution itself. Both halves of each Hessian come from
    different runs, so their difference (`asymmetry`) tells how much rounding there is.
    """

    method: str
    objective_names: tuple[str, ...]
    parameter_names: tuple[str, ...]
    units: tuple[str, ...]
    parameter_units: tuple[str, ...]
    psi: np.ndarray
    slopes: np.ndarray
    """(objective, parameter)"""
    curvatures: np.ndarray
    """(objective, parameter, parameter), as it came out"""
    run: Run
    seconds: dict[str, float]
    second_states: np.ndarray | None = None
    """(time, state, parameter, parameter), where derivatives were carried along the motion"""

    @property
    def values(self) -> xr.DataArray:
        """ψ at the end of the run, by objective."""
        return self._labelled(self.psi, 0)

    @property
    def gradient(self) -> xr.DataArray:
        """dψ/dρ, by objective and parameter."""
        return self._labelled(self.slopes, 1)

    @property
    def hessian(self) -> xr.DataArray:
        """d²ψ/dρ², by objective, parameter and parameter2; symmetric."""
        return self._labelled((self.curvatures + self.curvatures.transpose(0, 2, 1)) / 2, 2)

    @property
    def asymmetry(self) -> float:
        """The largest difference between both halves, relative to the largest entry of the same
        Hessian.
        """
        sizes = np.abs(self.curvatures).max(axis=(1, 2))
        apart = np.abs(self.curvatures - self.curvatures.transpose(0, 2, 1)).max(axis=(1, 2))
        return float(np.max(apart[sizes > 0] / sizes[sizes > 0], initial=0.0))

    def measure(
        self, function: StateFunction | str, *, name: str = "measure", unit: str = ""
    ) -> xr.DataArray:
        """Second derivatives of any function of the state, or the text of one, at all stored times.

        Their dimensions are (time[, component], parameter, parameter2).
        """
        import xarray as xr

        if self.second_states is None:
            raise ModelError("second derivatives over time need hessian(…, method='forward')")
        live = self.run.live
        e, T, indices = live.equations, live.trajectory, live.indices
        expression = live.expression(function, name)
        size = expression.numel()
        assert T.sensitivities is not None
        n, p, count = e.packed.numel(), len(indices), T.time.size
        u, seeds = ca.vertcat(e.packed, e.ρ), np.eye(e.ρ.numel())[:, indices]
        first, second, both = SX.sym("i", n), SX.sym("j", n), SX.sym("ij", n)
        change = [SX.sym("ρ'", e.ρ.numel()) for _ in range(2)]
        along = ca.jtimes(expression, u, ca.vertcat(first, change[0]))
        curvature = ca.jtimes(along, u, ca.vertcat(second, change[1])) + ca.jtimes(
            expression, e.packed, both
        )
        symbols, turns = live.turns_in(expression)
        f = ca.Function(
            "curvature",
            [e.packed, first, second, both, *change, e.ρ, e.t, *symbols],
            [ca.densify(curvature)],
        )
        found = np.zeros((count, size, p, p))
        for i in range(p):
            for j in range(p):
                slopes = (
                    T.sensitivities[:, :, i].T,
                    T.sensitivities[:, :, j].T,
                    self.second_states[:, :, i, j].T,
                )
                given = (
                    seeds[:, i],
                    seeds[:, j],
                    live.parameters,
                    T.time[None, :],
                    *[n.T for n in turns],
                )
                found[:, :, i, j] = np.array(f(T.states.T, *slopes, *given)).T
        coords = along_time(T.time)
        dims = ["time"]
        if size > 1:
            coords["component"], dims = (
                list(COMPONENTS[:size]) if size <= 3 else list(range(size)),
                ["time", "component"],
            )
        else:
            found = found[:, 0]
        coords |= {
            "parameter": list(self.parameter_names),
            "parameter2": list(self.parameter_names),
        }
        symmetric = (found + np.swapaxes(found, -1, -2)) / 2
        attrs = {"units": f"({unit}) per parameter units"}
        return xr.DataArray(
            symmetric,
            coords=coords,
            dims=[*dims, "parameter", "parameter2"],
            name=name,
            attrs=attrs,
        )

    def to_dataframe(self, objective: str | None = None) -> pd.DataFrame:
        """The Hessian of one objective (the first one if not given) as a table."""
        import pandas as pd

        if objective is not None and objective not in self.objective_names:
            raise unknown_name("objective", objective, self.objective_names)
        names = [pd.Index(self.parameter_names, name=name) for name in ("parameter", "parameter2")]
        chosen = self.hessian.sel(
            objective=self.objective_names[0] if objective is None else objective
        )
        return pd.DataFrame(chosen.to_numpy(), index=names[0], columns=names[1])

    def save(self, path: str | Path) -> Path:
        """Write values, gradients and Hessians to a file, by the ending of its name: .nc (netCDF),
        .csv (a row an objective) or .mat.
        """
        import xarray as xr

        parts = {"value": self.values, "gradient": self.gradient, "hessian": self.hessian}
        told = {"mechanism": self.run.info["mechanism"], "method": self.method}
        return save_dataset(xr.Dataset(parts, attrs=told), path, rows="objective")

    def _labelled(self, values: np.ndarray, order: int) -> xr.DataArray:
        import xarray as xr

        names = ["parameter", "parameter2"][:order]
        coords = with_units("objective", self.objective_names, self.units)
        for name in names:
            coords |= with_units(name, self.parameter_names, self.parameter_units)
        return xr.DataArray(values, coords=coords, dims=["objective", *names])

    def _display(self) -> str:
        names, told = (
            self.parameter_names,
            html_heading(self.run.info["mechanism"], f"Hessian, {self.method}"),
        )
        for name, matrix in zip(self.objective_names, self.hessian.to_numpy(), strict=True):
            told += html_table(
                [f"d²{name}/dρ²", *names], [[n, *row] for n, row in zip(names, matrix, strict=True)]
            )
        return told

    def __repr__(self) -> str:
        tables = "\n".join(
            f"{name}\n{table_text(self.to_dataframe(name))}" for name in self.objective_names
        )
        return (
            f"<Hessian of {self.run.info['mechanism']!r}, {self.method}; asymmetry"
            f" {self.asymmetry:.1e}>\n{tables}"
        )
