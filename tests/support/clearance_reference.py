"""Independent reference of the benchmark `clearance-slider-crank` in the angles of crank and rod:
its impacts, and derivatives with respect to the clearance, the restitution and the crank's length
by complex steps.

Nothing here comes from the package under test. Without friction, the slider translates with the end
B of the rod, and does not turn. With the unit vectors e₁, e₂ along crank and rod, the mass of the
slider m, and a uniform crank and rod of lengths l and masses m₁, m₂,

    T = ½ a₁₁ θ̇₁² + a₁₂ cos(θ₁ − θ₂) θ̇₁ θ̇₂ + ½ a₂₂ θ̇₂²,
    a₁₁ = I₁ + m₁ l₁²/4 + (m₂ + m) l₁²,  a₁₂ = (m₂/2 + m) l₁ l₂,  a₂₂ = I₂ + m₂ l₂²/4 + m l₂².

An impact changes the velocities by M⁻¹ J P, J = ∂y_B/∂θ, so that ẏ_B is reversed by the restitution.
The first three impacts are on the side y_B = clearance; Newton's method finds the duration of each
flight. To keep complex steps valid, nothing below uses conjugates, comparisons or absolute values.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

Array = np.ndarray
STEP = 1e-40
G = 9.81
NOMINAL = {"c": 1e-3, "e": 0.4, "L_crank": 0.153}


class SliderCrank:
    """Crank, rod and slider for given parameters (complex)."""

    def __init__(self, c: complex, e: complex, L_crank: complex):
        self.c, self.e, self.l1, self.l2 = c, e, L_crank, 0.306
        m1, m2, m = 0.038, 0.038, 0.076
        self.a11 = 7.4e-5 + (m1 / 4 + m2 + m) * self.l1**2
        self.a12 = (m2 / 2 + m) * self.l1 * self.l2
        self.a22 = 5.9e-4 + (m2 / 4 + m) * self.l2**2
        self.w1 = G * self.l1 * (m1 / 2 + m2 + m)
        self.w2 = G * self.l2 * (m2 / 2 + m)

    def mass(self, θ: Array) -> Array:
        """Mass matrix."""
        b = self.a12 * np.cos(θ[0] - θ[1])
        return np.array([[self.a11, b], [b, self.a22]])

    def rates(self, y: Array) -> Array:
        """Rates of the angles and of their rates."""
        θ, ω = y[:2], y[2:]
        s = self.a12 * np.sin(θ[0] - θ[1])
        load = np.array(
            [
                -s * ω[1] ** 2 - self.w1 * np.cos(θ[0]),
                s * ω[0] ** 2 - self.w2 * np.cos(θ[1]),
            ]
        )
        return np.concatenate([ω, np.linalg.solve(self.mass(θ), load)])

    def slope(self, θ: Array) -> Array:
        """J = ∂y_B/∂θ."""
        return np.array([self.l1 * np.cos(θ[0]), self.l2 * np.cos(θ[1])])

    def height(self, θ: Array) -> complex:
        """y coordinate of B."""
        return self.l1 * np.sin(θ[0]) + self.l2 * np.sin(θ[1])

    def flight(self, y: Array, duration: complex) -> Array:
        """State after a (complex) duration without contact."""
        solution = solve_ivp(
            lambda s, z: duration * self.rates(z),
            (0.0, 1.0),
            y,
            method="DOP853",
            rtol=3e-14,
            atol=1e-15,
        )
        assert solution.success
        return np.asarray(solution.y[:, -1])

    def impact(self, y: Array, guess: float) -> tuple[complex, Array]:
        """Duration until y_B = c, and the state after the impact there."""
        duration: complex = guess
        for _ in range(6):
            end = self.flight(y, duration)
            duration -= (self.height(end[:2]) - self.c) / (self.slope(end[:2]) @ end[2:])
        end = self.flight(y, duration)
        J = self.slope(end[:2])
        through = np.linalg.solve(self.mass(end[:2]), J)
        jump = -(1 + self.e) * (J @ end[2:]) / (J @ through) * through
        return duration, np.concatenate([end[:2], end[2:] + jump])

    def run(self, duration: float) -> dict[str, complex]:
        """Times of the first three impacts, and B and the crank angle at the end."""
        y = np.array([0, 0, 150, -75], complex)
        times: list[complex] = []
        for guess in GUESSES:
            d, y = self.impact(y, guess)
            times.append(d + (times[-1] if times else 0))
        θ = self.flight(y, duration - times[-1])[:2]
        x = self.l1 * np.cos(θ[0]) + self.l2 * np.cos(θ[1])
        impacts = {f"t{k + 1}": t for k, t in enumerate(times)}
        return {**impacts, "x": x, "y": self.height(θ), "crank": θ[0]}


GUESSES = (2.7e-3, 2.9e-3, 1.86e-3)
"""Approximate durations (s) of the flights before the impacts."""


def reference(duration: float) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Values of the results, and their derivatives by parameter."""
    results = {
        name: SliderCrank(**{**NOMINAL, name: value + 1j * STEP}).run(duration)
        for name, value in NOMINAL.items()
    }
    values = {key: z.real for key, z in results["c"].items()}
    return values, {p: {key: z.imag / STEP for key, z in r.items()} for p, r in results.items()}
