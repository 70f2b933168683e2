"""Results as files: netCDF (.nc), tables (.csv), MATLAB (.mat) and JSON, selected by the file name
extension.

A table has one row for each time (or sample, or objective) and one column for each number, with its
unit in the heading. A MATLAB file has one struct for each variable, with a field for each object:
`position.rod_tip` is (time × component); `names` maps fields to names.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.atomic_files import atomic_write, write_text
from ..core.errors import ModelError, unknown_name
from .seal import SEAL, data_digest, is_intact, sealed

if TYPE_CHECKING:
    import xarray as xr

ENDINGS = (".nc", ".csv", ".mat")
LONGEST = 63
"""Largest length of a name in MATLAB."""

BEAM_PARTS = {"segment": 0, "node": 1}
"""Dimensions along beams, with the first index; nodes are those between the ends."""


def save_dataset(
    dataset: xr.Dataset,
    path: str | Path,
    *,
    only: Sequence[str] | str | None = None,
    rows: str = "time",
) -> Path:
    """Write a dataset, or only some of its variables; `rows` is the dimension along which table
    rows run.

    Raises:
        ModelError: for another extension, an unknown variable, or data that cannot be written.
    """
    path = Path(path)
    if path.suffix not in ENDINGS:
        problem = f"must end with {', '.join(ENDINGS)} or .json"
        remedy = "the ending chooses the format"
        raise ModelError(problem, element="save", field="path", value=str(path), remedy=remedy)
    if only is not None:
        names = [only] if isinstance(only, str) else list(only)
        for name in names:
            if name not in dataset:
                raise unknown_name("variable of this result", name, map(str, dataset.data_vars))
        dataset = dataset[names]
    with atomic_write(path) as beside:
        if path.suffix == ".csv":
            _write_csv(dataset, beside, rows)
        elif path.suffix == ".mat":
            _write_mat(dataset, beside, rows)
        else:  # to memory first: HDF5 itself breaks down where a disk is full
            beside.write_bytes(sealed(dataset).to_netcdf(engine="h5netcdf"))
    return path


def load_dataset(path: Path, kind: str) -> tuple[xr.Dataset, dict[str, object]]:
    """Read a netCDF file of a saved result of a kind: its dataset and metadata.

    Raises:
        ModelError: if the file does not exist, was damaged or changed, or contains something else.
    """
    import xarray as xr

    _check_exists(path)
    try:
        dataset = xr.load_dataset(path, engine="h5netcdf")
        info, intact = json.loads(dataset.attrs.get("varimech", "null")), is_intact(dataset)
    except Exception as error:  # HDF5 raises many kinds of errors for a damaged file
        raise _not_saved(path, kind, f", or it is damaged: {error}") from None
    if not isinstance(info, dict):
        raise _not_saved(path, kind, ": it has no 'varimech' attribute")
    if not intact:
        remedy = "save it again, or read what is there with xarray.load_dataset"
        raise _not_saved(path, kind, " as it was written: it was changed, or damaged", remedy)
    # version 0.1 did not store the kind of runs
    _check_kind(path, kind, dataset.attrs.get("result", "Run"))
    own = {key: v for key, v in dataset.attrs.items() if key not in ("result", "varimech", SEAL)}
    return dataset.drop_attrs(deep=False).assign_attrs(own), info


def dataset_of(data: dict[str, Any], path: Path, kind: str) -> tuple[xr.Dataset, dict[str, object]]:
    """Rebuild dataset and metadata from the data of `Result.to_json`, with the text.

    Raises:
        ModelError: for another kind of result, or none.
    """
    import xarray as xr

    _check_kind(path, kind, data.get("result"))
    try:
        for each in (*data["coords"].values(), *data["data_vars"].values()):
            each["data"] = restored_array(each["data"])
        dataset = xr.Dataset.from_dict(data)
        return dataset, {**data["info"], "text": data["text"]}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _not_saved(path, kind, f": {error!r}") from None


def restored_array(value: object) -> np.ndarray:
    """Rebuild an array from the output of `plain`: among numbers, null is NaN and "inf" infinite."""
    entries = np.array(value, dtype=object).ravel().tolist()
    infinite = [x in ("inf", "-inf") for x in entries]
    texts = any(isinstance(x, str) and not i for x, i in zip(entries, infinite, strict=True))
    return np.array(
        value, dtype=float if not texts and (None in entries or any(infinite)) else None
    )


def save_json(data: dict[str, object], path: Path) -> Path:
    """Write plain data with their digest."""
    text = json.dumps({**data, SEAL: data_digest(data)}, indent=1, ensure_ascii=False)
    write_text(path, text)
    return path


def load_json(path: Path, kind: str) -> dict[str, object]:
    """Read plain data that `save_json` wrote.

    Raises:
        ModelError: if the file does not exist, or was changed.
    """
    _check_exists(path)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data.pop(SEAL) != data_digest(data):
            raise ValueError("it was changed after it was saved")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError) as error:
        raise _not_saved(path, kind, f": {error!r}") from None
    return dict(data)


def _not_saved(path: Path, kind: str, why: str, remedy: str = "") -> ModelError:
    problem = f"is not a saved {kind.lower()}{why}"
    return ModelError(f"file {str(path)!r} {problem}", value=str(path), remedy=remedy)


def _check_kind(path: Path, kind: str, other: object) -> None:
    if other != kind:
        raise _not_saved(path, kind, f": the kind of result in it is {other}")


def _check_exists(path: Path) -> None:
    if path.is_dir():
        problem = f"{str(path)!r} is a folder"
        raise ModelError(problem, value=str(path), remedy="name the file in it")
    if not path.is_file():
        raise ModelError(f"there is no file {str(path)!r}", value=str(path))


def plain(value: object) -> Any:
    """Convert a value to lists, mappings, texts and numbers as in JSON; NaN becomes None,
    infinities their names.
    """
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if is_dataclass(value) and not isinstance(value, type):
        return plain({f.name: getattr(value, f.name) for f in fields(value)})
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def _write_csv(dataset: xr.Dataset, path: Path, rows: str) -> None:
    import pandas as pd

    unit = dataset[rows].attrs.get("units", "")
    columns = {f"{rows} ({unit})" if unit else rows: _along(dataset, rows)}
    for name, coordinate in dataset.coords.items():
        if coordinate.dims == (rows,) and name != rows:
            columns[str(name)] = coordinate.to_numpy()
    for name, array in dataset.data_vars.items():
        if rows in array.dims:
            for labels, unit, numbers in _columns(array, rows):
                title = " ".join([str(name), *labels])
                columns[f"{title} ({unit})" if unit else title] = numbers
    pd.DataFrame(columns).to_csv(path, index=False)


def _along(dataset: xr.Dataset, rows: str) -> np.ndarray:
    return dataset[rows].to_numpy() if rows in dataset.coords else np.arange(dataset.sizes[rows])


def _columns(array: xr.DataArray, rows: str) -> Iterator[tuple[list[str], str, np.ndarray]]:
    """Labels, unit and numbers of each column; empty columns of beams with fewer segments than
    others are omitted.
    """
    rest = [d for d in array.dims if d != rows]
    ragged = any(d in BEAM_PARTS for d in rest)
    for index in np.ndindex(*[array.sizes[d] for d in rest]):
        column = array.isel(dict(zip(rest, index, strict=True)))
        numbers = column.to_numpy()
        if ragged and not np.isfinite(numbers).any():
            continue
        yield (
            [
                str(column[d].item()) if d in column.coords else str(k)
                for d, k in zip(rest, index, strict=True)
            ],
            unit_of(column),
            numbers,
        )


def unit_of(column: xr.DataArray) -> str:
    """Unit of a column; for an objective or derivative, the unit of each."""
    of_an_objective = "objective_unit" in column.coords and not column["objective_unit"].ndim
    units = column.attrs.get("units", "objective_unit" if of_an_objective else "")
    unit = str(column.attrs.get("output_unit", units))
    if of_an_objective:
        unit = unit.replace("objective_unit", str(column["objective_unit"].item()))
    # in a table with a row for each parameter, units are a column of their own
    single = "parameter_unit" in column.coords and column["parameter_unit"].ndim == 0
    per = str(column["parameter_unit"].item()) if single else ""
    if not unit or not per:
        return unit
    return "/".join(f"({x})" if set(x) & set(" /·") else x for x in (unit, per))


def _write_mat(dataset: xr.Dataset, path: Path, rows: str) -> None:
    from scipy.io import savemat

    content: dict[str, Any] = {}
    names: dict[str, dict[str, str]] = {}
    units: dict[str, str] = {}
    for name, array in dataset.data_vars.items():
        key, dimensions = _valid(str(name), content), [str(d) for d in array.dims if d != rows]
        units[key] = str(array.attrs.get("units", ""))
        if not dimensions or rows not in array.dims:
            content[key] = array.to_numpy()
            continue
        of = "objective" if "objective" in dimensions else dimensions[0]
        content[key], names[key] = {}, {}
        for label in array[of].to_numpy().tolist():
            field = _valid(str(label), content[key])
            content[key][field] = array.sel({of: label}).transpose(rows, ...).to_numpy()
            names[key][field] = str(label)
    for name, coordinate in dataset.coords.items():
        values = coordinate.to_numpy()
        text = values.dtype.kind in "OUST"
        content[_valid(str(name), content)] = (
            np.array([*map(str, values.tolist())], dtype=object) if text else values
        )
    content |= {_valid("names", content): names, _valid("units", content): units}
    content |= {_valid(str(k), content): str(v) for k, v in dataset.attrs.items()}
    savemat(path, content, long_field_names=True, oned_as="column")


def _valid(name: str, taken: Any) -> str:
    """A unique name that MATLAB accepts: letters (Greek ones by their names), digits and
    underscores, starting with a letter.
    """
    latin = "".join(
        (
            unicodedata.name(c).split()[-1].lower()
            if unicodedata.name(c, "").startswith("GREEK")
            else c
        )
        for c in name
    )
    name = re.sub(r"\W", "_", latin, flags=re.ASCII)
    name = (name if name[:1].isalpha() else f"x{name}")[:LONGEST]
    count = 1
    while name in taken:
        count += 1
        name = f"{name[: LONGEST - 4].removesuffix(f'_{count - 1}')}_{count}"
    return name
