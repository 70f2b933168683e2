"""A chain augmented with its derivative in one direction of the parameters, as one chain.

Each stage,  f(x, y; u) = 0,  g(x; u) = 0,  is followed by its derivative, a linear stage for x' and
y' with the same matrices:

    f' = H x' + Jᵀ y' + f_u u' = 0,     g' = w J x' + g_u u' = 0.

The state carries its own derivative, block by block: (q, q', q̇, q̇', …), so an integrator treats
it as a mechanism with twice as many coordinates; and the parameters are (ρ, ρ'): the direction is
data. Derivatives of this chain, along the motion or by an adjoint, are second derivatives of the
original chain: forward over forward, or backward over forward.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from ..core.symbols import SX
from ..stages.chain import PARAMETERS, Block, Chain, Stage
from ..stages.chain_rule import ChainRule


def augmented(chain: Chain, *, state_varies: bool = True) -> Chain:
    """Augment a chain with its derivative. With `state_varies=False` its initial state is only an
    initial guess, which is not augmented.
    """
    direction = SX.sym("ρ'", chain.parameters.numel())
    rule = ChainRule([chain.parameters], [direction])
    state = chain.state
    if state_varies:
        tangents = [SX.sym("s'", block.value.numel()) for block in chain.state]
        rule = rule.extended([block.value for block in chain.state], tangents)
        state = _paired(chain.state, tangents)
    stages: list[Stage] = []
    for stage in chain.stages:
        derivative, rule = differentiated(stage, rule)
        stages += [stage] if derivative is None else [stage, derivative]
    *settings, parameters, time = chain.settings
    both = Block(PARAMETERS, ca.vertcat(parameters.value, direction))
    result = _paired(chain.result, [rule.derivative(block.value) for block in chain.result])
    return replace(
        chain, state=state, settings=(*settings, both, time), stages=tuple(stages), result=result
    )


def differentiated(stage: Stage, rule: ChainRule) -> tuple[Stage | None, ChainRule]:
    """Differentiate a stage with the chain rule `known`; return its derivative and the chain rule
    extended by the stage. The derivative is None where it does not matter.
    """
    names = list[tuple[SX, SX, int]]()
    for symbol, value, derivatives in stage.named:
        if derivatives:
            change = SX.sym("n'", symbol.numel()), ca.densify(rule.derivative(value))
            names.append((*change, derivatives - 1))
            rule = rule.extended([symbol], [change[0]])
    if stage.derivatives == 0:
        assert not names, f"{stage.name}: names would be lost"
        return None, rule
    x_, y_ = SX.sym("x'", stage.unknown.numel()), SX.sym("y'", stage.multiplier.numel())
    guess = ca.densify(rule.derivative(stage.multiplier_guess))
    rule = rule.extended([stage.unknown, stage.multiplier], [x_, y_])
    relations = [rule.derivative(relation) for _, relation in stage.dependents]
    rule = rule.extended([symbol for symbol, _ in stage.dependents], relations)
    derivative = Stage(
        f"{stage.name}'",
        x_,
        y_,
        rule.derivative(stage.balance),
        rule.derivative(stage.condition),
        SX.zeros(x_.numel()),
        guess,
        stage.penalty,
        stage.symmetric,
        stage.weight,
        multiplier_space=stage.multiplier_space,
        metric=stage.tangent,
        compliant=stage.compliant,
        oblique=stage.oblique,
        named=tuple(names),
        derivatives=stage.derivatives - 1,
    )
    return derivative, rule


def _paired(blocks: tuple[Block, ...], tangents: list[SX]) -> tuple[Block, ...]:
    """Insert after each block its derivative."""
    pairs = zip(blocks, tangents, strict=True)
    return tuple(b for block, tangent in pairs for b in (block, Block(block.space, tangent)))
