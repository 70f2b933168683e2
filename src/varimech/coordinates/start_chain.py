"""The start as a chain of stages, so that it can run, and be differentiated, in generated code from a start found before.

    positions      Φ(q, ρ) = 0,  D(q, ρ) = 0         from a guess: the start for other parameter values
    velocities     Φ̇ = 0,  Ḋ = 0
    accelerations  M q̈ + Φ_qᵀ λ = Q,  Φ̈ = 0

For constraints that are independent of each other; `start.py` has the general case and finds the first start of all.
"""

from __future__ import annotations

import casadi as ca

from ..model.start import Start
from ..stages.chain import Chain, Stage
from ..stages.saddle import Saddle
from ..symbols import SX
from .equations import Equations

ROUNDING = 1e-14
"""Relative error with which positions are known."""


def start_rows(e: Equations, start: Start) -> tuple[SX, SX]:
    """Φ and D, in the form to assemble with, and Φ̇ and Ḋ."""
    at_start = [b.residuals if b.at_start is None else b.at_start for b in e.blocks]
    positions = ca.vertcat(SX(0, 1), *at_start, *[h.deviation(e.frames) for h in start.holds])
    return positions, ca.vertcat(e.constraint_rate, *[h.rate_deviation(e.frames) for h in start.holds])


def start_chain(equations: Equations, start: Start) -> Chain:
    """(q near the start; ρ, t) → consistent q, q̇, q̈, λ at t = 0."""
    e, saddle = equations, Saddle(regular=True, passes=2)  # it runs once, so that given values are met to the last digit
    n = e.q.numel()
    guess = SX.sym("guess", n)
    positions, velocities = start_rows(e, start)
    count = positions.numel()
    one, none = SX.eye(n), SX.zeros(count)

    y, z = SX.sym("y", count), SX.sym("z", count)
    G_q, Ġ_v = ca.jacobian(positions, e.q), ca.jacobian(velocities, e.v)
    ones = SX.ones(n)
    place = Stage(
        "positions",
        e.q,
        y,
        G_q.T @ y,
        positions,
        guess,
        none,
        saddle.penalty(G_q, ones),
        noise=ROUNDING * (1 + ca.norm_inf(e.q)),
        metric=one,
    )
    move = Stage("velocities", e.v, z, Ġ_v.T @ z, velocities, SX.zeros(n), none, saddle.penalty(Ġ_v, ones), metric=one)
    α = saddle.penalty(ca.jacobian(e.constraints, e.q), ca.diag(e.mass))
    accelerate = Stage("accelerations", e.a, e.λ, e.balance, e.constraint_acceleration, SX.zeros(n), SX.zeros(e.λ.numel()), α)
    return Chain("start", (guess,), (e.ρ, e.t), (place, move, accelerate), (e.q, e.v, e.a, e.λ), e.residual_norms, saddle)
