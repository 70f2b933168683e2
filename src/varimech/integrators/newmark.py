"""Newmark's difference equations, in the form

    q_{n+1} = q_n + h q̇_n + h² ((½ − β) q̈_n + β q̈_{n+1}),     q̇_{n+1} = q̇_n + h ((1 − γ) q̈_n + γ q̈_{n+1}).

β = ¼, γ = ½ is the trapezoidal rule (average acceleration): order 2, A-stable, no numerical
damping. γ > ½ damps high frequencies and is of order 1; β ≥ (γ + ½)²/4 keeps it unconditionally
stable.

Source: N. M. Newmark, J. Eng. Mech. Div. 85 (1959) 67–94; T. J. R. Hughes, The Finite Element
Method, Dover 2000, chapter 9.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..core.errors import check_between
from .difference import DifferenceScheme, V
from .integrator import IntegratorTraits


@dataclass(frozen=True)
class Newmark(DifferenceScheme):
    """Newmark's scheme with its two constants; β = (γ + ½)²/4 if not given. The default
    γ = 0.6 damps fast vibrations without removing slow ones.

    >>> Newmark(gamma=1.0).beta
    0.5625
    """

    gamma: float = 0.6
    beta: float = -1.0

    def __post_init__(self) -> None:
        problem = "must lie between 0.5 and 1; below 0.5 it amplifies vibrations"
        check_between("Newmark", 0.5, 1.0, problem, gamma=self.gamma)
        if self.beta == -1.0:
            object.__setattr__(self, "beta", (self.gamma + 0.5) ** 2 / 4)
        least = self.gamma / 2
        problem = f"is below gamma/2 = {least}: not stable for every step; raise beta"
        check_between("Newmark", least - 1e-12, math.inf, problem, beta=self.beta)  # rounding

    @property
    def order(self) -> int:
        """Order of convergence."""
        return 2 if self.gamma == 0.5 else 1

    @property
    def name(self) -> str:
        """Name in files, commands and calls."""
        return "trapezoidal" if self == TRAPEZOIDAL else "newmark"

    @property
    def title(self) -> str:
        """Name for results and messages, with its constants."""
        return (
            "trapezoidal rule"
            if self == TRAPEZOIDAL
            else f"Newmark (γ = {self.gamma:g}, β = {self.beta:g})"
        )

    @property
    def suits(self) -> str:
        """Recommended use, in a line of `varimech methods`."""
        if self == TRAPEZOIDAL:
            return "order 2, no damping: conserves energy, passes singular positions; the robust choice with fixed steps"
        return "order 1 with damping of fast vibrations (gamma=…)"

    @cached_property
    def traits(self) -> IntegratorTraits:
        """Equal steps; damping with γ > ½."""
        return IntegratorTraits(damping=self.gamma > 0.5)

    def predict(self, q: V, v: V, a: V, memory: V, h: Any) -> tuple[V, V]:
        """Return the parts of q and q̇ that the last state determines."""
        return q + h * v + h**2 * (0.5 - self.beta) * a, v + h * (1 - self.gamma) * a

    def remember(self, a: V, memory: V, a_new: V) -> V:
        """Return the new acceleration; the scheme does not use it."""
        return a_new


TRAPEZOIDAL = Newmark(0.5, 0.25)
