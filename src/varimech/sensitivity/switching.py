"""Jumps of forces and integrands along a motion, and their contributions to derivatives.

Where a switching function g(q, v, t, ρ) changes its sign at t*, accelerations jump from a⁻ to a⁺,
and integrands from g⁻ to g⁺. Parameters move t*, by differentiation of g = 0 along the motion,

    dt*/dρ = −(g_x x' + g_ρ) / ġ,     x = (q, v),   ġ = g_q v + g_v a + g_t,

so that between the times at which two neighbouring motions pass the jump they differ by its height:

    v' ← v' + (a⁻ − a⁺) dt*/dρ,     ψ' ← ψ' + (g⁻ − g⁺) dt*/dρ

(the saltation matrix of a motion whose state does not jump; R. I. Leine and H. Nijmeijer, Dynamics
and Bifurcations of Non-Smooth Mechanical Systems, Springer 2004, section 7.4). Adjoints use the
transpose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..coordinates.equations import Equations
from ..core.symbols import SX, symbols_in
from .objective import Objective
from .smoothness import Switch, switches

SAME_DEPTH = 40
"""Depth of operations to which expressions are compared to recognise the same switch."""
ROUNDED = 2e-15
"""Relative rounding error of a function of the state, as a share of its terms: about ten units in
the last place.
"""


@dataclass(frozen=True, eq=False)
class SwitchingFunctions:
    """Functions of (state, ρ, t) for all jumps."""

    values: ca.Function
    """Sides (numbers that change where the function's sign does; ±2 and 0 for kinks), g, and ġ,
    concatenated.
    """
    gradient: ca.Function | None
    """g_x, g_ρ along the directions, and g_ρ for all parameters: a row for each switch."""
    count: int
    """Number of switches, as returned by `jumps_of`."""
    of_forces: int
    """Number of switches in forces; they come first, switches in integrands follow."""


def jumps_of(equations: Equations, objectives: Mapping[str, Objective]) -> list[Switch]:
    """Return the switches of forces and integrands whose time depends on the motion or the
    parameters, each once.

    Steps end at kinks, too: an error estimate would locate them by ever shorter steps.
    """
    e = equations
    decided, unknown = symbols_in(e.q, e.v, e.ρ), symbols_in(e.a, e.λ)
    jumps: list[Switch] = []
    for switch in switches(e, objectives):
        own = symbols_in(switch.at)
        if switch.final or own.isdisjoint(decided):
            continue
        if not own.isdisjoint(unknown):  # its rate is not available
            continue
        if not any(ca.is_equal(switch.at, other.at, SAME_DEPTH) for other in jumps):
            jumps.append(switch)
    return jumps


def switching_functions(
    equations: Equations, objectives: Mapping[str, Objective], directions: np.ndarray | None
) -> SwitchingFunctions | None:
    """Build the functions for all jumps; None where there are none."""
    jumps, e = jumps_of(equations, objectives), equations
    if not jumps:
        return None
    g = ca.vertcat(*[s.at for s in jumps])
    sides = ca.vertcat(*[s.side if s.jump else _side_of_kink(e, s.at) for s in jumps])
    x, arguments = ca.vertcat(e.q, e.v), [e.packed, e.ρ, e.t]
    rate = ca.jtimes(g, ca.vertcat(x, e.t), ca.vertcat(e.v, e.a, SX(1)))
    values = ca.Function("switching", arguments, [ca.densify(ca.vertcat(sides, g, rate))])
    gradient = None
    if directions is not None:
        g_x, g_ρ = ca.jacobian(g, x), ca.jacobian(g, e.ρ)
        rows = (g_x, g_ρ @ ca.DM(directions), g_ρ)
        gradient = ca.Function(
            "switching_gradient", arguments, [ca.densify(ca.vec(part.T)) for part in rows]
        )
    of_forces = sum(s.objective is None for s in jumps)
    return SwitchingFunctions(values, gradient, len(jumps), of_forces)


def _side_of_kink(e: Equations, at: SX) -> SX:
    """Return the side of a kink: ±2, or 0 within rounding of zero. A function that starts there
    does not change sides, whatever sign rounding gives it: there is nothing to jump over.
    """
    x = ca.vertcat(e.q, e.v, e.ρ)
    rounding = ROUNDED * ca.sum1(ca.fabs(ca.densify(ca.gradient(at, x)) * x))
    return 2 * (at > rounding) - 2 * (at < -rounding)
