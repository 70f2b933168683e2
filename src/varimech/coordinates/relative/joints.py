"""Joints of a tree, and free bodies: names, points and geometry of their coordinates."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.symbols import SX
from ...model.body import Body, Point, RigidBody
from ...model.joint import Joint
from ...model.relative_motion import RelativeMotion, Sliding, TurnAndSlide, Turning


@dataclass(frozen=True)
class Place:
    """Points of a joint, in components of its bodies, and its relative motion."""

    first: SX
    second: SX
    motion: RelativeMotion


def motion_of(joint: Joint | None, body: Body) -> RelativeMotion:
    """Return the motion of a body relative to its parent; a body without a joint is free."""
    if joint is None:
        return TurnAndSlide.of(body.dimension, Turning.FREELY, Sliding.ALL)
    assert joint.motion is not None, "joints without a relative motion are cut"
    return joint.motion


def ends(joint: Joint | None, body: RigidBody, ground: Body) -> tuple[Point, Point]:
    """Return both points of a joint; those of a free body are the origin of the ground and its
    centre of mass.
    """
    if joint is not None:
        return joint.first, joint.second
    return Point(ground, "origin", SX.zeros(body.dimension)), Point(body, "com", body.com)


def place_of(joint: Joint | None, body: RigidBody, ground: Body) -> Place:
    """Return points and motion of a joint (or of a free body)."""
    first, second = ends(joint, body, ground)
    return Place(first.local, second.local, motion_of(joint, body))


def coordinate_names(joint: Joint | None, body: Body) -> tuple[str, ...]:
    """Return the name of each coordinate."""
    label = body.name if joint is None else joint.name
    return tuple(f"{label}.{name}" for name in motion_of(joint, body).names)
