"""The recursion along the tree, for any choice of a reference point on each body.

Body i has a reference point at r, moving with ṙ as a point of space: its centre of mass (RTDyn0), or the origin of the global frame (RTDyn1,
r = ṙ = 0, whichever of its own points is there). u is the velocity of the body's own point at r, ω its angular velocity. From the parent p,
with the joint's axes w = ±R₁ W and directions l = ±R₁ D (R₁ of the joint's first body; − where that is the child) and its second point x₂,

    u = u_p + ω_p × (r − r_p) + (l ż + w ż × (r − x₂)),     ω = ω_p + w ż,

and the same differentiated for u̇ and ω̇. A body resists with a wrench at r: with c = r_G − r, J its inertia about the centre of mass,

    f = m r̈_G,     n = J ω̇ + ω × J ω + c × f,     r̈_G = u̇ + ω̇ × c + ω × ċ,

and the wrenches, and the inertias (m, h = m c, J_r), of all bodies beyond a joint are gathered from the leaves to the root. With b the motion
(u, ω) per unit of ż, the resistance of a joint is bᵀ (f, n), and M between it and one nearer to the root is bᵀ of the latter times the momentum of
all that moves with the former. For the origin as reference point gathering is plain summing.

D. Dopico, Á. López Varela and A. Luaces, Two general index-3 semi-recursive formulations for the dynamics of multibody systems, Multibody
Dynamics 2019, Springer, 401–408; J. García de Jalón and E. Bayo, Kinematic and Dynamic Simulation of Multibody Systems, Springer 1994, chapter 8.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from ...model.body import Body
from ...model.frame import Frame, spin
from ...symbols import SX
from .joints import Place, Relation, coordinate_count, place_of, relation
from .topology import Link, Topology

CENTRE_OF_MASS, ORIGIN = "centre of mass", "origin"


@dataclass(frozen=True)
class Motion:
    """Where a body is, how it moves, and what its joint adds to that."""

    frame: Frame
    angle: SX
    """In the plane."""
    com: SX
    com_rate: SX
    reference: SX
    """r."""
    reference_rate: SX
    """ṙ."""
    velocity: SX
    """u."""
    spin: SX
    """ω."""
    axes: SX
    """w."""
    directions: SX
    """l."""
    pivot: SX
    """x₂."""
    pivot_rate: SX
    motions: SX
    """Upper half of b, l + w × (r − x₂); the lower one is w."""
    relation: Relation | None


@dataclass(frozen=True)
class Inertia:
    """Mass, first moment and inertia about the reference point."""

    mass: SX
    moment: SX
    about: SX


class Recursion:
    """Kinematics and dynamics of a tree in its joint coordinates."""

    def __init__(self, topology: Topology, reference: str, q: SX, v: SX):
        self.topology = topology
        self.model = topology.model
        self.reference = reference
        self.q, self.v = q, v
        self.places: dict[Body, Place] = {}
        self.columns: dict[Body, range] = {}
        first = 0
        self.motions: dict[Body, Motion] = {self.model.ground: _still(self.model.ground)}
        for link in topology.links:
            place = place_of(link.joint, link.body, self.model.ground)
            count = coordinate_count(link.joint, link.body.dimension)
            self.columns[link.body] = range(first, first + count)
            first += count
            self.places[link.body] = place
            self.motions[link.body] = self._move(link, place)

    @property
    def frames(self) -> dict[Body, Frame]:
        """Of all bodies."""
        return {body: motion.frame for body, motion in self.motions.items()}

    def _of(self, values: SX, body: Body) -> SX:
        columns = self.columns[body]
        return values[columns.start : columns.stop]

    # outward: positions, velocities, accelerations

    def _move(self, link: Link, place: Place) -> Motion:
        body, parent = link.body, self.motions[link.parent]
        ż = self._of(self.v, body)
        z = relation(link.joint, place, self._of(self.q, body), ż)
        R, angle = _turned_by(parent, z, link.forward)
        if link.forward:
            x1 = parent.frame.position(place.first)
            x2 = x1 + parent.frame.rotation @ z.displacement
            R1, sign, own, at = parent.frame.rotation, 1, place.second, x2
        else:
            x2 = parent.frame.position(place.second)
            x1 = x2 - R @ z.displacement
            R1, sign, own, at = R, -1, place.first, x1
        origin = at - R @ own
        com = at if own is body.com else origin + R @ body.com
        r = com if self.reference == CENTRE_OF_MASS else SX.zeros(body.dimension)
        w = sign * z.axes if body.dimension == 2 else sign * (R1 @ z.axes)
        l = sign * (R1 @ z.directions)
        motions = ca.horzcat(SX(body.dimension, 0), *[l[:, k] + cross(w[:, k], r - x2) for k in range(ż.numel())])
        ω = parent.spin + w @ ż
        u = parent.velocity + cross(parent.spin, r - parent.reference) + motions @ ż
        ṙ_G = u + cross(ω, com - r)
        ẋ2 = u + cross(ω, x2 - r) if link.forward else parent.velocity + cross(parent.spin, x2 - parent.reference)
        ȧt = ẋ2 if link.forward else u + cross(ω, at - r)
        known = ((own, at, ȧt), (body.com, com, ṙ_G))
        frame = Frame(origin, R, u + cross(ω, origin - r), spin(ω) @ R, known)
        ṙ = ṙ_G if self.reference == CENTRE_OF_MASS else SX.zeros(body.dimension)
        return Motion(frame, angle, com, ṙ_G, r, ṙ, u, ω, w, l, x2, ẋ2, motions, z)

    def accelerations(self, a: SX) -> dict[Body, tuple[SX, SX]]:
        """u̇ and ω̇ of each body for accelerations z̈ of the joints."""
        ground = self.motions[self.model.ground]
        found = {self.model.ground: (SX.zeros(self.model.dimension), SX.zeros(ground.spin.numel()))}
        for link in self.topology.links:
            here, parent = self.motions[link.body], self.motions[link.parent]
            u̇_p, ω̇_p = found[link.parent]
            ż, z̈ = self._of(self.v, link.body), self._of(a, link.body)
            assert here.relation is not None
            R1, ω1 = (parent.frame.rotation, parent.spin) if link.forward else (here.frame.rotation, here.spin)
            sign = 1 if link.forward else -1
            turning, sliding = here.axes @ ż, here.directions @ ż
            rate = here.relation.turning_rate
            bending = sign * (rate if self.model.dimension == 2 else R1 @ rate)
            ẇż = bending if self.model.dimension == 2 else cross(ω1, turning) + bending
            ω̇ = ω̇_p + here.axes @ z̈ + ẇż
            arm, drift = here.reference - here.pivot, here.reference_rate - here.pivot_rate
            u̇ = u̇_p + cross(ω̇_p, here.reference - parent.reference) + cross(parent.spin, here.reference_rate - parent.reference_rate)
            u̇ = u̇ + here.motions @ z̈ + cross(ω1, sliding) + cross(ẇż, arm) + cross(turning, drift)
            found[link.body] = u̇, ω̇
        return found

    # inward: resistance and mass

    def resistance(self, a: SX) -> SX:
        """M z̈ and all other forces of inertia, on the same side."""
        accelerations = self.accelerations(a)
        total: dict[Body, tuple[SX, SX]] = {}
        rows: dict[Body, SX] = {}
        for link in reversed(self.topology.links):
            here, (f, n) = self.motions[link.body], self._wrench(link.body, *accelerations[link.body])
            f_beyond, n_beyond = total.pop(link.body, (0, 0))
            f, n = f + f_beyond, n + n_beyond
            rows[link.body] = here.motions.T @ f + here.axes.T @ n
            f_parent, n_parent = total.get(link.parent, (0, 0))
            shift = here.reference - self.motions[link.parent].reference
            total[link.parent] = f_parent + f, n_parent + n + moment(shift, f)
        return ca.vertcat(SX(0, 1), *[rows[link.body] for link in self.topology.links]) + self._stretching(a)

    def _wrench(self, body: Body, u̇: SX, ω̇: SX) -> tuple[SX, SX]:
        """What one body resists with."""
        here = self.motions[body]
        c, ċ = here.com - here.reference, here.com_rate - here.reference_rate
        f = body.mass * (u̇ + cross(ω̇, c) + cross(here.spin, ċ))
        J = self._inertia_of(body)
        n = J @ ω̇ + moment(c, f)
        return f, n if body.dimension == 2 else n + ca.cross(here.spin, J @ here.spin)

    def _inertia_of(self, body: Body) -> SX:
        """About the centre of mass, global components."""
        R = self.motions[body].frame.rotation
        return body.inertia if body.dimension == 2 else R @ body.inertia @ R.T

    @cached_property
    def composite(self) -> dict[Body, Inertia]:
        """Each body with all beyond it, about its reference point."""
        found = {}
        for link in self.topology.links:
            c = self.motions[link.body].com - self.motions[link.body].reference
            found[link.body] = _moved(Inertia(link.body.mass, 0 * c, self._inertia_of(link.body)), c)
        for link in reversed(self.topology.links):
            if not link.parent.is_ground:
                shift = self.motions[link.body].reference - self.motions[link.parent].reference
                whole, more = found[link.parent], _moved(found[link.body], shift)
                found[link.parent] = Inertia(whole.mass + more.mass, whole.moment + more.moment, whole.about + more.about)
        return found

    @cached_property
    def mass(self) -> SX:
        """M."""
        M = SX(self.q.numel(), self.q.numel())
        for link in self.topology.links:
            here, whole = self.motions[link.body], self.composite[link.body]
            for k, column in enumerate(self.columns[link.body]):
                u, w = here.motions[:, k], here.axes[:, k]
                p = whole.mass * u + cross(w, whole.moment)
                L = whole.about @ w + moment(whole.moment, u)
                self._fill(M, link, column, p, L)
        for body, rows in self._euler.items():
            p = self.q[rows]
            M[rows, rows] += self._stretch(body) * (p @ p.T)
        return M

    def _fill(self, M: SX, link: Link, column: int, p: SX, L: SX) -> None:
        """A column of M up to the diagonal, and its mirror image: all joints nearer to the root against this one's momentum."""
        body = link.body
        while not body.is_ground:
            near = self.motions[body]
            for k, row in enumerate(self.columns[body]):
                if row <= column:
                    M[row, column] = M[column, row] = ca.dot(near.motions[:, k], p) + ca.dot(near.axes[:, k], L)
            parent = self.topology.link_of[body].parent
            L = L + moment(near.reference - self.motions[parent].reference, p)
            body = parent

    # Euler parameters

    @cached_property
    def _euler(self) -> dict[Body, list[int]]:
        """Rows of the Euler parameters of those bodies that have them."""
        found = {}
        for link in self.topology.links:
            z = self.motions[link.body].relation
            assert z is not None
            if z.euler:
                found[link.body] = [self.columns[link.body].start + k for k in z.euler]
        return found

    def euler_parameters(self) -> dict[Body, tuple[SX, SX]]:
        """p, and the kinetic energy that goes with a change of its length, for each body that has them."""
        return {
            body: (self.q[rows], self._stretch(body) / 2 * ca.dot(self.q[rows], self.v[rows]) ** 2)
            for body, rows in self._euler.items()
        }

    def _stretch(self, body: Body) -> SX:
        """μ, of the size of the body's own resistance to a turn."""
        place = self.places[body]
        link = self.topology.link_of[body]
        arm = body.com - (place.second if link.forward else place.first)
        return 4 * (ca.trace(body.inertia) / 3 + body.mass * ca.sumsqr(arm))

    def _stretching(self, a: SX) -> SX:
        """Forces of inertia against a change of length: μ p (p·p̈ + ṗ·ṗ)."""
        total = SX(self.q.numel(), 1)
        for body, rows in self._euler.items():
            p, ṗ, p̈ = self.q[rows], self.v[rows], a[rows]
            total[rows] += self._stretch(body) * p * (ca.dot(p, p̈) + ca.dot(ṗ, ṗ))
        return total


