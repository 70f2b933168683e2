"""Recursion from a body of the tree to the next, for any choice of a reference point on each.

Body i has a reference point at r, moving with ṙ as a point of space: its centre of mass (RTDyn0),
or the origin of the global frame (RTDyn1, r = ṙ = 0, whichever of its own points is there). u is
the velocity of the body's own point at r, ω its angular velocity. From the parent p, with the
joint's axes w = ±R₁ W and directions l = ±R₁ D (R₁ of the joint's first body; − where that is the
child) and its second point x₂,

    u = u_p + ω_p × (r − r_p) + (l ż + w ż × (r − x₂)),     ω = ω_p + w ż,

and the derivatives of both for u̇ and ω̇. A body resists with a wrench at r: with c = r_G − r, J
its inertia about the centre of mass,

    f = m r̈_G,     n = J ω̇ + ω × J ω + c × f,     r̈_G = u̇ + ω̇ × c + ω × ċ.

References: `recursion`.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import casadi as ca

from ...core.symbols import SX, wedge
from ...model.body import Body, RigidBody
from ...model.frame import Frame, known_points, spin
from ...model.relative_motion import Relation, RelativeMotion
from .choice import CENTRE_OF_MASS
from .joints import Place
from .spanning_tree import Link


@dataclass(frozen=True)
class Motion:
    """Pose of a body and its rates."""

    frame: Frame
    angle: SX
    """Angle of the body in the plane; in space of the joint that carries it, if that has one axis.
    """
    com: SX
    com_rate: SX
    reference: SX
    """Reference point r."""
    reference_rate: SX
    """Rate ṙ of the reference point."""
    velocity: SX
    """Velocity u."""
    spin: SX
    """Angular velocity ω."""


@dataclass(frozen=True)
class Hinge:
    """Contribution of a joint:  u̇ = u̇_p + ω̇_p × arm + motions z̈ + drift,  ω̇ = ω̇_p + axes z̈ +
    turning.
    """

    motions: SX
    """Upper half of b, l + w × (r − x₂)."""
    axes: SX
    """Lower half of b, w."""
    drift: SX
    turning: SX
    arm: SX
    """Arm r − r_p."""
    euler: tuple[int, ...]
    """Indices of the coordinates that are Euler parameters."""


@dataclass(frozen=True)
class Inertia:
    """Mass, first moment and inertia about the reference point."""

    mass: SX
    moment: SX
    about: SX


def move(
    link: Link, place: Place, reference: str, parent: Motion, z: SX, ż: SX
) -> tuple[Motion, Hinge]:
    """Compute a body's motion from that of its parent and the coordinates of its joint."""
    body = link.body
    own, other = (place.second, place.first) if link.forward else (place.first, place.second)
    step = _step_of(place.motion, link.forward, reference, body.dimension, own is body.com)
    constants = [*place.motion.geometry, own, body.com]
    anchor = parent.frame.position(other)
    parent_values = [
        parent.frame.rotation,
        parent.angle,
        parent.reference,
        parent.reference_rate,
        parent.velocity,
        parent.spin,
    ]
    values = step.call([anchor, *parent_values, *constants, z, ż])
    o, R, ȯ, Ṙ, at, ȧt, angle, com, ṙ_G, r, ṙ, u, ω, motions, w, drift, turning, arm = values
    frame = Frame(o, R, ȯ, Ṙ, known_points([(body.com, com, ṙ_G), (own, at, ȧt)]))
    euler = tuple(range(4)) if place.motion.has_euler_parameters else ()
    return Motion(frame, angle, com, ṙ_G, r, ṙ, u, ω), Hinge(motions, w, drift, turning, arm, euler)


_STEPS: dict[Hashable, ca.Function] = {}
"""Cache of steps, each built once for all joints with equal relative motion."""


def _step_of(
    motion: RelativeMotion, forward: bool, reference: str, n: int, at_com: bool
) -> ca.Function:
    if motion.key is None:
        return _step(motion, forward, reference, n, at_com)
    key = (motion.key, forward, reference, n, at_com)
    if key not in _STEPS:
        symbols = [SX.sym("g", *x.shape) for x in motion.geometry]
        _STEPS[key] = _step(motion.restated(symbols), forward, reference, n, at_com)
    return _STEPS[key]


