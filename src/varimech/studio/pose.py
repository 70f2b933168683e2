"""The drawn pose in the text of a mechanism: `start:` gets the angle of one bar for each degree of
freedom that no driver prescribes, and the positions of all moving points under `near:`, so that
assembly reproduces the drawn pose.
"""

from __future__ import annotations

import math
import re

from ..files.editing import quoted, shortest, with_value, without_entry
from .drawn_text import DrawnText
from .entries import mapping, place_of, position_of_node, row
from .mobility import mobility
from .sketch import Sketch

TURNING = re.compile(r"-?[\d.e+-]+ deg \+ (.+)")
"""Motion of a driver: the drawn angle, and the term that is added to it over time."""


def posed(drawn: DrawnText) -> str:
    """Return the text with the drawn pose as its initial conditions."""
    sketch = Sketch(drawn.text, places=drawn.places)
    mobile = mobility(sketch)
    start = sketch.data.get("start") or {}
    if mobile is None or set(start) - {"angle", "displacement", "near", "speed"}:
        # leave elements and initial conditions that drawings do not support unchanged
        return drawn.text
    drawn.sketch = sketch
    angles_given = start.get("angle") or {}
    angles = {
        body: f"{shortest(math.degrees(drawn.angle(body)))} deg"
        if body in sketch.links
        else angles_given[body]
        for body in mobile.angles
    }
    slides = {name: shortest(_slid(drawn, name)) for name in mobile.slides}
    near = {
        node.name: row(node.place)
        for node in sketch.nodes.values()
        if not node.fixed and node.place is not None
    }
    speeds = {k: v for k, v in (start.get("speed") or {}).items() if k in angles | slides}
    text = _turned(drawn, sketch)
    for key, values in {
        "angle": angles,
        "displacement": slides,
        "near": near,
        "speed": speeds,
    }.items():
        if values and values != start.get(key):
            text = with_value(text, ("start", key), mapping(values))
        elif not values and key in start:
            text = without_entry(text, "start", key)
    return text


def _turned(drawn: DrawnText, sketch: Sketch) -> str:
    """Return the text with drivers that begin at the drawn angles."""
    text = drawn.text
    for driver, body in sketch.drivers.items():
        match = TURNING.fullmatch(str(sketch.data["drivers"][driver].get("motion")))
        if match is not None and body in sketch.links:
            angle = shortest(math.degrees(drawn.angle(body)))
            entry = f"{{angle: {quoted(body)}, motion: {angle} deg + {match[1]}}}"
            text = with_value(text, ("drivers", driver), entry)
    return text


def _slid(drawn: DrawnText, name: str) -> float:
    """Displacement of a prismatic joint (m)."""
    joint = next(j for j in drawn.sketch.joints if j.name == name)
    (x0, y0), (x1, y1) = (position_of_node(drawn.sketch.node_of(end)) for end in joint.ends)
    x, y = place_of(joint.entry["axis"])
    return ((x1 - x0) * x + (y1 - y0) * y) / math.hypot(x, y)
