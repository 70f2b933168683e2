"""Every joint, planar and spatial, against equations of motion derived by hand (see `newton_euler`) and against invariants.

`CASES` holds one mechanism for each joint, with a geometric parameter p of that joint, and its reference motion. A joint kind without
a case fails `test_every_joint_has_a_case`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq, fsolve

import varimech as vm
from newton_euler import (
    Array,
    BodyState,
    Contact,
    RigidBody,
    X,
    Z,
    carrying,
    check_order_two,
    guided_point,
    guiding_body,
    held_point,
    normals_of,
    part,
    project,
    rod,
    second_order,
    steiner,
    turned,
    unit,
)
from varimech.model.joints import JOINTS

DOWN = {2: np.array([0.0, -9.81, 0.0]), 3: np.array([0.0, 0.0, -9.81])}
O3 = np.zeros(3)
STEP = 1e-3
DURATION = 0.5


def vec(*components: float) -> Array:
    """A vector from its components; a planar one has z = 0."""
    return np.array([*components, 0.0][:3])


# what is measured


def at(run: vm.Run, point: str) -> Array:
    """Positions of a point, (time, 3)."""
    r = run.position(point).values
    return r if r.shape[1] == 3 else np.column_stack([r, np.zeros(len(r))])


def moving(run: vm.Run, point: str) -> Array:
    """Velocities of a point, (time, 3)."""
    v = run.velocity(point).values
    return v if v.shape[1] == 3 else np.column_stack([v, np.zeros(len(v))])


def rotations(run: vm.Run, body: str) -> Array:
    """Rotation matrices of a body, (time, 3, 3)."""
    if body == "ground":
        return np.tile(np.eye(3), (run.time.size, 1, 1))
    if run.position(f"{body}.com").sizes["component"] == 3:
        return np.asarray(run.rotation(body).values)
    return np.array([turned(Z, φ) for φ in run.angle(body).values])


def spins(run: vm.Run, body: str) -> Array:
    """Angular velocities of a body, (time, 3)."""
    ω = run.angular_velocity(body).values
    return ω if ω.ndim == 2 else np.column_stack([0 * ω, 0 * ω, ω])


def dots(a: Array, b: Array) -> Array:
    return np.asarray((a * b).sum(axis=-1))


# the conditions of joints, stated from measured positions and rotations alone; first and second are "body.point"


def gap(run: vm.Run, first: str, second: str) -> Array:
    return np.asarray(at(run, second) - at(run, first))


def off_line(run: vm.Run, first: str, second: str, axis: Array) -> Array:
    return np.cross(rotations(run, first.split(".")[0]) @ unit(axis), gap(run, first, second))


def off_plane(run: vm.Run, first: str, second: str, normal: Array) -> Array:
    return dots(rotations(run, first.split(".")[0]) @ unit(normal), gap(run, first, second))


def misaligned(run: vm.Run, first: str, second: str, axis: Array, axis_on_second: Array) -> Array:
    return np.asarray(rotations(run, first) @ unit(axis) - rotations(run, second) @ unit(axis_on_second))


def off_square(run: vm.Run, first: str, second: str, axis: Array, axis_on_second: Array) -> Array:
    return dots(rotations(run, first) @ unit(axis), rotations(run, second) @ unit(axis_on_second))


def disoriented(run: vm.Run, first: str, second: str, relative: Array) -> Array:
    return np.asarray(rotations(run, second) - rotations(run, first) @ relative)


def off_length(run: vm.Run, first: str, second: str, length: float) -> Array:
    return np.asarray(np.linalg.norm(gap(run, first, second), axis=1) - length)


# one mechanism for each joint: how it is built, and how it moves


@dataclass(frozen=True, eq=False)
class Case:
    """A mechanism with a joint to prove. `reference(p, times)` are the positions of `points`, one after the other."""

    kind: str
    dimension: int
    freedoms: int
    p: float
    points: tuple[str, ...]
    build: Callable[[vm.Mechanism, vm.Parameter], None]
    reference: Callable[[float, Array], Array]
    broken: Callable[[vm.Run, float], list[Array]]
    """What the joint makes vanish, from measured positions and rotations."""
    note: str = ""

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.dimension}d{self.note}"

    @cached_property
    def mechanism(self) -> vm.Mechanism:
        m = vm.Mechanism(self.name, gravity=tuple(DOWN[self.dimension][: self.dimension]))
        self.build(m, m.parameter("p", self.p))
        return m

    @cache  # noqa: B019 - cases live as long as the tests
    def run(self, h: float) -> vm.Run:
        return self.mechanism.simulate(DURATION, step=h, every=round(DURATION / 50 / h))

    def measured(self, run: vm.Run) -> Array:
        return np.hstack([at(run, p) for p in self.points])


# planar revolute: double pendulum with hinges off the bars' axes


def build_double_pendulum(m: vm.Mechanism, p: vm.Parameter) -> None:
    m.ground_point("O", (0.2, 0.1))
    m.body("one", mass=2.0, inertia=0.15, com=(0.3, 0.05), points={"O": (0, 0), "B": (p, 0.1)})
    m.body("two", mass=1.2, inertia=0.06, com=(0.2, -0.1), points={"B": (-0.1, 0.02)})
    m.revolute("O")
    m.revolute("J", "one.B", "two.B")
    m.start(angle={"one": -0.4, "two": 0.8}, speed={"one": 1.0, "two": -2.0})


def double_pendulum(p: float, times: Array) -> Array:
    O, c1, b, c2 = vec(0.2, 0.1), vec(0.3, 0.05), vec(p, 0.1), vec(0.3, -0.12)

    def arms(q: Array) -> tuple[Array, Array, Array]:
        R1, R2 = turned(Z, q[0]), turned(Z, q[1])
        return R1 @ c1, R1 @ b, R2 @ c2

    def acceleration(_: float, q: Array, u: Array) -> Array:
        r1, rb, r2 = arms(q)
        return project(
            part(2.0, 0.15, [np.cross(Z, r1), O3], -(u[0] ** 2) * r1, [Z, O3], O3, u, 2.0 * DOWN[2]),
            part(
                1.2,
                0.06,
                [np.cross(Z, rb), np.cross(Z, r2)],
                -(u[0] ** 2) * rb - u[1] ** 2 * r2,
                [O3, Z],
                O3,
                u,
                1.2 * DOWN[2],
            ),
        )

    path = second_order(acceleration, [-0.4, 0.8], [1.0, -2.0], times)
    return np.array([np.concatenate([O + arms(y)[1], O + arms(y)[1] + arms(y)[2]]) for y in path])


# prismatic, planar and spatial: a slider, turned by a constant rotation C, on a line of a turning bar that misses the pivot

SLIDER_AXIS = {2: unit([0.0, 0.0, 1.0]), 3: unit([0.2, -0.3, 1.0])}
SLIDER_TURN = {2: turned(Z, 0.5), 3: turned(vec(0.3, 1.0, -0.4), 0.8)}
SLIDER_INERTIA = {2: np.diag([0.0, 0.0, 0.02]), 3: np.array([[0.03, 0.004, 0.0], [0.004, 0.02, -0.003], [0.0, -0.003, 0.025]])}
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
    m.body("bar", mass=1.5, inertia=np.diag(BAR_INERTIA[3]), com=(0.2, 0.1, 0.05), points={"O": (0, 0, 0), "S": (0.1, 0.15, 0.2)})
    m.body("slider", mass=0.8, inertia=SLIDER_INERTIA[3], com=(0.05, -0.04, 0.06), points={"S": (0.02, 0.01, -0.03)})
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
        spin, coriolis = u[0] ** 2, 2 * u[0] * u[1] * np.cross(a, e)
        I_bar, I = R @ BAR_INERTIA[dimension] @ R.T, R @ C @ SLIDER_INERTIA[dimension] @ C.T @ R.T
        return project(
            part(1.5, I_bar, [np.cross(a, rb), O3], spin * np.cross(a, np.cross(a, rb)), [a, O3], O3, u, 1.5 * g),
            part(0.8, I, [np.cross(a, r), e], spin * np.cross(a, np.cross(a, r)) + coriolis, [a, O3], O3, u, 0.8 * g),
        )

    path = second_order(acceleration, SLIDER_START, SLIDER_SPEED, times)
    return np.array([turned(a, y[0]) @ (p0 + y[1] * u_ + C @ c) for y in path])


# planar fixed: two welded bodies swing like one with their common centre of mass and inertia (Steiner)


def build_welded_pendulum(m: vm.Mechanism, p: vm.Parameter) -> None:
    m.ground_point("O", (0, 0))
    m.body("a", mass=1.0, inertia=0.05, com=(0.2, 0.0), points={"O": (0, 0), "W": (p, 0.1)})
    m.body("b", mass=2.0, inertia=0.1, com=(0.15, 0.1), points={"W": (-0.1, 0.05), "tip": (0.5, 0.0)})
    m.revolute("O")
    m.fixed("weld", "a.W", "b.W", rotation=0.7)
    m.start(angle={"a": 0.2}, speed={"a": -1.0})


def welded_pendulum(p: float, times: Array) -> Array:
    C, W = turned(Z, 0.7), vec(p, 0.1)
    ca, cb, tip = vec(0.2, 0.0), W + C @ vec(0.25, 0.05), W + C @ vec(0.6, -0.05)
    arm = (1.0 * ca + 2.0 * cb) / 3.0
    inertia = 0.05 + 0.1 + 1.0 * ca @ ca + 2.0 * cb @ cb

    def acceleration(_: float, q: Array, u: Array) -> Array:
        r = turned(Z, q[0]) @ arm
        return np.array([np.cross(r, 3.0 * DOWN[2])[2] / inertia])

    return np.array([turned(Z, y[0]) @ tip for y in second_order(acceleration, [0.2], [-1.0], times)])


# planar point-on-line: a body hangs by a pin in a slot of a turning bar


def build_pin_in_slot(m: vm.Mechanism, p: vm.Parameter) -> None:
    m.ground_point("O", (0, 0))
    m.body("bar", mass=1.5, inertia=0.2, com=(0.2, 0.1), points={"O": (0, 0), "S": (0.1, 0.15)})
    m.body("pin", mass=0.8, inertia=0.02, com=(0.1, -0.2), points={"P": (p, 0.01)})
    m.revolute("O")
    m.point_on_line("slot", "bar.S", "pin.P", axis=(2.0, 0.6))
    m.start(angle={"bar": 0.3, "pin": 0.5}, displacement={"slot": 0.25}, speed={"bar": 2.0, "slot": -0.5, "pin": 1.0})


def pin_in_slot(p: float, times: Array) -> Array:
    e_, c_bar, p0, c = unit(vec(2.0, 0.6)), vec(0.2, 0.1), vec(0.1, 0.15), vec(0.1, -0.2) - vec(p, 0.01)

    def places(q: Array) -> tuple[Array, Array, Array]:
        R = turned(Z, q[0])
        return R @ (p0 + q[1] * e_), R @ e_, turned(Z, q[2]) @ c

    def acceleration(_: float, q: Array, u: Array) -> Array:
        P, e, r = places(q)
        rb = turned(Z, q[0]) @ c_bar
        bias = -(u[0] ** 2) * P + 2 * u[0] * u[1] * np.cross(Z, e) - u[2] ** 2 * r
        return project(
            part(1.5, 0.2, [np.cross(Z, rb), O3, O3], -(u[0] ** 2) * rb, [Z, O3, O3], O3, u, 1.5 * DOWN[2]),
            part(0.8, 0.02, [np.cross(Z, P), e, np.cross(Z, r)], bias, [O3, O3, Z], O3, u, 0.8 * DOWN[2]),
        )

    path = second_order(acceleration, [0.3, 0.25, 0.5], [2.0, -0.5, 1.0], times)
    return np.array([np.concatenate([places(y)[0], places(y)[0] + places(y)[2]]) for y in path])


# planar distance: a body on a massless rod, a double pendulum whose first link weighs nothing


def build_rod_pendulum(m: vm.Mechanism, p: vm.Parameter) -> None:
    m.ground_point("O", (0, 0))
    m.body("b", mass=1.5, inertia=0.1, com=(0.3, 0.1), points={"P": (0, 0.05)})
    m.distance("rod", "ground.O", "b.P", length=p)
    m.start(
        position={"b.P": (0.4, None)},
        angle={"b": -0.8},
        speed={"b.P": (0.6, None), "b": 2.0},
        near={"b.P": (0.4, -0.6)},
    )


def rod_pendulum(p: float, times: Array) -> Array:
    φ = -np.arccos(0.4 / p)
    c = vec(0.3, 0.05)

    def arms(q: Array) -> tuple[Array, Array]:
        return turned(Z, q[0]) @ (p * X), turned(Z, q[1]) @ c

    def acceleration(_: float, q: Array, u: Array) -> Array:
        d, r = arms(q)
        bias = -(u[0] ** 2) * d - u[1] ** 2 * r
        return project(part(1.5, 0.1, [np.cross(Z, d), np.cross(Z, r)], bias, [O3, Z], O3, u, 1.5 * DOWN[2]))

    path = second_order(acceleration, [φ, -0.8], [-0.6 / (p * np.sin(φ)), 2.0], times)
    return np.array([np.concatenate([arms(y)[0], sum(arms(y))]) for y in path])


# spatial revolute and cylindrical: a lopsided body on a tilted axis, whose own axis is another one in its frame

LOPSIDED = np.array([[0.12, 0.02, -0.01], [0.02, 0.10, 0.015], [-0.01, 0.015, 0.08]])
TILTED = np.array([0.3, 0.2, 1.0])
OWN_AXIS = np.array([0.4, -0.2, 1.0])
PIVOT, COM, TIP = np.array([0.05, -0.02, 0.1]), np.array([0.3, 0.1, -0.05]), np.array([0.6, 0.2, 0.1])


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


def on_tilted_axis(a: Array, own: Array, y: float, rate: float, slide: tuple[float, float] | None, times: Array) -> Array:
    """φ:  (a·I_O a) φ̈ = a·(r × m g);  s:  s̈ = g·a. They decouple, as a × r and a are at right angles."""
    a, R0 = unit(a), carrying(own, a)
    arm, tip = R0 @ (COM - PIVOT), R0 @ (TIP - PIVOT)
    inertia = a @ (R0 @ LOPSIDED @ R0.T + steiner(2.0, arm)) @ a
    s0, ṡ0 = slide or (0.0, 0.0)

    def tip_at(φ: float) -> Array:
        return np.asarray(turned(a, φ) @ tip)

    φ0 = float(brentq(lambda φ: tip_at(φ)[1] + s0 * a[1] - y, -1.2, 0.9, xtol=1e-15))
    φ̇0 = (rate - ṡ0 * a[1]) / np.cross(a, tip_at(φ0))[1]

    def acceleration(_: float, q: Array, u: Array) -> Array:
        return np.array([a @ np.cross(turned(a, q[0]) @ arm, 2.0 * DOWN[3]) / inertia])

    path = second_order(acceleration, [φ0], [φ̇0], times)
    s = s0 + ṡ0 * times + (0.0 if slide is None else DOWN[3] @ a) * times**2 / 2
    return np.array([d * a + tip_at(x[0]) for x, d in zip(path, s, strict=True)])


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
    inertia = inertia + FIXED_TURN @ np.diag([0.05, 0.07, 0.04]) @ FIXED_TURN.T + steiner(2.0, cb - common)
    arm = FREE_START @ common
    start = BodyState(
        np.array([0.1, 0.2, 0.3]) + arm, FREE_START, np.array([1.0, -0.5, 2.0]) + np.cross(FREE_SPIN, arm), FREE_SPIN
    )
    path = RigidBody(3.0, inertia, 3.0 * DOWN[3]).run(start, times)
    return np.array([np.concatenate([s.at(-common), s.at(end - common)]) for s in path])


# spatial spherical, point-on-line, point-on-plane, distance: one lopsided body held by contact forces

BODY_START = turned(np.array([1.0, 0.3, -0.6]), 0.7)
BODY_SPIN = np.array([1.5, -2.0, 3.0])
RAIL, PLANE = np.array([1.0, 0.4, 0.3]), np.array([0.2, -0.1, 1.0])


def lopsided(m: vm.Mechanism, point: Any) -> None:
    m.ground_point("O", (0.1, -0.2, 0.3))
    m.body("b", mass=2.0, inertia=LOPSIDED, com=COM, points={"P": point, "tip": TIP})


ANCHOR = np.array([0.1, -0.2, 0.3])


def contact_motion(
    P: Array, place: Array, speed: Array, contact: Contact, times: Array, *, R: Array = BODY_START, ω: Array = BODY_SPIN
) -> Array:
    """Positions of the points P and tip, from the place and speed of P at the start."""
    arm = R @ (COM - P)
    start = BodyState(place + arm, R, speed + np.cross(ω, arm), ω)
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
    m.start(displacement={"rail": 0.2}, orientation={"b": BODY_START}, speed={"rail": 0.7, "b": BODY_SPIN})


def bead(p: float, times: Array) -> Array:
    e = unit([1.0, p, 0.3])
    return contact_motion(PIVOT, ANCHOR + 0.2 * e, 0.7 * e, guided_point(PIVOT - COM, normals_of(e)), times)


def build_threaded(m: vm.Mechanism, p: vm.Parameter) -> None:
    """The line belongs to the body and slips over a fixed point."""
    lopsided(m, (p, -0.02, 0.1))
    m.point_on_line("rail", "b.P", "ground.O", axis=RAIL)
    m.start(displacement={"rail": -0.2}, orientation={"b": BODY_START}, speed={"rail": 0.7, "b": BODY_SPIN})


def threaded(p: float, times: Array) -> Array:
    """O = P + s R e, so that  P = O − s R e  and  Ṗ = −ṡ R e − s ω × R e."""
    P, e = np.array([p, -0.02, 0.1]), BODY_START @ unit(RAIL)
    speed = -0.7 * e + 0.2 * np.cross(BODY_SPIN, e)
    return contact_motion(P, ANCHOR + 0.2 * e, speed, guiding_body(ANCHOR, normals_of(RAIL)), times)


def build_on_plane(m: vm.Mechanism, p: vm.Parameter) -> None:
    lopsided(m, PIVOT)
    m.point_on_plane("floor", "ground.O", "b.P", normal=(0.2, p, 1.0))
    m.start(position={"b.P": (0.3, 0.1, None)}, orientation={"b": BODY_START}, speed={"b.P": (0.5, -0.4, None), "b": BODY_SPIN})


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
    m.start(position={"b.P": (0.3, 0.1, None)}, orientation={"b": BODY_START}, speed={"b.P": (0.5, -0.4, None), "b": BODY_SPIN})


def plate(p: float, times: Array) -> Array:
    P, n, place, speed = np.array([0.05, -0.02, p]), BODY_START @ unit(PLANE), vec(0.3, 0.1), vec(0.5, -0.4)
    place[2] = ANCHOR[2] - n[:2] @ (place - ANCHOR)[:2] / n[2]
    # n·Ṗ = (ω × n)·(O − P), from n·(O − P) = 0
    speed[2] = (np.cross(BODY_SPIN, n) @ (ANCHOR - place) - n[:2] @ speed[:2]) / n[2]
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


# spatial universal: a lopsided body hung on a cross

CROSS_ON_BODY = np.array([0.3, 1.0, 0.2])


def build_cross(m: vm.Mechanism, p: vm.Parameter) -> None:
    on_axis(m)
    m.universal("cross", "ground.O", "b.O", axis=TILTED, axis_on_second=(p, 1.0, 0.2))
    m.start(
        position={"b.tip": (0.45, 0.3, None)},
        speed={"b.tip": (0.5, -0.8, None)},
        near={"b": carrying(CROSS_ON_BODY, np.cross(TILTED, X))},
    )


def cross(p: float, times: Array) -> Array:
    """R = R(a, α) Q R(b, β), where Q carries the body's axis b to w, at right angles to a:  ω = α̇ a + β̇ R(a, α) w."""
    a, w, b = unit(TILTED), unit(np.cross(TILTED, X)), unit([p, 1.0, 0.2])
    Q = carrying(b, w)

    def pose(q: Array) -> tuple[Array, Array]:
        return turned(a, q[0]) @ Q @ turned(b, q[1]), turned(a, q[0]) @ w

    def acceleration(_: float, q: Array, u: Array) -> Array:
        R, second = pose(q)
        r, ω, β = R @ (COM - PIVOT), u[0] * a + u[1] * second, u[0] * u[1] * np.cross(a, second)
        bias = np.cross(β, r) + np.cross(ω, np.cross(ω, r))
        W = [a, second]
        return project(part(2.0, R @ LOPSIDED @ R.T, [np.cross(e, r) for e in W], bias, W, β, u, 2.0 * DOWN[3]))

    tip = TIP - PIVOT
    q0 = fsolve(lambda q: (pose(q)[0] @ tip)[:2] - [0.45, 0.3], [0.0, 0.0], xtol=1e-13)
    R, second = pose(q0)
    u0 = np.linalg.solve(np.column_stack([np.cross(e, R @ tip)[:2] for e in (a, second)]), [0.5, -0.8])
    return np.array([pose(y)[0] @ tip for y in second_order(acceleration, list(q0), list(u0), times)])


