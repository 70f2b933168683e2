"""The lines of the system that a start solves, and their derivatives; see start.py."""

from __future__ import annotations

from functools import cached_property

import casadi as ca
import numpy as np

from ..symbols import SX
from .linear import column, solution, weighed_solution


class Level:
    """One line of the system above: residuals F in unknowns x, given what came before; `weighed` where it is that of motion."""

    def __init__(self, residuals: SX, unknowns: SX, earlier: SX, ρ: SX, t: SX, *, weighed: bool = False):
        self._solution = weighed_solution if weighed else solution
        self._inputs = [unknowns, earlier, ρ]
        self._F = F = ca.densify(ca.substitute(residuals, t, 0))
        self.residuals = ca.Function("F", self._inputs, [F])
        self.jacobian = ca.Function("F_x", self._inputs, [ca.jacobian(F, unknowns)])

    @cached_property
    def partials(self) -> ca.Function:
        """F_earlier and F_ρ."""
        _, earlier, ρ = self._inputs
        return ca.Function("F_p", self._inputs, [ca.jacobian(self._F, ca.vertcat(earlier, ρ))])

    def solve_linear(self, size: int, earlier: np.ndarray, ρ: np.ndarray) -> np.ndarray:
        """The unknowns, where F is linear in them."""
        zero = np.zeros(size)
        return self._solution(self.jacobian(zero, earlier, ρ), -column(self.residuals(zero, earlier, ρ)))

    def sensitivity(self, x: np.ndarray, earlier: np.ndarray, ρ: np.ndarray, given: np.ndarray) -> np.ndarray:
        """x' from the derivatives of what came before and of ρ (`given`, one column a parameter)."""
        return self._solution(self.jacobian(x, earlier, ρ), -np.array(self.partials(x, earlier, ρ)) @ given)

    def missed(self, x: np.ndarray, earlier: np.ndarray, ρ: np.ndarray, slopes: np.ndarray, given: np.ndarray) -> np.ndarray:
        """What x' leaves of F' = 0, (equation, parameter), as a share of what parameters change of F."""
        changed = np.array(self.partials(x, earlier, ρ)) @ given
        left = np.abs(np.array(self.jacobian(x, earlier, ρ)) @ slopes + changed)
        sizes = np.abs(changed).max(axis=0, initial=0.0)
        return np.asarray(left / np.where(sizes > 0, sizes, 1.0))


class Explicit:
    """A quantity given by an expression of what came before."""

    def __init__(self, expression: SX, earlier: SX, ρ: SX, t: SX):
        value = ca.densify(ca.substitute(expression, t, 0))
        self.value = ca.Function("value", [earlier, ρ], [value])
        self.partials = ca.Function("partials", [earlier, ρ], [ca.densify(ca.jacobian(value, ca.vertcat(earlier, ρ)))])
