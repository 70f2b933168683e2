"""CasADi's scalar expressions, in which all equations are stated, and operations on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from typing import Any

import casadi as ca

SX = ca.SX
Instruction = tuple[int, list[SX], list[int]]
"""CasADi's operation code, the operands, and the indices of the result."""
CSE_LONGEST = 4_000
"""Instructions of a function up to which CasADi eliminates its common subexpressions as soon as it is
derived. That takes 2 to 7 µs for each (1.2 s for the step of a UPS platform), simplify.c 0.05 µs.
Longer functions are simplified as bytecode, and before C text is written of them as a whole
(`WRITTEN_LONGEST`). Of 4,000 and 20,000, the smaller limit took 18 % off the time of tests that
derive many functions; 1,000 took no more off.
"""
WRITTEN_LONGEST = 20_000
"""Instructions up to which a function that is written as one C function has its common subexpressions
eliminated before, which takes CasADi less time than it saves the compiler.
"""
NOT_SYMBOLIC = (TypeError, ValueError, RuntimeError, NotImplementedError)
"""Exceptions that CasADi raises for a value that is neither a number nor an expression."""

# numpy functions of symbols work; without this option CasADi 3.8 prints a long deprecation notice
if hasattr(ca.GlobalOptions, "setNumpyMode"):
    ca.GlobalOptions.setNumpyMode(-1)


def symbols_in(*expressions: SX) -> set[int]:
    """Hashes of the symbols that occur in expressions."""
    return {symbol.element_hash() for expression in expressions for symbol in ca.symvar(expression)}


def traced(function: Callable[..., Any]) -> Callable[..., Any]:
    """Build the expressions of a function of SX once for each combination of argument shapes:
    repeated calls are ten times faster.
    """
    built: dict[tuple[tuple[int, int], ...], tuple[ca.Function, bool]] = {}

    @wraps(function)
    def call(*arguments: SX) -> object:
        shapes = tuple(x.shape for x in arguments)
        if shapes not in built:
            symbols = [SX.sym("x", *shape) for shape in shapes]
            result = function(*symbols)
            is_tuple = isinstance(result, tuple)
            built[shapes] = (
                ca.Function("traced", symbols, list(result) if is_tuple else [result]),
                is_tuple,
            )
        expressions, is_tuple = built[shapes]
        results = expressions.call(list(arguments))
        return tuple(results) if is_tuple else results[0]

    return call


def replayed(
    function: ca.Function, inputs: Sequence[SX], numbers: Iterable[SX] | None = None
) -> Iterator[Instruction]:
    """Execute the instructions of a function one by one on other symbols, optionally with other
    numbers in place of its constants.
    """
    work: dict[int, SX] = {}
    constants = None if numbers is None else iter(numbers)
    for k in range(function.n_instructions()):
        operation, to = function.instruction_id(k), function.instruction_output(k)
        if operation == ca.OP_CONST:
            work[to[0]] = (
                SX(function.instruction_constant(k)) if constants is None else next(constants)
            )
            continue
        sources = function.instruction_input(k)
        if operation == ca.OP_INPUT:
            work[to[0]] = inputs[sources[0]]
            continue
        values = [work[place] for place in sources]
        yield operation, values, to
        if operation != ca.OP_OUTPUT:
            work[to[0]] = (
                SX.unary(operation, *values) if len(values) == 1 else SX.binary(operation, *values)
            )


def wedge(a: SX, b: SX) -> SX:
    """Return a × b: a scalar in the plane, a vector in space."""
    return a[0] * b[1] - a[1] * b[0] if a.numel() == 2 else ca.cross(a, b)


def wrapped(angle: SX) -> SX:
    """Return the equivalent angle in (−π, π], smooth inside."""
    return ca.atan2(ca.sin(angle), ca.cos(angle))


def without_repetitions(arguments: list[SX], results: list[SX]) -> list[SX]:
    """Eliminate common subexpressions of results, unless there are so many instructions that
    bytecode without repetitions is faster to build.
    """
    count = ca.Function("count", arguments, results).n_instructions()
    return list(ca.cse(results)) if count <= CSE_LONGEST else results


def for_writing(function: ca.Function) -> ca.Function:
    """Return the function to be written as one C function: without common subexpressions."""
    if not CSE_LONGEST < function.n_instructions() <= WRITTEN_LONGEST:
        return function
    arguments = function.sx_in()
    return ca.Function(function.name(), arguments, ca.cse(function.call(arguments)))