# spatial planar: a lopsided block slides and turns on a tilted plane of a swinging table; its own normal is another one in its frame

TABLE_AXIS, TABLE_COM, TABLE_TOP = SLIDER_AXIS[3], np.array([0.2, 0.1, 0.05]), np.array([0.1, 0.15, 0.2])
TABLE_START, TABLE_SPEED, BLOCK_TURN = 0.3, 2.0, 0.4


def build_block(m: vm.Mechanism, p: vm.Parameter) -> None:
    m.ground_point("O", (0, 0, 0))
    m.body("table", mass=1.5, inertia=np.diag(BAR_INERTIA[3]), com=TABLE_COM, points={"O": (0, 0, 0), "S": TABLE_TOP})
    m.body("b", mass=2.0, inertia=LOPSIDED, com=COM, points={"P": PIVOT, "tip": TIP})
    m.revolute("O", axis=TABLE_AXIS)
    m.planar("top", "table.S", "b.P", normal=(0.2, p, 1.0), normal_on_second=OWN_AXIS)
    m.start(
        angle={"O": TABLE_START},
        position={"b.P": (0.3, 0.1, None), "b.tip": (None, 0.5, None)},
        speed={"O": TABLE_SPEED, "b.P": (0.5, -0.4, None), "b.tip": (None, 0.8, None)},
        near={"b": turned(TABLE_AXIS, TABLE_START) @ carrying(OWN_AXIS, PLANE) @ turned(OWN_AXIS, BLOCK_TURN)},
    )


