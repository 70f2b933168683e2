"""ALI3-P: index-3 augmented Lagrangian formulation with mass-orthogonal projections of velocities
and accelerations.

Positions and multipliers at the end of a step satisfy the equations of motion together with the
constraints, with velocities and accelerations q̇*, q̈* from the integrator's difference equations:

    M q̈* + Φ_qᵀ λ = Q(q, q̇*),     Φ(q) = 0                                  Newton, λ ← λ + α Φ

They do not satisfy the derivatives of the constraints yet. The nearest ones in the metric of M that
do are

    M (q̇ − q̇*) + Φ_qᵀ σ = 0,      Φ_q q̇ + Φ_t = 0                           σ ← σ + α Φ̇
    M (q̈ − q̈*) + Φ_qᵀ τ = 0,      Φ_q q̈ + Φ̇_q q̇ + Φ̇_t = 0                   τ ← τ + α Φ̈

A constraint of velocities Ψ(q, q̇) = 0 takes part in the first line as Ψ(q, q̇*) = 0, with Ψ_q̇ for
Φ_q, and in the projections likewise.

λ of the first line belongs to q̈*, whose part along the constraints is only of order h. Adding the
first and the last line shows that the multipliers that belong to the projected q̈ are λ + τ; these
are of order 2, and they are what a state holds.

All three are iterated to convergence, so the result does not depend on the penalty α, which only
sets the speed of convergence. The unknown of the first stage is q̈* (not q): differences of
positions divided by h² would lose digits for small steps.

Sources: E. Bayo and R. Ledesma, Nonlinear Dynamics 9 (1996) 113–130; J. Cuadrado, D. Dopico, M.
González and M. Naya, J. Mech. Des. 126 (2004) 602–608; D. Dopico, F. González, A. Luaces, M. Saura
and D. García-Vallejo, Nonlinear Dynamics 93 (2018) 2039–2056.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ..coordinates.dynamics import Dynamics
from ..core.symbols import SX
from ..integrators.difference import DifferenceScheme
from ..stages.chain import ROUNDING, Chain, Stage
from ..stages.saddle import Saddle
from .formulation import Formulation, FormulationTraits
from .implicit import ImplicitStep, exact_saddle


@dataclass(frozen=True)
class ALI3P(Formulation):
    """Index-3 augmented Lagrangian with projections. Takes redundant constraints, drivers and
    massless coordinates.
    """

    name = "ali3p"
    title = "ALI3-P"
    suits = (
        "general purpose: redundant constraints, massless parts, singular positions, stiff forces;"
        " constraints satisfied to rounding"
    )
    traits = FormulationTraits(exact=True, step=True, composite=True, nonholonomic=True)
    saddle = exact_saddle  # the motion is iterated

    def step(
        self, dynamics: Dynamics, scheme: DifferenceScheme, saddle: Saddle, *, constrained: bool
    ) -> Chain:
        """One step; without projections of a mechanism that has no constraints at all."""
        e = dynamics
        s = ImplicitStep(e, scheme)
        m = e.λ.numel()
        motion = Stage(
            "motion",
            s.a_,
            e.λ,
            ca.substitute([e.balance], [e.v, e.a], [s.v_, s.a_])[0],
            self._conditions(e, s),
            s.a0,
            s.λ0,
            s.α,
            e.symmetric and not e.has_velocity_constraints,
            s.position_weight,
            s.relations,
            noise=ROUNDING / s.position_weight,
            magnitude=e.q,
            oblique=e.has_velocity_constraints,
        )
        if not constrained:
            return s.chain((motion,), s.v_, s.a_, e.λ, saddle)

        Φ_q = e.rate_jacobian

        def projection(of: str, x: SX, x_: SX, multiplier: SX, condition: SX) -> Stage:
            balance = e.mass @ (x - x_) + Φ_q.T @ multiplier
            return Stage(
                f"{of} projection", x, multiplier, balance, condition, x_, SX.zeros(m), s.α
            )

        σ, τ = SX.sym("σ", m), SX.sym("τ", m)
        stages = (
            motion,
            projection("velocity", e.v, s.v_, σ, e.constraint_rate),
            projection("acceleration", e.a, s.a_, τ, e.constraint_acceleration),
        )
        return s.chain(stages, e.v, e.a, e.λ + τ, saddle)

    def _conditions(self, e: Dynamics, s: ImplicitStep) -> SX:
        """Φ(q), and Ψ(q, q̇*) in units of positions: divided by ∂q̇*/∂q."""
        if not e.has_velocity_constraints:
            return e.constraints
        per_velocity = s.position_weight / s.velocity_weight
        rows = [
            per_velocity * ca.substitute(b.rate, e.v, s.v_)
            if b.rate is not None and b.is_nonholonomic
            else b.residuals
            for b in e.blocks
        ]
        return ca.vertcat(*rows)
