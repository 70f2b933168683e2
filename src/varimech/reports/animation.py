"""What the animation draws: places of points over time, what goes through them, and how they change with parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..results.run import Run
from ..view.figure import COLOURS
from .encoding import floats, thinned

MOST_NUMBERS = 200_000
"""Coordinates of all points at all frames; derivatives get as many."""
SLIDING = ("prismatic", "cylindrical", "point-on-line")
DRAWN = {"fixed": "fixed", "distance": "distance", "planar": "plane", "point-on-plane": "plane", "universal": "universal"}
"""Joints that are neither sliders nor pins."""
MOST_LABELS = 24
"""Points with a name beside them, at most."""


def moving(run: Run, traces: Sequence[str], before: Run | None = None) -> dict[str, Any]:
    """All of it as plain data; `before` is another motion of the same mechanism, drawn behind."""
    plan = run.drawing_plan
    places: Mapping[str, str] = plan.get("places", {})
    drawn = [p for _, _, points in plan["shapes"] for p in points] + sorted(plan["labels"]) + plan["fixed"]
    extents: Mapping[str, list[str]] = plan.get("extents", {})
    drawn += plan.get("centres", []) + [p for around in extents.values() for p in around]
    drawn += [p for j in plan.get("joints", []) for p in j["points"]]
    aliases = {name: label for label, name in plan["labels"].items()}
    drawn += [aliases.get(t, t) for t in traces]
    points = list(dict.fromkeys(places.get(p, p) for p in drawn))
    place = {p: k for k, p in enumerate(points)}
    index = {p: place[places.get(p, p)] for p in drawn}
    motion = _thinned(run, len(points))
    paths = stacked(motion.paths(points), points)
    bodies = [name for kind, name, _ in plan["shapes"] if kind in ("body", "beam")]
    data: dict[str, Any] = {
        "dimension": int(run.info["dimension"]),
        "up": _upright(plan.get("gravity", [])),
        "colours": list(COLOURS),
        "points": points,
        "shapes": [
            {
                "kind": kind,
                "name": name,
                "points": [index[p] for p in through],
                "whole": len(set(through)) == len(extents.get(name, [])),
                "around": [index[p] for p in extents.get(name, [])] if kind == "body" else [],
                "colour": bodies.index(name) % len(COLOURS) if name in bodies else -1,
            }
            for kind, name, through in plan["shapes"]
        ],
        "joints": _joints(plan, index, paths),
        "labels": _labels(plan["labels"], index),
        "centres": [index[p] for p in plan.get("centres", [])],
        "traces": [{"point": index[aliases.get(t, t)], "name": t} for t in traces],
        "motion": _frames(motion.time, paths),
        "box": [paths.min(axis=(0, 1)).tolist(), paths.max(axis=(0, 1)).tolist()],
    }
    if before is not None:
        other = _thinned(before, len(points))
        places_before = stacked(other.paths(points), points)
        data["before"] = _frames(other.time, places_before)
        low, high = data["box"]
        data["box"] = [
            np.minimum(low, places_before.min(axis=(0, 1))).tolist(),
            np.maximum(high, places_before.max(axis=(0, 1))).tolist(),
        ]
    if run.parameter_names:
        data["sensitivity"] = _sensitivity(_thinned(run, len(points) * len(run.parameter_names)), points)
    return data


def stacked(paths: Mapping[str, np.ndarray], points: Sequence[str]) -> np.ndarray:
    """(time, point, …)"""
    return np.stack([paths[p] for p in points], axis=1)


def _thinned(run: Run, points: int) -> Run:
    """With so few times that the page stays small."""
    return run.at_rows(thinned(run.time.size, MOST_NUMBERS // max(1, points * run.info["dimension"])))


def _frames(time: np.ndarray, paths: np.ndarray) -> dict[str, Any]:
    return {"time": floats(time), "places": floats(paths), "frames": len(time)}


def _sensitivity(run: Run, points: list[str]) -> dict[str, Any]:
    """Derivatives of all places with respect to each parameter: (parameter, time, point, component)."""
    slopes = stacked(run.path_slopes(points), points)
    return {
        "time": floats(run.time),
        "frames": run.time.size,
        "slopes": floats(slopes.transpose(3, 0, 1, 2)),
        "largest": np.linalg.norm(slopes, axis=2).max(axis=(0, 1)).tolist(),
    }


def _joints(plan: Mapping[str, Any], index: Mapping[str, int], paths: np.ndarray) -> list[dict[str, Any]]:
    """Joints by how they are drawn; a slider on the ground has a rail along all of its way."""
    if "joints" not in plan:  # a run that was saved earlier: what is fixed is all that is known
        return [{"kind": "pin", "name": "", "points": [index[p]] * 2, "ground": True} for p in plan["fixed"]]
    found = []
    for joint in plan["joints"]:
        first, second = (index[p] for p in joint["points"])
        kind = "slider" if joint["kind"] in SLIDING else DRAWN.get(joint["kind"], "pin")
        drawn = {"kind": kind, "name": joint["name"], "points": [first, second], "ground": any(joint["ground"])}
        if kind == "slider" and joint["ground"][0] and (rail := _rail(paths[:, second])) is not None:
            drawn["rail"] = rail
        found.append(drawn)
    jointed = {k for joint in found for k in (joint["points"][1:] if joint["kind"] == "slider" else joint["points"])}
    alone = [p for p in plan["fixed"] if index[p] not in jointed]
    return found + [{"kind": "anchor", "name": "", "points": [index[p]] * 2, "ground": True} for p in alone]


def _rail(path: np.ndarray) -> list[list[float]] | None:
    """Ends of a straight way, none for a point that stays where it is."""
    away = np.linalg.norm(path - path[0], axis=1)
    first = path[away.argmax()]
    last = path[np.linalg.norm(path - first, axis=1).argmax()]
    return None if away.max() < 1e-12 else [first.tolist(), last.tolist()]


def _labels(names: Mapping[str, str], index: Mapping[str, int]) -> list[dict[str, Any]]:
    """Names in the order of the bodies; of very many, some."""
    ordered = sorted(names, key=lambda p: (index[p], p))
    return [{"point": index[ordered[k]], "text": names[ordered[k]]} for k in thinned(len(ordered), MOST_LABELS)]


def _upright(gravity: Sequence[float]) -> int:
    """The component along which gravity acts; the last one of space where there is none."""
    return int(np.abs(gravity).argmax()) if len(gravity) == 3 and np.any(gravity) else 2
