"""Results of many runs of one mechanism with different parameter values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .result import Description, Result, Variable

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, repr=False)
class Ensemble(Result):
    """Objectives (and gradients, if requested) of every sample; NaN for samples that failed, whose
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
    """Sample → the error that it failed with."""
    seconds: dict[str, float]

    values = Variable("ψ by sample and objective.", "value")
    gradient = Variable(
        "dψ/dρ by sample, objective and parameter; where derivatives were computed."
    )
    _dims = ("sample", "objective")

    @property
    def info(self) -> dict[str, Any]:
        """Number of samples, number of failed ones, and seconds."""
        count, failed = len(self.value_array), len(self.failures)
        return {"samples": count, "failed": failed, "seconds": self.seconds}

    @cached_property
    def dataset(self) -> xr.Dataset:
        """Values, gradients and samples as one xarray Dataset."""
        import xarray as xr

        variables: dict[str, object] = {"value": (("sample", "objective"), self.value_array)}
        coords: dict[str, object] = {"objective": list(self.objective_names)}
        if self.gradient_array is not None:
            variables["gradient"] = (("sample", "objective", "parameter"), self.gradient_array)
            coords["parameter"] = list(self.parameter_names)
        coords |= {f"sample_{name}": ("sample", values) for name, values in self.samples.items()}
        return xr.Dataset(variables, coords=coords)

    def _described(self) -> Description:
        count, failed = len(self.value_array), len(self.failures)
        rate = count / max(self.seconds["run"], 1e-9)
        good = self.value_array[[k for k in range(count) if k not in self.failures]]
        rows = [
            [name, *(f(good[:, k]) for f in (np.min, np.mean, np.max))]
            for k, name in enumerate(self.objective_names)
        ]
        return Description(
            f"Ensemble of {count} runs, {failed} failed, {rate:.0f} runs/s",
            tables=[(["objective", "least", "mean", "largest"], rows)] if good.size else [],
        )
