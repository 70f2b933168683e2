"""Unilateral contact and dry friction: what an element states of them.

    contact    g(q, t) ≥ 0,  N ≥ 0,  g N = 0;   at an impact  ġ⁺ = −ε ġ⁻  (Newton)
    friction   sticking:  s = 0,  |T| ≤ μ₀ N;   sliding:  T = −μ N sign(s)

with the gap g, the normal force N, the restitution ε, the slip velocity s (linear in the
velocities) and the friction force T along s. Which of the cases holds is a *mode*, a number that
changes at events only. Modes are data of the equations, so that one program serves all cases:

    Φ = c g + (1 − c) y,     c = 1 closed, 0 open,

where the slack y is a coordinate of its own: an open contact holds it at 0 without any force. A
sticking contact holds  k s + (1 − k) ẏ = 0  likewise, k = 1 or 0; where it slides, its force has
the direction σ = ±1. At an impact other numbers take the place of c, k and σ, because a contact
may take part in it and be open afterwards.

A slip of several components (in space) sticks in all of them, |T| is a Euclidean norm (a cone, not a
pyramid), and where it slides its force is opposite to

    d = (m + r) / √(1 + |r|²),     r = (s − m (m·s)) x / (x² + ε²/16),   x = m·s + ε,

with a unit vector m near the direction of s as mode. ε is zero as long as friction slides, so d is
s / |s|; it is a small speed where sliding begins or ends: there d is m, follows the slip at a bounded
rate, and does not jump where s passes zero. In an impact the force
is  −μ (Λ m + c (s⁺ − m (m·s⁺))),  c = Λ / |s⁺|: Newton's linearisation of −μ Λ s⁺/|s⁺| about its
solution, so the impact stays linear, and derivatives know that the direction depends on parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca

from ..core.symbols import SX

CONTACT_MODES = ("closed", "impact", "bounce")
"""c; the same in an impact; and whether that has restitution."""
FRICTION_MODES = ("stick", "slip", "impact stick", "impact slip")
"""k, σ; and the same in an impact."""
SMALLEST = 1e-200
"""Keeps 0/0 out of functions whose value at zero does not matter."""
DIRECTION_MODES = ("slow", "impact ratio")
"""ε and c, of a slip with several components."""


def friction_modes(components: int) -> tuple[str, ...]:
    """Names of the modes of friction: directions have as many numbers as the slip."""
    if components == 1:
        return FRICTION_MODES
    k, m, k_impact, m_impact = FRICTION_MODES
    each = range(components)
    return (
        k,
        *[f"{m} {j}" for j in each],
        k_impact,
        *[f"{m_impact} {j}" for j in each],
        *DIRECTION_MODES,
    )


@dataclass(frozen=True)
class ContactLabel:
    """One unilateral contact of an element, as results name it."""

    name: str
    unit: str = "m"
    """Of its gap, or of its slip: "m" or "rad"."""
    normal: bool = True
    """Whether it has a gap; otherwise it is friction under a given normal force."""
    friction: bool = False
    components: int = 1
    """Of its slip."""

    @property
    def units(self) -> tuple[str, ...]:
        """Names of the contact and of its friction, as far as it has them."""
        friction = f"friction of {self.name}" if self.normal else self.name
        return (*([self.name] if self.normal else []), *([friction] if self.friction else []))

    @property
    def slacks(self) -> tuple[str, ...]:
        """Names of its slack coordinates: one for each component of the slip."""
        contact = [f"slack of {self.name}"] if self.normal else []
        return (*contact, *(self.friction_slacks if self.friction else ()))

    @property
    def friction_slacks(self) -> tuple[str, ...]:
        """Those of its friction."""
        name, d = self.units[-1], self.components
        if d == 1:
            return (f"slack of {name}",)
        return tuple(f"slack {k} of {name}" for k in range(d))

    def modes_of(self, mode: str) -> str:
        """Name of one of its modes."""
        return f"{mode} {self.units[0] if mode in CONTACT_MODES else self.units[-1]}"

    @property
    def modes(self) -> tuple[str, ...]:
        """Names of its modes."""
        kinds = (
            *(CONTACT_MODES if self.normal else ()),
            *(friction_modes(self.components) if self.friction else ()),
        )
        return tuple(self.modes_of(mode) for mode in kinds)


@dataclass(frozen=True, eq=False)
class Contact:
    """What an element states of one contact."""

    gap: SX | None = None
    """g, of positions and time; None where it is friction only."""
    restitution: SX | None = None
    """ε, from 0 to 1."""
    slip: SX | None = None
    """s, linear in the velocities; None without friction. In space, components along two directions
    at right angles; or all three, with the `normal` along which there is none.
    """
    normal: SX | None = None
    """Unit vector along which the slip has no component, where it has three and depends on two."""
    sliding: SX | None = None
    """μ; without a gap the force μ N itself."""
    static: SX | None = None
    """μ₀; without a gap the force μ₀ N itself."""


@dataclass(frozen=True, eq=False)
class ContactSymbols:
    """Symbols of a contact's modes, by the names in `CONTACT_MODES` and `FRICTION_MODES`."""

    label: ContactLabel
    modes: Mapping[str, SX]

    def __getitem__(self, mode: str) -> SX:
        return self.modes[self.label.modes_of(mode)]

    def vector(self, mode: str) -> SX:
        """A direction: as many numbers as the slip has components."""
        d = self.label.components
        if d == 1:
            return self[mode]
        return ca.vertcat(*[self[f"{mode} {k}"] for k in range(d)])

    def sliding_direction(self, slip: SX) -> SX:
        """σ, or d of a slip with several components."""
        m = self.vector("slip")
        if self.label.components == 1:
            return m
        along, ε = ca.dot(m, slip), self["slow"]
        x = along + ε
        # where friction does not slide, m is zero, and r has to be
        r = ca.sumsqr(m) * (slip - m * along) * x / (x**2 + (ε / 4) ** 2 + SMALLEST)
        return (m + r) / ca.sqrt(1 + ca.sumsqr(r))

    def impact_share(self, slip: SX, impulse: SX) -> SX:
        """Friction impulse over −μ: along the slip after the impact."""
        m = self.vector("impact slip")
        if self.label.components == 1:
            return m * impulse
        return m * impulse + self["impact ratio"] * (slip - m * ca.dot(m, slip))
