"""Evaluate the same functions on NumPy and CuPy arrays, so that statistics and checks of samples
held on a GPU are computed there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np


def module_of(array: Any) -> Any:
    """Return the module of an array: CuPy for an array on a GPU, otherwise NumPy."""
    cupy = sys.modules.get("cupy")
    return cupy if cupy is not None and isinstance(array, cupy.ndarray) else np


def on_host(array: Any) -> np.ndarray:
    """Return an array as a NumPy array in host memory."""
    module = module_of(array)
    return np.asarray(array) if module is np else np.asarray(module.asnumpy(array))


class NotElementwise(Exception):
    """A function contains an operation that cannot be evaluated on arrays."""


OPERATIONS: dict[str, Callable[..., Any]] = {
    "ASSIGN": lambda a: a,
    "ADD": lambda a, b: a + b,
    "SUB": lambda a, b: a - b,
    "MUL": lambda a, b: a * b,
    "DIV": lambda a, b: a / b,
    "NEG": lambda a: -a,
    "SQ": lambda a: a * a,
    "TWICE": lambda a: 2.0 * a,
    "INV": lambda a: 1.0 / a,
    "POW": np.power,
    "CONSTPOW": np.power,
    **{name.upper(): getattr(np, name) for name in ("exp", "log", "sqrt", "sin", "cos", "tan")},
    **{name.upper(): getattr(np, name) for name in ("fabs", "fmin", "fmax", "tanh")},
}
"""CasADi operations available for both modules; NumPy functions applied to a CuPy array dispatch to
CuPy.
"""


def evaluate(function: ca.Function, columns: Sequence[Any]) -> list[Any]:
    """Evaluate a function of scalar expressions for many argument values at once.

    Args:
        function: function of one vector argument with one vector result.
        columns: arrays with the values of each entry of the argument.

    Returns:
        For each entry of the result an array, or a number where it is constant.

    Raises:
        NotElementwise: if the function contains an operation that is not in `OPERATIONS`.
    """
    names = {int(getattr(ca, f"OP_{name}")): name for name in OPERATIONS}
    work: dict[int, Any] = {}
    results: list[Any] = [0.0] * function.numel_out(0)
    for k in range(function.n_instructions()):
        operation, to = function.instruction_id(k), function.instruction_output(k)
        sources = function.instruction_input(k)
        if operation == ca.OP_INPUT:
            work[to[0]] = columns[sources[1]]
        elif operation == ca.OP_OUTPUT:
            results[to[1]] = work[sources[0]]
        elif operation == ca.OP_CONST:
            work[to[0]] = function.instruction_constant(k)
        elif operation in names:
            work[to[0]] = OPERATIONS[names[operation]](*[work[place] for place in sources])
        else:
            raise NotElementwise(f"operation {operation}")
    return results
