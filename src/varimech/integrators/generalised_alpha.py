"""The generalised-α scheme: Newmark's difference equations with an auxiliary acceleration b in
place of q̈,

    (1 − α_m) b_{n+1} + α_m b_n = (1 − α_f) q̈_{n+1} + α_f q̈_n,

while the equations of motion hold at the end of the step for q̈_{n+1} itself. With

    α_m = (2ρ∞ − 1)/(ρ∞ + 1),   α_f = ρ∞/(ρ∞ + 1),   γ = ½ + α_f − α_m,   β = ¼ (γ + ½)²

it is of order 2 and unconditionally stable for linear systems. ρ∞ is its spectral radius at
infinite frequency, the ratio by which a vibration that is fast relative to the step shrinks in each
step: 1 damps nothing, 0 removes it in one step.

J. Chung and G. M. Hulbert, J. Appl. Mech. 60 (1993) 371–375; for constrained systems in this form:
M. Arnold and O. Brüls, Multibody Syst. Dyn. 18 (2007) 185–202.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..core.errors import check_between
from .difference import DifferenceScheme, V
from .integrator import IntegratorTraits


class AlphaScheme(DifferenceScheme):
    """The scheme with constants α_m and α_f; see `GeneralisedAlpha` and `HHT` for their usual
    choices.
    """

    remembers = True
    order = 2

    @cached_property
    def traits(self) -> IntegratorTraits:
        """Equal steps; numerical damping except for ρ∞ = 1, where α_m = α_f = ½, and for α = 0."""
        return IntegratorTraits(damping=self.newmark_gamma > 0.5)

    @property
    def alpha_m(self) -> float:
        """Weight of the old auxiliary acceleration."""
        return 0.0

    @property
    @abstractmethod
    def alpha_f(self) -> float:
        """Weight of the old acceleration."""

    @property
    def newmark_gamma(self) -> float:
        """γ of the difference equations, which gives order 2."""
        return 0.5 + self.alpha_f - self.alpha_m

    @property
    def newmark_beta(self) -> float:
        """β of the difference equations."""
        return (self.newmark_gamma + 0.5) ** 2 / 4

    @property
    def beta(self) -> float:
        """Weight of q̈ in the position, through b."""
        return self.newmark_beta * (1 - self.alpha_f) / (1 - self.alpha_m)

    @property
    def gamma(self) -> float:
        """Weight of q̈ in the velocity, through b."""
        return self.newmark_gamma * (1 - self.alpha_f) / (1 - self.alpha_m)

    def predict(self, q: V, v: V, a: V, memory: V, h: Any) -> tuple[V, V]:
        """Return the parts of q and q̇ that the last state determines."""
        old = (self.alpha_f * a - self.alpha_m * memory) / (1 - self.alpha_m)
        β, γ = self.newmark_beta, self.newmark_gamma
        return q + h * v + h**2 * ((0.5 - β) * memory + β * old), v + h * (
            (1 - γ) * memory + γ * old
        )

    def remember(self, a: V, memory: V, a_new: V) -> V:
        """Return b at the end of a step."""
        return ((1 - self.alpha_f) * a_new + self.alpha_f * a - self.alpha_m * memory) / (
            1 - self.alpha_m
        )


@dataclass(frozen=True)
class GeneralisedAlpha(AlphaScheme):
    """The scheme with spectral radius `rho` (0 … 1) at infinite frequency: vibrations that are fast
    relative to the step shrink to this ratio in each step. The default 0.8 removes them in some
    twenty steps.

    >>> GeneralisedAlpha(rho=1.0).newmark_gamma
    0.5
    """

    rho: float = 0.8
    name = "generalised-alpha"
    suits = "order 2 with damping of fast vibrations, least damping of slow ones (rho=…)"

    def __post_init__(self) -> None:
        problem = "must lie between 0 (fast vibrations vanish) and 1 (nothing is damped)"
        check_between("GeneralisedAlpha", 0.0, 1.0, problem, rho=self.rho)

    @property
    def title(self) -> str:
        """Name for results and messages, with its constant."""
        return f"generalised-α (ρ∞ = {self.rho:g})"

    @property
    def alpha_m(self) -> float:
        """α_m as a function of ρ∞."""
        return (2 * self.rho - 1) / (self.rho + 1)

    @property
    def alpha_f(self) -> float:
        """α_f as a function of ρ∞."""
        return self.rho / (self.rho + 1)
