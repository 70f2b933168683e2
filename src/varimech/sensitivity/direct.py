"""Direct differentiation of a converged step.

Each stage of a step satisfies f(x, y; u) = 0 and g(x; u) = 0 for its inputs u (last state, ρ, earlier stages). Differentiating both,

    H x' + Jᵀ y' = −f_u u',     J x' = −g_u u',

with the same H and J as the step's own linearisation, factored once for all parameters (equations 2–9 of López Varela, Dopico and Luaces,
IDETC2020-22090, for ALI3-P: motion, velocity projection and acceleration projection). The result is the exact derivative of the
discrete solution. Multipliers start from their last derivative, as the multipliers themselves do.
"""

from __future__ import annotations

import casadi as ca

from ..formulations.step import Step, solve_saddle
from ..symbols import SX


def tangent_function(step: Step, indices: list[int]) -> ca.Function:
    """(state, state', work, h, α, ρ, t) → next state': derivatives with respect to the parameters at `indices`, one column each."""
    p = len(indices)
    seeds = SX.sym("S", step.state.numel(), p)
    given, given_ = [step.state, step.parameters], [seeds, parameter_seeds(step.parameters.numel(), indices)]
    for stage in step.stages:
        u, u_ = ca.vertcat(*given), ca.vertcat(*given_)
        f, g = -ca.jtimes(stage.balance, u, u_), -ca.jtimes(stage.condition, u, u_)
        y0 = ca.jtimes(stage.multiplier_guess, u, u_)
        x_, y_ = solve_saddle(stage, step.penalty, f, g, y0)
        given += [stage.unknown, stage.multiplier]
        given_ += [x_, y_]
    result = ca.jtimes(step.next_state, ca.vertcat(*given), ca.vertcat(*given_))
    inputs = [step.state, seeds, step.work, step.size, step.penalty, step.parameters, step.time]
    return ca.Function("tangent", inputs, [ca.densify(result)])


def parameter_seeds(count: int, indices: list[int]) -> SX:
    """ρ' with respect to the chosen parameters: columns of the identity."""
    seeds = SX(count, len(indices))
    for column, index in enumerate(indices):
        seeds[index, column] = 1
    return seeds
