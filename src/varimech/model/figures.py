"""Shapes that drawings show on a body beside its links: wheels, balls and outlines, as provided by
their elements.
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
    """"wheel", "ball" or "outline"; of joints with clearance, "bore" or "slot" that contains
    `mate`; "belt" from one pulley to another, "rack" with its pinion.
    """
    point: Point
    radius: SX | None = None
    """Radius of a wheel or ball (m); of a wheel that meshes, it may follow from `mate` and `share`.
    """
    axis: SX | None = None
    """Axis of a wheel in space; direction of a slot or rack."""
    teeth: int = 0
    is_ring: bool = False
    """Whether its teeth are on the inside."""
    mate: Point | None = None
    """Centre of its mate: the wheel that it meshes with, the pin or block in it, the other pulley,
    or the pinion.
    """
    mate_radius: SX | None = None
    """Radius of the other pulley (m)."""
    mate_axis: SX | None = None
    """Axis of a pinion in space."""
    axis_body: Body | None = None
    """Body in whose frame the direction of a rack is given."""
    is_reversed: bool = False
    """Whether a belt is crossed, or a rack moves backwards when its pinion turns forwards."""
    share: float = 0.0
    """Ratio of its radius to the distance between both centres."""
    is_second: bool = False
    """Whether it is the second of two wheels that mesh: it has a gap where the first one has a
    tooth.
    """
    outline: np.ndarray | None = None
    """Corners relative to the point (m), (corner, component)."""
    closed: bool = True

    def plain(self, model: ModelData) -> dict[str, object]:
        """Numbers and names only, at nominal values; absent quantities are left out."""
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
    """Centre of the wheel that turns by an angle relative to a carrier: its point in the joint
    between them, or, in the plane, in any joint.
    """
    wheel = turn.second if turn.first is carrier else turn.first
    joints = sorted(
        (j for j in model.joints.values() if wheel in j.bodies and j.angle() is not None),
        key=lambda j: carrier not in j.bodies,
    )
    ends = [p for j in joints for p in (j.first, j.second) if p.body is wheel]
    return ends[0] if ends else None
