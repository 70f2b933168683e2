"""Tip of a flexible pendulum over time, by a spectral method that shares nothing with the beams
tested; NumPy and SciPy alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import eval_jacobi, roots_legendre

Array = NDArray[np.float64]


class Pendulum(NamedTuple):
    """Parameters of a pinned beam: length [m], E A [N], E I [N m^2], rho A [kg/m], gravity [m/s^2]
    along -y.
    """

    length: float
    axial: float
    bending: float
    mass: float
    gravity: float = 9.81


class Motion(NamedTuple):
    """Times [s], tip positions (count, 2) [m], and total energies [J] relative to the start."""

    times: Array
    tip: Array
    energy: Array


SOFT_PENDULUM = Pendulum(1.2, 0.7e6 * 0.0018, 0.7e6 * 1.215e-8, 5540.0 * 0.0018)
STIFF_PENDULUM = Pendulum(1.0, 1.0e6, 50.0, 1.0)

# Time [s] and tip [m] of SOFT_PENDULUM; 160 modes, step 1e-3; error below 1e-6 up to 0.8 s, below
# 3e-5 after.
SOFT_TIP: Array = np.array(
    [
        [0.1, 1.20000001, -0.04905059],
        [0.2, 1.17992429, -0.19618768],
        [0.3, 1.07873769, -0.44126227],
        [0.4, 0.85284914, -0.78448602],
        [0.5, 0.39485130, -1.21511951],
        [0.6, -0.33488593, -1.25156826],
        [0.7, -0.68721567, -1.09481957],
        [0.8, -0.88723133, -0.81934485],
        [0.9, -1.00224646, -0.59627181],
        [1.0, -1.16403564, -0.31009016],
        [1.1, -1.11925993, 0.02152658],
    ]
)
# The same with power = 0; 100 modes, step 1e-3.
SOFT_TIP_BENT_BY_AREA: Array = np.array(
    [
        [0.1, 1.19999995, -0.04905105],
        [0.2, 1.17989757, -0.19617582],
        [0.3, 1.07867593, -0.44136059],
        [0.4, 0.85262311, -0.78331784],
        [0.5, 0.39232730, -1.21396849],
        [0.6, -0.33456593, -1.25446364],
    ]
)
# Time [s] and tip [m] of STIFF_PENDULUM; 40 modes, step 1e-4; error below 1e-8.
STIFF_TIP: Array = np.array(
    [
        [0.1, 0.9973405526, -0.0728804488],
        [0.2, 0.9575880766, -0.2881415101],
        [0.3, 0.7946802082, -0.6070424420],
        [0.4, 0.4297145110, -0.9029790850],
        [0.5, -0.0900433670, -0.9959525495],
        [0.6, -0.5744959850, -0.8185218543],
        [0.7, -0.8688374493, -0.4951097049],
        [0.8, -0.9794571414, -0.2016475030],
        [0.9, -0.9994770441, -0.0323371403],
        [1.0, -0.9999671328, -0.0081217808],
    ]
)


def flexible_pendulum(
    beam: Pendulum, times: Sequence[float], modes: int, step: float, *, power: float = 1.0
) -> Motion:
    """Return the motion of an extensible beam, pinned at the origin, released at rest, straight
    along +x, under gravity.

    Geometrically exact Euler-Bernoulli beam without rotary inertia: T = 1/2 rho A int |r_t|^2 ds, V
    = int 1/2 E A (|r'| - 1)^2 + 1/2 E I theta'^2 + rho A g y ds, theta' = (r' x r'')/|r'|^2, s the
    reference length; with power = 0 r' x r'' instead, whose stiffness grows with the stretch.
    Spectral Galerkin: r(s, t) = sum_k q_k(t) phi_k(s), phi_k proportional to s P_k^(0,2)(2 s/L -
    1), polynomials of degree 1..modes, orthonormal with the mass, so q_tt = -dV/dq; all other
    boundary conditions are natural. Gauss-Legendre quadrature with 2 modes + 8 points. In time:
    Gauss collocation of order 12 (symplectic, implicit) with steps of at most `step`. Soft case:
    Escalona, Hussien, Shabana, J. Sound Vib. 214 (1998) 833.
    """
    space = _Galerkin(beam, modes, power)
    t = np.asarray(times, dtype=np.float64)
    states = _Gauss(space.acceleration, space.stiffness, step).states(space.start, t)
    first = space.energy(space.start.ravel())
    return Motion(
        t,
        np.array([space.tip(s) for s in states]),
        np.array([space.energy(s) - first for s in states]),
    )


class _Galerkin:
    """Forces, their tangent and energies of the beam as polynomials along it. A state is q, then
    its rates; vectors are complex numbers.
    """

    def __init__(self, beam: Pendulum, modes: int, power: float):
        length, axial, bending, mass, gravity = beam
        nodes, weights = roots_legendre(2 * modes + 8)
        weights = 0.5 * length * weights
        scale = np.sqrt((2.0 * np.arange(modes) + 3.0) / (mass * length))
        z = (0.5 * (nodes + 1.0))[:, None]
        p0, p1, p2 = (_jacobi(nodes, modes, length, d) for d in range(3))
        shape = scale * z * p0
        self.modes, self.power, self.points = modes, power, len(nodes)
        self.strain = np.concatenate(
            [scale * (p0 / length + z * p1), scale * (2.0 * p1 / length + z * p2)]
        )
        self.back = np.ascontiguousarray(self.strain.T)
        self.at_tip = (scale * _jacobi(np.ones(1), modes, length, 0))[0]
        self.pull = mass * gravity * (weights @ shape)
        self.wa, self.wb = weights * axial, weights * bending
        start = np.zeros((2, modes, 2))
        start[0, :, 0] = mass * (weights * 0.5 * length * (nodes + 1.0)) @ shape
        self.start = start.reshape(2, -1)

    def tip(self, state: Array) -> Array:
        return np.asarray(self.at_tip @ state[: 2 * self.modes].reshape(self.modes, 2))

    def acceleration(self, q: Array) -> Array:
        force = self.back @ self._stresses(self._strains(q)).view(np.float64).reshape(-1, 2)
        force[:, 1] += self.pull
        return np.asarray(-force.ravel())

    def stiffness(self, q: Array) -> Array:
        """Second derivatives of V, ordered as q; the pointwise tangent by central differences (used
        for Newton only).
        """
        both, strain, points, modes = self._strains(q), self.strain, self.points, self.modes
        out = np.empty((modes, 2, modes, 2))
        for column, direction in enumerate((1.0, 1j)):
            blocks = []
            for part, size in ((0, 1e-6), (1, 1e-4)):
                change = np.zeros_like(both)
                change[part * points : (part + 1) * points] = direction * size
                blocks.append(
                    (self._stresses(both + change) - self._stresses(both - change)) / (2.0 * size)
                )
            for row in range(2):
                t1, t2 = (b.imag if row else b.real for b in blocks)
                right = np.concatenate(
                    [
                        t1[:points, None] * strain[:points] + t2[:points, None] * strain[points:],
                        t1[points:, None] * strain[:points] + t2[points:, None] * strain[points:],
                    ]
                )
                out[:, row, :, column] = self.back @ right
        return out.reshape(2 * modes, 2 * modes)

    def energy(self, state: Array) -> float:
        q = state[: 2 * self.modes].reshape(self.modes, 2)
        both = self._strains(state[: 2 * self.modes])
        u, v = both[: self.points], both[self.points :]
        g2 = np.abs(u) ** 2
        kappa = (np.conj(u) * v).imag / g2**self.power
        stored = (
            0.5 * self.wa @ (np.sqrt(g2) - 1.0) ** 2
            + 0.5 * self.wb @ kappa**2
            + self.pull @ q[:, 1]
        )
        return float(stored + 0.5 * state[2 * self.modes :] @ state[2 * self.modes :])

    def _strains(self, q: Array) -> NDArray[np.complex128]:
        """r' at all points, then r''."""
        return np.asarray((self.strain @ q.reshape(self.modes, 2)).view(np.complex128)[:, 0])

    def _stresses(self, both: NDArray[np.complex128]) -> NDArray[np.complex128]:
        """Derivatives of the weighted strain energy with respect to r' and r''."""
        points, power = self.points, self.power
        u, v = both[:points], both[points:]
        g2 = u.real * u.real + u.imag * u.imag
        kappa = (u.real * v.imag - u.imag * v.real) / g2**power
        moment = self.wb * kappa / g2**power
        out = np.empty_like(both)
        out[:points] = (
            self.wa * (1.0 - 1.0 / np.sqrt(g2)) - 2.0 * power * self.wb * kappa**2 / g2
        ) * u - 1j * moment * v
        out[points:] = 1j * moment * u
        return out


