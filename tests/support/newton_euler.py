"""Reference motions for tests: Newton–Euler equations derived by hand, integrated far more
accurately than any run.

Nothing here comes from the package under test. The reactions are eliminated in two ways, so that
these check each other: projection on partial velocities (minimal coordinates), and elimination of
the contact forces of a single body.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

Array = np.ndarray
X, Y, Z = np.eye(3)


def integrate(
    rates: Callable[[float, Array], Array], start: Sequence[float] | Array, times: Array
) -> Array:
    """Solution of ẏ = rates(t, y) at the given times, (time, component), to about eleven digits."""
    solution = solve_ivp(
        rates,
        (0.0, times[-1]),
        np.asarray(start, float),
        method="DOP853",
        t_eval=times,
        rtol=1e-11,
        atol=1e-12,
    )
    assert solution.success
    return np.asarray(solution.y.T)


def second_order(
    acceleration: Callable[[float, Array, Array], Array],
    q: Sequence[float],
    u: Sequence[float],
    times: Array,
) -> Array:
    """Solution (q, q̇) of q̈ = acceleration(t, q, q̇), (time, 2n)."""
    n = len(q)
    return integrate(
        lambda t, y: np.concatenate([y[n:], acceleration(t, y[:n], y[n:])]), [*q, *u], times
    )


def tilde(a: Array) -> Array:
    """The matrix of a × …"""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def product(a: Array, b: Array) -> Array:
    """a × b, identical to NumPy's result in a thirteenth of its time."""
    return np.array(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )


def unit(a: Sequence[float] | Array) -> Array:
    """a / |a|."""
    return np.asarray(a, float) / np.linalg.norm(a)


def turned(axis: Array, angle: float) -> Array:
    """Rotation matrix by Rodrigues' formula  1 + sin φ ã + (1 − cos φ) ã²."""
    K = tilde(unit(axis))
    return np.asarray(np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K)


def carrying(source: Array, target: Array) -> Array:
    """A rotation that maps one direction to another one (not the opposite)."""
    a, b = unit(source), unit(target)
    K = tilde(product(a, b))
    return np.asarray(np.eye(3) + K + K @ K / (1 + a @ b))


@dataclass(frozen=True)
class Part:
    """One body in minimal coordinates:  v_G = J q̇,  a_G = J q̈ + b,  ω = W q̇,  α = W q̈ + β;  I
    in global axes.
    """

    mass: float
    inertia: Array
    J: Array
    b: Array
    W: Array
    β: Array
    ω: Array
    force: Array
    torque: Array


def part(
    mass: float,
    inertia: Array | float,
    J: Sequence[Array],
    b: Array,
    W: Sequence[Array],
    β: Array,
    u: Array,
    force: Array,
    torque: Array | None = None,
) -> Part:
    """A `Part` from partial velocities given as lists of vectors; a number is a moment of inertia
    about z.
    """
    J_, W_ = np.column_stack(list(J)), np.column_stack(list(W))
    I = np.diag([0.0, 0.0, inertia]) if np.ndim(inertia) == 0 else np.asarray(inertia)
    return Part(mass, I, J_, b, W_, β, W_ @ u, force, np.zeros(3) if torque is None else torque)


def project(*parts: Part) -> Array:
    """q̈ from  Σ Jᵀ(m a − F) + Wᵀ(I α + ω × I ω − τ) = 0  (d'Alembert; Kane's equations)."""
    M = sum(p.mass * p.J.T @ p.J + p.W.T @ p.inertia @ p.W for p in parts)
    h = sum(
        p.J.T @ (p.force - p.mass * p.b)
        + p.W.T @ (p.torque - p.inertia @ p.β - product(p.ω, p.inertia @ p.ω))
        for p in parts
    )
    return np.linalg.solve(np.asarray(M), np.asarray(h))


@dataclass(frozen=True)
class BodyState:
    """A rigid body at one instant: centre of mass, rotation, velocity and angular velocity (global
    components).
    """

    x: Array
    R: Array
    v: Array
    ω: Array

    @property
    def packed(self) -> Array:
        return np.concatenate([self.x, self.R.ravel(), self.v, self.ω])

    @staticmethod
    def of(y: Array) -> BodyState:
        return BodyState(y[:3], y[3:12].reshape(3, 3), y[12:15], y[15:18])

    def at(self, s: Array) -> Array:
        """Position of the body's point with local coordinates s from the centre of mass."""
        return np.asarray(self.x + self.R @ s)

    def velocity(self, s: Array) -> Array:
        return np.asarray(self.v + product(self.ω, self.R @ s))


