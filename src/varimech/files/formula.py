"""Expressions of parameters as text that parses back to the same expression."""

from __future__ import annotations

import json
import keyword
import math
from collections.abc import Callable, Mapping
from typing import Any

import casadi as ca

from ..core.errors import ModelError
from ..core.expressions import CONSTANTS, LONGEST
from ..core.symbols import SX
from ..core.units import split_quantity

SUM, PRODUCT, SIGN, POWER, ATOM = range(5)
"""Operator precedence of the parts of a formula, increasing."""
Piece = tuple[str, int]
_CALLS = {
    **{
        getattr(ca, f"OP_{op.upper()}"): op
        for op in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh")
    },
    **{
        ca.OP_EXP: "exp",
        ca.OP_LOG: "log",
        ca.OP_SQRT: "sqrt",
        ca.OP_FABS: "absolute",
        ca.OP_SIGN: "sign",
    },
    **{ca.OP_FMIN: "minimum", ca.OP_FMAX: "maximum"},
}
_COMPARED = {ca.OP_LT: "<", ca.OP_LE: "<="}


def formula(expression: SX, parameters: Mapping[str, SX], label: str) -> float | str:
    """Write a scalar expression of parameters as a number or a text.

    Raises:
        ModelError: for operations that expressions in text do not have.
    """
    if expression.is_constant():
        return float(expression)
    names = list(parameters)
    function = ca.Function("f", [ca.vertcat(*parameters.values())], [ca.densify(expression)])
    work: dict[int, Piece] = {}
    result = ""
    for k in range(function.n_instructions()):
        operation, inputs, outputs = (
            function.instruction_id(k),
            function.instruction_input(k),
            function.instruction_output(k),
        )
        if operation == ca.OP_OUTPUT:
            result = work[inputs[0]][0]
        elif operation == ca.OP_INPUT:
            work[outputs[0]] = named(names[inputs[1]]), ATOM
        elif operation == ca.OP_CONST:
            work[outputs[0]] = _number(function.instruction_constant(k))
        else:
            work[outputs[0]] = _combined(operation, [work[i] for i in inputs], label)
        if len(result) > LONGEST or any(
            len(work[i][0]) > LONGEST for i in outputs if i in work and operation != ca.OP_OUTPUT
        ):
            raise ModelError(
                ": its expression is too long for a text",
                label=label,
                remedy="give its parts names as parameters",
            )
    # 2.0/s would be read as a quantity
    return result if split_quantity(result) is None else f"({result})"


def named(name: str) -> str:
    """Name of a parameter in expressions."""
    plain = (
        name.isidentifier()
        and name not in CONSTANTS
        and name not in ("t", "s")
        and not keyword.iskeyword(name)
    )
    return name if plain else f"parameter({json.dumps(name, ensure_ascii=False)})"


def _number(value: float) -> Piece:
    if not math.isfinite(value):
        raise ModelError(f"an expression with the number {value} cannot be written")
    text = repr(float(value))
    return (text, SIGN) if text.startswith("-") else (text, ATOM)


def _combined(operation: int, parts: list[Piece], label: str) -> Piece:
    a, b = parts[0], parts[-1]
    if operation in _CALLS:
        return f"{_CALLS[operation]}({', '.join(text for text, _ in parts)})", ATOM
    if operation in _COMPARED:
        return f"{_held(a, SUM)} {_COMPARED[operation]} {_held(b, SUM)}", SUM - 1
    rule = _RULES.get(operation)
    if rule is None:
        problem = ": its expression has an operation that texts cannot express"
        raise ModelError(problem, label=label, remedy="write it as a text, in Python too")
    return rule(a, b)


def _held(piece: Piece, tightness: int) -> str:
    return piece[0] if piece[1] >= tightness else f"({piece[0]})"


_RULES: dict[int, Callable[[Any, Any], Piece]] = {
    ca.OP_ASSIGN: lambda a, b: a,
    ca.OP_ADD: lambda a, b: (f"{_held(a, SUM)} + {_held(b, PRODUCT)}", SUM),
    ca.OP_SUB: lambda a, b: (f"{_held(a, SUM)} - {_held(b, PRODUCT)}", SUM),
    ca.OP_MUL: lambda a, b: (f"{_held(a, PRODUCT)}*{_held(b, POWER)}", PRODUCT),
    ca.OP_DIV: lambda a, b: (f"{_held(a, PRODUCT)}/{_held(b, POWER)}", PRODUCT),
    ca.OP_NEG: lambda a, b: (f"-{_held(a, POWER)}", SIGN),
    ca.OP_SQ: lambda a, b: (f"{_held(a, ATOM)}**2", POWER),
    ca.OP_TWICE: lambda a, b: (f"2*{_held(a, POWER)}", PRODUCT),
    ca.OP_INV: lambda a, b: (f"1/{_held(a, POWER)}", PRODUCT),
    ca.OP_POW: lambda a, b: (f"{_held(a, ATOM)}**{_held(b, ATOM)}", POWER),
    ca.OP_CONSTPOW: lambda a, b: (f"{_held(a, ATOM)}**{_held(b, ATOM)}", POWER),
    ca.OP_NOT: lambda a, b: (f"where({a[0]}, 0, 1)", ATOM),
    ca.OP_AND: lambda a, b: (f"where({a[0]}, where({b[0]}, 1, 0), 0)", ATOM),
    ca.OP_OR: lambda a, b: (f"where({a[0]}, 1, where({b[0]}, 1, 0))", ATOM),
    ca.OP_EQ: lambda a, b: (
        (
            f"where({_held(a, SUM)} <= {_held(b, SUM)}, where({_held(b, SUM)} <= {_held(a, SUM)},"
            " 1, 0), 0)"
        ),
        ATOM,
    ),
    ca.OP_NE: lambda a, b: (
        (
            f"where({_held(a, SUM)} <= {_held(b, SUM)}, where({_held(b, SUM)} <= {_held(a, SUM)},"
            " 0, 1), 1)"
        ),
        ATOM,
    ),
    ca.OP_IF_ELSE_ZERO: lambda a, b: (f"where({a[0]}, {b[0]}, 0)", ATOM),
}
