"""The recursion along the tree.

Inertial wrenches of bodies, and their inertias (m, h = m c, J_r) about reference points
(`body_motion`), are accumulated from the leaves to the root, over all bodies beyond a joint. With b
the motion (u, ω) per unit of ż, the resistance of a joint is bᵀ (f, n), and the entry of M for it
and one nearer to the root is bᵀ of the latter times the momentum of all bodies that move with the
former. For the origin as reference point accumulation is plain summation.

D. Dopico, Á. López Varela and A. Luaces, Two general index-3 semi-recursive formulations for the
dynamics of multibody systems, Multibody Dynamics 2019, Springer, 401–408; J. García de Jalón and E.
Bayo, Kinematic and Dynamic Simulation of Multibody Systems, Springer 1994, chapter 8.
"""

from __future__ import annotations

from functools import cached_property

import casadi as ca

from ...core.symbols import SX, wedge
from ...model.body import Body, Frames
from ...model.frame import Frame
from .body_motion import Hinge, Inertia, Motion, cross, inertia_about, move, moved, still, wrench
from .choice import ORIGIN
from .joints import place_of
from .spanning_tree import Link, SpanningTree


class Recursion:
    """Kinematics and dynamics of a tree in its joint coordinates."""

    def __init__(self, tree: SpanningTree, reference: str, q: SX, v: SX):
        self.tree = tree
        self.model = tree.model
        self.reference = reference
        self.q, self.v = q, v
        self.places = {
            link.body: place_of(link.joint, link.body, self.model.ground) for link in tree.links
        }
        self.columns: dict[Body, range] = {}
        self.motions: dict[Body, Motion] = {self.model.ground: still(self.model.ground)}
        self.hinges: dict[Body, Hinge] = {}
        first = 0
        for link in tree.links:
            body = link.body
            count = len(self.places[body].motion.names)
            self.columns[body] = range(first, first := first + count)
            self.motions[body], self.hinges[body] = self._move(
                link, reference, self.motions[link.parent]
            )

    def _move(self, link: Link, reference: str, parent: Motion) -> tuple[Motion, Hinge]:
        body = link.body
        return move(
            link,
            self.places[body],
            reference,
            parent,
            self._of(self.q, body),
            self._of(self.v, body),
        )

    def _of(self, values: SX, body: Body) -> SX:
        columns = self.columns[body]
        return values[columns.start : columns.stop] if columns else SX(0, 1)

    def joint_angle(self, body: Body) -> SX | None:
        """Return the angle of the joint that carries a body, from its first body to its second, as
        a function of its coordinates; None where these contain no angle.
        """
        motion = self.places[self.tree.link_of[body].body].motion
        if body.dimension == 2:
            return motion.relation(self._of(self.q, body), self._of(self.v, body)).angle
        if "angle" not in motion.names:
            return None
        return self.q[self.columns[body].start + motion.names.index("angle")]

    @cached_property
    def frames(self) -> dict[Body, Frame]:
        """Frames of all bodies."""
        return {body: motion.frame for body, motion in self.motions.items()}

    def among(self, bodies: tuple[Body, ...]) -> Frames:
        """Return frames of the given bodies relative to the last body that carries them all: they
        depend on the joints between them only.
        """
        base = self.tree.carrier(bodies) if bodies else self.model.ground
        if base.is_ground:
            return self.frames
        motions = {base: still(base)}
        for body in bodies:
            path = self.tree.path(body)
            for between in reversed(path[: path.index(base)]):
                if between not in motions:
                    link = self.tree.link_of[between]
                    motions[between] = self._move(link, ORIGIN, motions[link.parent])[0]
        return {body: motions[body].frame for body in bodies}

    def accelerations(self, a: SX) -> dict[Body, tuple[SX, SX]]:
        """Return u̇ and ω̇ of each body for accelerations z̈ of the joints."""
        ground = self.motions[self.model.ground]
        accelerations = {self.model.ground: (ground.velocity, ground.spin)}
        for link in self.tree.links:
            hinge, z̈ = self.hinges[link.body], self._of(a, link.body)
            u̇_p, ω̇_p = accelerations[link.parent]
            u̇ = u̇_p + cross(ω̇_p, hinge.arm) + hinge.motions @ z̈ + hinge.drift
            accelerations[link.body] = u̇, ω̇_p + hinge.axes @ z̈ + hinge.turning
        return accelerations

    # inward: resistance and mass

    def resistance(self, a: SX) -> SX:
        """Return M z̈ and all other inertia forces, on the same side of the equation."""
        accelerations = self.accelerations(a)
        total: dict[Body, tuple[SX, SX]] = {}
        rows: dict[Body, SX] = {}
        for link in reversed(self.tree.links):
            hinge, (f, n) = (
                self.hinges[link.body],
                wrench(link.body, self.motions[link.body], *accelerations[link.body]),
            )
            f_beyond, n_beyond = total.pop(link.body, (0, 0))
            f, n = f + f_beyond, n + n_beyond
            rows[link.body] = hinge.motions.T @ f + hinge.axes.T @ n
            f_parent, n_parent = total.get(link.parent, (0, 0))
            total[link.parent] = f_parent + f, n_parent + n + wedge(hinge.arm, f)
        return ca.vertcat(
            SX(0, 1), *[rows[link.body] for link in self.tree.links]
        ) + self._stretching(a)

    @cached_property
    def composite(self) -> dict[Body, Inertia]:
        """Inertia of each body with all bodies beyond it, about its reference point."""
        inertias: dict[Body, Inertia] = {
            link.body: inertia_about(link.body, self.motions[link.body]) for link in self.tree.links
        }
        for link in reversed(self.tree.links):
            if not link.parent.is_ground:
                whole, more = (
                    inertias[link.parent],
                    moved(inertias[link.body], self.hinges[link.body].arm),
                )
                inertias[link.parent] = Inertia(
                    whole.mass + more.mass, whole.moment + more.moment, whole.about + more.about
                )
        return inertias

    @cached_property
    def mass(self) -> SX:
        """Mass matrix M."""
        M = SX(self.q.numel(), self.q.numel())
        for link in self.tree.links:
            hinge, whole = self.hinges[link.body], self.composite[link.body]
            for k, column in enumerate(self.columns[link.body]):
                u, w = hinge.motions[:, k], hinge.axes[:, k]
                p = whole.mass * u + cross(w, whole.moment)
                L = whole.about @ w + wedge(whole.moment, u)
                self._fill(M, link, column, p, L)
        for body, rows in self._euler.items():
            p = self.q[rows]
            M[rows, rows] += self._stretch(body) * (p @ p.T)
        return M

    def _fill(self, M: SX, link: Link, column: int, p: SX, L: SX) -> None:
        """Fill a column of M up to the diagonal, and its mirror image: all joints nearer to the
        root times the momentum of this one.
        """
        body: Body = link.body
        while not body.is_ground:
            near = self.hinges[body]
            for k, row in enumerate(self.columns[body]):
                if row <= column:
                    M[row, column] = M[column, row] = ca.dot(near.motions[:, k], p) + ca.dot(
                        near.axes[:, k], L
                    )
            L = L + wedge(near.arm, p)
            body = self.tree.link_of[body].parent

    # Euler parameters

    @cached_property
    def _euler(self) -> dict[Body, list[int]]:
        """Rows of the Euler parameters of the bodies that have them."""
        chosen = {body: hinge.euler for body, hinge in self.hinges.items() if hinge.euler}
        return {
            body: [self.columns[body].start + k for k in euler] for body, euler in chosen.items()
        }

    def euler_parameters(self) -> dict[Body, tuple[SX, SX]]:
        """Return p, and the kinetic energy of a change of its length, for each body with Euler
        parameters.
        """
        return {
            body: (self.q[rows], self._stretch(body) / 2 * ca.dot(self.q[rows], self.v[rows]) ** 2)
            for body, rows in self._euler.items()
        }

    def _stretch(self, body: Body) -> SX:
        """Return μ: any positive number is suitable; about the inertia of all bodies beyond the
        joint.
        """
        return self._branches[body]

    @cached_property
    def _branches(self) -> dict[Body, SX]:
        """Inertias of each body and all bodies beyond it, in stretched position."""
        sums: dict[Body, SX] = {}
        for link in reversed(self.tree.links):
            body, place = link.body, self.places[link.body]
            own = ca.trace(body.inertia) + body.mass * (
                ca.sumsqr(body.com) + ca.sumsqr(place.first) + ca.sumsqr(place.second)
            )
            sums[body] = sums.get(body, SX(0)) + own
            sums[link.parent] = sums.get(link.parent, SX(0)) + sums[body]
        return sums

    def _stretching(self, a: SX) -> SX:
        """Return inertia forces against a change of length: μ p (p·p̈ + ṗ·ṗ)."""
        total = SX(self.q.numel(), 1)
        for body, rows in self._euler.items():
            p, ṗ, p̈ = self.q[rows], self.v[rows], a[rows]
            total[rows] += self._stretch(body) * p * (ca.dot(p, p̈) + ca.dot(ṗ, ṗ))
        return total
