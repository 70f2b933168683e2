"""Data of the animation: positions of points over time, the shapes and joints through them, and
their sensitivities.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..plotting.figure import COLOURS
from ..results.run import Run
from .attachments import around_figures, attachments, figures_of, points_of_figures
from .contacts import contact_spans
from .encoding import floats, thinned
from .frames import Frames, frames_of, stacked
from .loads import acting, bending, reactions

MOST_NUMBERS = 200_000
"""Largest number of coordinates and velocities of all points at all frames, and of derivatives: a
round value that keeps a page small.
"""
MOST_LOOKED_AT = 2_000_000
"""Largest number of point positions that are examined to decide whether stored times are too far
apart; a round value.
"""
STILL = 1e-9
"""Fraction of the overall size below which the movement of a point counts as zero; above rounding.
"""
MOST_LABELS = 24
"""Largest number of labelled points: more would overlap."""


def moving(
    run: Run,
    traces: Sequence[str],
    before: Run | None = None,
    encode: Callable[[np.ndarray], object] = floats,
    *,
    loads: bool = True,
) -> dict[str, object]:
    """Animation data as plain data.

    Positions are relative to `origin`, the centre of the motion, so that single precision suffices
    wherever the mechanism is.

    Args:
        run: the run.
        traces: points whose paths are drawn.
        before: another motion of the same mechanism, drawn behind.
        encode: makes plain data of an array.
        loads: whether reactions and bending moments are part of it, which take longer than the rest.
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
        _thinned(r, 2 * len(points) + len(turning) + _further(plan))
        for r in ([run] if before is None else [run, before])
    ]
    masses = [index[p] for through in plan.get("masses", {}).values() for p in through]
    motions = [frames_of(r, points, links, masses) for r in runs]
    figures = figures_of(plan, index, motions[0].places)
    boxes = [around_figures(motion.run, figures, motion.places) for motion in motions[::-1]]
    low, high = (
        f(x, axis=0) for f, x in zip((np.min, np.max), zip(*boxes, strict=True), strict=True)
    )
    origin = (low + high) / 2
    for motion in motions:
        motion.places -= origin
    for figure in figures:
        if "box" in figure:
            figure["box"] = (figure["box"] - origin).tolist()
    data: dict[str, object] = {
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
        "contacts": contact_spans(run, plan, index),
        "motion": motions[0].encoded(encode),
        "warning": _warning(run, motions[0], points),
    }
    if before is not None:
        data["before"] = motions[1].encoded(encode)
    data |= attachments(motions[0].run, figures)
    if loads:
        data["reactions"] = reactions(motions[0].run, plan, index)
        data["acting"] = acting(motions[0].run, plan, index)
        data["bending"] = bending(motions[0].run, plan)
    if turning:
        data["axes"] = encode(
            motions[0].run.directions([(joint["body"], joint["axis"]) for joint in turning])
        )
    if run.parameter_names:
        data["sensitivity"] = _sensitivity(
            _thinned(run, len(points) * len(run.parameter_names)), points, encode
        )
    return data


def _points(plan: Mapping[str, Any], traced: Sequence[str]) -> tuple[list[str], dict[str, int]]:
    """Names of the required points, one for each position, and the index of every drawn point."""
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
    drawn += list(plan.get("contacts", {}).values())
    drawn += [force["point"] for force in plan.get("acting", ())]
    drawn += points_of_figures(plan)
    points = list(dict.fromkeys(places.get(p, p) for p in drawn))
    place = {p: k for k, p in enumerate(points)}
    return points, {p: place[places.get(p, p)] for p in drawn}


def _shapes(plan: Mapping[str, Any], index: Mapping[str, int]) -> list[dict[str, object]]:
    """Shapes through points; bodies without length that are not slider blocks are discs at their
    centres of mass.
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
    """Reduce the run to few enough times for a small page."""
    return run.at_rows(
        thinned(run.time.size, MOST_NUMBERS // max(1, places * run.info["dimension"]))
    )


def _further(plan: Mapping[str, Any]) -> int:
    """Number of vectors at each frame in addition to positions, velocities and axes: reactions,
    other forces and the axes of bodies with figures.
    """
    bodies = {f["body"] for key in ("figures", "surfaces") for f in plan.get(key, [])}
    return len(plan.get("joints", [])) + len(plan.get("acting", ())) + 2 * len(bodies)


def _warning(run: Run, motion: Frames, points: list[str]) -> str:
    """Warning if stored times, or those that fit on a page, are too far apart."""
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
        cause, remedy = (
            f"This page shows {motion.time.size:,} of {run.time.size:,} stored times,"
            f" {np.diff(motion.time).max():.3g} s apart",
            "a shorter run shows them",
        )
    return (
        f"{cause}: in between, parts turn or swing so far that they may seem slower than they are,"
        f" or to turn backwards. Only stored positions are drawn; {remedy} as they are."
    )


def _sensitivity(
    run: Run, points: list[str], encode: Callable[[np.ndarray], object]
) -> dict[str, object]:
    """Derivatives of all positions with respect to each parameter: (parameter, time, point,
    component).
    """
    derivatives = stacked(run.path_derivatives(points), points)
    return {
        "time": encode(run.time),
        "frames": run.time.size,
        "derivatives": encode(derivatives.transpose(3, 0, 1, 2)),
        "largest": np.linalg.norm(derivatives, axis=2).max(axis=(0, 1)).tolist(),
    }


def _joints(
    plan: Mapping[str, Any], index: Mapping[str, int], places: np.ndarray
) -> list[dict[str, object]]:
    """Joints by symbol; a slider on the ground has a rail along its whole path."""
    if "joints" not in plan:  # runs saved by earlier versions have only fixed points
        return [
            {"kind": "pin", "name": "", "points": [index[p]] * 2, "ground": True, "axis": -1}
            for p in plan["fixed"]
        ]
    joints: list[dict[str, Any]] = []
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
            drawn["ground"] = joint["ground"][1]  # whether the block itself is
            if (
                joint["ground"][0]
                and (rail := _rail(places[:, second], np.ptp(places, axis=(0, 1)).max()))
                is not None
            ):
                drawn["rail"] = rail
        joints.append(drawn)
    jointed = {
        k
        for joint in joints
        for k in (joint["points"][1:] if joint["kind"] == "slider" else joint["points"])
    }
    free = [p for p in plan["fixed"] if index[p] not in jointed]
    return joints + [
        {"kind": "anchor", "name": "", "points": [index[p]] * 2, "ground": True, "axis": -1}
        for p in free
    ]


def _rail(path: np.ndarray, size: float) -> list[list[float]] | None:
    """Ends of a straight path; None for a fixed point."""
    away = np.linalg.norm(path - path[0], axis=1)
    first = path[away.argmax()]
    last = path[np.linalg.norm(path - first, axis=1).argmax()]
    return None if away.max() <= STILL * size else [first.tolist(), last.tolist()]


def _labels(names: Mapping[str, str], index: Mapping[str, int]) -> list[dict[str, object]]:
    """Labels in the order of the bodies; a selection if there are very many."""
    ordered = sorted(names, key=lambda p: (index[p], p))
    return [
        {"point": index[ordered[k]], "text": names[ordered[k]]}
        for k in thinned(len(ordered), MOST_LABELS)
    ]


def _upright(gravity: Sequence[float]) -> list[int]:
    """Index of the upward component and its sign (1 or −1), opposite to gravity; z
    without gravity.
    """
    if len(gravity) != 3 or not np.any(gravity):
        return [2, 1]
    k = int(np.abs(gravity).argmax())
    return [k, -1 if gravity[k] > 0 else 1]
