"""Every output of kinematics by name, as a labelled array with its unit, and its derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ..core.errors import ModelError, unknown_name
from ..core.symbols import SX
from ..sensitivity.objective import StateFunction
from .catalog import OUTPUTS, names_in
from .kinematic_path import KinematicPath
from .labels import Wrt, derivative_units, labels_along, shape_of, with_units
from .result import Result

if TYPE_CHECKING:
    import xarray as xr

KINDS = (
    "position",
    "velocity",
    "acceleration",
    "angle",
    "angular_velocity",
    "angular_acceleration",
    "displacement",
    "displacement_rate",
    "rotation",
)
"""Outputs of runs that kinematics provides, too; those of spatial bodies are added."""


@dataclass(frozen=True, eq=False, repr=False)
class KinematicOutputs(Result):
    """Named outputs of a kinematic analysis."""

    live: KinematicPath
    """Positions and the equations that they satisfy."""
    drivers: tuple[str, ...]
    driver_units: tuple[str, ...]
    values: np.ndarray
    """(input, driver): values of the drivers."""
    rates: np.ndarray | None
    """Rates of the drivers, which make velocities time derivatives; None for derivatives with
    respect to a single driver.
    """
    steps: int
    """Continuation steps taken."""
    stopped: str
    """Reason why the range was truncated; empty if all of it was reached."""
    residual: float
    """Largest residual of the closure equations."""
    coefficients_at: np.ndarray
    """(input, coordinate, driver): q_u."""

    _dims = ("input",)

    @property
    def info(self) -> dict[str, Any]:
        """Mechanism, drivers, range, parameters, and whether and why it was truncated."""
        parameters = list(self.live.equations.model.parameter_set.parameters)
        own = parameters[: len(parameters) - 3 * len(self.drivers)]
        return {
            "mechanism": self.live.equations.model.name,
            "dimension": self.live.equations.model.dimension,
            "drivers": dict(zip(self.drivers, self.driver_units, strict=True)),
            "parameters": dict(zip(own, self.live.parameters.tolist(), strict=False)),
            "count": len(self.values),
            "steps": self.steps,
            "residual": self.residual,
            "stopped": self.stopped,
        }

    @property
    def parameter_names(self) -> list[str]:
        """Parameters with respect to which it was differentiated."""
        return self.live.parameter_names if self.live.differentiated else []

    def position(self, point: str, *, wrt: Wrt = None) -> xr.DataArray:
        """Position of a point.

        Args:
            point: its name.
            wrt: parameters to differentiate for: a name, several, or "all"; none if not given.

        Returns:
            (input, component[, parameter]), m.
        """
        return self._output("position", point, wrt)

    def velocity(self, point: str, *, wrt: Wrt = None) -> xr.DataArray:
        """Velocity of a point; without `rates`, its derivative with respect to the driver.

        Args:
            point: its name.
            wrt: as for `position`.

        Returns:
            (input, component[, parameter]), m/s, or m per unit of the driver.
        """
        return self._output("velocity", point, wrt)

    def acceleration(self, point: str, *, wrt: Wrt = None) -> xr.DataArray:
        """Acceleration of a point; without `rates`, its second derivative with respect to the
        driver.

        Args:
            point: its name.
            wrt: as for `position`.

        Returns:
            (input, component[, parameter]), m/s², or m per unit of the driver squared.
        """
        return self._output("acceleration", point, wrt)

    def angle(self, name: str, *, wrt: Wrt = None) -> xr.DataArray:
        """Angle of a planar body or of a joint, without jumps; from (−π, π] at the first value,
        except that of a driver.

        Args:
            name: name of the body or joint.
            wrt: as for `position`.

        Returns:
            (input[, parameter]), rad.
        """
        return self._output("angle", name, wrt)

    def angular_velocity(self, name: str, *, wrt: Wrt = None) -> xr.DataArray:
        """Angular velocity of a body or joint; without `rates`, per unit rate of the driver.

        Args:
            name: name of the body or joint.
            wrt: as for `position`.

        Returns:
            (input, component and parameter where there are any), rad/s, or rad per unit of the driver.
        """
        return self._output(f"{self._body(name)}angular_velocity", name, wrt)

    def angular_acceleration(self, name: str, *, wrt: Wrt = None) -> xr.DataArray:
        """Angular acceleration of a body or joint; without `rates`, for a constant unit rate of the
        driver.

        Args:
            name: name of the body or joint.
            wrt: as for `position`.

        Returns:
            (input, component and parameter where there are any), rad/s², or rad per unit of the driver squared.
        """
        return self._output(f"{self._body(name)}angular_acceleration", name, wrt)

    def displacement(self, joint: str, *, wrt: Wrt = None) -> xr.DataArray:
        """Displacement along a sliding joint.

        Args:
            joint: its name.
            wrt: as for `position`.

        Returns:
            (input[, parameter]), m.
        """
        return self._output("displacement", joint, wrt)

    def displacement_rate(self, joint: str, *, wrt: Wrt = None) -> xr.DataArray:
        """Rate of the displacement along a sliding joint; without `rates`, per unit rate of the
        driver.

        Args:
            joint: its name.
            wrt: as for `position`.

        Returns:
            (input[, parameter]), m/s, or m per unit of the driver.
        """
        return self._output("displacement_rate", joint, wrt)

    def rotation(self, body: str, *, wrt: Wrt = None) -> xr.DataArray:
        """Rotation matrix of a body; its columns are the body's axes.

        Args:
            body: its name.
            wrt: as for `position`.

        Returns:
            (input, row, column[, parameter]).
        """
        return self._output("rotation", body, wrt)

    def distance(self, first: str, second: str, *, wrt: Wrt = None) -> xr.DataArray:
        """Distance between two points.

        Args:
            first: name of a point.
            second: name of another one.
            wrt: as for `position`.

        Returns:
            (input[, parameter]), m.
        """
        return self.measure(
            lambda s: s.distance(first, second),
            wrt=wrt,
            name=f"distance {first}–{second}",
            unit="m",
        )

    def measure(
        self,
        function: StateFunction | str,
        *,
        wrt: Wrt = None,
        name: str = "output",
        unit: str = "",
    ) -> xr.DataArray:
        """Evaluate a function of the state at all values of the drivers.

        Args:
            function: a function of the state that returns a scalar or vector, or an expression as
                text; of positions, velocities and accelerations.
            wrt: as for `position`.
            name: name of the array.
            unit: unit of the values.

        Returns:
            (input, component and parameter where there are any).

        Raises:
            ModelError: for a function that depends on forces or cannot be evaluated.
        """
        expression = self.live.expression(function, name)
        dims = ("component",) if expression.numel() > 1 else ()
        return self._labelled(expression, name, dims, unit, wrt)

    def coefficients(self, function: StateFunction | str, *, name: str = "output") -> xr.DataArray:
        """Derivatives of a function of positions with respect to each driver: first kinematic
        coefficients.

        Args:
            function: as for `measure`, of positions only.
            name: name of the array.

        Returns:
            (input[, component], driver), per unit of the driver.

        Raises:
            ModelError: for a function of velocities.
        """
        import xarray as xr

        e, live = self.live.equations, self.live
        expression = live.expression(function, name)
        if ca.depends_on(expression, ca.vertcat(e.v, e.a)):
            raise ModelError("depends on velocities", element="coefficients", label=name)
        rows = live.evaluate(ca.densify(ca.jacobian(expression, e.q)))
        count = expression.numel()
        J = rows.reshape(len(rows), -1, count).transpose(0, 2, 1)
        data = J @ self.coefficients_at
        coords = {**self._coords, **with_units("driver", self.drivers, self.driver_units)}
        if count == 1:
            return xr.DataArray(data[:, 0], coords, ["input", "driver"], name)
        coords["component"] = labels_along("component", count)
        return xr.DataArray(data, coords, ["input", "component", "driver"], name)

    @cached_property
    def dataset(self) -> xr.Dataset:
        """All outputs, and their derivatives (`…_wrt`) where there are any."""
        import xarray as xr

        model = self.live.equations.model
        names = names_in(model)
        space = ("body_angular_velocity", "body_angular_acceleration")
        variables: dict[str, Any] = {"value": (("input", "driver"), self.values)}
        for kind in (*KINDS, *(space if model.dimension == 3 else ())):
            definition, of = OUTPUTS[kind], names[OUTPUTS[kind].of]
            for key, wrt in ((kind, None), (f"{kind}_wrt", "all")):
                if not of or (wrt and not self.parameter_names) or not self._has(kind):
                    continue
                arrays = [self._output(kind, n, wrt).drop_vars(definition.of) for n in of]
                variables[key] = xr.concat(
                    arrays, dim=xr.IndexVariable(definition.of, of)
                ).transpose("input", ...)
        coords = {**self._coords, **with_units("driver", self.drivers, self.driver_units)}
        return xr.Dataset(variables, coords=coords)

    @property
    def _abscissa(self) -> np.ndarray:
        single = len(self.drivers) == 1
        return self.values[:, 0] if single else np.arange(len(self.values), dtype=float)

    @property
    def _coords(self) -> dict[str, Any]:
        unit = {"units": self.driver_units[0]} if len(self.drivers) == 1 else {}
        return {"input": ("input", self._abscissa, unit)}

    def _has(self, kind: str) -> bool:
        """Whether velocities are defined."""
        moves = "velocity" in kind or "acceleration" in kind or kind.endswith("rate")
        return not moves or self.rates is not None or len(self.drivers) == 1

    def _unit(self, unit: str) -> str:
        """Unit of an output: without rates, "m/s²" becomes "m/rad²"."""
        if self.rates is not None or not self.driver_units:
            return unit
        return unit.replace("/s", f"/{self.driver_units[0]}")

    def _output(self, kind: str, name: str, wrt: Wrt) -> xr.DataArray:
        if not self._has(kind):
            raise ModelError(
                "there are several drivers, and no rates",
                element=kind,
                remedy="give kinematics(…, rates={…}), or use coefficients(…)",
            )
        definition, model = OUTPUTS[kind], self.live.equations.model
        label = model.find_point(name).label if definition.of == "point" else str(name)
        expression = definition.get(self.live.kinematic_state, name)
        array = self._labelled(expression, kind, definition.dims, self._unit(definition.unit), wrt)
        return array.assign_coords({definition.of: label})

    def _labelled(
        self, expression: SX, name: str, dims: tuple[str, ...], unit: str, wrt: Wrt
    ) -> xr.DataArray:
        import xarray as xr

        shape, dims = shape_of(expression, dims)
        coords = {**self._coords}
        coords |= {d: labels_along(d, n) for d, n in zip(dims, shape, strict=True)}
        if wrt is None:
            values = self.live.evaluate(expression)
            values = values.reshape(values.shape[0], *shape, order="F")
            return xr.DataArray(values, coords, ["input", *dims], name, {"units": unit})
        chosen = self._selected(wrt)
        values = self.live.derivative(expression)
        values = values.reshape(values.shape[0], *shape, values.shape[2], order="F")
        parameters = self.live.equations.model.parameter_set.parameters
        coords |= with_units(
            "parameter", self.parameter_names, [parameters[n].unit for n in self.parameter_names]
        )
        dims = ("input", *dims, "parameter")
        array = xr.DataArray(values, coords, dims, f"{name}_wrt", derivative_units(unit))
        return array.sel(parameter=chosen)

    def _selected(self, wrt: Wrt) -> object:
        known = self.parameter_names
        if not known:
            raise ModelError(
                "it was not differentiated",
                field="wrt",
                value=wrt,
                remedy="name parameters in kinematics(…, wrt=…)",
            )
        if isinstance(wrt, str) and wrt == "all":
            return known
        names = [getattr(n, "name", n) for n in (wrt if isinstance(wrt, (list, tuple)) else [wrt])]
        for n in names:
            if n not in known:
                raise unknown_name("parameter of this kinematics", str(n), known)
        return names if isinstance(wrt, (list, tuple)) else names[0]

    def _body(self, name: str) -> str:
        model = self.live.equations.model
        return "body_" if model.dimension == 3 and name in model.bodies else ""
