"""Solver of one model by one method, with all derived functions, built once and used for any number
of runs.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property

import numpy as np

from ..backends.complex_step import complex_step, refusal
from ..backends.failures import STALLED, UNDERFLOW, Amplified, StartFailure, StepFailure
from ..backends.inputs import Inputs
from ..backends.runner import Runner
from ..backends.selection import select
from ..backends.trajectory import BrokenOff, Trajectory
from ..coordinates.configurations import (
    OtherConfiguration,
    may_close_otherwise,
    other_configuration,
)
from ..coordinates.initial_state import InitialStateSolver
from ..core.errors import ModelError, SimulationError
from ..core.memory import check_memory
from ..core.messages import Message
from ..core.progress import progress_bar
from ..core.symbols import symbols_in
from ..formulations.formulation import Conditioning
from ..model.model_data import ModelData
from ..schemes import INTEGRATORS, Method, integrators_of
from ..sensitivity.objective import Objective
from ..sensitivity.smoothness import Switch, switches
from ..stages.plan import padded, row_length
from .composite import CompositeSolver
from .derivative_request import DerivativeRequest, unit_directions
from .diagnosis import explained
from .own_steps import refuse_jumps
from .passages import may_pass, passed, with_events_of
from .programs import LARGE, Programs
from .redundant_reactions import warn_of_redundant_reactions
from .runners import AnyRunner, Runners
from .second_order import SecondDerivatives, SecondOrder
from .start_continuation import StartContinuation
from .statics import Statics
from .task import Task
from .time_plan import TimePlan
from .validity import check_constraints, check_finite, check_sampled, check_speeds

MAX_ITERATIONS = 40


USE_DIRECT = Message("use {method}", method="direct")


class Solver:
    """Equations, initial-state solver and programs of a model at its current revision; programs are
    built for the objectives and parameters requested.
    """

    def __init__(self, model: ModelData, method: Method, *, large: bool | None = None):
        self.model = model.frozen()
        self.method = method = method.resolved(self.model)
        self._large = large
        self.equations = method.coordinates.equations(self.model)
        self.programs = Programs(self.equations, method, large=large)
        self._runners = Runners(self.programs)
        self.start = InitialStateSolver(self.equations)
        self.nearby = StartContinuation(self.start)
        self.time_plan = TimePlan(self.equations)
        self._last_request: tuple[tuple[object, ...], DerivativeRequest] = ((), DerivativeRequest())

    def run(self, task: Task, ρ: np.ndarray, *, explain: bool = True) -> tuple[Trajectory, float]:
        """Execute one run; return it, and its run time (s) without compilation. `explain=False`
        skips the explanation of failed assemblies, which takes time.
        """
        if not self.method.formulation.traits.sharp_first:
            return self._run(task, ρ, relaxed=True, explain=explain)
        try:
            return self._run(task, ρ, relaxed=False, explain=explain)
        except Amplified:  # relaxed: twice as slow, but suitable for singular positions
            return self._run(task, ρ, relaxed=True, explain=explain)

    def _run(
        self, task: Task, ρ: np.ndarray, *, relaxed: bool, explain: bool
    ) -> tuple[Trajectory, float]:
        self.start.check_closure(ρ, task.indices)
        in_driver = self.programs.finds_start
        if in_driver and (continued := self._continued(task, ρ)) is not None:
            # on failure, the full assembly below finds the initial state, or explains why there is
            # none
            with suppress(StartFailure):
                return self._execute(task, continued, Conditioning(True, relaxed))
        q = self.start.assemble(ρ, explain=explain)
        if self.programs.recursive and not in_driver:
            return self._run_recursive(task, q, ρ)
        regular = self.start.regular(q, ρ)
        if in_driver and regular:
            # on failure, the code below finds the initial state, or explains why there is none
            with suppress(StartFailure):
                inputs = self.inputs(task, ρ, guess=q)
                return self._execute(task, inputs, Conditioning(True, relaxed))
        if not regular:
            self._check_redundant()
        initial = self.start.complete(q, ρ)
        sensitivities = None
        if task.indices is not None:
            self.start.check_derivatives(initial, ρ, task.indices)
            sensitivities = self._remembered(
                self.start.sensitivities(initial, ρ, self._all_parameters)
            )
        inputs = self.inputs(
            task, ρ, state=self._remembered(initial.packed), sensitivities=sensitivities
        )
        return self._execute(task, inputs, Conditioning(regular and not in_driver, relaxed))

    def _check_redundant(self) -> None:
        """Refuse integrators and formulations that do not support redundant constraints."""
        integrator, formulation = self.method.integrator, self.method.formulation
        text = "takes no redundant constraints and no massless coordinates"
        if not formulation.traits.redundant:
            raise ModelError(
                f"mechanism {self.model.name!r}: formulation {formulation.name!r} {text}",
                remedy=Message("use {formulation}", formulation=("index1", "ali3p")),
            )
        if not integrator.traits.redundant:
            own_steps = integrator.continuous is not None
            others = [i for n in integrators_of(formulation) if (i := INTEGRATORS[n]) != integrator]
            # prefer one of the same kind
            others.sort(key=lambda i: (i.continuous is not None) != own_steps)
            other = next(i.name for i in others if i.traits.redundant)
            raise ModelError(
                f"mechanism {self.model.name!r}: integrator {integrator.name!r} {text}",
                remedy=Message("use {integrator}", integrator=other),
            )

    def _run_recursive(self, task: Task, q: np.ndarray, ρ: np.ndarray) -> tuple[Trajectory, float]:
        """Execute a run of a large open tree. Its initial accelerations are computed by the same
        recursion as later ones.
        """
        directions = None if task.indices is None else unit_directions(len(ρ), self._all_parameters)
        state, S = self.start.moving(q, ρ, None if task.indices is None else self._all_parameters)
        rates = self.programs.recursive_rates(directions)
        columns = () if S is None else (padded(S),)
        rates_results = rates(state, *columns, np.ones(self.equations.λ.numel()), ρ, np.zeros(1))
        if not np.isfinite(rates_results[0]).all():
            # explains which body has no inertia, or which value is not finite
            self.start.complete(q, ρ)
        sensitivities = None
        if S is not None:
            sensitivities = rates_results[2].reshape(-1, row_length(S.shape[1]))[:, : S.shape[1]]
        inputs = self.inputs(task, ρ, state=rates_results[0], sensitivities=sensitivities)
        return self._execute(task, inputs, Conditioning())

    @property
    def _all_parameters(self) -> list[int]:
        return list(range(self.equations.ρ.numel()))

    def run_composite(self, task: Task, ρ: np.ndarray) -> tuple[Trajectory, float]:
        """Execute a run with derivatives by the composite system, one run for each parameter."""
        composite, indices = self._composite, task.indices or []
        self.start.check_closure(ρ, indices)
        q = self.start.assemble(ρ)
        if not self.start.regular(q, ρ):
            raise ModelError(
                f"mechanism {self.model.name!r}: method 'composite' takes no redundant constraints"
                " and no massless coordinates",
                remedy=USE_DIRECT,
            )
        first = None
        if may_pass(self.equations, task.objectives):
            first, _ = self.run(replace(task, method="direct", progress=False), ρ)
            steps = passed(self.equations, task.objectives, task.schedule, first, ρ)
            task = replace(task, schedule=steps)
        initial = self.start.complete(q, ρ)
        sensitivities = self.start.sensitivities(initial, ρ, indices)
        inputs = self.inputs(task, ρ, state=self._remembered(initial.packed))
        began = time.perf_counter()
        try:
            trajectories = [
                composite.run(task, inputs, self._remembered(sensitivities[:, k]), index)
                for k, index in enumerate(indices)
            ]
        except StepFailure as f:
            # where the motion itself fails, this run explains why
            self.run(replace(task, indices=None), ρ)
            raise SimulationError(
                f"{self.model.name!r}: step {f.step}, t = {f.time:.6g} s: {f.reason} in the"
                " composite system",
                time=f.time,
                step=f.step,
                worst="composite system",
                remedy=USE_DIRECT,
            ) from None
        S, gradients = (
            np.concatenate([getattr(t, name) for t in trajectories], axis=2)
            for name in ("sensitivities", "gradients")
        )
        whole = replace(trajectories[-1], sensitivities=S, gradients=gradients)
        if first is not None:
            whole = with_events_of(whole, first)
        check_speeds(whole, task.schedule.tolerance, self.method.integrator, self.equations)
        check_constraints(whole, task.schedule.tolerance, self.method.formulation, self.equations)
        check_finite(whole, list(task.objectives), self.model.name)
        warn_of_redundant_reactions(self.equations, task.objectives, whole, ρ)
        return whole, time.perf_counter() - began

    def run_second(
        self, task: Task, ρ: np.ndarray, direction: np.ndarray
    ) -> tuple[SecondDerivatives, float]:
        """Execute a run with second derivatives in one direction of the parameters."""
        derivatives, ran = self._run_second(task, ρ, direction)
        warn_of_redundant_reactions(self.equations, task.objectives, derivatives.trajectory, ρ)
        return derivatives, ran

    def _run_second(
        self, task: Task, ρ: np.ndarray, direction: np.ndarray
    ) -> tuple[SecondDerivatives, float]:
        self.start.check_closure(ρ, task.indices)
        self.time_plan.refuse_moved_jumps(task, ρ)
        near = self.nearby.followed(ρ)
        q = self.start.assemble(ρ) if near is None else near
        if near is not None or self.start.regular(q, ρ):
            with suppress(StartFailure):  # on failure, the code below finds the initial state
                return self.second_order.run(task, self.inputs(task, ρ, guess=q), direction)
            q = self.start.assemble(ρ)
        return self.second_order.run_from(
            task, self.inputs(task, ρ), self.start.complete(q, ρ), direction
        )

    @cached_property
    def second_order(self) -> SecondOrder:
        """Programs with second derivatives."""
        return SecondOrder(self.equations, self.method, self.start, large=self._large)

    @cached_property
    def switches(self) -> list[Switch]:
        """Kinks and jumps of forces that depend on the motion; cached, as the search takes longer
        than a short run.
        """
        moving = symbols_in(self.equations.q, self.equations.v)
        return [s for s in switches(self.equations, {}) if not symbols_in(s.at).isdisjoint(moving)]

    @cached_property
    def other_configuration(self) -> OtherConfiguration | None:
        """Another configuration in which the mechanism can be assembled for its nominal values, if
        its initial conditions do not choose between them.
        """
        q = self.nearby.positions if may_close_otherwise(self.start) else None
        return (
            None
            if q is None
            else other_configuration(self.start, q, self.model.parameter_set.nominal)
        )

    @cached_property
    def statics(self) -> Statics:
        """Equilibria of the model."""
        return Statics(self.equations, self.start)

    @cached_property
    def _composite(self) -> CompositeSolver:
        e = self.equations
        if e.has_velocity_constraints:
            raise ModelError(
                f"mechanism {self.model.name!r} constrains velocities, which method 'composite' does"
                " not take: it is a system of constrained positions",
                remedy=USE_DIRECT,
            )
        if e.oblique or e.loads or any(block.rate is not None for block in e.blocks):
            raise ModelError(
                f"mechanism {self.model.name!r} has friction, which method 'composite' does not"
                " take: it is no system of constrained coordinates",
                remedy=USE_DIRECT,
            )
        if (count := self.programs.unknowns) > LARGE:
            raise ModelError(
                f"mechanism {self.model.name!r} has {count} unknowns and multipliers; method"
                f" 'composite' takes up to {LARGE}",
                remedy=USE_DIRECT,
            )
        return CompositeSolver(self.equations, self.method)

    def _remembered(self, state: np.ndarray) -> np.ndarray:
        """Append the memory of the integrator to a state: initially, the accelerations."""
        n = self.equations.q.numel()
        return np.concatenate([state, state[2 * n : 3 * n]]) if self.method.remembers else state

    def _continued(self, task: Task, ρ: np.ndarray) -> Inputs | None:
        """Return the inputs of a run whose initial state follows by continuation from the nominal
        one, in several parts where the parameters are further away, so that the mechanism stays in
        the same configuration. None where continuation is not possible.
        """
        parts = self.nearby.parts(ρ)
        if parts is None or self.nearby.positions is None:
            return None
        if parts > 1 and task.complex_step:
            guess = self.nearby.followed(ρ)
            return None if guess is None else self.inputs(task, ρ, guess=guess)
        return self.inputs(task, ρ, guess=self.nearby.positions, parts=parts)

    def inputs(
        self,
        task: Task,
        ρ: np.ndarray,
        *,
        guess: np.ndarray | None = None,
        state: np.ndarray | None = None,
        sensitivities: np.ndarray | None = None,
        parts: int = 1,
    ) -> Inputs:
        """Return the inputs of a run; `sensitivities` are derivatives of `state` with respect to
        all parameters.
        """
        if task.complex_step:
            self._check_complex(guess)
        self._check_events(task)
        if task.indices is not None:
            self.time_plan.check_derivatives(task, ρ)
        nominal, directions = (
            self.model.parameter_set.nominal,
            self.derivative_request(task).directions,
        )
        floors = np.zeros(0)
        if directions is not None:
            floors = np.abs(directions / np.where(nominal != 0, nominal, 1.0)[:, None]).max(
                axis=0, initial=0.0
            )
        return Inputs(
            guess,
            state,
            None if sensitivities is None or directions is None else sensitivities @ directions,
            sensitivities if task.adjoint else None,
            ρ,
            nominal,
            self.time_plan.schedule(
                task.schedule,
                task.objectives,
                ρ,
                stops=self.method.integrator.traits.given_steps,
            ),
            MAX_ITERATIONS,
            self.equations.sizes,
            floors,
            self._chosen if self.method.formulation.traits.selects else None,
            task.memory,
            parts,
            # recursion has no penalties, and no mass matrix to factorise
            None if self.programs.recursive else self.nearby.positions,
        )

    def derivative_request(self, task: Task) -> DerivativeRequest:
        """Return the derivatives that a task requires. Where an adjoint run chooses its steps, they
        have to suit derivatives too: for that it is augmented with one derivative, in a direction
        in which each parameter changes in proportion to its size.
        """
        if task.indices is None or (task.complex_step and not task.schedule.tolerance):
            return DerivativeRequest()
        key = tuple(task.indices), task.adjoint, self._is_augmented(task), len(task.objectives)
        # cached, as it is requested several times per run, and equal in most runs; another thread
        # may replace it
        last = self._last_request
        if key != last[0]:
            last = self._last_request = key, self._new_request(task, task.indices)
        return last[1]

    def _is_augmented(self, task: Task) -> bool:
        """Whether an adjoint run is augmented with a derivative: for the choice of its steps, or
        for the rates of accelerations at events.
        """
        return bool(task.schedule.tolerance) or self.equations.has_events

    def _new_request(self, task: Task, indices: list[int]) -> DerivativeRequest:
        if not task.adjoint:
            return DerivativeRequest(unit_directions(self.equations.ρ.numel(), indices))
        nominal, direction = self.model.parameter_set.nominal, None
        if self._is_augmented(task):
            shares = np.random.default_rng(0).uniform(0.5, 1.5, len(nominal)) * np.where(
                np.arange(len(nominal)) % 2, -1.0, 1.0
            )
            sizes = shares * np.where(nominal != 0, np.abs(nominal), 1.0)
            direction = np.zeros((len(nominal), 1))
            direction[indices, 0] = sizes[indices]
        return DerivativeRequest(direction, True, len(task.objectives))

    @cached_property
    def _chosen(self) -> np.ndarray | None:
        """Coordinates that are independent in the nominal initial state; runs with similar
        parameters begin with the same, so results vary smoothly between them.
        """
        if self.nearby.positions is None:
            return None
        J = np.array(
            self.programs.jacobian(self.nearby.positions, self.model.parameter_set.nominal, 0.0)
        )
        return select(J, None)[0]

    def _execute(
        self, task: Task, inputs: Inputs, conditioning: Conditioning
    ) -> tuple[Trajectory, float]:
        request = self.derivative_request(task)
        self._check_stored(task, request)
        runner = self.runner(task.objectives, request, conditioning)
        execute = runner.prepare(inputs, task.backend, runs=task.runs)
        try:
            with progress_bar(
                f"{self.model.name}: {task.schedule.duration:g} s", 1.0, task.progress
            ) as report:
                trajectory, ran = execute(task.watched(report))
        except StepFailure as failure:
            if failure.reason in (UNDERFLOW, STALLED) and runner.program.sharp:
                raise Amplified from None  # as at singular positions, too
            raise explained(
                failure, inputs, self.equations, runner.program.step, self.method
            ) from None
        except BrokenOff as stopped:
            raise self._kept(stopped, task) from None
        self._check(trajectory, task)
        refuse_jumps(self.equations, self.method, task, inputs.parameters, trajectory)
        if task.complex_step:
            trajectory, ran = self._with_complex_steps(task, inputs, trajectory, ran, conditioning)
        if task.adjoint and trajectory.gradients is not None:
            trajectory = replace(trajectory, gradients=trajectory.gradients[:, :, task.indices])
        trajectory = self._own_states(trajectory)
        warn_of_redundant_reactions(self.equations, task.objectives, trajectory, inputs.parameters)
        return trajectory, ran

    def _check_stored(self, task: Task, request: DerivativeRequest) -> None:
        """Refuse runs whose stored results do not fit into memory."""
        schedule, state = task.schedule, self.equations.packed.numel() + len(task.objectives)
        check_memory(
            f"mechanism {self.model.name!r}: {schedule.stored_count} stored results of {state}"
            " numbers"
            + (f" with {request.columns} derivatives each" if request.columns else "")
            + (f", and the times of {schedule.steps} steps," if schedule.steps else ""),
            float(schedule.stored_count) * state * (1 + request.columns) + schedule.steps,
            Message(
                "store fewer results ({every}, {output}), take longer steps, or differentiate for"
                " fewer parameters ({wrt})",
                every=...,
                output=...,
                wrt=[...],
            ),
        )

    def _own_states(self, trajectory: Trajectory) -> Trajectory:
        """Return the trajectory without the memory of the integrator."""
        if not self.method.remembers:
            return trajectory
        n, S = self.equations.packed.numel(), trajectory.sensitivities
        return replace(
            trajectory,
            states=trajectory.states[:, :n],
            sensitivities=None if S is None else S[:, :n],
        )

    def _check(self, trajectory: Trajectory, task: Task) -> None:
        """Refuse the result of a completed run if it is not valid."""
        if task.repeated:
            return
        check_speeds(trajectory, task.schedule.tolerance, self.method.integrator, self.equations)
        check_sampled(trajectory, task.objectives, self.model.name)
        late = {name for name, objective in task.objectives.items() if objective.samples}
        check_finite(trajectory, list(task.objectives), self.model.name, late)
        check_constraints(
            trajectory, task.schedule.tolerance, self.method.formulation, self.equations
        )

    def _kept(self, stopped: BrokenOff, task: Task) -> KeyboardInterrupt:
        """Return the part of an interrupted run to keep: none where the run would have failed."""
        try:
            self._check(stopped.trajectory, task)
        except SimulationError as error:
            return KeyboardInterrupt(str(error))
        return BrokenOff(self._own_states(stopped.trajectory), stopped.seconds)

    def _check_complex(self, guess: np.ndarray | None) -> None:
        name = self.model.name
        if not self.method.integrator.traits.complex_step:
            raise refusal(name, f"is integrated by {self.method.integrator.title}")
        if self.programs.large:
            raise refusal(name, "is large: its functions are assembled or recursive, not unrolled")
        if guess is None:
            raise refusal(
                name,
                "finds its start outside its program (redundant constraints, or coordinates without"
                " mass)",
            )

    def _check_events(self, task: Task) -> None:
        """Refuse objectives at events where no step ends at events."""
        sampled = [n for n, o in task.objectives.items() if o.samples]
        if sampled and self.method.integrator.continuous is not None:
            raise ModelError(
                f"mechanism {self.model.name!r}: objective {sampled[0]!r} has events, which"
                f" {self.method.title} does not take",
                remedy=Message("use {integrator}", integrator=("dop853", "trapezoidal")),
            )

    def _with_complex_steps(
        self,
        task: Task,
        inputs: Inputs,
        trajectory: Trajectory,
        ran: float,
        conditioning: Conditioning,
    ) -> tuple[Trajectory, float]:
        """Complete a run by derivatives, at its end only, from runs in complex numbers with the
        same steps.
        """
        began, indices = time.perf_counter(), task.indices or []
        runner = self.runner(task.objectives, DerivativeRequest(), conditioning)
        assert isinstance(runner, Runner)
        program, objectives = runner.program, task.objectives
        steps = passed(self.equations, objectives, inputs.schedule, trajectory, inputs.parameters)
        if steps.passages is not None:
            program = replace(program, passage=self.programs.passage(objectives))
        with progress_bar(f"{self.model.name}: complex steps", 1.0, task.progress) as report:
            gradients = complex_step(
                program, replace(inputs, schedule=steps), indices, self.model.name, report
            )
        return (
            replace(trajectory, gradients=gradients[None], sensitivities=None),
            ran + time.perf_counter() - began,
        )

    def runner(
        self,
        objectives: Mapping[str, Objective],
        request: DerivativeRequest,
        conditioning: Conditioning | None = None,
    ) -> AnyRunner:
        """Return the runner of runs with these objectives and the requested derivatives."""
        if conditioning is None:
            conditioning = Conditioning(relaxed=not self.method.formulation.traits.sharp_first)
        return self._runners.of(objectives, request, conditioning)
