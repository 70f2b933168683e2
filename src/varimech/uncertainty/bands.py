"""Bands about a mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.errors import ModelError, check_numbers

if TYPE_CHECKING:
    import xarray as xr


def bands_about(mean: xr.DataArray, std: xr.DataArray, sigmas: float) -> xr.Dataset:
    """The mean less and plus so many standard deviations: `lower` and `upper`."""
    import xarray as xr

    check_numbers("bands", sigmas=sigmas)
    if not sigmas > 0:
        raise ModelError(f"bands: sigmas = {sigmas!r} must be positive")
    return xr.Dataset({"lower": mean - sigmas * std, "upper": mean + sigmas * std})