def block(p: float, times: Array) -> Array:
    """Coordinates ψ (table about a), x, y, φ (block about n):  r = R(ψ) s,  s = p₀ + x e₁ + y e₂ + R(n, φ) Q c,

    r̈ = ψ̈ a × r + ψ̇² a × (a × r) + 2 ψ̇ a × R ṡ + R s̈,     ω = ψ̇ a + φ̇ R n,     where Q carries the block's own normal to n.
    """
    a, n, g = TABLE_AXIS, unit([0.2, p, 1.0]), DOWN[3]
    (e1, e2), Q = normals_of(n), carrying(OWN_AXIS, n)

    def arm(φ: float, point: Array) -> Array:
        return np.asarray(turned(n, φ) @ Q @ (point - PIVOT))

    def partial(q: Array, point: Array) -> tuple[Array, list[Array]]:
        """Place of a point of the block, and its partial velocities."""
        R, c = turned(a, q[0]), arm(q[3], point)
        r = R @ (TABLE_TOP + q[1] * e1 + q[2] * e2 + c)
        return r, [np.cross(a, r), R @ e1, R @ e2, R @ np.cross(n, c)]

    def acceleration(_: float, q: Array, u: Array) -> Array:
        R, (_r, J) = turned(a, q[0]), partial(q, COM)
        top, Rn, S = R @ TABLE_COM, R @ n, R @ turned(n, q[3]) @ Q
        sliding = sum(w * d for w, d in zip(u[1:], J[1:], strict=True))
        bias = u[0] ** 2 * np.cross(a, J[0]) + 2 * u[0] * np.cross(a, sliding) + u[3] ** 2 * np.cross(Rn, J[3])
        I_table = R @ BAR_INERTIA[3] @ R.T
        across, swing = np.cross(a, top), u[0] ** 2 * np.cross(a, np.cross(a, top))
        return project(
            part(1.5, I_table, [across, O3, O3, O3], swing, [a, O3, O3, O3], O3, u, 1.5 * g),
            part(2.0, S @ LOPSIDED @ S.T, J, bias, [a, O3, O3, Rn], u[0] * u[3] * np.cross(a, Rn), u, 2.0 * g),
        )

    def missed(x: Array) -> Array:
        q = np.array([TABLE_START, *x])
        return np.array([*(partial(q, PIVOT)[0][:2] - [0.3, 0.1]), partial(q, TIP)[0][1] - 0.5])

    q0 = np.array([TABLE_START, *fsolve(missed, [0.0, 0.0, BLOCK_TURN], xtol=1e-13)])
    rates = np.vstack([np.column_stack(partial(q0, PIVOT)[1])[:2], np.column_stack(partial(q0, TIP)[1])[1:2]])
    u0 = np.linalg.solve(rates[:, 1:], np.array([0.5, -0.4, 0.8]) - TABLE_SPEED * rates[:, 0])
    path = second_order(acceleration, list(q0), [TABLE_SPEED, *u0], times)
    return np.array([np.concatenate([partial(y, point)[0] for point in (PIVOT, TIP)]) for y in path])


