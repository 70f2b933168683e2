"""A program: the functions of a start, of a time step and of what is accumulated along a run, and what a run of it yields.

What every backend carries out:

    state, state' ← start from a guess (or as given);  α ← penalty;
    for each step:  state, state' ← step;  ψ ← ψ + ∫ g over the step;  ψ' likewise;  store when it is time,

where start, step and rates are chains:  x, y ← predict;  repeat x, y ← iterate until converged;  finish  (the first two where the chain is
iterated). A step of an implicit integrator is one chain, and ∫ g the trapezoidal rule; a step of an explicit one combines rates at its
stages, then a chain completes the state at its end, and ∫ g is the same combination of integrands (`explicit`).

Derivatives are carried along (state', ψ'), or, in an adjoint program, come from a second sweep, backwards over what was recorded of each
step:

    s̄, ρ̄ ← ∂w;  for each step, from the last on:  s̄ ← s̄ pulled back through the step;  ρ̄, s̄ likewise gain what it and ∫ g contribute;  at last
    ρ̄ gains what s̄ gives, pulled back through the start.

An iteration gives the ratio r of its correction to the one allowed. Corrections of Newton's method shrink as  r, C r², …, so from two of them
the next is known to be about  r³ / r_last². Converged means: r ≤ 1, or the next correction would be negligible, or small ones shrink no more.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import casadi as ca
import numpy as np

from ..errors import ModelError, unknown_name
from ..integrators.runge_kutta import RungeKutta
from ..schedule import Schedule
from ..sensitivity.objective import ObjectiveFunctions
from ..sizes import Sizes
from ..stages.plan import Plan

Function = ca.Function | Plan
"""Straight-line code, or operations on vectors."""


@dataclass(frozen=True)
class ChainFunctions:
    """Functions of a chain; see `Chain` for their arguments.

    Where derivatives are wanted, either `finish` gives coefficients for the `tangent` (see `TangentFunction`), or it is a plan that gives
    them itself.
    """

    predict: Function | None
    """None where the chain is not iterated."""
    iterate: Function | None
    finish: Function
    tangent: ca.Function | None = None
    linearise: ca.Function | None = None
    """Coefficients for the `pullback` (see `Pullback`) of an adjoint program; None where that is a plan of the same arguments and the
    costate."""
    pullback: Function | None = None


@dataclass(frozen=True)
class Program:
    """All functions of a run; see `penalty_function`, `twist_function` and `objective_functions` for the others.

    Derivatives with respect to parameters stand by rows of what is differentiated: (row, parameter).
    """

    coordinates: int
    """Number of coordinates. A state is positions, velocities, accelerations, multipliers, and what the integrator remembers."""
    start: ChainFunctions | None
    """None where runs begin with a given state only."""
    step: ChainFunctions
    """The step of an implicit integrator; with an explicit one, what completes the state at its end."""
    penalty: Function
    twist: Function
    objectives: ObjectiveFunctions
    direction_count: int | None = None
    """Number of directions it differentiates in along the motion; None if it does not."""
    row_length: int = 0
    """Length of a row of derivatives of the state, filled up with zeros where vectors of the processor are longer."""
    costate_row: int = 0
    """Length of a row of costates, one number an objective, in an adjoint program; else 0."""
    scheme: RungeKutta | None = None
    """Given for an explicit integrator."""
    rates: ChainFunctions | None = None
    """What gives the rates at its stages, where that is not what completes the state."""
    jacobian: ca.Function | None = None
    """(q, ρ, t) → Φ_q, given where independent coordinates are to be chosen by it."""
    directions: np.ndarray | None = None
    """These directions in the space of the parameters, one a column."""
    sharp: bool = False
    """Whether runs end (`Amplified`) where a nearly singular position amplifies rounding."""

    @cached_property
    def slots(self) -> list[Function | None]:
        """All functions, each in its place, as the driver of compiled programs expects them."""
        o = self.objectives
        chains = [
            f
            for c in (self.step, self.start, self.rates)
            for f in ((c.predict, c.iterate, c.finish, c.tangent, c.linearise, c.pullback) if c else 6 * [None])
        ]
        integrands = (o.integrands, o.integrand_tangent, o.integrand_pullback)
        finals = (o.finals, o.final_tangent, o.final_pullback)
        return [*chains, self.penalty, self.twist, self.jacobian, *integrands, *finals]

    @cached_property
    def functions(self) -> list[Function]:
        """All that it has."""
        return [f for f in self.slots if f is not None]

    @cached_property
    def chains(self) -> list[ChainFunctions]:
        """Step, start and rates, as far as it has them."""
        return [c for c in (self.step, self.start, self.rates) if c is not None]

    @cached_property
    def seeds(self) -> np.ndarray:
        """The change of each parameter that changes in any direction, in rows as derivatives of the state."""
        if self.directions is None:
            return np.zeros((0, 0))
        moved = self.directions[self.directions.any(axis=1)]
        return np.hstack([moved, np.zeros((len(moved), self.row_length - moved.shape[1]))])

    @property
    def adjoint(self) -> bool:
        """Whether derivatives, with respect to all parameters there are, come from a sweep backwards."""
        return self.costate_row > 0

    @cached_property
    def pulled(self) -> int:
        """Number of all parameters, in an adjoint program."""
        return (
            int(self.step.pullback.numel_out(1)) // (1 if self.step.linearise else self.costate_row) if self.step.pullback else 0
        )

    @property
    def parameter_count(self) -> int:
        """Number of all parameters."""
        return int(self.objectives.integrands.numel_in(1))

    @cached_property
    def record_size(self) -> int:
        """Numbers that are recorded of each step: its beginning, length and end; states at its stages; unknowns and multipliers of iterated
        chains; the choice of independent coordinates."""
        stages = len(self.scheme.b) if self.scheme else 1
        chosen = self.coordinates if self.jacobian is not None else 0
        return 3 + stages * (self.state_size + sum(self.solved_sizes)) + chosen

    @cached_property
    def solved_sizes(self) -> tuple[int, int]:
        """Largest numbers of unknowns and multipliers of iterated chains."""
        iterations = [c.iterate for c in self.chains if c.iterate is not None]
        unknowns, multipliers = ([int(f.numel_out(k)) for f in iterations] for k in range(2))
        return max(unknowns, default=0), max(multipliers, default=0)

    @cached_property
    def state_size(self) -> int:
        """Length of a state."""
        return int(self.step.finish.numel_out(0))

    @cached_property
    def objective_count(self) -> int:
        """Number of objectives."""
        return int(self.objectives.integrands.numel_out(0))


MEMORY = 500e6
"""Bytes for records, if nothing else is said."""


@dataclass(frozen=True)
class Inputs:
    """What one run starts from: a guess for the start, or the state itself with its derivatives."""

    guess: np.ndarray | None
    state: np.ndarray | None
    sensitivities: np.ndarray | None
    start_slopes: np.ndarray | None
    """Derivatives of the given state with respect to all parameters, which an adjoint program needs."""
    parameters: np.ndarray
    nominal: np.ndarray
    """Nominal values of the parameters; they set the penalty."""
    schedule: Schedule
    max_iterations: int
    sizes: Sizes | None = None
    """By what errors are measured where coordinates are of several kinds; None where the largest tells the size of all."""
    slope_floors: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """For each direction that is differentiated in, the largest relative change of a parameter: 1 over its size for a single one."""
    chosen: np.ndarray | None = None
    """1 for coordinates that are independent at first, else 0; None where the run is to choose them."""
    memory: float = MEMORY
    """Bytes that an adjoint program may take for what it records."""
    parts: int = 1
    """Of the way from nominal values to those wanted, in which the start is followed from the guess, which is that of the nominal one."""
    anchor: np.ndarray | None = None
    """Positions that set the penalty, the same for all values of the parameters; None where those of the start do."""


@dataclass(frozen=True)
class Trajectory:
    """States at stored times, objectives up to those times, and how the run went."""

    time: np.ndarray
    states: np.ndarray
    """(time, state)"""
    objectives: np.ndarray
    """(time, objective): the integral so far plus the final term as if the run ended there."""
    residuals: np.ndarray
    """Largest constraint residuals over the run: position, velocity, acceleration."""
    iterations: int
    step_ends: np.ndarray
    """Times between steps, from 0 on."""
    rejected: int = 0
    """Steps that were tried and were too long."""
    selections: int = 0
    """How often independent coordinates were chosen."""
    steps: int | None = None
    """Their number, where their ends are not known: those of the stored results stand in for them."""
    sensitivities: np.ndarray | None = None
    """(time, state, parameter)"""
    gradients: np.ndarray | None = None
    """(time, objective, parameter); of an adjoint program with all parameters, and only at the end, else not a number"""

    def beginning(self, rows: int) -> Trajectory:
        """The first stored results, with the steps that led there."""
        steps = 1 + int(np.searchsorted(self.step_ends, self.time[rows - 1]))
        return replace(
            self,
            time=self.time[:rows],
            states=self.states[:rows],
            objectives=self.objectives[:rows],
            step_ends=self.step_ends[:steps],
            sensitivities=None if self.sensitivities is None else self.sensitivities[:rows],
            gradients=None if self.gradients is None else self.gradients[:rows],
        )


class BrokenOff(KeyboardInterrupt):
    """Ctrl-C came on the way, with something stored already."""

    def __init__(self, trajectory: Trajectory, seconds: float = 0.0):
        super().__init__(f"t = {trajectory.time[-1]:g} s")
        self.trajectory = trajectory
        """Up to the last result that was stored."""
        self.seconds = seconds
        """That it took."""


def broken_off(trajectory: Trajectory, rows: int) -> KeyboardInterrupt:
    """What Ctrl-C leaves of a run that has stored so many results; of the start alone, nothing."""
    return BrokenOff(trajectory.beginning(rows)) if rows > 1 else KeyboardInterrupt()


class Amplified(Exception):
    """The mechanism came so close to a singular position that constraints should be relaxed a little there."""


class StartFailure(Exception):
    """No start was found from the guess."""


NEGLIGIBLE = 1e-4
"""Ratio below which a correction is only rounding: those of converged iterations are some 1e-3 to 1e-2."""
NOISE = 1e3
"""Ratio up to which corrections that do not shrink any more, or hardly, are those of a mechanism that is nearly singular: rounding, and
positions to 1e-11 of its size."""
NO_CONVERGENCE, NOT_FINITE, OVERWOUND, UNDERFLOW, SINGULAR = (
    "no convergence",
    "not finite",
    "overwound",
    "step-size underflow",
    "singular position",
)


class StepFailure(Exception):
    """A step did not converge, met a value that is not finite, became too short, ended at a
    singular position, or wound a torsional spring (number `which`) too far."""

    def __init__(
        self, step: int, time: float, length: float, state: np.ndarray, penalty: np.ndarray, reason: str, which: int = 0
    ):
        super().__init__(f"step {step} to t = {time:g} s")
        self.step = step
        self.time = time
        """At its end."""
        self.length = length
        self.state = state
        """At the beginning of the step."""
        self.penalty = penalty
        self.reason = reason
        self.which = which


BACKENDS = ("auto", "interpreted", "native")


def check_backend(backend: str) -> str:
    """The name itself, if it is one."""
    if backend in ("cuda", "gpu"):
        raise ModelError(f"backend = {backend!r}: a card carries out many runs at once, not one: monte_carlo(…, executor='cuda')")
    if backend not in BACKENDS:
        raise unknown_name("backend", backend, BACKENDS)
    return backend
