"""Saddle-point systems by augmented Lagrangian iterations.

    H x + Jᵀ y = f,     J x = g

Each pass solves for corrections of x and y with the residuals r, s of both lines,

    H δx + Jᵀ δy = r,     J δx − α⁻¹ δy = s,

and so reduces the error by a factor of about (1 + κ)⁻¹, α being κ times the mass that a constraint
works against. Where J has not full rank (redundant constraints, singular positions) the iteration
finds a solution all the same. Two ways to eliminate, equal in exact arithmetic:

- `regular`: the system as it stands, x before its multipliers. Its condition does not suffer from
  large α, so κ = 1e12 and one pass do.
- otherwise: δy eliminated first, (H + Jᵀ α J) δx = r + Jᵀ α s,  δy = α (J δx − s). It needs no
  inverse of H alone, so it takes masses that are zero; κ = 1e7 and two passes. Redundant
  multipliers are not determined: their sum works right, but along a run each collects rounding
  errors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import casadi as ca

from ..core.symbols import SX
from .elimination import Factorisation

LIGHT = 1e-6
"""Masses below this share of the largest count as that, or as what goes with them."""
ROUNDING = 1e-9
"""Gradients below this share of the largest say nothing; sums below it, of what they are made of,
neither.
"""


def carried_masses(J: SX, masses: SX, heaviest: SX) -> SX:
    """For each constraint and unknown: the mass of other unknowns that the constraint makes go with
    it.
    """
    squares = ca.power(J, 2)
    mobility = squares @ ca.if_else(masses > LIGHT * heaviest, 1 / masses, 0)
    ties = mobility > ROUNDING * ca.sum2(squares) / heaviest
    return ca.diag(ca.if_else(ties, 1 / mobility, 0)) @ squares


def mobilities(J: SX, masses: SX, heaviest: SX, steepest: SX, carried: SX) -> SX:
    """What a unit force of each constraint moves: the inverse of the mass it works against; 0 where
    it says nothing.

    Unknowns with hardly any mass go with others by further constraints, such as the directions
    across a thin bar, and stand for what these carry (in all: `carried`).
    """
    squares, (_, columns) = ca.power(J, 2), J.sparsity().get_triplet()
    if not columns:
        return SX.zeros(J.shape[0])
    mass, all_of_it = ca.densify(masses)[columns], ca.densify(carried)[columns]
    elsewhere = all_of_it - ca.vec(carried_masses(J, masses, heaviest).nz[:])
    goes_along = ca.logic_and(mass <= LIGHT * heaviest, elsewhere > ROUNDING * all_of_it)
    against = ca.if_else(goes_along, ca.fmax(mass, elsewhere), ca.fmax(mass, LIGHT * heaviest))
    moved = ca.sum2(SX(J.sparsity(), ca.vec(squares.nz[:]) / against))
    return ca.densify(ca.if_else(ca.sum2(squares) > (ROUNDING * steepest) ** 2, moved, 0))


class Linearised(Protocol):
    """What a stage offers."""

    @property
    def tangent(self) -> SX:
        """H."""
        ...

    @property
    def condition_jacobian(self) -> SX:
        """J."""
        ...

    @property
    def condition_tangent(self) -> SX:
        """What stands in place of J in the second line."""
        ...

    @property
    def symmetric(self) -> bool:
        """Whether the system is symmetric."""
        ...

    @property
    def penalty(self) -> SX:
        """α."""
        ...

    @property
    def compliant(self) -> bool:
        """Whether  J x − α⁻¹ y = g  is meant to hold, so that one pass is all there is to do."""
        ...


@dataclass(frozen=True)
class Saddle:
    """The way to solve; see the module."""

    regular: bool
    passes: int | None = None
    """In a linear solve, where they are not the usual ones."""
    relaxation: float = 1.0
    """Share of κ that is used."""
    pairs: tuple[int, ...] | None = None
    """For each unknown and multiplier the row that it is eliminated with, where that is not its
    own; for regular systems.
    """

    @property
    def linear_passes(self) -> int:
        """Passes in a linear solve."""
        return self.passes or (1 if self.regular else 2)

    @property
    def penalty_factor(self) -> float:
        """κ."""
        return 1e12 if self.regular else 1e7

    @classmethod
    def relaxed(cls, regular: bool) -> Saddle:
        """For linear stages whose solutions are final: directions that a nearly singular J hardly
        constrains are left to H, where exact constraints would only amplify rounding there
        (docs/decisions/2026-11-formulations.md has measurements).
        """
        return cls(regular, passes=2, relaxation=1e-3) if regular else cls(regular, passes=3)

    def solve(
        self,
        stage: Linearised,
        correct: Corrector,
        f: SX,
        g: SX,
        y: SX | None = None,
        *,
        passes: int | None = None,
    ) -> tuple[SX, SX]:
        """x and y for any number of columns, from a first y (zero if not given), with the factors
        of `corrector`.
        """
        H, J, G = stage.tangent, stage.condition_jacobian, stage.condition_tangent
        if stage.compliant:
            return correct(f, g)
        r, s = (f if y is None else f - J.T @ y), g
        x_total, y_total = SX.zeros(H.shape[1], f.shape[1]), (SX.zeros(g.shape) if y is None else y)
        wanted = passes or self.linear_passes
        for k in range(wanted):
            δx, δy = correct(r, s)
            x_total, y_total = x_total + δx, y_total + δy
            if k + 1 < wanted:
                r, s = r - H @ δx - J.T @ δy, s - G @ δx
        return x_total, y_total

    def penalty(self, J: SX, masses: SX) -> SX:
        """α: for each row of J the mass it works against (harmonic, over the masses of the
        unknowns), times κ.
        """
        if J.shape[0] == 0:
            return SX(0, 1)
        heaviest = ca.norm_inf(masses)
        carried = ca.sum1(carried_masses(J, masses, heaviest)).T
        moved = mobilities(J, masses, heaviest, ca.norm_inf(ca.vec(J)), carried)
        return self.penalties(moved, ca.norm_inf(moved))

    def penalties(self, mobilities: SX, largest: SX) -> SX:
        """α from the mobilities; constraints that say nothing have the smallest."""
        return self.penalty_factor / ca.if_else(mobilities > 0, mobilities, largest)

    def penalty_of(self, stage: Linearised) -> SX:
        """α as it is used for a stage."""
        return (
            stage.penalty
            if stage.compliant or self.relaxation == 1.0
            else self.relaxation * stage.penalty
        )

    def matrix(self, stage: Linearised) -> SX:
        """The system of a stage: unknowns, then multipliers if they are not eliminated."""
        H, J, G, α = (
            stage.tangent,
            stage.condition_jacobian,
            stage.condition_tangent,
            self.penalty_of(stage),
        )
        if J.shape[0] == 0:
            return H
        if not self.regular:
            return H + J.T @ (α * G)
        n, softness = H.shape[0], ca.diag(1 / α)
        if (
            self.pairs is not None
        ):  # a condition gives way to the multiplier it is eliminated with: others may be of any size
            softness = softness[[row - n for row in self.pairs[n:]], :]
        return ca.blockcat([[H, J.T], [G, -softness]])

    def corrector(self, stage: Linearised) -> Corrector:
        """The factored system of a stage."""
        system, J = self.matrix(stage), stage.condition_jacobian
        n, m = stage.tangent.shape[0], J.shape[0]
        if not self.regular and m:
            return _Penalised(
                Factorisation(system, symmetric=stage.symmetric),
                J,
                stage.condition_tangent,
                self.penalty_of(stage),
            )
        if self.pairs is None:
            return _Whole(Factorisation(system, symmetric=stage.symmetric, late=range(n, n + m)), n)
        rows = list(self.pairs)
        return _Whole(
            Factorisation(system[rows, :], symmetric=False, late=range(n, n + m)), n, rows
        )


@dataclass(frozen=True)
class NumericStage:
    """A stage with coefficients in place of its expressions."""

    tangent: SX
    condition_jacobian: SX
    condition_tangent: SX
    symmetric: bool
    penalty: SX
    compliant: bool


class Corrector(Protocol):
    """Solves one pass for residuals r and s."""

    def mapped(self, change: Callable[[SX], SX]) -> Corrector:
        """The same with changed entries."""
        ...

    def __call__(self, r: SX, s: SX, /) -> tuple[SX, SX]:
        """δx and δy."""
        ...


@dataclass(frozen=True)
class _Whole:
    factors: Factorisation
    n: int
    rows: list[int] | None = None
    """The order in which its rows stand."""

    def mapped(self, change: Callable[[SX], SX]) -> Corrector:
        return _Whole(self.factors.mapped(change), self.n, self.rows)

    def __call__(self, r: SX, s: SX) -> tuple[SX, SX]:
        right = ca.vertcat(r, s)
        both = self.factors.solve(right if self.rows is None else right[self.rows, :])
        return both[: self.n, :], both[self.n :, :]


@dataclass(frozen=True)
class _Penalised:
    factors: Factorisation
    J: SX
    G: SX
    α: SX

    def mapped(self, change: Callable[[SX], SX]) -> Corrector:
        return _Penalised(
            self.factors.mapped(change), change(self.J), change(self.G), change(self.α)
        )

    def __call__(self, r: SX, s: SX) -> tuple[SX, SX]:
        α = ca.repmat(self.α, 1, s.shape[1])
        δx = self.factors.solve(r + self.J.T @ (α * s))
        return δx, α * (self.G @ δx - s)