# fmt: off
CASES = [
    # kind, dimension, freedoms, p, measured points, how it is built, how it moves,
    #   what the joint makes vanish
    Case("revolute", 2, 2, 0.5, ("one.B", "two.com"), build_double_pendulum, double_pendulum,
      lambda r, p: [gap(r, "ground.O", "one.O"), gap(r, "one.B", "two.B")]),
    Case("prismatic", 2, 2, 0.3, ("slider.com",), build_planar_slider, lambda p, times: slider(2, p, times),
      lambda r, p: [off_line(r, "bar.S", "slider.S", vec(1.0, p)), disoriented(r, "bar", "slider", SLIDER_TURN[2])]),
    Case("fixed", 2, 1, 0.4, ("b.tip",), build_welded_pendulum, welded_pendulum,
      lambda r, p: [gap(r, "a.W", "b.W"), disoriented(r, "a", "b", turned(Z, 0.7))]),
    Case("point-on-line", 2, 3, 0.05, ("pin.P", "pin.com"), build_pin_in_slot, pin_in_slot,
      lambda r, p: [off_line(r, "bar.S", "pin.P", vec(2.0, 0.6))]),
    Case("distance", 2, 2, 0.7, ("b.P", "b.com"), build_rod_pendulum, rod_pendulum,
      lambda r, p: [off_length(r, "ground.O", "b.P", p)]),
    Case("revolute", 3, 1, OWN_AXIS[0], ("b.tip",), build_tilted_hinge,
      lambda p, times: on_tilted_axis(TILTED, vec(p, -0.2, 1.0), 0.2, 0.4, None, times),
      lambda r, p: [gap(r, "ground.O", "b.O"), misaligned(r, "ground", "b", TILTED, vec(p, -0.2, 1.0))]),
    Case("prismatic", 3, 2, 0.2, ("slider.com",), build_spatial_slider, lambda p, times: slider(3, p, times),
      lambda r, p: [off_line(r, "bar.S", "slider.S", vec(1.0, p, 0.5)), disoriented(r, "bar", "slider", SLIDER_TURN[3])]),
    Case("fixed", 3, 6, 0.3, ("a.com", "b.end"), build_flying_weld, flying_weld,
      lambda r, p: [gap(r, "a.W", "b.W"), disoriented(r, "a", "b", FIXED_TURN)]),
    Case("point-on-line", 3, 4, 0.4, ("b.P", "b.tip"), build_bead, bead,
      lambda r, p: [off_line(r, "ground.O", "b.P", vec(1.0, p, 0.3))]),
    Case("point-on-line", 3, 4, 0.05, ("b.P", "b.tip"), build_threaded, threaded,
      lambda r, p: [off_line(r, "b.P", "ground.O", RAIL)], "-moving-line"),
    Case("distance", 3, 5, 0.8, ("b.P", "b.tip"), build_on_rod, on_rod,
      lambda r, p: [off_length(r, "ground.O", "b.P", p)]),
    Case("spherical", 3, 3, 0.05, ("b.P", "b.tip"), build_ball, ball,
      lambda r, p: [gap(r, "ground.O", "b.P")]),
    Case("cylindrical", 3, 2, TILTED[1], ("b.tip",), build_tilted_sleeve,
      lambda p, times: on_tilted_axis(vec(0.3, p, 1.0), OWN_AXIS, 0.3, 0.9, (0.2, 0.5), times),
      lambda r, p: [off_line(r, "ground.O", "b.O", vec(0.3, p, 1.0)), misaligned(r, "ground", "b", vec(0.3, p, 1.0), OWN_AXIS)]),
    Case("universal", 3, 2, CROSS_ON_BODY[0], ("b.tip",), build_cross, cross,
      lambda r, p: [gap(r, "ground.O", "b.O"), off_square(r, "ground", "b", TILTED, vec(p, 1.0, 0.2))]),
    Case("planar", 3, 4, PLANE[1], ("b.P", "b.tip"), build_block, block,
      lambda r, p: [off_plane(r, "table.S", "b.P", vec(0.2, p, 1.0)), misaligned(r, "table", "b", vec(0.2, p, 1.0), OWN_AXIS)]),
    Case("point-on-plane", 3, 5, -0.1, ("b.P", "b.tip"), build_on_plane, on_plane,
      lambda r, p: [off_plane(r, "ground.O", "b.P", vec(0.2, p, 1.0))]),
    Case("point-on-plane", 3, 5, 0.1, ("b.P", "b.tip"), build_plate, plate,
      lambda r, p: [off_plane(r, "b.P", "ground.O", PLANE)], "-moving-plane"),
]
# fmt: on
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def test_every_joint_has_a_case() -> None:
    wanted = {(kind, dimension) for kind, rules in JOINTS.items() for dimension in rules.dimensions}
    assert {(case.kind, case.dimension) for case in CASES} == wanted


@each_case
def test_motion_converges_to_the_reference(case: Case) -> None:
    exact = case.reference(case.p, np.linspace(0, DURATION, 51))
    assert np.abs(case.measured(case.run(STEP))[0] - exact[0]).max() < 1e-10, "start"
    check_order_two(lambda h: case.measured(case.run(h)), exact, STEP, error=5e-5, limit=5e-8)


@each_case
def test_joint_holds(case: Case) -> None:
    """Freedoms, residuals of all levels, and the joint's condition stated from measured positions and rotations."""
    assert case.mechanism.freedoms == case.freedoms
    run = case.run(STEP)
    assert max(run.info["residuals"]) < 1e-9
    for broken in case.broken(run, case.p):
        assert broken.shape[0] == run.time.size
        assert np.abs(broken).max() < 1e-9


@each_case
def test_sensitivity_to_the_joints_geometry(case: Case) -> None:
    """Direct differentiation against differences of whole runs, and against differences of the reference motion."""
    point = case.points[-1]
    objectives = {
        "end": vm.final(lambda s: s.position(point)[0] + 2 * s.position(point)[1]),
        "speed": vm.integral(lambda s: vm.dot(s.velocity(point), s.velocity(point))),
    }
    m = case.mechanism
    direct, differences = (
        m.sensitivity(objectives, "p", duration=0.3, step=2e-3, method=method, relative_steps=(1e-4, 1e-5, 1e-6))
        for method in ("direct", "finite-difference")
    )
    assert (np.abs(direct.gradient.values) > 1e-4).all(), "the parameter must matter"
    np.testing.assert_allclose(direct.gradient.values, differences.gradient.values, rtol=1e-6)
    δ = 1e-4
    above, below = (case.reference(p, direct.run.time) for p in (case.p + δ, case.p - δ))
    slope = ((above - below) / (2 * δ))[:, -3:][:, : case.dimension]
    np.testing.assert_allclose(direct.run.position(point, wrt="p").values, slope, rtol=0, atol=1e-4 * np.abs(slope).max())


# two floating bodies with any joint between them: momentum, angular momentum and energy stay, and the reactions balance both bodies


@dataclass(frozen=True, eq=False)
class Pair:
    """A joint between the points a.J and b.J of two floating bodies, and what else the start must say."""

    kind: str
    dimension: int
    join: Callable[[vm.Mechanism], Any]
    start: dict[str, dict[str, Any]]

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.dimension}d"

    @cache  # noqa: B019 - pairs live as long as the tests
    def run(self, h: float) -> vm.Run:
        return self.mechanism.simulate(0.3, step=h)

    @cached_property
    def mechanism(self) -> vm.Mechanism:
        m = vm.Mechanism(self.name, dimension=self.dimension)
        a: dict[str, dict[str, Any]]
        if self.dimension == 2:
            m.body("a", mass=2.0, inertia=0.1, com=(0.02, 0.01), points={"J": (0.3, 0.1)}, floating=True)
            m.body("b", mass=1.0, inertia=0.05, com=(-0.2, 0.1), points={"J": (0.1, -0.05), "tip": (-0.4, 0.2)})
            a = {"position": {"a.com": (0.5, 0.3)}, "angle": {"a": 0.4}, "speed": {"a.com": (1.0, -0.5), "a": 3.0}}
        else:
            m.body("a", mass=2.0, inertia=LOPSIDED, com=(0.02, 0.01, -0.03), points={"J": (0.3, 0.1, 0.2)}, floating=True)
            m.body("b", mass=1.0, inertia=(0.04, 0.05, 0.03), com=(-0.2, 0.1, 0.1), points={"J": (0.1, -0.05, 0.0), "tip": TIP})
            a = {
                "position": {"a.com": (0.5, 0.3, 0.1)},
                "orientation": {"a": BODY_START},
                "speed": {"a.com": (1.0, -0.5, 0.3), "a": BODY_SPIN},
            }
        self.join(m)
        said: dict[str, Any] = {key: {**a.get(key, {}), **self.start.get(key, {})} for key in {*a, *self.start}}
        m.start(**said)
        return m


