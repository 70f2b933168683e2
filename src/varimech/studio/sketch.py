"""A planar model file as a drawing: coincident points, their positions, and the elements between
them. It does not require a model that can move, or even be assembled, so there is a drawing from
the first line of text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from ..analyses.at_rest import at_start
from ..analyses.solvers import ModelSolvers
from ..core.errors import VarimechError
from ..core.expressions import fixed_number
from ..files.editing import plain

GROUND = "ground"
JOINTS = ("revolute", "prismatic", "fixed", "point_on_line", "distance")
"""Planar joints."""
Place = tuple[float, float]
Member = tuple[str, str]
"""Body and name of one of its points."""


@dataclass
class Node:
    """Points of several bodies that joints connect."""

    name: str
    members: list[Member]
    place: Place | None = None

    @property
    def fixed(self) -> bool:
        """Whether it belongs to the ground."""
        return any(body == GROUND for body, _ in self.members)


@dataclass
class Connection:
    """A joint, spring or damper between two points."""

    name: str
    kind: str
    ends: list[Member]
    entry: Mapping[str, Any] = field(default_factory=dict)


class Sketch:
    """The drawing of a model text.

    Attributes:
        data: the text as plain data.
        points: names of points by body.
        spatial: whether the mechanism is spatial, which cannot be drawn.
        nodes: by name: the name of the point, with its body if points of one name are at several positions.
        error: why the model cannot be assembled; None if it can.
    """

    def __init__(
        self, text: str, mechanism: Any = None, places: Mapping[Member, Place] | None = None
    ):
        self.spatial = mechanism is not None and mechanism.data.dimension == 3
        self.data = {} if self.spatial else plain(text)
        self.points = _points(self.data)
        self.joints = list(self._connections("joints", JOINTS))
        self.forces = list(self._connections("forces", ("spring", "damper")))
        self.nodes = self._nodes()
        self.error: str | None = None
        positions = {**self._assembled(mechanism), **(places or {})}
        for node in self.nodes.values():
            position = next((positions[m] for m in node.members if m in positions), None)
            node.place = position or self._written(node)

    @property
    def bodies(self) -> dict[str, Any]:
        """Entries of bodies by name."""
        return _section(self.data, "bodies")

    @property
    def links(self) -> dict[str, list[str]]:
        """Names of the nodes at both ends of each bar."""
        return {
            name: [self.node_of((name, str(end))).name for end in entry["bar"]]
            for name, entry in self.bodies.items()
            if isinstance(entry, dict) and _two(entry.get("bar"))
        }

    @property
    def drivers(self) -> dict[str, str]:
        """Bodies whose angle is driven, by driver."""
        entries = _section(self.data, "drivers").items()
        return {n: str(e["angle"]) for n, e in entries if isinstance(e, dict) and "angle" in e}

    def node_of(self, member: Member) -> Node:
        """The node of a point of a body."""
        return next(node for node in self.nodes.values() if member in node.members)

    def place_of(self, member: Member) -> Place | None:
        """Position of a point of a body."""
        return self.node_of(member).place

    def member(self, reference: object) -> Member | None:
        """Body and point of a reference such as "L1.B", or "B" if the name is unique."""
        body, dot, point = str(reference).partition(".")
        if dot:
            return (body, point) if point in self.points.get(body, ()) else None
        owners = [(b, body) for b, names in self.points.items() if body in names]
        return owners[0] if owners else None

    def connected(self) -> set[str]:
        """Bodies that some path of joints connects to the ground."""
        reached, before = {GROUND}, 0
        while len(reached) > before:
            before = len(reached)
            for joint in self.joints:
                bodies = {body for body, _ in joint.ends}
                if bodies & reached:
                    reached |= bodies
        return reached

    def _connections(self, section: str, kinds: tuple[str, ...]) -> Iterator[Connection]:
        for name, entry in _section(self.data, section).items():
            if isinstance(entry, str) and entry in kinds:
                ends = [(body, name) for body, names in self.points.items() if name in names]
                connection = Connection(name, entry, ends[:2])
            else:
                kind = next((k for k in kinds if isinstance(entry, dict) and k in entry), None)
                references = entry[kind] if kind is not None else None
                if not _two(references):
                    continue
                members = [self.member(r) for r in references]
                connection = Connection(
                    name, str(kind), [m for m in members if m is not None], entry
                )
            if len(connection.ends) == 2:
                yield connection

    def _nodes(self) -> dict[str, Node]:
        groups = [[(body, p)] for body, names in self.points.items() for p in names]
        for joint in self.joints:
            if joint.kind == "revolute":
                first, second = (next(g for g in groups if end in g) for end in joint.ends)
                if first is not second:
                    first += second
                    groups = [g for g in groups if g is not second]
        short = [group[0][1] for group in groups]
        names = [
            point if short.count(point) == 1 else f"{body}.{point}" for (body, point), *_ in groups
        ]
        return {name: Node(name, group) for name, group in zip(names, groups, strict=True)}

    def _assembled(self, mechanism: Any) -> dict[Member, Place]:
        """Positions at t = 0 from the assembled model."""
        if mechanism is None or not self.bodies:
            return {}
        members = [m for node in self.nodes.values() for m in node.members]
        try:
            run = at_start(ModelSolvers(mechanism.data))
            paths = run.paths([f"{body}.{point}" for body, point in members])
        except VarimechError as error:
            self.error = str(error)
            return {}
        rows = (paths[f"{body}.{point}"][0] for body, point in members)
        return {m: (float(row[0]), float(row[1])) for m, row in zip(members, rows, strict=True)}

    def _written(self, node: Node) -> Place | None:
        """Position of a node from the text, exact or approximate."""
        start = _section(self.data, "start")
        ground, near = _section(self.data, GROUND), _section(start, "near")
        for body, point in node.members:
            position = ground.get(point) if body == GROUND else None
            position = (
                position or near.get(node.name) or near.get(f"{body}.{point}") or near.get(point)
            )
            if _two(position):
                try:
                    x, y = (fixed_number(str(c), "m", f"point {point!r}") for c in position)
                except VarimechError:  # a parameter, or a value that drawings do not support
                    continue
                return float(x), float(y)
        return None


def _points(data: Mapping[str, Any]) -> dict[str, list[str]]:
    """Names of the points of the ground and of each body, except its centre of mass."""
    points: dict[str, list[str]] = {GROUND: list(_section(data, GROUND))}
    more = _section(data, "points")
    for body, entry in _section(data, "bodies").items():
        entry = entry if isinstance(entry, dict) else {}
        ends = entry.get("bar")
        names = [*(ends if _two(ends) else ()), *_section(entry, "points"), *_section(more, body)]
        points[body] = [str(name) for name in names]
    points[GROUND] += [str(name) for name in _section(more, GROUND)]
    return points


def _section(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    section = data.get(name)
    return {str(k): v for k, v in section.items()} if isinstance(section, dict) else {}


def _two(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list) and len(value) == 2
