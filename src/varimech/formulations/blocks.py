"""What formulations have in common: how states and settings of a step are laid out, and
accelerations at given positions and velocities.
"""

from __future__ import annotations

from ..coordinates.dynamics import Dynamics
from ..core.symbols import SX
from ..stages.chain import CONSTRAINTS, COORDINATES, PARAMETERS, SCALAR, Block, Stage


def whole_state(q: SX, v: SX, a: SX, λ: SX) -> tuple[Block, ...]:
    """Positions, velocities, accelerations and multipliers."""
    return (*[Block(COORDINATES, x) for x in (q, v, a)], Block(CONSTRAINTS, λ))


def settings_of(dynamics: Dynamics, α: SX) -> tuple[Block, ...]:
    """Penalty factors, parameters and time."""
    return Block(CONSTRAINTS, α), Block(PARAMETERS, dynamics.ρ), Block(SCALAR, dynamics.t)


def stabilised(dynamics: Dynamics, ω: float | SX, ξ: float) -> SX:
    """Φ̈ + 2ξω Φ̇ + ω² Φ (Baumgarte): what drifts off the constraints comes back like a damped
    oscillation of frequency ω.
    """
    e = dynamics
    return e.constraint_acceleration + 2 * ξ * ω * e.constraint_rate + ω**2 * e.constraints


def accelerations(dynamics: Dynamics, condition: SX, α: SX) -> Stage:
    """M a + Φ_qᵀ λ = Q, and a condition on accelerations."""
    e = dynamics
    guess = SX.zeros(e.q.numel()), SX.zeros(e.λ.numel())
    return Stage("accelerations", e.a, e.λ, e.balance, condition, *guess, α, metric=e.mass)
