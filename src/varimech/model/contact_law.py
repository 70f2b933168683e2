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
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..core.symbols import SX

CONTACT_MODES = ("closed", "impact", "bounce")
"""c; the same in an impact; and whether that has restitution."""
FRICTION_MODES = ("stick", "slip", "impact stick", "impact slip")
"""k, σ; and the same in an impact."""


@dataclass(frozen=True)
class ContactLabel:
    """One unilateral contact of an element, as results name it."""

    name: str
    unit: str = "m"
    """Of its gap, or of its slip: "m" or "rad"."""
    normal: bool = True
    """Whether it has a gap; otherwise it is friction under a given normal force."""
    friction: bool = False

    @property
    def units(self) -> tuple[str, ...]:
        """Names of the contact and of its friction, as far as it has them."""
        friction = f"friction of {self.name}" if self.normal else self.name
        return (*([self.name] if self.normal else []), *([friction] if self.friction else []))

    @property
    def slacks(self) -> tuple[str, ...]:
        """Names of its slack coordinates."""
        return tuple(f"slack of {name}" for name in self.units)

    def modes_of(self, mode: str) -> str:
        """Name of one of its modes."""
        return f"{mode} {self.units[0] if mode in CONTACT_MODES else self.units[-1]}"

    @property
    def modes(self) -> tuple[str, ...]:
        """Names of its modes."""
        kinds = (
            *(CONTACT_MODES if self.normal else ()),
            *(FRICTION_MODES if self.friction else ()),
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
    """s, linear in the velocities; None without friction."""
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
