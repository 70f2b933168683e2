"""Forces in the animation: reactions of joints as arrows, bending moments of beams as colours."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..coordinates.redundancy import RedundantReactionWarning
from ..results.run import Run
from .encoding import floats


def reactions(
    run: Run, plan: Mapping[str, Any], index: Mapping[str, int]
) -> dict[str, object] | None:
    """Reactions of joints on their second bodies, (time, joint, component), and the largest (N)."""
    joints = [j for j in plan.get("joints", []) if j["name"] in run.names_of("joint")]
    if not joints:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RedundantReactionWarning)  # the page has its own note
        values = np.stack(
            [run.reaction(j["name"]).transpose("time", "component").to_numpy() for j in joints],
            axis=1,
        )
    return {
        "points": [index[j["points"][1]] for j in joints],
        "values": floats(values),
        "largest": float(np.linalg.norm(values, axis=2).max()),
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
