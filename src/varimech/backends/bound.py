"""Functions bound to arrays: called repeatedly without copies. Plans are executed here by NumPy,
CasADi and SciPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from threading import Lock
from typing import Any

import casadi as ca
import numpy as np

from ..stages.plan import Factor, Factors, Map, Mode, Operation, Pattern, Plan, Port, Solve, Zero

Call = Callable[[], None]


def bound(
    function: ca.Function | Plan, arguments: list[np.ndarray], results: list[np.ndarray]
) -> Call:
    """Return a call of a function on fixed arrays, without copies."""
    if isinstance(function, Plan):
        return _bound_plan(function, arguments, results)
    return _bound_function(function, arguments, results)


def evaluated(function: ca.Function | Plan, *arguments: np.ndarray) -> list[np.ndarray]:
    """Evaluate a function once and return its results."""
    results = [np.zeros(function.numel_out(k)) for k in range(function.n_out())]
    bound(function, list(arguments), results)()
    return results


class Evaluation:
    """A function that is evaluated repeatedly, also from several threads."""

    def __init__(self, function: ca.Function | Plan, arguments: int):
        self._arguments = [np.zeros(function.numel_in(k)) for k in range(arguments)]
        self._results = [np.zeros(function.numel_out(k)) for k in range(function.n_out())]
        self._call = bound(function, self._arguments, self._results)
        self._lock = Lock()

    def __call__(self, *arguments: np.ndarray) -> list[np.ndarray]:
        """Evaluate the function once and return its results."""
        with self._lock:
            for own, given in zip(self._arguments, arguments, strict=True):
                own[:] = given.ravel()
            self._call()
            return [result.copy() for result in self._results]


def _bound_function(
    function: ca.Function, arguments: list[np.ndarray], results: list[np.ndarray]
) -> Call:
    """Bind a CasADi function to fixed arrays (its matrices are stored by columns)."""
    buffer: Any
    buffer, call = function.buffer()
    for k, array in enumerate(arguments):
        buffer.set_arg(k, _flat(array).data)
    for k, array in enumerate(results):
        buffer.set_res(k, _flat(array).data)
    return _Bound(buffer, call, [*arguments, *results])


class _Bound:
    """A call that keeps alive the arrays that its buffer points to but does not own."""

    def __init__(self, buffer: Any, call: Call, arrays: list[np.ndarray]):
        self._kept = (buffer, arrays)
        self._call = call

    def __call__(self) -> None:
        self._call()


def _bound_plan(plan: Plan, arguments: list[np.ndarray], results: list[np.ndarray]) -> Call:
    """Bind a plan to fixed arrays."""
    bases = [np.zeros(plan.workspace), np.concatenate([np.zeros(0), *plan.constants])]
    bases += [_flat(array) for array in (*arguments, *results)]
    inverses: dict[int, Any] = {}
    calls = [_operation(operation, bases, inverses) for operation in plan.operations]

    def execute() -> None:
        # non-finite results are detected by the caller, as with compiled code
        with np.errstate(all="ignore"):
            for call in calls:
                call()

    return execute


def _operation(operation: Operation, bases: list[np.ndarray], inverses: dict[int, Any]) -> Call:
    if isinstance(operation, Zero):
        v = operation.vector
        return lambda: bases[v.base][v.offset : v.offset + v.rows * v.width].fill(0.0)
    if isinstance(operation, Map):
        return _map_in_turn(operation, bases) if operation.in_turn else _map(operation, bases)
    if isinstance(operation, Factor):
        return _factor(operation.factors, bases[0], inverses)
    return _solve(operation, bases[0], inverses)


def _map(operation: Map, bases: list[np.ndarray]) -> Call:
    count, inputs, outputs = operation.count, operation.inputs, operation.outputs
    kernel, calls = operation.kernel, count * operation.width
    mapped = kernel.map(kernel.name(), "serial", calls, [], [])
    gathered = [np.zeros(mapped.numel_in(k)) for k in range(len(inputs))]
    computed = [np.zeros(mapped.numel_out(k)) for k in range(len(outputs))]
    call = _bound_function(mapped, gathered, computed)
    reads = [
        (a, bases[p.vector.base], _places(operation, p, k < (operation.shared or 0)))
        for k, (a, p) in enumerate(zip(gathered, inputs, strict=True))
    ]
    writes = [
        (
            a,
            bases[p.vector.base],
            np.array([p.vector.offset]) if p.mode == Mode.LARGEST else _places(operation, p),
            p.mode,
        )
        for a, p in zip(computed, outputs, strict=True)
    ]

    def execute() -> None:
        for array, base, indices in reads:
            array[:] = base[indices]
        call()
        for array, base, indices, mode in writes:
            if mode == Mode.SET:
                base[indices] = array
            elif mode == Mode.ADD:
                np.add.at(base, indices, array)
            else:
                base[indices] = np.maximum(base[indices], np.abs(array).max())

    return execute


def _places(operation: Map, port: Port, shared: bool = False) -> np.ndarray:
    """Return the indices, within the base, of the numbers that a port passes to the kernel, call by
    call: all columns of an element, then those of the next element.
    """
    rows = port.element_rows(operation.count)[:, None, :] * port.vector.width
    columns = np.zeros(operation.width, int) if shared else np.arange(operation.width)
    return (port.vector.offset + rows + columns[:, None]).ravel()


def _map_in_turn(operation: Map, bases: list[np.ndarray]) -> Call:
    """Bind a map whose elements are executed one after the other."""

    def single(port: Port, k: int) -> Port:
        table = (
            np.arange(k * port.rows, (k + 1) * port.rows) if port.table is None else port.table[k]
        )
        return port if port.same or port.mode == Mode.LARGEST else replace(port, table=table)

    def turn(k: int) -> Call:
        inputs, outputs = (
            tuple(single(p, k) for p in ports) for ports in (operation.inputs, operation.outputs)
        )
        return _map(replace(operation, count=1, inputs=inputs, outputs=outputs), bases)

    calls = [turn(k) for k in range(operation.count)]

    def execute() -> None:
        for call in calls:
            call()

    return execute


def _factor(factors: Factors, workspace: np.ndarray, inverses: dict[int, Any]) -> Call:
    from scipy.sparse import csc_matrix
    from scipy.sparse.linalg import splu

    pattern, first = factors.pattern, factors.values.offset
    rows, columns, places = _positions(pattern, symmetric=factors.symmetric)
    order = np.lexsort((rows, columns))
    starts = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=pattern.size))])

    def execute() -> None:
        A = csc_matrix(
            (workspace[first + places[order]], rows[order], starts),
            shape=(pattern.size, pattern.size),
        )
        try:
            # as in plan.c: rows are in elimination order already, and there is no pivoting
            inverse = splu(
                A,
                permc_spec="NATURAL",
                diag_pivot_thresh=0.0,
                options={"SymmetricMode": True, "Equil": False},
            )
            inverses[first] = inverse.solve
        except RuntimeError:  # singular
            inverses[first] = lambda x, _: np.full_like(x, np.nan)

    return execute


def _positions(pattern: Pattern, *, symmetric: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return row, column and storage index of every entry."""
    n, nu = pattern.size, pattern.upper.size
    diagonal = np.arange(n)
    upper_rows = np.repeat(diagonal, np.diff(pattern.upper_start))
    lower_rows = np.repeat(diagonal, np.diff(pattern.lower_start))
    lower = n + nu + np.arange(pattern.lower.size)
    if symmetric:
        lower = n + np.argsort(pattern.below)
    rows = np.concatenate([diagonal, upper_rows, lower_rows])
    columns = np.concatenate([diagonal, pattern.upper, pattern.lower])
    return rows, columns, np.concatenate([diagonal, n + np.arange(nu), lower])


def _solve(operation: Solve, workspace: np.ndarray, inverses: dict[int, Any]) -> Call:
    x, first = operation.x, operation.factors.values.offset
    view = workspace[x.offset : x.offset + x.rows * x.width].reshape(x.rows, x.width)

    def execute() -> None:
        view[:] = inverses[first](view.copy(), "T" if operation.transposed else "N")

    return execute


def _flat(array: np.ndarray) -> np.ndarray:
    if not array.flags.c_contiguous:
        raise ValueError("array is not contiguous")
    return array.reshape(-1)
