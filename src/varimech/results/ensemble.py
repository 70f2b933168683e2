"""The outcome of many runs of one mechanism with different parameter values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.markup import Displayed, html_heading, html_table
from .saving import save_dataset

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class Ensemble(Displayed):
    """Objectives (and gradients, if asked for) of every sample; NaN for samples that failed, whose
    errors are in `failures`.
    """

    objective_names: tuple[str, ...]
    parameter_names: tuple[str, ...]
    samples: dict[str, np.ndarray]
    """Values of the parameters that differ between samples."""
    value_array: np.ndarray
    """(sample, objective)"""
    gradient_array: np.ndarray | None
    """(sample, objective, parameter)"""
    failures: Mapping[int, Exception]
    """Sample → why it failed."""
    seconds: dict[str, float]

    @property
    def dataset(self) -> xr.Dataset:
        """Values, gradients and samples as one xarray Dataset."""
        import xarray as xr

        variables: dict[str, Any] = {"value": (("sample", "objective"), self.value_array)}
        if self.gradient_array is not None:
            variables["gradient"] = (("sample", "objective", "parameter"), self.gradient_array)
        coords: dict[str, Any] = {"objective": list(self.objective_names)}
        if self.gradient_array is not None:
            coords["parameter"] = list(self.parameter_names)
        coords |= {f"sample_{name}": ("sample", values) for name, values in self.samples.items()}
        return xr.Dataset(variables, coords=coords)

    @property
    def values(self) -> xr.DataArray:
        """ψ by sample and objective."""
        return self.dataset["value"]

    @property
    def gradient(self) -> xr.DataArray:
        """dψ/dρ by sample, objective and parameter; only where derivatives were asked for."""
        return self.dataset["gradient"]

    def save(self, path: str | Path) -> Path:
        """Write samples, values and gradients to a file, by the ending of its name: .nc (netCDF),
        .csv (a row a sample) or .mat (MATLAB).
        """
        return save_dataset(self.dataset, path, rows="sample")

    def _display(self) -> str:
        good = self.value_array[[k for k in range(len(self.value_array)) if k not in self.failures]]
        rows = (
            [
                [n, *(f(good[:, k]) for f in (np.min, np.mean, np.max))]
                for k, n in enumerate(self.objective_names)
            ]
            if good.size
            else []
        )
        return html_heading(repr(self).strip("<>")) + html_table(
            ["objective", "least", "mean", "largest"], rows
        )

    def __repr__(self) -> str:
        count = self.value_array.shape[0]
        rate = count / max(self.seconds["run"], 1e-9)
        return f"<Ensemble of {count} runs, {len(self.failures)} failed, {rate:.0f} runs/s>"
