"""Labelled second derivatives of objectives, and of any function of the state over time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..core.errors import ModelError, unknown_name
from ..core.messages import PYTHON, PythonSyntax
from ..core.symbols import SX
from ..sensitivity.objective import StateFunction
from .labels import along_time, labels_along, table_text
from .result import Derivatives, Description, Variable

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


@dataclass(frozen=True, repr=False)
class Hessian(Derivatives):
    """Objectives ψ, their gradients and Hessians with respect to parameters.

    Exact: derivatives of the discrete solution itself. Both halves of each Hessian come from
    different runs, so their difference (`asymmetry`) shows the rounding.
    """

    psi: np.ndarray
    gradient_array: np.ndarray
    """(objective, parameter)"""
    curvatures: np.ndarray
    """(objective, parameter, parameter), not symmetrised"""
    second_states: np.ndarray | None = None
    """(time, state, parameter, parameter), if derivatives were propagated along the motion"""

    values = Variable("ψ at the end of the run, by objective.", "value")
    gradient = Variable("dψ/dρ, by objective and parameter.")
    hessian = Variable("d²ψ/dρ², by objective, parameter and parameter2; symmetric.")
    _dims = ("objective",)

    @cached_property
    def dataset(self) -> xr.Dataset:
        """`value`, `gradient` and `hessian`."""
        import xarray as xr

        symmetric = (self.curvatures + self.curvatures.transpose(0, 2, 1)) / 2
        arrays = {"value": self.psi, "gradient": self.gradient_array, "hessian": symmetric}
        dims = ("objective", "parameter", "parameter2")
        return xr.Dataset(
            {name: (dims[: array.ndim], array) for name, array in arrays.items()},
            coords=self._coords(*dims[1:]),
            attrs=self._attrs,
        )

    @property
    def asymmetry(self) -> float:
        """Largest difference between the two halves of a Hessian, relative to its largest entry."""
        sizes = np.abs(self.curvatures).max(axis=(1, 2))
        apart = np.abs(self.curvatures - self.curvatures.transpose(0, 2, 1)).max(axis=(1, 2))
        return float(np.max(apart[sizes > 0] / sizes[sizes > 0], initial=0.0))

    def measure(
        self, function: StateFunction | str, *, name: str = "output", unit: str = ""
    ) -> xr.DataArray:
        """Second derivatives of a function of the state at all stored times.

        Args:
            function: a function of the state, or an expression as text.
            name: name of the array.
            unit: unit of the function.

        Returns:
            (time[, component], parameter, parameter2).

        Raises:
            ModelError: if the Hessian was not computed with method="forward".
        """
        import xarray as xr

        if self.second_states is None:
            problem = "does not keep second derivatives over time"
            remedy = "call hessian(…, method='forward')"
            raise ModelError(problem, field="method", value=self.method, remedy=remedy)
        expression = self.run.live.expression(function, name)
        values, size = self._second_derivatives(expression), expression.numel()
        dims = ["time", "component"][: 1 if size == 1 else 2]
        coords = along_time(self.run.time)
        if size > 1:
            coords["component"] = labels_along("component", size)
        coords |= {key: list(self.parameter_names) for key in ("parameter", "parameter2")}
        return xr.DataArray(
            values if size > 1 else values[:, 0],
            coords=coords,
            dims=[*dims, "parameter", "parameter2"],
            name=name,
            attrs={"units": f"({unit}) per parameter units"},
        )

    def _second_derivatives(self, expression: SX) -> np.ndarray:
        """Second derivatives of an expression of the state: (time, component, parameter,
        parameter), symmetric.
        """
        live = self.run.live
        e, T, p = live.equations, live.trajectory, len(live.indices)
        assert T.sensitivities is not None and self.second_states is not None
        n, m = e.packed.numel(), e.ρ.numel()
        u, seeds = ca.vertcat(e.packed, e.ρ), np.eye(m)[:, live.indices]
        first, second, both = SX.sym("i", n), SX.sym("j", n), SX.sym("ij", n)
        change = [SX.sym("ρ'", m) for _ in range(2)]
        along = ca.jtimes(expression, u, ca.vertcat(first, change[0]))
        curvature = ca.jtimes(along, u, ca.vertcat(second, change[1])) + ca.jtimes(
            expression, e.packed, both
        )
        symbols, turns = live.turns_in(expression)
        inputs = [e.packed, first, second, both, *change, e.ρ, e.t, *symbols]
        f = ca.Function("curvature", inputs, [ca.densify(curvature)])
        S, S2 = T.sensitivities, self.second_states
        rest = (live.parameters, T.time[None, :], *[n.T for n in turns])
        values = np.zeros((T.time.size, expression.numel(), p, p))
        for i, j in np.ndindex(p, p):
            tangents = (S[:, :, i].T, S[:, :, j].T, S2[:, :, i, j].T, seeds[:, i], seeds[:, j])
            values[:, :, i, j] = np.array(f(T.states.T, *tangents, *rest)).T
        return (values + np.swapaxes(values, -1, -2)) / 2

    def to_dataframe(self, objective: str | None = None) -> pd.DataFrame:
        """The Hessian of one objective as a table.

        Args:
            objective: its name; the first one if not given.

        Returns:
            A row and a column for each parameter.

        Raises:
            ModelError: for an unknown objective.
        """
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
        """Text that `print` shows."""
        tables = [f"{name}\n{table_text(self.to_dataframe(name))}" for name in self.objective_names]
        return "\n".join([f"<{self._described().title}>", *tables])
