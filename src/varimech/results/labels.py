"""Labels of outputs: along their dimensions, as curves, and on axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core.symbols import SX
from ..model.parameter import Parameter
from .saving import BEAM_PARTS, unit_of

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

COMPONENTS = ("x", "y", "z")
Wrt = Sequence[str | Parameter] | str | Parameter | None
"""Parameters to differentiate for: one, several, or "all"."""


def shape_of(expression: SX, dims: tuple[str, ...]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Shape and dimensions of an output; a scalar has none."""
    if len(dims) == 2:
        return expression.shape, dims
    single = expression.numel() == 1 and dims[:1] not in [(part,) for part in BEAM_PARTS]
    return ((), ()) if not dims or single else ((expression.numel(),), dims)


def curve_label(dim: str, label: object) -> str:
    """Label of a curve along a dimension."""
    return f"{dim} {label}" if dim in BEAM_PARTS else str(label)


def components(name: str, array: xr.DataArray) -> list[tuple[str, np.ndarray]]:
    """Curves over time of a labelled array, with their labels."""
    dims = [d for d in array.dims if d != "time"]
    curves = []
    for index in np.ndindex(*[array.sizes[d] for d in dims]):
        labels = [
            curve_label(str(d), array[d].to_numpy()[k])
            for d, k in zip(dims, index, strict=True)
            if d != "parameter"
        ]
        curve = array.isel(dict(zip(dims, index, strict=True)))
        if array.sizes.get("parameter", 1) > 1:
            labels.append(f"/ {derivative_label(curve)}")
        curves.append((" ".join([name, *labels]), curve.to_numpy()))
    return curves


def axis_label(kind: str, unit: str, arrays: Sequence[xr.DataArray]) -> str:
    """Label of an output with its unit; for several parameters, the curves carry the parameter
    names.
    """
    label = kind.replace("_", " ")
    if not arrays or "parameter" not in arrays[0].coords:
        return f"{label} ({unit})"
    if arrays[0]["parameter"].size > 1:
        return f"∂ {label} / ∂ parameter"
    one = arrays[0].isel(dict.fromkeys(arrays[0].dims, 0))
    return f"∂ {label} / {derivative_label(one)}"


def derivative_label(column: xr.DataArray) -> str:
    """Label of a derivative: its parameter, with the unit of the derivative."""
    unit = unit_of(column)
    return f"∂ {column['parameter'].item()}" + (f" ({unit})" if unit else "")


def with_units(dim: str, names: Sequence[str], units: Sequence[str]) -> dict[str, object]:
    """Coordinates along a dimension: names, and their units."""
    return {dim: list(names), f"{dim}_unit": (dim, list(units))}


def derivative_units(unit: str) -> dict[str, str]:
    """Attributes of a derivative with respect to parameters: its unit as readable text, and the
    unit of the output, from which `unit_of` computes the unit for one parameter.
    """
    return {"units": f"({unit}) per parameter unit", "output_unit": unit}


def along_time(time: np.ndarray) -> dict[str, object]:
    """Coordinates along time (s)."""
    return {"time": ("time", time, {"units": "s"})}


def labels_along(dim: str, count: int) -> list[object]:
    """Labels along a dimension."""
    if dim in BEAM_PARTS:
        return list(range(BEAM_PARTS[dim], BEAM_PARTS[dim] + count))
    return [*COMPONENTS[:count]] if count <= 3 else list(range(count))


def table_text(table: pd.DataFrame) -> str:
    """A table as text; every number has the same number of digits, even if it is small relative to
    others.
    """
    import pandas as pd

    with pd.option_context("display.float_format", "{: .7g}".format):
        return str(table)