def _jacobi(x: Array, modes: int, length: float, derivative: int) -> Array:
    """Values of the derivative with respect to s of P_k^(0,2)(x), x = 2 s/L - 1."""
    order, factor = np.arange(modes)[None, :], np.ones((1, modes))
    for i in range(derivative):
        factor = factor * 0.5 * (2.0 / length) * (order + 3.0 + i)
    lowered = np.maximum(order - derivative, 0)
    return np.where(
        order >= derivative,
        factor * eval_jacobi(lowered, derivative, 2 + derivative, x[:, None]),
        0.0,
    )


class _Gauss:
    """Integrates q_tt = f(q) by Gauss collocation (order 2 stages), simplified Newton.

    Q_i = q + c_i h v + h^2 sum_j (A A)_ij f(Q_j); source: Hairer, Lubich, Wanner, Geometric
    Numerical Integration, II.1.3.
    """

    def __init__(
        self,
        acceleration: Callable[[Array], Array],
        stiffness: Callable[[Array], Array],
        step: float,
        stages: int = 6,
    ):
        self.acceleration, self.stiffness, self.step = acceleration, stiffness, step
        self.c = 0.5 * (roots_legendre(stages)[0] + 1.0)
        self.b = 0.5 * roots_legendre(stages)[1]
        powers = np.arange(1.0, stages + 1.0)
        self.a = (self.c[:, None] ** powers / powers) @ np.linalg.inv(
            self.c[:, None] ** (powers - 1.0)
        )
        square = self.a @ self.a
        self.inverse = np.linalg.inv(square)
        values, vectors = np.linalg.eig(square)
        keep = values.imag >= 0.0
        self.left = np.linalg.inv(vectors)[keep]
        self.lift = vectors[:, keep] * np.where(values[keep].imag > 0.0, 2.0, 1.0)
        self.chosen = values[keep]
        self.last: tuple[float, list[NDArray[np.complex128]]] | None = None
        """Step for which the tangents are inverted, and their inverses."""

    def states(self, start: Array, times: Array) -> Array:
        q, v = start[0].copy(), start[1].copy()
        now, out = 0.0, []
        for target in times:
            number = max(1, int(np.ceil((target - now) / self.step - 1e-9)))
            h = (target - now) / number
            for _ in range(number):
                q, v = self._advance(q, v, h)
            now = float(target)
            out.append(np.concatenate([q, v]))
        return np.array(out)

    def _advance(self, q: Array, v: Array, h: float) -> tuple[Array, Array]:
        """Advance one step: with the last tangent, else with a new one, else as two halves."""
        if self.last is not None and self.last[0] == h:
            done = self._newton(q, v, h, self.last[1])
            if done:
                if done[2] > 10:
                    self.last = None
                return done[0], done[1]
        tangent = self.stiffness(q + 0.5 * h * v)
        inverses = [np.linalg.inv(np.eye(q.size) + h * h * x * tangent) for x in self.chosen]
        self.last = h, inverses
        done = self._newton(q, v, h, inverses)
        if done:
            return done[0], done[1]
        if h < 1e-4 * self.step:
            raise RuntimeError("Newton's method did not converge")
        return self._advance(*self._advance(q, v, 0.5 * h), 0.5 * h)

    def _newton(
        self, q: Array, v: Array, h: float, inverses: list[NDArray[np.complex128]]
    ) -> tuple[Array, Array, int] | None:
        """State at the end of a step, and the number of iterations; None if they do not
        converge.
        """
        base = q + h * self.c[:, None] * v
        stage, last = base.copy(), np.inf
        for iteration in range(30):
            force = np.array([self.acceleration(x) for x in stage])
            residual = self.left @ (self.inverse @ (base - stage) + h * h * force)
            change = (
                self.lift
                @ np.array(
                    [s @ (x * r) for s, x, r in zip(inverses, self.chosen, residual, strict=True)]
                )
            ).real
            stage += change
            norm = float(np.abs(change).max())
            if norm < 3e-15 or (norm < 1e-11 and norm > 0.5 * last):
                scaled = self.inverse @ (stage - base)
                return q + h * v + (self.b @ self.a) @ scaled, v + (self.b @ scaled) / h, iteration
            if not norm < 1e3 or (iteration > 5 and norm > last):
                return None
            last = norm
        return None