def _step(
    motion: RelativeMotion, forward: bool, reference: str, n: int, at_com: bool
) -> ca.Function:
    """Compile the recursion from one body to the next; `at_com` if the joint's point on the body is
    its centre of mass.
    """
    spins = 1 if n == 2 else 3
    count = len(motion.names)
    x_p, r_p, ṙ_p, u_p, own, own_com = (
        SX.sym(name, n) for name in ("x", "r", "ṙ", "u", "own", "com")
    )
    ω_p, angle_p, z, ż = SX.sym("ω", spins), SX.sym("angle"), SX.sym("z", count), SX.sym("ż", count)
    R_p = SX.sym("R", n, n)
    joint = motion.relation(z, ż)
    R, angle = _turned_by(R_p, angle_p, joint, forward)
    if forward:
        x2 = at = x_p + R_p @ joint.displacement
    else:
        x2, at = x_p, x_p - R @ joint.displacement
    if n == 3:
        angle = z[motion.names.index("angle")] if "angle" in motion.names else SX(0)
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
    turning = (
        sign * joint.turning_rate if n == 2 else cross(ω1, wż) + sign * (R1 @ joint.turning_rate)
    )
    drift = cross(ω_p, ṙ - ṙ_p) + cross(ω1, lż) + cross(turning, lever) + cross(wż, ṙ - ẋ2)
    if joint.sliding_rate is not None:
        drift = drift + sign * (R1 @ joint.sliding_rate)
    body = [origin, R, u + cross(ω, origin - r), spin(ω) @ R, at, ȧt, angle, com, ṙ_G, r, ṙ, u, ω]
    inputs = [x_p, R_p, angle_p, r_p, ṙ_p, u_p, ω_p, *motion.geometry, own, own_com, z, ż]
    return ca.Function("step", inputs, [*body, motions, w, drift, turning, arm])


def still(body: Body) -> Motion:
    """Return the motion of a body at rest at the origin."""
    n = body.dimension
    zero, none = SX.zeros(n), SX.zeros(1 if n == 2 else 3)
    return Motion(
        Frame(zero, SX.eye(n), zero, SX.zeros(n, n)), SX(0), zero, zero, zero, zero, zero, none
    )


def wrench(body: RigidBody, here: Motion, u̇: SX, ω̇: SX) -> tuple[SX, SX]:
    """Return the inertial wrench of one body, at its reference point."""
    c, ċ = here.com - here.reference, here.com_rate - here.reference_rate
    f = body.mass * (u̇ + cross(ω̇, c) + cross(here.spin, ċ))
    J = inertia_of(body, here)
    n = J @ ω̇ + wedge(c, f)
    return f, n if body.dimension == 2 else n + ca.cross(here.spin, J @ here.spin)


def inertia_of(body: RigidBody, here: Motion) -> SX:
    """Return the inertia about the centre of mass, in global components."""
    R = here.frame.rotation
    return body.inertia if body.dimension == 2 else R @ body.inertia @ R.T


def inertia_about(body: RigidBody, here: Motion) -> Inertia:
    """Return mass, first moment and inertia about the reference point."""
    c = here.com - here.reference
    return moved(Inertia(body.mass, SX.zeros(c.numel()), inertia_of(body, here)), c)


def cross(ω: SX, r: SX) -> SX:
    """Return ω × r, in the plane for a scalar ω."""
    return ca.cross(ω, r) if r.numel() == 3 else ca.vertcat(-ω * r[1], ω * r[0])


def moved(inertia: Inertia, δ: SX) -> Inertia:
    """Return the inertia about a point from which the present one is at δ."""
    m, h, J = inertia.mass, inertia.moment, inertia.about
    both = 2 * ca.dot(h, δ) + m * ca.dot(δ, δ)
    if δ.numel() == 2:
        return Inertia(m, h + m * δ, J + both)
    products = h @ δ.T
    return Inertia(m, h + m * δ, J + both * SX.eye(3) - products - products.T - m * (δ @ δ.T))


def _turned_by(R: SX, angle: SX, joint: Relation, forward: bool) -> tuple[SX, SX]:
    """Return the rotation of a body, and its angle in the plane, from those of its parent."""
    if joint.angle is None:
        return R @ (joint.rotation if forward else joint.rotation.T), angle
    angle = angle + (joint.angle if forward else -joint.angle)
    c, s = ca.cos(angle), ca.sin(angle)
    return ca.vertcat(ca.horzcat(c, -s), ca.horzcat(s, c)), angle
