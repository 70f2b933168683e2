"""An open tree prepared for recursive passes: its joints and forces, grouped by kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ...core.symbols import SX, wedge
from ...model.body import Body
from ..equations import Equations
from ..similar_expressions import Reading, Restated, read, restate, roles_of
from .applied_forces import PARAMETER, Angle, ForceKind, force_kinds
from .body_motion import Motion, inertia_about, move, still, wrench
from .choice import CENTRE_OF_MASS
from .layout import Layout
from .recursion import Recursion
from .spanning_tree import Link

PARENT, JOINT, RATE = "parent", "joint", "rate"


class RecursiveTree:
    """An open tree, and the kernels of its first pass."""

    def __init__(self, equations: Equations):
        assert isinstance(equations.inertia, Recursion)
        self.equations = equations
        self.recursion = equations.inertia
        self.model = equations.model
        self.links = self.recursion.tree.links
        self.layout = Layout(
            self.model.dimension, self.recursion.reference, bool(equations.counted)
        )

    @cached_property
    def forces(self) -> list[ForceKind]:
        """All forces, by kind."""
        counted = {name: self._stored_angle(name) for name in self.equations.counted}
        return force_kinds(self.model, self.layout, self.equations.t, counted)

    def _stored_angle(self, name: str) -> Angle:
        """Return an angle as a function of stored motions: of the body that a joint carries, or a
        difference.
        """
        turn = self.model.find_angle(name)
        if self.model.dimension == 3:
            body = next(b for b in turn.bodies if self._carries(b, name))
            return lambda blocks: self.layout.angle(blocks[body])

        def difference(blocks: Mapping[Body, SX]) -> SX:
            first, second = (
                SX(0) if body.is_ground else self.layout.angle(blocks[body]) for body in turn.bodies
            )
            return second - first

        return difference

    def _carries(self, body: Body, joint: str) -> bool:
        link = self.recursion.tree.link_of.get(body)
        return link is not None and link.joint is not None and link.joint.name == joint

    @cached_property
    def outward(self) -> list[RecursiveElementType]:
        """Kernels of the first pass."""
        parent = self.layout.symbols("parent")
        roles = roles_of(PARAMETER, self.equations.ρ) | roles_of(PARENT, parent)
        kinds: dict[object, list[tuple[Link, Reading]]] = {}
        same: dict[object, Reading] = {}
        for link in self.links:
            count = len(self.recursion.columns[link.body])
            if (numbers := self._numbers(link)) not in same:
                z, ż = SX.sym("z", count), SX.sym("ż", count)
                before = (
                    still(self.model.ground)
                    if link.parent.is_ground
                    else self.layout.motion(parent)
                )
                expressions = self._first_pass(link, before, z, ż)
                same[numbers] = read(
                    expressions,
                    roles | roles_of(JOINT, z) | roles_of(RATE, ż),
                    {PARAMETER: PARAMETER},
                )
            kinds.setdefault((count, link.parent.is_ground, same[numbers].key), []).append(
                (link, same[numbers])
            )
        return [self._kind(alike, parent) for alike in kinds.values()]

    def _numbers(self, link: Link) -> object:
        """Key that is equal for links that differ only in their position in the tree; the link
        itself where parameters are involved.
        """
        place, body = self.recursion.places[link.body], link.body
        motion = place.motion
        constants = [place.first, place.second, *motion.geometry, body.com, body.mass, body.inertia]
        if motion.key is None or not all(x.is_constant() for x in constants):
            return link
        return (
            motion.key,
            link.forward,
            link.parent.is_ground,
            np.concatenate([np.array(ca.DM(x)).ravel() for x in constants]).tobytes(),
        )

    def _first_pass(self, link: Link, parent: Motion, z: SX, ż: SX) -> list[SX]:
        """Return a body's motion, its hinge, and (I, p)."""
        place = self.recursion.places[link.body]
        here, hinge = move(link, place, self.recursion.reference, parent, z, ż)
        parts = [hinge.motions, hinge.axes, hinge.drift, hinge.turning]
        if self.recursion.reference == CENTRE_OF_MASS:
            parts.append(hinge.arm)
        inertia = inertia_about(link.body, here)
        weight = link.body.mass * self.model.gravity
        f, n = wrench(link.body, here, SX.zeros(here.velocity.numel()), SX.zeros(here.spin.numel()))
        p = ca.vertcat(f - weight, n - wedge(here.com - here.reference, weight))
        packed = self.layout.pack(_matrix(inertia.mass, inertia.moment, inertia.about))
        return [self.layout.flat(here), ca.veccat(*parts), packed, p]

    def _kind(self, members: list[tuple[Link, Reading]], parent: SX) -> RecursiveElementType:
        links, readings = [link for link, _ in members], [reading for _, reading in members]
        count = len(self.recursion.columns[links[0].body])
        symbols = {PARENT: parent, JOINT: SX.sym("z", count), RATE: SX.sym("ż", count)}
        symbols[PARAMETER] = SX.sym("ρ", len(readings[0].entries[PARAMETER]))
        restated = restate(readings, lambda role, place: symbols[role][place])
        return RecursiveElementType(
            links,
            symbols,
            restated,
            np.array([r.entries[PARAMETER] for r in readings], dtype=np.int32),
        )


@dataclass(frozen=True)
class RecursiveElementType:
    """Bodies whose expressions in the first pass have the same structure."""

    links: list[Link]
    symbols: dict[str, SX]
    restated: Restated
    parameters: np.ndarray


def _matrix(m: SX, h: SX, J: SX) -> SX:
    """Return I in (f, n) = I (u̇, ω̇)."""
    n = h.numel()
    H = ca.vertcat(-h[1], h[0]) if n == 2 else ca.skew(h).T
    return ca.blockcat([[m * SX.eye(n), H], [H.T, J]])
