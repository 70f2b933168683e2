"""Shapes on bodies beside their links, for the animation: wheels, balls, outlines, and the
orientations of these bodies.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..results.run import Run
from .encoding import floats

LEAST_APART = 1e-6
"""Distance between wheels (m) below which they are coaxial, so that it does not determine their
radii.
"""


FRAMES = {"body": "frame", "mate_body": "mate_frame", "axis_body": "axis_frame"}
"""Bodies of a figure → key of the index of their orientation."""
BEYOND = 1.5
"""Extension of a rack beyond its pinion, in radii of the pinion."""
RING = 1.2
"""Ratio of the outer radius to the pitch radius of a ring with teeth inside."""


def attachments(run: Run, figures: Sequence[dict[str, Any]]) -> dict[str, object]:
    """Figures with the numbers of their bodies, and the orientations of these bodies: their x and y
    axes over time, (time, 2 × body, component).

    Args:
        run: the run at the times of the animation.
        figures: from `figures_of`.
    """
    bodies = list(dict.fromkeys(f[key] for f in figures for key in FRAMES if key in f))
    axes = np.eye(int(run.info["dimension"]))[:2]
    encoded = run.directions([(b, axis) for b in bodies for axis in axes]) if bodies else None
    return {
        "figures": [
            {**f, **{FRAMES[key]: bodies.index(f[key]) for key in FRAMES if key in f}}
            for f in figures
        ],
        "orientations": floats(np.zeros(0) if encoded is None else encoded),
    }


def figures_of(
    plan: Mapping[str, Any], index: Mapping[str, int], places: np.ndarray
) -> list[dict[str, Any]]:
    """Figures with the indices of their points, their radii and their extents.

    Args:
        plan: `Run.drawing_plan`.
        index: numbers of points.
        places: positions of points, (time, point, component).
    """
    return [drawn for f in _all(plan) if (drawn := _sized(f, index, places))]


def points_of_figures(plan: Mapping[str, Any]) -> Sequence[str]:
    """Points whose positions figures require."""
    return [f[key] for f in _all(plan) for key in ("point", "mate") if key in f]


def _all(plan: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [*plan.get("figures", []), *plan.get("surfaces", [])]


def _sized(
    figure: Mapping[str, Any], index: Mapping[str, int], places: np.ndarray
) -> dict[str, Any] | None:
    """A figure with its radius; None if it cannot be determined."""
    drawn = {**figure, "point": index[figure["point"]]}
    if "mate" in figure:
        drawn["mate"] = index[figure["mate"]]
    if figure["kind"] == "wheel" and "radius" not in figure:
        apart = float(np.linalg.norm(places[0, drawn["mate"]] - places[0, drawn["point"]]))
        if apart < LEAST_APART:
            return None
        drawn["radius"] = apart * figure["share"]
    if figure["kind"] == "rack":
        drawn["half"] = _half_rack(drawn, places)
    drawn["reach"] = _reach(drawn)
    return drawn


def _half_rack(rack: Mapping[str, Any], places: np.ndarray) -> float:
    """Half the length of a rack (m): it always reaches its pinion, with some extension."""
    axis = np.asarray(rack["axis"])
    along = (places[:, rack["point"]] - places[:, rack["mate"]]) @ axis / np.linalg.norm(axis)
    return float(np.abs(along).max() + BEYOND * rack["radius"])


def _reach(figure: Mapping[str, Any]) -> float:
    """Extent of a figure from its point (m)."""
    if "vertices" in figure:
        return 0.0  # its bounding box is used instead
    if "outline" in figure:
        return float(np.linalg.norm(figure["outline"], axis=1).max())
    if "half" in figure:
        return float(figure["half"])
    return float(figure.get("radius", 0.0)) * (RING if figure.get("ring") else 1.0)


def around_figures(
    run: Run, figures: Sequence[dict[str, Any]], places: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest coordinates of a motion with its figures; surfaces get their own as `box`.

    Args:
        run: the run at the times of the animation.
        figures: from `figures_of`.
        places: positions of points, (time, point, component).
    """
    reach, boxes = np.zeros(places.shape[1]), []
    for figure in figures:
        if "vertices" in figure:
            figure["box"] = _around_surface(run, figure, places)
            boxes.append(figure["box"])
        else:
            reach[figure["point"]] = max(reach[figure["point"]], figure["reach"])
    low, high = (places - reach[:, None]).min(axis=(0, 1)), (places + reach[:, None]).max((0, 1))
    return np.min([low, *[b[0] for b in boxes]], 0), np.max([high, *[b[1] for b in boxes]], 0)


def _around_surface(run: Run, figure: Mapping[str, Any], places: np.ndarray) -> np.ndarray:
    """Lowest and highest coordinates over a motion, (2, component), of the corners of the bounding
    box of a surface.
    """
    d = places.shape[2]
    vertices = _vertices(figure)[:, :d]
    axes = run.directions([(figure["body"], axis) for axis in np.eye(d).tolist()])
    ends = np.stack([vertices.min(axis=0), vertices.max(axis=0)])
    choices = np.stack(np.meshgrid(*[[0, 1]] * d, indexing="ij"), axis=-1).reshape(-1, d)
    corners = np.take_along_axis(ends, choices, axis=0)
    corner_paths = places[:, [figure["point"]]] + np.einsum("ca,tai->tci", corners, axes)
    return np.stack([corner_paths.min(axis=(0, 1)), corner_paths.max(axis=(0, 1))])


def _vertices(figure: Mapping[str, Any]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(figure["vertices"]), dtype="<f4").reshape(-1, 3)