B_START, B_SPIN = turned(np.array([0.3, 0.2, 1.0]), 1.3), (-1.0, 2.0, 0.5)
TURNED_B = {"orientation": {"b": B_START}}
AXIS, OTHER = (0.3, 0.2, 1.0), (1.0, -0.4, 0.3)
PAIRS = [
    Pair("revolute", 2, lambda m: m.revolute("J"), {"angle": {"b": 1.0}, "speed": {"b": -2.0}}),
    Pair(
        "prismatic",
        2,
        lambda m: m.prismatic("J", axis=(1.0, 0.5), rotation=0.6),
        {"displacement": {"J": 0.1}, "speed": {"J": 1.0}},
    ),
    Pair("fixed", 2, lambda m: m.fixed("J", rotation=0.6), {}),
    Pair(
        "point-on-line",
        2,
        lambda m: m.point_on_line("J", axis=(1.0, 0.5)),
        {"displacement": {"J": 0.1}, "angle": {"b": 1.0}, "speed": {"J": 1.0, "b": -2.0}},
    ),
    Pair(
        "distance",
        2,
        lambda m: m.distance("J", length=0.4),
        {
            "position": {"b.J": (0.9, None)},
            "angle": {"b": 1.0},
            "speed": {"b.J": (0.2, None), "b": -2.0},
            "near": {"b.J": (0.9, 1.0)},
        },
    ),
    Pair("revolute", 3, lambda m: m.revolute("J", axis=AXIS, axis_on_second=OTHER), {"angle": {"J": 0.5}, "speed": {"J": 2.0}}),
    Pair(
        "prismatic",
        3,
        lambda m: m.prismatic("J", axis=AXIS, rotation=FIXED_TURN),
        {"displacement": {"J": 0.1}, "speed": {"J": 1.0}},
    ),
    Pair("fixed", 3, lambda m: m.fixed("J", rotation=FIXED_TURN), {}),
    Pair(
        "point-on-line",
        3,
        lambda m: m.point_on_line("J", axis=AXIS),
        {**TURNED_B, "displacement": {"J": 0.1}, "speed": {"J": 1.0, "b": B_SPIN}},
    ),
    Pair(
        "distance",
        3,
        lambda m: m.distance("J", length=0.4),
        {
            **TURNED_B,
            "position": {"b.J": (0.8, 0.5, None)},
            "speed": {"b.J": (0.1, 0.2, None), "b": B_SPIN},
            "near": {"b.J": (0.8, 0.5, 0.6)},
        },
    ),
    Pair("spherical", 3, lambda m: m.spherical("J"), {**TURNED_B, "speed": {"b": B_SPIN}}),
    Pair(
        "cylindrical",
        3,
        lambda m: m.cylindrical("J", axis=AXIS, axis_on_second=OTHER),
        {"angle": {"J": 0.5}, "displacement": {"J": 0.1}, "speed": {"J": (2.0, 1.0)}},
    ),
    Pair(
        "universal",
        3,
        lambda m: m.universal("J", axis=AXIS, axis_on_second=OTHER),
        {
            "position": {"b.tip": (0.9, 0.6, None)},
            "speed": {"b.tip": (0.1, 0.3, None)},
            "near": {"b": turned(np.array([-1.2, -1.9, -0.6]), 2.3)},
        },
    ),
    Pair(
        "planar",
        3,
        lambda m: m.planar("J", normal=AXIS, normal_on_second=OTHER),
        {"angle": {"J": 0.5}, "position": {"b.J": (0.8, 0.5, None)}, "speed": {"J": 2.0, "b.J": (0.1, 0.2, None)}},
    ),
    Pair(
        "point-on-plane",
        3,
        lambda m: m.point_on_plane("J", normal=AXIS),
        {**TURNED_B, "position": {"b.J": (0.8, 0.5, None)}, "speed": {"b.J": (0.1, 0.2, None), "b": B_SPIN}},
    ),
]
MASS = {"a": 2.0, "b": 1.0}
INERTIA = {
    ("a", 2): np.diag([0.0, 0.0, 0.1]),
    ("b", 2): np.diag([0.0, 0.0, 0.05]),
    ("a", 3): LOPSIDED,
    ("b", 3): np.diag([0.04, 0.05, 0.03]),
}
each_pair = pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)


def momentum(run: vm.Run, body: str) -> Array:
    return MASS[body] * moving(run, f"{body}.com")


def own_angular_momentum(run: vm.Run, body: str, dimension: int) -> Array:
    """R I Rᵀ ω, about the centre of mass."""
    R, ω = rotations(run, body), spins(run, body)
    return np.einsum("tij,jk,tlk,tl->ti", R, INERTIA[body, dimension], R, ω)


def derivative(values: Array, h: float) -> Array:
    """Central differences of order four; two samples are lost at each end."""
    return np.asarray((values[:-4] - 8 * values[1:-3] + 8 * values[3:-1] - values[4:]) / (12 * h))


def test_every_joint_has_a_pair() -> None:
    wanted = {(kind, dimension) for kind, rules in JOINTS.items() for dimension in rules.dimensions}
    assert {(pair.kind, pair.dimension) for pair in PAIRS} == wanted


@each_pair
def test_free_pair_keeps_momentum_and_energy(pair: Pair) -> None:
    """No outer force: Σ m v is constant (to rounding), Σ (r × m v + R I Rᵀ ω) and the energy are to second order."""
    drifts = []
    for step in (1e-3, 5e-4):
        run = pair.run(step)
        assert max(run.info["residuals"]) < 1e-9
        P = momentum(run, "a") + momentum(run, "b")
        np.testing.assert_allclose(P, np.tile(P[0], (len(P), 1)), atol=1e-10)
        L = sum(np.cross(at(run, f"{k}.com"), momentum(run, k)) + own_angular_momentum(run, k, pair.dimension) for k in "ab")
        E = run.energy().values
        drifts.append([np.abs(L - L[0]).max() / np.abs(L[0]).max(), np.abs(E - E[0]).max() / E[0]])
    coarse, fine = np.array(drifts)
    assert (coarse < 5e-5).all()
    assert (fine < coarse / 3 + 1e-11).all()


@each_pair
def test_reactions_balance_both_bodies(pair: Pair) -> None:
    """Newton and Euler for each body, with the force F and the torque τ (about b's joint point P) that the joint reports:

    d(m v)/dt = ±F,     d(R I Rᵀ ω)/dt = ±(τ + (P − G) × F),     + on the second body b, − on the first.
    """
    h = 5e-4
    run = pair.run(h)
    F = run.reaction("J").values
    τ = run.reaction_torque("J").values
    if pair.dimension == 2:
        F, τ = np.column_stack([F, 0 * F[:, 0]]), np.outer(τ, Z)
    P = at(run, "b.J")
    for body, sign in (("a", -1), ("b", 1)):
        torque = τ + np.cross(P - at(run, f"{body}.com"), F)
        Ṗ, Ḣ = derivative(momentum(run, body), h), derivative(own_angular_momentum(run, body, pair.dimension), h)
        np.testing.assert_allclose(Ṗ, sign * F[2:-2], rtol=0, atol=1e-5)
        np.testing.assert_allclose(Ḣ, sign * torque[2:-2], rtol=0, atol=1e-5)


