"""The recursion along the tree, for any choice of a reference point on each body.

Body i has a reference point at r, moving with ṙ as a point of space: its centre of mass (RTDyn0), or the origin of the global frame (RTDyn1,
r = ṙ = 0, whichever of its own points is there). u is the velocity of the body's own point at r, ω its angular velocity. From the parent p,
with the joint's axes w = ±R₁ W and directions l = ±R₁ D (R₁ of the joint's first body; − where that is the child) and its second point x₂,

    u = u_p + ω_p × (r − r_p) + (l ż + w ż × (r − x₂)),     ω = ω_p + w ż,

and the same differentiated for u̇ and ω̇. A body resists with a wrench at r: with c = r_G − r, J its inertia about the centre of mass,

    f = m r̈_G,     n = J ω̇ + ω × J ω + c × f,     r̈_G = u̇ + ω̇ × c + ω × ċ,

and the wrenches, and the inertias (m, h = m c, J_r), of all bodies beyond a joint are gathered from the leaves to the root. With b the
motion (u, ω) per unit of ż, the resistance of a joint is bᵀ (f, n), and M between it and one nearer to the root is bᵀ of the latter times the
momentum of all that moves with the former. For the origin as reference point gathering is plain summing.

D. Dopico, Á. López Varela and A. Luaces, Two general index-3 semi-recursive formulations for the dynamics of multibody systems, Multibody
Dynamics 2019, Springer, 401–408; J. García de Jalón and E. Bayo, Kinematic and Dynamic Simulation of Multibody Systems, Springer 1994,
chapter 8.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import casadi as ca

from ...model.body import Body, Frames, RigidBody
from ...model.frame import Frame, known_points, spin
from ...symbols import SX, wedge
from .choice import CENTRE_OF_MASS, ORIGIN
from .joints import (
    Place,
    Relation,
    Sliding,
    Turning,
    coordinate_count,
    coordinate_count_of,
    freedoms_of,
    has_euler_parameters,
    place_of,
    relation,
)
from .spanning_tree import Link, SpanningTree


@dataclass(frozen=True)
class Motion:
    """Where a body is and how it moves."""

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


@dataclass(frozen=True)
class Hinge:
    """What a joint adds:  u̇ = u̇_p + ω̇_p × arm + motions z̈ + drift,  ω̇ = ω̇_p + axes z̈ + turning."""

    motions: SX
    """Upper half of b, l + w × (r − x₂)."""
    axes: SX
    """Lower half, w."""
    drift: SX
    turning: SX
    arm: SX
    """r − r_p."""
    euler: tuple[int, ...]
    """Which of the coordinates are Euler parameters."""


@dataclass(frozen=True)
class Inertia:
    """Mass, first moment and inertia about the reference point."""

    mass: SX
    moment: SX
    about: SX


def move(link: Link, place: Place, reference: str, parent: Motion, z: SX, ż: SX) -> tuple[Motion, Hinge]:
    """A body's motion from that of its parent and the coordinates of its joint."""
    body = link.body
    own, other = (place.second, place.first) if link.forward else (place.first, place.second)
    step = _step(freedoms_of(link.joint), link.forward, reference, body.dimension, own is body.com)
    given = [place.first_triad, place.second_triad, place.relative, own, body.com]
    anchor = parent.frame.position(other)
    known = [parent.frame.rotation, parent.angle, parent.reference, parent.reference_rate, parent.velocity, parent.spin]
    found = step.call([anchor, *known, *given, z, ż])
    o, R, ȯ, Ṙ, at, ȧt, angle, com, ṙ_G, r, ṙ, u, ω, motions, w, drift, turning, arm = found
    frame = Frame(o, R, ȯ, Ṙ, known_points([(body.com, com, ṙ_G), (own, at, ȧt)]))
    euler = tuple(range(4)) if has_euler_parameters(link.joint, body.dimension) else ()
    return Motion(frame, angle, com, ṙ_G, r, ṙ, u, ω), Hinge(motions, w, drift, turning, arm, euler)


