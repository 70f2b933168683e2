"""Objectives:  ψ = w(t_F) + ∫ g dt,  with g and w functions of the state.

They are integrated along with the motion, at the order of its integrator: by the trapezoidal rule on the steps of an implicit one, with the
stages and weights of an explicit one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from ..coordinates.equations import Equations
from ..errors import ModelError
from ..model.state import State, as_column, call_user
from ..symbols import SX, symbols_in
from .comparison import Comparable
from .direct import parameter_seeds

StateFunction = Callable[[State], Any]


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


def integral(function: StateFunction, *, unit: str = "") -> Objective:
    """The integral over time of a scalar function of the state.

    >>> import varimech as vm
    >>> travelled = vm.integral(lambda s: vm.norm(s.velocity("2")), unit="m")
    """
    return Objective(integrand=checked_callable(function), unit=unit)


def final(function: StateFunction, *, unit: str = "") -> Objective:
    """A scalar function of the state at the end of the run."""
    return Objective(final=checked_callable(function), unit=unit)


Objectives = Objective | Sequence[Objective] | Mapping[str, Objective]


def named_objectives(objectives: Objectives) -> dict[str, Objective]:
    """Objectives by name; those without are called psi1, psi2, …"""
    if isinstance(objectives, Objective) or not isinstance(objectives, (Mapping, Sequence)):
        objectives = [objectives]
    named = dict(objectives) if isinstance(objectives, Mapping) else {f"psi{k + 1}": o for k, o in enumerate(objectives)}
    for name, objective in named.items():
        if not isinstance(objective, Objective):
            raise ModelError(
                f"objective {name!r} = {objective!r} is not an objective; make one with varimech.integral or varimech.final"
            )
    return named


@dataclass(frozen=True)
class ObjectiveFunctions:
    """(state, ρ, t) → g, or w;  (state, state', ρ, t) → g', or w', with one row a parameter."""

    integrands: ca.Function
    integrand_tangent: ca.Function
    finals: ca.Function
    final_tangent: ca.Function


def objective_functions(
    equations: Equations, objectives: Mapping[str, Objective], indices: list[int], row_length: int
) -> ObjectiveFunctions:
    """Integrands and final terms of all objectives, and their derivatives along a sensitivity of the state, whose rows have that length."""
    e = equations
    state = e.packed
    seeds = SX.sym("S", row_length, state.numel())
    u, u_ = ca.vertcat(state, e.ρ), ca.vertcat(seeds[: len(indices), :].T, parameter_seeds(e.ρ.numel(), indices))

    def both(name: str, value: SX) -> tuple[ca.Function, ca.Function]:
        slope = ca.densify(ca.jtimes(value, u, u_)).T
        tangent = ca.Function(f"{name}_tangent", [state, seeds, e.ρ, e.t], [slope])
        return ca.Function(f"{name}s", [state, e.ρ, e.t], [value]), tangent

    g, w = objective_expressions(e, objectives)
    return ObjectiveFunctions(*both("integrand", g), *both("final", w))


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


def _sum(first: StateFunction | None, second: StateFunction | None) -> StateFunction | None:
    if first is None or second is None:
        return first or second
    return lambda state: first(state) + second(state)


def checked_callable(function: Any) -> StateFunction:
    """The function itself, if it can be one of the state."""
    if not callable(function):
        raise ModelError(f"an objective needs a function of the state, such as lambda s: s.energy; got {function!r}")
    return function
