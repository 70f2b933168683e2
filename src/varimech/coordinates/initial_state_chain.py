"""The initial state as a chain of stages, executed and differentiated in generated code, starting
from a known initial state.

    positions      Φ(q, ρ) = 0,  D(q, ρ) = 0         guess: those for other parameter values
    velocities     Φ̇ = 0,  Ḋ = 0
    accelerations  M q̈ + Φ_qᵀ λ = Q,  Φ̈ = 0

For independent constraints; `initial_state.py` contains the general case and computes the first
initial state. `moving_chain` contains the first two lines only, for callers that compute
accelerations by other means.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from ..core.symbols import SX
from ..stages.chain import (
    CONSTRAINTS,
    COORDINATES,
    INITIAL_CONDITIONS,
    PARAMETERS,
    ROUNDING,
    SCALAR,
    Block,
    Chain,
    Stage,
)
from ..stages.saddle import Saddle
from .dynamics import Dynamics


def start_chain(dynamics: Dynamics, *, remember: bool = False) -> Chain:
    """Return the chain (guess of q; α, ρ, t) → consistent q, q̇, q̈, λ at t = 0; followed by q̈
    again for integrators with a memory of an acceleration.
    """
    e = dynamics
    moving = moving_chain(e, e.mass)
    m = e.λ.numel()
    accelerate = Stage(
        "accelerations",
        e.a,
        e.λ,
        e.balance,
        e.constraint_acceleration,
        SX.zeros(e.q.numel()),
        SX.zeros(m),
        moving.settings[0].value[:m],
        metric=e.mass,
    )
    result = *moving.result, Block(COORDINATES, e.a), Block(CONSTRAINTS, e.λ)
    if remember:
        result = *result, Block(COORDINATES, e.a)
    return replace(moving, stages=(*moving.stages, accelerate), result=result, levels=e.levels)


def moving_chain(dynamics: Dynamics, metric: SX) -> Chain:
    """Return the chain (guess of q; α, ρ, t) → consistent q, q̇ at t = 0, by corrections that are
    minimal in a metric.
    """
    # two passes: it runs once, and satisfies initial values to the last digit
    e, saddle = dynamics, Saddle(regular=True, passes=2)
    n = e.q.numel()
    guess = SX.sym("guess", n)
    positions, velocities = e.start_positions, e.start_velocities
    count = positions.numel()
    α, y, z, none = SX.sym("α", count), SX.sym("y", count), SX.sym("z", count), SX.zeros(count)
    G_q, Ġ_v = ca.jacobian(positions, e.q), ca.jacobian(velocities, e.v)
    place = Stage(
        "positions",
        e.q,
        y,
        G_q.T @ y,
        positions,
        guess,
        none,
        α,
        multiplier_space=INITIAL_CONDITIONS,
        noise=SX(ROUNDING),
        magnitude=e.q,
        metric=metric,
    )
    still = SX.zeros(n)
    move = Stage(
        "velocities",
        e.v,
        z,
        Ġ_v.T @ z,
        velocities,
        still,
        none,
        α,
        multiplier_space=INITIAL_CONDITIONS,
        metric=metric,
    )
    settings = Block(INITIAL_CONDITIONS, α), Block(PARAMETERS, e.ρ), Block(SCALAR, e.t)
    result = Block(COORDINATES, e.q), Block(COORDINATES, e.v)
    levels = e.constraints, e.constraint_rate, SX(0, 1)
    return Chain(
        "start", (Block(COORDINATES, guess),), settings, (place, move), result, levels, saddle
    )
