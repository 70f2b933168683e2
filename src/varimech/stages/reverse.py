"""Reverse differentiation of the operations of a plan, from the last to the first: costates of the
inputs from the costates of the results.

    map     y = k(x)      →  x̄ += k_xᵀ ȳ,     one column for each objective; `in_turn` maps run
                              over their elements in reverse order
    solve   x ← A⁻¹ x     →  x̄ ← A⁻ᵀ x̄

Values must be final before these operations are executed. Solves are differentiated with respect to
the right-hand side, not to A: the operations that contain them are linear in the vectors whose
costates are bound (`linear_part`), and all others have been executed before.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np

from ..core.symbols import SX, symbols_in
from .column_maps import append_maps
from .plan import Factor, Map, Mode, Operation, Plan, Port, Solve, TangentMap, Vector, Zero


class Reverse:
    """Costates of the vectors of a plan."""

    def __init__(self, plan: Plan):
        self._plan = plan
        self._costates = TangentMap()

    def bind(self, vector: Vector, costate: Vector) -> None:
        """Bind a vector to the vector of its costates, which has the same rows with one number for
        each objective.
        """
        self._costates.bind(vector, costate)

    def sweep(self, operations: list[Operation]) -> None:
        """Append the operations that propagate the costates of all results back to all inputs."""
        for k in range(len(operations) - 1, -1, -1):
            operation = operations[k]
            if isinstance(operation, Map):
                self._map(operation)
                self._forget_overwritten(operation, operations[:k])
            elif isinstance(operation, Solve) and (costate := self.of(operation.x)) is not None:
                self._plan.operations.append(
                    Solve(operation.factors, costate, transposed=not operation.transposed)
                )

    def of(self, vector: Vector) -> Vector | None:
        """Return the costate of a vector that lies within a bound one; None if there is none."""
        return self._costates.of(vector)

    def _map(self, operation: Map) -> None:
        x, y = _expressions(operation)
        written = [
            (y[k], port, self.of(port.vector))
            for k, port in enumerate(operation.outputs)
            if port.mode != Mode.LARGEST
        ]
        seeded = [(value, port, costate) for value, port, costate in written if costate is not None]
        read = [
            (symbol, port, self.of(port.vector))
            for symbol, port in zip(x, operation.inputs, strict=True)
        ]
        requested = [
            (symbol, port, costate) for symbol, port, costate in read if costate is not None
        ]
        if not seeded or not requested:
            return
        symbols = [SX.sym("μ", value.numel()) for value, *_ in seeded]
        along = ca.vertcat(*[ca.vec(symbol) for symbol, *_ in requested])
        whole = ca.jtimes(
            ca.veccat(*[value for value, *_ in seeded]), along, ca.vertcat(*symbols), True
        )
        parts = ca.vertsplit(
            whole, np.cumsum([0, *[symbol.numel() for symbol, *_ in requested]]).tolist()
        )
        nonzero = [
            (part, port, costate)
            for part, (_, port, costate) in zip(parts, requested, strict=True)
            if not part.is_zero()
        ]
        if not nonzero:
            return
        count, reversed_ = operation.count, operation.in_turn

        def to_costate(port: Port, costate: Vector) -> Port:
            return _by_table(Port(costate, port.rows, port.table, port.same), count, reversed_)

        inputs = [
            (symbol, _reversed(port, count) if reversed_ else port)
            for symbol, port in zip(x, operation.inputs, strict=True)
        ]
        inputs += [
            (symbol, to_costate(port, costate))
            for symbol, (_, port, costate) in zip(symbols, seeded, strict=True)
        ]
        results = [
            (part, replace(to_costate(port, costate), mode=Mode.ADD))
            for part, port, costate in nonzero
        ]
        append_maps(self._plan, count, inputs, results, in_turn=reversed_)

    def _forget_overwritten(self, operation: Map, before: list[Operation]) -> None:
        """Zero the costates of rows that an operation overwrote: their earlier values had no
        influence.
        """
        for port in operation.outputs:
            costate = self.of(port.vector)
            if port.mode != Mode.SET or costate is None:
                continue
            rows = port.places(operation.count)
            # the last entry stands for all rows beyond
            overwritten = np.zeros(rows.max(initial=-1) + 2, bool)
            overwritten[rows] = True
            earlier = (
                p.places(op.count)
                for op in before
                if isinstance(op, Map)
                for p in op.outputs
                if p.vector.base == port.vector.base
            )
            if any(overwritten[np.minimum(other, rows.max() + 1)].any() for other in earlier):
                to = _by_table(Port(costate, port.rows, port.table), operation.count, False)
                append_maps(self._plan, operation.count, [], [(SX.zeros(port.rows), to)])


def linear_part(
    operations: list[Operation], seeds: list[Vector]
) -> tuple[list[Operation], list[Operation], list[Vector]]:
    """Split operations into those independent of the seed vectors and those linear in them.

    Returns:
        The independent operations, the linear ones, and all vectors that the linear ones write.
    """
    values: list[Operation] = []
    linear: list[Operation] = []
    written: list[Vector] = []

    def depends(vector: Vector) -> bool:
        size = vector.rows * vector.width
        return any(
            vector.base == v.base
            and vector.offset < v.offset + v.rows * v.width
            and v.offset < vector.offset + size
            for v in (*seeds, *written)
        )

    for operation in operations:
        if isinstance(operation, Map):
            x, y = _expressions(operation)
            dependent = symbols_in(
                *[
                    symbol
                    for symbol, port in zip(x, operation.inputs, strict=True)
                    if depends(port.vector)
                ]
            )
            chosen = [not dependent.isdisjoint(symbols_in(value)) for value in y]
            for selected, target in ((False, values), (True, linear)):
                if part := _part(
                    operation,
                    x,
                    y,
                    [k for k, is_linear in enumerate(chosen) if is_linear is selected],
                ):
                    target.append(part)
            for port, is_linear in zip(operation.outputs, chosen, strict=True):
                if is_linear and not depends(port.vector):
                    written.append(port.vector)
        elif isinstance(operation, Factor):
            values.append(operation)
        else:
            vector = operation.vector if isinstance(operation, Zero) else operation.x
            (linear if depends(vector) else values).append(operation)
    return values, linear, written


def _expressions(operation: Map) -> tuple[list[SX], list[SX]]:
    """Return argument symbols and results of a kernel; a kernel without arguments returns numbers."""
    x = operation.kernel.sx_in()
    return x, [SX(value) for value in operation.kernel.call(x)]


def _part(operation: Map, x: list[SX], y: list[SX], results: list[int]) -> Map | None:
    """Return a map restricted to some of its results."""
    if not results:
        return None
    if len(results) == len(y):
        return operation
    selected_results = [y[k] for k in results]
    used = symbols_in(*selected_results)
    needed = [k for k, symbol in enumerate(x) if not used.isdisjoint(symbols_in(symbol))]
    kernel = ca.Function("kernel", [x[k] for k in needed], selected_results)
    inputs, outputs = (
        tuple(operation.inputs[k] for k in needed),
        tuple(operation.outputs[k] for k in results),
    )
    return Map(kernel, operation.count, inputs, outputs, operation.in_turn)


def _by_table(port: Port, count: int, reversed_: bool) -> Port:
    """Return the port with an index table, which adding requires."""
    table = port.element_rows(count).astype(np.int32)
    return Port(port.vector, port.rows, np.ascontiguousarray(table[::-1]) if reversed_ else table)


def _reversed(port: Port, count: int) -> Port:
    """Return the port with its elements in reverse order."""
    return port if port.same else _by_table(port, count, True)
