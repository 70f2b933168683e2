"""Second derivatives of objectives, labelled, and those of any measure over time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ..core.errors import ModelError, unknown_name
from ..core.messages import PYTHON, PythonSyntax
from ..core.symbols import SX
from ..sensitivity.objective import StateFunction
from .labels import COMPONENTS, along_time, table_text, with_units
from .result import Description, Result, Variable
from .run import Run

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


@dataclass(frozen=True, repr=False)
class Hessian(Result):
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

    values = Variable("ψ at the end of the run, by objective.", "value")
    gradient = Variable("dψ/dρ, by objective and parameter.")
    hessian = Variable("d²ψ/dρ², by objective, parameter and parameter2; symmetric.")
    _dims = ("objective",)

    @property
    def info(self) -> dict[str, Any]:
        """That of the run, and how derivatives were computed."""
        return {**self.run.info, "derivatives": self.method, "seconds": self.seconds}

    @cached_property
    def dataset(self) -> xr.Dataset:
        """`value`, `gradient` and `hessian`."""
        import xarray as xr

        symmetric = (self.curvatures + self.curvatures.transpose(0, 2, 1)) / 2
        arrays = {"value": self.psi, "gradient": self.slopes, "hessian": symmetric}
        dims = ("objective", "parameter", "parameter2")
        coords = with_units("objective", self.objective_names, self.units)
        for name in dims[1:]:
            coords |= with_units(name, self.parameter_names, self.parameter_units)
        return xr.Dataset(
            {name: (dims[: array.ndim], array) for name, array in arrays.items()},
            coords=coords,
            attrs={"mechanism": self.run.info["mechanism"], "method": self.method},
        )

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

    def _described(self) -> Description:
        names = self.parameter_names
        return Description(
            f"Hessian of {self.run.info['mechanism']!r}, {self.method}; asymmetry"
            f" {self.asymmetry:.1e}",
            tables=[
                ([f"d²{o}/dρ²", *names], [[n, *row] for n, row in zip(names, matrix, strict=True)])
                for o, matrix in zip(self.objective_names, self.hessian.to_numpy(), strict=True)
            ],
        )

    def text(self, syntax: PythonSyntax = PYTHON) -> str:
        """What `print` shows."""
        tables = [f"{name}\n{table_text(self.to_dataframe(name))}" for name in self.objective_names]
        return "\n".join([f"<{self._described().title}>", *tables])
