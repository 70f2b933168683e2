"""Check that all bodies belong to one mechanism."""

from __future__ import annotations

from ..core.errors import ModelError
from ..core.messages import Call, Message
from ..model.body import Body
from ..model.model_data import ModelData


def check_connected(model: ModelData) -> None:
    """Refuse bodies without a path of joints to the ground, unless they are declared as floating."""
    if not model.moving_bodies:
        raise ModelError(
            f"mechanism {model.name!r} has no bodies",
            remedy=Message("add one with {} or {}", Call("body"), Call("bar")),
        )
    neighbours: dict[Body, list[Body]] = {body: [] for body in model.bodies.values()}
    for joint in model.joints.values():
        first, second = joint.bodies
        neighbours[first].append(second)
        neighbours[second].append(first)
    reached = {model.ground} | {b for b in model.moving_bodies if b.floating}
    queue = list(reached)
    while queue:
        fresh = [b for b in neighbours[queue.pop()] if b not in reached]
        reached.update(fresh)
        queue += fresh
    loose = [b.name for b in model.moving_bodies if b not in reached]
    if loose:
        names = ", ".join(repr(n) for n in loose)
        raise ModelError(
            f"no path of joints connects {names} to the ground",
            remedy=Message("add the missing joint, or {floating} if that is meant", floating=True),
        )
