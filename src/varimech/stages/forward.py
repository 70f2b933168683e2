"""Forward differentiation of maps: for every map the one that takes derivatives of what it reads to
derivatives of what it writes.

    y = k(x)  →  y' = Σ k_x x',     one column a parameter, added or set as y itself is.

Vectors must have their final values when all maps have been carried out, since derivatives are
taken there, after them.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..core.symbols import SX
from .plan import Map, Mode, Plan, Port, Vector, Zero
from .tangent_map import TangentMap


class Forward:
    """Derivatives of the vectors of a plan, with respect to `width` parameters."""

    def __init__(self, plan: Plan, width: int):
        self._plan = plan
        self._width = width
        self._derivatives = TangentMap()

    def know(self, vector: Vector, derivative: Vector) -> None:
        """Tell the derivative of a vector (its rows, `width` numbers each)."""
        self._derivatives.know(vector, derivative)

    def differentiate(self, operations: list[Map | Zero]) -> None:
        """Append the derivatives of some operations of the plan."""
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
        wanted = [(k, port, slope) for k, port, slope in written if slope is not None]
        if not wanted:
            return
        x = operation.kernel.sx_in()
        y = operation.kernel.call(x)
        read = [
            (symbol, port, self._derivatives.of(port.vector))
            for symbol, port in zip(x, operation.inputs, strict=True)
        ]
        varying = [(symbol, port, slope) for symbol, port, slope in read if slope is not None]
        symbols = [SX.sym("s", self._width, symbol.numel()) for symbol, *_ in varying]
        ports = [Port(slope, port.rows, port.table, port.same) for _, port, slope in varying]
        # all at once: what is common to several inputs is gone through only once
        along, change = (
            ca.vertcat(SX(0, 1), *[ca.vec(v[0]) for v in varying]),
            ca.horzcat(SX(self._width, 0), *symbols).T,
        )
        whole = ca.jtimes(ca.veccat(*[y[k] for k, *_ in wanted]), along, change)
        slopes = ca.vertsplit(whole, np.cumsum([0, *[y[k].numel() for k, *_ in wanted]]).tolist())
        outputs = ca.cse([ca.densify(slope.T) for slope in slopes])
        kernel = ca.Function("forward", [*x, *symbols], outputs)
        results = tuple(
            Port(slope, port.rows, port.table, port.same, port.mode) for _, port, slope in wanted
        )
        self._plan.operations.append(
            Map(kernel, operation.count, (*operation.inputs, *ports), results, operation.in_turn)
        )
