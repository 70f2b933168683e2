"""Many runs of a solver, which differ in parameter values only: compiled ones at one call, the
others one by one.
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
"""Samples that a thread takes at a time: with 64, a third of the time of small models went into
beginning with the next ones.
"""

MORE_STEPS, LEAST_STEPS = 2, 16
"""Runs whose steps are kept may choose so many times the steps of the nominal one, and so many more:
tolerances of parameters hardly change their number. Samples that need more are rerun individually.
"""


def run_many(
    solver: Solver, task: Task, rows: np.ndarray, threads: int
) -> tuple[Samples, dict[int, VarimechError], float]:
    """A run for each row of parameter values, in threads; why some failed, and the seconds it all
    took.
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
        for chunk, (found, failed) in zip(chunks, pool.map(together, chunks), strict=True):
            parts.append(found)
            failures |= {chunk.start + k: error for k, error in failed.items()}
            report(chunk.stop)
    return joined(parts), failures, time.perf_counter() - began


def chunks_of(count: int, threads: int) -> list[range]:
    """Samples that threads take at a time."""
    size = max(1, min(CHUNK, count // (4 * threads)))
    return [range(first, min(first + size, count)) for first in range(0, count, size)]


def sample(
    solver: Solver, task: Task, sampler: Sampler | None, rows: np.ndarray
) -> tuple[Samples, dict[int, VarimechError]]:
    """Runs for rows of parameter values: at once what can be, the others one by one; and why some
    failed.
    """
    sizes = (
        task.schedule.stored_count,
        len(task.objectives),
        None if task.indices is None else len(task.indices),
    )
    found = nothing(len(rows), *sizes) if sampler is None else in_slices(sampler, rows, task.stop)
    left = np.flatnonzero(~found.done).tolist()
    again = task if sampler is None else alone(task)
    return found, rerun_failed(solver, again, found, rows, left)


def rerun_failed(
    solver: Solver, task: Task, samples: Samples, rows: np.ndarray, left: Sequence[int]
) -> dict[int, VarimechError]:
    """Rerun some samples one by one, and set their results; why some fail again."""
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
    """A single run, or why it failed, in short where it need not be explained."""
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
    """What executes many compiled runs at one call; None where each is run individually.

    Args:
        solver, task: what to run.
        runs: how many there will be.
        similar: a run that shows which residuals to expect; that with nominal values if not given.
        states: whether states at stored times are wanted, too.
    """
    common = prepared(solver, task, runs, solver.wanted(task), similar)
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
    wanted: DerivativeRequest,
    similar: Trajectory | None = None,
) -> Prepared | None:
    """What a sampler of such runs takes; None where each is run individually."""
    task = replace(task, progress=False, runs=runs)
    nominal = solver.model.parameter_set.nominal
    if similar is None:
        _derive(solver, task)
    if solver.nearby.positions is None or not solver.programs.finds_start:
        return None
    inputs = solver.inputs(task, nominal, guess=solver.nearby.positions)
    runner = solver.runner(task.objectives, wanted)
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
    """Steps that runs which choose them may take; None where the nominal one fails."""
    nominal = rerun_individually(solver, alone(task), solver.model.parameter_set.nominal)
    if isinstance(nominal, VarimechError):
        return None
    return MORE_STEPS * (nominal.step_ends.size - 1) + LEAST_STEPS


def _derive(solver: Solver, task: Task) -> None:
    """One short run derives what all others share; where nominal values fail, samples run one by
    one.
    """
    once = replace(alone(task), schedule=task.schedule.shortened())
    with suppress(VarimechError):
        solver.run(once, solver.model.parameter_set.nominal)


def _nominal(solver: Solver, task: Task) -> Trajectory | None:
    """The run with nominal values; None if it fails."""
    nominal = solver.model.parameter_set.nominal
    run = rerun_individually(solver, replace(alone(task), indices=None), nominal)
    return None if isinstance(run, VarimechError) else run


def alone(task: Task) -> Task:
    """The task of a single run beside samples, for which nobody waits for a compiler: samples run in
    vectors, which have code of their own.
    """
    return replace(task, backend="auto" if task.backend == "native" else task.backend, runs=1)
