"""Symbols with known derivatives, and the chain rule over them."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ..symbols import SX


@dataclass(frozen=True)
class Known:
    """Symbols with their derivatives with respect to the parameters, one column each."""

    symbols: list[SX]
    derivatives: list[SX]

    def extended(self, symbols: list[SX], derivatives: list[SX]) -> Known:
        """With some more."""
        return Known([*self.symbols, *symbols], [*self.derivatives, *derivatives])

    def derivative(self, expression: SX) -> SX:
        """Of an expression, by the chain rule; sparse Jacobians are far cheaper here than one forward sweep a parameter."""
        total = SX(expression.numel(), self.derivatives[0].shape[1])
        for symbol, derivative in zip(self.symbols, self.derivatives, strict=True):
            jacobian = ca.jacobian(expression, symbol)
            if jacobian.nnz():
                total += jacobian @ derivative
        return total
