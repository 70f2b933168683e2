"""ALI3-P: index-3 augmented Lagrangian formulation with mass-orthogonal projections of velocities and accelerations.

Positions and multipliers at the end of a step satisfy the equations of motion together with the constraints, with velocities and
accelerations q̇*, q̈* from the integrator's difference equations:

    M q̈* + Φ_qᵀ λ = Q(q, q̇*),     Φ(q) = 0                                  Newton, λ ← λ + α Φ

They do not satisfy the derivatives of the constraints yet. The nearest ones in the metric of M that do are

    M (q̇ − q̇*) + Φ_qᵀ σ = 0,      Φ_q q̇ + Φ_t = 0                           σ ← σ + α Φ̇
    M (q̈ − q̈*) + Φ_qᵀ τ = 0,      Φ_q q̈ + Φ̇_q q̇ + Φ̇_t = 0                   τ ← τ + α Φ̈

λ of the first line belongs to q̈*, whose part along the constraints is only of order h. Adding the first and the last line shows that the
multipliers that belong to the projected q̈ are λ + τ; these are of order 2, and they are what a state holds.

All three are iterated to convergence, so the result does not depend on the penalty α, which only sets the speed of convergence.
The unknown of the first stage is q̈* (not q): differences of positions divided by h² would lose digits for small steps.

Sources: E. Bayo and R. Ledesma, Nonlinear Dynamics 9 (1996) 113–130; J. Cuadrado, D. Dopico, M. González and M. Naya, J. Mech. Des. 126
(2004) 602–608; D. Dopico, F. González, A. Luaces, M. Saura and D. García-Vallejo, Nonlinear Dynamics 93 (2018) 2039–2056.
Order 2 with the trapezoidal rule.
"""

from __future__ import annotations

from typing import Protocol

import casadi as ca

from ..coordinates.equations import Dynamics
from ..stages.chain import CONSTRAINTS, COORDINATES, PARAMETERS, SCALAR, Block, Chain, Stage
from ..stages.saddle import Saddle
from ..symbols import SX

ROUNDING = 1e-14
"""Relative error with which positions are known."""


class DifferenceScheme(Protocol):
    """Relations  q = q̂ + β h² q̈,  q̇ = q̂̇ + γ h q̈  of an implicit integrator."""

    @property
    def beta(self) -> float:
        """Weight of the new acceleration in the position."""
        ...

    @property
    def gamma(self) -> float:
        """Weight of the new acceleration in the velocity."""
        ...

    def predict(self, q: SX, v: SX, a: SX, h: SX) -> tuple[SX, SX]:
        """q̂ and q̂̇ from the last state."""
        ...


def ali3p_step(dynamics: Dynamics, scheme: DifferenceScheme, saddle: Saddle) -> Chain:
    """One ALI3-P step with the given difference scheme; its settings are h, α, ρ and the time at its end."""
    e = dynamics
    n, m = e.q.numel(), e.λ.numel()
    q0, v0, a0, λ0 = (SX.sym(name, size) for name, size in (("q0", n), ("v0", n), ("a0", n), ("λ0", m)))
    h, α = SX.sym("h"), SX.sym("α", m)
    β, γ = scheme.beta, scheme.gamma
    none = SX.zeros(m)

    a_, v_ = SX.sym("a*", n), SX.sym("v*", n)
    q̂, v̂ = scheme.predict(q0, v0, a0, h)
    balance = ca.substitute([e.balance], [e.v, e.a], [v_, a_])[0]
    motion = Stage(
        "motion",
        a_,
        e.λ,
        balance,
        e.constraints,
        a0,
        λ0,
        α,
        e.symmetric,
        β * h**2,
        ((e.q, q̂ + β * h**2 * a_), (v_, v̂ + γ * h * a_)),
        noise=ROUNDING / (β * h**2),
        magnitude=e.q,
    )
    v, a, σ, τ = e.v, e.a, SX.sym("σ", m), SX.sym("τ", m)
    Φ_q = e.constraint_jacobian
    velocity = Stage("velocity projection", v, σ, e.mass @ (v - v_) + Φ_q.T @ σ, e.constraint_rate, v_, none, α)
    acceleration = Stage("acceleration projection", a, τ, e.mass @ (a - a_) + Φ_q.T @ τ, e.constraint_acceleration, a_, none, α)
    settings = Block(SCALAR, h), Block(CONSTRAINTS, α), Block(PARAMETERS, e.ρ), Block(SCALAR, e.t)
    return Chain(
        "step", _state(q0, v0, a0, λ0), settings, (motion, velocity, acceleration), _state(e.q, v, a, e.λ + τ), e.levels, saddle
    )


def _state(q: SX, v: SX, a: SX, λ: SX) -> tuple[Block, ...]:
    return (*[Block(COORDINATES, x) for x in (q, v, a)], Block(CONSTRAINTS, λ))
