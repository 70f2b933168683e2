"""Linear equations of a bicycle in closed form, the reference of the benchmark:

    M q̈ + v C₁ q̇ + (g K₀ + v² K₂) q = 0,     q = (lean φ, steer δ)

All lengths are measured from the rear contact, x forwards, z downwards. Functions take complex numbers,
so that complex steps differentiate them.

J. P. Meijaard, J. M. Papadopoulos, A. Ruina and A. L. Schwab, Proc. R. Soc. A 463 (2007) 1955–1982,
appendix A and table 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

VALUES: dict[str, float] = {
    "w": 1.02,
    "c": 0.08,
    "tilt": np.pi / 10,
    "g": 9.81,
    "r_R": 0.3,
    "m_R": 2.0,
    "I_Rxx": 0.0603,
    "I_Ryy": 0.12,
    "x_B": 0.3,
    "z_B": -0.9,
    "m_B": 85.0,
    "I_Bxx": 9.2,
    "I_Bxz": 2.4,
    "I_Byy": 11.0,
    "I_Bzz": 2.8,
    "x_H": 0.9,
    "z_H": -0.7,
    "m_H": 4.0,
    "I_Hxx": 0.05892,
    "I_Hxz": -0.00756,
    "I_Hyy": 0.06,
    "I_Hzz": 0.00708,
    "r_F": 0.35,
    "m_F": 3.0,
    "I_Fxx": 0.1405,
    "I_Fyy": 0.28,
}
"""Wheel base w, trail c, tilt of the steer axis; rear wheel R, rear body with rider B, front frame H,
front wheel F (SI units)."""
COMPLEX_STEP = 1e-30


@dataclass(frozen=True)
class Bicycle:
    """The four matrices and g."""

    M: np.ndarray
    C1: np.ndarray
    K0: np.ndarray
    K2: np.ndarray
    g: complex

    def state_matrix(self, v: complex) -> np.ndarray:
        """System matrix A of (φ, δ, φ̇, δ̇) at a speed (m/s)."""
        K = self.g * self.K0 + v**2 * self.K2
        lower = -np.linalg.solve(self.M, np.hstack([K, v * self.C1]))
        return np.vstack([np.eye(2, 4, 2), lower])

    def polynomial(self, v: complex) -> list[complex]:
        """Coefficients of det(M s² + v C₁ s + g K₀ + v² K₂), s⁴ first."""
        (M, C), K = (self.M, v * self.C1), self.g * self.K0 + v**2 * self.K2

        def mixed(X: np.ndarray, Y: np.ndarray) -> complex:
            return complex(
                X[0, 0] * Y[1, 1] + Y[0, 0] * X[1, 1] - X[0, 1] * Y[1, 0] - Y[0, 1] * X[1, 0]
            )

        return [
            mixed(M, M) / 2,
            mixed(M, C),
            mixed(M, K) + mixed(C, C) / 2,
            mixed(C, K),
            mixed(K, K) / 2,
        ]

    def capsize_condition(self, v: complex) -> complex:
        """Determinant of the stiffness, which vanishes where a real eigenvalue vanishes."""
        return self.polynomial(v)[4]

    def weave_condition(self, v: complex) -> complex:
        """Hurwitz determinant over v², which vanishes where two eigenvalues are imaginary."""
        a, b, c, d, e = self.polynomial(v)
        return (b * c * d - a * d**2 - b**2 * e) / v**2


def matrices(values: Mapping[str, complex]) -> Bicycle:
    """Matrices of a bicycle with some parameter values replaced; the others are those of the
    benchmark.
    """
    p = {**VALUES, **values}
    w, c, λ = p["w"], p["c"], p["tilt"]
    r_R, m_R, x_B, z_B, m_B = p["r_R"], p["m_R"], p["x_B"], p["z_B"], p["m_B"]
    x_H, z_H, m_H, r_F, m_F = p["x_H"], p["z_H"], p["m_H"], p["r_F"], p["m_F"]
    sin, cos = np.sin(λ), np.cos(λ)
    # the whole bicycle
    m_T = m_R + m_B + m_H + m_F
    x_T = (x_B * m_B + x_H * m_H + w * m_F) / m_T
    z_T = (-r_R * m_R + z_B * m_B + z_H * m_H - r_F * m_F) / m_T
    I_Txx = p["I_Rxx"] + p["I_Bxx"] + p["I_Hxx"] + p["I_Fxx"]
    I_Txx += m_R * r_R**2 + m_B * z_B**2 + m_H * z_H**2 + m_F * r_F**2
    I_Txz = p["I_Bxz"] + p["I_Hxz"] - m_B * x_B * z_B - m_H * x_H * z_H + m_F * w * r_F
    I_Tzz = p["I_Rxx"] + p["I_Bzz"] + p["I_Hzz"] + p["I_Fxx"]
    I_Tzz += m_B * x_B**2 + m_H * x_H**2 + m_F * w**2
    # the front assembly A, about the steer axis
    m_A = m_H + m_F
    x_A, z_A = (x_H * m_H + w * m_F) / m_A, (z_H * m_H - r_F * m_F) / m_A
    I_Axx = p["I_Hxx"] + p["I_Fxx"] + m_H * (z_H - z_A) ** 2 + m_F * (r_F + z_A) ** 2
    I_Axz = p["I_Hxz"] - m_H * (x_H - x_A) * (z_H - z_A) + m_F * (w - x_A) * (r_F + z_A)
    I_Azz = p["I_Hzz"] + p["I_Fxx"] + m_H * (x_H - x_A) ** 2 + m_F * (w - x_A) ** 2
    u_A = (x_A - w - c) * cos - z_A * sin
    I_Aλλ = m_A * u_A**2 + I_Axx * sin**2 + 2 * I_Axz * sin * cos + I_Azz * cos**2
    I_Aλx = -m_A * u_A * z_A + I_Axx * sin + I_Axz * cos
    I_Aλz = m_A * u_A * x_A + I_Axz * sin + I_Azz * cos
    # trail and gyroscopic coefficients
    μ = c / w * cos
    S_R, S_F = p["I_Ryy"] / r_R, p["I_Fyy"] / r_F
    S_T, S_A = S_R + S_F, m_A * u_A + μ * m_T * x_T
    M_φδ, C_δφ = I_Aλx + μ * I_Txz, -(μ * S_T + S_F * cos)
    return Bicycle(
        np.array([[I_Txx, M_φδ], [M_φδ, I_Aλλ + 2 * μ * I_Aλz + μ**2 * I_Tzz]]),
        np.array(
            [
                [0, -C_δφ + I_Txz * cos / w - μ * m_T * z_T],
                [C_δφ, I_Aλz * cos / w + μ * (S_A + I_Tzz * cos / w)],
            ]
        ),
        np.array([[m_T * z_T, -S_A], [-S_A, -S_A * sin]]),
        np.array([[0, (S_T - m_T * z_T) * cos / w], [0, (S_A + S_F * sin) * cos / w]]),
        p["g"],
    )


def critical_speed(kind: str) -> float:
    """Weave or capsize speed (m/s), from the coefficients of the characteristic polynomial."""
    from scipy.optimize import brentq

    near = {"weave": (4.0, 5.0), "capsize": (5.5, 6.5)}[kind]
    return float(brentq(lambda v: _condition(kind, v, {}).real, *near, xtol=1e-15, rtol=1e-15))


def critical_speed_derivative(kind: str, parameter: str) -> float:
    """∂v/∂ρ = −F_ρ / F_v for the condition F(v, ρ) = 0, both by complex steps."""
    v, h = critical_speed(kind), COMPLEX_STEP
    of_parameter = _condition(kind, v, {parameter: VALUES[parameter] + 1j * h}).imag / h
    return -of_parameter / (_condition(kind, v + 1j * h, {}).imag / h)


def _condition(kind: str, v: complex, values: Mapping[str, complex]) -> complex:
    bicycle = matrices(values)
    return bicycle.weave_condition(v) if kind == "weave" else bicycle.capsize_condition(v)
