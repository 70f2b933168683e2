"""Smooth friction: the ratio of friction force to normal force as a function of the slip velocity
s.

    tanh          μ tanh(s / v)
    stribeck      (μ + (μ₀ − μ) exp(−(s/v)²)) tanh(10 s / v)
    brown-mcphee  μ tanh(4 s/v) + (μ₀ − μ) (s/v) / ((s/v)²/4 + 3/4)²

v is the velocity at which sliding begins: the peak of the law (Brown and McPhee, Stribeck). The
static coefficient μ₀ and the sliding coefficient μ may be equal. These laws do not stick: under a
load a contact creeps. In space the force is opposite to the slip, with the coefficient of its
magnitude.

P. Brown and J. McPhee, J. Comput. Nonlinear Dyn. 11 (2016) 054502.
"""

from __future__ import annotations

import casadi as ca

from ..core.symbols import SX

COULOMB = "coulomb"
LAWS = (COULOMB, "tanh", "stribeck", "brown-mcphee")
"""Laws that users name; the first one sticks and slides, with events."""


def coefficient(law: str, slip: SX, sliding: SX, static: SX, velocity: SX) -> SX:
    """Ratio of friction to normal force, positive along the slip."""
    x = slip / velocity
    if law == "tanh":
        return sliding * ca.tanh(x)
    if law == "stribeck":
        return (sliding + (static - sliding) * ca.exp(-(x**2))) * ca.tanh(10 * x)
    return sliding * ca.tanh(4 * x) + (static - sliding) * x / (x**2 / 4 + 0.75) ** 2


def resistance(law: str, slip: SX, sliding: SX, static: SX, velocity: SX) -> SX:
    """Ratio of friction to normal force for a slip in the plane, or for its components in space."""
    if slip.numel() == 1:
        return coefficient(law, slip, sliding, static, velocity)
    # smooth at rest: a millionth of the velocity at which sliding begins
    size = ca.sqrt(ca.sumsqr(slip) + (1e-6 * velocity) ** 2)
    return coefficient(law, size, sliding, static, velocity) * slip / size
