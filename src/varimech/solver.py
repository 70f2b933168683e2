"""A solver: one model, one method, and everything derived from them, built once and used for any number of runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import cached_property

import numpy as np

from .backends.columns import row_length
from .backends.program import ChainFunctions, Inputs, Program, StartFailure, StepFailure, Trajectory
from .backends.runner import Runner
from .coordinates.equations import Dynamics
from .coordinates.kinds import pieces_of
from .coordinates.natural import natural_equations
from .coordinates.penalty import penalty_function, penalty_plan
from .coordinates.start import StartSolver
from .coordinates.start_chain import start_chain
from .coordinates.twist import twist_function, twist_plan
from .diagnosis import check_finite, explained
from .errors import ModelError, VarimechError
from .formulations.ali3p import ali3p_step
from .formulations.index1 import index1_step
from .integrators.newmark import TRAPEZOIDAL, Newmark
from .integrators.runge_kutta import RungeKutta
from .model.parts import Parts
from .progress import progress_bar
from .sensitivity.direct import tangent_of
from .sensitivity.objective import Objective, objective_functions
from .stages.assembled import AssembledChain, Tangent
from .stages.chain import Chain
from .stages.pieces import Pieces
from .stages.saddle import Saddle
from .symbols import SX
from .task import Integrator, Task, run_times

MAX_ITERATIONS = 25


CLOSE = 0.1
"""Relative change of parameters up to which the nominal start leads to the one wanted."""
LARGE = 50
"""Unknowns and multipliers beyond which straight-line code takes longer to compile than it saves; see docs/architecture.md."""
CHUNK = 64
"""Samples that a thread takes at a time."""
KEPT = 32
"""Programs that a solver keeps."""


class Solver:
    """Equations, start and step of a model as it is now; programs for the objectives and parameters asked for."""

    def __init__(self, model: Parts, scheme: Integrator, *, large: bool | None = None):
        self.model = model.frozen()
        self.scheme = scheme
        self._runners: dict[tuple[object, ...], Runner] = {}
        self._recent: dict[tuple[object, ...], Runner] = {}
        self._chains: dict[tuple[object, ...], ChainFunctions] = {}
        self.equations = natural_equations(self.model)
        self.start = StartSolver(self.equations)
        self._unknowns = self.equations.q.numel() + self.equations.λ.numel()
        self.large = self._unknowns > LARGE if large is None else large
        """Whether functions are assembled from elements, not written out."""

    @property
    def method(self) -> str:
        """In words."""
        s = self.scheme
        if isinstance(s, RungeKutta):
            return f"index 1 with projections, {s.name}, natural coordinates"
        rule = "trapezoidal rule" if s == TRAPEZOIDAL else f"Newmark (γ = {s.gamma:g}, β = {s.beta:g})"
        return f"ALI3-P, {rule}, natural coordinates"

    def run(self, task: Task, ρ: np.ndarray) -> tuple[Trajectory, float]:
        """One run, and the seconds that it took once everything was built."""
        self.start.check_fits(ρ, task.indices)
        if self._near is not None and self._is_close(ρ):
            with suppress(StartFailure):  # assembly finds it, or says why there is none
                return self._carry_out(task, self._inputs(task, ρ, guess=self._near), regular=True)
        q = self.start.assemble(ρ)
        if self.start.regular(q, ρ):
            with suppress(StartFailure):  # what follows finds the start, or says why there is none
                return self._carry_out(task, self._inputs(task, ρ, guess=q), regular=True)
        initial = self.start.complete(q, ρ)
        S = None if task.indices is None else self.start.sensitivities(initial, ρ, task.indices)
        return self._carry_out(task, self._inputs(task, ρ, state=initial.packed, sensitivities=S), regular=False)

    def run_many(self, task: Task, samples: np.ndarray, threads: int) -> tuple[list[Trajectory | VarimechError], float]:
        """A run for each row of parameter values, in threads, and the seconds they took; what failed is returned, not raised."""
        quiet = replace(task, progress=False, runs=len(samples))
        refused = self.model.numbers.violations(samples)
        # one short run derives and compiles what all others share; where nominal values fail, each run looks after itself
        once = replace(quiet, times=run_times(task.times.step, task.times.step, 1), runs=len(samples) * task.times.steps)
        with suppress(VarimechError):
            self.run(once, self.model.numbers.nominal)
        at_once, close = self._many_at_once(quiet), self._is_close(samples)

        def alone(row: int) -> Trajectory | VarimechError:
            if row in refused:
                return refused[row]
            try:
                return self.run(quiet, samples[row])[0]
            except VarimechError as error:
                return error

        def together(rows: range) -> list[Trajectory | VarimechError]:
            near = [k for k in rows if at_once is not None and close[k] and k not in refused]
            found = dict(zip(near, at_once(samples[near]), strict=True)) if near and at_once is not None else {}
            return [found.get(k) or alone(k) for k in rows]

        began = time.perf_counter()
        outcomes: list[Trajectory | VarimechError] = []
        size = max(1, min(CHUNK, len(samples) // (4 * threads)))
        chunks = [range(first, min(first + size, len(samples))) for first in range(0, len(samples), size)]
        label = f"{self.model.name}: {len(samples)} runs"
        with progress_bar(label, len(samples), task.progress) as tell, ThreadPoolExecutor(threads) as pool:
            for chunk in pool.map(together, chunks):
                outcomes += chunk
                tell(len(outcomes))
        return outcomes, time.perf_counter() - began

    def _many_at_once(self, task: Task) -> Callable[[np.ndarray], list[Trajectory | None]] | None:
        """What carries out many compiled runs close to the nominal one at one call; None where each has to be looked after."""
        if self._near is None or self.equations.fits:
            return None
        inputs = self._inputs(task, self.model.numbers.nominal, guess=self._near)
        runner = self.runner(task.objectives, task.indices, regular=True)
        return runner.prepare_all(inputs, task.backend, runs=task.runs)

    @cached_property
    def _near(self) -> np.ndarray | None:
        """Positions of the nominal start, from which those for values close by are found; None if there is none, or it is not regular."""
        ρ = self.model.numbers.nominal
        try:
            q = self.start.assemble(ρ)
        except VarimechError:
            return None
        return q if self.start.regular(q, ρ) else None

    def _is_close(self, ρ: np.ndarray) -> np.ndarray:
        """Whether the nominal start leads to this one (or those, one a row); further away, another way to assemble could be meant."""
        nominal = self.model.numbers.nominal
        return np.asarray((np.abs(ρ - nominal) <= CLOSE * np.abs(nominal)).all(axis=-1))

    def _inputs(
        self,
        task: Task,
        ρ: np.ndarray,
        *,
        guess: np.ndarray | None = None,
        state: np.ndarray | None = None,
        sensitivities: np.ndarray | None = None,
    ) -> Inputs:
        t = task.times
        return Inputs(guess, state, sensitivities, ρ, t.step, t.steps, t.every, MAX_ITERATIONS)

    def _carry_out(self, task: Task, inputs: Inputs, *, regular: bool) -> tuple[Trajectory, float]:
        runner = self.runner(task.objectives, task.indices, regular=regular)
        carry_out = runner.prepare(inputs, task.backend, runs=task.runs)
        began = time.perf_counter()
        try:
            with progress_bar(f"{self.model.name}: {task.times.duration:g} s", task.times.steps, task.progress) as tell:
                trajectory = carry_out(tell)
        except StepFailure as failure:
            raise explained(failure, inputs, self.equations, runner.program.step, self.scheme) from None
        check_finite(trajectory, list(task.objectives), self.model.name, task.times.step)
        return trajectory, time.perf_counter() - began

    def runner(self, objectives: Mapping[str, Objective], indices: list[int] | None, *, regular: bool = True) -> Runner:
        """What carries out runs with these objectives; `indices` are the parameters to differentiate for, None for none."""
        chosen = None if indices is None else tuple(indices)
        same_objects = (tuple(objectives.items()), chosen, regular)
        if same_objects not in self._recent:
            _make_room(self._recent)
            self._recent[same_objects] = self._runner_of_expressions(objectives, indices, regular=regular)
        return self._recent[same_objects]

    def _runner_of_expressions(self, objectives: Mapping[str, Objective], indices: list[int] | None, *, regular: bool) -> Runner:
        """Equal expressions are one program, however often a user writes their functions anew."""
        count = len(indices or [])
        functions = objective_functions(self.equations, objectives, indices or [], count if self.large else row_length(count))
        key = (functions.values.serialize(), None if indices is None else tuple(indices), regular)
        if key not in self._runners:
            _make_room(self._runners)
            program = Program(
                self._functions(start_chain, indices, state_varies=False) if regular else None,
                self._step_functions(functions.integrands, indices, regular=regular),
                penalty_plan(self._pieces, Saddle(regular)) if self.large else penalty_function(self.equations, Saddle(regular)),
                twist_plan(self._pieces) if self.large else twist_function(self.equations),
                functions.values,
                None if indices is None else functions.derivatives,
            )
            self._runners[key] = Runner(program)
        return self._runners[key]

    def _step_functions(self, integrands: SX, indices: list[int] | None, *, regular: bool) -> ChainFunctions:
        scheme, saddle = self.scheme, Saddle(regular)
        if isinstance(scheme, Newmark):
            return self._functions(lambda e: ali3p_step(e, scheme, saddle), indices, regular=regular)
        if self.large:
            raise ModelError(
                f"mechanism {self.model.name!r} has {self._unknowns} unknowns and multipliers; explicit integrators take up to {LARGE}: "
                "use integrator='trapezoidal'"
            )
        # its quadrature belongs to the step, so each set of objectives has steps of its own
        return self._new_functions(lambda e: index1_step(e, scheme, saddle, integrands), indices, state_varies=True)

    @cached_property
    def _pieces(self) -> Pieces[Dynamics]:
        return pieces_of(self.equations)

    def _functions(
        self, build: Callable[[Dynamics], Chain], indices: list[int] | None, *, state_varies: bool = True, regular: bool = True
    ) -> ChainFunctions:
        key = (state_varies, regular, None if indices is None else tuple(indices))
        if key not in self._chains:
            self._chains[key] = self._new_functions(build, indices, state_varies=state_varies)
        return self._chains[key]

    def _new_functions(
        self, build: Callable[[Dynamics], Chain], indices: list[int] | None, *, state_varies: bool
    ) -> ChainFunctions:
        if self.large:
            assembled = AssembledChain(self._pieces.mapped(build))
            last = assembled.finish(None if indices is None else Tangent(indices, state_varies))
            return ChainFunctions(assembled.predict, assembled.iterate, last)
        chain = build(self.equations)
        tangent = None if indices is None else tangent_of(chain, indices, state_varies=state_varies)
        finish = chain.finish(None if tangent is None else tangent.coefficients)
        column = None if tangent is None else tangent.column
        return ChainFunctions(chain.predict, chain.iterate, finish, column, chain.increments is not None)


def _make_room(cache: dict[tuple[object, ...], Runner]) -> None:
    if len(cache) >= KEPT:
        cache.pop(next(iter(cache)))
