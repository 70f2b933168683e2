"""Lines of the system of an initial state, and their derivatives; see initial_state.py."""

from __future__ import annotations

from functools import cached_property

import casadi as ca
import numpy as np

from ..core.coordinate_scales import TINY
from ..core.symbols import SX
from .linear import column, product, solution, weighed_solution

SMALL = 1e-6
"""Share of the terms of an equation by which a parameter changes it noticeably; far above rounding
(1e-16), far below changes that break a loop.
"""


class Level:
    """One line of the system: residuals F in unknowns x, as functions of earlier unknowns;
    `weighed` for the line of the equations of motion.
    """

    def __init__(
        self, residuals: SX, unknowns: SX, earlier: SX, ρ: SX, t: SX, *, weighed: bool = False
    ):
        self._weighed, self._unknowns = weighed, unknowns
        self._inputs = [unknowns, earlier, ρ]
        self._F = F = ca.densify(ca.substitute(residuals, t, 0))
        self.residuals = ca.Function("F", self._inputs, [F])

    @cached_property
    def jacobian(self) -> ca.Function:
        """Jacobian F_x."""
        return ca.Function("F_x", self._inputs, [ca.jacobian(self._F, self._unknowns)])

    @cached_property
    def _motion(self) -> ca.Function:
        """M and Φ_q of the equations of motion."""
        n = self._unknowns.numel() // 2
        A = ca.jacobian(self._F, self._unknowns[:n])
        return ca.Function("motion", self._inputs, [A[:n, :], A[n:, :]])

    def _solved(
        self, x: np.ndarray, earlier: np.ndarray, ρ: np.ndarray, right: np.ndarray
    ) -> np.ndarray:
        """Solve F_x y = right."""
        if self._weighed:
            M, Φ_q = self._motion(x, earlier, ρ)
            return weighed_solution(M, Φ_q, right)
        return solution(self.jacobian(x, earlier, ρ), right)

    @cached_property
    def partials(self) -> ca.Function:
        """Jacobians F_earlier and F_ρ."""
        _, earlier, ρ = self._inputs
        return ca.Function("F_p", self._inputs, [ca.jacobian(self._F, ca.vertcat(earlier, ρ))])

    def solve_linear(self, size: int, earlier: np.ndarray, ρ: np.ndarray) -> np.ndarray:
        """Solve for the unknowns, where F is linear in them."""
        zero = np.zeros(size)
        return self._solved(zero, earlier, ρ, -column(self.residuals(zero, earlier, ρ)))

    def sensitivity(
        self, x: np.ndarray, earlier: np.ndarray, ρ: np.ndarray, input_derivatives: np.ndarray
    ) -> np.ndarray:
        """Compute x' from derivatives of the earlier unknowns and of ρ (`input_derivatives`, one column per
        parameter).
        """
        return self._solved(
            x, earlier, ρ, product(-self.partials(x, earlier, ρ), input_derivatives)
        )

    @cached_property
    def curvature(self) -> ca.Function:
        """Function (x, earlier, ρ, u') → (F_u u')_u for u = (x, earlier, ρ)."""
        return _curvature(self._F, self._inputs)

    def second(
        self,
        x: np.ndarray,
        earlier: np.ndarray,
        ρ: np.ndarray,
        along: np.ndarray,
        derivatives: np.ndarray,
        earlier_second: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Solve  F_x x'' + F_earlier earlier'' + (F_u u')_u u_k = 0,  u = (x, earlier, ρ), for x''.

        Args:
            x: part of u.
            earlier: part of u.
            ρ: part of u.
            along: u', its derivative in one direction of the parameters.
            derivatives: u_k, its derivatives with respect to parameters, one column each.
            earlier_second: earlier'', the derivatives of `along` with respect to the same
                parameters.

        Returns:
            x'', and the residual of each equation as a share of the largest sum of absolute terms,
            both with one column per parameter.
        """
        F_x, F_e = (
            self.jacobian(x, earlier, ρ),
            np.array(self.partials(x, earlier, ρ))[:, : earlier.size],
        )
        F_uu = np.array(self.curvature(x, earlier, ρ, along))
        changed = F_e @ earlier_second + F_uu @ derivatives
        x_ = self._solved(x, earlier, ρ, -changed)
        sizes = (np.abs(F_e) @ np.abs(earlier_second) + np.abs(F_uu) @ np.abs(derivatives)).max(
            axis=0, initial=0.0
        )
        relative = _relative(along[-ρ.size :, None], ρ) * _relative(derivatives[-ρ.size :], ρ)
        left = np.abs(product(F_x, x_) + changed)
        return x_, left / np.maximum(sizes, self._rounding(x, earlier, ρ) * relative)

    def missed(
        self,
        x: np.ndarray,
        earlier: np.ndarray,
        ρ: np.ndarray,
        derivatives: np.ndarray,
        input_derivatives: np.ndarray,
    ) -> np.ndarray:
        """Return the residual of F' = 0 for x' = `derivatives`, (equation, parameter), as a share
        of the change of F due to the parameter.
        """
        changed = product(self.partials(x, earlier, ρ), input_derivatives)
        left = np.abs(product(self.jacobian(x, earlier, ρ), derivatives) + changed)
        sizes = np.abs(changed).max(axis=0, initial=0.0)
        return np.asarray(
            left
            / np.maximum(
                sizes, self._rounding(x, earlier, ρ) * _relative(input_derivatives[-ρ.size :], ρ)
            )
        )

    def _rounding(self, x: np.ndarray, earlier: np.ndarray, ρ: np.ndarray) -> float:
        """Return a small share of the largest sum of absolute terms of F: smaller relative changes
        may be rounding alone.
        """
        F_x, F_e = (ca.fabs(f(x, earlier, ρ)) for f in (self.jacobian, self.partials))
        terms = product(F_x, np.abs(x)) + product(F_e[:, : earlier.size], np.abs(earlier))
        return max(SMALL * float(terms.max(initial=0.0)), TINY)


class Explicit:
    """A quantity defined by an expression of earlier unknowns."""

    def __init__(self, expression: SX, earlier: SX, ρ: SX, t: SX):
        self._value, self._inputs = ca.densify(ca.substitute(expression, t, 0)), [earlier, ρ]
        self.value = ca.Function("value", self._inputs, [self._value])
        self.partials = ca.Function(
            "partials", self._inputs, [ca.jacobian(self._value, ca.vertcat(earlier, ρ))]
        )

    @cached_property
    def curvature(self) -> ca.Function:
        """Function (earlier, ρ, u') → (V_u u')_u for u = (earlier, ρ)."""
        return _curvature(self._value, self._inputs)


def _curvature(expression: SX, inputs: list[SX]) -> ca.Function:
    """Compile (inputs…, u') → (F_u u')_u, where u contains all inputs in one vector."""
    u = ca.vertcat(*inputs)
    along = SX.sym("u'", u.numel())
    return ca.Function(
        "F_uu", [*inputs, along], [ca.densify(ca.jacobian(ca.jtimes(expression, u, along), u))]
    )


def _relative(ρ_: np.ndarray, ρ: np.ndarray) -> np.ndarray:
    """Return the largest relative change of a parameter in each column of changes of ρ."""
    return (
        np.asarray(np.abs(ρ_ / np.where(ρ != 0, ρ, 1.0)[:, None]).max(axis=0, initial=0.0)) + TINY
    )
