"""A program: the functions of a time step and of what is accumulated along a run, and what a run of it yields.

The loop that every backend carries out, for n = 1 … N:

    x, y ← predict;  repeat  x, y ← iterate  until it has converged;  state ← finish;
    state' ← tangent;  ψ ← ψ + h (g_{n−1} + g_n)/2;  ψ' likewise;  store every `stride`-th step.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np


@dataclass(frozen=True)
class Program:
    """Functions of one step; see `Step`, `tangent_function` and `objective_functions` for their arguments."""

    predict: ca.Function
    iterate: ca.Function
    finish: ca.Function
    objectives: ca.Function
    tangent: ca.Function | None = None
    objective_tangent: ca.Function | None = None

    @property
    def functions(self) -> list[ca.Function]:
        """All functions that it has."""
        named = (self.predict, self.iterate, self.finish, self.objectives, self.tangent, self.objective_tangent)
        return [f for f in named if f is not None]

    @property
    def objective_count(self) -> int:
        """Number of objectives."""
        return int(self.objectives.numel_out(0))

    @property
    def parameter_count(self) -> int:
        """Number of parameters it differentiates for."""
        return 0 if self.tangent is None else int(self.tangent.size2_out(0))


@dataclass(frozen=True)
class Inputs:
    """What one run starts from."""

    state: np.ndarray
    sensitivities: np.ndarray | None
    parameters: np.ndarray
    penalty: np.ndarray
    step: float
    steps: int
    stride: int
    max_iterations: int


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

    def __init__(self, inputs: Inputs, objectives: int, parameters: int | None):
        extra = 1 if inputs.steps % inputs.stride else 0
        count, size = 1 + inputs.steps // inputs.stride + extra, inputs.state.size
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


class StepFailure(Exception):
    """A step did not converge, or met a value that is not finite."""

    def __init__(self, step: int, time: float, state: np.ndarray, *, finite: bool):
        super().__init__(f"step {step} at t = {time:g} s")
        self.step = step
        self.time = time
        self.state = state
        """At the beginning of the step."""
        self.finite = finite
