"""Independent reference of a planar slider-crank under gravity: one equation for the crank angle,
and the reaction by a balance of moments.

Crank (m₁, L₁) and rod (m₂, L₂) are uniform bars, the slider (m₃) is guided along x through the
crank's pivot. With the crank at θ and the rod at −β from x:  L₂ sin β = L₁ sin θ,  x = L₁ cos θ +
L₂ cos β, and Lagrange's equation is

    I θ'' + ½ I_θ θ'² + V_θ = 0,    I = m₁L₁²/3 + m₂ |∂r_G/∂θ|² + m₂L₂²β_θ²/12 + m₃ x_θ²,    V = ½ (m₁ + m₂) g L₁ sin θ.

Moments of rod and slider about the pin between crank and rod give the force N of the ground on the
slider:

    (N − m₃g) L₂ cos β − ½ m₂ g L₂ cos β = m₃ x'' L₁ sin θ + m₂ (r × r_G'')_z − m₂L₂²/12 β''.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

L1, L2, M2, M3, G, START = 1.414, 2.0, 2.0, 1.0, 9.81, 0.7854


def _kinematics(θ: np.ndarray) -> tuple[np.ndarray, ...]:
    """cos β, and the first and second derivatives of β, x and r_G with respect to θ."""
    sβ = L1 * np.sin(θ) / L2
    cβ = np.sqrt(1 - sβ**2)
    β1 = L1 * np.cos(θ) / (L2 * cβ)
    β2 = (-L1 * np.sin(θ) / L2 + sβ * β1**2) / cβ
    x1 = -L1 * np.sin(θ) - L2 * sβ * β1
    x2 = -L1 * np.cos(θ) - L2 * (cβ * β1**2 + sβ * β2)
    # the middle of the rod lies halfway between pin and slider
    G1 = np.array([(-L1 * np.sin(θ) + x1) / 2, L1 * np.cos(θ) / 2])
    G2 = np.array([(-L1 * np.cos(θ) + x2) / 2, -L1 * np.sin(θ) / 2])
    return cβ, β1, β2, x1, x2, G1, G2


def _acceleration(θ: np.ndarray, speed: np.ndarray, m1: float) -> np.ndarray:
    _, β1, β2, x1, x2, G1, G2 = _kinematics(θ)
    inertia = m1 * L1**2 / 3 + M2 * (G1**2).sum(axis=0) + M2 * L2**2 / 12 * β1**2 + M3 * x1**2
    half_slope = M2 * (G1 * G2).sum(axis=0) + M2 * L2**2 / 12 * β1 * β2 + M3 * x1 * x2
    return -(half_slope * speed**2 + (m1 + M2) * G * L1 * np.cos(θ) / 2) / inertia


def reaction(times: np.ndarray, m1: float) -> np.ndarray:
    """N (N) at given times, from rest."""
    motion = solve_ivp(
        lambda t, y: [y[1], _acceleration(y[0], y[1], m1)],
        (0.0, times[-1]),
        [START, 0.0],
        method="DOP853",
        t_eval=times,
        rtol=1e-12,
        atol=1e-12,
    )
    θ, speed = motion.y
    cβ, β1, β2, x1, x2, G1, G2 = _kinematics(θ)
    a = _acceleration(θ, speed, m1)
    x_, β_, (Gx_, Gy_) = x1 * a + x2 * speed**2, β1 * a + β2 * speed**2, G1 * a + G2 * speed**2
    arm, height = L2 * cβ, L1 * np.sin(θ)
    turned = M3 * x_ * height + M2 * (arm / 2 * Gy_ + height / 2 * Gx_) - M2 * L2**2 / 12 * β_
    return M3 * G + M2 * G / 2 + turned / arm


def exact_moments(
    times: np.ndarray, mean: float, σ: float, nodes: int = 12
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of N for a normal mass of the crank, by a Gauss–Hermite rule."""
    z, w = np.polynomial.hermite_e.hermegauss(nodes)
    N = np.array([reaction(times, mean + σ * x) for x in z])
    μ = w @ N / w.sum()
    return μ, np.sqrt(w @ (N - μ) ** 2 / w.sum())
