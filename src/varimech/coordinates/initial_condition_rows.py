"""What is given at the start: all that the user says, and what beams know of themselves.

A beam keeps its shape, so it needs the values of a bar. What joints, or the user, have said already
is left out: a beam between two pins starts as far stretched as they are apart, and one between two
clamps has its direction from the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import casadi as ca
import numpy as np

from ..core.symbols import SX
from ..elements.clamp import Clamp
from ..model.beam import Beam
from ..model.beam_initial_conditions import DirectionCondition, held_nodes, placing, reference_pairs
from ..model.body import Body, Frames, Point
from ..model.initial_conditions import Hold, InitialConditionRow, OutputCondition, Start
from ..model.model_data import ModelData
from ..model.scalar_outputs import Coordinate, Distance, Slide
from .guess import guess_poses
from .poses import Pose

NEW = 1e-6
"""Sine of the angle by which a row of a Jacobian has to leave the span of others to say something
new.
"""


def start_holds(
    model: ModelData,
    frames: Frames,
    q: SX,
    constraints: Sequence[SX],
    t: SX,
    from_poses: Callable[[Mapping[Body, Pose]], np.ndarray],
) -> tuple[Hold, ...]:
    """All holds of a mechanism with these constraints; each says something that the others leave
    open, as far as beams are concerned.
    """
    start = model.start_conditions or Start()
    if not model.beams:
        return start.holds
    attached = _attached(model, start)
    shapes: list[Hold] = []
    doubtful: list[Hold] = []
    for beam in model.beams:
        free, touched = held_nodes(beam, [k for k, p in enumerate(beam.nodes) if p in attached])
        for p, q_ in reference_pairs(beam):
            measure = Distance(beam.nodes[p], beam.nodes[q_])
            doubtful.append(
                OutputCondition(f"length of {beam.name!r}", measure, beam.shape.chord(p, q_), SX(0))
            )
        shapes += free
        doubtful += touched
    for joint in model.joints.values():
        if isinstance(joint, Clamp):
            doubtful.append(
                DirectionCondition(
                    f"direction of {joint.name!r}",
                    joint.direction,
                    joint.second,
                    placing(joint.beam),
                )
            )
    rows = [InitialConditionRow(h, k) for h in doubtful for k in range(h.deviation(frames).numel())]
    given = ca.vertcat(SX(0, 1), *constraints, *[h.deviation(frames) for h in start.holds])
    everything = ca.vertcat(given, *[h.deviation(frames) for h in doubtful])
    place = from_poses(guess_poses(model, start, model.parameter_set.nominal))
    # which rows depend on each other is a matter of structure: any place tells it, but the
    # symmetric one that a guess may be
    somewhere = place + 1e-2 * (1 + np.abs(place).max(initial=0.0)) * np.random.default_rng(
        0
    ).standard_normal(place.size)
    jacobian = ca.Function("J", [q, model.parameter_set.vector, t], [ca.jacobian(everything, q)])(
        somewhere, model.parameter_set.nominal, 0.0
    )
    touched_columns = np.flatnonzero(np.diff(jacobian.sparsity().colind()))
    J = np.array(jacobian[:, touched_columns.tolist()])
    needed = _says_something_new(J[: given.numel()], J[given.numel() :])
    return (*start.holds, *shapes, *[row for row, new in zip(rows, needed, strict=True) if new])


def _attached(model: ModelData, start: Start) -> set[Point]:
    """Points that joints, drivers or the start place."""
    found = {p for j in model.joints.values() for p in (j.first, j.second)}
    measures = [d.output for d in model.drivers.values()] + [
        h.measure for h in start.holds if isinstance(h, OutputCondition)
    ]
    for measure in measures:
        if isinstance(measure, (Distance, Slide)):
            found |= {measure.first, measure.second}
        elif isinstance(measure, Coordinate):
            found.add(measure.point)
    return {p for p in found if isinstance(p.body, Beam)}


def _says_something_new(given: np.ndarray, candidates: np.ndarray) -> list[bool]:
    """For each row whether it leaves the span of the rows given, and of the candidates accepted
    before.
    """
    span = _orthonormal(given)
    found = []
    for row in candidates:
        rest = row - (span @ row) @ span
        rest -= (span @ rest) @ span  # once more, for what rounding left
        size = np.linalg.norm(rest)
        found.append(bool(size > NEW * np.linalg.norm(row)))
        if found[-1]:
            span = np.vstack([span, rest / size])
    return found


def _orthonormal(rows: np.ndarray) -> np.ndarray:
    """A basis of the span of some rows."""
    if not rows.size:
        return np.zeros((0, rows.shape[1]))
    _, strengths, directions = np.linalg.svd(rows, full_matrices=False)
    return directions[strengths > NEW * strengths[0]]
