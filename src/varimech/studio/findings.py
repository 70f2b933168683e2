"""The drawing of a model for a page, with each missing item reported at the element that lacks it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from .mobility import Mobility, axis_of, mobility
from .sketch import Sketch

TYPED = {
    "bodies": ("length", "mass"),
    "forces": ("stiffness", "natural_length", "damping"),
}
"""Numbers that can be edited beside the drawing."""
Finding = dict[str, object]


def drawing(sketch: Sketch) -> dict[str, object]:
    """Data with which a page draws a sketch and changes it."""
    counted = mobility(sketch)
    return {
        "nodes": [
            {
                "name": n.name,
                "place": n.place,
                "fixed": n.fixed,
                "bodies": [b for b, _ in n.members],
            }
            for n in sketch.nodes.values()
            if n.place is not None
        ],
        "links": [
            {"name": name, "ends": ends, "points": _points(sketch, name), **_typed(sketch, name)}
            for name, ends in sketch.links.items()
        ],
        "sliders": list(_sliders(sketch)),
        "forces": [
            {
                "name": f.name,
                "kind": f.kind,
                "ends": [sketch.node_of(end).name for end in f.ends],
                **_typed(sketch, f.name, "forces"),
            }
            for f in sketch.forces
        ],
        "drivers": [{"name": d, "body": b} for d, b in sketch.drivers.items()],
        "dofs": None if counted is None else counted.dofs,
        "free": None if counted is None else counted.free,
        "findings": list(_findings(sketch, counted)),
    }


def undrawn() -> dict[str, object]:
    """Data for a text with elements that cannot be drawn."""
    finding = _finding("This text cannot be drawn: correct its errors.")
    return {**drawing(Sketch("")), "findings": [finding]}


def _sliders(sketch: Sketch) -> Iterator[dict[str, object]]:
    """Blocks on rails of the ground."""
    for joint in sketch.joints:
        if joint.kind == "prismatic":
            with suppress(LookupError):
                axis, (body, _) = axis_of(joint), joint.ends[1]
                yield {"name": body, "node": sketch.node_of(joint.ends[1]).name, "axis": axis}


def _points(sketch: Sketch, body: str) -> list[str]:
    """Nodes of a body other than its ends."""
    nodes = [sketch.node_of((body, p)).name for p in sketch.points[body]]
    return [n for n in nodes if n not in sketch.links[body]]


def _typed(sketch: Sketch, name: str, section: str = "bodies") -> dict[str, object]:
    """Numbers of an entry as in the text, parameters by their values."""
    entry: Mapping[str, Any] = sketch.data[section][name]
    parameters = sketch.data.get("parameters") or {}

    def shown(value: object) -> str:
        parameter = parameters.get(value, value) if isinstance(value, str) else value
        return str(parameter.get("value") if isinstance(parameter, dict) else parameter)

    return {"typed": {key: shown(entry[key]) for key in TYPED[section] if key in entry}}


def _findings(sketch: Sketch, counted: Mobility | None) -> Iterator[Finding]:
    if sketch.spatial:
        yield _finding("This mechanism is spatial: change its values by sliders and in the text.")
        return
    if not sketch.bodies:
        yield _finding("Draw a link: choose Link, press at one end and release at the other.")
        return
    loose = [body for body in sketch.bodies if body not in sketch.connected()]
    for body in loose:
        yield _finding(
            f"{body} is not connected to the ground: put a pivot at an end of it, or join it to"
            " another link.",
            body,
        )
    if loose:
        return
    if sketch.error is not None:
        yield _finding(sketch.error, _named_in(sketch, sketch.error))
        return
    if counted is not None:
        yield from _about_motion(sketch, counted)


def _about_motion(sketch: Sketch, counted: Mobility) -> Iterator[Finding]:
    if counted.dofs == 0:
        yield _finding("No degree of freedom: this is a structure. Delete a link or a pivot.")
        return
    driven = len(sketch.drivers)
    if driven > counted.dofs - counted.free:
        yield _finding(
            f"{driven} drivers for {counted.dofs} DOF: delete one.",
            next(iter(sketch.drivers.values())),
        )
    if counted.redundant:
        yield _finding(
            f"{counted.redundant} redundant constraints: it moves, but reactions are not unique."
        )
    pulled = any(sketch.data.get("gravity") or ()) or sketch.data.get("forces")
    pushed = (sketch.data.get("start") or {}).get("speed")
    if not (driven or pulled or pushed):
        yield _finding("Nothing moves it: add a driver, gravity, a spring or an initial speed.")


def _finding(message: str, at: str | None = None) -> Finding:
    return {"message": message, "at": at}


def _named_in(sketch: Sketch, message: str) -> str | None:
    """The first element of the drawing that a message names in quotes."""
    names = {*sketch.bodies, *sketch.nodes}
    return next((name for name in re.findall(r"'([^']+)'", message) if name in names), None)
