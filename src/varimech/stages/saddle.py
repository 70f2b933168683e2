"""Saddle-point systems by augmented Lagrangian iterations.

    H x + Jᵀ y = f,     J x = g

Each pass solves for corrections of x and y with the residuals r, s of both equations,

    H δx + Jᵀ δy = r,     J δx − α⁻¹ δy = s,

and so reduces the error by a factor of about (1 + κ)⁻¹, where α is κ times the mass that a
constraint works against. Where J lacks full rank (redundant constraints, singular positions) the
iteration still finds a solution. There are two eliminations, equal in exact arithmetic:

- `regular`: the system as it stands, x before its multipliers. Its condition number does not suffer
  from large α, so κ = 1e12 and one pass suffice.
- otherwise: δy is eliminated first, (H + Jᵀ α J) δx = r + Jᵀ α s,  δy = α (J δx − s). It needs no
  inverse of H alone, so zero masses are allowed; κ = 1e7 and two passes. Redundant multipliers
  are not determined: their resultant is correct, but each accumulates rounding errors along a
  run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import casadi as ca

from ..core.symbols import SX
from .elimination import Factorisation

if TYPE_CHECKING:
    from .chain import Stage

LIGHT = 1e-6
"""Masses below this share of the largest are replaced by this share, or by the masses that
constraints couple to them. A round value.
"""
ROUNDING = 1e-9
"""Constraint gradients below this share of the largest count as zero, and sums below this share of
their terms as cancelled: a round value well above rounding.
"""


def carried_masses(J: SX, masses: SX, heaviest: SX) -> SX:
    """Return, for each constraint and unknown, the mass of other unknowns that the constraint
    couples to this unknown.
    """
    squares = ca.power(J, 2)
    mobility = squares @ ca.if_else(masses > LIGHT * heaviest, 1 / masses, 0)
    ties = mobility > ROUNDING * ca.sum2(squares) / heaviest
    return ca.diag(ca.if_else(ties, 1 / mobility, 0)) @ squares


def mobilities(J: SX, masses: SX, heaviest: SX, steepest: SX, carried: SX) -> SX:
    """Return the mobility of each constraint: the inverse of the mass that its force accelerates; 0
    if its gradient vanishes.

    Unknowns with hardly any mass (such as the directions across a thin bar) are coupled to others
    by further constraints and take the mass of these (`carried`, in total).
    """
    squares, (_, columns) = ca.power(J, 2), J.sparsity().get_triplet()
    if not columns:
        return SX.zeros(J.shape[0])
    mass, total = ca.densify(masses)[columns], ca.densify(carried)[columns]
    elsewhere = total - ca.vec(carried_masses(J, masses, heaviest).nz[:])
    follows = ca.logic_and(mass <= LIGHT * heaviest, elsewhere > ROUNDING * total)
    against = ca.if_else(follows, ca.fmax(mass, elsewhere), ca.fmax(mass, LIGHT * heaviest))
    moved = ca.sum2(SX(J.sparsity(), ca.vec(squares.nz[:]) / against))
    return ca.densify(ca.if_else(ca.sum2(squares) > (ROUNDING * steepest) ** 2, moved, 0))


@dataclass(frozen=True)
class Saddle:
    """Solver of saddle-point systems; see the module."""

    regular: bool
    passes: int | None = None
    """Number of passes in a linear solve, if it differs from the default."""
    relaxation: float = 1.0
    """Factor on κ."""
    pairs: tuple[int, ...] | None = None
    """For each unknown and multiplier the row with which it is eliminated, where that is not its
    own; for regular systems only.
    """

    @property
    def linear_passes(self) -> int:
        """Number of passes in a linear solve."""
        return self.passes or (1 if self.regular else 2)

    @property
    def penalty_factor(self) -> float:
        """κ; see the module for the choice of it."""
        return 1e12 if self.regular else 1e7

    @classmethod
    def relaxed(cls, regular: bool) -> Saddle:
        """Return a solver for linear stages, whose solutions are final.

        Directions that a nearly singular J hardly constrains are left to H; exact constraints would
        only amplify rounding there (docs/decisions/2026-11-formulations.md has measurements).
        """
        return cls(regular, passes=2, relaxation=1e-3) if regular else cls(regular, passes=3)

    def solve(
        self,
        stage: Stage | NumericStage,
        correct: Corrector,
        f: SX,
        g: SX,
        y: SX | None = None,
        *,
        passes: int | None = None,
    ) -> tuple[SX, SX]:
        """Solve for x and y with any number of columns, from an initial y (zero by default), with
        the factors of `corrector`.
        """
        H, J, G = stage.tangent, stage.condition_jacobian, stage.condition_tangent
        if stage.compliant:
            return correct(f, g)
        r, s = (f if y is None else f - J.T @ y), g
        x_total, y_total = SX.zeros(H.shape[1], f.shape[1]), (SX.zeros(g.shape) if y is None else y)
        count = passes or self.linear_passes
        for k in range(count):
            δx, δy = correct(r, s)
            x_total, y_total = x_total + δx, y_total + δy
            if k + 1 < count:
                r, s = r - H @ δx - J.T @ δy, s - G @ δx
        return x_total, y_total

    def penalty(self, J: SX, masses: SX) -> SX:
        """Return α: for each row of J the mass that it works against (harmonic, over the masses of
        the unknowns), times κ.
        """
        if J.shape[0] == 0:
            return SX(0, 1)
        heaviest = ca.norm_inf(masses)
        carried = ca.sum1(carried_masses(J, masses, heaviest)).T
        moved = mobilities(J, masses, heaviest, ca.norm_inf(ca.vec(J)), carried)
        return self.penalties(moved, ca.norm_inf(moved))

    def penalties(self, mobilities: SX, largest: SX) -> SX:
        """Return α from the mobilities; constraints with vanishing gradient get the smallest α."""
        return self.penalty_factor / ca.if_else(mobilities > 0, mobilities, largest)

    def penalty_of(self, stage: Stage) -> SX:
        """Return the α that applies to a stage."""
        return (
            stage.penalty
            if stage.compliant or self.relaxation == 1.0
            else self.relaxation * stage.penalty
        )

    def matrix(self, stage: Stage) -> SX:
        """Return the system matrix of a stage: unknowns, then multipliers unless they are
        eliminated.
        """
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
        # each condition gets the softness of the multiplier that it is eliminated with: the scale
        # of other multipliers may differ
        if self.pairs is not None:
            softness = softness[[row - n for row in self.pairs[n:]], :]
        return ca.blockcat([[H, J.T], [G, -softness]])

    def corrector(self, stage: Stage) -> Corrector:
        """Factor the system of a stage."""
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
    """A linearised stage with coefficients in place of its expressions."""

    tangent: SX
    condition_jacobian: SX
    condition_tangent: SX
    symmetric: bool
    penalty: SX
    compliant: bool


class Corrector(Protocol):
    """Solver of one pass, for residuals r and s."""

    def mapped(self, change: Callable[[SX], SX]) -> Corrector:
        """Return the solver with a function applied to the entries of its matrices."""
        ...

    def __call__(self, r: SX, s: SX, /) -> tuple[SX, SX]:
        """Return δx and δy."""
        ...


@dataclass(frozen=True)
class _Whole:
    factors: Factorisation
    n: int
    rows: list[int] | None = None
    """Order of the rows of its matrix."""

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
