"""The chain rule over symbols with known derivatives, and symbols for the coefficients that occur
in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from ..core.symbols import SX


@dataclass(frozen=True)
class ChainRule:
    """The chain rule: symbols with their derivatives with respect to the parameters, one column for
    each parameter.
    """

    symbols: list[SX]
    derivatives: list[SX]
    coefficients: Callable[[SX], SX] = lambda jacobian: jacobian
    """Maps each Jacobian to the matrix that is multiplied in its place."""

    def extended(self, symbols: list[SX], derivatives: list[SX]) -> ChainRule:
        """The same rule with additional symbols."""
        return ChainRule(
            [*self.symbols, *symbols], [*self.derivatives, *derivatives], self.coefficients
        )

    def derivative(self, expression: SX) -> SX:
        """Derivative of an expression with respect to the parameters.

        Sparse Jacobians are far cheaper here than one forward sweep for each parameter.
        """
        total = SX(expression.numel(), self.derivatives[0].shape[1])
        for symbol, derivative in zip(self.symbols, self.derivatives, strict=True):
            jacobian = ca.jacobian(expression, symbol)
            if jacobian.nnz():
                total += self.coefficients(jacobian) @ derivative
        return total


class Coefficients:
    """Replace matrix entries by symbols and record their values.

    The remaining expressions are linear with the same structure for every column.
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
        """All symbols created so far."""
        return ca.vertcat(SX(0, 1), *self._symbols.values())

    @property
    def values(self) -> SX:
        """The expressions that the symbols stand for."""
        return ca.vertcat(SX(0, 1), *self._values)

    def _symbol(self, entry: SX) -> SX:
        if entry.is_constant():
            return entry
        key = entry.element_hash()
        if key not in self._symbols:
            self._symbols[key] = SX.sym("c")
            self._values.append(entry)
        return self._symbols[key]
