"""Index-1 equations with an explicit scheme and projections.

Accelerations and multipliers follow from positions and velocities by a linear system,

    M a + Φ_qᵀ λ = Q(q, v, t),     Φ_q a + Φ̇_q v + Φ̇_t = 0,

so (q, v)' = (v, a) can be integrated by any scheme for ordinary differential equations. What drifts off the constraints within a step is
of the scheme's own order; the end of each step is put back on them in the metric of M, positions by one Newton correction (the drift squared
is left), velocities exactly:

    M (q − q*) + Φ_qᵀ μ = 0,  Φ(q) = 0;     M (v − v*) + Φ_qᵀ σ = 0,  Φ_q v + Φ_t = 0.

The accelerations of the end are those of the beginning of the next step, so they cost nothing more.

E. Eich, SIAM J. Numer. Anal. 30 (1993) 1467–1482 (projections keep the order); E. Hairer and G. Wanner, Solving Ordinary Differential
Equations II, 2nd ed., Springer 1996, section VII.2.
"""

from __future__ import annotations

from typing import Protocol

import casadi as ca

from ..coordinates.equations import Dynamics
from ..stages.chain import CONSTRAINTS, COORDINATES, PARAMETERS, SCALAR, Block, Chain, Stage
from ..stages.saddle import Saddle
from ..symbols import SX


class ExplicitScheme(Protocol):
    """Coefficients of an explicit Runge–Kutta scheme."""

    @property
    def a(self) -> tuple[tuple[float, ...], ...]:
        """Weights of earlier stages in each stage."""
        ...

    @property
    def b(self) -> tuple[float, ...]:
        """Weights of the stages in the result."""
        ...

    @property
    def c(self) -> tuple[float, ...]:
        """Where in a step its stages are."""
        ...


def index1_step(dynamics: Dynamics, scheme: ExplicitScheme, saddle: Saddle, integrands: SX) -> Chain:
    """One step with projections; its settings are h, α, ρ and the time at its end. Integrands are integrated by the same scheme."""
    e = dynamics
    n, m = e.q.numel(), e.λ.numel()
    q0, v0, a0, λ0 = (SX.sym(name, size) for name, size in (("q0", n), ("v0", n), ("a0", n), ("λ0", m)))
    h, α, none = SX.sym("h"), SX.sym("α", m), SX.zeros(m)
    velocities, accelerations = [v0], [a0]
    state = [e.q, e.v, e.a, e.λ, e.t]
    values = [ca.substitute(integrands, ca.vertcat(*state), ca.vertcat(q0, v0, a0, λ0, e.t - h))]
    stages: list[Stage] = []

    def sum_of(weights: tuple[float, ...], terms: list[SX]) -> SX:
        return sum((w * x for w, x in zip(weights, terms, strict=True) if w), SX.zeros(terms[0].numel()))

    def at(q: SX, v: SX, a: SX, λ: SX, t: SX) -> list[SX]:
        return ca.substitute([e.balance, e.constraint_acceleration], [e.q, e.v, e.a, e.λ, e.t], [q, v, a, λ, t])

    for i, (row, c) in enumerate(zip(scheme.a[1:], scheme.c[1:], strict=True), start=1):
        q, v, a, λ = (SX.sym(f"{x}{i}", size) for x, size in (("q", n), ("v", n), ("a", n), ("λ", m)))
        balance, condition = at(q, v, a, λ, e.t - (1 - c) * h)
        relations = (q, q0 + h * sum_of(row, velocities)), (v, v0 + h * sum_of(row, accelerations))
        stages.append(Stage(f"stage {i}", a, λ, balance, condition, a0, λ0, α, dependents=relations))
        values.append(ca.substitute(integrands, ca.vertcat(*state), ca.vertcat(q, v, a, λ, e.t - (1 - c) * h)))
        velocities.append(v)
        accelerations.append(a)
    q_, v_ = SX.sym("q*", n), SX.sym("v*", n)
    ends = (q_, q0 + h * sum_of(scheme.b, velocities)), (v_, v0 + h * sum_of(scheme.b, accelerations))
    μ, σ = SX.sym("μ", m), SX.sym("σ", m)
    here = ca.substitute(e.constraint_jacobian, e.q, q_)
    mass = ca.substitute(e.mass, e.q, q_)
    drift = ca.substitute(e.constraints, e.q, q_) + here @ (e.q - q_)
    stages.append(Stage("positions", e.q, μ, mass @ (e.q - q_) + here.T @ μ, drift, q_, none, α, dependents=ends))
    Φ_q = e.constraint_jacobian
    stages.append(Stage("velocities", e.v, σ, e.mass @ (e.v - v_) + Φ_q.T @ σ, e.constraint_rate, v_, none, α))
    stages.append(Stage("accelerations", e.a, e.λ, e.balance, e.constraint_acceleration, a0, λ0, α))
    settings = Block(SCALAR, h), Block(CONSTRAINTS, α), Block(PARAMETERS, e.ρ), Block(SCALAR, e.t)
    increments = h * sum_of(scheme.b, values) if integrands.numel() else None
    return Chain(
        "step", _state(q0, v0, a0, λ0), settings, tuple(stages), _state(e.q, e.v, e.a, e.λ), e.levels, saddle, increments
    )


def _state(q: SX, v: SX, a: SX, λ: SX) -> tuple[Block, ...]:
    return (*[Block(COORDINATES, x) for x in (q, v, a)], Block(CONSTRAINTS, λ))
