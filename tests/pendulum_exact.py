"""A uniform bar that swings about one end, exactly: angle from the vertical by Jacobi's elliptic functions, moments by quadrature."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ellipj, ellipk

import varimech as vm

G, START = 9.81, 0.5236


def pendulum(spread: object = None) -> vm.Mechanism:
    """The pendulum: m = 3 kg, L = 1 m, from rest 0.5236 rad from the vertical."""
    m = vm.Mechanism("pendulum", gravity=(0, -G))
    L = m.parameter("L", 1.0, unit="m", spread=spread)
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=L, mass=3.0)
    m.revolute("O")
    m.start(angle={"rod": START - math.pi / 2})
    return m


ANGLE = {"angle": vm.final(lambda s: s.angle("rod") + math.pi / 2, unit="rad")}


def angle(t: np.ndarray, L: np.ndarray) -> np.ndarray:
    """(length, time): sin(θ/2) = k sn(K − ωt), with ω² = 3g/2L and k = sin(θ₀/2)."""
    k = math.sin(START / 2)
    ω = np.sqrt(1.5 * G / np.asarray(L))[:, None]
    return 2 * np.arcsin(k * ellipj(ellipk(k**2) - ω * t, k**2)[0])


def exact_moments(t: np.ndarray, mean: float, σ: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of the angle over time for a normal length, by a Gauss–Hermite rule."""
    z, w = np.polynomial.hermite_e.hermegauss(60)
    θ = angle(t, mean + σ * z)
    μ = w @ θ / w.sum()
    return μ, w @ (θ - μ) ** 2 / w.sum()
