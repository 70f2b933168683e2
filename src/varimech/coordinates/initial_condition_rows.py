"""All initial conditions of a model: those of the user, and those that keep beams undeformed.

An undeformed beam needs as many initial values as a bar. Conditions that joints, or the user, have
stated already are left out: a beam between two pins is initially stretched to their distance, and
one between two clamps takes its direction from the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import casadi as ca
import numpy as np

from ..core.symbols import SX
from ..model.beam import Beam
from ..model.beam_initial_conditions import node_conditions, reference_pairs
from ..model.body import Body, Frames, Point
from ..model.initial_conditions import InitialCondition, InitialConditionRow, OutputCondition, Start
from ..model.model_data import ModelData
from ..model.scalar_outputs import Distance
from .guess import Pose, guess_poses

NEW = 1e-6
"""Least sine of the angle between a row of a Jacobian and the span of others above which it counts
as independent: far above rounding, far below the angles between rows of different meaning.
"""


def initial_conditions_of(
    model: ModelData,
    frames: Frames,
    q: SX,
    constraints: Sequence[SX],
    t: SX,
    from_poses: Callable[[Mapping[Body, Pose]], np.ndarray],
) -> tuple[InitialCondition, ...]:
    """Return all initial conditions of a mechanism with these constraints; those of beams are
    independent of all others.
    """
    start = model.start_conditions or Start()
    if not model.beams:
        return start.conditions
    attached = _attached(model, start)
    shapes: list[InitialCondition] = []
    doubtful: list[InitialCondition] = []
    for beam in model.beams:
        free, touched = node_conditions(
            beam, [k for k, p in enumerate(beam.nodes) if p in attached]
        )
        for p, q_ in reference_pairs(beam):
            length, label = beam.shape.chord(p, q_), f"length of {beam.name!r}"
            between = Distance(beam.nodes[p], beam.nodes[q_])
            doubtful.append(OutputCondition(label, between, length, SX(0)))
        shapes += free
        doubtful += touched
    directions = (joint.initial_direction() for joint in model.joints.values())
    doubtful += [direction for direction in directions if direction is not None]
    rows = [
        InitialConditionRow(c.label, c, k)
        for c in doubtful
        for k in range(c.deviation(frames).numel())
    ]
    imposed = ca.vertcat(SX(0, 1), *constraints, *[c.deviation(frames) for c in start.conditions])
    everything = ca.vertcat(imposed, *[c.deviation(frames) for c in doubtful])
    place = from_poses(guess_poses(model, start, model.parameter_set.nominal))
    # dependence of rows is structural: any position shows it except a symmetric one, as a guess may
    # be; 1 % of the size is off any symmetry and far from other configurations
    away = 1e-2 * (1 + np.abs(place).max(initial=0.0))
    somewhere = place + away * np.random.default_rng(0).standard_normal(place.size)
    jacobian = ca.Function("J", [q, model.parameter_set.vector, t], [ca.jacobian(everything, q)])(
        somewhere, model.parameter_set.nominal, 0.0
    )
    touched_columns = np.flatnonzero(np.diff(jacobian.sparsity().colind()))
    J = np.array(jacobian[:, touched_columns.tolist()])
    needed = _independent_rows(J[: imposed.numel()], J[imposed.numel() :])
    return (
        *start.conditions,
        *shapes,
        *[row for row, new in zip(rows, needed, strict=True) if new],
    )


def _attached(model: ModelData, start: Start) -> set[Point]:
    """Return the points of beams that joints, drivers or initial conditions place."""
    points = {p for j in model.joints.values() for p in (j.first, j.second)}
    outputs = [d.output for d in model.drivers.values()] + [
        c.output for c in start.conditions if isinstance(c, OutputCondition)
    ]
    points.update(p for output in outputs for p in output.points)
    return {p for p in points if isinstance(p.body, Beam)}


def _independent_rows(imposed: np.ndarray, candidates: np.ndarray) -> list[bool]:
    """Return for each row whether it is independent of the given rows, and of the candidates
    accepted before.
    """
    span = _orthonormal(imposed)
    independent = []
    for row in candidates:
        rest = row - (span @ row) @ span
        rest -= (span @ rest) @ span  # reorthogonalise, for the remaining rounding
        size = np.linalg.norm(rest)
        independent.append(bool(size > NEW * np.linalg.norm(row)))
        if independent[-1]:
            span = np.vstack([span, rest / size])
    return independent


def _orthonormal(rows: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of the span of rows."""
    if not rows.size:
        return np.zeros((0, rows.shape[1]))
    _, strengths, directions = np.linalg.svd(rows, full_matrices=False)
    return directions[strengths > NEW * strengths[0]]