def cross(ω: SX, r: SX) -> SX:
    """ω × r, in the plane for a scalar ω."""
    return ca.cross(ω, r) if r.numel() == 3 else ca.vertcat(-ω * r[1], ω * r[0])


def moment(r: SX, f: SX) -> SX:
    """r × f, a scalar in the plane."""
    return ca.cross(r, f) if r.numel() == 3 else r[0] * f[1] - r[1] * f[0]


def _moved(inertia: Inertia, δ: SX) -> Inertia:
    """The same about a point from which the present one is at δ."""
    m, h, J = inertia.mass, inertia.moment, inertia.about
    both = 2 * ca.dot(h, δ) + m * ca.dot(δ, δ)
    if δ.numel() == 2:
        return Inertia(m, h + m * δ, J + both)
    products = h @ δ.T
    return Inertia(m, h + m * δ, J + both * SX.eye(3) - products - products.T - m * (δ @ δ.T))


def _turned_by(parent: Motion, z: Relation, forward: bool) -> tuple[SX, SX]:
    """Rotation of a body, and its angle in the plane."""
    if z.angle is None:
        return parent.frame.rotation @ (z.rotation if forward else z.rotation.T), parent.angle
    angle = parent.angle + (z.angle if forward else -z.angle)
    c, s = ca.cos(angle), ca.sin(angle)
    return ca.vertcat(ca.horzcat(c, -s), ca.horzcat(s, c)), angle


def _still(ground: Body) -> Motion:
    n = ground.dimension
    zero, none = SX.zeros(n), SX.zeros(1 if n == 2 else 3)
    frame = Frame(zero, SX.eye(n), zero, SX.zeros(n, n))
    return Motion(frame, SX(0), zero, zero, zero, zero, zero, none, SX(none.numel(), 0), SX(n, 0), zero, zero, SX(n, 0), None)
