"""A program: the functions of an assembly, of a time step and of the integrals along a run.

Every backend executes:

    state, state' ← assembly from a guess (or as given);  α ← penalty; for each step:  state, state' ←
    step;  ψ ← ψ + ∫ g over the step;  ψ' likewise;  store results that are due,

where assembly, step and rates are chains:  x, y ← predict;  repeat x, y ← iterate until converged;
finish  (the first two if the chain is iterated). A step of an implicit integrator is one chain, and
∫ g the trapezoidal rule; a step of an explicit one combines rates at its stages, then a chain
completes the state at its end, and ∫ g is the same combination of integrands (`explicit`).

Derivatives are propagated forwards (state', ψ'), or, in an adjoint program, result from a reverse
sweep over the records of all steps:

    s̄, ρ̄ ← ∂w;  for each step, from the last on:  s̄ ← s̄ pulled back through the step;  ρ̄ and s̄
    gain the contributions of the step and of ∫ g;  finally ρ̄ gains s̄ pulled back through the
    assembly.

`newton` states when an iteration has converged.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import casadi as ca
import numpy as np

from ..core.lazy import lazy
from ..core.schedule import Schedule
from ..integrators.runge_kutta import RungeKutta
from ..sensitivity.event_functions import SampleFunctions, UnitFunctions
from ..sensitivity.objective_functions import ObjectiveFunctions
from ..sensitivity.switching import SwitchingFunctions
from ..stages.plan import Plan

Function = ca.Function | Plan
"""Straight-line code, or operations on vectors."""


@dataclass(frozen=True)
class ChainFunctions:
    """Functions of a chain; see `Chain` for their arguments.

    With derivatives, either `finish` returns coefficients for the `tangent` (see
    `TangentFunction`), or it is a plan that returns the derivatives itself.
    """

    predict: Function | None
    """None if the chain is not iterated."""
    iterate: Function | None
    finish: Function
    tangent: ca.Function | None = None
    linearise: ca.Function | None = None
    """Coefficients for the `pullback` (see `Pullback`) of an adjoint program; None if the pullback
    is a plan of the same arguments and the costate.
    """
    pullback: Function | None = None
    seeded: bool = False
    """Whether `finish` is a plan with derivatives of all parameters and time (`Program.seeds`) as
    argument after those of the state.
    """

    @property
    def instructions(self) -> int:
        """Number of instructions of its straight-line functions."""
        functions = (getattr(self, definition.name) for definition in fields(self))
        return sum(f.n_instructions() for f in functions if isinstance(f, ca.Function))


@dataclass(frozen=True)
class PassageFunctions:
    """The chain of passages over events, and the places of its modes."""

    chain: ChainFunctions
    modes: int
    """Number of modes. The data of an event begin with the modes before it and those after it."""
    mode_place: int
    """Place of the first mode among the parameters."""

    @property
    def size(self) -> int:
        """Number of data of an event."""
        return int(self.chain.finish.numel_in(2))


@dataclass(frozen=True)
class Program:
    """All functions of a run; see `penalty_function` and `objective_functions` for the penalty and
    the objectives.

    Derivatives with respect to parameters are stored by rows: (row, parameter).
    """

    coordinates: int
    """Number of coordinates. A state consists of positions, velocities, accelerations, multipliers,
    and the memory of the integrator.
    """
    start: ChainFunctions | None
    """The assembly; None if runs begin with a given state only."""
    step: ChainFunctions
    """The step of an implicit integrator; for an explicit one, the chain that completes the state
    at the end of a step.
    """
    penalty: Function
    objectives: ObjectiveFunctions
    direction_count: int | None = None
    """Number of directions of forward derivatives; None without forward derivatives."""
    row_length: int = 0
    """Length of a row of derivatives of the state, padded with zeros to whole vectors of the
    processor.
    """
    costate_row: int = 0
    """Length of a row of costates, one number for each objective, in an adjoint program; else 0."""
    scheme: RungeKutta | None = None
    """The explicit integrator; None for an implicit one."""
    rates: ChainFunctions | None = None
    """The rates at the stages, if another chain completes the state; for an implicit integrator,
    the state after events.
    """
    jacobian: ca.Function | None = None
    """(q, ρ, t) → Φ_q, if independent coordinates are selected by it."""
    directions: np.ndarray | None = None
    """Directions of forward derivatives in the space of the parameters, one in each column."""
    impact: ChainFunctions | None = None
    """Velocities after an impact, if the mechanism has contacts."""
    passage: PassageFunctions | None = None
    """The event map of states, if steps are given (`sensitivity/event_map`)."""
    along_time: bool = False
    """Whether chains are differentiated with respect to time, too: it is the last of the seeds, and
    the last of the parameters in the gradient of a reverse sweep.
    """
    sharp: bool = False
    """Whether runs end (`Amplified`) where a nearly singular position amplifies rounding."""

    @lazy
    def slots(self) -> list[Function | None]:
        """All functions, each in its place, as the driver of compiled programs expects them."""
        o = self.objectives
        chains = [
            f
            for c in self.all_chains
            for f in (
                (c.predict, c.iterate, c.finish, c.tangent, c.linearise, c.pullback)
                if c
                else 6 * [None]
            )
        ]
        integrands = (o.integrands, o.integrand_tangent, o.integrand_pullback)
        finals = (o.finals, o.final_tangent, o.final_pullback)
        s = self.switching
        switching = (None, None) if s is None else (s.values, s.gradient)
        u = self.units
        units = (None, None) if u is None else (u.values, u.gradient)
        h = self.samples
        samples = (None, None) if h is None else (h.values, h.gradient)
        functions = [self.penalty, self.jacobian, *integrands, *finals, *switching, *units]
        return [*chains, *functions, *samples, o.final_time]

    @property
    def all_chains(self) -> tuple[ChainFunctions | None, ...]:
        """Step, assembly, rates, impact and passage, in the places where the driver expects them."""
        passage = None if self.passage is None else self.passage.chain
        return self.step, self.start, self.rates, self.impact, passage

    @property
    def has_rates(self) -> bool:
        """Whether the program computes accelerations for given positions and velocities, by which a
        run continues after events.
        """
        return self.scheme is not None or self.rates is not None

    def watches(self, schedule: Schedule) -> bool:
        """Return whether given steps, equal ones for example, are shortened to end at events; the
        steps of a repeated run already end there.
        """
        eventful = self.units is not None or self.switching is not None
        return eventful and not schedule.tolerance and schedule.triggers is None

    @property
    def units(self) -> UnitFunctions | None:
        """Contacts and frictions, whose modes change at events, and stated events."""
        return self.objectives.units if self.has_rates else None

    @property
    def samples(self) -> SampleFunctions | None:
        """Functions whose values at events and extrema enter objectives."""
        return self.objectives.samples if self.has_rates else None

    @property
    def switching(self) -> SwitchingFunctions | None:
        """Functions that locate jumps and kinks of forces and integrands: steps end there."""
        return self.objectives.switching if self.has_rates else None

    @lazy
    def functions(self) -> list[Function]:
        """All functions of the program."""
        return [f for f in self.slots if f is not None]

    @lazy
    def chains(self) -> list[ChainFunctions]:
        """The chains that the program has, among step, assembly, rates, impact and passage."""
        return [c for c in self.all_chains if c is not None]

    @lazy
    def seeds(self) -> np.ndarray:
        """Derivatives of each parameter that changes in any direction (plans take all parameters),
        and of time, in rows like derivatives of the state.
        """
        if self.directions is None:
            return np.zeros((0, 0))
        varied = self.directions[self.directions.any(axis=1) | self.step.seeded]
        seeds = np.hstack([varied, np.zeros((len(varied), self.row_length - varied.shape[1]))])
        return np.vstack([seeds, np.zeros((1, self.row_length))]) if self.along_time else seeds

    @property
    def adjoint(self) -> bool:
        """Whether derivatives, with respect to all parameters, result from a reverse sweep."""
        return self.costate_row > 0

    @lazy
    def pulled(self) -> int:
        """Number of all parameters, including time, in the gradient of an adjoint program."""
        return (
            int(self.step.pullback.numel_out(1)) // (1 if self.step.linearise else self.costate_row)
            if self.step.pullback
            else 0
        )

    @property
    def parameter_count(self) -> int:
        """Number of all parameters."""
        return int(self.objectives.integrands.numel_in(1))

    @lazy
    def record_size(self) -> int:
        """Number of values recorded for each step: its beginning, length and end; states at its
        stages; unknowns and multipliers of iterated chains; the selection of independent
        coordinates; for events see events.c.
        """
        stages = len(self.scheme.b) if self.scheme else 1
        chosen = self.coordinates if self.jacobian is not None else 0
        events = 0 if self.units is None else 3 + 2 * self.units.modes
        step = stages * (self.state_size + sum(self.solved_sizes))
        if self.units is not None:  # the state before an event, and (q, v) after its impact
            step = max(step, self.state_size + 2 * self.coordinates)
        return 3 + step + chosen + events

    @lazy
    def solved_sizes(self) -> tuple[int, int]:
        """Largest numbers of unknowns and multipliers of iterated chains."""
        iterations = [c.iterate for c in self.chains if c.iterate is not None]
        unknowns, multipliers = ([int(f.numel_out(k)) for f in iterations] for k in range(2))
        return max(unknowns, default=0), max(multipliers, default=0)

    @lazy
    def state_size(self) -> int:
        """Length of a state."""
        return int(self.step.finish.numel_out(0))

    @lazy
    def objective_count(self) -> int:
        """Number of objectives."""
        return int(self.objectives.integrands.numel_out(0))
