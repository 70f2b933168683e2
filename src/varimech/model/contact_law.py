"""Unilateral contact and dry friction: the quantities that an element provides for them.

    contact    g(q, t) ≥ 0,  N ≥ 0,  g N = 0;   at an impact  ġ⁺ = −ε ġ⁻  (Newton)
    friction   sticking:  s = 0,  |T| ≤ μ₀ N;   sliding:  T = −μ N sign(s)

with the gap g, the normal force N, the restitution ε, the slip velocity s (linear in the
velocities) and the friction force T along s. The active case is a *mode*, a number that changes at
events only. Modes are data of the equations, so one program serves all cases:

    Φ = c g + (1 − c) y,     c = 1 closed, 0 open,

where the slack y is an additional coordinate: an open contact holds it at 0 without any force. A
sticking contact likewise imposes  k s + (1 − k) ẏ = 0,  with k = 1 or 0; where it slides, its force
has the direction σ = ±1. At an impact, separate modes replace c, k and σ, because a contact may
take part in the impact and be open afterwards.

A slip of several components (in space) sticks in all of them, |T| is a Euclidean norm (a cone, not
a pyramid), and where it slides its force is opposite to

    d = (m + r) / √(1 + |r|²),     r = (s − m (m·s)) x / (x² + ε²/16),   x = m·s + ε,

with a unit vector m near the direction of s as mode. ε is zero while friction slides, so d is s /
|s|. Where sliding begins or ends, ε is a small speed: there d starts from m, follows the slip at a
bounded rate, and does not jump where s passes zero. In an impact the force is  −μ (Λ m + c (s⁺ − m
(m·s⁺))),  c = Λ / |s⁺|: Newton's linearisation of −μ Λ s⁺/|s⁺| about its solution, so the impact
equations stay linear and derivatives include the dependence of the direction on parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca

from ..core.symbols import SX

CONTACT_MODES = ("closed", "impact", "bounce")
"""Modes of a contact: c; c in an impact; and whether the impact has restitution."""
FRICTION_MODES = ("stick", "slip", "impact stick", "impact slip")
"""Modes of friction: k, σ; and both in an impact."""
SMALLEST = 1e-200
"""Keeps 0/0 out of functions whose value at zero does not matter."""
DIRECTION_MODES = ("slow", "impact ratio")
"""Modes ε and c of a slip with several components."""


def friction_modes(components: int) -> tuple[str, ...]:
    """Names of the modes of friction; a direction has one for each component of the slip."""
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
    """One unilateral contact of an element, with the name that results use."""

    name: str
    unit: str = "m"
    """Unit of its gap, or of its slip: "m" or "rad"."""
    normal: bool = True
    """Whether it has a gap; otherwise it is friction under a given normal force."""
    friction: bool = False
    components: int = 1
    """Number of components of its slip."""

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the contact and of its friction, where it has them, by name."""
        friction = f"friction of {self.name}" if self.normal else self.name
        return (*([self.name] if self.normal else []), *([friction] if self.friction else []))

    @property
    def slacks(self) -> tuple[str, ...]:
        """Names of its slack coordinates: one for its gap, and one for each component of the slip."""
        contact = [f"slack of {self.name}"] if self.normal else []
        return (*contact, *(self.friction_slacks if self.friction else ()))

    @property
    def friction_slacks(self) -> tuple[str, ...]:
        """Names of the slack coordinates of its friction."""
        name, d = self.units[-1], self.components
        if d == 1:
            return (f"slack of {name}",)
        return tuple(f"slack {k} of {name}" for k in range(d))

    def modes_of(self, mode: str) -> str:
        """Name of one of its modes in the model."""
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
    """The quantities that an element provides for one contact."""

    gap: SX | None = None
    """g, a function of positions and time; None for friction alone."""
    restitution: SX | None = None
    """ε, from 0 to 1."""
    slip: SX | None = None
    """s, linear in the velocities; None without friction. In space: components along two
    perpendicular directions, or all three, with the `normal` along which there is no slip.
    """
    normal: SX | None = None
    """Unit vector normal to the slip, where the slip is given by three components."""
    sliding: SX | None = None
    """μ; without a gap, the friction force μ N itself."""
    static: SX | None = None
    """μ₀; without a gap, the force μ₀ N itself."""


@dataclass(frozen=True, eq=False)
class ContactSymbols:
    """Symbols of a contact's modes, by the names in `CONTACT_MODES` and `FRICTION_MODES`."""

    label: ContactLabel
    modes: Mapping[str, SX]

    def __getitem__(self, mode: str) -> SX:
        return self.modes[self.label.modes_of(mode)]

    def vector(self, mode: str) -> SX:
        """A direction mode: as many numbers as the slip has components."""
        d = self.label.components
        if d == 1:
            return self[mode]
        return ca.vertcat(*[self[f"{mode} {k}"] for k in range(d)])

    def sliding_direction(self, slip: SX) -> SX:
        """σ, or d for a slip with several components."""
        m = self.vector("slip")
        if self.label.components == 1:
            return m
        along, ε = ca.dot(m, slip), self["slow"]
        x = along + ε
        # where friction does not slide, m is zero, and r must be zero, too
        r = ca.sumsqr(m) * (slip - m * along) * x / (x**2 + (ε / 4) ** 2 + SMALLEST)
        return (m + r) / ca.sqrt(1 + ca.sumsqr(r))

    def impact_share(self, slip: SX, impulse: SX) -> SX:
        """Friction impulse divided by −μ, along the slip after the impact."""
        m = self.vector("impact slip")
        if self.label.components == 1:
            return m * impulse
        return m * impulse + self["impact ratio"] * (slip - m * ca.dot(m, slip))
