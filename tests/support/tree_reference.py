"""Independent reference of the benchmark `tree` in 18 coordinates: its motion and derivatives with
respect to four parameters at once by complex steps.

Nothing here comes from the package under test. Every joint is a succession of single motions, each
a turn about an axis or a slide along one, fixed to its carrier; a body is rigidly attached to
the last of them. With the parent's ω, v and a known, a motion q at the distance d from its origin
adds, with its axis e,

    turn:   ω += e q̇,   α += e q̈ + ω × e q̇;          slide:   v += e q̇,   a += e q̈ + 2 ω × e q̇;

and d adds ω × d and α × d + ω × (ω × d). The factors of q̇ (partial velocities J and W) and the
accelerations at q̈ = 0 give

    Σ (Jᵀ m J + Wᵀ I W) q̈ = Σ Jᵀ (F − m a) + Wᵀ (τ − I α − ω × I ω)     (Kane's equations).

A value f(ρ + ih) has the imaginary part h f'(ρ), without cancellation; to keep this
valid, nothing below uses conjugates, comparisons or absolute values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from newton_euler import Array, normals_of, turned, unit
from scipy.integrate import solve_ivp

NOMINAL = {"k_bob": 80.0, "m_weight": 0.8, "z_bell": -0.1, "c_mast": 1.5}
STEP = 1e-40
G = np.array([0.0, 0.0, -9.81])
AXES = np.eye(3)
NEXT, AFTER = [1, 2, 0], [2, 0, 1]


@dataclass
class Frame:
    """Orientation, origin and motion of the frame at the end of a chain of motions; arrays are
    (column, …).
    """

    R: Array
    x: Array
    ω: Array
    v: Array
    α: Array
    a: Array
    """α and a where all q̈ are zero."""
    W: Array
    J: Array

    def moved(self, d: Array) -> Frame:
        """Frame at a distance d from its origin."""
        arm = crossed(d)
        turning = cross(self.ω, d)
        a = self.a + cross(self.α, d) + cross(self.ω, turning)
        return Frame(
            self.R, self.x + d, self.ω, self.v + turning, self.α, a, self.W, self.J - arm @ self.W
        )

    def at(self, local: Any) -> Frame:
        """Frame at a point given by its local components."""
        return self.moved(times(self.R, local))

    def turned(self, k: int, axis: Array, q: Array, u: Array) -> Frame:
        """Frame after a rotation by the k-th coordinate q, with the rate u."""
        e, K = self.R @ axis, crossed(axis)
        R = self.R @ (
            np.eye(3) + np.sin(q)[:, None, None] * K + (1 - np.cos(q))[:, None, None] * (K @ K)
        )
        W = self.W.copy()
        W[:, :, k] += e
        rate = e * u[:, None]
        return Frame(
            R, self.x, self.ω + rate, self.v, self.α + cross(self.ω, rate), self.a, W, self.J
        )

    def slid(self, k: int, axis: Array, q: Array, u: Array) -> Frame:
        """Frame after a displacement by the k-th coordinate q, with the rate u."""
        e = self.R @ axis
        there = self.moved(e * q[:, None])
        rate = e * u[:, None]
        J = there.J.copy()
        J[:, :, k] += e
        return Frame(
            there.R,
            there.x,
            there.ω,
            there.v + rate,
            there.α,
            there.a + 2 * cross(self.ω, rate),
            there.W,
            J,
        )

    def attached(self, rotation: Array, local: Any = (0.0, 0.0, 0.0)) -> Frame:
        """Frame of a body with this orientation, whose point `local` is at its origin."""
        body = Frame(self.R @ rotation, self.x, self.ω, self.v, self.α, self.a, self.W, self.J)
        return body.at([-c for c in local])


def cross(a: Array, b: Array) -> Array:
    """a × b of rows."""
    return np.asarray(a[:, NEXT] * b[:, AFTER] - a[:, AFTER] * b[:, NEXT])


def crossed(a: Array) -> Array:
    """The matrices of a × …"""
    K = np.zeros((*a.shape, 3), a.dtype)
    K[..., 2, 1], K[..., 0, 2], K[..., 1, 0] = a[..., 0], a[..., 1], a[..., 2]
    return K - K.swapaxes(-1, -2)


def times(R: Array, local: Any) -> Array:
    """R s for each column; components of s may be columns."""
    return sum(R[:, :, k] * np.asarray(c)[..., None] for k, c in enumerate(local))


def dot(a: Array, b: Array) -> Array:
    return np.asarray((a * b).sum(axis=-1))


# data of the benchmark

MAST_AXIS, NORMAL = unit([0.2, -0.1, 1.0]), unit([0.2, -0.3, 1.0])
RAIL, SLEEVE_AXIS = unit([1.0, 0.3, 0.5]), unit([0.3, 1.0, 0.2])
CROSS, CROSS_ON_ARM = unit([1.0, 0.2, -0.3]), unit([0.1, 1.0, 1.0])
MAST, SLIDER = turned(MAST_AXIS, 0.4), turned(np.array([1.0, 2.0, -0.5]), 0.5)
WEIGHT, PLATE = turned(np.array([0.3, -1.0, 0.4]), 0.9), turned(np.array([1.0, 0.6, 0.3]), 0.4)
BELL, BOB = turned(np.array([0.5, 1.0, 0.2]), 0.5), turned(np.array([1.0, -0.4, 0.6]), 0.3)
"""Constant rotations, and those of bell and bob at the start (with the mast turned by 0.4 rad)."""
BELL_ON_SLIDER = (MAST @ SLIDER).T @ BELL
INERTIAS = {
    "mast": np.array([[0.5, 0.03, -0.02], [0.03, 0.45, 0.04], [-0.02, 0.04, 0.2]]),
    "slider": np.diag([0.02, 0.03, 0.025]),
    "bell": np.diag([0.03, 0.02, 0.012]),
    "sleeve": np.array([[0.02, 0.002, 0.0], [0.002, 0.015, -0.001], [0.0, -0.001, 0.018]]),
    "arm": np.diag([0.04, 0.035, 0.01]),
    "weight": np.diag([0.008, 0.005, 0.006]),
    "plate": np.diag([0.02, 0.03, 0.045]),
    "bob": np.diag([0.009, 0.011, 0.006]),
}
MASSES = {
    "mast": 4.0,
    "slider": 1.2,
    "bell": 0.9,
    "sleeve": 1.1,
    "arm": 1.0,
    "weight": 0.8,
    "plate": 1.5,
    "bob": 0.6,
}
CENTRES = {
    "mast": (0.05, 0.03, 0.5),
    "slider": (0.06, -0.04, 0.05),
    "bell": (0.03, 0.02, -0.25),
    "sleeve": (0.08, 0.05, -0.12),
    "arm": (0.04, -0.03, -0.2),
    "weight": (0.02, 0.03, -0.06),
    "plate": (0.05, 0.04, 0.03),
    "bob": (0.03, -0.02, -0.15),
}
MAST_Φ, RAIL_S, SLEEVE_Φ, SLEEVE_S = 0, 1, 5, 6
BELL_Q, ARM_Q, PLATE_Q, BOB_Q = range(2, 5), range(7, 9), range(9, 12), range(12, 18)
"""Coordinates: mast, rail, three of the bell, two of the sleeve, two of the arm, three of the
plate, six of the bob.
"""
SIZE = 18


def start() -> tuple[Array, Array]:
    """Initial coordinates and rates; the mast is at rest, so that bodies on it have their own
    angular velocity.
    """
    q, u = np.zeros(SIZE), np.zeros(SIZE)
    q[[MAST_Φ, RAIL_S, SLEEVE_Φ, SLEEVE_S]] = 0.4, 0.3, 0.2, 0.1
    u[[RAIL_S, SLEEVE_Φ, SLEEVE_S]] = -0.5, 1.5, 0.4
    u[BELL_Q] = (MAST @ SLIDER).T @ [1.0, -2.0, 0.8]
    q[BOB_Q[:3]] = -0.62, -0.02, 0.32
    u[BOB_Q] = 0.2, -0.1, 0.3, -0.6, 0.5, 0.8
    return q, u


class Tree:
    """The mechanism for several sets of parameter values, one in each column."""

    def __init__(self, k_bob: Array, m_weight: Array, z_bell: Array, c_mast: Array):
        self.k_bob, self.z_bell, self.c_mast = k_bob, z_bell, c_mast
        self.columns = k_bob.size
        self.masses: dict[str, Any] = {**MASSES, "weight": m_weight}

    def bodies(self, q: Array, u: Array) -> dict[str, Frame]:
        """All bodies at coordinates (column, 18) and rates."""
        n = self.columns
        zero, flat = np.zeros((n, 3), complex), np.zeros((n, 3, SIZE), complex)
        ground = Frame(
            np.tile(np.eye(3, dtype=complex), (n, 1, 1)), zero, zero, zero, zero, zero, flat, flat
        )

        def turning(frame: Frame, which: Sequence[int], axes: Any) -> Frame:
            for k, axis in zip(which, axes, strict=True):
                frame = frame.turned(k, axis, q[:, k], u[:, k])
            return frame

        def sliding(frame: Frame, which: Sequence[int], axes: Any) -> Frame:
            for k, axis in zip(which, axes, strict=True):
                frame = frame.slid(k, axis, q[:, k], u[:, k])
            return frame

        mast = turning(ground, [MAST_Φ], [MAST_AXIS])
        slider = sliding(mast.at((0.1, 0.0, 1.0)), [RAIL_S], [RAIL]).attached(
            SLIDER, (0.0, 0.02, 0.0)
        )
        bell = turning(slider.at((0.1, 0.05, self.z_bell)), BELL_Q, AXES).attached(BELL_ON_SLIDER)
        sleeve = sliding(
            turning(mast.at((0.0, 0.2, 0.8)), [SLEEVE_Φ], [SLEEVE_AXIS]), [SLEEVE_S], [SLEEVE_AXIS]
        )
        arm = turning(mast.at((0.1, -0.4, 0.9)), ARM_Q, (CROSS, CROSS_ON_ARM))
        weight = arm.at((0.1, -0.1, -0.4)).attached(WEIGHT)
        table = sliding(mast.at((-0.4, 0.1, 0.6)), PLATE_Q[:2], normals_of(NORMAL))
        plate = turning(table, PLATE_Q[2:], [NORMAL]).attached(PLATE)
        bob = turning(sliding(ground, BOB_Q[:3], AXES), BOB_Q[3:], AXES).attached(BOB)
        results = {
            "mast": mast,
            "slider": slider,
            "bell": bell,
            "sleeve": sleeve,
            "arm": arm,
            "weight": weight,
        }
        return {**results, "plate": plate, "bob": bob, "ground": ground}

    def ends(self, bodies: dict[str, Frame]) -> dict[str, Frame]:
        """Frames of the ends of bell, weight and bob."""
        bell, weight = bodies["bell"].at((0.05, 0.0, -0.4)), bodies["weight"].at((0.05, 0.0, -0.15))
        return {"bell": bell, "weight": weight, "bob": bodies["bob"].at((0.05, -0.02, -0.28))}

    def rates(self, t: float, q: Array, u: Array) -> Array:
        """Rates of coordinates, of rates and of ψ, (column, 37)."""
        b = self.bodies(q, u)
        ends = self.ends(b)
        M, h = (
            np.zeros((self.columns, SIZE, SIZE), complex),
            np.zeros((self.columns, SIZE), complex),
        )

        def push(point: Frame, force: Array) -> None:
            h[...] += (point.J.swapaxes(1, 2) @ force[..., None])[..., 0]

        for name, centre in CENTRES.items():
            p, m = b[name].at(centre), np.asarray(self.masses[name])
            I = p.R @ INERTIAS[name] @ p.R.swapaxes(1, 2)
            M += m[..., None, None] * p.J.swapaxes(1, 2) @ p.J + p.W.swapaxes(1, 2) @ I @ p.W
            push(p, m[..., None] * (G - p.a))
            spin = (I @ np.stack([p.α, p.ω], axis=2)).transpose(2, 0, 1)
            h -= (p.W.swapaxes(1, 2) @ (spin[0] + cross(p.ω, spin[1]))[..., None])[..., 0]

        def strut(
            first: Frame, second: Frame, stiffness: Any, natural: float, damping: float
        ) -> None:
            d = second.x - first.x
            length = np.sqrt(dot(d, d))
            e = d / length[:, None]
            pull = stiffness * (length - natural) + damping * dot(e, second.v - first.v)
            push(first, pull[:, None] * e)
            push(second, -pull[:, None] * e)

        mast, hook = b["mast"], b["plate"].at((-0.15, 0.2, -0.05))
        strut(mast.at((0.1, 0.0, 1.0)), b["slider"].at(CENTRES["slider"]), 250.0, 0.3, 3.0)
        strut(mast.at((0.1, -0.4, 0.9)), b["sleeve"].at((0.1, 0.15, -0.25)), 120.0, 0.85, 2.0)
        strut(b["ground"].at((0.6, -0.9, 0.1)), b["weight"], 60.0, 0.5, 1.0)
        strut(mast.at((-0.7, -0.1, 0.6)), b["plate"], 200.0, 0.35, 2.0)
        strut(mast.at((-0.5, 0.5, 0.8)), hook, 150.0, 0.3, 2.0)
        strut(hook, b["bob"], self.k_bob, 0.25, 1.5)
        strut(ends["bell"], ends["weight"], 0.0, 0.0, 0.6)
        push(
            ends["weight"], np.tile([3 * np.sin(4 * t), 1.5, 2 * np.cos(3 * t)], (self.columns, 1))
        )
        h[:, MAST_Φ] -= 40.0 * (q[:, MAST_Φ] - 0.75) + self.c_mast * u[:, MAST_Φ]
        h[:, SLEEVE_Φ] -= 0.05 * u[:, SLEEVE_Φ]
        ψ̇ = sum(dot(ends[p].v, ends[p].v) for p in ("bell", "bob"))
        return np.concatenate(
            [u, np.linalg.solve(M, h[..., None])[..., 0], np.reshape(ψ̇, (-1, 1))], axis=1
        )

    def run(self, times: Sequence[float], tolerance: float) -> Array:
        """Coordinates, rates and ψ, (time, column, 37)."""
        q, u = start()
        begin = np.tile(np.concatenate([q, u, [0.0]]), self.columns).astype(complex)

        def rates(t: float, y: Array) -> Array:
            y = y.reshape(self.columns, -1)
            return self.rates(t, y[:, :SIZE], y[:, SIZE : 2 * SIZE]).ravel()

        solution = solve_ivp(
            rates,
            (0.0, times[-1]),
            begin,
            method="DOP853",
            t_eval=times,
            rtol=tolerance,
            atol=tolerance,
        )
        assert solution.success
        return np.asarray(solution.y.T.reshape(len(times), self.columns, -1))


def reference(times: Sequence[float], tolerance: float = 1e-13) -> dict[str, Any]:
    """Positions of the ends at the given times, (time, 3) each, ψ and its gradient at the last
    time.
    """
    columns = {name: np.full(len(NOMINAL), value, complex) for name, value in NOMINAL.items()}
    for k, name in enumerate(NOMINAL):
        columns[name][k] += 1j * STEP
    tree = Tree(**columns)
    path = tree.run(times, tolerance)
    places = [
        {
            p: f.x[0].real
            for p, f in tree.ends(tree.bodies(y[:, :SIZE], y[:, SIZE : 2 * SIZE])).items()
        }
        for y in path
    ]
    ψ = path[-1, :, -1]
    return {
        "places": {p: np.array([at[p] for at in places]) for p in places[0]},
        "ψ": float(ψ[0].real),
        "gradient": dict(zip(NOMINAL, ψ.imag / STEP, strict=True)),
        "path": path[:, 0].real,
    }
