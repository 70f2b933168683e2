"""Direct differentiation of a converged chain of stages.

Each stage satisfies f(x, y; u) = 0 and g(x; u) = 0 for its inputs u (last state, ρ, earlier stages). Differentiating both,

    H x' + Jᵀ y' = −f_u u',     J x' = −g_u u',

with the same H and J as the stage's own linearisation, factored once for all parameters (equations 2–9 of López Varela, Dopico and Luaces,
IDETC2020-22090, for ALI3-P: motion, velocity projection and acceleration projection). The result is the exact derivative of the
discrete solution. Multipliers start from their last derivative, as the multipliers themselves do.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..stages.chain import Chain
from ..stages.known import Known
from ..symbols import SX


def tangent_of(chain: Chain, indices: list[int], *, state_varies: bool = True) -> tuple[SX, SX]:
    """state' as a symbol, and result' in terms of it: derivatives with respect to the parameters at `indices`, one row each.

    With `state_varies=False` the state is only a guess, on which the result does not depend; state' is then ignored.
    """
    transposed = SX.sym("S", len(indices), chain.packed.numel())
    seeds = transposed.T
    known = Known([chain.parameters], [parameter_seeds(chain.parameters.numel(), indices)])
    if state_varies:
        rows = ca.vertsplit(seeds, [0, *np.cumsum([block.value.numel() for block in chain.state]).tolist()])
        known = known.extended([block.value for block in chain.state], rows)
    for stage in chain.stages:
        relations = [known.derivative(relation) for _, relation in stage.dependents]
        here = known.extended([symbol for symbol, _ in stage.dependents], relations)
        f, g = -here.derivative(stage.balance), -here.derivative(stage.condition) * (1 / stage.weight)
        # the first guess of y' matters only where redundant constraints leave a choice
        y0 = None if chain.saddle.regular else known.derivative(stage.multiplier_guess)
        x_, y_ = chain.solve(stage, f, g, y0)
        known = known.extended([stage.unknown, stage.multiplier], [x_, y_])
        # now that x' is known, so are the dependents'
        relations = [known.derivative(relation) for _, relation in stage.dependents]
        known = known.extended([symbol for symbol, _ in stage.dependents], relations)
    return transposed, ca.vertcat(*[known.derivative(block.value) for block in chain.result]).T


def parameter_seeds(count: int, indices: list[int]) -> SX:
    """ρ' with respect to the chosen parameters: columns of the identity."""
    seeds = SX(count, len(indices))
    for column, index in enumerate(indices):
        seeds[index, column] = 1
    return seeds
