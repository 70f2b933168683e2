"""Derivatives of runs by central differences: the perturbed runs of all parameters, in vectors of
samples where the program supports it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ..backends.lanes import suits
from ..backends.machine import has_lane_machine
from ..backends.runner import Runner
from ..backends.sampler import Samples, in_slices
from ..backends.trajectory import Trajectory
from ..core.errors import VarimechError
from ..core.messages import Message
from ..core.progress import progress_bar
from ..sensitivity.finite_difference import Outcome, central_differences
from ..sensitivity.switching import jumps_of
from .ensemble_runs import sampler_for
from .solver import Solver
from .task import Task

LOADING = 0.1
"""Seconds to wait for the library of vector code, enough to load it; its first build on a computer
takes some seconds and continues in the background.
"""


def run_differences(
    solver: Solver, task: Task, ρ: np.ndarray, relative_steps: tuple[float, ...]
) -> tuple[Trajectory, float, np.ndarray]:
    """Execute a run with derivatives by differences; return it, the total time of all runs (s), and
    the gradients at its end for all perturbations, (perturbation, objective, parameter).
    """
    assert task.indices is not None
    count = 2 * len(relative_steps) * len(task.indices)
    plain, ran = replace(task, indices=None, progress=False, runs=count), 0.0
    if task.schedule.tolerance and _replays(solver, task, ρ):
        # all runs take the steps of one with derivatives: an adaptive choice of steps is no smooth
        # function of the parameters
        first, ran = solver.run(replace(task, method="direct"), ρ)
        plain = replace(plain, schedule=task.schedule.replayed(first.step_ends))
    trajectory, seconds = solver.run(plain, ρ)
    with progress_bar(f"{solver.model.name}: differences", count, task.progress) as report:
        neighbours = _Neighbours(solver, plain, trajectory, report)
        differences = central_differences(neighbours, ρ, task.indices, relative_steps)
    history, sensitivities = differences.gradient_history, differences.sensitivities
    if not np.isfinite(history[-1]).all() or not np.isfinite(sensitivities).all():
        errors = neighbours.errors
        raise errors[0] if errors else VarimechError("differences are not finite")
    whole = replace(trajectory, sensitivities=sensitivities, gradients=history)
    return whole, ran + seconds + neighbours.seconds, differences.gradients[:, -1]


def _replays(solver: Solver, task: Task, ρ: np.ndarray) -> bool:
    """Whether perturbed runs can take the steps of another run: nothing happens at times that
    differ between them.
    """
    ranges = solver.time_plan.shared(task.schedule, task.objectives, ρ)
    points = {k for k, (least, greatest) in ranges.items() if least == greatest}
    moved = points & set(task.indices or [])
    sampled = any(objective.samples for objective in task.objectives.values())
    events = solver.equations.has_events or sampled or jumps_of(solver.equations, task.objectives)
    return solver.method.integrator.traits.given_steps and not moved and not events


@dataclass
class _Neighbours:
    """Runs with perturbed parameters; NaN where one fails."""

    solver: Solver
    task: Task
    trajectory: Trajectory
    report: Callable[[int], None]
    errors: list[VarimechError] = field(default_factory=list)
    seconds: float = 0.0

    def __call__(self, rows: np.ndarray) -> Outcome:
        shapes = self.trajectory.objectives.shape, self.trajectory.states.shape
        ψ, x = (np.full((len(rows), *shape), np.nan) for shape in shapes)
        left, runner = np.arange(len(rows)), self._runner_of_vectors()
        samples = None if runner is None else self._in_vectors(runner, rows)
        if samples is not None:
            assert samples.states is not None
            ψ[:], x[:] = samples.values, samples.states[:, :, : x.shape[2]]
            left = np.flatnonzero(~samples.done)
        for done, k in enumerate(left.tolist(), len(rows) - len(left)):
            ψ[k], x[k] = self._individually(rows[k])
            self.report(done + 1)
        return ψ, x

    def _runner_of_vectors(self) -> Runner | None:
        """Return the program if vector code can execute it without waiting for a compiler."""
        runner = self.solver.runner(self.task.objectives, self.solver.derivative_request(self.task))
        if (
            self.task.backend == "interpreted"
            or not isinstance(runner, Runner)
            or not suits(runner.program)
            or len(self.trajectory.time) < self.task.schedule.stored_count  # an event ended the run
            or not has_lane_machine(within=LOADING)
        ):
            return None
        if runner.native.compiled and not runner.native.load_lanes():
            # vectors of bytecode are up to twice as slow as compiled single runs: compile for the
            # next call
            runner.native.build_lanes_in_background()
            return None
        return runner

    def _in_vectors(self, runner: Runner, rows: np.ndarray) -> Samples | None:
        # some dozens of runs take less time than a compiler
        task, similar = replace(self.task, backend="auto"), self.trajectory
        sampler = sampler_for(self.solver, task, len(rows), similar=similar, states=True)
        if sampler is None:
            return None
        began, compiled = time.perf_counter(), runner.native.lanes_compiled
        samples = in_slices(sampler, rows, self.task.stop, self.report)
        spent = time.perf_counter() - began
        self.seconds += spent
        if not compiled:
            runner.interpreted_vectors(spent)
        return samples

    def _individually(self, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        ψ, x = self.trajectory.objectives, self.trajectory.states
        try:
            run, seconds = self.solver.run(self.task, row)
            if run.states.shape != x.shape:
                raise self._ended_otherwise(run)
        except VarimechError as error:  # one perturbation may fail where others succeed
            self.errors.append(error)
            return np.full_like(ψ, np.nan), np.full_like(x, np.nan)
        self.seconds += seconds
        return run.objectives, run.states

    def _ended_otherwise(self, run: Trajectory) -> VarimechError:
        last = [float(t.time[-1]) for t in (self.trajectory, run)]
        return VarimechError(
            f"{self.solver.model.name!r}: an event ends the run at t = {last[0]:.6g} s, and a perturbed"
            f" one at {last[1]:.6g} s, with another number of stored times",
            remedy=Message(
                "use {method}, or store other times ({output})", method="direct", output=...
            ),
        )
