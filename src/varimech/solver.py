"""A solver: one model, one method, and everything derived from them, built once and used for any number of runs."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from .backends.interpreted import run_interpreted
from .backends.program import Inputs, Program, StepFailure, Trajectory
from .coordinates.natural import natural_equations
from .coordinates.start import StartSolver
from .errors import ModelError, SimulationError
from .formulations.ali3p import ali3p_step, penalty_function
from .formulations.saddle import Saddle
from .formulations.step import Step
from .integrators.newmark import TRAPEZOIDAL, Newmark
from .model.parts import Parts
from .progress import progress_bar
from .sensitivity.direct import tangent_function
from .sensitivity.objective import Objective, objective_functions

MAX_ITERATIONS = 25


@dataclass(frozen=True)
class Span:
    """Length of a run, cut into equal steps of which every `every`-th is stored."""

    duration: float
    steps: int
    every: int

    @property
    def step(self) -> float:
        """h, in seconds."""
        return self.duration / self.steps


def run_span(duration: float, step: float, every: int) -> Span:
    """Checked times of a run; the step is shortened a little where it does not divide the duration."""
    for label, value in (("duration", duration), ("step", step)):
        if not (isinstance(value, (int, float)) and math.isfinite(value) and value > 0):
            raise ModelError(f"{label} = {value!r} must be a positive finite number of seconds")
    if step > duration:
        raise ModelError(f"step = {step:g} s is longer than the whole run of {duration:g} s")
    if not (isinstance(every, int) and every >= 1):
        raise ModelError(f"every = {every!r} must be a whole number of steps, 1 or more")
    return Span(float(duration), max(1, math.ceil(duration / step - 1e-9)), every)


def find_integrator(integrator: str | Newmark) -> Newmark:
    """An integrator by name, or as given."""
    if isinstance(integrator, Newmark):
        return integrator
    if integrator == "trapezoidal":
        return TRAPEZOIDAL
    raise ModelError(f"integrator = {integrator!r} is not known; use 'trapezoidal' or varimech.Newmark(gamma=…)")


class Solver:
    """Equations, start and step of a model; programs for the objectives and parameters asked for."""

    def __init__(self, model: Parts, scheme: Newmark):
        self.model = model
        self.scheme = scheme
        self._programs: dict[tuple[object, ...], Program] = {}
        self.equations = natural_equations(model)
        self.start = StartSolver(self.equations)

    @property
    def method(self) -> str:
        """In words."""
        s = self.scheme
        rule = "trapezoidal rule" if s == TRAPEZOIDAL else f"Newmark (γ = {s.gamma:g}, β = {s.beta:g})"
        return f"ALI3-P, {rule}, natural coordinates"

    @cached_property
    def _saddle(self) -> Saddle:
        return Saddle(regular=self.start.regular)

    @cached_property
    def step(self) -> Step:
        """The time step, in symbols."""
        return ali3p_step(self.equations, self.scheme, self._saddle)

    @cached_property
    def _penalty(self) -> ca.Function:
        return penalty_function(self.equations, self._saddle)

    def program(self, objectives: Mapping[str, Objective], indices: list[int] | None) -> Program:
        """The functions to run; `indices` are the parameters to differentiate for, None for a plain simulation."""
        key = (tuple(objectives.items()), None if indices is None else tuple(indices))
        if key not in self._programs:
            step, functions = self.step, objective_functions(self.equations, objectives, indices or [])
            self._programs[key] = Program(
                step.predict,
                step.iterate,
                step.finish,
                functions.values,
                None if indices is None else tangent_function(step, indices),
                None if indices is None else functions.derivatives,
            )
        return self._programs[key]

    def run(
        self,
        span: Span,
        ρ: np.ndarray,
        objectives: Mapping[str, Objective],
        indices: list[int] | None = None,
        *,
        progress: bool | None = None,
    ) -> tuple[Trajectory, float]:
        """One run, and the seconds that its time steps took."""
        program = self.program(objectives, indices)
        initial = self.start.solve(ρ)
        S = None if indices is None else self.start.sensitivities(initial, ρ, indices)
        penalty = np.array(self._penalty(initial.q, ρ, 0.0)).ravel()
        inputs = Inputs(initial.packed, S, ρ, penalty, span.step, span.steps, span.every, MAX_ITERATIONS)
        began = time.perf_counter()
        try:
            with progress_bar(f"{self.model.name}: {span.duration:g} s", span.steps, progress) as tell:
                trajectory = run_interpreted(program, inputs, tell)
        except StepFailure as failure:
            raise self._explained(failure, inputs) from None
        return trajectory, time.perf_counter() - began

    def _explained(self, failure: StepFailure, inputs: Inputs) -> SimulationError:
        """What went wrong, where and when, with what to try."""
        worst, residual = self._suspect(failure, inputs)
        when = f"{self.model.name!r}: step {failure.step}, t = {failure.time:.6g} s, h = {inputs.step:g} s"
        if failure.finite:
            text = (
                f"{when}: no convergence in {MAX_ITERATIONS} iterations; worst constraint {worst!r}, residual {residual:.3g}. "
                "Try a smaller step; near a singular position, also another integrator"
            )
        else:
            text = f"{when}: a value became not finite (NaN or infinite); look at {worst!r}. Try a smaller step if the motion blew up"
        return SimulationError(text, time=failure.time, step=failure.step, residual=residual, worst=worst)

    def _suspect(self, failure: StepFailure, inputs: Inputs) -> tuple[str, float]:
        """The force that is not finite at the last good or the failed positions, else the constraint with the largest residual."""
        e, step = self.equations, self.step
        n, first = e.q.numel(), self.step.stages[0]
        end = ca.Function("q", [step.packed, first.unknown, step.size], step.resolved([step.next_state[0]]))
        unknown = failure.work[: first.unknown.numel()]
        tried = np.array(end(failure.state, unknown, inputs.step)).ravel()
        last, v = failure.state[:n], failure.state[n : 2 * n]
        parts = ca.Function("parts", [e.q, e.v, e.ρ, e.t], list(e.force_parts.values()))
        for q, t in ((last, failure.time), (tried, failure.time)):
            values = parts.call([q, v, inputs.parameters, t])
            for name, value in zip(e.force_parts, values, strict=True):
                if np.isfinite(q).all() and not np.isfinite(np.array(value)).all():
                    return name, math.nan
        Φ = np.array(ca.Function("residuals", [e.q, e.ρ, e.t], [e.constraints])(tried, inputs.parameters, failure.time)).ravel()
        if Φ.size == 0:
            return "the motion as a whole", math.nan
        k = int(np.argmax(np.where(np.isfinite(Φ), np.abs(Φ), np.inf)))
        return e.constraint_names[k], float(abs(Φ[k]))
