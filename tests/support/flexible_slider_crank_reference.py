"""Independent reference of the benchmark `flexible-slider-crank` without constraints: its motion
and derivatives with respect to five parameters by complex steps.

Nothing here comes from the package under test. The coordinates are the angle θ of the crank and the
places r₁ … rₙ of all nodes of the rod but the first, r₀ = B(θ); the last one, the slider, stays on
the x axis, where its other two components rest at zero. With the mass matrix m_ij of the nodes
(consistent with straight segments), the forces f_i on them (elastic, and weight), B' = dB/dθ and
B'' = d²B/dθ², Lagrange's equations are

    (I + m₀₀ B'·B') θ̈ + m₀₁ B'·r̈₁ = B'·f₀ + τ         I, τ: inertia of the crank about its axis and moment of its weight
    Σ_j m_ij r̈_j + m_i0 (B' θ̈ + B'' θ̇²) = f_i         for i, j ≥ 1; of the last one only the part along x, with the slider's mass

(B'·B'' = 0). The second has constant matrices, one for the x components and one for y and z; θ̈
follows after its solution is inserted (B' and B'' have no part along x). Steps are equal, of
DOP853's formula of order 8. To keep complex steps valid, nothing below uses conjugates, comparisons
or absolute values; the last axis of every array is a case: one for each parameter, perturbed along
the imaginary axis.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.integrate import DOP853

Array = np.ndarray
STEP = 1e-40
NOMINAL = {"E": 2e9, "area": 1e-4, "inertia": 8e-10, "density": 0.5 / (1e-4 * 0.3), "L": 0.3}
A = np.array([0.0, 0.1, 0.12])
CRANK, CRANK_MASS, CRANK_INERTIA, SPEED = 0.08, 0.12, 1e-4, 6.0
SLIDER_MASS = 2.0
G = 9.81


@dataclass(frozen=True)
class History:
    """Results at equally spaced times: positions of all nodes, (time, node, component, case); ψ,
    total and kinetic energy, (time, case).
    """

    times: Array
    nodes: Array
    ψ: Array
    energy: Array
    kinetic: Array


class FlexibleSliderCrank:
    """A rod of n segments, for one or more cases of parameters (each an array of
    complex numbers).
    """

    def __init__(self, segments: int, parameters: dict[str, Array]):
        n, p = segments, parameters
        self.n, self.L = n, p["L"]
        self.cases = self.L.size
        self.ℓ = self.L / n
        self.EA = p["E"] * p["area"]
        self.α = p["E"] * p["inertia"] / self.L**5 * (n**3 * (n**2 + 2))
        mass = p["density"] * p["area"] * self.L / n
        cell = np.array([[1 / 3, 1 / 6], [1 / 6, 1 / 3]])
        self.m = np.zeros((n + 1, n + 1, self.cases), complex)
        for k in range(n):
            self.m[k : k + 2, k : k + 2] += cell[:, :, None] * mass
        self.weight = np.zeros((n + 1, self.cases), complex)
        self.weight[:-1] += G * mass / 2
        self.weight[1:] += G * mass / 2
        self.crank_inertia = CRANK_INERTIA + CRANK_MASS * (CRANK / 2) ** 2
        # inverse of the rest, (node, node, component, case): all nodes move along x, and all but
        # the last along y and z
        self.inverse = np.zeros((n, n, 3, self.cases), complex)
        along = self.m[1:, 1:].copy()
        along[-1, -1] += SLIDER_MASS
        self.inverse[:, :, 0] = _inverse(along)
        self.inverse[:-1, :-1, 1:] = _inverse(self.m[1:-1, 1:-1])[:, :, None]
        self.coupling = self.inverse[:, 0] * self.m[0, 1]
        self.left = self.crank_inertia + CRANK**2 * (
            self.m[0, 0] - self.m[0, 1] * self.coupling[0, 1]
        )

    def start(self) -> tuple[Array, Array]:
        """Initial q and rates: the crank upright, the rod straight and moving as a rigid body."""
        B, v, C, w = np.zeros((4, 3, self.cases), complex)
        B[1], B[2] = A[1], A[2] + CRANK
        v[1] = -CRANK * SPEED
        C[0] = np.sqrt(self.L**2 - B[1] ** 2 - B[2] ** 2)
        w[0] = ((C - B) * v).sum(axis=0) / C[0]
        shares = np.arange(1, self.n + 1)[:, None, None] / self.n
        q, rates = np.zeros((2, 3 * self.n + 1, self.cases), complex)
        rates[0] = SPEED
        q[1:] = ((1 - shares) * B + shares * C).reshape(-1, self.cases)
        rates[1:] = ((1 - shares) * v + shares * w).reshape(-1, self.cases)
        return q, rates

    def nodes(self, q: Array) -> Array:
        """Positions of the nodes, (node, component, case)."""
        r = np.empty((self.n + 1, 3, self.cases), complex)
        r[0, 0], r[0, 1], r[0, 2] = A[0], A[1] - CRANK * np.sin(q[0]), A[2] + CRANK * np.cos(q[0])
        r[1:] = q[1:].reshape(-1, 3, self.cases)
        return r

    def forces(self, r: Array) -> Array:
        """Elastic forces and weights on the nodes."""
        d = r[1:] - r[:-1]
        squared = np.add.reduce(d * d, axis=1)
        pull = (self.EA * self.ℓ / 2 * np.log(squared / self.ℓ**2) / squared)[:, None] * d
        a, b = d[:-1], d[1:]
        # |a × b|² = a·a b·b − (a·b)²
        both = (self.α * np.add.reduce(a * b, axis=1))[:, None]
        scaled = (self.α * squared)[:, None]
        pull[:-1] += scaled[1:] * a - both * b
        pull[1:] += scaled[:-1] * b - both * a
        f = np.zeros_like(r)
        f[:-1] = pull
        f[1:] -= pull
        f[:, 2] -= self.weight
        return f

    def accelerations(self, q: Array, rates: Array) -> Array:
        r = self.nodes(q)
        arm, f = r[0] - A[:, None], self.forces(r)
        slope = np.zeros_like(arm)  # B'; B'' is −arm
        slope[1], slope[2] = -arm[2], arm[1]
        f[1] += self.m[0, 1] * rates[0] ** 2 * arm
        free = np.add.reduce(self.inverse * f[1:], axis=1)
        τ = -CRANK_MASS * G / 2 * arm[1]
        computed = np.empty_like(q)
        computed[0] = (
            np.add.reduce(slope * (f[0] - self.m[0, 1] * free[0]), axis=0) + τ
        ) / self.left
        computed[1:] = (free - self.coupling * (computed[0] * slope)).reshape(-1, self.cases)
        return computed

    def energies(self, q: Array, rates: Array) -> tuple[Array, Array]:
        """Kinetic and potential energy."""
        r, v = self.nodes(q), np.zeros((self.n + 1, 3, self.cases), complex)
        v[0, 1], v[0, 2] = -CRANK * np.cos(q[0]) * rates[0], -CRANK * np.sin(q[0]) * rates[0]
        v[1:] = rates[1:].reshape(-1, 3, self.cases)
        kinetic = (self.crank_inertia * rates[0] ** 2 + SLIDER_MASS * v[-1, 0] ** 2) / 2
        kinetic = kinetic + np.einsum("ijp,icp,jcp->p", self.m, v, v) / 2
        d = r[1:] - r[:-1]
        bent = np.cross(d[:-1], d[1:], axis=1)
        elastic = (self.EA * self.ℓ / 8 * np.log((d * d).sum(axis=1) / self.ℓ**2) ** 2).sum(axis=0)
        elastic = elastic + self.α / 2 * (bent * bent).sum(axis=(0, 1))
        height = (self.weight * r[:, 2]).sum(axis=0) + CRANK_MASS * G * (
            A[2] + CRANK / 2 * np.cos(q[0])
        )
        return kinetic, elastic + height

    def run(self, duration: float, steps: int, rows: int) -> History:
        """Integrate with equal steps, of which `rows` + 1 states are stored."""
        assert steps % rows == 0
        q, rates = self.start()
        N, h = q.shape[0], duration / steps
        y = np.concatenate([q, rates, np.zeros((1, self.cases))]).astype(complex)
        count = DOP853.n_stages
        a, b = h * DOP853.A[:count, :count], h * DOP853.B
        stages = np.zeros((count, *y.shape), complex)
        flat = stages.reshape(count, -1)
        kept = [y]
        for k in range(1, steps + 1):
            for i in range(count):
                z = y + (a[i, :i] @ flat[:i]).reshape(y.shape) if i else y
                stages[i, :N] = z[N:-1]
                stages[i, N:-1] = self.accelerations(z[:N], z[N:-1])
                stages[i, -1] = z[-4] ** 2
            y = y + (b @ flat).reshape(y.shape)
            if k % (steps // rows) == 0:
                kept.append(y)
        energies = np.array([self.energies(z[:N], z[N:-1]) for z in kept])
        nodes = np.array([self.nodes(z[:N]) for z in kept])
        times = np.linspace(0, duration, rows + 1)
        return History(times, nodes, np.array(kept)[:, -1], energies.sum(axis=1), energies[:, 0])


def _inverse(m: Array) -> Array:
    return np.moveaxis(np.linalg.inv(np.moveaxis(m, -1, 0)), 0, -1)


def differentiated(segments: int = 4) -> FlexibleSliderCrank:
    """Create one case for each parameter, perturbed along the imaginary axis (by STEP times its
    value).
    """
    moved = {
        name: value * (1 + 1j * STEP * np.eye(5)[k])
        for k, (name, value) in enumerate(NOMINAL.items())
    }
    return FlexibleSliderCrank(segments, moved)


def alone(segments: int = 4, **changed: float) -> FlexibleSliderCrank:
    """Create a single case without derivatives."""
    return FlexibleSliderCrank(
        segments, {name: np.array([value], complex) for name, value in (NOMINAL | changed).items()}
    )


def gradient(ψ: Array) -> dict[str, float]:
    """Derivatives from the final values of all cases."""
    return {
        name: float(x.imag / STEP / value)
        for (name, value), x in zip(NOMINAL.items(), ψ, strict=True)
    }
