"""Independent reference solutions for beams at rest and small vibrations, with NumPy and SciPy
alone.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import elliprd, elliprf, expit

Array = NDArray[np.float64]


def _elastica(logit: float) -> tuple[float, float, float, float]:
    """Return sqrt(P L^2/EI), x/L, deflection/L and the tip angle, for tip angle (pi/2)
    expit(logit).
    """
    angle, rest = 0.5 * np.pi * expit(logit), 0.5 * np.pi * expit(-logit)
    sine, m1 = (
        np.cos(rest),
        np.sin(0.5 * rest) ** 2,
    )  # sin(angle) and 1 - m, with m = (1 + sin(angle))/2
    m, s2, c2 = 1.0 - m1, sine / (sine + m1), m1 / (sine + m1)
    delta = c2 + m1 * s2
    root = float(np.sqrt(s2) * elliprf(c2, delta, 1.0))  # K(m) - F(phi|m)
    second = (
        root - m / 3.0 * s2**1.5 * elliprd(c2, delta, 1.0) - m * np.sqrt(s2 / (1.0 + sine))
    )  # E(m) - E(phi|m)
    return root, float(np.sqrt(2.0 * sine) / root), float(1.0 - 2.0 * second / root), float(angle)


def elastica_tip(load: float) -> tuple[float, float, float]:
    """Return tip (x/L, y/L, angle in rad) of an inextensible cantilever with a dead transverse end
    load.

    Clamped along +x at the origin; load = P L^2/(E I) >= 0 acts along -y, so y and the angle are
    negative. Solves E I theta'' = P cos(theta), theta(0) = 0, theta'(L) = 0 by elliptic integrals
    (Carlson forms): with m = (1 + sin a)/2, sin(phi) = 1/sqrt(2 m), a the tip angle: sqrt(load) =
    K(m) - F(phi|m), x/L = sqrt(2 sin(a)/load),
    |y|/L = 1 - 2 (E(m) - E(phi|m))/sqrt(load). Accurate to about 1e-14 for 1e-8 <= load <= 100.
    Source: Bisshopp and Drucker, Q. Appl. Math. 3 (1945) 272; values: Mattiasson, IJNME 17 (1981)
    145.
    """
    if load < 0.0:
        raise ValueError("load must not be negative")
    if load == 0.0:
        return 1.0, 0.0, 0.0
    target = float(np.sqrt(load))
    logit = float(
        brentq(
            lambda u: float(np.log(_elastica(u)[0] / target)),
            -60.0,
            60.0,
            xtol=1e-15,
            rtol=1e-15,
            maxiter=500,
        )
    )
    _, x, y, angle = _elastica(logit)
    return x, -y, -angle


def elastica_end_moment(moment: float) -> tuple[float, float, float]:
    """Return tip (x/L, y/L, angle in rad) of a cantilever along +x bent by an end moment; moment =
    M L/(E I).

    Exact circular arc of curvature M/(E I): x/L = sin(m)/m, y/L = (1 - cos m)/m, angle = m
    (anticlockwise positive).
    """
    return (
        float(np.sinc(moment / np.pi)),
        float(np.sin(0.5 * moment) * np.sinc(0.5 * moment / np.pi)),
        float(moment),
    )


def _bisect(function: Callable[[float], float], low: float, high: float) -> float:
    """Bisect a sign change down to neighbouring floating-point numbers."""
    start = function(low)
    while True:
        middle = 0.5 * (low + high)
        if middle <= low or middle >= high:
            return middle
        if (function(middle) > 0.0) == (start > 0.0):
            low = middle
        else:
            high = middle


def frequencies(kind: str, count: int) -> Array:
    """Return the first positive roots beta_k L of an Euler-Bernoulli beam; omega_k = (beta_k L)^2
    sqrt(E I/(rho A L^4)).

    Dimensionless. Kinds: "simply-supported" sin x = 0; "cantilever" cos x cosh x = -1;
    "clamped-clamped" and "free-free" cos x cosh x = 1 (rigid modes left out); "clamped-pinned" (=
    pinned-free) tan x = tanh x. Bisection to rounding. Source: Blevins, Formulas for Natural
    Frequency and Mode Shape (1979), table 8-1.
    """
    pi = np.pi
    if kind == "simply-supported":
        return pi * np.arange(1.0, count + 1.0)
    if kind == "cantilever":
        brackets = [((k - 1.0) * pi, k * pi) for k in range(1, count + 1)]
        return np.array(
            [_bisect(lambda x: float(np.cos(x) + 1.0 / np.cosh(x)), *b) for b in brackets]
        )
    if kind in ("clamped-clamped", "free-free"):
        brackets = [(k * pi, (k + 1.0) * pi) for k in range(1, count + 1)]
        return np.array(
            [_bisect(lambda x: float(np.cos(x) - 1.0 / np.cosh(x)), *b) for b in brackets]
        )
    if kind == "clamped-pinned":
        brackets = [(k * pi, (k + 0.5) * pi) for k in range(1, count + 1)]
        return np.array(
            [_bisect(lambda x: float(np.sin(x) - np.cos(x) * np.tanh(x)), *b) for b in brackets]
        )
    raise ValueError(f"unknown kind: {kind}")


STATIC: dict[str, float] = {
    "simply-supported mid load": 1.0 / 48.0,
    "simply-supported uniform": 5.0 / 384.0,
    "cantilever end load": 1.0 / 3.0,
    "cantilever uniform": 1.0 / 8.0,
    "cantilever end moment": 1.0 / 2.0,
    "clamped-clamped mid load": 1.0 / 192.0,
    "clamped-clamped uniform": 1.0 / 384.0,
}
"""Deflection (mid-span, or tip of a cantilever) over P L³/EI, w L⁴/EI or M L²/EI. Timoshenko,
Strength of Materials I.
"""
