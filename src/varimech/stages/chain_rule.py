"""Symbols with known derivatives, the chain rule over them, and the coefficients that
occur in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from ..core.symbols import SX


@dataclass(frozen=True)
class Known:
    """Symbols with their derivatives with respect to the parameters, one column each."""

    symbols: list[SX]
    derivatives: list[SX]
    coefficients: Callable[[SX], SX] = lambda jacobian: jacobian
    """What stands for a Jacobian."""

    def extended(self, symbols: list[SX], derivatives: list[SX]) -> Known:
        """With some more."""
        return Known(
            [*self.symbols, *symbols], [*self.derivatives, *derivatives], self.coefficients
        )

    def derivative(self, expression: SX) -> SX:
        """Of an expression, by the chain rule; sparse Jacobians are far cheaper here than one
        forward sweep a parameter.
        """
        total = SX(expression.numel(), self.derivatives[0].shape[1])
        for symbol, derivative in zip(self.symbols, self.derivatives, strict=True):
            jacobian = ca.jacobian(expression, symbol)
            if jacobian.nnz():
                total += self.coefficients(jacobian) @ derivative
        return total


class Coefficients:
    """Replaces expressions by symbols, and remembers which: what is linear then shows only that,
    the same for all its columns.
    """

    def __init__(self) -> None:
        self._symbols: dict[int, SX] = {}
        self._values: list[SX] = []

    def __call__(self, matrix: SX) -> SX:
        """The matrix with a symbol for every entry that is not a number."""
        entries = [self._symbol(matrix.nz[k]) for k in range(matrix.nnz())]
        return SX(matrix.sparsity(), ca.vertcat(SX(0, 1), *entries))

    @property
    def symbols(self) -> SX:
        """All symbols so far."""
        return ca.vertcat(SX(0, 1), *self._symbols.values())

    @property
    def values(self) -> SX:
        """What they stand for."""
        return ca.vertcat(SX(0, 1), *self._values)

    def _symbol(self, entry: SX) -> SX:
        if entry.is_constant():
            return entry
        key = entry.element_hash()
        if key not in self._symbols:
            self._symbols[key] = SX.sym("c")
            self._values.append(entry)
        return self._symbols[key]
