"""A solver: one model, one method, and everything derived from them, built once and used for any number of runs."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np

from .backends.program import ChainFunctions, Inputs, Program, StartFailure, StepFailure, Trajectory
from .backends.runner import Runner
from .coordinates.natural import natural_equations
from .coordinates.start import StartSolver
from .coordinates.start_chain import start_chain
from .diagnosis import check_springs, explained
from .errors import ModelError, SimulationError, VarimechError, unknown_name
from .formulations.ali3p import ali3p_step, penalty_function
from .integrators.newmark import TRAPEZOIDAL, Newmark
from .model.parts import Parts
from .progress import progress_bar
from .sensitivity.direct import tangent_of
from .sensitivity.objective import Objective, objective_functions
from .stages.chain import Chain
from .stages.saddle import Saddle

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
        if not isinstance(value, Real) or isinstance(value, bool) or not (math.isfinite(value) and value > 0):
            raise ModelError(f"{label} = {value!r} must be a positive finite number of seconds")
    if step > duration:
        raise ModelError(f"step = {step:g} s is longer than the whole run of {duration:g} s")
    if not isinstance(every, Integral) or isinstance(every, bool) or every < 1:
        raise ModelError(f"every = {every!r} must be a whole number of steps, 1 or more")
    return Span(float(duration), max(1, math.ceil(duration / step - 1e-9)), int(every))


def find_integrator(integrator: str | Newmark) -> Newmark:
    """An integrator by name, or as given."""
    if isinstance(integrator, Newmark):
        return integrator
    if integrator == "trapezoidal":
        return TRAPEZOIDAL
    raise unknown_name("integrator", integrator, ["trapezoidal", "varimech.Newmark(gamma=…)"])


class Solver:
    """Equations, start and step of a model as it is now; programs for the objectives and parameters asked for."""

    def __init__(self, model: Parts, scheme: Newmark):
        self.model = model.frozen()
        self.scheme = scheme
        self._runners: dict[tuple[object, ...], Runner] = {}
        self._chains: dict[bool, tuple[Chain, Chain]] = {}
        self._near: np.ndarray | None = None
        """Positions of a start found before, with independent constraints: where to look for others."""
        self.equations = natural_equations(self.model)
        self.start = StartSolver(self.equations)

    @property
    def method(self) -> str:
        """In words."""
        s = self.scheme
        rule = "trapezoidal rule" if s == TRAPEZOIDAL else f"Newmark (γ = {s.gamma:g}, β = {s.beta:g})"
        return f"ALI3-P, {rule}, natural coordinates"

    def chains(self, *, regular: bool) -> tuple[Chain, Chain]:
        """The start and the time step, in symbols, for constraints that are independent or not."""
        if regular not in self._chains:
            e, saddle = self.equations, Saddle(regular)
            self._chains[regular] = (start_chain(e, self.start.start, regular=regular), ali3p_step(e, self.scheme, saddle))
        return self._chains[regular]

    def runner(self, objectives: Mapping[str, Objective], indices: list[int] | None, *, regular: bool = True) -> Runner:
        """What carries out a run; `indices` are the parameters to differentiate for, None for a plain simulation."""
        key = (tuple(objectives.items()), None if indices is None else tuple(indices), regular)
        if key not in self._runners:
            start, step = self.chains(regular=regular)
            functions = objective_functions(self.equations, objectives, indices or [])
            program = Program(
                _functions(start, indices, state_varies=False),
                _functions(step, indices, state_varies=True),
                penalty_function(self.equations, step.saddle),
                functions.values,
                None if indices is None else functions.derivatives,
            )
            self._runners[key] = Runner(program)
        return self._runners[key]

    def run(
        self,
        span: Span,
        ρ: np.ndarray,
        objectives: Mapping[str, Objective],
        indices: list[int] | None = None,
        *,
        backend: str = "auto",
        progress: bool | None = None,
        runs: int = 1,
    ) -> tuple[Trajectory, float]:
        """One run (of `runs` alike), and the seconds that it took once everything was built."""
        if self._near is None:
            return self._run_from_scratch(span, ρ, objectives, indices, backend, progress, runs)
        inputs = Inputs(self._near, None, None, ρ, span.step, span.steps, span.every, MAX_ITERATIONS)
        try:
            return self._carry_out(inputs, span, objectives, indices, backend, progress, runs, regular=True)
        except StartFailure:
            return self._run_from_scratch(span, ρ, objectives, indices, backend, progress, runs)

    def run_many(
        self,
        span: Span,
        samples: np.ndarray,
        objectives: Mapping[str, Objective],
        indices: list[int] | None,
        *,
        backend: str,
        threads: int,
        progress: bool | None,
    ) -> tuple[list[Trajectory | VarimechError], float]:
        """A run for each row of parameter values, in threads, and the seconds they took; what failed is returned, not raised."""

        def one(ρ: np.ndarray) -> Trajectory | VarimechError:
            try:
                return self.run(span, ρ, objectives, indices, backend=backend, progress=False, runs=len(samples))[0]
            except VarimechError as error:
                return error

        # one short run derives and compiles what all others share; where nominal values fail, each run looks after itself
        once = run_span(span.step, span.step, 1)
        with suppress(VarimechError):
            self.run(once, self.model.numbers.nominal, objectives, indices, backend=backend, runs=len(samples) * span.steps)
        began = time.perf_counter()
        outcomes: list[Trajectory | VarimechError] = []
        with (
            progress_bar(f"{self.model.name}: {len(samples)} runs", len(samples), progress) as tell,
            ThreadPoolExecutor(threads) as pool,
        ):
            for outcome in pool.map(one, samples):
                outcomes.append(outcome)
                tell(len(outcomes))
        return outcomes, time.perf_counter() - began

    def _run_from_scratch(
        self,
        span: Span,
        ρ: np.ndarray,
        objectives: Mapping[str, Objective],
        indices: list[int] | None,
        backend: str,
        progress: bool | None,
        runs: int,
    ) -> tuple[Trajectory, float]:
        """A run whose start is found by assembly, with all its checks."""
        initial = self.start.solve(ρ)
        if self.start.regular(initial.q, ρ):
            self._near = initial.q
            inputs = Inputs(initial.q, None, None, ρ, span.step, span.steps, span.every, MAX_ITERATIONS)
            return self._carry_out(inputs, span, objectives, indices, backend, progress, runs, regular=True)
        S = None if indices is None else self.start.sensitivities(initial, ρ, indices)
        inputs = Inputs(None, initial.packed, S, ρ, span.step, span.steps, span.every, MAX_ITERATIONS)
        return self._carry_out(inputs, span, objectives, indices, backend, progress, runs, regular=False)

    def _carry_out(
        self,
        inputs: Inputs,
        span: Span,
        objectives: Mapping[str, Objective],
        indices: list[int] | None,
        backend: str,
        progress: bool | None,
        runs: int,
        *,
        regular: bool,
    ) -> tuple[Trajectory, float]:
        carry_out = self.runner(objectives, indices, regular=regular).prepare(inputs, backend, runs=runs)
        began = time.perf_counter()
        try:
            with progress_bar(f"{self.model.name}: {span.duration:g} s", span.steps, progress) as tell:
                trajectory = carry_out(tell)
        except StepFailure as failure:
            raise explained(failure, inputs, self.equations, self.chains(regular=regular)[1]) from None
        _check_finite(trajectory, list(objectives), self.model.name, span.step)
        check_springs(self.equations, trajectory, inputs.parameters)
        return trajectory, time.perf_counter() - began


def _functions(chain: Chain, indices: list[int] | None, *, state_varies: bool) -> ChainFunctions:
    tangent = None if indices is None else tangent_of(chain, indices, state_varies=state_varies)
    return ChainFunctions(chain.predict, chain.iterate, chain.finish(tangent))


def _check_finite(trajectory: Trajectory, objectives: list[str], mechanism: str, step: float) -> None:
    """The motion is finite where a run comes to its end; objectives are functions of their own."""
    for what, values in (("value", trajectory.objectives), ("derivative", trajectory.gradients)):
        if values is not None and not np.isfinite(values).all():
            row, column = np.argwhere(~np.isfinite(values))[0][:2]
            name, t = objectives[int(column)], float(trajectory.time[row])
            raise SimulationError(
                f"{mechanism!r}: the {what} of objective {name!r} is not finite from t = {t:g} s on (NaN or infinite); "
                "look for a root, logarithm or quotient that meets zero there",
                time=t,
                step=round(t / step),
                residual=math.nan,
                worst=name,
            )