@cache
def _step(freedoms: tuple[Turning, Sliding], forward: bool, reference: str, n: int, at_com: bool) -> ca.Function:
    """The recursion from one body to the next, built once for all joints that turn and slide alike; `at_com` if the body's point is its
    centre of mass."""
    spins = 1 if n == 2 else 3
    count = coordinate_count_of(freedoms, n)
    x_p, r_p, ṙ_p, u_p, own, own_com = (SX.sym(name, n) for name in ("x", "r", "ṙ", "u", "own", "com"))
    ω_p, angle_p, z, ż = SX.sym("ω", spins), SX.sym("angle"), SX.sym("z", count), SX.sym("ż", count)
    R_p, A, B, C = (SX.sym(name, n, n) for name in "RABC")
    joint = relation(freedoms, Place(SX.zeros(n), SX.zeros(n), A, B, C), z, ż)
    R, angle = _turned_by(R_p, angle_p, joint, forward)
    if forward:
        x2 = at = x_p + R_p @ joint.displacement
    else:
        x2, at = x_p, x_p - R @ joint.displacement
    R1, sign = (R_p, 1) if forward else (R, -1)
    origin = at - R @ own
    com = at if at_com else origin + R @ own_com
    r = com if reference == CENTRE_OF_MASS else SX.zeros(n)
    arm, lever = r - r_p, r - x2
    w = sign * joint.axes if n == 2 else sign * (R1 @ joint.axes)
    l = sign * (R1 @ joint.directions)
    motions = ca.horzcat(SX(n, 0), *[l[:, k] + cross(w[:, k], lever) for k in range(count)])
    wż, lż = w @ ż, l @ ż
    ω = ω_p + wż
    u = u_p + cross(ω_p, arm) + motions @ ż
    ṙ_G = u + cross(ω, com - r)
    ẋ2 = u + cross(ω, x2 - r) if forward else u_p + cross(ω_p, x2 - r_p)
    ȧt = ẋ2 if forward else u + cross(ω, at - r)
    ṙ = ṙ_G if reference == CENTRE_OF_MASS else SX.zeros(n)
    ω1 = ω_p if forward else ω
    turning = SX.zeros(1) if n == 2 else cross(ω1, wż) + sign * (R1 @ joint.turning_rate)
    drift = cross(ω_p, ṙ - ṙ_p) + cross(ω1, lż) + cross(turning, lever) + cross(wż, ṙ - ẋ2)
    motion = [origin, R, u + cross(ω, origin - r), spin(ω) @ R, at, ȧt, angle, com, ṙ_G, r, ṙ, u, ω]
    inputs = [x_p, R_p, angle_p, r_p, ṙ_p, u_p, ω_p, A, B, C, own, own_com, z, ż]
    return ca.Function("step", inputs, [*motion, motions, w, drift, turning, arm])


def still(body: Body) -> Motion:
    """A body at rest at the origin."""
    n = body.dimension
    zero, none = SX.zeros(n), SX.zeros(1 if n == 2 else 3)
    return Motion(Frame(zero, SX.eye(n), zero, SX.zeros(n, n)), SX(0), zero, zero, zero, zero, zero, none)


def wrench(body: RigidBody, here: Motion, u̇: SX, ω̇: SX) -> tuple[SX, SX]:
    """What one body resists with, at its reference point."""
    c, ċ = here.com - here.reference, here.com_rate - here.reference_rate
    f = body.mass * (u̇ + cross(ω̇, c) + cross(here.spin, ċ))
    J = inertia_of(body, here)
    n = J @ ω̇ + wedge(c, f)
    return f, n if body.dimension == 2 else n + ca.cross(here.spin, J @ here.spin)


def inertia_of(body: RigidBody, here: Motion) -> SX:
    """About the centre of mass, global components."""
    R = here.frame.rotation
    return body.inertia if body.dimension == 2 else R @ body.inertia @ R.T


def inertia_about(body: RigidBody, here: Motion) -> Inertia:
    """About the reference point."""
    c = here.com - here.reference
    return _moved(Inertia(body.mass, SX.zeros(c.numel()), inertia_of(body, here)), c)


