"""Symbols: what equations are stated in, CasADi's expressions of scalars."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from typing import Any

import casadi as ca

SX = ca.SX
Instruction = tuple[int, list[SX], list[int]]
"""CasADi's number of an operation, what it is given, and where its result goes."""
NOT_SYMBOLIC = (TypeError, ValueError, RuntimeError, NotImplementedError)
"""What CasADi raises where something is not a number or an expression."""

# numpy's functions on symbols work, and have always worked; CasADi 3.8 would print a page about
# their future
if hasattr(ca.GlobalOptions, "setNumpyMode"):
    ca.GlobalOptions.setNumpyMode(-1)


def symbols_in(*expressions: SX) -> set[int]:
    """What identifies the symbols that occur in some expressions."""
    return {symbol.element_hash() for expression in expressions for symbol in ca.symvar(expression)}


def traced(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of SX, with the expressions built once for each shape of its arguments: repeated
    for many things it is ten times faster.
    """
    built: dict[tuple[tuple[int, int], ...], tuple[ca.Function, bool]] = {}

    @wraps(function)
    def call(*arguments: SX) -> Any:
        shapes = tuple(x.shape for x in arguments)
        if shapes not in built:
            symbols = [SX.sym("x", *shape) for shape in shapes]
            result = function(*symbols)
            many = isinstance(result, tuple)
            built[shapes] = ca.Function("traced", symbols, list(result) if many else [result]), many
        expressions, many = built[shapes]
        found = expressions.call(list(arguments))
        return tuple(found) if many else found[0]

    return call


def replayed(
    function: ca.Function, inputs: Sequence[SX], numbers: Iterable[SX] | None = None
) -> Iterator[Instruction]:
    """The instructions of a function, carried out one by one on other symbols, and with other
    numbers in place of its own.
    """
    work: dict[int, SX] = {}
    left = None if numbers is None else iter(numbers)
    for k in range(function.n_instructions()):
        operation, to = function.instruction_id(k), function.instruction_output(k)
        if operation == ca.OP_CONST:
            work[to[0]] = SX(function.instruction_constant(k)) if left is None else next(left)
            continue
        given = function.instruction_input(k)
        if operation == ca.OP_INPUT:
            work[to[0]] = inputs[given[0]]
            continue
        values = [work[place] for place in given]
        yield operation, values, to
        if operation != ca.OP_OUTPUT:
            work[to[0]] = (
                SX.unary(operation, *values) if len(values) == 1 else SX.binary(operation, *values)
            )


def wedge(a: SX, b: SX) -> SX:
    """a × b: a number in the plane, a vector in space."""
    return a[0] * b[1] - a[1] * b[0] if a.numel() == 2 else ca.cross(a, b)


def wrapped(angle: SX) -> SX:
    """The same angle in (−π, π], smooth there."""
    return ca.atan2(ca.sin(angle), ca.cos(angle))
