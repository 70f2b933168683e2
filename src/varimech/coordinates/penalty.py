"""Penalty factors of all rows of the initial state (constraints, then initial conditions), kept
constant for a whole run; see `Saddle`.
"""

from __future__ import annotations

import casadi as ca

from ..core.symbols import SX
from ..stages.chain import COORDINATES, INITIAL_CONDITIONS, SCALAR
from ..stages.pieces import Output, Pieces, Stored
from ..stages.plan import Mode, Plan
from ..stages.saddle import Saddle, carried_masses, mobilities
from .dynamics import Dynamics
from .element_types import position_writer


def penalty_function(dynamics: Dynamics, saddle: Saddle) -> ca.Function:
    """Compile the penalty factors (q, ρ, t) → α."""
    e = dynamics
    α = saddle.penalty(e.start_jacobian, ca.diag(e.mass))
    return ca.Function("penalty", [e.q, e.ρ, e.t], [α])


def penalty_plan(pieces: Pieces[Dynamics], saddle: Saddle) -> Plan:
    """Build a plan that computes the penalty factors of a large system."""
    w = position_writer("penalty", pieces)
    α = Stored(INITIAL_CONDITIONS, w.plan.result(w.size(INITIAL_CONDITIONS)))
    masses, carried, mobility = (
        w.new("masses", COORDINATES),
        w.new("carried", COORDINATES),
        w.new("mobility", INITIAL_CONDITIONS),
    )
    heaviest, steepest, largest = (
        w.new(name, SCALAR) for name in ("heaviest", "steepest", "largest")
    )
    w.zero(masses, carried, heaviest, steepest, largest)
    w.over_kinds(Output(lambda e: ca.densify(ca.diag(e.mass)), masses, Mode.ADD))
    w.over_entries(COORDINATES, Output(lambda e: w.symbol(e, "masses"), heaviest, Mode.LARGEST))

    def jacobian(e: Dynamics) -> SX:
        return e.start_jacobian

    def weighed(e: Dynamics) -> tuple[SX, SX, SX]:
        return jacobian(e), w.symbol(e, "masses"), w.symbol(e, "heaviest")

    def moved(e: Dynamics) -> SX:
        return mobilities(*weighed(e), w.symbol(e, "steepest"), w.symbol(e, "carried"))

    w.over_kinds(
        Output(lambda e: ca.densify(ca.sum1(carried_masses(*weighed(e)))).T, carried, Mode.ADD),
        Output(lambda e: ca.vec(ca.densify(jacobian(e))), steepest, Mode.LARGEST),
    )
    w.over_kinds(Output(moved, mobility), Output(moved, largest, Mode.LARGEST))
    w.over_entries(
        INITIAL_CONDITIONS,
        Output(lambda e: saddle.penalties(w.symbol(e, "mobility"), w.symbol(e, "largest")), α),
    )
    return w.plan


def constant_penalty(dynamics: Dynamics, saddle: Saddle) -> ca.Function:
    """Compile constant penalty factors, for formulations in which masses do not matter."""
    e = dynamics
    return ca.Function(
        "penalty", [e.q, e.ρ, e.t], [saddle.penalty_factor * SX.ones(e.start_positions.numel())]
    )
