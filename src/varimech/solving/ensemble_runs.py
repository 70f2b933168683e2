"""Many runs of a solver that differ in parameter values only: compiled runs in one call, others one
by one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from ..backends.inputs import Inputs
from ..backends.native import NativeProgram
from ..backends.runner import Runner
from ..backends.sampler import Sampler, Samples, in_slices, joined, nothing
from ..backends.sweeps import AdjointSampler
from ..backends.trajectory import Trajectory
from ..core.errors import VarimechError
from ..core.interrupts import workers
from ..core.progress import progress_bar
from .derivative_request import DerivativeRequest
from .solver import Solver
from .task import Task
from .time_plan import Ranges
from .validity import residual_limits

Prepared = tuple[
    NativeProgram,
    Inputs,
    np.ndarray,
    tuple[Callable[[np.ndarray], np.ndarray], ...],
    tuple[float, float],
    Ranges,
]
"""Arguments of a `Sampler`."""
CHUNK = 512
"""Number of samples that a thread takes at a time: with 64, small models spent a third of their
time on starting the next chunk.
"""

MORE_STEPS, LEAST_STEPS = 2, 16
"""Limits on the number of steps of runs whose steps are recorded: the factor on that of the nominal
run, and the number in addition. Tolerances of parameters hardly change the number of steps. Samples
that need more are rerun individually.
"""


def run_many(
    solver: Solver, task: Task, rows: np.ndarray, threads: int
) -> tuple[Samples, dict[int, VarimechError], float]:
    """Execute a run for each row of parameter values, in threads; return the samples, the errors of
    failed runs, and the elapsed time (s).
    """
    sampler = sampler_for(solver, task, len(rows))
    began, failures = time.perf_counter(), dict[int, VarimechError]()
    chunks = chunks_of(len(rows), threads)

    def together(chunk: range) -> tuple[Samples, dict[int, VarimechError]]:
        return sample(solver, replace(task, stop=stop), sampler, rows[chunk.start : chunk.stop])

    parts: list[Samples] = []
    with (
        progress_bar(f"{solver.model.name}: {len(rows)} runs", len(rows), task.progress) as report,
        workers(threads) as (pool, stop),
    ):
        for chunk, (samples, failed) in zip(chunks, pool.map(together, chunks), strict=True):
            parts.append(samples)
            failures |= {chunk.start + k: error for k, error in failed.items()}
            report(chunk.stop)
    return joined(parts), failures, time.perf_counter() - began


def chunks_of(count: int, threads: int) -> list[range]:
    """Split samples into chunks that threads take one at a time."""
    size = max(1, min(CHUNK, count // (4 * threads)))
    return [range(first, min(first + size, count)) for first in range(0, count, size)]


def sample(
    solver: Solver, task: Task, sampler: Sampler | None, rows: np.ndarray
) -> tuple[Samples, dict[int, VarimechError]]:
    """Execute runs for rows of parameter values: in one call where possible, the others one by one;
    return the samples, and the errors of failed runs.
    """
    sizes = (
        task.schedule.stored_count,
        len(task.objectives),
        None if task.indices is None else len(task.indices),
    )
    samples = nothing(len(rows), *sizes) if sampler is None else in_slices(sampler, rows, task.stop)
    left = np.flatnonzero(~samples.done).tolist()
    again = task if sampler is None else alone(task)
    return samples, rerun_failed(solver, again, samples, rows, left)


def rerun_failed(
    solver: Solver, task: Task, samples: Samples, rows: np.ndarray, left: Sequence[int]
) -> dict[int, VarimechError]:
    """Rerun some samples one by one, and set their results; return the errors of failed runs."""
    failures: dict[int, VarimechError] = {}
    for k in left:
        outcome = rerun_individually(solver, task, rows[k])
        if isinstance(outcome, VarimechError):
            failures[k] = outcome
            continue
        samples.values[k], samples.done[k] = outcome.objectives, True
        if samples.gradients is not None:
            samples.gradients[k] = outcome.gradients
    return failures


def rerun_individually(
    solver: Solver, task: Task, row: np.ndarray, *, explain: bool = True
) -> Trajectory | VarimechError:
    """Execute a single run, or return its error; without an explanation where `explain` is False."""
    try:
        solver.model.parameter_set.check(row)
        return solver.run(replace(task, progress=False), row, explain=explain)[0]
    except VarimechError as error:
        return error


def sampler_for(
    solver: Solver,
    task: Task,
    runs: int,
    *,
    similar: Trajectory | None = None,
    states: bool = False,
) -> Sampler | None:
    """Return the sampler that executes many compiled runs in one call; None where each is run
    individually.

    Args:
        solver: solver to run.
        task: task to run.
        runs: number of runs.
        similar: a run that shows which residuals to expect; by default the run with nominal values.
        states: whether to return states at stored times as well.
    """
    common = prepared(solver, task, runs, solver.derivative_request(task), similar)
    if common is None or not task.adjoint:
        return None if common is None else Sampler(*common, states=states)
    native, inputs = common[:2]
    chosen = native.program.watches(inputs.schedule) or bool(task.schedule.tolerance)
    steps = most_steps(solver, task) if chosen else inputs.schedule.steps
    return None if steps is None else AdjointSampler(*common, wrt=task.indices or [], steps=steps)


def prepared(
    solver: Solver,
    task: Task,
    runs: int,
    request: DerivativeRequest,
    similar: Trajectory | None = None,
) -> Prepared | None:
    """Return the arguments of a sampler of such runs; None where each is run individually."""
    task = replace(task, progress=False, runs=runs)
    nominal = solver.model.parameter_set.nominal
    if similar is None:
        _derive(solver, task)
    if solver.nearby.positions is None or not solver.programs.finds_start:
        return None
    inputs = solver.inputs(task, nominal, guess=solver.nearby.positions)
    runner = solver.runner(task.objectives, request)
    if not isinstance(runner, Runner) or not runner.compiled_for(inputs, task.backend, runs=runs):
        return None
    if similar is None and (similar := _nominal(solver, task)) is None:
        return None
    limits = residual_limits(
        similar, task.schedule.tolerance, solver.method.formulation, solver.equations
    )
    conditions = (solver.model.parameter_set.allowed, solver.start.closure)
    ranges = solver.time_plan.shared(task.schedule, task.objectives, nominal)
    return runner.native, inputs, solver.nearby.reach, conditions, limits, ranges


def most_steps(solver: Solver, task: Task) -> int | None:
    """Return the limit on steps of runs with adaptive steps; None where the nominal run fails."""
    nominal = rerun_individually(solver, alone(task), solver.model.parameter_set.nominal)
    if isinstance(nominal, VarimechError):
        return None
    return MORE_STEPS * (nominal.step_ends.size - 1) + LEAST_STEPS


def _derive(solver: Solver, task: Task) -> None:
    """Execute one short run, which compiles the code that all others share; where nominal values
    fail, samples are run one by one.
    """
    once = replace(alone(task), schedule=task.schedule.shortened())
    with suppress(VarimechError):
        solver.run(once, solver.model.parameter_set.nominal)


def _nominal(solver: Solver, task: Task) -> Trajectory | None:
    """Return the run with nominal values; None if it fails."""
    nominal = solver.model.parameter_set.nominal
    run = rerun_individually(solver, replace(alone(task), indices=None), nominal)
    return None if isinstance(run, VarimechError) else run


def alone(task: Task) -> Task:
    """Return the task of a single run beside samples. It does not wait for a compiler: samples run
    in vectors, which have their own code.
    """
    return replace(task, backend="auto" if task.backend == "native" else task.backend, runs=1)
