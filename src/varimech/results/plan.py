"""Contents of a drawing of a mechanism, by names of points: plain data that a saved run includes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from ..core.errors import ModelError
from ..core.markup import counted
from ..model.beam import Beam
from ..model.body import Body
from ..model.conditions import Axis
from ..model.joint import Joint
from ..model.model_data import ModelData
from ..plotting.mechanism_drawing import Slider


def point_aliases(model: ModelData) -> dict[str, str]:
    """Short names of points that refer to one place → the full name of one of them."""
    aliases = {}
    for name in set(model.short_names) - {"com"}:
        with suppress(ModelError):
            aliases[name] = model.find_point(name).label
    return aliases


def drawing_plan(model: ModelData) -> dict[str, object]:
    """Bodies, beams, springs and dampers as shapes through points; joints, centres of mass, all
    points of bodies that have more than two (`extents`), labels, and which points are fixed.

    `masses` are bodies without a length: their centre of mass and their points. The axis of a joint
    is given in the frame of a `body` (None: the ground). `places` names one representative for all
    points that joints put at the same place; `gravity` is the nominal one (m/s²); `counts` has the
    number of elements of each kind, `figures` the shapes on bodies beside their links, `surfaces`
    the surfaces that replace them, `efforts` the units of efforts, `states` those of states.
    """
    joints = [
        {
            "kind": j.kind,
            "symbol": j.symbol,
            "name": j.name,
            "points": [j.first.label, j.second.label],
            "ground": [b.is_ground for b in j.bodies],
            **_axis(model, j),
        }
        for j in model.joints.values()
    ]
    extents = {
        b.name: [p.label for name, p in model.points_of(b).items() if name != "com"]
        for b in model.moving_bodies
    }
    centres = [
        p.label
        for b in model.moving_bodies
        for name, p in model.points_of(b).items()
        if name == "com"
    ]
    return {
        "shapes": _shapes(model),
        "labels": {label: name for name, label in point_aliases(model).items()},
        "fixed": [p.label for p in model.points_of(model.ground).values()],
        "joints": joints,
        "centres": centres,
        "extents": {
            name: points
            for name, points in extents.items()
            if len(points) > 2 and not isinstance(model.bodies[name], Beam)
        },
        "masses": {
            b.name: [
                p.label for p in sorted(model.points_of(b).values(), key=lambda p: p.name != "com")
            ]
            for b in model.moving_bodies
            if len(b.spine) < 2
        },
        "states": {c.name: c.unit for c in model.own_coordinates if not c.is_slack},
        "signals": {
            name: unit for f in model.forces.values() for name, unit in f.signal_units().items()
        },
        "contacts": {
            label.name: point.label
            for force in model.forces.values()
            for label, point in zip(force.contact_labels(), force.contact_points(), strict=False)
        },
        "acting": [
            {"name": force.name, "point": point.label}
            for force in model.forces.values()
            for point in force.acts_at()
        ],
        "efforts": model.effort_units,
        "gravity": model.parameter_set.evaluate(model.gravity).ravel().tolist(),
        "figures": [
            figure.plain(model)
            for force in model.forces.values()
            for figure in force.figures(model)
        ],
        "surfaces": [drawn for body in model.moving_bodies for drawn in _surfaces(model, body)],
        "places": {p.label: model.place_of(p).label for p in model.all_points},
        "counts": element_counts(model),
    }


def _surfaces(model: ModelData, body: Body) -> list[dict[str, str]]:
    """Surfaces with which a body is shown, relative to one of its points."""
    if not body.surfaces:
        return []
    point = next(iter(model.points_of(body).values()))
    origin = np.append(model.parameter_set.evaluate(point.local).ravel(), 0.0)[:3]
    return [
        {"kind": "surface", "body": body.name, "point": point.label, **surface.plain(origin)}
        for surface in body.surfaces
    ]


def _shapes(model: ModelData) -> list[tuple[str, str, list[str]]]:
    """Bodies, beams and forces between two points: kind, name and points of each."""
    shapes = [
        (
            "beam" if isinstance(b, Beam) else "body",
            b.name,
            [model.points_of(b)[p].label for p in b.spine],
        )
        for b in model.moving_bodies
        if len(b.spine) > 1
    ]
    for force in model.forces.values():
        between, shape = force.span(), force.drawn_as()
        if between is not None and shape is not None:
            shapes.append((shape, force.name, [between.first.label, between.second.label]))
    return shapes


def element_counts(model: ModelData) -> dict[str, int]:
    """Number of elements of each kind, and of parameters."""
    return {
        "rigid bodies": len(model.moving_bodies) - len(model.beams),
        "beams": len(model.beams),
        "joints": len(model.joints),
        "forces": len(model.forces),
        "drivers": len(model.drivers),
        "parameters": len(model.parameter_set.parameters),
    }


def composition(dimension: int, counts: Mapping[str, int]) -> list[str]:
    """Text about the mechanism: planar or spatial, and the numbers of `element_counts`."""
    ones = {name: name.removesuffix("s") for name in counts} | {"rigid bodies": "rigid body"}
    numbers = [counted(n, ones[name], name) for name, n in counts.items() if n]
    return ["planar" if dimension == 2 else "spatial", *numbers]


def _axis(model: ModelData, joint: Joint) -> dict[str, object]:
    """The axis of a joint, in the frame of a rigid body."""
    for axis in joint.values.values():
        if isinstance(axis, Axis) and axis.body.is_rigid and joint.symbol != "fixed":
            direction = model.parameter_set.evaluate(axis.direction).ravel().tolist()
            return {"axis": direction, "body": None if axis.body.is_ground else axis.body.name}
    return {}


def sliders_of(plan: Mapping[str, Any], paths: Mapping[str, np.ndarray], row: int) -> list[Slider]:
    """Sliding joints as drawn at one of the stored times; those on the ground have a rail along
    their whole path.
    """
    size = 0.08 * float(np.ptp(np.concatenate(list(paths.values())), axis=0).max())
    sliders = []
    for joint in plan.get("joints", ()):
        if joint.get("symbol") != "slider":
            continue
        path = paths[point := joint["points"][1]]
        along = _rail(joint, path) if joint["ground"][0] else None
        if along is None:
            sliders.append(Slider(point, size, np.eye(path.shape[1])[0], None))
            continue
        gone = (path - path[row]) @ along
        sliders.append(
            Slider(point, size, along, (size - float(gone.min()), size + float(gone.max())))
        )
    return sliders


def _rail(joint: Mapping[str, Any], path: np.ndarray) -> np.ndarray | None:
    """Direction in which the point of a joint slides on the ground: the axis in the plan, or the
    direction of the path.
    """
    axis = joint.get("axis") if joint.get("body") is None else None
    farthest = path[np.linalg.norm(path - path[0], axis=1).argmax()]
    along = np.array(axis) if axis else farthest - path[0]
    length = float(np.linalg.norm(along))
    return along / length if length > 1e-12 else None
