"""Workspace of a point: reachable positions over values of drivers, their boundary and area."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import ModelError, VarimechError
from ..plotting.style import in_style
from ..plotting.workspace import workspace_figure
from .labels import COMPONENTS, derivative_units, with_units
from .result import Description, Result, Variable

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Boundary:
    """Boundary of a workspace in the plane."""

    area: float
    derivatives: np.ndarray
    """(parameter,)"""
    points: np.ndarray
    """(piece, 3, component): first point, one in the middle, last point."""
    sources: tuple[str, ...]
    """Source of each piece: a limit such as "elbow = 2.5 rad", "dead centre" or "singular
    position".
    """
    unresolved: str
    """Reason why the area is unknown; empty if it is known."""


@dataclass(frozen=True, eq=False, repr=False)
class Workspace(Result):
    """Positions that a point reaches over ranges of drivers; made by `Mechanism.workspace`.

    Arrays go over all nodes of the grid of values along `input`, the last driver fastest; they are
    NaN where a node is out of reach.
    """

    mechanism: str
    point: str
    drivers: tuple[str, ...]
    driver_units: tuple[str, ...]
    axes: tuple[np.ndarray, ...]
    """Values of each driver."""
    reached_array: np.ndarray
    positions: np.ndarray
    """(input, component)"""
    jacobians: np.ndarray
    """(input, component, driver)"""
    parameter_names: tuple[str, ...]
    parameter_units: tuple[str, ...]
    derivatives: np.ndarray | None
    """(input, component, parameter)"""
    parameters: dict[str, float]
    steps: int
    """Continuation steps taken."""
    bounds: Boundary | None
    """Boundary, for workspaces of two drivers in the plane."""

    reached = Variable("Whether the values of the drivers are reached.")
    position = Variable("Position of the point (input, component), m.")
    jacobian = Variable("∂r/∂u (input, component, driver), m per unit of the driver.")
    manipulability = Variable("√det(J Jᵀ), the product of the singular values of J.")
    conditioning = Variable("Smallest over largest singular value of J: 0 singular, 1 isotropic.")
    position_wrt = Variable("Derivatives of the position with respect to parameters.")
    _dims = ("input",)

    @property
    def info(self) -> dict[str, Any]:
        """Mechanism, point, drivers with their ranges, parameters, nodes and steps."""
        return {
            "mechanism": self.mechanism,
            "point": self.point,
            "drivers": dict(zip(self.drivers, self.driver_units, strict=True)),
            "ranges": [[float(a[0]), float(a[-1]), a.size] for a in self.axes],
            "parameters": self.parameters,
            "reached": int(self.reached_array.sum()),
            "nodes": self.reached_array.size,
            "steps": self.steps,
        }

    @property
    def shape(self) -> tuple[int, ...]:
        """Values of each driver: `w.position.to_numpy().reshape(*w.shape, -1)` is a grid."""
        return tuple(axis.size for axis in self.axes)

    @property
    def area(self) -> float:
        """Area of all positions that are reached, counted once (m²); of two drivers in the plane.

        Raises:
            ModelError: for other workspaces.
            VarimechError: where the grid does not resolve the boundary.
        """
        return self._resolved.area

    @property
    def area_derivatives(self) -> xr.DataArray:
        """∂A/∂ρ (parameter,), for which the workspace was differentiated.

        Raises:
            ModelError: if it was not differentiated, and for workspaces without an area.
            VarimechError: where the grid does not resolve the boundary.
        """
        import xarray as xr

        bounds = self._resolved
        if not self.parameter_names:
            raise ModelError(
                "it was not differentiated",
                element="area_derivatives",
                remedy="name parameters in workspace(…, wrt=…)",
            )
        coords = with_units("parameter", self.parameter_names, self.parameter_units)
        return xr.DataArray(
            bounds.derivatives, coords, ["parameter"], "area_wrt", derivative_units("m²")
        )

    @property
    def boundary(self) -> xr.DataArray:
        """Pieces of the boundary, (piece, place, component), m; the coordinate `source` has what
        bounds it: a limit of a driver, a dead centre, or singular positions (det J = 0).

        Raises:
            ModelError: for workspaces without an area.
        """
        import xarray as xr

        bounds = self._bounded
        coords = {
            "place": ["first", "middle", "last"],
            "component": [*COMPONENTS[:2]],
            "source": ("piece", list(bounds.sources)),
        }
        dims = ["piece", "place", "component"]
        return xr.DataArray(bounds.points, coords, dims, "boundary", {"units": "m"})

    @cached_property
    def dataset(self) -> xr.Dataset:
        """Values of the drivers, `reached`, `position`, `jacobian`, `manipulability` and
        `conditioning` along `input`, `position_wrt`, and where there are any `boundary`, `area`
        and `area_wrt`.
        """
        import xarray as xr

        J = self.jacobians
        σ = np.full((len(J), min(J.shape[1:])), np.nan)
        σ[self.reached_array] = np.linalg.svd(J[self.reached_array], compute_uv=False)
        with np.errstate(invalid="ignore"):
            conditioning = np.where(σ[:, 0] > 0, σ[:, -1] / σ[:, 0], 0 * σ[:, 0])
        values = np.stack(np.meshgrid(*self.axes, indexing="ij"), -1).reshape(len(J), -1)
        n = self.positions.shape[1]
        variables: dict[str, Any] = {
            "value": (("input", "driver"), values),
            "reached": ("input", self.reached_array),
            "position": (("input", "component"), self.positions, {"units": "m"}),
            "jacobian": (("input", "component", "driver"), J),
            "manipulability": ("input", σ.prod(axis=1)),
            "conditioning": ("input", conditioning),
        }
        coords: dict[str, Any] = {
            "input": np.arange(len(J)),
            "component": [*COMPONENTS[:n]],
            **with_units("driver", self.drivers, self.driver_units),
        }
        if self.derivatives is not None:
            coords |= with_units("parameter", self.parameter_names, self.parameter_units)
            dims = ("input", "component", "parameter")
            variables["position_wrt"] = (dims, self.derivatives, derivative_units("m"))
        data = xr.Dataset(variables, coords=coords)
        if self.bounds is None or self.bounds.unresolved:
            return data
        data = data.assign(boundary=self.boundary, area=((), self.area, {"units": "m²"}))
        return data.assign(area_wrt=self.area_derivatives) if self.parameter_names else data

    def to_dataframe(self) -> pd.DataFrame:
        """All nodes: values of the drivers, components of the position, and conditioning.

        Returns:
            A row for each node of the grid.
        """
        data = self.dataset
        table = data[["reached", "manipulability", "conditioning"]].to_dataframe()
        for k, name in reversed(list(enumerate(data["component"].to_numpy()))):
            table.insert(0, str(name), self.positions[:, k])
        for k, name in reversed(list(enumerate(self.drivers))):
            table.insert(0, name, data["value"].to_numpy()[:, k], allow_duplicates=True)
        return table

    def plot(self, *, title: str | None = None, style: str | None = None) -> Figure:
        """Plot the positions that are reached, coloured by their conditioning, and the boundary by
        what it comes from.

        Args:
            title: title; mechanism and point if not given.
            style: "paper" for the width of a journal column.

        Returns:
            A figure; save it with `.savefig("file.pdf")`.
        """
        here = self.reached_array
        pieces_by_source: dict[str, list[np.ndarray]] = {}
        if self.bounds is not None:
            for points, source in zip(self.bounds.points, self.bounds.sources, strict=True):
                pieces_by_source.setdefault(source, []).append(points)
        heading = "" if style else f"{self.mechanism}: workspace of {self.point}"
        figure = workspace_figure(
            self.positions[here],
            self.dataset["conditioning"].to_numpy()[here],
            pieces_by_source,
            title=heading if title is None else title,
        )
        return in_style(figure, style, titled=title is not None)

    @property
    def _bounded(self) -> Boundary:
        if self.bounds is None:
            raise ModelError(
                "is computed for two drivers in the plane",
                element="workspace",
                field="boundary",
                remedy="use position, reached and conditioning",
            )
        return self.bounds

    @property
    def _resolved(self) -> Boundary:
        bounds = self._bounded
        if bounds.unresolved:
            raise VarimechError(
                f"workspace of {self.point!r}: {bounds.unresolved}, so that its area is not known",
                remedy="take more values, count=…, or ranges that exclude that position",
            )
        return bounds

    def _described(self) -> Description:
        ranges = [
            [name, float(axis[0]), float(axis[-1]), axis.size, unit]
            for name, axis, unit in zip(self.drivers, self.axes, self.driver_units, strict=True)
        ]
        tables: list[Any] = [(["driver", "from", "to", "values", "unit"], ranges)]
        lines, bounds = [], self.bounds
        title = (
            f"Workspace of {self.point!r} of {self.mechanism!r}: {int(self.reached_array.sum())} of"
            f" {self.reached_array.size} nodes reached in {self.steps} steps"
        )
        if bounds is None:
            return Description(title, tables=tables)
        if bounds.unresolved:
            return Description(title, tables=tables, notes=[f"area not known: {bounds.unresolved}"])
        lines.append(f"area {bounds.area:.8g} m²")
        chords = np.diff(bounds.points, axis=1)
        lengths = np.linalg.norm(chords, axis=2).sum(axis=1)
        sources = sorted(set(bounds.sources))
        shares = [lengths[[s == source for s in bounds.sources]].sum() for source in sources]
        rows = [[s, x] for s, x in zip(sources, shares, strict=True) if x > 1e-6 * sum(shares)]
        tables.append((["boundary", "length (m)"], rows))
        if self.parameter_names:
            rows = [
                [name, float(x)]
                for name, x in zip(self.parameter_names, bounds.derivatives, strict=True)
            ]
            tables.append((["parameter", "derivative of the area"], rows))
        return Description(title, lines, tables)
