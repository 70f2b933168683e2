"""Detection of expressions that vary no faster than the quantities they depend on.

A product of positions and velocities changes as fast as its factors do. Anything narrow or abrupt
beside them (the bell of a detent, the comparison of a stop, a reciprocal near its pole) is the
result of another operation.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from .symbols import SX, symbols_in

GRADUAL = frozenset(
    {
        ca.OP_ASSIGN,
        ca.OP_ADD,
        ca.OP_SUB,
        ca.OP_NEG,
        ca.OP_MUL,
        ca.OP_TWICE,
        ca.OP_SQ,
        ca.OP_OUTPUT,
    }
)
"""Operations whose result varies no faster than their operands."""


def is_gradual(expressions: Sequence[SX], constant: set[int]) -> bool:
    """Return whether expressions consist of sums and products of their symbols. Any operation may
    act on symbols that are `constant`, given by their hashes.
    """
    everything = ca.densify(ca.veccat(SX(0, 1), *expressions))
    symbols = ca.symvar(everything)
    varying = [not symbols_in(x) <= constant for x in symbols]
    function = ca.Function("stated", symbols, [everything])
    varies: dict[int, bool] = {}
    for k in range(function.n_instructions()):
        operation, to = function.instruction_id(k), function.instruction_output(k)
        sources = function.instruction_input(k)
        if operation == ca.OP_CONST:
            varies[to[0]] = False
        elif operation == ca.OP_INPUT:
            varies[to[0]] = varying[sources[0]]
        else:
            moving = any(varies[place] for place in sources)
            if moving and operation not in GRADUAL:
                return False
            if operation != ca.OP_OUTPUT:
                varies[to[0]] = moving
    return True
