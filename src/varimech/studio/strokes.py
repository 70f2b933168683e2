"""Strokes that add elements to a drawn mechanism or move them: each changes entries of its text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from ..core.errors import ModelError, unknown_name
from ..core.units import split_quantity
from ..files.editing import quoted, shortest, with_value
from .drawn_text import DrawnText, End
from .entries import is_number, place_of, position_of_node, row
from .renaming import renamed
from .sketch import GROUND, Place

MASS = "1 kg"
INERTIA = "1e-3"
"""Moment of inertia (kg m²) of a block that slides: it does not rotate, so any value serves."""
STIFFNESS, DAMPING, SPEED = "1000 N/m", "10 N*s/m", "60 rpm"


def ground(drawn: DrawnText, end: End) -> None:
    """Add a fixed point; at the end of a link it is a pivot."""
    node = drawn.node(end)
    if node is None:
        drawn.ground_point(place_of(end["at"]))
    elif not node.fixed:
        name = node.members[0][1]
        drawn.add(GROUND, name, row(position_of_node(node)))
        drawn.places[GROUND, name] = position_of_node(node)
        drawn.join(node, GROUND)


def link(drawn: DrawnText, begin: End, end: End) -> None:
    """Add a bar between two positions; at a point it is joined to the bodies there."""
    nodes = [drawn.node(e) for e in (begin, end)]
    places = [
        place_of(e["at"]) if n is None else position_of_node(n)
        for e, n in zip((begin, end), nodes, strict=True)
    ]
    length = math.dist(*places)
    if length == 0 or (nodes[0] is not None and nodes[0] is nodes[1]):
        raise ModelError("a link needs two different ends", remedy="drag from one to the other")
    bar = drawn.numbered("L", drawn.sketch.bodies, drawn.section("parameters"))
    points: list[str] = []
    for node in nodes:
        points.append(drawn.letter(points) if node is None else node.members[0][1])
    if points[0] == points[1]:
        raise ModelError(f"both points are called {points[0]!r}", remedy="rename one of them first")
    drawn.parameter(bar, length * 1e3, "mm")
    ends = ", ".join(map(quoted, points))
    drawn.add("bodies", bar, f"{{bar: [{ends}], length: {bar}, mass: {MASS}}}")
    for point, place, node in zip(points, places, nodes, strict=True):
        drawn.places[bar, point] = place
        if node is not None:
            drawn.join(node, bar)


def slider(drawn: DrawnText, end: End, axis: Iterable[float] = (1.0, 0.0)) -> None:
    """Add a block that slides along an axis; at a point it is joined to the bodies there."""
    x, y = place_of(axis)
    if x == y == 0:
        raise ModelError("a slider needs a direction", remedy="drag along it")
    node = drawn.node(end)
    if node is not None and node.fixed:
        raise ModelError(f"{node.name!r} is fixed", remedy="put the slider at a moving point")
    place = place_of(end["at"]) if node is None else position_of_node(node)
    body = drawn.numbered("S", drawn.sketch.bodies)
    point = drawn.letter() if node is None else node.members[0][1]
    points = f"{{{quoted(point)}: [0, 0]}}"
    drawn.add("bodies", body, f"{{mass: {MASS}, inertia: {INERTIA}, points: {points}}}")
    drawn.places[body, point] = place
    if node is not None:
        drawn.join(node, body)
    rail = drawn.rail(place, (x, y)) or drawn.ground_point(place, [point])
    guide = drawn.numbered("guide", drawn.section("joints"))
    ends = f"{quoted(f'{GROUND}.{rail}')}, {quoted(f'{body}.{point}')}"
    drawn.add("joints", guide, f"{{prismatic: [{ends}], axis: {row((x, y))}}}")


def spring(drawn: DrawnText, begin: End, end: End) -> None:
    """Add a spring that is unstressed as drawn."""
    length = f"{shortest(1e3 * math.dist(drawn.seen(begin), drawn.seen(end)))} mm"
    _between(
        drawn, "spring", "k", "stiffness", STIFFNESS, begin, end, f", natural_length: {length}"
    )


def damper(drawn: DrawnText, begin: End, end: End) -> None:
    """Add a damper."""
    _between(drawn, "damper", "c", "damping", DAMPING, begin, end)


def driver(drawn: DrawnText, body: str) -> None:
    """Drive a link at constant speed."""
    if body not in drawn.sketch.links:
        raise unknown_name("link", body, drawn.sketch.links)
    if body in drawn.sketch.drivers.values():
        raise ModelError(f"{body!r} has a driver already", remedy="change its speed")
    name = drawn.numbered("motor", drawn.section("drivers"), drawn.section("parameters"))
    value, unit = SPEED.split()
    drawn.parameter(name, float(value), unit)
    motion = f"{shortest(math.degrees(drawn.angle(body)))} deg + {name}*t"
    drawn.add("drivers", name, f"{{angle: {quoted(body)}, motion: {motion}}}")


def point(drawn: DrawnText, body: str, at: Iterable[float]) -> None:
    """Add a point to a link, beside its ends."""
    name, place = drawn.letter(), place_of(at)
    drawn.write_points(body, {**drawn.own_points(body), name: row(drawn.local(body, place))})
    drawn.places[body, name] = place


def move(drawn: DrawnText, node: str, to: Iterable[float]) -> None:
    """Move a point: links that end there change their lengths."""
    _moved(drawn, {node: place_of(to)})


def carry(drawn: DrawnText, body: str, to: Iterable[Iterable[float]]) -> None:
    """Move a whole link, given the positions of its ends: its points move with it, and links that
    end at them change their lengths.
    """
    if body not in drawn.sketch.links:
        raise unknown_name("link", body, drawn.sketch.links)
    begin, end = (place_of(place) for place in to)
    from_ = position_of_node(drawn.sketch.nodes[drawn.sketch.links[body][0]])
    turn = math.atan2(end[1] - begin[1], end[0] - begin[0]) - drawn.angle(body)
    c, s = math.cos(turn), math.sin(turn)

    def carried(place: Place) -> Place:
        x, y = place[0] - from_[0], place[1] - from_[1]
        return begin[0] + c * x - s * y, begin[1] + s * x + c * y

    nodes = {drawn.sketch.node_of((body, p)).name for p in drawn.sketch.points[body]}
    _moved(
        drawn, {n: carried(position_of_node(drawn.sketch.nodes[n])) for n in sorted(nodes)}, body
    )


def _moved(drawn: DrawnText, places: Mapping[str, Place], carried: str | None = None) -> None:
    """Move points; those of a body that is carried keep their local coordinates."""
    for node, place in places.items():
        for member in drawn.named(node).members:
            drawn.places[member] = place
            body, point = member
            if body == GROUND:
                drawn.text = with_value(drawn.text, (GROUND, point), row(place))
            elif body != carried and point in drawn.own_points(body):
                own = {**drawn.own_points(body), point: row(drawn.local(body, place))}
                drawn.write_points(body, own)
    for bar, ends in drawn.sketch.links.items():
        if bar != carried and set(ends) & set(places):
            at = [drawn.places[bar, str(p)] for p in drawn.sketch.bodies[bar]["bar"]]
            drawn.set_length(bar, math.dist(*at))


def value(drawn: DrawnText, section: str, name: str, key: str, text: str) -> None:
    """Replace a number by typed text; without a unit it keeps the present one."""
    where = (section, name, key)
    entry = drawn.section(section).get(name)
    if not isinstance(entry, dict) or key not in entry:
        raise ModelError(f"{'.'.join(where)} is not in the text")
    before = str(entry[key])
    if before in drawn.section("parameters"):
        where = ("parameters", before, "value")
        parameter = drawn.section("parameters")[before]
        before = str(parameter["value"] if isinstance(parameter, dict) else parameter)
    quantity, text = split_quantity(before), str(text)
    if quantity is not None and quantity[1] and is_number(text):
        text = f"{text.strip()} {quantity[1]}"
    if where[0] == "parameters" and drawn.widened(where[1], text):
        return
    drawn.set_scalar(where, text.strip())


def rename(drawn: DrawnText, kind: str, old: str, new: str) -> None:
    """Rename a body or point everywhere in the text."""
    taken = set(drawn.sketch.bodies) | {p for names in drawn.sketch.points.values() for p in names}
    old, new = str(old), str(new)
    if new in taken:
        raise ModelError(f"{new!r} is in use already", remedy="choose another name")
    if kind == "body" and old in drawn.section("parameters") and not new.isidentifier():
        remedy = f"use letters, digits and _ only: the parameter {old!r} gets this name, too"
        raise ModelError(f"{new!r} cannot be used in expressions", remedy=remedy)
    point = drawn.named(old).members[0][1] if kind == "point" else None
    drawn.text = renamed(drawn.text, point or old, new, is_point=point is not None)


def _between(
    drawn: DrawnText,
    kind: str,
    letter: str,
    key: str,
    value: str,
    begin: End,
    end: End,
    more: str = "",
) -> None:
    """Add a spring or damper with a parameter of its own."""
    if math.dist(drawn.seen(begin), drawn.seen(end)) == 0:
        raise ModelError(f"a {kind} needs two different ends", remedy="drag between them")
    members = []
    for e in (begin, end):
        node = drawn.node(e)
        member = (
            (GROUND, drawn.ground_point(place_of(e["at"]))) if node is None else node.members[0]
        )
        members.append(quoted(".".join(member)))
    parameter = drawn.numbered(letter, drawn.section("parameters"))
    number, unit = value.split(" ", 1)
    drawn.parameter(parameter, float(number), unit)
    name = drawn.numbered(kind, drawn.section("forces"))
    ends = ", ".join(members)
    drawn.add("forces", name, f"{{{kind}: [{ends}], {key}: {parameter}{more}}}")
