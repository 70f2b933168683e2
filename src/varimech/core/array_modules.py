"""Arrays of NumPy and of CuPy by the same functions: statistics and checks of samples that are on a
GPU are computed there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np


def module_of(array: Any) -> Any:
    """NumPy, or CuPy for an array on a GPU."""
    cupy = sys.modules.get("cupy")
    return cupy if cupy is not None and isinstance(array, cupy.ndarray) else np


def on_host(array: Any) -> np.ndarray:
    """An array in the memory of this process."""
    module = module_of(array)
    return np.asarray(array) if module is np else np.asarray(module.asnumpy(array))


class NotElementwise(Exception):
    """A function has an operation that arrays are not evaluated with."""


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
"""Operations of CasADi that arrays of both modules have: NumPy's functions of a CuPy array are
CuPy's.
"""


def evaluate(function: ca.Function, columns: Sequence[Any]) -> list[Any]:
    """The results of a function of scalar expressions with one argument, for many values at once.

    Args:
        function: with one vector as its argument, and one as its result.
        columns: arrays of the values of each entry of the argument.

    Returns:
        An array, or a number where it is constant, for each entry of the result.

    Raises:
        NotElementwise: for an operation that is not among `OPERATIONS`.
    """
    names = {int(getattr(ca, f"OP_{name}")): name for name in OPERATIONS}
    work: dict[int, Any] = {}
    results: list[Any] = [0.0] * function.numel_out(0)
    for k in range(function.n_instructions()):
        operation, to = function.instruction_id(k), function.instruction_output(k)
        given = function.instruction_input(k)
        if operation == ca.OP_INPUT:
            work[to[0]] = columns[given[1]]
        elif operation == ca.OP_OUTPUT:
            results[to[1]] = work[given[0]]
        elif operation == ca.OP_CONST:
            work[to[0]] = function.instruction_constant(k)
        elif operation in names:
            work[to[0]] = OPERATIONS[names[operation]](*[work[place] for place in given])
        else:
            raise NotElementwise(f"operation {operation}")
    return results
