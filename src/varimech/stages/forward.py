"""Forward differentiation of the maps of a plan.

    y = k(x)  →  y' = Σ k_x x',     one column for each parameter, added or set like y itself.

All vectors must hold their final values before the derivative maps are executed, because these are
evaluated at the final values.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..core.symbols import SX
from .column_maps import append_maps
from .plan import Map, Mode, Plan, Port, TangentMap, Vector, Zero


class Forward:
    """Derivatives of the vectors of a plan."""

    def __init__(self, plan: Plan):
        self._plan = plan
        self._derivatives = TangentMap()

    def bind(self, vector: Vector, derivative: Vector) -> None:
        """Bind a vector to the vector of its derivatives, which has the same rows with one number
        for each parameter.
        """
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
        requested = [
            (k, port, derivative) for k, port, derivative in written if derivative is not None
        ]
        if not requested:
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
        changes = [
            (SX.sym("s", symbol.numel()), Port(derivative, port.rows, port.table, port.same))
            for symbol, port, derivative in varying
        ]
        # one jtimes call for all inputs, so that subexpressions they share are differentiated once
        along = ca.vertcat(SX(0, 1), *[ca.vec(v[0]) for v in varying])
        change = ca.vertcat(SX(0, 1), *[s for s, _ in changes])
        whole = ca.jtimes(ca.veccat(*[y[k] for k, *_ in requested]), along, change)
        sizes = np.cumsum([0, *[y[k].numel() for k, *_ in requested]]).tolist()
        results = [
            (part, Port(derivative, port.rows, port.table, port.same, port.mode))
            for part, (_, port, derivative) in zip(
                ca.vertsplit(whole, sizes), requested, strict=True
            )
        ]
        inputs = [*zip(x, operation.inputs, strict=True), *changes]
        append_maps(self._plan, operation.count, inputs, results, in_turn=operation.in_turn)
