"""What drawings show fixed to a body beside its links: wheels, balls and outlines, as the elements that know
them state it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..core.symbols import SX
from .body import Body, Point

if TYPE_CHECKING:
    from .model_data import ModelData
    from .scalar_outputs import Turn


@dataclass(frozen=True)
class Figure:
    """A wheel, ball or outline around a point of a body, along the axes of that body."""

    kind: str
    """"wheel", "ball" or "outline"; of joints with clearance, "bore" or "slot" with `mate` in it; "belt"
    from one pulley to another, "rack" with its pinion.
    """
    point: Point
    radius: SX | None = None
    """Of a wheel or ball (m); of a wheel that meshes, it may follow from `mate` and `share`."""
    axis: SX | None = None
    """Of a wheel in space; direction of a slot or rack."""
    teeth: int = 0
    is_ring: bool = False
    """Whether teeth are inside."""
    mate: Point | None = None
    """Centre of the wheel that it meshes with, of the pin or block in it, of the other pulley or of the
    pinion.
    """
    mate_radius: SX | None = None
    """Of the other pulley (m)."""
    mate_axis: SX | None = None
    """Of a pinion in space."""
    axis_body: Body | None = None
    """In whose frame the direction of a rack is."""
    is_reversed: bool = False
    """Whether a belt is crossed, or a rack moves back where its pinion turns forwards."""
    share: float = 0.0
    """Radius by the distance of both centres."""
    is_second: bool = False
    """Of two wheels that mesh: a gap of the second one is where the first one has a tooth."""
    outline: np.ndarray | None = None
    """Corners from the point (m), (corner, component)."""
    closed: bool = True

    def plain(self, model: ModelData) -> dict[str, object]:
        """Numbers and names only, at nominal values; what it has not is left out."""
        number = model.parameter_set.evaluate
        data: dict[str, object] = {
            "kind": self.kind,
            "point": self.point.label,
            "body": None if self.point.body.is_ground else self.point.body.name,
        }
        if self.radius is not None:
            data["radius"] = float(number(self.radius).item())
        if self.axis is not None:
            data["axis"] = number(self.axis).ravel().tolist()
        if self.teeth:
            data |= {"teeth": self.teeth, "ring": self.is_ring}
        if self.mate is not None:
            data |= {"mate": self.mate.label, "share": self.share, "second": self.is_second}
        if self.kind in ("belt", "rack"):
            data["reversed"] = self.is_reversed
        if self.kind == "rack" and self.mate is not None and self.axis_body is not None:
            for name, body in (("mate_body", self.mate.body), ("axis_body", self.axis_body)):
                data[name] = None if body.is_ground else body.name
        for name in ("mate_radius", "mate_axis"):
            value = getattr(self, name)
            if value is not None:
                numbers = number(value).ravel().tolist()
                data[name] = numbers if name == "mate_axis" else numbers[0]
        if self.outline is not None:
            data |= {"outline": self.outline.round(9).tolist(), "closed": self.closed}
        return data


def wheel_centre(model: ModelData, turn: Turn, carrier: Body) -> Point | None:
    """Centre of the wheel that turns by an angle against a carrier: its point in the joint between
    them, or in any joint in the plane.
    """
    wheel = turn.second if turn.first is carrier else turn.first
    joints = sorted(
        (j for j in model.joints.values() if wheel in j.bodies and j.angle() is not None),
        key=lambda j: carrier not in j.bodies,
    )
    ends = [p for j in joints for p in (j.first, j.second) if p.body is wheel]
    return ends[0] if ends else None
