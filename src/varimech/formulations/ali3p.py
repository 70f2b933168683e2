"""ALI3-P: index-3 augmented Lagrangian formulation with mass-orthogonal projections of velocities
and accelerations.

Positions and multipliers at the end of a step satisfy the equations of motion together with the
constraints, with velocities and accelerations q̇*, q̈* from the integrator's difference equations:

    M q̈* + Φ_qᵀ λ = Q(q, q̇*),     Φ(q) = 0                                  Newton, λ ← λ + α Φ

q̇* and q̈* do not satisfy the derivatives of the constraints yet. The nearest velocities and
accelerations in the metric of M that do are

    M (q̇ − q̇*) + Φ_qᵀ σ = 0,      Φ_q q̇ + Φ_t = 0                           σ ← σ + α Φ̇
    M (q̈ − q̈*) + Φ_qᵀ τ = 0,      Φ_q q̈ + Φ̇_q q̇ + Φ̇_t = 0                   τ ← τ + α Φ̈

λ of the first equation belongs to q̈*, whose component along the constraints is of order h only.
Adding the first and the last equation shows that the multipliers of the projected q̈ are λ + τ;
these are of order 2, and they are stored in the state.

Velocity constraints Ψ(q, q̇) = 0 (friction that sticks) have no Φ: the first equation enforces them
for q̇*, scaled by β h/γ, so that their derivative with respect to q̈* is β h² Ψ_q̇, as that of Φ is
β h² Φ_q. The projections use Ψ_q̇ in place of Φ_q.

Forces F(λ) of sliding friction depend on the multipliers, and λ of the first equation is of order 1
only. Both projections are then executed twice, the second time with the change of friction:

    M (q̈¹ − q̈*) + Φ_qᵀ τ¹ = F(λ + τ¹) − F(λ),     M (q̇ − q̇¹) + Φ_qᵀ σ = γ h (F(λ + τ¹) − F(λ))

where q̇¹ and q̈¹ result from the first round; the last equation has F(λ + τ) − F(λ) on its
right-hand side, too.

All three systems are iterated to convergence, so the result does not depend on the penalty α, which
only sets the rate of convergence. The unknown of the first stage is q̈* (not q): differences of
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
    """Index-3 augmented Lagrangian formulation with projections. Supports redundant constraints,
    drivers and massless coordinates.
    """

    name = "ali3p"
    title = "ALI3-P"
    suits = (
        "general purpose: redundant constraints, massless parts, singular positions, stiff forces;"
        " constraints satisfied to rounding"
    )
    traits = FormulationTraits(
        exact=True, step=True, sticks=True, composite=True, nonholonomic=True
    )
    saddle = exact_saddle  # the Newton iteration corrects errors of the linear solution

    def step(
        self, dynamics: Dynamics, scheme: DifferenceScheme, saddle: Saddle, *, constrained: bool
    ) -> Chain:
        """Build one step; a mechanism without any constraints needs no projections."""
        e = dynamics
        s = ImplicitStep(e, scheme)
        oblique = e.oblique or e.constrains_velocities
        motion = Stage(
            "motion",
            s.a_,
            e.λ,
            ca.substitute([e.balance], [e.v, e.a], [s.v_, s.a_])[0],
            _conditions(e, s, scheme),
            s.a0,
            s.λ0,
            s.α,
            e.symmetric and not oblique,
            s.position_weight,
            s.relations,
            noise=ROUNDING / s.position_weight,
            magnitude=e.q,
            oblique=oblique,
        )
        if not constrained:
            return s.chain((motion,), s.v_, s.a_, e.λ, saddle)

        rounds = 2 if e.oblique else 1
        projections, τ = _projections(e, s, scheme.gamma * s.h, rounds)
        return s.chain((motion, *projections), e.v, e.a, e.λ + τ, saddle)


def _projections(e: Dynamics, s: ImplicitStep, duration: SX, rounds: int) -> tuple[list[Stage], SX]:
    """Build the projections of velocities and accelerations; return them with τ of the last round.

    In a second round, the friction forces change the velocities over the duration γ h.
    """
    n, m = e.q.numel(), e.λ.numel()
    v, τ, stages, J = s.v_, SX.zeros(m), list[Stage](), e.rate_jacobian

    def projection(name: str, x: SX, x_: SX, multiplier: SX, condition: SX, force: SX) -> Stage:
        balance = e.mass @ (x - x_) + J.T @ multiplier - force
        oblique = ca.depends_on(force, multiplier)
        guess = SX.zeros(m)
        return Stage(
            name, x, multiplier, balance, condition, x_, guess, s.α, not oblique, oblique=oblique
        )

    for k in range(rounds):
        last, again = k == rounds - 1, f" {k + 1}" if k else ""
        pushed = duration * e.friction_of(τ) if k else SX(n, 1)
        v_, v, a = v, e.v if last else SX.sym("v¹", n), e.a if last else SX.sym("a¹", n)
        σ, τ = SX.sym(f"σ{again}", m), SX.sym(f"τ{again}", m)
        rate, acceleration = ca.substitute(
            [e.constraint_rate, e.constraint_acceleration], [e.v, e.a], [v, a]
        )
        friction = e.friction_of(τ) if e.oblique else SX(n, 1)
        stages += [
            projection(f"velocity projection{again}", v, v_, σ, rate, pushed),
            projection(f"acceleration projection{again}", a, s.a_, τ, acceleration, friction),
        ]
    return stages, τ


def _conditions(e: Dynamics, s: ImplicitStep, scheme: DifferenceScheme) -> SX:
    """Return Φ, with β h/γ Ψ(q, q̇*) in place of the residuals of velocity constraints."""
    if not e.constrains_velocities:
        return e.constraints
    share = scheme.beta / scheme.gamma * s.h
    rows = [b.residuals if b.rate is None else share * b.rate for b in e.blocks]
    return ca.substitute(ca.vertcat(*rows), e.v, s.v_)