SWAPPED: dict[str, tuple[Callable[[vm.Mechanism], Any], dict[str, dict[str, Any]]]] = {
    "revolute-2d": (lambda m: m.revolute("J", "b.J", "a.J"), {}),
    "prismatic-2d": (lambda m: m.prismatic("J", "b.J", "a.J", axis=(turned(Z, -0.6) @ vec(-1.0, -0.5))[:2], rotation=-0.6), {}),
    "fixed-2d": (lambda m: m.fixed("J", "b.J", "a.J", rotation=-0.6), {}),
    "distance-2d": (lambda m: m.distance("J", "b.J", "a.J", length=0.4), {}),
    "revolute-3d": (
        lambda m: m.revolute("J", "b.J", "a.J", axis=OTHER, axis_on_second=AXIS),
        {"angle": {"J": -0.5}, "speed": {"J": -2.0}},
    ),
    "prismatic-3d": (lambda m: m.prismatic("J", "b.J", "a.J", axis=FIXED_TURN.T @ -np.array(AXIS), rotation=FIXED_TURN.T), {}),
    "fixed-3d": (lambda m: m.fixed("J", "b.J", "a.J", rotation=FIXED_TURN.T), {}),
    "distance-3d": (lambda m: m.distance("J", "b.J", "a.J", length=0.4), {}),
    "spherical-3d": (lambda m: m.spherical("J", "b.J", "a.J"), {}),
    "universal-3d": (lambda m: m.universal("J", "b.J", "a.J", axis=OTHER, axis_on_second=AXIS), {}),
    "planar-3d": (
        lambda m: m.planar("J", "b.J", "a.J", normal=OTHER, normal_on_second=AXIS),
        {"angle": {"J": -0.5}, "speed": {"J": -2.0, "b.J": (0.1, 0.2, None)}},
    ),
}
"""Joints of `PAIRS` written the other way round (a sliding axis reversed, so that the displacement keeps its sign)."""


@pytest.mark.parametrize("pair", [p for p in PAIRS if p.name in SWAPPED], ids=lambda pair: pair.name)
def test_swapped_bodies_move_alike(pair: Pair) -> None:
    """Which body comes first changes nothing but the sign of the reaction."""
    join, start = SWAPPED[pair.name]
    other = Pair(pair.kind, pair.dimension, join, {**pair.start, **start})
    one, two = pair.run(1e-3), other.run(1e-3)
    for point in ("a.J", "b.com", "b.tip"):
        np.testing.assert_allclose(at(one, point), at(two, point), atol=1e-9)
    np.testing.assert_allclose(one.reaction("J").values, -two.reaction("J").values, atol=1e-7)


# closed forms and invariants of single joints


def planar_and_spatial_pendulum() -> tuple[vm.Mechanism, vm.Mechanism]:
    flat = vm.Mechanism("flat", gravity=(0, -9.81))
    flat.ground_point("O", (0.1, 0.2))
    flat.body("rod", mass=1.5, inertia=0.1, com=(0.4, 0.05), points={"O": (0, 0), "tip": (0.9, 0.1)})
    flat.revolute("O")
    flat.start(angle={"rod": 0.4}, speed={"rod": 3.0})
    deep = vm.Mechanism("deep", gravity=(0, -9.81, 0))
    deep.ground_point("O", (0.1, 0.2, 0))
    deep.body("rod", mass=1.5, inertia=(0.06, 0.08, 0.1), com=(0.4, 0.05, 0), points={"O": (0, 0, 0), "tip": (0.9, 0.1, 0)})
    deep.revolute("O", axis=(0, 0, 1))
    deep.start(angle={"O": 0.4}, speed={"O": 3.0})
    return flat, deep


def test_a_pendulum_is_the_same_in_plane_and_space() -> None:
    one, two = (m.simulate(2.0, step=1e-3) for m in planar_and_spatial_pendulum())
    np.testing.assert_allclose(at(one, "rod.tip"), at(two, "rod.tip"), atol=1e-9)
    np.testing.assert_allclose(one.angle("rod").values, two.angle("O").values, atol=1e-9)
    np.testing.assert_allclose(one.energy().values, two.energy().values, atol=1e-8)


def four_bar(dimension: int) -> vm.Mechanism:
    """Crank 0.4, coupler 1.0, rocker 0.8 and ground 1.1 m; in space its four parallel hinges are redundant."""
    pad = () if dimension == 2 else (0.0,)
    axis: dict[str, Any] = {} if dimension == 2 else {"axis": (0, 0, 1)}
    m = vm.Mechanism(f"four-bar {dimension}d", gravity=(0, -9.81, *pad))
    m.ground_point("A", (0, 0, *pad))
    m.ground_point("D", (1.1, 0, *pad))
    inertia = 0.1 if dimension == 2 else (0.05, 0.1, 0.1)
    m.bar("crank", "A", "B", length=0.4, mass=1.0, inertia=inertia)
    m.bar("coupler", "B", "C", length=1.0, mass=2.0, inertia=inertia)
    m.bar("rocker", "D", "C", length=0.8, mass=1.5, inertia=inertia)
    for name in "ABCD":
        m.revolute(name, **axis)
    m.start(angle={"A": 1.0}, speed={"A": 4.0}, near={"coupler.C": (1.0, 0.8, *pad)})
    return m


def test_a_four_bar_is_the_same_in_plane_and_space() -> None:
    """Three bodies with four hinges: in space 18 − 20 = −2 freedoms are counted, three equations too many, and it moves."""
    flat, deep = four_bar(2), four_bar(3)
    assert flat.freedoms == deep.freedoms == 1
    one, two = (m.simulate(1.0, step=1e-3) for m in (flat, deep))
    assert max(two.info["residuals"]) < 1e-9
    for point in ("coupler.B", "coupler.C", "coupler.com"):
        np.testing.assert_allclose(at(one, point), at(two, point), atol=1e-9)


@pytest.mark.parametrize("dimension", [2, 3])
def test_ground_reactions_of_a_four_bar_carry_weight_and_inertia(dimension: int) -> None:
    """Σ F = d(Σ m v)/dt − Σ m g over the two ground hinges, whatever is between; the inner hinges cancel."""
    h = 5e-4
    run = four_bar(dimension).simulate(0.5, step=h)
    P = 1.0 * moving(run, "crank.com") + 2.0 * moving(run, "coupler.com") + 1.5 * moving(run, "rocker.com")
    F = run.reaction("A").values + run.reaction("D").values
    wanted = derivative(P, h) - 4.5 * DOWN[2]
    np.testing.assert_allclose(F[2:-2], wanted[:, :dimension], atol=1e-3)


def parallelogram(r: float, crank: float, M: float, start: tuple[float, float]) -> vm.Mechanism:
    """A coupler of mass M on three parallel cranks, the third of which is redundant."""
    m = vm.Mechanism("parallelogram", gravity=(0, -9.81))
    length = m.parameter("r", r)
    m.body("coupler", mass=M, inertia=0.4, com=(0.7, 0.2), points={f"B{k}": (0.6 * k, 0) for k in range(3)})
    for k in range(3):
        m.ground_point(f"A{k}", (0.6 * k, 0))
        m.bar(f"crank{k}", f"A{k}", f"B{k}", length=length, mass=crank)
        m.revolute(f"A{k}")
        m.revolute(f"B{k}")
    θ, θ̇ = start
    m.start(angle={"crank0": θ}, speed={"crank0": θ̇}, near={"crank1": θ, "crank2": θ, "coupler": 0.0})
    return m


def test_a_parallelogram_with_a_third_crank_runs() -> None:
    """The coupler translates:  (Σ I_A + M r²) θ̈ = −(Σ m r/2 + M r) g cos θ,  I_A = m r²/3.

    It never comes to θ = 0 or −π, where all cranks lie on one line and the loops may fold.
    """
    r, crank, M = 0.5, 0.8, 3.0
    m = parallelogram(r, crank, M, (-0.6, 1.0))
    assert m.freedoms == 1
    inertia, moment = 3 * crank * r**2 / 3 + M * r**2, 3 * crank * r / 2 + M * r
    times = np.linspace(0, 1, 51)

    def acceleration(_: float, q: Array, u: Array) -> Array:
        return -moment * 9.81 * np.cos(q) / inertia

    def measured(h: float) -> Array:
        run = m.simulate(1.0, step=h, every=round(0.02 / h))
        assert max(run.info["residuals"]) < 1e-9
        assert np.abs(run.angle("coupler").values).max() < 1e-9
        return np.asarray(run.angle("crank2").values)

    exact = second_order(acceleration, [-0.6], [1.0], times)
    check_order_two(measured, exact[:, 0], 1e-3, error=1e-4, limit=1e-7)
    # the reactions of redundant joints are not determined one by one; their sum is
    θ, θ̇ = exact.T
    θ̈ = acceleration(0.0, θ, θ̇)
    a = np.column_stack([-θ̈ * np.sin(θ) - θ̇**2 * np.cos(θ), θ̈ * np.cos(θ) - θ̇**2 * np.sin(θ)])
    wanted = moment * a + [0.0, (3 * crank + M) * 9.81]
    run = m.simulate(1.0, step=5e-4, every=40)
    np.testing.assert_allclose(sum(run.reaction(f"A{k}").values for k in range(3)), wanted, atol=1e-3)


