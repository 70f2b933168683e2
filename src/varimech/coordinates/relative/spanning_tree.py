"""A spanning tree of the bodies, rooted in the ground, and the joints that close its loops.

A joint of the tree costs as many unknowns as it has degrees of freedom (Euler parameters: one more,
and an equation); a cut joint costs as many equations as it removes degrees of freedom. The tree has
minimal cost (Prim's algorithm); among trees of equal cost the shallow one is chosen, since the mass
matrix couples each joint with all joints between it and the ground. A body that no chain of joints
connects to the ground is connected by a joint that leaves it free.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import count

from ...core.errors import ModelError, unknown_name
from ...core.messages import Message
from ...model.body import Body, RigidBody
from ...model.joint import Joint
from ...model.model_data import ModelData
from ...model.relative_motion import RelativeMotion
from .joints import motion_of


@dataclass(frozen=True)
class Link:
    """Position of a body in the tree: below its parent by a joint, or free (no joint, and the
    ground as parent).
    """

    body: RigidBody
    parent: Body
    joint: Joint | None

    @property
    def forward(self) -> bool:
        """Whether the joint leads from the parent to the body in the order of its definition."""
        return self.joint is None or self.joint.bodies[0] is self.parent


@dataclass(frozen=True)
class SpanningTree:
    """The tree of a mechanism, parents before their children, and the joints that are cut."""

    model: ModelData
    links: tuple[Link, ...]
    cuts: tuple[Joint, ...]

    @cached_property
    def link_of(self) -> dict[Body, Link]:
        """Link of each moving body."""
        return {link.body: link for link in self.links}

    @cached_property
    def depths(self) -> dict[Body, int]:
        """Number of joints between each body and the ground."""
        depths = {self.model.ground: 0}
        for link in self.links:
            depths[link.body] = depths[link.parent] + 1
        return depths

    def carrier(self, bodies: Iterable[Body]) -> Body:
        """Return the last common ancestor of the bodies, which may be one of them; the ground if
        there is no other.
        """
        paths = [self.path(body) for body in bodies]
        common = set.intersection(*[set(path) for path in paths])
        return next(body for body in paths[0] if body in common)

    def path(self, body: Body) -> list[Body]:
        """Return the path from a body to the ground, both included."""
        path = [body]
        while not path[-1].is_ground:
            path.append(self.link_of[path[-1]].parent)
        return path

    @property
    def coordinates(self) -> int:
        """Number of relative coordinates."""
        return sum(len(motion_of(link.joint, link.body).names) for link in self.links)

    @property
    def unknowns(self) -> int:
        """Number of relative coordinates, and equations of cut joints and drivers; joints without a
        relative motion count as one equation.
        """
        most = 3 if self.model.dimension == 2 else 6
        closures = [1 if j.motion is None else most - j.motion.dofs for j in self.cuts]
        return self.coordinates + sum(closures) + len(self.model.drivers)

    @property
    def is_open(self) -> bool:
        """Whether there is no closed loop and no driver."""
        return not self.cuts and not self.model.drivers


def spanning_tree(model: ModelData, cut: Iterable[str] = ()) -> SpanningTree:
    """Determine the tree of a model; joints named in `cut` are not part of it."""
    cut = tuple(cut)
    for name in cut:
        if name not in model.joints:
            raise unknown_name("joint to cut", name, model.joints)
    joints_of: dict[Body, list[tuple[int, int, Joint]]] = {
        body: [] for body in model.bodies.values()
    }
    for k, joint in enumerate(model.joints.values()):
        if joint.motion is None or joint.name in cut:
            continue
        cost = _cost(joint.motion, model.dimension)
        for body in joint.bodies:
            joints_of[body].append((cost, k, joint))
    links: list[Link] = []
    numbers = count()
    depth = {model.ground: 0}
    # floating bodies first, otherwise in the order of the model
    roots = sorted(model.moving_bodies, key=lambda b: not b.floating)
    for root in (model.ground, *roots):
        if root in depth and not root.is_ground:
            continue
        if not root.is_ground:
            links.append(Link(_rigid(root, model), model.ground, None))
            depth[root] = 1
        # a unique number keeps entries of equal cost in order
        queue = [
            (cost, depth[root], k, next(numbers), joint, root) for cost, k, joint in joints_of[root]
        ]
        heapify(queue)
        while queue:
            *_, joint, parent = heappop(queue)
            body = joint.bodies[1] if joint.bodies[0] is parent else joint.bodies[0]
            if body in depth:
                continue
            links.append(Link(_rigid(body, model), parent, joint))
            depth[body] = depth[parent] + 1
            for cost, k, other in joints_of[body]:
                heappush(queue, (cost, depth[body], k, next(numbers), other, body))
    used = {id(link.joint) for link in links}
    return SpanningTree(
        model, tuple(links), tuple(j for j in model.joints.values() if id(j) not in used)
    )


def _rigid(body: Body, model: ModelData) -> RigidBody:
    if not isinstance(body, RigidBody):
        raise ModelError(
            f"{body.name!r} is a beam; relative coordinates are those of rigid bodies",
            element=model.label,
            remedy=Message("use {coordinates}", coordinates="natural"),
        )
    return body


def _cost(motion: RelativeMotion, dimension: int) -> int:
    """Return unknowns and equations of a joint in the tree, less the equations where it is cut."""
    coordinates, lengths = len(motion.names), int(motion.has_euler_parameters)
    return coordinates + lengths - ((3 if dimension == 2 else 6) - motion.dofs)
