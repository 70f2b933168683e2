"""Forward differentiation of the maps of a plan.

    y = k(x)  →  y' = Σ k_x x',     one column for each parameter, added or set as y itself is.

All vectors must hold their final values before the derivative maps are executed, because these are
evaluated at the final values.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..core.symbols import SX
from .plan import Map, Mode, Plan, Port, TangentMap, Vector, Zero


class Forward:
    """Derivatives of the vectors of a plan, with respect to `width` parameters."""

    def __init__(self, plan: Plan, width: int):
        self._plan = plan
        self._width = width
        self._derivatives = TangentMap()

    def bind(self, vector: Vector, derivative: Vector) -> None:
        """Bind a vector to the one that holds its derivative (same rows, `width` numbers each)."""
        self._derivatives.bind(vector, derivative)

    def differentiate(self, operations: list[Map | Zero]) -> None:
        """Append the derivatives of operations to the plan."""
        for operation in operations:
            if isinstance(operation, Zero):
                if (derivative := self._derivatives.of(operation.vector)) is not None:
                    self._plan.operations.append(Zero(derivative))
            else:
                self._map(operation)

    def _map(self, operation: Map) -> None:
        written = [
            (k, port, self._derivatives.of(port.vector))
            for k, port in enumerate(operation.outputs)
            if port.mode != Mode.LARGEST
        ]
        wanted = [
            (k, port, derivative) for k, port, derivative in written if derivative is not None
        ]
        if not wanted:
            return
        x = operation.kernel.sx_in()
        y = operation.kernel.call(x)
        read = [
            (symbol, port, self._derivatives.of(port.vector))
            for symbol, port in zip(x, operation.inputs, strict=True)
        ]
        varying = [
            (symbol, port, derivative)
            for symbol, port, derivative in read
            if derivative is not None
        ]
        symbols = [SX.sym("s", self._width, symbol.numel()) for symbol, *_ in varying]
        ports = [
            Port(derivative, port.rows, port.table, port.same) for _, port, derivative in varying
        ]
        # one jtimes call for all inputs, so that subexpressions they share are differentiated once
        along, change = (
            ca.vertcat(SX(0, 1), *[ca.vec(v[0]) for v in varying]),
            ca.horzcat(SX(self._width, 0), *symbols).T,
        )
        whole = ca.jtimes(ca.veccat(*[y[k] for k, *_ in wanted]), along, change)
        derivatives = ca.vertsplit(
            whole, np.cumsum([0, *[y[k].numel() for k, *_ in wanted]]).tolist()
        )
        outputs = ca.cse([ca.densify(derivative.T) for derivative in derivatives])
        kernel = ca.Function("forward", [*x, *symbols], outputs)
        results = tuple(
            Port(derivative, port.rows, port.table, port.same, port.mode)
            for _, port, derivative in wanted
        )
        self._plan.operations.append(
            Map(kernel, operation.count, (*operation.inputs, *ports), results, operation.in_turn)
        )
