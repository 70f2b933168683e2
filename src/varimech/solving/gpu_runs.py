"""Many runs of a solver on a GPU; samples that fail there are rerun individually on the CPU."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from ..backends.compiler import NO_COMPILER, find_compiler
from ..backends.cuda import LAUNCHED, USE_THREADS, gpu_for
from ..backends.sampler import Samples, joined
from ..core.errors import ModelError, VarimechError
from ..core.interrupts import workers
from ..core.progress import progress_bar
from .ensemble_runs import alone, rerun_failed, sampler_for
from .solver import Solver
from .task import Task


def run_many_on_gpu(
    solver: Solver, task: Task, rows: np.ndarray, threads: int
) -> tuple[Samples, dict[int, VarimechError], float]:
    """Execute a run for each row of parameter values; the result is that of `run_many`.

    Args:
        solver: solver to run.
        task: task to run.
        rows: values of all parameters, one row for each sample.
        threads: number of threads that rerun samples which fail on the GPU.

    Raises:
        ModelError: where the program cannot run on a GPU.
        VarimechError: if the memory of the GPU is too small.
    """
    # for one run: a GPU needs no code for the CPU
    sampler = sampler_for(solver, alone(task), 1)
    if sampler is None:
        raise _no_program(solver)
    gpu, began = gpu_for(sampler), time.perf_counter()
    parts: list[Samples] = []
    title = f"{solver.model.name}: {len(rows)} runs"
    with progress_bar(title, len(rows), task.progress) as report:
        for first in range(0, len(rows), LAUNCHED):
            parts.append(sampler.by(gpu, rows[first : first + LAUNCHED]))
            report(min(first + LAUNCHED, len(rows)))
    samples = joined(parts)
    failures = _rerun(solver, task, samples, rows, threads)
    return samples, failures, time.perf_counter() - began


def _rerun(
    solver: Solver, task: Task, samples: Samples, rows: np.ndarray, threads: int
) -> dict[int, VarimechError]:
    """Rerun samples that failed, in threads; return the errors of those that fail again."""
    left, failures = np.flatnonzero(~samples.done), dict[int, VarimechError]()
    with workers(threads) as (pool, stop):
        again = replace(alone(task), stop=stop)
        shares = np.array_split(left, min(threads, len(left)) or 1)
        for failed in pool.map(
            lambda share: rerun_failed(solver, again, samples, rows, share.tolist()), shares
        ):
            failures |= failed
    return failures


def _no_program(solver: Solver) -> ModelError:
    if find_compiler() is None:
        problem = f"executor 'cuda': initial states are prepared by compiled code: {NO_COMPILER}"
        return ModelError(problem, element="ensemble", remedy=USE_THREADS)
    return ModelError(
        f"executor 'cuda': {solver.method.title} has no program that assembles its own initial"
        " state, or the run with nominal values fails",
        element="ensemble",
        remedy=USE_THREADS,
    )
