"""Forces in the animation: reactions and forces of elements as arrows, bending moments of beams as
colours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..results.run import Run
from .encoding import floats

USUAL = 0.98
"""Fraction of the time in which forces are below the one that sets the scale of arrows: a round
value.
"""
LEAST_USUAL = 0.1
"""Lower limit of that force relative to the largest: so arrows of impacts are at most ten times as
long.
"""


def reactions(
    run: Run, plan: Mapping[str, Any], index: Mapping[str, int]
) -> dict[str, object] | None:
    """Reactions of joints on their second bodies, as arrows."""
    joints = [j for j in plan.get("joints", []) if j["name"] in run.names_of("joint")]
    if not joints:
        return None
    values = run.loads_on([j["name"] for j in joints])
    return _arrows(values, [index[j["points"][1]] for j in joints])


def acting(run: Run, plan: Mapping[str, Any], index: Mapping[str, int]) -> dict[str, object] | None:
    """Forces of springs, dampers, contacts and other elements, as arrows; None for a run that was
    read from a file.
    """
    sources = [(f["name"], f["point"]) for f in plan.get("acting", ())]
    if not sources or not run.is_live:
        return None
    return _arrows(run.acting(sources), [index[point] for _, point in sources])


def _arrows(values: np.ndarray, points: list[int]) -> dict[str, object]:
    """Vectors at points, (time, point, component), the largest (N), and the one that arrows are scaled
    by: short peaks, such as those of hard contacts, do not hide the rest.
    """
    strongest = np.linalg.norm(values, axis=2).max(axis=1)
    largest = float(strongest.max())
    usual = float(np.quantile(strongest, USUAL))
    return {
        "points": points,
        "values": floats(values),
        "largest": largest,
        "scale": max(usual, LEAST_USUAL * largest),
    }


def bending(run: Run, plan: Mapping[str, Any]) -> dict[str, object] | None:
    """Bending moments at the inner nodes of beams, beam by beam, (time, node of any beam), and the
    largest (N·m).
    """
    beams = [name for kind, name, _ in plan["shapes"] if kind == "beam"]
    if not beams:
        return None
    moments = [run.bending_moment(name).transpose("time", "node").to_numpy() for name in beams]
    return {
        "nodes": {name: m.shape[1] for name, m in zip(beams, moments, strict=True)},
        "values": floats(np.concatenate(moments, axis=1)),
        "largest": float(np.abs(np.concatenate(moments, axis=1)).max()),
    }
