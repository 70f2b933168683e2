"""Compliant contact: the normal force as a function of penetration δ = −g and its rate, for δ > 0.

    hunt-crossley         F = K δⁿ (1 + D δ̇)                       D: damping factor (s/m)
    lankarani-nikravesh   F = K δⁿ (1 + 3 (1 − e²)/4 · δ̇/δ̇⁻)       e: restitution; δ̇⁻: impact speed
    kelvin-voigt          F = K δⁿ + C δ̇                           C: damping (N·s/m)

Surfaces do not pull: F ≥ 0. δ̇⁻ is a state of the contact: it keeps its value until the surfaces touch
again, where an event resets it to δ̇ there, so that derivatives pass through it as through all states.

K. H. Hunt and F. R. E. Crossley, J. Appl. Mech. 42 (1975) 440–445; H. M. Lankarani and P. E.
Nikravesh, J. Mech. Des. 112 (1990) 369–376.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ..core.symbols import SX

HUNT_CROSSLEY, LANKARANI_NIKRAVESH = "hunt-crossley", "lankarani-nikravesh"
LAWS = (HUNT_CROSSLEY, "kelvin-voigt", LANKARANI_NIKRAVESH)
EXPONENTS = {LANKARANI_NIKRAVESH: 1.5}
"""Exponent n if not given: Hertz's for the law that was derived with it, 1 for the others."""
SMALLEST = 1e-300
"""Penetration (m) that replaces 0 for open surfaces where the exponent is a parameter: the
derivative δⁿ ln δ is zero there, but not a number for δ = 0. It is negligible beside any
penetration.
"""


@dataclass(frozen=True, eq=False)
class Compliance:
    """A contact law with its coefficients."""

    law: str
    stiffness: SX
    exponent: SX
    damping: SX
    """Damping coefficient D or C."""
    restitution: SX
    """Coefficient of restitution e of Lankarani and Nikravesh."""

    def normal_force(self, gap: SX, rate: SX, impact_speed: SX | None) -> SX:
        """Normal force F (N) for a gap and its rate; `impact_speed` is δ̇⁻ where the law uses it."""
        δ, δ̇ = ca.fmax(-gap, 0), -rate
        base = δ if self.exponent.is_constant() else δ + SMALLEST
        elastic = self.stiffness * base**self.exponent
        if self.law == HUNT_CROSSLEY:
            return elastic * ca.fmax(1 + self.damping * δ̇, 0)
        if impact_speed is not None:
            share = 0.75 * (1 - self.restitution**2)
            return elastic * ca.fmax(1 + share * δ̇ / impact_speed, 0)
        return ca.fmax(elastic + ca.if_else(gap < 0, self.damping * δ̇, 0), 0)
