"""Torsional springs know their angle within half a turn of rest only; their twist is watched at
every step of a run.

A jump by more than π means that one was wound past half a turn.
"""

from __future__ import annotations

import casadi as ca

from ..stages.pieces import Output, Pieces, Stored
from ..stages.plan import Plan
from .dynamics import Dynamics
from .element_types import WINDINGS, position_writer


def winding_function(dynamics: Dynamics) -> ca.Function:
    """(q, ρ, t) → the twist of each torsional spring."""
    e = dynamics
    return ca.Function("twist", [e.q, e.ρ, e.t], [ca.densify(e.twists)])


def winding_plan(pieces: Pieces[Dynamics]) -> Plan:
    """The same for a large system."""
    w = position_writer("twist", pieces)
    w.over_kinds(Output(lambda e: e.twists, Stored(WINDINGS, w.plan.result(w.size(WINDINGS)))))
    return w.plan
