"""Strokes that delete: everything that depends on a body or point is deleted with it."""

from __future__ import annotations

from ..core.errors import ModelError, unknown_name
from .drawn_text import DrawnText
from .sketch import GROUND, Node


def delete(drawn: DrawnText, kind: str, name: str) -> None:
    """Remove a body, ground point, force or driver, and everything that depends on it."""
    sections = {"force": "forces", "driver": "drivers"}
    if kind in sections:
        drawn.remove(sections[kind], name)
    elif kind == "body":
        _remove_body(drawn, name)
    else:
        _remove_point(drawn, drawn.named(name))


def _remove_body(drawn: DrawnText, name: str) -> None:
    if name not in drawn.sketch.bodies:
        raise unknown_name("body", name, drawn.sketch.bodies)
    for section, connections in (
        ("joints", drawn.sketch.joints),
        ("forces", drawn.sketch.forces),
    ):
        for connection in connections:
            if name in {body for body, _ in connection.ends}:
                drawn.remove(section, connection.name)
    for driver, body in drawn.sketch.drivers.items():
        if body == name:
            drawn.remove("drivers", driver)
    if name in drawn.section("points"):
        drawn.remove("points", name)
    drawn.remove("bodies", name)


def _remove_point(drawn: DrawnText, node: Node) -> None:
    fixed = [point for body, point in node.members if body == GROUND]
    own = [(b, p) for b, p in node.members if b != GROUND and p in drawn.own_points(b)]
    if not fixed and len(own) != len(node.members):
        raise ModelError(f"links end at {node.name!r}", remedy="delete these links")
    gone = [(GROUND, p) for p in fixed] or own
    for section, all_ in (("joints", drawn.sketch.joints), ("forces", drawn.sketch.forces)):
        for connection in all_:
            if set(connection.ends) & set(gone):
                drawn.remove(section, connection.name)
    for body, point in gone:
        if body == GROUND:
            drawn.remove(GROUND, point)
        else:
            left = {k: v for k, v in drawn.own_points(body).items() if k != point}
            drawn.write_points(body, left)
