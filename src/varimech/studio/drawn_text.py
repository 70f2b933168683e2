"""The text of a drawn mechanism, as strokes change it: its entries, its points and their positions,
new names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from itertools import count
from string import ascii_uppercase
from typing import Any

from ..core.errors import ModelError, unknown_name
from ..core.units import si_value, split_quantity
from ..files.editing import scalars, with_entry, with_scalar, with_value, without_entry
from .entries import bounded, mapping, place_of, position_of_node, revolute, row
from .sketch import GROUND, Member, Node, Place, Sketch

SAME_PLACE = 1e-6
"""Distance (m) within which two positions coincide, and a point lies on a line: finer than anybody
draws.
"""
End = Mapping[str, Any]
"""End of a stroke: {"node": name} or {"at": [x, y]}."""


class DrawnText:
    """A text that is being changed, with the positions of its points."""

    def __init__(self, text: str, sketch: Sketch):
        self.text, self.sketch = text, sketch
        self.places: dict[Member, Place] = {
            m: node.place
            for node in sketch.nodes.values()
            if node.place is not None
            for m in node.members
        }

    def section(self, name: str) -> dict[str, Any]:
        """Entries of a section by name."""
        section = Sketch(self.text).data.get(name)
        return section if isinstance(section, dict) else {}

    def add(self, section: str, name: str, entry: str) -> None:
        """Write a new entry, or replace one."""
        self.text = with_entry(self.text, section, name, entry)

    def remove(self, section: str, name: str) -> None:
        """Remove an entry, and parameters that only this entry used."""
        entry = self.section(section).get(name)
        self.text = without_entry(self.text, section, name)
        identifiers = set(re.findall(r"\w+", str(entry)))
        for parameter in identifiers & set(self.section("parameters")):
            uses = [n.value for where, key, n in scalars(self.text) if where[:1] != ("parameters",)]
            if not any(re.search(rf"\b{re.escape(parameter)}\b", use) for use in uses):
                self.text = without_entry(self.text, "parameters", parameter)

    def parameter(self, name: str, value: float, unit: str) -> None:
        """Write a new parameter with bounds."""
        self.add("parameters", name, bounded(value, unit))

    def set_length(self, bar: str, length: float) -> None:
        """Change the length (m) of a bar if it is a number or a parameter."""
        length_text = str(self.sketch.bodies[bar]["length"])
        parameter = self.section("parameters").get(length_text)
        if parameter is None:
            if split_quantity(length_text) is not None:
                self.text = with_scalar(self.text, ("bodies", bar, "length"), length)
            return  # an expression determines the length
        if not self.widened(length_text, f"{length * 1e3!r} mm"):
            self.text = with_scalar(self.text, ("parameters", length_text, "value"), length)

    def widened(self, name: str, quantity: str) -> bool:
        """Whether a value is beyond the bounds that a drawing gives a parameter; the parameter is
        then written with new bounds.
        """
        parameter = self.section("parameters").get(name)
        split = split_quantity(quantity)
        if (
            split is None
            or not isinstance(parameter, dict)
            or set(parameter) != {"value", "bounds"}
        ):
            return False
        ends = [split_quantity(str(bound)) for bound in parameter["bounds"]]
        number, low, high = (
            None if q is None else q[0] * (si_value(1.0, q[1], name) if q[1] else 1.0)
            for q in (split, *ends)
        )
        if number is None or low is None or high is None or low <= number <= high:
            return False
        # a length, mass, stiffness or speed of zero or less, which a slider cannot scale
        if number <= 0:
            return False
        self.text = with_value(self.text, ("parameters", name), bounded(*split))
        return True

    def set_scalar(self, where: tuple[str, str, str], text: str) -> None:
        """Replace one value, identified by section, name and key."""
        section, name, key = where
        for at, is_key, node in scalars(self.text):
            if not is_key and at in (where, (section, name) if key == "value" else where):
                begin, end = node.start_mark.index, node.end_mark.index
                self.text = self.text[:begin] + text + self.text[end:]
                return

    def own_points(self, body: str) -> dict[str, Any]:
        """Points of a body in the `points` section."""
        points = self.section("points").get(body) or {}
        return {str(k): row(v) for k, v in points.items()}

    def write_points(self, body: str, points: Mapping[str, str]) -> None:
        """Replace the points of a body; without any, remove them."""
        if points:
            self.text = with_value(self.text, ("points", body), mapping(points))
        else:
            self.remove("points", body)

    def node(self, end: End) -> Node | None:
        """The point at an end of a stroke, which may be new to the page."""
        if not isinstance(end, Mapping) or not {"node", "at"} & set(end):
            raise ModelError(
                f"{end!r} is not an end of a stroke", remedy="give a node, or a place at"
            )
        if "node" in end:
            return self.named(str(end["node"]))
        place = place_of(end["at"])
        nodes = [n for n in self.sketch.nodes.values() if n.place is not None]
        here = [n for n in nodes if math.dist(position_of_node(n), place) < SAME_PLACE]
        return min(here, key=lambda n: n.fixed, default=None)

    def named(self, name: str) -> Node:
        """Return the node with a name."""
        if name not in self.sketch.nodes:
            raise unknown_name("point", name, self.sketch.nodes)
        return self.sketch.nodes[name]

    def seen(self, end: End) -> Place:
        """Position of an end of a stroke."""
        node = self.node(end)
        return place_of(end["at"]) if node is None else position_of_node(node)

    def letter(self, besides: Iterable[str] = ()) -> str:
        """Return an unused name for a point: A, B, …, Z, A1, …"""
        taken = {p for names in Sketch(self.text).points.values() for p in names} | set(besides)
        names = (f"{c}{k or ''}" for k in count() for c in ascii_uppercase)
        return next(name for name in names if name not in taken)

    @staticmethod
    def numbered(stem: str, *taken: Iterable[str]) -> str:
        """Return an unused name: a stem and a number."""
        used = {str(name) for names in taken for name in names}
        return next(f"{stem}{k}" for k in count(1) if f"{stem}{k}" not in used)

    def angle(self, bar: str) -> float:
        """Angle of a bar in the drawing (rad)."""
        (x0, y0), (x1, y1) = (
            position_of_node(self.sketch.nodes[n]) for n in self.sketch.links[bar]
        )
        return math.atan2(y1 - y0, x1 - x0)

    def local(self, body: str, place: Place) -> Place:
        """Position in the frame of a link: along it from its first end, and perpendicular to it."""
        if body not in self.sketch.links:
            raise unknown_name("link", body, self.sketch.links)
        x0, y0 = position_of_node(self.sketch.nodes[self.sketch.links[body][0]])
        angle, dx, dy = self.angle(body), place[0] - x0, place[1] - y0
        c, s = math.cos(angle), math.sin(angle)
        return c * dx + s * dy, c * dy - s * dx

    def join(self, node: Node, body: str) -> None:
        """Add a revolute joint between a body and a node. An existing joint in short form becomes
        explicit, because a third body would make it ambiguous.
        """
        point = node.members[0][1]
        for joint in self.sketch.joints:
            if joint.name == point and not joint.entry:
                self.text = with_value(self.text, ("joints", point), revolute(joint.ends))
        others = [m for m in node.members if m[0] == GROUND] or node.members
        joints = self.section("joints")
        name = point if point not in joints else self.numbered(f"{point}_", joints)
        self.add("joints", name, revolute([others[0], (body, point)]))

    def ground_point(self, place: Place, besides: Iterable[str] = ()) -> str:
        """Add a fixed point with an unused name."""
        name = self.letter(besides)
        self.add(GROUND, name, row(place))
        self.places[GROUND, name] = place
        return name

    def rail(self, place: Place, axis: Place) -> str | None:
        """A ground point on the line of a slider, if there is one."""
        length = math.hypot(*axis)
        for node in self.sketch.nodes.values():
            if node.fixed and node.place is not None:
                dx, dy = node.place[0] - place[0], node.place[1] - place[1]
                if abs(dx * axis[1] - dy * axis[0]) / length < SAME_PLACE:
                    return next(point for body, point in node.members if body == GROUND)
        return None
