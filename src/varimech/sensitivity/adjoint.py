"""Adjoint differentiation of a converged chain of stages: the transpose of `direct`, for any number
of parameters at once.

A chain takes a state s and parameters ρ to a result r, and their changes to  r' = A s' + B ρ'
(`tangent_of`). What changes an objective, given as its derivative r̄ with respect to the result (a
costate), is pulled back by the transpose,

    s̄ = Aᵀ r̄,     ρ̄ = Bᵀ r̄,

so from the last step to the first, and through the start, one sweep yields dψ/dρ for all
parameters. Sums of the same products in another order: both agree to rounding, and each checks the
other.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ..core.symbols import SX
from ..stages.chain import Chain
from .direct import tangent_of


@dataclass(frozen=True)
class Pullback:
    """Costates of a chain, column by column:  (coefficients, r̄) → s̄, ρ̄  with all parameters; one
    column an objective.
    """

    column: ca.Function
    coefficients: SX


def pullback_of(chain: Chain, *, state_varies: bool = True, along_time: bool = False) -> Pullback:
    """The transpose of `tangent_of`, with respect to all parameters. With `state_varies=False` the state is only a guess, and its
    costate zero.
    """
    indices = list(range(chain.parameters.numel()))
    tangent = tangent_of(chain, indices, state_varies=state_varies, along_time=along_time)
    coefficients, sensitivity, seed = tangent.column.sx_in()
    result = tangent.column(coefficients, sensitivity, seed)
    costate = SX.sym("μ", result.numel())
    pulled = ca.densify(ca.jtimes(result, ca.vertcat(sensitivity, seed), costate, True))
    state, parameters = ca.vertsplit(pulled, [0, sensitivity.numel(), pulled.numel()])
    column = ca.Function(
        f"{chain.name}_pullback", [coefficients, costate], ca.cse([state, parameters])
    )
    return Pullback(column, tangent.coefficients)
