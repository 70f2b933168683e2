"""Objectives as functions of the state, with the derivatives that are requested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..coordinates.counted_angles import TurnProbe
from ..coordinates.equations import Equations
from ..core.symbols import SX, symbols_in
from ..model.user_functions import as_column, call_user, column_of
from ..stages.column_maps import append_maps
from ..stages.plan import Plan, Port, Vector, padded
from .objective import Objective, StateFunction

if TYPE_CHECKING:
    from .event_functions import SampleFunctions, UnitFunctions
    from .event_map import EventMap
    from .switching import SwitchingFunctions

UNROLLED = 2000
"""Largest number of instructions of objectives times columns for which derivatives are
straight-line code for all columns: above it, generating code for one column saves more compile time
than it costs run time.
"""
REMEMBERED = 64
"""Number of objectives whose checks are cached: examining objectives again takes longer than a
short run.
"""


@dataclass(frozen=True)
class ObjectiveFunctions:
    """Integrands and final terms, (state, ρ, t) → g, or w, and their derivatives, (state, state',
    ρ, t) → g', or w', with one row per direction, where requested.
    """

    integrands: ca.Function
    integrand_tangent: ca.Function | Plan | None
    finals: ca.Function
    final_tangent: ca.Function | Plan | None
    integrand_pullback: ca.Function | None = None
    """(state, ρ, t) → g_s, g_ρ with respect to all parameters: a row for each entry of s, or
    parameter, and a column for each objective. None where they vanish.
    """
    final_pullback: ca.Function | None = None
    switching: SwitchingFunctions | None = None
    """Jumps of forces and integrands; None where there are none."""
    units: UnitFunctions | None = None
    """Contacts, frictions and events; None where there are none."""
    samples: SampleFunctions | None = None
    """Samples at events and extrema that enter objectives; None where there are none."""
    final_time: ca.Function | None = None
    """(state, ρ, t) → ∂w/∂t, where events may end a run."""
    event_map: EventMap | None = None
    """Map across events, where steps are prescribed and the state is augmented with its own
    derivatives.
    """

    @property
    def ends_steps(self) -> bool:
        """Whether steps end at events, extrema, jumps or kinks."""
        eventful = self.switching, self.units, self.event_map
        return any(x is not None for x in eventful)


@dataclass(frozen=True)
class Measured:
    """The variables of objectives, and their integrands and final terms."""

    state: SX
    ρ: SX
    t: SX
    integrands: SX
    finals: SX

    def augmented(self, tangent: SX, direction: SX, packed: SX) -> Measured:
        """Append to the integrands and final terms their derivatives along a change of state and
        parameters; `packed` is the state augmented with its change.
        """
        u, u_ = ca.vertcat(self.state, self.ρ), ca.vertcat(tangent, direction)
        g, w = (ca.vertcat(x, ca.jtimes(x, u, u_)) for x in (self.integrands, self.finals))
        return Measured(packed, ca.vertcat(self.ρ, direction), self.t, ca.densify(g), ca.densify(w))

    @property
    def final_time(self) -> ca.Function:
        """(state, ρ, t) → ∂w/∂t."""
        rate = ca.densify(ca.jacobian(self.finals, self.t))
        return ca.Function("final_time", [self.state, self.ρ, self.t], [rate])

    def functions(
        self, directions: np.ndarray | None, row_length: int = 0, costate_row: int | None = None
    ) -> ObjectiveFunctions:
        """Compile functions of values and derivatives.

        Derivatives are taken along the sensitivities of the state to parameters in `directions`, in
        rows of `row_length`; for an adjoint, with respect to all variables, in rows of
        `costate_row`.
        """
        state, ρ, t, u = self.state, self.ρ, self.t, ca.vertcat(self.state, self.ρ)

        def tangent(name: str, value: SX) -> ca.Function | Plan | None:
            if directions is None:
                return None
            count = ca.Function(name, [state, ρ, t], [value]).n_instructions()
            if count * directions.shape[1] > UNROLLED:
                return _tangent_plan(f"{name}_tangent", self, ca.jacobian(value, u), directions)
            seeds = SX.sym("S", row_length, state.numel())
            u_ = ca.vertcat(seeds[: directions.shape[1], :].T, ca.sparsify(ca.DM(directions)))
            return ca.Function(
                f"{name}_tangent", [state, seeds, ρ, t], [ca.densify(ca.jtimes(value, u, u_)).T]
            )

        def pullback(name: str, value: SX) -> ca.Function | None:
            if costate_row is None or not (jacobian := ca.jacobian(value, u)).nnz():
                return None
            rows = ca.densify(ca.vertcat(jacobian, SX(costate_row - value.numel(), u.numel())))
            parts = ca.horzsplit(rows, [0, state.numel(), u.numel()])
            return ca.Function(f"{name}_pullback", [state, ρ, t], ca.cse(list(parts)))

        both = (("integrand", self.integrands), ("final", self.finals))
        (g, g_), (w, w_) = (
            (ca.Function(f"{name}s", [state, ρ, t], [x]), tangent(name, x)) for name, x in both
        )
        pulled = [pullback(name, x) for name, x in both]
        return ObjectiveFunctions(g, g_, w, w_, pulled[0], pulled[1])


def _tangent_plan(name: str, measured: Measured, jacobian: SX, directions: np.ndarray) -> Plan:
    """Build the plan (state, state', ρ, t) → jacobian @ (state', ρ'), in rows without padding."""
    plan, rows, columns = Plan(name), jacobian.shape[0], directions.shape[1]
    seeds = padded(directions)
    n, count = measured.state.numel(), measured.ρ.numel()
    arguments = [
        plan.argument(n),
        plan.argument(n, seeds.shape[1]),
        plan.argument(count),
        plan.argument(1),
    ]
    result = plan.result(rows, columns)
    state_, ρ_ = SX.sym("s'", n), SX.sym("ρ'", count)
    uses = zip((measured.state, state_, measured.ρ, measured.t), arguments, strict=True)
    inputs = [(x, Port(v, v.rows)) for x, v in uses]
    inputs.append((ρ_, Port(plan.constant(seeds), count)))
    change = plan.vector(rows, seeds.shape[1])
    output = jacobian @ ca.vertcat(state_, ρ_)
    append_maps(plan, 1, inputs, [(output, Port(change, rows))])
    x, places = SX.sym("x"), np.arange(rows)[:, None] * change.width + np.arange(columns)
    numbers = Vector(change.base, change.offset, rows * change.width)
    kept = Port(numbers, 1, places.reshape(-1, 1).astype(np.int32))
    flat = Vector(result.base, result.offset, rows * columns)
    append_maps(plan, rows * columns, [(x, kept)], [(x, Port(flat, 1))])
    return plan


def measured(equations: Equations, objectives: Mapping[str, Objective]) -> Measured:
    """Collect integrands and final terms of all objectives."""
    return Measured(
        equations.packed, equations.ρ, equations.t, *objective_expressions(equations, objectives)
    )


def objective_expressions(
    equations: Equations, objectives: Mapping[str, Objective]
) -> tuple[SX, SX]:
    """Return g and w of all objectives."""

    def column(functions: list[tuple[str, StateFunction | None]]) -> SX:
        return ca.densify(
            ca.vertcat(SX(0, 1), *[scalar_of(equations, name, f) for name, f in functions])
        )

    g, w = (
        [(name, getattr(o, kind)) for name, o in objectives.items()]
        for kind in ("integrand", "final")
    )
    return column(g), column(w)


def counted_angles(
    equations: Equations, functions: Sequence[tuple[str, StateFunction]]
) -> set[str]:
    """Return the names of angles that are not counted yet and on whose full turns the given
    functions of the state depend; the functions come with labels for messages.
    """
    cached, key = equations.needed_turns, tuple(function for _, function in functions)
    if key not in cached:
        probe = TurnProbe()
        state = equations.probed_state(probe)
        needed = probe.needed([column_of(function, state, label) for label, function in functions])
        if len(cached) >= REMEMBERED:
            cached.clear()
        cached[key] = needed
    return cached[key]


def scalar_of(equations: Equations, name: str, function: StateFunction | None) -> SX:
    """Evaluate a function of the state that belongs to an objective as an expression."""
    if function is None:
        return SX(0)
    e, label = equations, f"objective {name!r}"
    expression = as_column(call_user(function, e.state, label), 1, label)
    e.model.parameter_set.check_symbols(expression, label, symbols_in(e.packed, e.t))
    return expression
