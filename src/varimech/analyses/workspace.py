"""Workspace: validation of ranges of drivers, and the labelled result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import ModelError
from ..model.kinematic_driver import find_input
from ..results.labels import Wrt
from ..results.workspace import Boundary, Workspace
from ..solving.covered_area import CoveredArea
from ..solving.kinematics import Kinematics as KinematicSolver
from ..solving.reachable_grid import ReachableGrid
from ..solving.workspace_boundary import OPEN, Piece, PointMap, WorkspaceBoundary
from .kinematics import Inputs, read_inputs
from .simulation import Values
from .solvers import ModelSolvers

if TYPE_CHECKING:
    from ..model.model_data import ModelData

COUNTS = {2: 25, 3: 11}
"""Default values of each driver by the number of drivers: a second or two of run time for either.
"""
CLOSED = 1e-6
"""Largest gap of a closed boundary over its size."""
BENT = 0.5
"""Largest distance of the middle of a piece from that of its chord, over the chord: that of a half
circle.
"""
LONG = 0.5
"""Longest chord of a piece over the size of the workspace."""


def read_ranges(data: ModelData, ranges: object, count: object) -> Inputs:
    """Read drivers with the values of a grid.

    Raises:
        ModelError: for unknown drivers, too few or too many of them, and invalid ranges.
    """
    if not isinstance(ranges, Mapping) or len(ranges) not in COUNTS:
        raise ModelError(
            "must be {driver: (start, stop)} of two or three drivers",
            element="workspace",
            field="ranges",
            value=ranges,
            remedy="with one driver, use kinematics and its path",
        )
    if count is None:
        count = COUNTS[len(ranges)]
    if isinstance(count, bool) or not isinstance(count, Integral) or count < 3:
        raise ModelError(
            "must be a whole number, 3 or more", element="workspace", field="count", value=count
        )
    grid_values = {}
    for driver, span in ranges.items():
        name, _ = find_input(data, driver)
        label = f"workspace: range of driver {name!r}"
        if isinstance(span, str) or not isinstance(span, Sequence) or len(span) not in (2, 3):
            raise ModelError(
                "must be (start, stop) or (start, stop, count)", element=label, value=span
            )
        number = span[2] if len(span) == 3 else int(count)
        grid_values[driver] = (span[0], span[1], number)
        if isinstance(number, bool) or not isinstance(number, Integral) or number < 3:
            raise ModelError(
                "must be a whole number, 3 or more", element=label, field="count", value=number
            )
    inputs = read_inputs(data, grid_values, None, "workspace")
    for name, values in inputs.values.items():
        if not values[0] < values[-1]:
            raise ModelError(
                f"must increase, and goes from {values[0]:.6g} to {values[-1]:.6g}",
                element=f"workspace: range of driver {name!r}",
            )
    return inputs


def workspace(
    solvers: ModelSolvers,
    point: str,
    ranges: object,
    count: int | None,
    wrt: Wrt,
    parameters: Values | None,
) -> Workspace:
    """Compute all positions of a point over ranges of drivers, with their boundary.

    Raises:
        ModelError: for invalid input.
        VarimechError: if no values in the ranges are reached.
    """
    data = solvers.data
    label = data.find_point(point).label
    inputs = read_ranges(data, ranges, count)
    ρ = data.parameter_set.values(parameters)
    indices = [] if wrt is None else solvers.indices(wrt)
    solver = KinematicSolver(data.frozen(), inputs.outputs)
    axes = list(inputs.values.values())
    grid = ReachableGrid(solver, axes, ρ)
    at = PointMap(grid, point)
    reached, r, J, r_ = _on_nodes(grid, at, indices)
    boundary = None
    if data.dimension == 2 and len(axes) == 2:
        boundary = _bounded(WorkspaceBoundary(grid, at), at, indices)
    all_parameters = list(data.parameter_set.parameters.values())
    names = [p.name for p in all_parameters]
    return Workspace(
        mechanism=data.name,
        point=label,
        drivers=tuple(inputs.outputs),
        driver_units=tuple(o.unit for o in inputs.outputs.values()),
        axes=tuple(axes),
        reached_array=reached,
        positions=r,
        jacobians=J,
        parameter_names=tuple(names[k] for k in indices),
        parameter_units=tuple(all_parameters[k].unit for k in indices),
        derivatives=r_ if indices else None,
        parameters=dict(zip(names, ρ.tolist(), strict=False)),
        steps=grid.steps,
        bounds=boundary,
    )


def _on_nodes(
    grid: ReachableGrid, at: PointMap, indices: list[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return reached nodes, and r, J and r' at all nodes; NaN where they are out of reach."""
    n, d = grid.solver.model.dimension, len(grid.axes)
    reached = np.zeros(grid.shape, bool)
    r, J = np.full((*grid.shape, n), np.nan), np.full((*grid.shape, n, d), np.nan)
    r_ = np.full((*grid.shape, n, len(indices)), np.nan)
    for node, position in grid.nodes.items():
        reached[node] = True
        r[node], J[node] = at.place(position.q, position.u), at.jacobian(position)
        if indices:
            r_[node] = at.position_derivatives(position, indices)
    flat = reached.size
    return (
        reached.ravel(),
        r.reshape(flat, n),
        J.reshape(flat, n, d),
        r_.reshape(flat, n, len(indices)),
    )


