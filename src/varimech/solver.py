"""A solver: one model, one method, and everything derived from them, built once and used for any number of runs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import cached_property

import casadi as ca
import numpy as np

from .backends.bound import evaluated
from .backends.columns import row_length
from .backends.program import Amplified, ChainFunctions, Inputs, Program, StartFailure, StepFailure, Trajectory
from .backends.runner import Runner
from .backends.selection import select
from .backends.sundials import SundialsRunner
from .composite import CompositeSolver
from .coordinates.equations import Dynamics
from .coordinates.kinds import pieces_of
from .coordinates.penalty import constant_penalty, penalty_function, penalty_plan
from .coordinates.relative.recursion import Recursion
from .coordinates.relative.sweeps import Sweeps
from .coordinates.start import StartSolver
from .coordinates.start_chain import moving_chain, start_chain
from .coordinates.twist import twist_function, twist_plan
from .diagnosis import check_constraints, check_finite, explained
from .errors import ModelError, SimulationError, VarimechError
from .formulations.ali3p import ALI3P
from .formulations.independent import Independent
from .formulations.index1 import Projected
from .formulations.penalty import Penalty
from .integrators.runge_kutta import RungeKutta
from .integrators.sundials import IDAS, Sundials
from .methods import Method
from .model.parts import Parts
from .progress import progress_bar
from .sensitivity.direct import tangent_of
from .sensitivity.objective import Objective, ObjectiveFunctions, objective_functions
from .stages.assembled import AssembledChain, Tangent
from .stages.chain import Chain
from .stages.pieces import Pieces
from .stages.plan import Plan
from .stages.saddle import Saddle
from .symbols import SX
from .task import Task

MAX_ITERATIONS = 40


CLOSE = 0.1
"""Relative change of parameters up to which the nominal start leads to the one wanted."""
LARGE = 50
"""Unknowns and multipliers beyond which straight-line code takes longer to compile than it saves; see docs/architecture.md."""
LONG = 8
"""The same for open trees that sweeps carry out."""
DEEP = 12
"""Joints between a body and the ground up to which code for its depth is written out in large models."""
CHUNK = 64
"""Samples that a thread takes at a time."""
KEPT = 32
"""Programs that a solver keeps."""


class Solver:
    """Equations, start and step of a model as it is now; programs for the objectives and parameters asked for."""

    def __init__(self, model: Parts, method: Method, *, large: bool | None = None):
        self.model = model.frozen()
        self.method = method
        self._runners: dict[tuple[object, ...], Runner | SundialsRunner] = {}
        self._recent: dict[tuple[object, ...], Runner | SundialsRunner] = {}
        self._chains: dict[tuple[object, ...], ChainFunctions] = {}
        self._swept: dict[tuple[int, ...] | None, tuple[ChainFunctions, ChainFunctions, ChainFunctions | None]] = {}
        self.equations = method.coordinates.equations(self.model)
        self.start = StartSolver(self.equations)
        self.unknowns = unknowns = self.equations.q.numel() + self.equations.λ.numel()
        self.large = self._is_large() if large is None else large
        """Whether functions are assembled from elements, or from sweeps over a tree, and not written out."""
        if self.large and (isinstance(method.formulation, Independent) or isinstance(method.integrator, Sundials)):
            what = method.integrator.title if isinstance(method.integrator, Sundials) else method.formulation.title
            raise ModelError(
                f"mechanism {self.model.name!r} has {unknowns} unknowns and multipliers; {what} takes up to {LARGE}: "
                "use formulation='index1' or 'ali3p'"
            )
        if self.large and not self.in_sweeps:
            self._check_depth()

    def _is_large(self) -> bool:
        return self.unknowns > (LARGE if self._sweeps is None else LONG)

    @property
    def in_sweeps(self) -> bool:
        """Whether runs are carried out by sweeps over a tree."""
        return self.large and self._sweeps is not None

    @cached_property
    def _sweeps(self) -> Sweeps | None:
        """What carries out large open trees in relative coordinates by explicit integrators."""
        recursion, by_rates = self.equations.inertia, isinstance(self.method.formulation, Projected)
        return Sweeps(self.equations) if isinstance(recursion, Recursion) and recursion.tree.is_open and by_rates else None

    def _check_depth(self) -> None:
        """Bodies at the end of long branches depend on too many coordinates for code that is written for each depth."""
        recursion = self.equations.inertia
        if isinstance(recursion, Recursion) and (depth := max(recursion.tree.depths.values())) > DEEP:
            remedy = "formulation='index1' or " if recursion.tree.is_open else ""
            raise ModelError(
                f"mechanism {self.model.name!r} has {self.unknowns} unknowns and multipliers, and bodies {depth} joints away from the "
                f"ground; {self.method.title} take up to {LARGE} of the former or {DEEP} of the latter: "
                f"use {remedy}coordinates='natural'"
            )

    def run(self, task: Task, ρ: np.ndarray) -> tuple[Trajectory, float]:
        """One run, and the seconds that it took once everything was built."""
        if not isinstance(self.method.formulation, Projected):
            return self._run(task, ρ, relaxed=True)
        try:
            return self._run(task, ρ, relaxed=False)
        except Amplified:  # twice as slow, but fit for singular positions
            return self._run(task, ρ, relaxed=True)

    def _run(self, task: Task, ρ: np.ndarray, *, relaxed: bool) -> tuple[Trajectory, float]:
        self.start.check_fits(ρ, task.indices)
        in_driver = not isinstance(self.method.integrator, Sundials) and self._starts_in_driver
        if in_driver and self._near is not None and self._is_close(ρ):
            with suppress(StartFailure):  # assembly finds it, or says why there is none
                return self._carry_out(task, self._inputs(task, ρ, guess=self._near), regular=True, relaxed=relaxed)
        q = self.start.assemble(ρ)
        if not self._starts_in_driver:
            return self._run_sweeps(task, q, ρ)
        regular = self.start.regular(q, ρ)
        if in_driver and regular:
            with suppress(StartFailure):  # what follows finds the start, or says why there is none
                return self._carry_out(task, self._inputs(task, ρ, guess=q), regular=True, relaxed=relaxed)
        if self.method.integrator == IDAS and not regular:
            raise ModelError(
                f"mechanism {self.model.name!r}: integrator 'idas' takes no redundant constraints and no massless coordinates; "
                "use integrator='cvodes'"
            )
        initial = self.start.complete(q, ρ)
        S = None if task.indices is None else self._remembered(self.start.sensitivities(initial, ρ, task.indices))
        inputs = self._inputs(task, ρ, state=self._remembered(initial.packed), sensitivities=S)
        return self._carry_out(task, inputs, regular=regular and not in_driver, relaxed=relaxed)

    def _run_sweeps(self, task: Task, q: np.ndarray, ρ: np.ndarray) -> tuple[Trajectory, float]:
        """A run of a large open tree. Its accelerations at the start are found as those later are."""
        state, S = self.start.moving(q, ρ, task.indices)
        rates = self._sweep_functions(task.indices)[1].finish
        m, t = self.equations.λ.numel(), np.zeros(1)
        found = evaluated(rates, state, *(() if S is None else (S,)), np.ones(m), ρ, t)
        if not np.isfinite(found[0]).all():
            self.start.complete(q, ρ)  # says what is without inertia, or not finite
        slopes = None if S is None else found[2].reshape(-1, S.shape[1])
        inputs = self._inputs(task, ρ, state=found[0], sensitivities=slopes)
        return self._carry_out(task, inputs, regular=True, relaxed=True)

    def _sweep_functions(self, indices: list[int] | None) -> tuple[ChainFunctions, ChainFunctions, ChainFunctions | None]:
        """What completes the state at the end of a step; rates; and the start, where it is written out."""
        assert self._sweeps is not None
        key = None if indices is None else tuple(indices)
        if key not in self._swept:
            end, rates = (ChainFunctions(None, None, plan(indices)) for plan in (self._sweeps.end, self._sweeps.rates))
            self._swept[key] = end, rates, self._sweep_start(indices) if self._starts_in_driver else None
        return self._swept[key]

    def _sweep_start(self, indices: list[int] | None) -> ChainFunctions:
        """Positions and velocities from what is given, written out; then accelerations by sweeps."""
        assert self._sweeps is not None
        chain = moving_chain(self.equations, SX.eye(self.equations.q.numel()))
        if indices is None:
            finish = chain.finish()
            x = finish.sx_in()
            moving = ca.Function("moving", x, finish.call(x)[:1])
        else:
            tangent = tangent_of(chain, indices, state_varies=False)
            finish = chain.finish(tangent.coefficients)
            x = finish.sx_in()
            state, _, coefficients = finish.call(x)
            none = SX.zeros(chain.packed.numel())
            columns = [tangent.column(coefficients, none, SX.eye(len(indices))[:, k]) for k in range(len(indices))]
            moving = ca.Function("moving", x, [state, ca.horzcat(*columns).T])
        return ChainFunctions(chain.predict, chain.iterate, self._sweeps.start(indices, moving))

    @property
    def _starts_in_driver(self) -> bool:
        """Whether a run finds its start in generated code."""
        return not self.in_sweeps or self.equations.q.numel() <= LARGE

    def run_composite(self, task: Task, ρ: np.ndarray) -> tuple[Trajectory, float]:
        """The same by the composite system, one run for each parameter."""
        composite, indices = self._composite, task.indices or []
        self.start.check_fits(ρ, indices)
        q = self.start.assemble(ρ)
        if not self.start.regular(q, ρ):
            raise ModelError(
                f"mechanism {self.model.name!r}: method='composite' takes no redundant constraints and no massless coordinates; "
                "use method='direct'"
            )
        initial = self.start.complete(q, ρ)
        slopes = self.start.sensitivities(initial, ρ, indices)
        inputs = self._inputs(task, ρ, state=self._remembered(initial.packed))
        began = time.perf_counter()
        try:
            found = [composite.run(task, inputs, self._remembered(slopes[:, k]), index) for k, index in enumerate(indices)]
        except StepFailure as f:
            self.run(replace(task, indices=None), ρ)  # where the motion itself fails, it says why
            text = (
                f"{self.model.name!r}: step {f.step}, t = {f.time:.6g} s: {f.reason} in the composite system; try method='direct'"
            )
            raise SimulationError(text, time=f.time, step=f.step, residual=math.nan, worst="composite system") from None
        S, gradients = (np.concatenate([getattr(t, name) for t in found], axis=2) for name in ("sensitivities", "gradients"))
        whole = replace(found[-1], sensitivities=S, gradients=gradients)
        check_constraints(whole, task.schedule.tolerance, self.method.formulation, self.equations)
        check_finite(whole, list(task.objectives), self.model.name)
        return whole, time.perf_counter() - began

    @cached_property
    def _composite(self) -> CompositeSolver:
        if self.large:
            raise ModelError(
                f"mechanism {self.model.name!r} has {self.unknowns} unknowns and multipliers; method='composite' takes up to {LARGE}: "
                "use method='direct'"
            )
        return CompositeSolver(self.equations, self.method)

    def _remembered(self, state: np.ndarray) -> np.ndarray:
        """A state with what the integrator remembers: at first, the accelerations."""
        n = self.equations.q.numel()
        return np.concatenate([state, state[2 * n : 3 * n]]) if self._remembers else state

    def run_many(self, task: Task, samples: np.ndarray, threads: int) -> tuple[list[Trajectory | VarimechError], float]:
        """A run for each row of parameter values, in threads, and the seconds they took; what failed is returned, not raised."""
        quiet = replace(task, progress=False, runs=len(samples))
        refused = self.model.numbers.violations(samples)
        # one short run derives and compiles what all others share; where nominal values fail, each run looks after itself
        once = replace(quiet, schedule=task.schedule.shortened(), runs=len(samples) * task.schedule.estimated_steps)
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
        if self._near is None or self.equations.fits or not self._starts_in_driver:
            return None
        inputs = self._inputs(task, self.model.numbers.nominal, guess=self._near)
        runner = self.runner(task.objectives, task.indices, regular=True)
        carry_out = runner.prepare_all(inputs, task.backend, runs=task.runs)
        if carry_out is None:
            return None
        tolerance = task.schedule.tolerance
        return lambda values: [t if self._holds_together(t, tolerance) else None for t in carry_out(values)]

    def _holds_together(self, trajectory: Trajectory | None, tolerance: float) -> bool:
        try:
            if trajectory is not None:
                check_constraints(trajectory, tolerance, self.method.formulation, self.equations)
        except SimulationError:
            return False  # it is carried out once more by itself, and reported
        return True

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
        chosen = self._chosen if isinstance(self.method.formulation, Independent) else None
        nominal = self.model.numbers.nominal
        sizes = np.abs(nominal[task.indices or []])
        floors = 1 / np.where(sizes > 0, sizes, 1.0)
        return Inputs(
            guess, state, sensitivities, ρ, nominal, task.schedule, MAX_ITERATIONS, self.equations.sizes, floors, chosen
        )

    @cached_property
    def _chosen(self) -> np.ndarray | None:
        """Coordinates that are independent at the nominal start; runs close by begin with the same, so results vary smoothly between them."""
        if self._near is None:
            return None
        J = np.array(self._jacobian(self._near, self.model.numbers.nominal, 0.0))
        return select(J, None)[0]

    def _carry_out(self, task: Task, inputs: Inputs, *, regular: bool, relaxed: bool) -> tuple[Trajectory, float]:
        runner = self.runner(task.objectives, task.indices, regular=regular, relaxed=relaxed)
        carry_out = runner.prepare(inputs, task.backend, runs=task.runs)
        n = self.equations.packed.numel()  # without what the integrator remembers
        try:
            with progress_bar(f"{self.model.name}: {task.schedule.duration:g} s", 1.0, task.progress) as tell:
                trajectory, ran = carry_out(tell)
        except StepFailure as failure:
            raise explained(failure, inputs, self.equations, runner.program.step, self.method) from None
        check_finite(trajectory, list(task.objectives), self.model.name)
        check_constraints(trajectory, task.schedule.tolerance, self.method.formulation, self.equations)
        S = trajectory.sensitivities
        return replace(trajectory, states=trajectory.states[:, :n], sensitivities=None if S is None else S[:, :n]), ran

    @property
    def _remembers(self) -> bool:
        """Whether the integrator needs more than the state."""
        return not isinstance(self.method.integrator, (RungeKutta, Sundials)) and self.method.integrator.remembers

    def runner(
        self, objectives: Mapping[str, Objective], indices: list[int] | None, *, regular: bool = True, relaxed: bool | None = None
    ) -> Runner | SundialsRunner:
        """What carries out runs with these objectives; `indices` are the parameters to differentiate for, None for none."""
        if relaxed is None:
            relaxed = not isinstance(self.method.formulation, Projected)
        chosen = None if indices is None else tuple(indices)
        same_objects = (tuple(objectives.items()), chosen, regular, relaxed)
        if same_objects not in self._recent:
            _make_room(self._recent)
            self._recent[same_objects] = self._runner_of_expressions(objectives, indices, regular=regular, relaxed=relaxed)
        return self._recent[same_objects]

    def _runner_of_expressions(
        self, objectives: Mapping[str, Objective], indices: list[int] | None, *, regular: bool, relaxed: bool
    ) -> Runner | SundialsRunner:
        """Equal expressions are one program, however often a user writes their functions anew."""
        count = len(indices or [])
        row = count if self.large else row_length(count)
        functions = objective_functions(self.equations, objectives, indices or [], row)
        key = (
            functions.integrands.serialize(),
            functions.finals.serialize(),
            None if indices is None else tuple(indices),
            regular,
            relaxed,
        )
        if key not in self._runners:
            _make_room(self._runners)
            program = self._program(functions, indices, row, regular=regular, relaxed=relaxed)
            if isinstance(self.method.integrator, Sundials):
                chain = self._rates(self.equations, self._saddle(regular, relaxed))
                self._runners[key] = SundialsRunner(program, chain, self.method.integrator, indices)
            else:
                self._runners[key] = Runner(program)
        return self._runners[key]

    def _program(
        self, objectives: ObjectiveFunctions, indices: list[int] | None, row: int, *, regular: bool, relaxed: bool
    ) -> Program:
        integrator, formulation = self.method.integrator, self.method.formulation
        start: ChainFunctions | None = None
        rates: ChainFunctions | None = None
        penalty: ca.Function | Plan
        twist: ca.Function | Plan
        if self.in_sweeps:
            step, rates, start = self._sweep_functions(indices)
            penalty, twist = constant_penalty(self.equations, Saddle(regular=True)), twist_function(self.equations)
        else:
            if regular:
                start = self._functions("start", lambda e, _: start_chain(e, remember=self._remembers), indices, True, relaxed)
            step = self._functions("step", self._step, indices, regular, relaxed)
            if isinstance(formulation, Projected):
                rates = self._functions("rates", self._rates, indices, regular, relaxed)
            saddle = self._saddle(regular, relaxed)
            penalty = penalty_plan(self._pieces, saddle) if self.large else penalty_function(self.equations, saddle)
            twist = twist_plan(self._pieces) if self.large else twist_function(self.equations)
        return Program(
            self.equations.q.numel(),
            start,
            step,
            penalty,
            twist,
            objectives,
            None if indices is None else len(indices),
            0 if indices is None else row,
            integrator if isinstance(integrator, RungeKutta) else None,
            rates,
            self._jacobian if isinstance(formulation, Independent) else None,
            sharp=regular and not relaxed,
        )

    def _step(self, dynamics: Dynamics, saddle: Saddle) -> Chain:
        """A step of an implicit integrator, or what completes the state at the end of an explicit one's."""
        formulation, integrator = self.method.formulation, self.method.integrator
        if isinstance(formulation, Projected):
            return formulation.end(dynamics, saddle)
        if isinstance(integrator, (RungeKutta, Sundials)):
            return self._rates(dynamics, saddle)
        assert isinstance(formulation, (ALI3P, Penalty))
        return formulation.step(dynamics, integrator, saddle)

    def _rates(self, dynamics: Dynamics, saddle: Saddle) -> Chain:
        assert not isinstance(self.method.formulation, ALI3P)
        return self.method.formulation.rates(dynamics, saddle)

    def _saddle(self, regular: bool, relaxed: bool) -> Saddle:
        exact = isinstance(self.method.formulation, (ALI3P, Penalty)) or (regular and not relaxed)
        return Saddle(regular) if exact else Saddle.relaxed(regular)

    @cached_property
    def _jacobian(self) -> ca.Function:
        e = self.equations
        return ca.Function("jacobian", [e.q, e.ρ, e.t], [ca.densify(e.constraint_jacobian)])

    @cached_property
    def _pieces(self) -> Pieces[Dynamics]:
        return pieces_of(self.equations)

    def _functions(
        self, name: str, build: Callable[[Dynamics, Saddle], Chain], indices: list[int] | None, regular: bool, relaxed: bool
    ) -> ChainFunctions:
        key = (name, regular, relaxed, None if indices is None else tuple(indices))
        if key not in self._chains:
            saddle = self._saddle(regular, relaxed)
            self._chains[key] = self._new_functions(lambda e: build(e, saddle), indices, state_varies=name != "start")
        return self._chains[key]

    def _new_functions(
        self, build: Callable[[Dynamics], Chain], indices: list[int] | None, *, state_varies: bool
    ) -> ChainFunctions:
        if self.large:
            assembled = AssembledChain(self._pieces.mapped(build))
            last = assembled.finish(None if indices is None else Tangent(indices, state_varies))
            iterated = assembled.chain.iterated
            return ChainFunctions(assembled.predict if iterated else None, assembled.iterate if iterated else None, last)
        chain = build(self.equations)
        tangent = None if indices is None else tangent_of(chain, indices, state_varies=state_varies)
        finish = chain.finish(None if tangent is None else tangent.coefficients)
        column = None if tangent is None else tangent.column
        return ChainFunctions(
            chain.predict if chain.iterated else None, chain.iterate if chain.iterated else None, finish, column
        )


def _make_room(cache: dict[tuple[object, ...], Runner | SundialsRunner]) -> None:
    if len(cache) >= KEPT:
        cache.pop(next(iter(cache)))
