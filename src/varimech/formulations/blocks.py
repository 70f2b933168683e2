"""How states and settings of a step are laid out, the same for all formulations."""

from __future__ import annotations

from ..coordinates.dynamics import Dynamics
from ..stages.chain import CONSTRAINTS, COORDINATES, PARAMETERS, SCALAR, Block
from ..symbols import SX

ROUNDING = 1e-14
"""Relative error with which positions are known."""


def whole_state(q: SX, v: SX, a: SX, λ: SX) -> tuple[Block, ...]:
    """Positions, velocities, accelerations and multipliers."""
    return (*[Block(COORDINATES, x) for x in (q, v, a)], Block(CONSTRAINTS, λ))


def settings_of(dynamics: Dynamics, α: SX) -> tuple[Block, ...]:
    """Penalty factors, parameters and time."""
    return Block(CONSTRAINTS, α), Block(PARAMETERS, dynamics.ρ), Block(SCALAR, dynamics.t)


def stabilised(dynamics: Dynamics, ω: float, ξ: float) -> SX:
    """Φ̈ + 2ξω Φ̇ + ω² Φ (Baumgarte): what drifts off the constraints comes back like a damped oscillation of frequency ω."""
    e = dynamics
    return e.constraint_acceleration + 2 * ξ * ω * e.constraint_rate + ω**2 * e.constraints
