"""Drawing a planar mechanism: each stroke is one change of the text of its model file.

The drawn pose is in the text, too: `start:` gets the angle of one bar for each degree of freedom that no
driver prescribes, and the places of all moving points under `near:`, so that assembly finds the pose
that was drawn.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from string import ascii_uppercase
from typing import Any

from ..core.errors import ModelError, unknown_name
from ..core.units import split_quantity
from ..files.editing import (
    quoted,
    scalars,
    shortest,
    with_entry,
    with_scalar,
    with_value,
    without_entry,
)
from .mobility import mobility
from .renaming import renamed
from .sketch import GROUND, Member, Node, Place, Sketch

MASS = "1 kg"
INERTIA = "1e-3"
"""kg m², of a block that slides: it does not turn, so that any value serves."""
STIFFNESS, DAMPING, SPEED = "1000 N/m", "10 N*s/m", "60 rpm"
BOUNDS = (0.5, 2.0)
"""Of a new parameter, as shares of its value: the ends of its slider."""
SAME_PLACE = 1e-6
"""m, within which two places are one, and a point lies on a line: less than anybody draws."""
PLACES = 7
"""Decimals of coordinates (m)."""
TURNING = re.compile(r"-?[\d.e+-]+ deg \+ (.+)")
"""Motion of a driver: the angle that was drawn, and what is added to it over time."""
End = Mapping[str, Any]
"""Of a stroke: {"node": name} or {"at": [x, y]}."""


class Building:
    """A text that is being changed, with the places of the points in it."""

    def __init__(self, text: str, sketch: Sketch):
        self.text, self._sketch = text, sketch
        self._places: dict[Member, Place] = {
            m: node.place
            for node in sketch.nodes.values()
            if node.place is not None
            for m in node.members
        }

    # strokes

    def ground(self, end: End) -> None:
        """A fixed point; one at the end of a link is a pivot."""
        node = self._node(end)
        if node is None:
            self._ground_point(_place(end["at"]))
        elif not node.fixed:
            name = node.members[0][1]
            self._add(GROUND, name, _row(_known(node)))
            self._places[GROUND, name] = _known(node)
            self._join(node, GROUND)

    def link(self, begin: End, end: End) -> None:
        """A bar between two places; at a point it is joined to what is there."""
        nodes = [self._node(e) for e in (begin, end)]
        places = [
            _place(e["at"]) if n is None else _known(n)
            for e, n in zip((begin, end), nodes, strict=True)
        ]
        length = math.dist(*places)
        if length == 0 or (nodes[0] is not None and nodes[0] is nodes[1]):
            raise ModelError("a link needs two different ends", remedy="drag from one to the other")
        bar = self._numbered("L", self._sketch.bodies, self._section("parameters"))
        points: list[str] = []
        for node in nodes:
            points.append(self._letter(points) if node is None else node.members[0][1])
        if points[0] == points[1]:
            raise ModelError(
                f"both points are called {points[0]!r}", remedy="rename one of them first"
            )
        self._parameter(bar, length * 1e3, "mm")
        ends = ", ".join(map(quoted, points))
        self._add("bodies", bar, f"{{bar: [{ends}], length: {bar}, mass: {MASS}}}")
        for point, place, node in zip(points, places, nodes, strict=True):
            self._places[bar, point] = place
            if node is not None:
                self._join(node, bar)

    def slider(self, end: End, axis: Iterable[float] = (1.0, 0.0)) -> None:
        """A block that slides along an axis; at a point it carries what is there."""
        x, y = _place(axis)
        if x == y == 0:
            raise ModelError("a slider needs a direction", remedy="drag along it")
        node = self._node(end)
        if node is not None and node.fixed:
            raise ModelError(f"{node.name!r} is fixed", remedy="put the slider at a moving point")
        place = _place(end["at"]) if node is None else _known(node)
        body = self._numbered("S", self._sketch.bodies)
        point = self._letter() if node is None else node.members[0][1]
        points = f"{{{quoted(point)}: [0, 0]}}"
        self._add("bodies", body, f"{{mass: {MASS}, inertia: {INERTIA}, points: {points}}}")
        self._places[body, point] = place
        if node is not None:
            self._join(node, body)
        rail = self._rail(place, (x, y)) or self._ground_point(place, [point])
        guide = self._numbered("guide", self._section("joints"))
        ends = f"{quoted(f'{GROUND}.{rail}')}, {quoted(f'{body}.{point}')}"
        self._add("joints", guide, f"{{prismatic: [{ends}], axis: {_row((x, y))}}}")

    def spring(self, begin: End, end: End) -> None:
        """A spring that is free of force as it is drawn."""
        length = f"{shortest(1e3 * math.dist(self._seen(begin), self._seen(end)))} mm"
        self._force(
            "spring", "k", "stiffness", STIFFNESS, begin, end, f", natural_length: {length}"
        )

    def damper(self, begin: End, end: End) -> None:
        """A damper."""
        self._force("damper", "c", "damping", DAMPING, begin, end)

    def driver(self, body: str) -> None:
        """Turn a link at constant speed."""
        if body not in self._sketch.links:
            raise unknown_name("link", body, self._sketch.links)
        if body in self._sketch.drivers.values():
            raise ModelError(f"{body!r} has a driver already", remedy="change its speed")
        name = self._numbered("motor", self._section("drivers"), self._section("parameters"))
        value, unit = SPEED.split()
        self._parameter(name, float(value), unit)
        motion = f"{shortest(math.degrees(self._angle(body)))} deg + {name}*t"
        self._add("drivers", name, f"{{angle: {quoted(body)}, motion: {motion}}}")

    def point(self, body: str, at: Iterable[float]) -> None:
        """A point of a link, beside its ends."""
        name, place = self._letter(), _place(at)
        self._write_points(body, {**self._own_points(body), name: _row(self._local(body, place))})
        self._places[body, name] = place

    def move(self, node: str, to: Iterable[float]) -> None:
        """Another place of a point: links that end there get other lengths."""
        moved, place = self._named(node), _place(to)
        for member in moved.members:
            self._places[member] = place
            body, point = member
            if body == GROUND:
                self.text = with_value(self.text, (GROUND, point), _row(place))
            elif point in self._own_points(body):
                self._write_points(
                    body, {**self._own_points(body), point: _row(self._local(body, place))}
                )
        for bar, ends in self._sketch.links.items():
            if node in ends:
                places = [self._places[bar, str(p)] for p in self._sketch.bodies[bar]["bar"]]
                self._set_length(bar, math.dist(*places))

    def delete(self, kind: str, name: str) -> None:
        """Remove a body, ground point, force or driver, and what depends on it."""
        sections = {"force": "forces", "driver": "drivers"}
        if kind in sections:
            self._remove(sections[kind], name)
        elif kind == "body":
            self._remove_body(name)
        else:
            self._remove_point(self._named(name))

    def value(self, section: str, name: str, key: str, text: str) -> None:
        """Another number, as it was typed; without a unit in the one that it has."""
        where = (section, name, key)
        entry = self._section(section).get(name)
        if not isinstance(entry, dict) or key not in entry:
            raise ModelError(f"{'.'.join(where)} is not in the text")
        before = str(entry[key])
        if before in self._section("parameters"):
            where = ("parameters", before, "value")
            given = self._section("parameters")[before]
            before = str(given["value"] if isinstance(given, dict) else given)
        quantity, text = split_quantity(before), str(text)
        if quantity is not None and quantity[1] and _is_number(text):
            text = f"{text.strip()} {quantity[1]}"
        self._scalar(where, text.strip())

    def rename(self, kind: str, old: str, new: str) -> None:
        """Another name of a body or point, everywhere in the text."""
        taken = set(self._sketch.bodies) | {
            p for names in self._sketch.points.values() for p in names
        }
        old, new = str(old), str(new)
        if new in taken:
            raise ModelError(f"{new!r} is in use already", remedy="choose another name")
        point = self._named(old).members[0][1] if kind == "point" else None
        self.text = renamed(self.text, point or old, new, is_point=point is not None)

    # the pose

    def posed(self) -> str:
        """The text with the drawn pose as its start."""
        sketch = Sketch(self.text, places=self._places)
        found = mobility(sketch)
        start = sketch.data.get("start") or {}
        if found is None or set(start) - {"angle", "displacement", "near", "speed"}:
            return self.text  # elements or initial conditions that only their author understands
        self._sketch = sketch
        given = start.get("angle") or {}
        angles = {
            body: f"{shortest(math.degrees(self._angle(body)))} deg"
            if body in sketch.links
            else given[body]
            for body in found.angles
        }
        slides = {name: shortest(self._slid(name)) for name in found.slides}
        near = {
            node.name: _row(node.place)
            for node in sketch.nodes.values()
            if not node.fixed and node.place is not None
        }
        speeds = {k: v for k, v in (start.get("speed") or {}).items() if k in angles | slides}
        text = self._turned(sketch)
        for key, values in {
            "angle": angles,
            "displacement": slides,
            "near": near,
            "speed": speeds,
        }.items():
            if values and values != start.get(key):
                text = with_value(text, ("start", key), _mapping(values))
            elif not values and key in start:
                text = without_entry(text, "start", key)
        return text

    def _turned(self, sketch: Sketch) -> str:
        """The text with drivers that begin at the drawn angles."""
        text = self.text
        for driver, body in sketch.drivers.items():
            match = TURNING.fullmatch(str(sketch.data["drivers"][driver].get("motion")))
            if match is not None and body in sketch.links:
                angle = shortest(math.degrees(self._angle(body)))
                entry = f"{{angle: {quoted(body)}, motion: {angle} deg + {match[1]}}}"
                text = with_value(text, ("drivers", driver), entry)
        return text

    def _angle(self, bar: str) -> float:
        (x0, y0), (x1, y1) = (_known(self._sketch.nodes[n]) for n in self._sketch.links[bar])
        return math.atan2(y1 - y0, x1 - x0)

    def _slid(self, name: str) -> float:
        joint = next(j for j in self._sketch.joints if j.name == name)
        (x0, y0), (x1, y1) = (_known(self._sketch.node_of(end)) for end in joint.ends)
        x, y = _place(joint.entry["axis"])
        return ((x1 - x0) * x + (y1 - y0) * y) / math.hypot(x, y)

    # parts of strokes

    def _section(self, name: str) -> dict[str, Any]:
        section = Sketch(self.text).data.get(name)
        return section if isinstance(section, dict) else {}

    def _add(self, section: str, name: str, entry: str) -> None:
        self.text = with_entry(self.text, section, name, entry)

    def _remove(self, section: str, name: str) -> None:
        """An entry, and parameters that were there for it alone."""
        entry = self._section(section).get(name)
        self.text = without_entry(self.text, section, name)
        words = set(re.findall(r"\w+", str(entry)))
        for parameter in words & set(self._section("parameters")):
            uses = [n.value for where, key, n in scalars(self.text) if where[:1] != ("parameters",)]
            if not any(re.search(rf"\b{re.escape(parameter)}\b", use) for use in uses):
                self.text = without_entry(self.text, "parameters", parameter)

    def _remove_body(self, name: str) -> None:
        if name not in self._sketch.bodies:
            raise unknown_name("body", name, self._sketch.bodies)
        for section, connections in (
            ("joints", self._sketch.joints),
            ("forces", self._sketch.forces),
        ):
            for connection in connections:
                if name in {body for body, _ in connection.ends}:
                    self._remove(section, connection.name)
        for driver, body in self._sketch.drivers.items():
            if body == name:
                self._remove("drivers", driver)
        if name in self._section("points"):
            self._remove("points", name)
        self._remove("bodies", name)

    def _remove_point(self, node: Node) -> None:
        fixed = [point for body, point in node.members if body == GROUND]
        own = [(b, p) for b, p in node.members if b != GROUND and p in self._own_points(b)]
        if not fixed and len(own) != len(node.members):
            raise ModelError(f"links end at {node.name!r}", remedy="delete these links")
        gone = [(GROUND, p) for p in fixed] or own
        for section, all_ in (("joints", self._sketch.joints), ("forces", self._sketch.forces)):
            for connection in all_:
                if set(connection.ends) & set(gone):
                    self._remove(section, connection.name)
        for body, point in gone:
            if body == GROUND:
                self._remove(GROUND, point)
            else:
                left = {k: v for k, v in self._own_points(body).items() if k != point}
                self._write_points(body, left)

    def _force(
        self, kind: str, letter: str, key: str, value: str, begin: End, end: End, more: str = ""
    ) -> None:
        if math.dist(self._seen(begin), self._seen(end)) == 0:
            raise ModelError(f"a {kind} needs two different ends", remedy="drag between them")
        members = []
        for e in (begin, end):
            node = self._node(e)
            member = (
                (GROUND, self._ground_point(_place(e["at"]))) if node is None else node.members[0]
            )
            members.append(quoted(".".join(member)))
        parameter = self._numbered(letter, self._section("parameters"))
        number, unit = value.split(" ", 1)
        self._parameter(parameter, float(number), unit)
        name = self._numbered(kind, self._section("forces"))
        ends = ", ".join(members)
        self._add("forces", name, f"{{{kind}: [{ends}], {key}: {parameter}{more}}}")

    def _join(self, node: Node, body: str) -> None:
        """A revolute joint between a body and what is at a node. A joint that is there in short form
        becomes explicit: a third body would make it ambiguous.
        """
        point = node.members[0][1]
        for joint in self._sketch.joints:
            if joint.name == point and not joint.entry:
                self.text = with_value(self.text, ("joints", point), _revolute(joint.ends))
        others = [m for m in node.members if m[0] == GROUND] or node.members
        joints = self._section("joints")
        name = point if point not in joints else self._numbered(f"{point}_", joints)
        self._add("joints", name, _revolute([others[0], (body, point)]))

    def _ground_point(self, place: Place, besides: Iterable[str] = ()) -> str:
        name = self._letter(besides)
        self._add(GROUND, name, _row(place))
        self._places[GROUND, name] = place
        return name

    def _rail(self, place: Place, axis: Place) -> str | None:
        """A ground point on the line of a slider."""
        length = math.hypot(*axis)
        for node in self._sketch.nodes.values():
            if node.fixed and node.place is not None:
                dx, dy = node.place[0] - place[0], node.place[1] - place[1]
                if abs(dx * axis[1] - dy * axis[0]) / length < SAME_PLACE:
                    return next(point for body, point in node.members if body == GROUND)
        return None

    def _parameter(self, name: str, value: float, unit: str) -> None:
        self._add("parameters", name, _bounded(value, unit))

    def _set_length(self, bar: str, length: float) -> None:
        given = str(self._sketch.bodies[bar]["length"])
        parameter = self._section("parameters").get(given)
        if parameter is None:
            if split_quantity(given) is not None:
                self.text = with_scalar(self.text, ("bodies", bar, "length"), length)
            return  # an expression: it decides itself
        made = isinstance(parameter, dict) and set(parameter) == {"value", "bounds"}
        if made and str(parameter["value"]).endswith(" mm"):
            self.text = with_value(self.text, ("parameters", given), _bounded(length * 1e3, "mm"))
        else:
            self.text = with_scalar(self.text, ("parameters", given, "value"), length)

    def _scalar(self, where: tuple[str, str, str], text: str) -> None:
        section, name, key = where
        for at, is_key, node in scalars(self.text):
            if not is_key and at in (where, (section, name) if key == "value" else where):
                begin, end = node.start_mark.index, node.end_mark.index
                self.text = self.text[:begin] + text + self.text[end:]
                return

    def _own_points(self, body: str) -> dict[str, Any]:
        """Points of a body in the section of points."""
        given = self._section("points").get(body) or {}
        return {str(k): _row(v) for k, v in given.items()}

    def _write_points(self, body: str, points: Mapping[str, str]) -> None:
        if points:
            self.text = with_value(self.text, ("points", body), _mapping(points))
        else:
            self._remove("points", body)

    def _local(self, body: str, place: Place) -> Place:
        """A place in the frame of a link: along it from its first end, and across."""
        if body not in self._sketch.links:
            raise unknown_name("link", body, self._sketch.links)
        x0, y0 = _known(self._sketch.nodes[self._sketch.links[body][0]])
        angle, dx, dy = self._angle(body), place[0] - x0, place[1] - y0
        c, s = math.cos(angle), math.sin(angle)
        return c * dx + s * dy, c * dy - s * dx

    def _node(self, end: End) -> Node | None:
        """The point that a stroke begins or ends at; also one that the page has not heard of yet."""
        if not isinstance(end, Mapping) or not {"node", "at"} & set(end):
            raise ModelError(f"{end!r} is no end of a stroke", remedy="give a node, or a place at")
        if "node" in end:
            return self._named(str(end["node"]))
        place = _place(end["at"])
        nodes = [n for n in self._sketch.nodes.values() if n.place is not None]
        here = [n for n in nodes if math.dist(_known(n), place) < SAME_PLACE]
        return min(here, key=lambda n: n.fixed, default=None)

    def _named(self, name: str) -> Node:
        if name not in self._sketch.nodes:
            raise unknown_name("point", name, self._sketch.nodes)
        return self._sketch.nodes[name]

    def _seen(self, end: End) -> Place:
        node = self._node(end)
        return _place(end["at"]) if node is None else _known(node)

    def _letter(self, besides: Iterable[str] = ()) -> str:
        """A new name of a point: A, B, …, Z, A1, …"""
        taken = {p for names in Sketch(self.text).points.values() for p in names} | set(besides)
        names = (f"{c}{k or ''}" for k in count() for c in ascii_uppercase)
        return next(name for name in names if name not in taken)

    @staticmethod
    def _numbered(stem: str, *taken: Iterable[str]) -> str:
        used = {str(name) for names in taken for name in names}
        return next(f"{stem}{k}" for k in count(1) if f"{stem}{k}" not in used)


STROKES: dict[str, Callable[..., None]] = {
    name: getattr(Building, name)
    for name in (
        *("ground", "link", "slider", "spring", "damper", "driver", "point"),
        *("move", "delete", "value", "rename"),
    )
}
UNPOSED = ("value", "rename")
"""Strokes after which the pose is found by assembly."""


def changed(text: str, sketch: Sketch, stroke: str, arguments: Mapping[str, Any]) -> str:
    """The text after a stroke.

    Args:
        text: of a model file.
        sketch: what is drawn of it.
        stroke: one of `STROKES`.
        arguments: of the stroke.

    Raises:
        ModelError: if it makes no sense there.
    """
    if stroke not in STROKES:
        raise unknown_name("stroke", stroke, STROKES)
    if sketch.spatial:
        raise ModelError("only planar mechanisms are drawn", remedy="change values in the text")
    building = Building(text, sketch)
    STROKES[stroke](building, **arguments)
    return building.text if stroke in UNPOSED else building.posed()


def _revolute(ends: Iterable[Member]) -> str:
    return f"{{revolute: [{', '.join(quoted('.'.join(end)) for end in ends)}]}}"


def _bounded(value: float, unit: str) -> str:
    low, high = (f"{shortest(float(f'{value * share:.3g}'))} {unit}" for share in BOUNDS)
    return f"{{value: {shortest(value)} {unit}, bounds: [{low}, {high}]}}"


def _row(place: Iterable[Any]) -> str:
    numbers = (shortest(round(p, PLACES)) if isinstance(p, float) else str(p) for p in place)
    return f"[{', '.join(numbers)}]"


def _mapping(values: Mapping[str, object]) -> str:
    return "{" + ", ".join(f"{quoted(str(k))}: {v}" for k, v in values.items()) + "}"


def _place(pair: Iterable[Any]) -> Place:
    x, y = (float(c) for c in pair)
    if not (math.isfinite(x) and math.isfinite(y)):
        raise ModelError(f"({x}, {y}) is no place", remedy="give two finite numbers in m")
    return x, y


def _known(node: Node) -> Place:
    if node.place is None:
        raise ModelError(
            f"nobody knows where {node.name!r} is", remedy=f"give near: {{{node.name}: [x, y]}}"
        )
    return node.place


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
