"""What the animation draws: places of points over time, what goes through them, and how they change
with parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..plotting.figure import COLOURS
from ..results.run import Run
from .encoding import floats, thinned
from .frames import Frames, frames_of, stacked

MOST_NUMBERS = 200_000
"""Coordinates and velocities of all points at all frames; derivatives get as many."""
MOST_LOOKED_AT = 2_000_000
"""Places of points that are looked at to tell whether stored times are too far apart."""
STILL = 1e-9
"""Share of the size of all of it by which a point may move that stays where it is."""
MOST_LABELS = 24
"""Points with a name beside them, at most."""


def moving(run: Run, traces: Sequence[str], before: Run | None = None) -> dict[str, Any]:
    """All of it as plain data; `before` is another motion of the same mechanism, drawn behind.

    Places are relative to `origin`, the middle of all: single precision then suffices wherever the
    mechanism is.
    """
    plan = run.drawing_plan
    aliases = {name: label for label, name in plan["labels"].items()}
    points, index = _points(plan, [aliases.get(t, t) for t in traces])
    turning = [joint for joint in plan.get("joints", []) if joint.get("axis")]
    links = [
        (index[a], index[b])
        for kind, _, through in plan["shapes"]
        if kind == "body"
        for a, b in pairwise(through)
    ]
    runs = [
        _thinned(r, 2 * len(points) + len(turning))
        for r in ([run] if before is None else [run, before])
    ]
    masses = [index[p] for through in plan.get("masses", {}).values() for p in through]
    motions = [frames_of(r, points, links, masses) for r in runs]
    low, high = (f([f(m.places, axis=(0, 1)) for m in motions], axis=0) for f in (np.min, np.max))
    origin = (low + high) / 2
    for motion in motions:
        motion.places -= origin
    data: dict[str, Any] = {
        "dimension": int(run.info["dimension"]),
        "up": _upright(plan.get("gravity", [])),
        "origin": origin.tolist(),
        "box": [(low - origin).tolist(), (high - origin).tolist()],
        "colours": list(COLOURS),
        "points": points,
        "shapes": _shapes(plan, index),
        "joints": _joints(plan, index, motions[0].places),
        "labels": _labels(plan["labels"], index),
        "centres": [index[p] for p in plan.get("centres", [])],
        "traces": [{"point": index[aliases.get(t, t)], "name": t} for t in traces],
        "motion": motions[0].encoded(),
        "warning": _warning(run, motions[0], points),
    }
    if before is not None:
        data["before"] = motions[1].encoded()
    if turning:
        data["axes"] = floats(
            motions[0].run.directions([(joint["body"], joint["axis"]) for joint in turning])
        )
    if run.parameter_names:
        data["sensitivity"] = _sensitivity(
            _thinned(run, len(points) * len(run.parameter_names)), points
        )
    return data


def _points(plan: Mapping[str, Any], traced: Sequence[str]) -> tuple[list[str], dict[str, int]]:
    """Points that are needed, one for all at the same place, and for each that is drawn which one
    it is.
    """
    places: Mapping[str, str] = plan.get("places", {})
    drawn = (
        [p for _, _, points in plan["shapes"] for p in points]
        + sorted(plan["labels"])
        + plan["fixed"]
    )
    drawn += plan.get("centres", []) + [
        p for key in ("extents", "masses") for around in plan.get(key, {}).values() for p in around
    ]
    drawn += [p for j in plan.get("joints", []) for p in j["points"]] + list(traced)
    points = list(dict.fromkeys(places.get(p, p) for p in drawn))
    place = {p: k for k, p in enumerate(points)}
    return points, {p: place[places.get(p, p)] for p in drawn}


def _shapes(plan: Mapping[str, Any], index: Mapping[str, int]) -> list[dict[str, Any]]:
    """Shapes through points; bodies that have no length and are no block of a slider are discs at
    their centres of mass.
    """
    extents: Mapping[str, list[str]] = plan.get("extents", {})
    blocks = {j["points"][1] for j in plan.get("joints", []) if j.get("symbol") == "slider"}
    masses = [
        ("mass", name, points)
        for name, points in plan.get("masses", {}).items()
        if not blocks & set(points)
    ]
    shapes = [*plan["shapes"], *masses]
    bodies = [name for kind, name, _ in shapes if kind in ("body", "beam", "mass")]
    return [
        {
            "kind": kind,
            "name": name,
            "points": [index[p] for p in through],
            "whole": len(set(through)) == len(extents.get(name, [])),
            "around": [index[p] for p in extents.get(name, [])] if kind == "body" else [],
            "colour": bodies.index(name) % len(COLOURS) if name in bodies else -1,
        }
        for kind, name, through in shapes
    ]


def _thinned(run: Run, places: int) -> Run:
    """With so few times that the page stays small."""
    return run.at_rows(
        thinned(run.time.size, MOST_NUMBERS // max(1, places * run.info["dimension"]))
    )


def _warning(run: Run, motion: Frames, points: list[str]) -> str:
    """What to say where stored times, or those that a page has room for, are too far apart."""
    if not motion.too_far_apart:
        return ""
    stored = run.at_rows(np.arange(min(run.time.size, MOST_LOOKED_AT // len(points))))
    if (
        motion.time.size == run.time.size
        or frames_of(stored, points, motion.links, motion.masses).too_far_apart
    ):
        cause, remedy = (
            f"This run is stored every {np.diff(run.time).max():.3g} s",
            "one with a shorter output=… shows them, and curves,",
        )
    else:
        room = (
            f"This page has room for {motion.time.size:,} of {run.time.size:,} stored times,"
            f" {np.diff(motion.time).max():.3g} s apart"
        )
        cause, remedy = room, "a shorter run shows them"
    return (
        f"{cause}: in between, parts turn or swing so far that they may seem slower than they are,"
        f" or to turn backwards. Only stored positions are drawn; {remedy} as they are."
    )


def _sensitivity(run: Run, points: list[str]) -> dict[str, Any]:
    """Derivatives of all places with respect to each parameter: (parameter, time, point,
    component).
    """
    slopes = stacked(run.path_slopes(points), points)
    return {
        "time": floats(run.time),
        "frames": run.time.size,
        "slopes": floats(slopes.transpose(3, 0, 1, 2)),
        "largest": np.linalg.norm(slopes, axis=2).max(axis=(0, 1)).tolist(),
    }


def _joints(
    plan: Mapping[str, Any], index: Mapping[str, int], places: np.ndarray
) -> list[dict[str, Any]]:
    """Joints by how they are drawn; a slider on the ground has a rail along all of its way."""
    if "joints" not in plan:  # a run that was saved earlier: what is fixed is all that is known
        return [
            {"kind": "pin", "name": "", "points": [index[p]] * 2, "ground": True, "axis": -1}
            for p in plan["fixed"]
        ]
    found: list[dict[str, Any]] = []
    turning = 0
    for joint in plan["joints"]:
        first, second = (index[p] for p in joint["points"])
        kind = joint.get("symbol", "pin")
        axis = turning if joint.get("axis") else -1
        turning += axis >= 0
        drawn = {
            "kind": kind,
            "name": joint["name"],
            "points": [first, second],
            "ground": any(joint["ground"]),
            "axis": axis,
        }
        if kind == "slider":
            drawn["ground"] = joint["ground"][1]  # the block itself
            if (
                joint["ground"][0]
                and (rail := _rail(places[:, second], np.ptp(places, axis=(0, 1)).max()))
                is not None
            ):
                drawn["rail"] = rail
        found.append(drawn)
    jointed = {
        k
        for joint in found
        for k in (joint["points"][1:] if joint["kind"] == "slider" else joint["points"])
    }
    alone = [p for p in plan["fixed"] if index[p] not in jointed]
    return found + [
        {"kind": "anchor", "name": "", "points": [index[p]] * 2, "ground": True, "axis": -1}
        for p in alone
    ]


def _rail(path: np.ndarray, size: float) -> list[list[float]] | None:
    """Ends of a straight way, none for a point that stays where it is."""
    away = np.linalg.norm(path - path[0], axis=1)
    first = path[away.argmax()]
    last = path[np.linalg.norm(path - first, axis=1).argmax()]
    return None if away.max() <= STILL * size else [first.tolist(), last.tolist()]


def _labels(names: Mapping[str, str], index: Mapping[str, int]) -> list[dict[str, Any]]:
    """Names in the order of the bodies; of very many, some."""
    ordered = sorted(names, key=lambda p: (index[p], p))
    return [
        {"point": index[ordered[k]], "text": names[ordered[k]]}
        for k in thinned(len(ordered), MOST_LABELS)
    ]


def _upright(gravity: Sequence[float]) -> list[int]:
    """Which component of space points up, and whether with its sign (1) or against it (−1): against
    gravity; z where there is none.
    """
    if len(gravity) != 3 or not np.any(gravity):
        return [2, 1]
    k = int(np.abs(gravity).argmax())
    return [k, -1 if gravity[k] > 0 else 1]
