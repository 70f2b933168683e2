"""A digest of the complete contents of a saved result, which detects on loading that a file was
damaged or changed.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

SEAL = "varimech_sha256"
"""Attribute, or key, that contains the digest in a file."""


def sealed(dataset: xr.Dataset) -> xr.Dataset:
    """Return the dataset with its digest among its attributes."""
    return dataset.assign_attrs({SEAL: digest(dataset)})


def is_intact(dataset: xr.Dataset) -> bool:
    """Whether a dataset is unchanged since it was sealed."""
    return dataset.attrs.get(SEAL) == digest(dataset)


def digest(dataset: xr.Dataset) -> str:
    """Digest of names, dimensions, attributes and values, which a file preserves; how they are
    stored does not matter.
    """
    total = hashlib.sha256()
    total.update(
        repr(sorted((str(k), str(v)) for k, v in dataset.attrs.items() if k != SEAL)).encode(
            "utf-8", "surrogatepass"
        )
    )
    for name in sorted(map(str, dataset.variables)):
        variable = dataset.variables[name]
        about = (
            name,
            variable.dims,
            variable.shape,
            sorted((str(k), str(v)) for k, v in variable.attrs.items()),
        )
        total.update(repr(about).encode("utf-8", "surrogatepass"))
        values = np.asarray(variable.values)
        if values.dtype.kind in "fiub":
            total.update(np.ascontiguousarray(values, dtype="<f8").tobytes())
        else:
            total.update(
                repr([*map(str, values.ravel().tolist())]).encode("utf-8", "surrogatepass")
            )
    return total.hexdigest()


def data_digest(data: object) -> str:
    """Digest of plain JSON data."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