def test_a_redundant_mechanism_has_sensitivities() -> None:
    m = parallelogram(0.5, 0.8, 3.0, (-0.6, 1.0))
    objective = vm.integral(lambda s: vm.dot(s.velocity("coupler.com"), s.velocity("coupler.com")))
    direct, differences = (
        m.sensitivity(objective, "r", duration=0.3, step=2e-3, method=method).gradient.values
        for method in ("direct", "finite-difference")
    )
    assert abs(direct.item()) > 1e-2
    np.testing.assert_allclose(direct, differences, rtol=1e-6)


def test_a_door_on_two_hinges_moves_as_on_one() -> None:
    """The second hinge, on the same axis, is redundant; both together carry what the one carries."""
    runs = []
    for hinges in ("A", "AB"):
        m = vm.Mechanism("door", gravity=(0, -3.0, -9.81))
        m.body("door", mass=2.0, inertia=(0.1, 0.2, 0.25), com=(0.5, 0, 0.4), points={"A": (0, 0, 0), "B": (0, 0, 1)})
        for k, name in enumerate(hinges):
            m.ground_point(name, (0, 0, k))
            m.revolute(name, f"ground.{name}", f"door.{name}", axis=(0, 0, 1))
        m.start(angle={"A": 0.5}, speed={"A": 1.0})
        assert m.freedoms == 1
        runs.append(m.simulate(1.0, step=1e-3))
    one, two = runs
    assert max(two.info["residuals"]) < 1e-9
    np.testing.assert_allclose(at(one, "door.com"), at(two, "door.com"), atol=1e-9)
    np.testing.assert_allclose(one.reaction("A").values, two.reaction("A").values + two.reaction("B").values, atol=1e-7)


def test_bennett_linkage_moves() -> None:
    """Four hinges in space with  sin α / a = sin β / b  (opposite links equal) move although 18 − 20 < 1; half-angles keep

    tan(θ₁/2) tan(θ₂/2) = sin((β + α)/2) / sin((β − α)/2)     (G. T. Bennett, 1903; J. Denavit and R. S. Hartenberg, 1955).
    """
    α, a, b = 0.6, 0.5, 0.8
    β = float(np.arcsin(b * np.sin(α) / a))
    K = np.sin((β + α) / 2) / np.sin((β - α) / 2)
    θ1 = 1.2
    θ2 = 2 * np.arctan(K / np.tan(θ1 / 2))
    R1 = turned(X, β) @ turned(Z, θ1)
    R2 = R1 @ turned(X, α) @ turned(Z, θ2)
    R3 = R2 @ turned(X, β) @ turned(Z, -θ1)
    m = vm.Mechanism("bennett", gravity=(0, -4.0, -9.81))
    m.ground_point("S", (0, 0, 0))
    m.ground_point("E", (b, 0, 0))
    for k, length in ((1, a), (2, b), (3, a)):
        m.body(
            f"link{k}",
            mass=1.0 + k,
            inertia=(0.02, 0.05, 0.06),
            com=(length / 2, 0.02, 0.01),
            points={"S": (0, 0, 0), "E": (length, 0, 0)},
        )
    ends = ["ground.E", "link1.S", "link1.E", "link2.S", "link2.E", "link3.S", "link3.E", "ground.S"]
    for k, twist in enumerate((β, α, β, α)):
        m.revolute(f"J{k + 1}", ends[2 * k], ends[2 * k + 1], axis=turned(X, twist) @ Z, axis_on_second=Z)
    tip, speed = b * X + R1 @ (a * X), 3.0 * np.cross(turned(X, β) @ Z, R1 @ (a * X))
    m.start(
        position={"link1.E": (tip[0], None, None)},
        speed={"link1.E": (speed[0], None, None)},
        near={"link1": R1, "link2": R2, "link3": R3},
    )
    assert m.freedoms == 1
    run = m.simulate(1.0, step=1e-3)
    assert max(run.info["residuals"]) < 1e-9
    R = [np.tile(np.eye(3), (run.time.size, 1, 1)), rotations(run, "link1"), rotations(run, "link2")]
    θ = []
    for before, after in pairwise(R):
        x0, x, z = before[:, :, 0], after[:, :, 0], after[:, :, 2]
        θ.append(np.arctan2(dots(np.cross(x0, x), z), dots(x0, x)))
    assert np.ptp(np.unwrap(θ[0])) > 1.0, "it must move"
    np.testing.assert_allclose(np.tan(θ[0] / 2) * np.tan(θ[1] / 2), K, rtol=1e-9)
    E = run.energy().values
    assert np.abs(E - E[0]).max() < 1e-4 * abs(E[0])


def test_a_spatial_slider_crank_closes() -> None:
    """Crank about z, rod on a ball and a cross, slider along a skew line:  |P(θ) − Q − s u| = L  gives s(θ) by a square root."""
    r, L, Q, u = 0.3, 1.0, np.array([0.2, 0.3, 0.1]), unit([1.0, 0.2, 0.4])
    m = vm.Mechanism("RSUP", gravity=(0, 0, -9.81))
    m.ground_point("A", (0, 0, 0))
    m.ground_point("Q", Q)
    m.body("crank", mass=1.0, inertia=(0.01, 0.02, 0.02), com=(r / 2, 0, 0), points={"A": (0, 0, 0), "P": (r, 0, 0)})
    m.body("rod", mass=0.5, inertia=(0.001, 0.04, 0.04), com=(L / 2, 0, 0), points={"P": (0, 0, 0), "C": (L, 0, 0)})
    m.body("slider", mass=2.0, inertia=(0.01, 0.01, 0.01), points={"C": (0, 0, 0)})
    m.revolute("A", axis=(0, 0, 1))
    m.spherical("P")
    m.universal("C", "rod.C", "slider.C", axis=(0, 1, 0), axis_on_second=(0, 0, 1))
    m.prismatic("rail", "ground.Q", "slider.C", axis=u)
    m.drive_angle("motor", "A", lambda t: 2 * np.pi * t)
    m.start(near={"slider.C": Q + 0.9 * u, "rod": carrying(X, Q + 0.9 * u - r * X)})
    assert m.freedoms == 1
    run = m.simulate(1.5, step=2e-3)
    assert max(run.info["residuals"]) < 1e-9
    t = 2 * np.pi * run.time
    w = r * np.column_stack([np.cos(t), np.sin(t), 0 * t]) - Q
    np.testing.assert_allclose(run.displacement("rail").values, w @ u + np.sqrt((w @ u) ** 2 - dots(w, w) + L**2), atol=1e-9)
    # power:  τ θ̇ = dE/dt
    power = run.effort("motor").values[2:-2] * 2 * np.pi
    np.testing.assert_allclose(power, derivative(run.energy().values, 2e-3), atol=1e-4 * np.abs(power).max())


def test_spherical_joint_carries_a_heavy_symmetric_top() -> None:
    """Lagrange's top: energy, angular momentum about the vertical and the spin ω·e₃ are conserved, while the axis nutates."""
    I1, I3, M, d = 0.03, 0.02, 1.2, 0.25
    m = vm.Mechanism("top", gravity=(0, 0, -9.81))
    m.ground_point("O", (0, 0, 0))
    m.body("top", mass=M, inertia=(I1, I1, I3), com=(0, 0, d), points={"O": (0, 0, 0)})
    m.spherical("O")
    R0 = turned(X, 0.5)
    m.start(orientation={"top": R0}, speed={"top": R0 @ np.array([0.5, 1.0, 40.0])})
    drifts = []
    for step in (1e-3, 5e-4):
        run = m.simulate(0.6, step=step)
        R, ω = rotations(run, "top"), spins(run, "top")
        I_O = np.diag([I1 + M * d**2, I1 + M * d**2, I3])
        local = np.einsum("tji,tj->ti", R, ω)
        L = np.einsum("tij,tj->ti", R, local @ I_O)
        E = dots(local @ I_O, local) / 2 + M * 9.81 * d * R[:, 2, 2]
        np.testing.assert_allclose(run.energy().values, E, rtol=1e-10)
        drifts.append([np.abs(x - x[0]).max() / abs(x[0]) for x in (E, L[:, 2], local[:, 2])])
        assert np.ptp(R[:, 2, 2]) > 0.01, "it must nutate"
    coarse, fine = np.array(drifts)
    assert (coarse < 5e-4).all()
    assert (fine < coarse / 3).all()