Contact = Callable[[BodyState], tuple[Array, Array, Array]]
"""State → arm r from the centre of mass, directions D (rows), and c with  D (a_G + α × r + ω × (ω ×
r)) = c.
"""


@dataclass(frozen=True)
class RigidBody:
    """A single rigid body under constant force and torque, held by contact forces Dᵀ N at the arm
    r.
    """

    mass: float
    inertia: Array
    """About the centre of mass, body axes."""
    force: Array
    body_torque: Array | None = None

    def motion(self, s: BodyState, contact: Contact | None) -> tuple[Array, Array, Array]:
        """a_G, α and the contact force:  m a = F + f,  I α = r × f − ω × I ω + τ,  f = Dᵀ N."""
        I = s.R @ self.inertia @ s.R.T
        τ = -product(s.ω, I @ s.ω) + (0 if self.body_torque is None else s.R @ self.body_torque)
        a, α = self.force / self.mass, np.linalg.solve(I, τ)
        if contact is None:
            return a, α, np.zeros(3)
        r, D, c = contact(s)
        mobility = np.eye(3) / self.mass - tilde(r) @ np.linalg.solve(I, tilde(r))
        free = a + product(α, r) + product(s.ω, product(s.ω, r))
        f = D.T @ np.linalg.solve(D @ mobility @ D.T, c - D @ free)
        return a + f / self.mass, α + np.linalg.solve(I, product(r, f)), f

    def run(
        self, start: BodyState, times: Array, contact: Contact | None = None
    ) -> list[BodyState]:
        def rates(_: float, y: Array) -> Array:
            s = BodyState.of(y)
            a, α, _f = self.motion(s, contact)
            return np.concatenate([s.v, (tilde(s.ω) @ s.R).ravel(), a, α])

        return [BodyState.of(y) for y in integrate(rates, start.packed, times)]


def held_point(s: Array) -> Contact:
    """A body point fixed in space: three forces, no acceleration."""
    return lambda b: (b.R @ s, np.eye(3), np.zeros(3))


def guided_point(s: Array, normals: Array) -> Contact:
    """A body point that stays on a fixed line (two normals) or plane (one normal)."""
    return lambda b: (b.R @ s, normals, np.zeros(len(normals)))


def guiding_body(place: Array, normals: Array) -> Contact:
    """A line or plane of the body (local normals n) passes through a fixed place Q.

    n·(v + ω × ρ) = 0 with ρ = Q − x, ρ̇ = −v; its derivative is  n·(a + α × ρ) = n·(2 ω × v + ω ×
    (ω × ρ)).
    """

    def contact(b: BodyState) -> tuple[Array, Array, Array]:
        ρ, D = place - b.x, normals @ b.R.T
        return ρ, D, D @ (2 * product(b.ω, b.v + product(b.ω, ρ)))

    return contact


def rod(anchor: Array, s: Array, length: float) -> Contact:
    """A massless rod from a fixed anchor to a body point:  d·d = L²  gives  n·d̈ = −ḋ·ḋ / L."""

    def contact(b: BodyState) -> tuple[Array, Array, Array]:
        d, ḋ = b.at(s) - anchor, b.velocity(s)
        return b.R @ s, (d / length)[None, :], np.array([-(ḋ @ ḋ) / length])

    return contact


def steiner(mass: float, arm: Array) -> Array:
    """m (|c|² 1 − c cᵀ): contribution of a mass at a distance c to the inertia."""
    return np.asarray(mass * (arm @ arm * np.eye(3) - np.outer(arm, arm)))


def normals_of(axis: Array) -> Array:
    """Two unit rows normal to an axis and to each other."""
    a = unit(axis)
    n = unit(product(a, np.eye(3)[np.argmin(np.abs(a))]))
    return np.array([n, product(a, n)])


def check_order_two(
    measured: Callable[[float], Array], exact: Array, h: float, *, error: float, limit: float
) -> None:
    """`measured(h)` has the error C h² + O(h⁴) of the trapezoidal rule.

    At h it is below `error`, halving h quarters it, and (4 x_{h/2} − x_h) / 3, free of C h², is
    exact to `limit`.
    """
    coarse, fine = measured(h), measured(h / 2)
    e1, e2 = np.abs(coarse - exact).max(), np.abs(fine - exact).max()
    extrapolated = np.abs((4 * fine - coarse) / 3 - exact).max()
    assert e1 < error, f"error {e1:.2e} at h = {h:g}"
    assert 3.9 < e1 / e2 < 4.1, f"errors {e1:.2e} and {e2:.2e}: not of order two"
    assert extrapolated < limit, f"extrapolated error {extrapolated:.2e}"
