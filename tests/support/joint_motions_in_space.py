"""A spatial mechanism for each joint: its builder, and its motion by equations of motion derived by
hand (`newton_euler`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from bodies import add_body
from joint_conditions import DOWN, O3, vec
from newton_euler import (
    Array,
    BodyState,
    Contact,
    RigidBody,
    X,
    Z,
    carrying,
    guided_point,
    guiding_body,
    held_point,
    normals_of,
    part,
    product,
    project,
    rod,
    second_order,
    steiner,
    turned,
    unit,
)
from scipy.optimize import brentq, fsolve

import varimech as vm

# prismatic, planar and spatial: a slider, turned by a constant rotation C, on a line of a turning
# bar that misses the pivot

SLIDER_AXIS = {2: unit([0.0, 0.0, 1.0]), 3: unit([0.2, -0.3, 1.0])}
SLIDER_TURN = {2: turned(Z, 0.5), 3: turned(vec(0.3, 1.0, -0.4), 0.8)}
SLIDER_INERTIA = {
    2: np.diag([0.0, 0.0, 0.02]),
    3: np.array([[0.03, 0.004, 0.0], [0.004, 0.02, -0.003], [0.0, -0.003, 0.025]]),
}
BAR_INERTIA = {2: np.diag([0.0, 0.0, 0.2]), 3: np.diag([0.05, 0.2, 0.22])}
SLIDER_START, SLIDER_SPEED = (0.3, 0.25), (2.0, -0.5)


def build_planar_slider(m: vm.Mechanism, p: vm.Parameter) -> None:
    m.ground_point("O", (0, 0))
    m.body("bar", mass=1.5, inertia=0.2, com=(0.2, 0.1), points={"O": (0, 0), "S": (0.1, 0.15)})
    m.body("slider", mass=0.8, inertia=0.02, com=(0.05, -0.04), points={"S": (0.02, 0.01)})
    m.revolute("O")
    m.prismatic("slide", "bar.S", "slider.S", axis=(1.0, p), rotation=0.5)
    m.start(angle={"bar": 0.3}, displacement={"slide": 0.25}, speed={"bar": 2.0, "slide": -0.5})


def build_spatial_slider(m: vm.Mechanism, p: vm.Parameter) -> None:
    m.ground_point("O", (0, 0, 0))
    add_body(
        m, "bar", 1.5, np.diag(BAR_INERTIA[3]), (0.2, 0.1, 0.05), O=(0, 0, 0), S=(0.1, 0.15, 0.2)
    )
    add_body(m, "slider", 0.8, SLIDER_INERTIA[3], (0.05, -0.04, 0.06), S=(0.02, 0.01, -0.03))
    m.revolute("O", axis=SLIDER_AXIS[3])
    m.prismatic("slide", "bar.S", "slider.S", axis=(1.0, p, 0.5), rotation=SLIDER_TURN[3])
    m.start(angle={"O": 0.3}, displacement={"slide": 0.25}, speed={"O": 2.0, "slide": -0.5})


def slider(dimension: int, p: float, times: Array) -> Array:
    """Coordinates ψ (bar about a) and s:  r = R(ψ) (p₀ + s u + C c),  ṙ = ψ̇ a × r + ṡ R u."""
    a, C, g = SLIDER_AXIS[dimension], SLIDER_TURN[dimension], DOWN[dimension]
    planar = dimension == 2
    u_ = unit(vec(1.0, p)) if planar else unit([1.0, p, 0.5])
    c_bar = vec(0.2, 0.1) if planar else np.array([0.2, 0.1, 0.05])
    p0 = vec(0.1, 0.15) if planar else np.array([0.1, 0.15, 0.2])
    c = vec(0.03, -0.05) if planar else np.array([0.03, -0.05, 0.09])

    def acceleration(_: float, q: Array, u: Array) -> Array:
        R = turned(a, q[0])
        rb, r, e = R @ c_bar, R @ (p0 + q[1] * u_ + C @ c), R @ u_
        spin, coriolis = u[0] ** 2, 2 * u[0] * u[1] * product(a, e)
        I_bar, I = R @ BAR_INERTIA[dimension] @ R.T, R @ C @ SLIDER_INERTIA[dimension] @ C.T @ R.T
        return project(
            part(
                1.5,
                I_bar,
                [product(a, rb), O3],
                spin * product(a, product(a, rb)),
                [a, O3],
                O3,
                u,
                1.5 * g,
            ),
            part(
                0.8,
                I,
                [product(a, r), e],
                spin * product(a, product(a, r)) + coriolis,
                [a, O3],
                O3,
                u,
                0.8 * g,
            ),
        )

    path = second_order(acceleration, SLIDER_START, SLIDER_SPEED, times)
    return np.array([turned(a, y[0]) @ (p0 + y[1] * u_ + C @ c) for y in path])


# spatial revolute and cylindrical: an asymmetric body on a tilted axis, which has a different
# direction in the body's frame

LOPSIDED = np.array([[0.12, 0.02, -0.01], [0.02, 0.10, 0.015], [-0.01, 0.015, 0.08]])
TILTED = np.array([0.3, 0.2, 1.0])
OWN_AXIS = np.array([0.4, -0.2, 1.0])
PIVOT, COM, TIP = (
    np.array([0.05, -0.02, 0.1]),
    np.array([0.3, 0.1, -0.05]),
    np.array([0.6, 0.2, 0.1]),
)


def on_axis(m: vm.Mechanism) -> None:
    m.ground_point("O", (0, 0, 0))
    m.body("b", mass=2.0, inertia=LOPSIDED, com=COM, points={"O": PIVOT, "tip": TIP})


def build_tilted_hinge(m: vm.Mechanism, p: vm.Parameter) -> None:
    on_axis(m)
    m.revolute("hinge", "ground.O", "b.O", axis=TILTED, axis_on_second=(p, -0.2, 1.0))
    m.start(
        position={"b.tip": (None, 0.2, None)},
        speed={"b.tip": (None, 0.4, None)},
        near={"b": carrying(OWN_AXIS, TILTED) @ turned(OWN_AXIS, -0.5)},
    )


def build_tilted_sleeve(m: vm.Mechanism, p: vm.Parameter) -> None:
    on_axis(m)
    m.cylindrical("sleeve", "ground.O", "b.O", axis=(0.3, p, 1.0), axis_on_second=OWN_AXIS)
    m.start(
        displacement={"sleeve": 0.2},
        position={"b.tip": (None, 0.3, None)},
        speed={"b.tip": (None, 0.9, None), "sleeve": 0.5},
        near={"b": carrying(OWN_AXIS, TILTED) @ turned(OWN_AXIS, -0.5)},
    )


def on_tilted_axis(
    a: Array, own: Array, y: float, rate: float, slide: tuple[float, float] | None, times: Array
) -> Array:
    """φ:  (a·I_O a) φ̈ = a·(r × m g);  s:  s̈ = g·a. They decouple, as a × r and a are at right
    angles.
    """
    a, R0 = unit(a), carrying(own, a)
    arm, tip = R0 @ (COM - PIVOT), R0 @ (TIP - PIVOT)
    inertia = a @ (R0 @ LOPSIDED @ R0.T + steiner(2.0, arm)) @ a
    s0, ṡ0 = slide or (0.0, 0.0)

    def tip_at(φ: float) -> Array:
        return np.asarray(turned(a, φ) @ tip)

    φ0 = float(brentq(lambda φ: tip_at(φ)[1] + s0 * a[1] - y, -1.2, 0.9, xtol=1e-15))
    φ̇0 = (rate - ṡ0 * a[1]) / product(a, tip_at(φ0))[1]

    def acceleration(_: float, q: Array, u: Array) -> Array:
        return np.array([a @ product(turned(a, q[0]) @ arm, 2.0 * DOWN[3]) / inertia])

    path = second_order(acceleration, [φ0], [φ̇0], times)
    s = s0 + ṡ0 * times + (0.0 if slide is None else DOWN[3] @ a) * times**2 / 2
    return np.array([d * a + tip_at(x[0]) for x, d in zip(path, s, strict=True)])


# screw: the same body on a thread along the axis, which both have in the same components


def build_tilted_screw(m: vm.Mechanism, p: vm.Parameter) -> None:
    on_axis(m)
    m.screw("thread", "ground.O", "b.O", axis=TILTED, pitch=p)
    m.start(angle={"thread": 0.4}, speed={"thread": 2.0})


def on_tilted_screw(p: float, times: Array) -> Array:
    """(a·I_O a + m h²) φ̈ = a·(r × m g) + h a·m g,  h = p/2π."""
    a, h = unit(TILTED), p / (2 * np.pi)
    arm, tip = COM - PIVOT, TIP - PIVOT
    inertia = a @ (LOPSIDED + steiner(2.0, arm)) @ a + 2.0 * h**2

    def acceleration(_: float, q: Array, u: Array) -> Array:
        turning = a @ product(turned(a, q[0]) @ arm, 2.0 * DOWN[3])
        return np.array([(turning + h * 2.0 * DOWN[3] @ a) / inertia])

    path = second_order(acceleration, [0.4], [2.0], times)
    return np.array([h * x[0] * a + turned(a, x[0]) @ tip for x in path])


# spatial fixed: two welded bodies fly like one with their common centre of mass and inertia

FIXED_TURN = turned(np.array([1.0, 2.0, -0.5]), 1.1)
FREE_START = turned(np.array([0.2, -1.0, 0.4]), 0.9)
FREE_SPIN = np.array([2.0, -3.0, 4.0])
WELD_B, END_B = np.array([-0.1, 0.05, 0.0]), np.array([0.4, 0.1, 0.2])


def build_flying_weld(m: vm.Mechanism, p: vm.Parameter) -> None:
    m.body("a", mass=1.0, inertia=LOPSIDED, points={"W": (p, 0.1, -0.2)}, floating=True)
    m.body("b", mass=2.0, inertia=(0.05, 0.07, 0.04), points={"W": WELD_B, "end": END_B})
    m.fixed("weld", "a.W", "b.W", rotation=FIXED_TURN)
    m.start(
        position={"a.com": (0.1, 0.2, 0.3)},
        orientation={"a": FREE_START},
        speed={"a.com": (1.0, -0.5, 2.0), "a": FREE_SPIN},
    )


def flying_weld(p: float, times: Array) -> Array:
    W = np.array([p, 0.1, -0.2])
    cb, end = W - FIXED_TURN @ WELD_B, W + FIXED_TURN @ (END_B - WELD_B)
    common = 2.0 * cb / 3.0
    inertia = LOPSIDED + steiner(1.0, common)
    inertia = (
        inertia
        + FIXED_TURN @ np.diag([0.05, 0.07, 0.04]) @ FIXED_TURN.T
        + steiner(2.0, cb - common)
    )
    arm = FREE_START @ common
    start = BodyState(
        np.array([0.1, 0.2, 0.3]) + arm,
        FREE_START,
        np.array([1.0, -0.5, 2.0]) + product(FREE_SPIN, arm),
        FREE_SPIN,
    )
    path = RigidBody(3.0, inertia, 3.0 * DOWN[3]).run(start, times)
    return np.array([np.concatenate([s.at(-common), s.at(end - common)]) for s in path])


# spatial spherical, point-on-line, point-on-plane, distance: an asymmetric body held by contact
# forces

BODY_START = turned(np.array([1.0, 0.3, -0.6]), 0.7)
BODY_SPIN = np.array([1.5, -2.0, 3.0])
RAIL, PLANE = np.array([1.0, 0.4, 0.3]), np.array([0.2, -0.1, 1.0])


def lopsided(m: vm.Mechanism, point: Any) -> None:
    m.ground_point("O", (0.1, -0.2, 0.3))
    m.body("b", mass=2.0, inertia=LOPSIDED, com=COM, points={"P": point, "tip": TIP})


ANCHOR = np.array([0.1, -0.2, 0.3])


def contact_motion(P: Array, place: Array, speed: Array, contact: Contact, times: Array) -> Array:
    """Positions of the points P and tip, from the initial position and velocity of P."""
    R, ω = BODY_START, BODY_SPIN
    arm = R @ (COM - P)
    start = BodyState(place + arm, R, speed + product(ω, arm), ω)
    path = RigidBody(2.0, LOPSIDED, 2.0 * DOWN[3]).run(start, times, contact)
    return np.array([np.concatenate([s.at(P - COM), s.at(TIP - COM)]) for s in path])


def build_ball(m: vm.Mechanism, p: vm.Parameter) -> None:
    lopsided(m, (p, -0.02, 0.1))
    m.spherical("ball", "ground.O", "b.P")
    m.start(orientation={"b": BODY_START}, speed={"b": BODY_SPIN})


def ball(p: float, times: Array) -> Array:
    P = np.array([p, -0.02, 0.1])
    return contact_motion(P, ANCHOR, O3, held_point(P - COM), times)


def build_bead(m: vm.Mechanism, p: vm.Parameter) -> None:
    lopsided(m, PIVOT)
    m.point_on_line("rail", "ground.O", "b.P", axis=(1.0, p, 0.3))
    m.start(
        displacement={"rail": 0.2},
        orientation={"b": BODY_START},
        speed={"rail": 0.7, "b": BODY_SPIN},
    )


def bead(p: float, times: Array) -> Array:
    e = unit([1.0, p, 0.3])
    return contact_motion(
        PIVOT, ANCHOR + 0.2 * e, 0.7 * e, guided_point(PIVOT - COM, normals_of(e)), times
    )


def build_threaded(m: vm.Mechanism, p: vm.Parameter) -> None:
    """The line belongs to the body and slips over a fixed point."""
    lopsided(m, (p, -0.02, 0.1))
    m.point_on_line("rail", "b.P", "ground.O", axis=RAIL)
    m.start(
        displacement={"rail": -0.2},
        orientation={"b": BODY_START},
        speed={"rail": 0.7, "b": BODY_SPIN},
    )


def threaded(p: float, times: Array) -> Array:
    """O = P + s R e, so that  P = O − s R e  and  Ṗ = −ṡ R e − s ω × R e."""
    P, e = np.array([p, -0.02, 0.1]), BODY_START @ unit(RAIL)
    speed = -0.7 * e + 0.2 * product(BODY_SPIN, e)
    return contact_motion(P, ANCHOR + 0.2 * e, speed, guiding_body(ANCHOR, normals_of(RAIL)), times)


def build_on_plane(m: vm.Mechanism, p: vm.Parameter) -> None:
    lopsided(m, PIVOT)
    m.point_on_plane("floor", "ground.O", "b.P", normal=(0.2, p, 1.0))
    m.start(
        position={"b.P": (0.3, 0.1, None)},
        orientation={"b": BODY_START},
        speed={"b.P": (0.5, -0.4, None), "b": BODY_SPIN},
    )


def on_plane(p: float, times: Array) -> Array:
    n = np.array([0.2, p, 1.0])
    place, speed = np.array([0.3, 0.1, 0.0]), np.array([0.5, -0.4, 0.0])
    place[2] = ANCHOR[2] - n[:2] @ (place - ANCHOR)[:2]
    speed[2] = -n[:2] @ speed[:2]
    return contact_motion(PIVOT, place, speed, guided_point(PIVOT - COM, unit(n)[None, :]), times)


def build_plate(m: vm.Mechanism, p: vm.Parameter) -> None:
    """The plane belongs to the body and slips over a fixed point."""
    lopsided(m, (0.05, -0.02, p))
    m.point_on_plane("floor", "b.P", "ground.O", normal=PLANE)
    m.start(
        position={"b.P": (0.3, 0.1, None)},
        orientation={"b": BODY_START},
        speed={"b.P": (0.5, -0.4, None), "b": BODY_SPIN},
    )


def plate(p: float, times: Array) -> Array:
    P, n, place, speed = (
        np.array([0.05, -0.02, p]),
        BODY_START @ unit(PLANE),
        vec(0.3, 0.1),
        vec(0.5, -0.4),
    )
    place[2] = ANCHOR[2] - n[:2] @ (place - ANCHOR)[:2] / n[2]
    # n·Ṗ = (ω × n)·(O − P), from n·(O − P) = 0
    speed[2] = (product(BODY_SPIN, n) @ (ANCHOR - place) - n[:2] @ speed[:2]) / n[2]
    return contact_motion(P, place, speed, guiding_body(ANCHOR, unit(PLANE)[None, :]), times)


def build_on_rod(m: vm.Mechanism, p: vm.Parameter) -> None:
    lopsided(m, PIVOT)
    m.distance("rod", "ground.O", "b.P", length=p)
    m.start(
        position={"b.P": (0.3, 0.1, None)},
        orientation={"b": BODY_START},
        speed={"b.P": (0.5, -0.4, None), "b": BODY_SPIN},
        near={"b.P": (0.3, 0.1, -0.3)},
    )


def on_rod(p: float, times: Array) -> Array:
    place, speed = vec(0.3, 0.1), vec(0.5, -0.4)
    d = place - ANCHOR
    d[2] = -np.sqrt(p**2 - d[:2] @ d[:2])
    speed[2] = -d[:2] @ speed[:2] / d[2]
    return contact_motion(PIVOT, ANCHOR + d, speed, rod(ANCHOR, PIVOT - COM, p), times)


# spatial universal: an asymmetric body suspended from a cross

CROSS_ON_BODY = np.array([0.3, 1.0, 0.2])


def build_cross(m: vm.Mechanism, p: vm.Parameter) -> None:
    on_axis(m)
    m.universal("cross", "ground.O", "b.O", axis=TILTED, axis_on_second=(p, 1.0, 0.2))
    m.start(
        position={"b.tip": (0.45, 0.3, None)},
        speed={"b.tip": (0.5, -0.8, None)},
        near={"b": carrying(CROSS_ON_BODY, product(TILTED, X))},
    )


def cross(p: float, times: Array) -> Array:
    """R = R(a, α) Q R(b, β), where Q carries the body's axis b to w, at right angles to a:  ω = α̇
    a + β̇ R(a, α) w.
    """
    a, w, b = unit(TILTED), unit(product(TILTED, X)), unit([p, 1.0, 0.2])
    Q = carrying(b, w)

    def pose(q: Array) -> tuple[Array, Array]:
        return turned(a, q[0]) @ Q @ turned(b, q[1]), turned(a, q[0]) @ w

    def acceleration(_: float, q: Array, u: Array) -> Array:
        R, second = pose(q)
        r, ω, β = R @ (COM - PIVOT), u[0] * a + u[1] * second, u[0] * u[1] * product(a, second)
        bias = product(β, r) + product(ω, product(ω, r))
        W = [a, second]
        return project(
            part(2.0, R @ LOPSIDED @ R.T, [product(e, r) for e in W], bias, W, β, u, 2.0 * DOWN[3])
        )

    tip = TIP - PIVOT
    q0 = fsolve(lambda q: (pose(q)[0] @ tip)[:2] - [0.45, 0.3], [0.0, 0.0], xtol=1e-13)
    R, second = pose(q0)
    u0 = np.linalg.solve(
        np.column_stack([product(e, R @ tip)[:2] for e in (a, second)]), [0.5, -0.8]
    )
    return np.array(
        [pose(y)[0] @ tip for y in second_order(acceleration, list(q0), list(u0), times)]
    )


# spatial planar: an asymmetric block slides and turns on a tilted plane of a swinging table; the
# normal has a different direction in the block's frame

TABLE_AXIS, TABLE_COM, TABLE_TOP = (
    SLIDER_AXIS[3],
    np.array([0.2, 0.1, 0.05]),
    np.array([0.1, 0.15, 0.2]),
)
TABLE_START, TABLE_SPEED, BLOCK_TURN = 0.3, 2.0, 0.4


def build_block(m: vm.Mechanism, p: vm.Parameter) -> None:
    m.ground_point("O", (0, 0, 0))
    add_body(m, "table", 1.5, np.diag(BAR_INERTIA[3]), TABLE_COM, O=(0, 0, 0), S=TABLE_TOP)
    m.body("b", mass=2.0, inertia=LOPSIDED, com=COM, points={"P": PIVOT, "tip": TIP})
    m.revolute("O", axis=TABLE_AXIS)
    m.planar("top", "table.S", "b.P", normal=(0.2, p, 1.0), normal_on_second=OWN_AXIS)
    m.start(
        angle={"O": TABLE_START},
        position={"b.P": (0.3, 0.1, None), "b.tip": (None, 0.5, None)},
        speed={"O": TABLE_SPEED, "b.P": (0.5, -0.4, None), "b.tip": (None, 0.8, None)},
        near={
            "b": (
                turned(TABLE_AXIS, TABLE_START)
                @ carrying(OWN_AXIS, PLANE)
                @ turned(OWN_AXIS, BLOCK_TURN)
            )
        },
    )


def block(p: float, times: Array) -> Array:
    """Coordinates ψ (table about a), x, y, φ (block about n):  r = R(ψ) s,  s = p₀ + x e₁ + y e₂ +
    R(n, φ) Q c,

    r̈ = ψ̈ a × r + ψ̇² a × (a × r) + 2 ψ̇ a × R ṡ + R s̈,     ω = ψ̇ a + φ̇ R n,     where Q carries the block's own normal to n.
    """
    a, n, g = TABLE_AXIS, unit([0.2, p, 1.0]), DOWN[3]
    (e1, e2), Q = normals_of(n), carrying(OWN_AXIS, n)

    def arm(φ: float, point: Array) -> Array:
        return np.asarray(turned(n, φ) @ Q @ (point - PIVOT))

    def partial(q: Array, point: Array) -> tuple[Array, list[Array]]:
        """Position of a point of the block, and its partial velocities."""
        R, c = turned(a, q[0]), arm(q[3], point)
        r = R @ (TABLE_TOP + q[1] * e1 + q[2] * e2 + c)
        return r, [product(a, r), R @ e1, R @ e2, R @ product(n, c)]

    def acceleration(_: float, q: Array, u: Array) -> Array:
        R, (_r, J) = turned(a, q[0]), partial(q, COM)
        top, Rn, S = R @ TABLE_COM, R @ n, R @ turned(n, q[3]) @ Q
        sliding = sum(w * d for w, d in zip(u[1:], J[1:], strict=True))
        bias = (
            u[0] ** 2 * product(a, J[0])
            + 2 * u[0] * product(a, sliding)
            + u[3] ** 2 * product(Rn, J[3])
        )
        I_table = R @ BAR_INERTIA[3] @ R.T
        across, swing = product(a, top), u[0] ** 2 * product(a, product(a, top))
        return project(
            part(1.5, I_table, [across, O3, O3, O3], swing, [a, O3, O3, O3], O3, u, 1.5 * g),
            part(
                2.0,
                S @ LOPSIDED @ S.T,
                J,
                bias,
                [a, O3, O3, Rn],
                u[0] * u[3] * product(a, Rn),
                u,
                2.0 * g,
            ),
        )

    def missed(x: Array) -> Array:
        q = np.array([TABLE_START, *x])
        return np.array([*(partial(q, PIVOT)[0][:2] - [0.3, 0.1]), partial(q, TIP)[0][1] - 0.5])

    q0 = np.array([TABLE_START, *fsolve(missed, [0.0, 0.0, BLOCK_TURN], xtol=1e-13)])
    rates = np.vstack(
        [np.column_stack(partial(q0, PIVOT)[1])[:2], np.column_stack(partial(q0, TIP)[1])[1:2]]
    )
    u0 = np.linalg.solve(rates[:, 1:], np.array([0.5, -0.4, 0.8]) - TABLE_SPEED * rates[:, 0])
    path = second_order(acceleration, list(q0), [TABLE_SPEED, *u0], times)
    return np.array(
        [np.concatenate([partial(y, point)[0] for point in (PIVOT, TIP)]) for y in path]
    )
