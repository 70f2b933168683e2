"""A program: the functions of a start and of a time step and of what is accumulated along a run, and what a run of it yields.

What every backend carries out:

    state, state' ← start from a guess (or as given);  α ← penalty;
    for n = 1 … N:  state, state' ← step;  ψ ← ψ + h (g_{n−1} + g_n)/2, or what the step says;  ψ' likewise;  store every `stride`-th step,

where a start and a step are chains:  x, y ← predict;  repeat x, y ← iterate until converged;  finish.

An iteration gives the ratio r of its correction to the one allowed. Corrections of Newton's method shrink as  r, C r², …, so from two of them
the next is known to be about  r³ / r_last². Converged means: r ≤ 1, or the next correction would be negligible.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..errors import unknown_name
from ..stages.plan import Plan

Function = ca.Function | Plan
"""Straight-line code, or operations on vectors."""


@dataclass(frozen=True)
class ChainFunctions:
    """Functions of a chain; see `Chain` for their arguments.

    Where derivatives are wanted, either `finish` gives coefficients for the `tangent` (see `TangentFunction`), or it is a plan that gives
    them itself.
    """

    predict: Function
    iterate: Function
    finish: Function
    tangent: ca.Function | None = None
    increments: bool = False
    """Whether `finish` says, after the residuals, what a step adds to the integrals of the objectives, and `tangent` its derivatives."""


@dataclass(frozen=True)
class Program:
    """All functions of a run; see `penalty_function`, `twist_function` and `objective_functions` for the others.

    Derivatives with respect to parameters stand by rows of what is differentiated: (row, parameter).
    """

    start: ChainFunctions | None
    """None where runs begin with a given state only."""
    step: ChainFunctions
    penalty: Function
    twist: Function
    objectives: ca.Function
    objective_tangent: ca.Function | None = None
    """Given where derivatives are wanted; both `finish` then have a tangent."""

    @cached_property
    def slots(self) -> list[Function | None]:
        """All functions, each in its place, as the driver of compiled programs expects them."""
        chains = [f for c in (self.step, self.start) for f in ((c.predict, c.iterate, c.finish, c.tangent) if c else 4 * [None])]
        return [*chains, self.penalty, self.twist, self.objectives, self.objective_tangent]

    @cached_property
    def functions(self) -> list[Function]:
        """All that it has."""
        return [f for f in self.slots if f is not None]

    @cached_property
    def chains(self) -> list[ChainFunctions]:
        """Start, if it has one, and step."""
        return [c for c in (self.start, self.step) if c is not None]

    @cached_property
    def state_size(self) -> int:
        """Length of a state."""
        return int(self.step.finish.numel_out(0))

    @cached_property
    def objective_count(self) -> int:
        """Number of objectives."""
        return int(self.objectives.numel_out(0))

    @cached_property
    def parameter_count(self) -> int | None:
        """Number of parameters it differentiates for; None if it does not."""
        return None if self.objective_tangent is None else int(self.objective_tangent.size1_out(0))

    @cached_property
    def row_length(self) -> int:
        """Length of a row of derivatives of the state, filled up with zeros where vectors of the processor are longer."""
        return 0 if self.objective_tangent is None else int(self.objective_tangent.size1_in(1))


@dataclass(frozen=True)
class Inputs:
    """What one run starts from: a guess for the start, or the state itself with its derivatives."""

    guess: np.ndarray | None
    state: np.ndarray | None
    sensitivities: np.ndarray | None
    parameters: np.ndarray
    step: float
    steps: int
    stride: int
    max_iterations: int

    @property
    def stored_count(self) -> int:
        """How many states are stored: every `stride`-th, and the last."""
        return 1 + self.steps // self.stride + (1 if self.steps % self.stride else 0)


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
    sensitivities: np.ndarray | None = None
    """(time, state, parameter)"""
    gradients: np.ndarray | None = None
    """(time, objective, parameter)"""


class Store:
    """Where a run keeps every `stride`-th step, and the last."""

    def __init__(self, inputs: Inputs, program: Program):
        count, size = inputs.stored_count, program.state_size
        objectives, parameters = program.objective_count, program.parameter_count
        self.row = 0
        self.time = np.zeros(count)
        self.states = np.zeros((count, size))
        self.objectives = np.zeros((count, objectives))
        self.sensitivities = None if parameters is None else np.zeros((count, size, parameters))
        self.gradients = None if parameters is None else np.zeros((count, objectives, parameters))

    def take(self, time: float, state: np.ndarray, S: np.ndarray, ψ: np.ndarray, ψ_: np.ndarray) -> None:
        """Keep one step."""
        k = self.row
        self.time[k], self.states[k], self.objectives[k] = time, state, ψ
        if self.sensitivities is not None and self.gradients is not None:
            self.sensitivities[k], self.gradients[k] = S, ψ_
        self.row += 1

    def trajectory(self, worst: np.ndarray, iterations: int) -> Trajectory:
        """What was kept, with the largest residuals and the number of iterations."""
        return Trajectory(self.time, self.states, self.objectives, worst, iterations, self.sensitivities, self.gradients)


class StartFailure(Exception):
    """No start was found from the guess."""


NEGLIGIBLE = 1e-4
"""Ratio below which a correction is only rounding: those of converged iterations are some 1e-3 to 1e-2."""
NO_CONVERGENCE, NOT_FINITE, OVERWOUND = "no convergence", "not finite", "overwound"


class StepFailure(Exception):
    """A step did not converge, met a value that is not finite, or wound a torsional spring (number `which`) too far."""

    def __init__(self, step: int, time: float, state: np.ndarray, penalty: np.ndarray, reason: str, which: int = 0):
        super().__init__(f"step {step} at t = {time:g} s")
        self.step = step
        self.time = time
        self.state = state
        """At the beginning of the step."""
        self.penalty = penalty
        self.reason = reason
        self.which = which


BACKENDS = ("auto", "interpreted", "native")


def check_backend(backend: str) -> str:
    """The name itself, if it is one."""
    if backend not in BACKENDS:
        raise unknown_name("backend", backend, BACKENDS)
    return backend