def _bounded(curves: WorkspaceBoundary, at: PointMap, indices: list[int]) -> Boundary:
    """Compute boundary and area of the workspace."""
    pieces = curves.pieces
    points = np.array([[v.r for v in piece.vertices] for piece in pieces])
    covered = CoveredArea(points, np.array([piece.jump for piece in pieces]))
    parts = [(part, pieces[k].source) for k in covered.boundary for part in covered.cut(int(k))]
    derivatives = np.zeros(len(indices))
    unresolved = _unresolved(pieces, points, covered.gap) or _outside(curves, covered)
    if indices and not unresolved:
        changes = np.array([at.across(piece, indices) for piece in pieces])
        derivatives = covered.area_derivatives(changes)
    return Boundary(
        covered.area,
        derivatives,
        np.array([part for part, _ in parts]).reshape(-1, 3, 2),
        tuple(source for _, source in parts),
        unresolved,
    )


def _unresolved(pieces: list[Piece], points: np.ndarray, gap: float) -> str:
    """Return why curves do not bound a region; empty if they do."""
    size = float(np.ptp(points.reshape(-1, 2), axis=0).max())
    chords = np.linalg.norm(points[:, 2] - points[:, 0], axis=1)
    off = np.linalg.norm(points[:, 1] - (points[:, 0] + points[:, 2]) / 2, axis=1)
    bad = (off > BENT * chords + CLOSED * size) | (chords > LONG * size)
    bad |= np.array([piece.kind == OPEN for piece in pieces])
    if bad.any():
        k = int(bad.argmax())
        x, y = pieces[k].vertices[0].u, pieces[k].vertices[2].u
        return (
            f"the boundary ({pieces[k].source}) jumps by {chords[k]:.3g} m between the values"
            f" {_listed(x)} and {_listed(y)} of the drivers"
        )
    return "" if gap <= CLOSED * size else f"the boundary misses {gap:.3g} m from being closed"


def _outside(curves: WorkspaceBoundary, covered: CoveredArea) -> str:
    """Describe a reached position beyond the boundary; empty if there is none. Curves that break up
    between nodes may close elsewhere, which no gap reveals.
    """
    inner = curves.inner_vertices()
    if not inner:
        return ""
    counts = covered.count(np.array([vertex.r for vertex in inner]))
    if (counts > 0).all():
        return ""
    vertex = inner[int(counts.argmin())]
    return f"the values {_listed(vertex.u)} of the drivers are reached, and outside of the boundary"


def _listed(u: np.ndarray) -> str:
    return "(" + ", ".join(f"{x:.6g}" for x in u) + ")"
