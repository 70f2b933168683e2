"""Expressions of equal structure: the same scalar instructions on other symbols and with other
numbers.

A sequence of instructions determines the meaning; so elements whose expressions have equal
structure share one generated function, whose arguments are the numbers and symbols in which they
differ.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..core.symbols import SX, replayed

Roles = Mapping[int, tuple[str, int]]
"""Hash of a symbol → its role, and its index among symbols of that role."""


def roles_of(role: str, symbols: SX) -> dict[int, tuple[str, int]]:
    """Return the same role for all entries of a vector of symbols."""
    return {
        s.element_hash(): (role, k)
        for k, s in enumerate(ca.vertsplit(symbols) if symbols.numel() else [])
    }


@dataclass(frozen=True)
class Reading:
    """Structure of the expressions of one element: the part shared with similar elements, and the
    symbols and numbers that distinguish it.
    """

    key: Hashable
    """Key that is equal for elements of equal structure."""
    shapes: tuple[tuple[int, int], ...]
    function: ca.Function
    symbols: list[tuple[str, int]]
    """Role of each symbol, and its index among the local ones of that role."""
    entries: Mapping[str, list[int]]
    """Global indices that occur, for each local numbering."""
    numbers: list[float]


def read(expressions: Sequence[SX], roles: Roles, local: Mapping[str, str]) -> Reading:
    """Determine the structure of expressions. Symbols of roles named in `local` are renumbered in
    the order in which they occur, roles with the same value there together; others keep their
    indices.
    """
    everything = ca.densify(ca.veccat(*expressions))
    own = ca.symvar(everything)
    entries: dict[str, dict[int, int]] = {numbering: {} for numbering in local.values()}
    symbols = []
    for symbol in own:
        role, k = roles[symbol.element_hash()]
        if role in local:
            local_indices = entries[local[role]]
            k = local_indices.setdefault(k, len(local_indices))
        symbols.append((role, k))
    f = ca.Function("alike", own, [everything])
    numbers, instructions = [], []
    for k in range(f.n_instructions()):
        operation = f.instruction_id(k)
        if operation == ca.OP_CONST:
            numbers.append(f.instruction_constant(k))
        inputs = tuple(f.instruction_input(k)) if operation != ca.OP_CONST else ()
        instructions.append((operation, inputs, tuple(f.instruction_output(k))))
    shapes = tuple(x.shape for x in expressions)
    key = (shapes, tuple(symbols), tuple(instructions))
    return Reading(
        key,
        shapes,
        f,
        symbols,
        {numbering: list(places) for numbering, places in entries.items()},
        numbers,
    )


@dataclass(frozen=True)
class Restated:
    """Expressions that represent all elements of equal structure."""

    expressions: list[SX]
    constants: SX
    """Symbols of the numbers in which the elements differ."""
    values: np.ndarray
    """Values of these numbers: (element, number)."""


def restate(readings: Sequence[Reading], symbol: Callable[[str, int], SX]) -> Restated:
    """Restate the expressions of readings of equal structure in other symbols (by role and index)."""
    first = readings[0]
    numbers = np.array([r.numbers for r in readings]).reshape(len(readings), -1)
    vary = np.flatnonzero((numbers != numbers[0]).any(axis=0))
    constants = SX.sym("c", vary.size)
    operands: list[SX] = [SX(x) for x in first.numbers]
    for column, number in enumerate(vary):
        operands[number] = constants[column]
    values = _restated(
        first.function, [symbol(role, place) for role, place in first.symbols], operands
    )
    offset, expressions = 0, []
    for rows, columns in first.shapes:
        expressions.append(ca.reshape(values[offset : offset + rows * columns], rows, columns))
        offset += rows * columns
    return Restated(expressions, constants, numbers[:, vary])


def _restated(f: ca.Function, inputs: list[SX], numbers: list[SX]) -> SX:
    """Evaluate a function for other symbols, and other numbers in place of its own."""
    outputs: list[SX] = [SX(0)] * f.numel_out(0)
    for operation, values, to in replayed(f, inputs, numbers):
        if operation == ca.OP_OUTPUT:
            outputs[to[1]] = values[0]
    return ca.vertcat(SX(0, 1), *outputs)
