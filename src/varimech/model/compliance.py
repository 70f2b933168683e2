"""Compliant contact: the normal force as a function of penetration δ = −g and its rate, for δ > 0.

    hunt-crossley   F = K δⁿ (1 + D δ̇)          D: damping factor (s/m)
    kelvin-voigt    F = K δⁿ + C δ̇              C: damping (N·s/m)

Surfaces do not pull: F ≥ 0. K. H. Hunt and F. R. E. Crossley, J. Appl. Mech. 42 (1975) 440–445.
"""

from __future__ import annotations

import casadi as ca

from ..core.symbols import SX

LAWS = ("hunt-crossley", "kelvin-voigt")


def normal_force(law: str, gap: SX, rate: SX, stiffness: SX, exponent: SX, damping: SX) -> SX:
    """F for a gap and its rate, in N."""
    δ, δ̇ = ca.fmax(-gap, 0), -rate
    elastic = stiffness * δ**exponent
    if law == "hunt-crossley":
        return ca.fmax(elastic * (1 + damping * δ̇), 0)
    return ca.fmax(elastic + ca.if_else(gap < 0, damping * δ̇, 0), 0)
