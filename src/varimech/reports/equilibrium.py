"""Report section on an equilibrium: positions and loads, and their derivatives with respect to
parameters.
"""

from __future__ import annotations

import numpy as np

from ..results.catalog import ENERGIES, OUTPUTS
from ..results.run import Run
from .provenance import parameter_units
from .tables import folded, note, section, table

SHOWN = (
    "angle",
    "displacement",
    "reaction",
    "reaction_torque",
    "effort",
    "axial_force",
    "bending_moment",
)
"""Outputs of an equilibrium, besides energies and positions."""
VALUE = 3
"""Index of the value column in these tables."""
ROUNDING = 1e-12
"""Numbers below this share of the largest of their kind are shown as zero: rounding."""


def rest_section(run: Run) -> str:
    """Tables of positions, angles, reactions and energies, with derivatives if available."""
    names = {
        kind: list(ENERGIES) if kind == "energy" else run.names_of(OUTPUTS[kind].of)
        for kind in (*SHOWN, "energy")
    }
    rows = [row for kind, of in names.items() for row in _of_a_kind(run, kind, of)]
    points = _of_a_kind(run, "position", list(run.drawing_plan["labels"].values()))
    units = parameter_units(run)
    head = [
        "output",
        "of",
        "",
        "value",
        "unit",
        *[f"∂/∂{n} (per {units.get(n) or '1'})" for n in run.parameter_names],
    ]
    folds = [folded("positions of points", table(head, points))] if points else []
    return section("rest", "At rest", note(run.redundant_reactions), table(head, rows), *folds)


def _of_a_kind(run: Run, kind: str, names: list[str]) -> list[list[object]]:
    """Rows of all outputs of a kind, with rounding errors set to zero; none if all are zero."""
    rows = [row for name in names for row in _rows(run, kind, name)]
    numbers = np.array([[row[VALUE], *row[VALUE + 2 :]] for row in rows]).reshape(
        len(rows), 1 + len(run.parameter_names)
    )
    numbers[np.abs(numbers) < ROUNDING * np.abs(numbers).max(axis=0, initial=0.0)] = 0.0
    kept = [
        [*row[:VALUE], x[0].item(), row[VALUE + 1], *x[1:].tolist()]
        for row, x in zip(rows, numbers, strict=True)
    ]
    return kept if numbers.any() else []


def _rows(run: Run, kind: str, name: str) -> list[list[object]]:
    """Rows of one output, one for each component."""
    array = getattr(run, kind)(name).isel(time=0)
    values = np.atleast_1d(array.to_numpy())
    derivatives = np.zeros((values.size, 0))
    if run.parameter_names:
        derivatives = (
            getattr(run, kind)(name, wrt="all")
            .isel(time=0)
            .transpose(..., "parameter")
            .to_numpy()
            .reshape(values.size, -1)
        )
    components = [str(x) for x in array[array.dims[0]].to_numpy()] if array.dims else [""]
    return [
        [
            kind.replace("_", " "),
            name,
            component,
            value.item(),
            run.unit_of(kind, [name]),
            *derivative.tolist(),
        ]
        for component, value, derivative in zip(components, values, derivatives, strict=True)
    ]
