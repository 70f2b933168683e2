"""Direct differentiation of a converged chain of stages.

Each stage satisfies f(x, y; u) = 0 and g(x; u) = 0 for its inputs u (last state, ρ, earlier
stages). Differentiating both,

    H x' + Jᵀ y' = −f_u u',     J x' = −g_u u',

with the same H and J as the stage's own linearisation, factored once for all parameters (equations
2–9 of López Varela, Dopico and Luaces, IDETC2020-22090, for ALI3-P: motion, velocity projection and
acceleration projection). The result is the exact derivative of the discrete solution. Derivatives
of multipliers are initialised with their values at the last step, as the multipliers themselves
are.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..core.symbols import SX
from ..stages.chain import Chain
from ..stages.chain_rule import ChainRule, Coefficients


@dataclass(frozen=True)
class TangentFunction:
    """Tangent map of a chain, one column per parameter:  (coefficients, state', ρ') → result',
    where ρ'
    contains only the selected parameters.

    The coefficients are expressions of the chain's unknowns, the same for all columns.
    """

    column: ca.Function
    coefficients: SX


def tangent_of(
    chain: Chain, indices: list[int], *, state_varies: bool = True, along_time: bool = False
) -> TangentFunction:
    """Return the derivative of a chain's result along a change of its initial state, of the
    parameters at `indices`, and, with `along_time`, of time, whose entry follows the parameters.

    With `state_varies=False` the state is only an initial guess, on which the result does not
    depend; state' is then ignored.
    """
    count = len(indices)
    sensitivity, seed = SX.sym("S", chain.packed.numel()), SX.sym("e", count + along_time)
    coefficients = Coefficients()
    known = ChainRule(
        [chain.parameters],
        [parameter_seeds(chain.parameters.numel(), indices) @ seed[:count]],
        coefficients,
    )
    if along_time:
        known = known.extended([chain.time], [seed[count]])
    if state_varies:
        rows = ca.vertsplit(
            sensitivity, [0, *np.cumsum([block.value.numel() for block in chain.state]).tolist()]
        )
        known = known.extended([block.value for block in chain.state], rows)
    for stage in chain.stages:
        known = known.with_names(stage.named)
        if stage.derivatives == 0:
            continue
        relations = [known.derivative(relation) for _, relation in stage.dependents]
        here = known.extended([symbol for symbol, _ in stage.dependents], relations)
        f, g = (
            -here.derivative(stage.balance),
            -here.derivative(stage.condition) * coefficients(1 / stage.weight),
        )
        # the initial guess of y' matters only where redundant constraints leave y' undetermined
        y0 = None if chain.saddle.regular else known.derivative(stage.multiplier_guess)
        x_, y_ = chain.solve_column(stage, f, g, y0, coefficients)
        known = known.extended([stage.unknown, stage.multiplier], [x_, y_])
        # with x' known, the derivatives of the dependents follow
        relations = [known.derivative(relation) for _, relation in stage.dependents]
        known = known.extended([symbol for symbol, _ in stage.dependents], relations)
    result = ca.cse(
        ca.densify(ca.vertcat(*[known.derivative(block.value) for block in chain.result]))
    )
    column = ca.Function(
        f"{chain.name}_tangent", [coefficients.symbols, sensitivity, seed], [result]
    )
    return TangentFunction(column, coefficients.values)


def parameter_seeds(count: int, indices: list[int]) -> SX:
    """Return ρ' with respect to the selected parameters: columns of the identity."""
    seeds = SX(count, len(indices))
    for column, index in enumerate(indices):
        seeds[index, column] = 1
    return seeds
