"""Objectives:  ψ = w(t_F) + ∫ g dt,  with g and w functions of the state.

They are integrated along with the motion, at the order of its integrator: by the trapezoidal rule on the steps of an implicit one, with the
stages and weights of an explicit one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import casadi as ca
import numpy as np

from ..coordinates.equations import Equations
from ..errors import ModelError
from ..expressions import Expression
from ..model.state import State
from ..model.user_functions import StateExpression, as_column, call_user
from ..symbols import SX, symbols_in
from .comparison import Comparable

StateFunction = Callable[[State], Any]
"""A text stands for one where users give it."""


@dataclass(frozen=True)
class Objective(Comparable):
    """ψ = w(t_F) + ∫ g dt; make one with `integral`, `final`, or their sum. Compared with a number it makes a constraint."""

    integrand: StateFunction | None = None
    final: StateFunction | None = None
    unit: str = ""

    def __add__(self, other: Objective) -> Objective:
        if not isinstance(other, Objective):
            return NotImplemented
        return Objective(_sum(self.integrand, other.integrand), _sum(self.final, other.final), self.unit or other.unit)

    def __mul__(self, factor: float) -> Objective:
        if not isinstance(factor, Real):
            return NotImplemented
        return Objective(_times(self.integrand, float(factor)), _times(self.final, float(factor)), self.unit)

    __rmul__ = __mul__

    def __neg__(self) -> Objective:
        return -1.0 * self


def integral(function: StateFunction | str, *, unit: str = "") -> Objective:
    """The integral over time of a scalar function of the state, or of an expression in text: `vm.integral("norm(velocity('2'))")`.

    >>> import varimech as vm
    >>> travelled = vm.integral(lambda s: vm.norm(s.velocity("2")), unit="m")
    """
    return Objective(integrand=checked_callable(function), unit=unit)


def final(function: StateFunction | str, *, unit: str = "") -> Objective:
    """A scalar function of the state, or an expression in text, at the end of the run."""
    return Objective(final=checked_callable(function), unit=unit)


Objectives = Objective | Sequence[Objective] | Mapping[str, Objective]


def named_objectives(objectives: Objectives) -> dict[str, Objective]:
    """Objectives by name; those without are called psi1, psi2, …"""
    if isinstance(objectives, (Objective, str)) or not isinstance(objectives, (Mapping, Sequence)):
        objectives = [objectives]
    named = dict(objectives) if isinstance(objectives, Mapping) else {f"psi{k + 1}": o for k, o in enumerate(objectives)}
    for name, objective in named.items():
        if not isinstance(objective, Objective):
            raise ModelError(
                f"objective {name!r} = {objective!r} is not an objective; make one with varimech.integral or varimech.final"
            )
    return named


def some_objectives(verb: str, objectives: Objectives) -> dict[str, Objective]:
    """The same for verbs that need at least one."""
    named = named_objectives(objectives)
    if not named:
        raise ModelError(f"{verb}: give at least one objective, such as varimech.final(lambda s: s.angle('rod'))")
    return named


@dataclass(frozen=True)
class ObjectiveFunctions:
    """(state, ρ, t) → g, or w;  (state, state', ρ, t) → g', or w', with one row a direction; as far as they are wanted."""

    integrands: ca.Function
    integrand_tangent: ca.Function | None
    finals: ca.Function
    final_tangent: ca.Function | None
    integrand_pullback: ca.Function | None = None
    """(state, ρ, t) → g_s, g_ρ of all parameters: a row for each entry of s, or parameter, a column an objective. None where they vanish."""
    final_pullback: ca.Function | None = None


@dataclass(frozen=True)
class Measured:
    """What objectives are functions of, and their integrands and final terms."""

    state: SX
    ρ: SX
    t: SX
    integrands: SX
    finals: SX

    def widened(self, slope: SX, direction: SX, packed: SX) -> Measured:
        """Values, and after them their derivatives along a change of state and parameters; `packed` is the state with its change."""
        u, u_ = ca.vertcat(self.state, self.ρ), ca.vertcat(slope, direction)
        g, w = (ca.vertcat(x, ca.jtimes(x, u, u_)) for x in (self.integrands, self.finals))
        return Measured(packed, ca.vertcat(self.ρ, direction), self.t, ca.densify(g), ca.densify(w))

    def functions(self, directions: np.ndarray | None, row_length: int = 0, costate_row: int | None = None) -> ObjectiveFunctions:
        """Functions of values and derivatives.

        These are along a sensitivity of the state in some directions in the space of the parameters, in rows of `row_length`, and, for an
        adjoint, all there are, in rows of `costate_row`.
        """
        state, ρ, t, u = self.state, self.ρ, self.t, ca.vertcat(self.state, self.ρ)

        def tangent(name: str, value: SX) -> ca.Function | None:
            if directions is None:
                return None
            seeds = SX.sym("S", row_length, state.numel())
            u_ = ca.vertcat(seeds[: directions.shape[1], :].T, ca.sparsify(ca.DM(directions)))
            return ca.Function(f"{name}_tangent", [state, seeds, ρ, t], [ca.densify(ca.jtimes(value, u, u_)).T])

        def pullback(name: str, value: SX) -> ca.Function | None:
            if costate_row is None or not (slopes := ca.jacobian(value, u)).nnz():
                return None
            rows = ca.densify(ca.vertcat(slopes, SX(costate_row - value.numel(), u.numel())))
            parts = ca.horzsplit(rows, [0, state.numel(), u.numel()])
            return ca.Function(f"{name}_pullback", [state, ρ, t], ca.cse(list(parts)))

        both = (("integrand", self.integrands), ("final", self.finals))
        (g, g_), (w, w_) = ((ca.Function(f"{name}s", [state, ρ, t], [x]), tangent(name, x)) for name, x in both)
        return ObjectiveFunctions(g, g_, w, w_, *[pullback(name, x) for name, x in both])


def measured(equations: Equations, objectives: Mapping[str, Objective]) -> Measured:
    """Integrands and final terms of all objectives."""
    return Measured(equations.packed, equations.ρ, equations.t, *objective_expressions(equations, objectives))


def objective_expressions(equations: Equations, objectives: Mapping[str, Objective]) -> tuple[SX, SX]:
    """g and w of all objectives."""

    def column(functions: list[tuple[str, StateFunction | None]]) -> SX:
        return ca.densify(ca.vertcat(SX(0, 1), *[_scalar(equations, name, f) for name, f in functions]))

    g, w = ([(name, getattr(o, kind)) for name, o in objectives.items()] for kind in ("integrand", "final"))
    return column(g), column(w)


def _scalar(equations: Equations, name: str, function: StateFunction | None) -> SX:
    if function is None:
        return SX(0)
    e, label = equations, f"objective {name!r}"
    expression = as_column(call_user(function, e.state, label), 1, label)
    e.model.numbers.check_symbols(expression, label, symbols_in(e.packed, e.t))
    return expression


def _times(function: StateFunction | None, factor: float) -> StateFunction | None:
    return None if function is None else lambda state: factor * function(state)


def _sum(first: StateFunction | None, second: StateFunction | None) -> StateFunction | None:
    if first is None or second is None:
        return first or second
    return lambda state: first(state) + second(state)


def checked_callable(function: Any, what: str = "an objective") -> StateFunction:
    """The function itself, if it can be one of the state; a text becomes one."""
    if isinstance(function, str):
        Expression(function)
        return StateExpression(function)
    if not callable(function):
        raise ModelError(f"{what} needs a function of the state, such as lambda s: s.energy; got {function!r}")
    return function
