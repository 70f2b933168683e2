"""Torsional springs know their angle within half a turn of rest only; their twist is watched at every step of a run."""

from __future__ import annotations

import casadi as ca

from ..model.forces import Spring
from ..model.measures import Turn
from ..model.parts import Parts
from ..symbols import SX
from .equations import Equations


def torsional_springs(model: Parts) -> list[Spring]:
    """Springs on an angle."""
    springs = [f for f in model.forces.values() if isinstance(f, Spring) and isinstance(f.measure, Turn)]
    return [spring for spring in springs if not spring.stiffness.is_zero()]


def twist_function(equations: Equations) -> ca.Function:
    """(state, ρ, t) → the twist of each torsional spring, in (−π, π]; a jump by more than π means that it was wound past half a turn."""
    e = equations
    twists = [s.measure.difference(e.frames, s.rest) for s in torsional_springs(e.model)]
    return ca.Function("twist", [e.packed, e.ρ, e.t], [ca.densify(ca.vertcat(SX(0, 1), *twists))])
