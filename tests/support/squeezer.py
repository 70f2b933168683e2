"""Independent reference of Andrews' squeezer in complex numbers: its motion and derivatives with
respect to five parameters at once by complex steps.

Nothing here comes from the package under test. The angles are sums of the seven of the test set
(Hairer and Wanner, Solving Ordinary Differential Equations II, VII.7), namely those of the bodies
themselves,

    OF: β,  FE: β + Θ,  BDE: γ,  EG: Φ + δ,  AG: δ,  HE: Ω + ε,  AH: ε.

The open chains O–F–E, B–E, A–G–E and A–H–E meet in E. Every centre of mass, and every end of a
chain, is a fixed place plus arms that turn with these angles. With G φ̇ the rates of the three gaps
in E, the equations of motion have index 1:

    M φ̈ = f + Gᵀ λ,     G φ̈ = −Ġ φ̇,

and λ are the forces on FE in E. A value f(ρ + ih) has the imaginary part h f'(ρ), without
cancellation; to keep this valid, nothing below uses conjugates, comparisons or absolute values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.integrate import DOP853

Array = np.ndarray
NOMINAL = {"k": 4530.0, "l0": 0.07785, "torque": 0.033, "rr": 0.007, "m_AG": 0.0705}
START = -0.06171389001427645
"""β(0), for all parameter values."""
NEAR = (START, START, 0.45528, 0.22267 + 0.48736, 0.48736, -0.22267 + 1.23055, 1.23055)
OF, FE, BDE, EG, AG, HE, AH = range(7)
INERTIAS = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
END, OTHERS, F, D = 7, slice(8, 11), 11, 12
"""Points after the seven centres of mass: E of FE, E of the other chains, F and D."""
O, A, B, C = (0.0, 0.0), (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
STEP = 1e-40
MASS_UNIT = 1e-4
"""Unit of mass (kg) in which masses and λ are solved for: the numbers are then as large as those of
G, which saves digits.
"""
OBJECTIVES = ("x of F", "y of F", "kinetic energy", "impulse in O", "force in B")
"""Final, final, integral, integral of the x component of the force on OF, final x component of the
force on BDE.
"""


class Squeezer:
    """The mechanism for several sets of parameter values, one in each column: arrays are (…,
    column).
    """

    def __init__(self, k: Array, l0: Array, torque: Array, rr: Array, m_AG: Array):
        self.k, self.l0, self.torque = k, l0, torque
        one = np.ones_like(k)
        self.masses = (
            np.array([0.04325, 0.00365, 0.02373, 0.00706, 1.0, 0.00706, 0.05498])[:, None] * one
        )
        self.masses[AG] = m_AG
        to_F, to_G, to_H = {OF: (rr, 0.0)}, {AG: (0.04, 0.0)}, {AH: (0.0, -0.04)}
        # arms of EG and HE lead from G and H towards E
        points: list[tuple[tuple[float, float], dict[int, tuple[Any, float]]]] = [
            (O, {OF: (0.00092, 0.0)}),
            (O, {**to_F, FE: (-0.0115, 0.0)}),
            (B, {BDE: (0.01043, -0.01874)}),
            (A, {**to_G, EG: (0.0, 0.01421 - 0.02)}),
            (A, {AG: (0.02308, 0.00916)}),
            (A, {**to_H, HE: (0.02 - 0.01421, 0.0)}),
            (A, {AH: (-0.00449, -0.01228)}),
            (O, {**to_F, FE: (-0.028, 0.0)}),
            (B, {BDE: (0.0, -0.035)}),
            (A, {**to_G, EG: (0.0, -0.02)}),
            (A, {**to_H, HE: (0.02, 0.0)}),
            (O, {**to_F}),
            (B, {BDE: (0.02, -0.018)}),
        ]
        self.places = np.array([place for place, _ in points]).T[..., None] * one
        self.arms = np.zeros((2, len(points), 7, k.size), complex)
        for row, (_, arms) in enumerate(points):
            for body, (x, y) in arms.items():
                self.arms[0, row, body], self.arms[1, row, body] = x, y

    def turned(self, φ: Array) -> Array:
        """Global components of all arms, (2, point, body, column)."""
        c, s, (x, y) = np.cos(φ), np.sin(φ), self.arms
        return np.stack([c * x - s * y, s * x + c * y])

    def positions(self, φ: Array) -> Array:
        """Positions of all points, (2, point, column)."""
        return np.asarray(self.places + self.turned(φ).sum(axis=2))

    def closed(self) -> Array:
        """Initial angles: β is given, Newton's method solves for the others."""
        φ = np.array(NEAR)[:, None] + 0j * self.k
        for _ in range(8):
            G = _gaps(_crossed(self.turned(φ)))[:, 1:].transpose(2, 0, 1)
            φ[1:] -= np.linalg.solve(G, self.gaps(φ).T[..., None])[..., 0].T
        return φ

    def gaps(self, φ: Array) -> Array:
        """Gaps between the chains in E, (6, column)."""
        return _gaps(self.positions(φ))

    def motion(self, φ: Array, ω: Array) -> tuple[Array, Array, Array, Array]:
        """φ̈, λ (2, chain, column), m a of the centres of mass (2, body, column), and the force of
        the spring on D.
        """
        arms = self.turned(φ)
        J, b = _crossed(arms), -(arms * ω**2).sum(axis=2)  # r̈ = J φ̈ + b
        centres, drift = J[:, :7], b[:, :7]
        M = np.einsum("bn,abin,abjn->nij", self.masses, centres, centres, optimize=False)
        M[:, range(7), range(7)] += INERTIAS
        d = np.array(C)[:, None] - (self.places[:, D] + arms[:, D].sum(axis=1))
        length = np.sqrt(d[0] ** 2 + d[1] ** 2)
        spring = self.k * (length - self.l0) * d / length
        f = np.einsum("ain,an->in", J[:, D], spring) - np.einsum(
            "bn,abin,abn->in", self.masses, centres, drift
        )
        f[OF] += self.torque
        G = _gaps(J)
        whole = np.zeros((φ.shape[1], 13, 13), complex)
        whole[:, :7, :7], whole[:, 7:, :7] = M / MASS_UNIT, G.transpose(2, 0, 1)
        whole[:, :7, 7:] = -G.transpose(2, 1, 0)
        computed = np.linalg.solve(whole, np.concatenate([f / MASS_UNIT, -_gaps(b)]).T[..., None])[
            ..., 0
        ].T
        α, λ = computed[:7], (MASS_UNIT * computed[7:]).reshape(2, 3, -1)
        return α, λ, self.masses * ((centres * α).sum(axis=2) + drift), spring

    def rates(self, y: Array) -> Array:
        """Rates of the angles, of their rates and of both integrals, (16, column)."""
        φ, ω = y[:7], y[7:14]
        α, λ, push, _ = self.motion(φ, ω)
        v = (_crossed(self.turned(φ)[:, :7]) * ω).sum(axis=2)
        energy = (self.masses * (v[0] ** 2 + v[1] ** 2) + np.array(INERTIAS)[:, None] * ω**2).sum(
            axis=0
        ) / 2
        # the forces on OF with FE, in O and three times in E, move the two centres of mass
        in_O = push[0, OF] + push[0, FE] - λ[0].sum(axis=0)
        return np.concatenate([ω, α, [energy, in_O]])

    def run(self, duration: float, steps: int) -> Iterator[Array]:
        """Yield (φ, φ̇, integrals) before the first and after each of the equal steps of the
        eighth-order scheme by Dormand and Prince.
        """
        y = np.concatenate([self.closed(), np.zeros((9, self.k.size), complex)])
        h = duration / steps
        yield y
        for _ in range(steps):
            K = np.zeros((DOP853.n_stages, *y.shape), complex)
            for i in range(DOP853.n_stages):
                K[i] = self.rates(y + h * np.tensordot(DOP853.A[i, :i], K[:i], 1))
            y = y + h * np.tensordot(DOP853.B, K, 1)
            yield y

    def objectives(self, y: Array) -> Array:
        """`OBJECTIVES`, (objective, column)."""
        φ, ω = y[:7], y[7:14]
        _, λ, push, spring = self.motion(φ, ω)
        in_B = push[0, BDE] + λ[0, 0] - spring[0]
        return np.stack([*self.positions(φ)[:, F], y[14], y[15], in_B])


def _crossed(arms: Array) -> Array:
    """Rates of vectors that rotate with 1 rad/s."""
    return np.stack([-arms[1], arms[0]])


def _gaps(of_points: Array) -> Array:
    """E of FE minus E of the other chains: x three times, then y."""
    return np.concatenate(of_points[:, END, None] - of_points[:, OTHERS])


def perturbed() -> Squeezer:
    """One column for each parameter, perturbed along the imaginary axis."""
    columns = {name: np.full(len(NOMINAL), value, complex) for name, value in NOMINAL.items()}
    for k, name in enumerate(NOMINAL):
        columns[name][k] += 1j * STEP * NOMINAL[name]
    return Squeezer(**columns)


def derivatives(values: Array) -> Array:
    """∂/∂ρ of values with one column for each parameter."""
    return np.asarray(values.imag / (STEP * np.array(list(NOMINAL.values()))))
