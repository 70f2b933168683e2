"""Independent reference of the benchmark `chain` in the angles of its bars: its motion and
derivatives with respect to two parameters by complex steps.

Nothing here comes from the package under test. A point of bar j has the velocity Σ l_i θ̇_i n_i
over the bars i before it and its distance times θ̇_j n_j, where n_i is normal to bar i. So the
kinetic energy is ½ Σ a_ij cos(θ_i − θ_j) θ̇_i θ̇_j and the potential energy Σ g l_i (m_i/2 + M_i)
sin θ_i; Lagrange's equations of both are stated in the benchmark. To keep complex steps valid,
nothing below uses conjugates, comparisons or absolute values.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

Array = np.ndarray
STEP = 1e-40
G = 9.81


class Chain:
    """N bars for given lengths and masses (complex)."""

    def __init__(self, lengths: Array, masses: Array):
        self.lengths = lengths
        below = np.cumsum(masses[::-1])[::-1] - masses
        half = masses / 2 + below
        later = np.maximum.outer(np.arange(masses.size), np.arange(masses.size))
        self.a = np.outer(lengths, lengths) * half[later]
        np.fill_diagonal(self.a, lengths**2 * (masses / 3 + below))
        self.weight = G * lengths * half

    def rates(self, y: Array) -> Array:
        """Rates of the angles, of their rates and of ψ."""
        θ, ω = y[:-1].reshape(2, -1)
        c, s = np.cos(θ), np.sin(θ)
        cosines = np.outer(c, c) + np.outer(s, s)
        sines = np.outer(s, c) - np.outer(c, s)
        α = np.linalg.solve(self.a * cosines, -(self.a * sines) @ ω**2 - self.weight * c)
        end = (self.lengths * s) @ ω, (self.lengths * c) @ ω
        return np.concatenate([ω, α, [end[0] ** 2 + end[1] ** 2]])

    def run(self, duration: float, tolerance: float) -> tuple[Array, complex]:
        """Positions of the ends of all bars, (bar, 2), and ψ at the end."""
        N = self.lengths.size
        start = np.concatenate(
            [np.where(np.arange(1, N + 1) % 2, -0.5, -0.1), np.zeros(N + 1)]
        ).astype(complex)
        solution = solve_ivp(
            lambda t, y: self.rates(y),
            (0.0, duration),
            start,
            method="DOP853",
            rtol=tolerance,
            atol=tolerance,
        )
        assert solution.success
        θ = solution.y[:N, -1]
        arms = self.lengths[:, None] * np.column_stack([np.cos(θ), np.sin(θ)])
        return np.cumsum(arms, axis=0), complex(solution.y[-1, -1])


def chain(bars: int, *, m_last: complex = 1.0, L_first: complex = 1.0) -> Chain:
    lengths, masses = np.ones((2, bars), complex)
    lengths[0], masses[-1] = L_first, m_last
    return Chain(lengths, masses)


def places(bars: int, duration: float, tolerance: float = 1e-13) -> Array:
    """Positions of P1 … PN at the end, (bar, 2)."""
    return np.asarray(chain(bars).run(duration, tolerance)[0].real)


def objective(
    bars: int, duration: float, tolerance: float = 1e-13
) -> tuple[float, dict[str, float]]:
    """ψ and its derivatives."""
    results = {
        name: chain(bars, **{name: 1 + 1j * STEP}).run(duration, tolerance)[1]
        for name in ("m_last", "L_first")
    }
    return results["m_last"].real, {name: ψ.imag / STEP for name, ψ in results.items()}