class Recursion:
    """Kinematics and dynamics of a tree in its joint coordinates."""

    def __init__(self, tree: SpanningTree, reference: str, q: SX, v: SX):
        self.tree = tree
        self.model = tree.model
        self.reference = reference
        self.q, self.v = q, v
        self.places = {link.body: place_of(link.joint, link.body, self.model.ground) for link in tree.links}
        self.columns: dict[Body, range] = {}
        self.motions: dict[Body, Motion] = {self.model.ground: still(self.model.ground)}
        self.hinges: dict[Body, Hinge] = {}
        first = 0
        for link in tree.links:
            body = link.body
            self.columns[body] = range(first, first := first + coordinate_count(link.joint, body.dimension))
            self.motions[body], self.hinges[body] = self._move(link, reference, self.motions[link.parent])

    def _move(self, link: Link, reference: str, parent: Motion) -> tuple[Motion, Hinge]:
        body = link.body
        return move(link, self.places[body], reference, parent, self._of(self.q, body), self._of(self.v, body))

    def _of(self, values: SX, body: Body) -> SX:
        columns = self.columns[body]
        return values[columns.start : columns.stop] if columns else SX(0, 1)

    @cached_property
    def frames(self) -> dict[Body, Frame]:
        """Of all bodies."""
        return {body: motion.frame for body, motion in self.motions.items()}

    def among(self, bodies: tuple[Body, ...]) -> Frames:
        """Frames of some bodies as the last body sees them that carries them all: they depend on the joints between them only."""
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
        """u̇ and ω̇ of each body for accelerations z̈ of the joints."""
        ground = self.motions[self.model.ground]
        found = {self.model.ground: (ground.velocity, ground.spin)}
        for link in self.tree.links:
            hinge, z̈ = self.hinges[link.body], self._of(a, link.body)
            u̇_p, ω̇_p = found[link.parent]
            u̇ = u̇_p + cross(ω̇_p, hinge.arm) + hinge.motions @ z̈ + hinge.drift
            found[link.body] = u̇, ω̇_p + hinge.axes @ z̈ + hinge.turning
        return found

    # inward: resistance and mass

    def resistance(self, a: SX) -> SX:
        """M z̈ and all other forces of inertia, on the same side."""
        accelerations = self.accelerations(a)
        total: dict[Body, tuple[SX, SX]] = {}
        rows: dict[Body, SX] = {}
        for link in reversed(self.tree.links):
            hinge, (f, n) = self.hinges[link.body], wrench(link.body, self.motions[link.body], *accelerations[link.body])
            f_beyond, n_beyond = total.pop(link.body, (0, 0))
            f, n = f + f_beyond, n + n_beyond
            rows[link.body] = hinge.motions.T @ f + hinge.axes.T @ n
            f_parent, n_parent = total.get(link.parent, (0, 0))
            total[link.parent] = f_parent + f, n_parent + n + wedge(hinge.arm, f)
        return ca.vertcat(SX(0, 1), *[rows[link.body] for link in self.tree.links]) + self._stretching(a)

    @cached_property
    def composite(self) -> dict[Body, Inertia]:
        """Each body with all beyond it, about its reference point."""
        found: dict[Body, Inertia] = {link.body: inertia_about(link.body, self.motions[link.body]) for link in self.tree.links}
        for link in reversed(self.tree.links):
            if not link.parent.is_ground:
                whole, more = found[link.parent], _moved(found[link.body], self.hinges[link.body].arm)
                found[link.parent] = Inertia(whole.mass + more.mass, whole.moment + more.moment, whole.about + more.about)
        return found

    @cached_property
    def mass(self) -> SX:
        """M."""
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
        """A column of M up to the diagonal, and its mirror image: all joints nearer to the root against this one's momentum."""
        body: Body = link.body
        while not body.is_ground:
            near = self.hinges[body]
            for k, row in enumerate(self.columns[body]):
                if row <= column:
                    M[row, column] = M[column, row] = ca.dot(near.motions[:, k], p) + ca.dot(near.axes[:, k], L)
            L = L + wedge(near.arm, p)
            body = self.tree.link_of[body].parent

    # Euler parameters

    @cached_property
    def _euler(self) -> dict[Body, list[int]]:
        """Rows of the Euler parameters of those bodies that have them."""
        chosen = {body: hinge.euler for body, hinge in self.hinges.items() if hinge.euler}
        return {body: [self.columns[body].start + k for k in euler] for body, euler in chosen.items()}

    def euler_parameters(self) -> dict[Body, tuple[SX, SX]]:
        """p, and the kinetic energy that goes with a change of its length, for each body that has them."""
        return {
            body: (self.q[rows], self._stretch(body) / 2 * ca.dot(self.q[rows], self.v[rows]) ** 2)
            for body, rows in self._euler.items()
        }

    def _stretch(self, body: Body) -> SX:
        """μ: any positive number does; about as much as all beyond the joint resists to a turn."""
        return self._branches[body]

    @cached_property
    def _branches(self) -> dict[Body, SX]:
        """Inertias of each body and all beyond it, stretched out."""
        found: dict[Body, SX] = {}
        for link in reversed(self.tree.links):
            body, place = link.body, self.places[link.body]
            own = ca.trace(body.inertia) + body.mass * (ca.sumsqr(body.com) + ca.sumsqr(place.first) + ca.sumsqr(place.second))
            found[body] = found.get(body, SX(0)) + own
            found[link.parent] = found.get(link.parent, SX(0)) + found[body]
        return found

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


def _moved(inertia: Inertia, δ: SX) -> Inertia:
    """The same about a point from which the present one is at δ."""
    m, h, J = inertia.mass, inertia.moment, inertia.about
    both = 2 * ca.dot(h, δ) + m * ca.dot(δ, δ)
    if δ.numel() == 2:
        return Inertia(m, h + m * δ, J + both)
    products = h @ δ.T
    return Inertia(m, h + m * δ, J + both * SX.eye(3) - products - products.T - m * (δ @ δ.T))


def _turned_by(R: SX, angle: SX, joint: Relation, forward: bool) -> tuple[SX, SX]:
    """Rotation of a body, and its angle in the plane, from those of its parent."""
    if joint.angle is None:
        return R @ (joint.rotation if forward else joint.rotation.T), angle
    angle = angle + (joint.angle if forward else -joint.angle)
    c, s = ca.cos(angle), ca.sin(angle)
    return ca.vertcat(ca.horzcat(c, -s), ca.horzcat(s, c)), angle
