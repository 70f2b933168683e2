"""Eigenvalues over a parameter, and values at which they satisfy a condition: the common base of
root loci and Campbell diagrams.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .labels import with_units
from .result import Result

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class Branches:
    """Eigenvalues over values of a parameter, each branch in its own column."""

    values: np.ndarray
    eigenvalues: np.ndarray
    """(value, branch)"""
    derivatives: np.ndarray
    """(value, branch, parameter), the parameter of the branches first; NaN where branches meet."""
    jumps: tuple[int, ...] = ()
    """Rows at which another motion begins (for example another equilibrium): branches do not
    continue across them.
    """

    def broken(self, curve: np.ndarray) -> np.ndarray:
        """Numbers at all values, (value, …), with NaN before each jump, so that plotted curves end
        there.
        """
        return np.insert(curve, self.jumps, np.nan, axis=0)

    def joins(self, first: int, last: int) -> bool:
        """Whether branches continue from one row to another."""
        return not any(first < row <= last for row in self.jumps)


@dataclass(frozen=True)
class Crossing:
    """A value at which a branch satisfies a condition."""

    value: float
    branch: int
    eigenvalue: complex
    slope: float
    """Derivative dF/dv of the condition F with respect to the value."""
    derivatives: np.ndarray
    """Derivatives of the value with respect to the further parameters; NaN where the branch only
    touches the condition.
    """


@dataclass(frozen=True, eq=False, repr=False)
class EigenvalueCurves(Result):
    """Continuous branches of eigenvalues over values of a parameter."""

    mechanism: str
    at: str
    parameter: str
    """Name of the parameter that is varied."""
    unit: str
    parameter_names: tuple[str, ...]
    """Parameters of the derivatives: the varied parameter itself, then further ones."""
    parameter_units: tuple[str, ...]
    branches: Branches
    neutral: int
    """Number of neutral motions, which are left out: their eigenvalue is zero everywhere."""
    steady: bool
    """Whether the linear equations are constant along the motions, so that modes are meaningful."""

    _dims = ("value", "branch")

    @property
    def info(self) -> dict[str, Any]:
        """Mechanism, place, parameter and number of neutral motions."""
        return {
            "mechanism": self.mechanism,
            "at": self.at,
            "parameter": self.parameter,
            "neutral": self.neutral,
            "steady": self.steady,
        }

    @property
    def values(self) -> np.ndarray:
        """Values of the parameter."""
        return self.branches.values

    @property
    def axis(self) -> str:
        """Label of the parameter on axes, with its unit."""
        return f"{self.parameter} ({self.unit})" if self.unit else self.parameter

    def _coords(self, kept: np.ndarray) -> dict[str, Any]:
        return {
            "value": ("value", self.values, {"units": self.unit, "parameter": self.parameter}),
            "branch": kept + 1,
            **with_units("parameter", self.parameter_names, self.parameter_units),
        }

    def _curves(self, kept: np.ndarray) -> dict[str, Any]:
        """Growth rates and frequencies of some branches, and their derivatives."""
        λ, λ_ = self.branches.eigenvalues[:, kept], self.branches.derivatives[:, kept]
        dims, turn = ("value", "branch"), 2 * np.pi
        return {
            "growth_rate": (dims, λ.real, {"units": "1/s"}),
            "frequency": (dims, λ.imag / turn, {"units": "Hz"}),
            "growth_rate_derivative": ((*dims, "parameter"), λ_.real),
            "frequency_derivative": ((*dims, "parameter"), λ_.imag / turn),
        }

    def _crossing_variables(self, name: str, places: tuple[Crossing, ...]) -> dict[str, Any]:
        """Values at which branches satisfy a condition. The derivatives with respect to the varied
        parameter, which takes these values, are zero.
        """
        sensitivities = [np.concatenate([[0.0], c.derivatives]) for c in places]
        shape = len(places), len(self.parameter_names)
        return {
            f"{name}_value": (name, np.array([c.value for c in places]), {"units": self.unit}),
            f"{name}_frequency": (
                name,
                np.array([c.eigenvalue.imag for c in places]) / (2 * np.pi),
                {"units": "Hz"},
            ),
            f"{name}_branch": (name, np.array([c.branch + 1 for c in places], dtype=int)),
            f"{name}_derivative": ((name, "parameter"), np.array(sensitivities).reshape(shape)),
        }

    @property
    def _notes(self) -> list[str]:
        notes = []
        if self.neutral:
            notes.append(f"{self.neutral} neutral motions (eigenvalue zero everywhere) left out")
        for row in self.branches.jumps:
            a, b = self.values[row - 1], self.values[row]
            notes.append(
                f"between {self.parameter} = {a:g} and {b:g} the {self.at} becomes another one: its"
                " eigenvalues do not continue those before"
            )
        if not self.steady:
            notes.append(
                "the linear equations change along the motion: these hold at one instant only"
            )
        return notes

    @property
    def eigenvalues(self) -> xr.DataArray:
        """λ (value, branch), complex, 1/s; conjugates are on separate branches."""
        import xarray as xr

        λ = self.branches.eigenvalues
        coords = {
            "value": ("value", self.values, {"units": self.unit}),
            "branch": np.arange(1, λ.shape[1] + 1),
        }
        return xr.DataArray(λ, coords=coords, dims=("value", "branch"))
