"""Modes of small motions: eigenvalues, frequencies, damping, shapes, and their derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .result import Description, Result, Variable

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, eq=False, repr=False)
class Modes(Result):
    """Modes about a motion, slowest first; made by `Mechanism.modes`. Of conjugate eigenvalues the
    one with Im λ > 0 is shown.
    """

    mechanism: str
    at: str
    time: float
    """s"""
    steady: bool
    """Whether the linear equations do not change along the motion, so that modes mean anything."""
    values: np.ndarray
    """Eigenvalues (1/s)."""
    point_names: tuple[str, ...]
    shape_array: np.ndarray
    """Displacements of points, complex: (mode, point, component)."""
    parameter_names: tuple[str, ...]
    value_derivatives: np.ndarray | None
    """(mode, parameter)"""
    repeated: tuple[tuple[int, ...], ...]
    """Modes (from 1) with the same eigenvalue."""

    frequency = Variable("Im λ / 2π (Hz); zero for what does not oscillate.")
    growth_rate = Variable("Re λ (1/s); negative for what dies away.")
    damping_ratio = Variable("−Re λ / |λ|; NaN for eigenvalues that are zero.")
    _dims = ("mode",)

    @property
    def info(self) -> dict[str, Any]:
        """Mechanism, place and time."""
        return {
            "mechanism": self.mechanism,
            "at": self.at,
            "time": self.time,
            "steady": self.steady,
        }

    @cached_property
    def dataset(self) -> xr.Dataset:
        """`growth_rate`, `frequency`, `damping_ratio`, real and imaginary parts of the shapes
        (`shape_real`, `shape_imaginary`), and derivatives (`frequency_derivative`, …).
        """
        import xarray as xr

        λ, size = self.values, np.abs(self.values)
        safe = np.where(size > 0, size, 1.0)
        ζ = np.where(size > 0, -λ.real / safe, np.nan)
        shape = ("mode", "point", "component")
        variables: dict[str, object] = {
            "growth_rate": ("mode", λ.real, {"units": "1/s"}),
            "frequency": ("mode", λ.imag / (2 * np.pi), {"units": "Hz"}),
            "damping_ratio": ("mode", ζ),
            "shape_real": (shape, self.shape_array.real),
            "shape_imaginary": (shape, self.shape_array.imag),
        }
        coords: dict[str, object] = {
            "mode": np.arange(1, λ.size + 1),
            "point": list(self.point_names),
            "component": [*"xyz"[: self.shape_array.shape[2]]],
        }
        if self.value_derivatives is not None:
            λ_, dims = self.value_derivatives, ("mode", "parameter")
            slope = (λ.conj()[:, None] * λ_).real / safe[:, None]  # of |λ|
            ζ_ = -λ_.real / safe[:, None] - (ζ / safe)[:, None] * slope
            variables |= {
                "growth_rate_derivative": (dims, λ_.real),
                "frequency_derivative": (dims, λ_.imag / (2 * np.pi)),
                "damping_ratio_derivative": (dims, ζ_),
            }
            coords["parameter"] = list(self.parameter_names)
        return xr.Dataset(variables, coords=coords)

    @property
    def eigenvalues(self) -> xr.DataArray:
        """λ (mode), complex, 1/s."""
        import xarray as xr

        return xr.DataArray(self.values, coords={"mode": self.dataset["mode"]}, dims=["mode"])

    @property
    def eigenvalue_derivatives(self) -> xr.DataArray:
        """∂λ/∂ρ (mode, parameter), complex; where derivatives were asked for."""
        d = self.dataset
        return d["growth_rate_derivative"] + 2j * np.pi * d["frequency_derivative"]

    @property
    def shapes(self) -> xr.DataArray:
        """Displacements of points (mode, point, component), complex; the largest is 1."""
        return self.dataset["shape_real"] + 1j * self.dataset["shape_imaginary"]

    def _described(self) -> Description:
        d = self.dataset
        names = ("growth_rate", "frequency", "damping_ratio")
        rows = [[k + 1, *(float(d[name][k]) for name in names)] for k in range(self.values.size)]
        notes = [
            f"modes {', '.join(map(str, group))} have the same eigenvalue"
            for group in self.repeated
        ]
        if not self.steady:
            notes.append("the linear equations change along the motion: these are of one instant")
        title = f"Modes of {self.mechanism!r}, {self.at}, t = {self.time:g} s"
        head = ["mode", "growth rate (1/s)", "frequency (Hz)", "damping ratio"]
        return Description(title, tables=[(head, rows)], notes=notes)
