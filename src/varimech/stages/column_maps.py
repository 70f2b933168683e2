"""Maps over elements, and over the columns of their derivatives.

Derivatives are stored by rows, one number for each parameter (or each objective of an adjoint), and
the same linear function applies to every column. A kernel is therefore stated for one column: its
*coefficients*, which do not depend on the column, are computed once for each element, and the rest
is executed for several columns at a time by vector instructions. The code does not depend on the
number of columns.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..core.symbols import SX, symbols_in, without_repetitions
from .plan import Map, Plan, Port

Use = tuple[SX, Port]
"""Symbols of an argument, or an expression, of one column, and the port through which it is read or
written.
"""


def append_maps(
    plan: Plan, count: int, inputs: list[Use], outputs: list[Use], *, in_turn: bool = False
) -> None:
    """Append the evaluation of outputs for `count` elements to a plan.

    Ports of vectors with more than one number in a row belong to columns. Outputs of this kind are
    linear in inputs of this kind. With `in_turn`, each element reads the results of the elements
    before.
    """
    expressions = without_repetitions([x for x, _ in inputs], [ca.densify(x) for x, _ in outputs])
    results = list(zip(expressions, (port for _, port in outputs), strict=True))
    values, columns = ([u for u in results if _by_column(u) is which] for which in (False, True))
    shared, own = ([u for u in inputs if _by_column(u) is which] for which in (False, True))
    coefficients: list[Use] = []
    if columns:
        whole, symbols, parts = ca.extract_parametric(
            ca.veccat(*[x for x, _ in columns]),
            ca.veccat(SX(0, 1), *[x for x, _ in shared]),
            {"extract_trivial": True},
        )
        sizes = np.cumsum([0, *[x.numel() for x, _ in columns]]).tolist()
        columns = [
            (ca.densify(x), port)
            for x, (_, port) in zip(ca.vertsplit(whole, sizes), columns, strict=True)
        ]
        if symbols:
            port = Port(plan.scratch(count * len(symbols)), len(symbols))
            values = [*values, (ca.vertcat(*parts), port)]
            coefficients = [(ca.vertcat(*symbols), port)]
    if values:
        turns = in_turn and len(values) > len(coefficients)
        plan.operations.append(_map("kernel", count, _used(shared, values), values, turns))
    if columns:
        used = [*coefficients, *_used(own, columns)]
        plan.operations.append(_map("columns", count, used, columns, in_turn, len(coefficients)))


def _by_column(use: Use) -> bool:
    return use[1].vector.width > 1


def _used(inputs: list[Use], outputs: list[Use]) -> list[Use]:
    occurring = symbols_in(*[x for x, _ in outputs])
    return [u for u in inputs if not occurring.isdisjoint(symbols_in(u[0]))]


def _map(
    name: str,
    count: int,
    inputs: list[Use],
    outputs: list[Use],
    in_turn: bool,
    shared: int | None = None,
) -> Map:
    kernel = ca.Function(name, [x for x, _ in inputs], [x for x, _ in outputs])
    arguments, results = (tuple(port for _, port in uses) for uses in (inputs, outputs))
    return Map(kernel, count, arguments, results, in_turn, shared)
