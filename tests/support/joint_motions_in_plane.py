"""A planar mechanism for each joint: its builder, and its motion by equations of motion derived by
hand (`newton_euler`).
"""

from __future__ import annotations

import numpy as np
from joint_conditions import DOWN, O3, vec
from newton_euler import Array, X, Z, part, product, project, second_order, turned, unit

import varimech as vm

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
            part(2.0, 0.15, [product(Z, r1), O3], -(u[0] ** 2) * r1, [Z, O3], O3, u, 2.0 * DOWN[2]),
            part(
                1.2,
                0.06,
                [product(Z, rb), product(Z, r2)],
                -(u[0] ** 2) * rb - u[1] ** 2 * r2,
                [O3, Z],
                O3,
                u,
                1.2 * DOWN[2],
            ),
        )

    path = second_order(acceleration, [-0.4, 0.8], [1.0, -2.0], times)
    return np.array([np.concatenate([O + arms(y)[1], O + arms(y)[1] + arms(y)[2]]) for y in path])


# planar fixed: two welded bodies swing like one with their common centre of mass and inertia
# (Steiner)


def build_welded_pendulum(m: vm.Mechanism, p: vm.Parameter) -> None:
    m.ground_point("O", (0, 0))
    m.body("a", mass=1.0, inertia=0.05, com=(0.2, 0.0), points={"O": (0, 0), "W": (p, 0.1)})
    m.body(
        "b", mass=2.0, inertia=0.1, com=(0.15, 0.1), points={"W": (-0.1, 0.05), "tip": (0.5, 0.0)}
    )
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
        return np.array([product(r, 3.0 * DOWN[2])[2] / inertia])

    return np.array(
        [turned(Z, y[0]) @ tip for y in second_order(acceleration, [0.2], [-1.0], times)]
    )


# planar point-on-line: a body hangs by a pin in a slot of a turning bar


def build_pin_in_slot(m: vm.Mechanism, p: vm.Parameter) -> None:
    m.ground_point("O", (0, 0))
    m.body("bar", mass=1.5, inertia=0.2, com=(0.2, 0.1), points={"O": (0, 0), "S": (0.1, 0.15)})
    m.body("pin", mass=0.8, inertia=0.02, com=(0.1, -0.2), points={"P": (p, 0.01)})
    m.revolute("O")
    m.point_on_line("slot", "bar.S", "pin.P", axis=(2.0, 0.6))
    m.start(
        angle={"bar": 0.3, "pin": 0.5},
        displacement={"slot": 0.25},
        speed={"bar": 2.0, "slot": -0.5, "pin": 1.0},
    )


def pin_in_slot(p: float, times: Array) -> Array:
    e_, c_bar, p0, c = (
        unit(vec(2.0, 0.6)),
        vec(0.2, 0.1),
        vec(0.1, 0.15),
        vec(0.1, -0.2) - vec(p, 0.01),
    )

    def places(q: Array) -> tuple[Array, Array, Array]:
        R = turned(Z, q[0])
        return R @ (p0 + q[1] * e_), R @ e_, turned(Z, q[2]) @ c

    def acceleration(_: float, q: Array, u: Array) -> Array:
        P, e, r = places(q)
        rb = turned(Z, q[0]) @ c_bar
        bias = -(u[0] ** 2) * P + 2 * u[0] * u[1] * product(Z, e) - u[2] ** 2 * r
        return project(
            part(
                1.5,
                0.2,
                [product(Z, rb), O3, O3],
                -(u[0] ** 2) * rb,
                [Z, O3, O3],
                O3,
                u,
                1.5 * DOWN[2],
            ),
            part(
                0.8,
                0.02,
                [product(Z, P), e, product(Z, r)],
                bias,
                [O3, O3, Z],
                O3,
                u,
                0.8 * DOWN[2],
            ),
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
        return project(
            part(1.5, 0.1, [product(Z, d), product(Z, r)], bias, [O3, Z], O3, u, 1.5 * DOWN[2])
        )

    path = second_order(acceleration, [φ, -0.8], [-0.6 / (p * np.sin(φ)), 2.0], times)
    return np.array([np.concatenate([arms(y)[0], sum(arms(y))]) for y in path])
