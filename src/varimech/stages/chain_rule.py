"""The chain rule over symbols with known derivatives, and symbols for the coefficients that occur
in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import casadi as ca

from ..core.symbols import SX

LONG = 1500
"""Operations of a column beyond which Jacobians are not tried: they take long to derive, and needed
two to four times as many operations in spatial mechanisms.
"""


@dataclass(frozen=True)
class ChainRule:
    """The chain rule: symbols with their derivatives with respect to the parameters, one column for
    each parameter.
    """

    symbols: list[SX]
    derivatives: list[SX]
    coefficients: Callable[[SX], SX] = lambda jacobian: jacobian
    """Maps each Jacobian to the matrix that is multiplied in its place."""

    vectors: int = 0
    """Number of SIMD vectors of columns for which the derivative of one column is executed; 0 where
    all columns are stated at once.
    """

    def extended(self, symbols: list[SX], derivatives: list[SX]) -> ChainRule:
        """Return the rule with additional symbols."""
        return replace(
            self,
            symbols=[*self.symbols, *symbols],
            derivatives=[*self.derivatives, *derivatives],
        )

    def with_names(self, named: tuple[tuple[SX, SX, int], ...]) -> ChainRule:
        """Return the rule with names for expressions, as far as their derivatives matter."""
        rule = self
        for symbol, value, derivatives in named:
            if derivatives:
                rule = rule.extended([symbol], [rule.derivative(value)])
        return rule

    def derivative(self, expression: SX) -> SX:
        """Return the derivative of an expression with respect to the parameters: by Jacobians, or
        by forward differentiation where that takes fewer operations.
        """
        if not self.vectors:
            return self._by_jacobians(expression)
        symbols, column = (ca.veccat(SX(0, 1), *x) for x in (self.symbols, self.derivatives))
        forward = ca.jtimes(ca.vec(expression), symbols, column)
        if (cost := self._cost(forward, column)) > LONG * self.vectors:
            return forward
        jacobians = self._by_jacobians(expression)
        return jacobians if self._cost(jacobians, column) <= cost else forward

    def _cost(self, derivative: SX, column: SX) -> int:
        """Return the number of operations for all columns; operations shared by all columns count
        once.
        """
        own = {x.element_hash() for x in ca.symvar(column)}
        shared = [x for x in ca.symvar(derivative) if x.element_hash() not in own]
        remainder, _, parts = ca.extract_parametric(derivative, ca.veccat(SX(0, 1), *shared))
        counts = [
            ca.Function("f", ca.symvar(x), [x]).n_instructions()
            for x in (ca.veccat(SX(0, 1), *parts), ca.veccat(SX(0, 1), remainder))
        ]
        return counts[0] + self.vectors * counts[1]

    def _by_jacobians(self, expression: SX) -> SX:
        """Return the derivative as a sum of sparse Jacobians times the derivatives of the symbols."""
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
        """Return the matrix with a symbol for every entry that is not a number."""
        entries = [self._symbol(matrix.nz[k]) for k in range(matrix.nnz())]
        return SX(matrix.sparsity(), ca.vertcat(SX(0, 1), *entries))

    @property
    def symbols(self) -> SX:
        """All symbols created so far."""
        return ca.vertcat(SX(0, 1), *self._symbols.values())

    @property
    def values(self) -> SX:
        """Expressions that the symbols replace."""
        return ca.vertcat(SX(0, 1), *self._values)

    def _symbol(self, entry: SX) -> SX:
        if entry.is_constant():
            return entry
        key = entry.element_hash()
        if key not in self._symbols:
            self._symbols[key] = SX.sym("c")
            self._values.append(entry)
        return self._symbols[key]