def test_universal_joint_is_a_hooke_joint() -> None:
    """Shafts at an angle δ:  tan θ₂ = cos δ tan θ₁,  θ₂' = cos δ / (cos² θ₁ + cos² δ sin² θ₁)  (a·b = 0 written out).

    The motor feels the shafts' inertia and a damper through that ratio:  τ = J₁ θ̈₁ + θ₂' (J₂ θ̈₂ + c θ̇₂).
    """
    δ, Ω, J1, J2, c = 0.6, 9.0, 0.02, 0.05, 0.3
    out = np.array([0.0, np.sin(δ), np.cos(δ)])
    m = vm.Mechanism("hooke", dimension=3)
    m.ground_point("O", (0, 0, 0))
    m.body("in", mass=1.0, inertia=(0.03, 0.03, J1), points={"O": (0, 0, 0)})
    Q = carrying(Z, out)
    m.body("out", mass=1.0, inertia=Q @ np.diag([0.06, 0.06, J2]) @ Q.T, points={"O": (0, 0, 0)})
    m.revolute("first", "ground.O", "in.O", axis=(0, 0, 1))
    m.revolute("second", "ground.O", "out.O", axis=out)
    m.universal("cross", "in.O", "out.O", axis=(1, 0, 0), axis_on_second=(0, np.cos(δ), -np.sin(δ)))
    m.drive_angle("motor", "first", lambda t: Ω * t + 0.3)
    m.torsional_damper("load", "second", damping=c)
    m.start()
    assert m.freedoms == 1
    run = m.simulate(2.0, step=2e-3)
    θ = Ω * run.time + 0.3
    base = np.cos(θ) ** 2 + np.cos(δ) ** 2 * np.sin(θ) ** 2
    ratio = np.cos(δ) / base
    bend = np.cos(δ) * np.sin(2 * θ) * (1 - np.cos(δ) ** 2) / base**2
    np.testing.assert_allclose(run.angle("first").values, θ, atol=1e-9)
    np.testing.assert_allclose(run.angle("second").values, np.unwrap(np.arctan2(np.cos(δ) * np.sin(θ), np.cos(θ))), atol=1e-9)
    np.testing.assert_allclose(run.angular_velocity("second").values, ratio * Ω, atol=1e-8)
    np.testing.assert_allclose(run.effort("motor").values, ratio * (J2 * bend * Ω**2 + c * ratio * Ω), atol=1e-6)
    assert max(run.info["residuals"]) < 1e-9


def test_point_on_plane_slides_down_with_g_sin() -> None:
    """The centre of mass on a smooth plane inclined by β moves with g sin β down the slope; a parabola, exact for the trapezoidal rule."""
    β = 0.4
    m = vm.Mechanism("incline", gravity=(0, 0, -9.81))
    m.ground_point("O", (0, 0, 0))
    m.body("b", mass=2.0, inertia=(0.1, 0.2, 0.25))
    m.point_on_plane("plane", "ground.O", "b.com", normal=(np.sin(β), 0, np.cos(β)))
    m.start(position={"b.com": (0.0, 0.3, None)}, orientation={"b": np.eye(3)}, speed={"b.com": (0.0, 0.7, None)})
    run = m.simulate(1.0, step=5e-3)
    down = 9.81 * np.sin(β) * run.time**2 / 2
    wanted = np.column_stack([down * np.cos(β), 0.3 + 0.7 * run.time, -down * np.sin(β)])
    np.testing.assert_allclose(at(run, "b.com"), wanted, atol=1e-10)
    normal = np.array([np.sin(β), 0, np.cos(β)])
    np.testing.assert_allclose(
        run.reaction("plane").values, np.tile(2.0 * 9.81 * np.cos(β) * normal, (run.time.size, 1)), atol=1e-8
    )


@pytest.mark.parametrize("dimension", [2, 3])
def test_distance_makes_a_dumbbell(dimension: int) -> None:
    """Two free bodies on a rod turn at a constant rate Ω about their common centre; the rod pulls with  m₁ m₂ L Ω² / (m₁ + m₂)."""
    L, Ω, m1, m2 = 0.8, 5.0, 1.0, 3.0
    pad = (0.0,) * (dimension - 2)
    m = vm.Mechanism("dumbbell", dimension=dimension)
    for name, mass in (("a", m1), ("b", m2)):
        m.body(name, mass=mass, inertia=0.1 if dimension == 2 else (0.1, 0.1, 0.1), floating=True)
    m.distance("rod", "a.com", "b.com", length=L)
    ra, rb = -L * m2 / (m1 + m2), L * m1 / (m1 + m2)
    turn: dict[str, Any] = {"angle": {"a": 0, "b": 0}} if dimension == 2 else {"orientation": {"a": np.eye(3), "b": np.eye(3)}}
    m.start(
        position={"a.com": (ra, 0, *pad), "b.com": (None, 0, *pad)},
        speed={"a.com": (0, ra * Ω, *pad), "b.com": (None, rb * Ω, *pad)},
        near={"b.com": (rb, 0, *pad)},
        **turn,
    )
    t = np.linspace(0, 1, 51)
    exact = rb * np.column_stack([np.cos(Ω * t), np.sin(Ω * t), 0 * t])
    check_order_two(lambda h: at(m.simulate(1.0, step=h, every=round(0.02 / h)), "b.com"), exact, 1e-3, error=1e-5, limit=1e-9)
    pull = np.linalg.norm(m.simulate(1.0, step=1e-3).reaction("rod").values, axis=1)
    np.testing.assert_allclose(pull, m1 * m2 / (m1 + m2) * L * Ω**2, rtol=1e-4)


def test_free_body_is_an_euler_top() -> None:
    """No torque:  I ω̇ + ω × I ω = 0  in body axes; the centre flies a parabola. Near the middle axis, where it tumbles."""
    I = np.array([0.1, 0.2, 0.28])
    R0, ω0 = turned(np.array([1.0, 1.0, 0.2]), 0.8), np.array([0.1, 6.0, 0.2])
    m = vm.Mechanism("euler", gravity=(0, 0, -9.81))
    m.body("b", mass=2.0, inertia=I, points={"tip": (0.3, 0.1, 0.2)}, floating=True)
    m.start(position={"b.com": (0.1, 0.2, 0.3)}, orientation={"b": R0}, speed={"b.com": (1.0, 2.0, 3.0), "b": R0 @ ω0})
    assert m.freedoms == 6
    errors, drifts, tips = [], [], []
    for h, every in ((1e-3, 20), (5e-4, 40)):
        run = m.simulate(1.5, step=h, every=every)
        t = run.time[:, None]
        np.testing.assert_allclose(at(run, "b.com"), [0.1, 0.2, 0.3] + t * [1.0, 2.0, 3.0] + t**2 / 2 * DOWN[3], atol=1e-10)
        path = RigidBody(2.0, np.diag(I), 2.0 * DOWN[3]).run(
            BodyState(np.array([0.1, 0.2, 0.3]), R0, np.array([1.0, 2.0, 3.0]), R0 @ ω0), run.time
        )
        tips.append(at(run, "b.tip"))
        exact = np.array([s.at(np.array([0.3, 0.1, 0.2])) for s in path])
        errors.append(np.abs(tips[-1] - exact).max())
        R, ω = rotations(run, "b"), spins(run, "b")
        L = np.einsum("tij,j,tkj,tk->ti", R, I, R, ω)
        T = dots(L, ω) / 2
        drifts.append([np.linalg.norm(L - L[0], axis=1).max() / np.linalg.norm(L[0]), np.abs(T - T[0]).max() / T[0]])
    assert errors[0] < 5e-5
    assert 3.9 < errors[0] / errors[1] < 4.1
    assert np.abs((4 * tips[1] - tips[0]) / 3 - exact).max() < 1e-8
    assert (np.array(drifts[0]) < 1e-5).all()
    assert (np.array(drifts[1]) < np.array(drifts[0]) / 3).all()


@pytest.mark.parametrize("case", [c for c in CASES if "moving" in c.note], ids=lambda c: c.name)
def test_a_sliding_point_takes_no_torque(case: Case) -> None:
    """Also with the ground as second body, the torque is about the point that slides."""
    τ = case.run(STEP).reaction_torque(next(iter(case.mechanism.joints))).to_numpy()
    assert np.abs(τ).max() < 1e-9
