"""Motions in closed form, and by equations of motion written by hand, as functions of complex
numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

Values = dict[str, Any]
G = 9.81
TINY = 1e-30
"""Imaginary part of a parameter: its square is negligible relative to 1, so derivatives have no
truncation error.
"""
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)


def gradient(psi: Callable[[Values], Any], values: Values, wrt: Sequence[str]) -> np.ndarray:
    """Derivatives by complex steps."""
    return np.array(
        [complex(psi({**values, name: values[name] + TINY * 1j})).imag / TINY for name in wrt]
    )


def integrated(
    f: Callable[[np.ndarray], Any], T: float, centre: float, width: float, panels: int = 0
) -> Any:
    """∫ f dt from 0 to T by Gauss quadrature on intervals that are short near a centre."""
    near = centre + width * np.sinh(np.linspace(-12, 12, 400))  # from 0.06 widths to 8e4 widths
    times = np.unique(
        np.concatenate([np.linspace(0, T, 200 + panels), near[(near > 0) & (near < T)]])
    )
    half = np.diff(times) / 2
    return (f((times[:-1] + half)[:, None] + half[:, None] * NODES) * WEIGHTS * half[:, None]).sum()


def oscillation(
    v: Values,
    T: float,
    force: Callable[[np.ndarray], Any],
    centre: float,
    width: float,
    panels: int = 0,
) -> Any:
    """x(T) of x″ + k x = f(t): x₀ cos ωT + v₀/ω sin ωT + ∫ sin(ω(T − t)) f/ω dt."""
    ω = np.sqrt(v["k"])
    forced = integrated(lambda t: np.sin(ω * (T - t)) * force(t), T, centre, width, panels)
    return v["x"] * np.cos(ω * T) + (v["v"] * np.sin(ω * T) + forced) / ω


def moved_mass(v: Values, T: float) -> Any:
    """∫ exp(−((t − c)/w)²)/w x(t) dt of a free oscillation."""
    ω = np.sqrt(v["k"])
    return integrated(
        lambda t: np.exp(-(((t - v["c"]) / v["w"]) ** 2)) / v["w"] * v["x"] * np.cos(ω * t),
        T,
        v["c"],
        v["w"],
    )


def passing(v: Values, T: float) -> Any:
    """x(T) of x″ = p exp(−((x − c)/w)²), with steps that are short where the force acts."""
    length = 0.05 * abs(v["w"] / v["v"])

    def rates(t: float, y: np.ndarray) -> list[Any]:
        return [y[1], v["p"] * np.exp(-(((y[0] - v["c"]) / v["w"]) ** 2))]

    return _solved(rates, [v["x"], v["v"]], T, max_step=min(float(length), T))[0]


def bars(v: Values, count: int, T: float) -> Any:
    """x of the end of a chain of uniform bars:  M_ij = m̂_ij L_i L_j cos(θ_i − θ_j), with m̂ the
    mass beyond both joints.
    """
    L, m = (np.array([v[f"{key}{k}"] for k in range(count)]) for key in "Lm")
    beyond = [m[k + 1 :].sum() for k in range(count)]
    mass = np.array(
        [
            [(m[i] / 3 if i == j else m[max(i, j)] / 2) + beyond[max(i, j)] for j in range(count)] for i in range(count)
        ]
    )  # fmt: skip
    mass = mass * np.outer(L, L)
    weight = np.array([(m[k] / 2 + beyond[k]) * L[k] * G for k in range(count)])

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        θ, ω = y[:count], y[count:]
        apart = θ[:, None] - θ[None, :]
        return np.concatenate(
            [
                ω,
                np.linalg.solve(
                    mass * np.cos(apart), -(mass * np.sin(apart)) @ ω**2 - weight * np.cos(θ)
                ),
            ]
        )

    y = _solved(rates, [*(v[f"a{k}"] for k in range(count)), *([0.0] * count)], T)
    return (L * np.cos(y[:count])).sum()


def spinning(v: Values, T: float) -> Any:
    """y of a point on the first axis of a free body: Euler's equations, and R′ = R ω×."""
    I = np.array([v[f"I{k}"] for k in range(3)])

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        R, ω = y[:9].reshape(3, 3), y[9:]
        cross = np.array([[0, -ω[2], ω[1]], [ω[2], 0, -ω[0]], [-ω[1], ω[0], 0]])
        return np.concatenate([(R @ cross).ravel(), -np.cross(ω, I * ω) / I])

    return _solved(rates, [*np.eye(3).ravel(), *(v[f"w{k}"] for k in range(3))], T)[3]


def parallel_cranks(v: Values, T: float, axis: int, force: bool) -> Any:
    """Three cranks and a plate that they keep level: θ̈ = −g cos θ (3 c/2 + p)/((c + p) L); the
    reaction of the ground is the rate of momentum of all masses minus the force of gravity.
    """
    c, p, L = v["crank"], v["plate"], v["L"]

    def turning(θ: Any) -> Any:
        return -G * np.cos(θ) * (1.5 * c + p) / ((c + p) * L)

    θ, ω = _solved(lambda t, y: [y[1], turning(y[0])], [v["a"], 0.0], T)
    if not force:
        return L * (np.cos(θ), np.sin(θ))[axis]
    along = (-np.sin(θ), np.cos(θ))[axis] * turning(θ) - (np.cos(θ), np.sin(θ))[axis] * ω**2
    return (1.5 * c + p) * L * along + (0.0, (3 * c + p) * G)[axis]


def _solved(
    rates: Callable[[float, np.ndarray], Any], y: Sequence[Any], T: float, max_step: float = np.inf
) -> np.ndarray:
    solution = solve_ivp(
        rates,
        (0, T),
        np.array(y, dtype=complex),
        method="DOP853",
        rtol=1e-13,
        atol=1e-14,
        max_step=max_step,
    )
    assert solution.success
    return np.asarray(solution.y[:, -1])
