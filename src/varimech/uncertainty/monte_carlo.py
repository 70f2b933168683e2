"""Monte Carlo studies: check the options and prepare the execution of a study."""

from __future__ import annotations

import hashlib
import os
import pickle
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from numbers import Real
from typing import Any, TypedDict

import casadi as ca
import numpy as np

from ..analyses.simulation import Simulation
from ..analyses.solvers import seconds_of
from ..core.errors import ModelError, VarimechError, check_whole, unknown_name
from ..core.memory import check_memory
from ..core.messages import Message
from ..results.run import Run
from ..sensitivity.objective import Objective
from ..sensitivity.smoothness import check_gradients
from ..solving.derivative_request import DerivativeRequest
from ..solving.ensemble_runs import alone, rerun_individually, sampler_for
from ..solving.solver import Solver
from ..solving.task import Task
from .accumulator import Accumulator
from .checkpoint import Checkpoint, check_same
from .chunks import Control, RerunIndividually, Work
from .executors import Executor, executor_of
from .expanding import at_means, sparse_output
from .parameter_distributions import Correlation, Given, ParameterDistributions, distributions_of
from .sampling import KINDS, REPLICATES, SOBOL_BITS, Sampling, chunk_size
from .study import Study
from .study_run import Limits, StudyRunner

Target = float | Mapping[str, float] | None


class StudyOptions(TypedDict, total=False):
    """Options of a Monte Carlo study, as arguments of `Problem.monte_carlo`."""

    correlation: Correlation | None
    samples: int
    sampling: str
    seed: int
    executor: object
    control: bool
    target: Target
    keep: bool
    allowed_failures: float
    checkpoint: str | os.PathLike[str] | None
    chunk: int | None


def monte_carlo(
    s: Simulation,
    objectives: Mapping[str, Objective],
    given: Given | None,
    *,
    correlation: Correlation | None = None,
    samples: int = 10_000,
    sampling: str = "random",
    seed: int = 0,
    executor: object = None,
    control: bool = False,
    target: Target = None,
    keep: bool = False,
    allowed_failures: float = 0.05,
    checkpoint: str | os.PathLike[str] | None = None,
    chunk: int | None = None,
) -> Study:
    """Execute a study, or continue an interrupted one."""
    began = time.perf_counter()
    _check(samples, sampling, seed, chunk, allowed_failures, control=control, keep=keep)
    limits = Limits(samples, _targets(target, objectives), float(allowed_failures))
    where = _executor(executor, s.backend)
    distributions = distributions_of(s.solvers.data.parameter_set.parameters, given, correlation)
    once = at_means(s, distributions)
    s = sparse_output(once)
    solver = s.solver(objectives)
    task = Task(s.schedule, objectives, None, s.backend, False, runs=samples)
    columns = s.schedule.stored_count * len(objectives)

    folder = None if checkpoint is None else Checkpoint(checkpoint)
    with nullcontext() if folder is None else folder.alone():
        before = None if folder is None else folder.load()
        usual = chunk_size(sampling, int(samples), columns, target=target is not None)
        size = chunk or (before[0]["chunk"] if before else usual)
        drawing = Sampling(sampling, int(seed), int(size), len(distributions.names))
        _check_memory(drawing, s.ρ.size, columns, int(samples) if keep and folder is None else 0)
        if folder is not None:
            about = _about(solver, task, distributions, s.ρ, drawing, control=control, keep=keep)
            if before is not None:
                check_same(folder.folder, before[0], about)
            folder.begin(about)
        model = _first_order(solver, task, distributions, s.ρ) if control else None
        sampler = sampler_for(solver, _compiled(task, where), 1 if where.on_gpu else samples)
        state = before[1] if before else Accumulator([None] * drawing.replicates)
        single = task if sampler is None else alone(task)
        work = Work(sampler, columns, _centre(state, solver, single, s.ρ, columns), model, keep)
        study = Study(
            s.name,
            tuple(objectives),
            tuple(o.unit for o in objectives.values()),
            distributions,
            s.schedule.stored_times,
            drawing,
            bool(control),
            state,
            (folder or []) if keep else None,
            time.perf_counter() - began,
            _run_at_means(once, solver),
        )
        runner = StudyRunner(study, limits, s.ρ, folder, s.progress)
        runner.execute(where, work, _rerun_individually(solver, single))
        return study


def _check(
    samples: Any, sampling: str, seed: object, chunk: Any, allowed_failures: Any, **switches: object
) -> None:
    for label, switch in switches.items():
        if not isinstance(switch, bool):
            problem = "must be True or False"
            raise ModelError(problem, element="monte_carlo", field=label, value=switch)
    if sampling not in KINDS:
        raise unknown_name("kind of sampling", sampling, KINDS)
    check_whole("monte_carlo", 1, samples=samples, chunk=1 if chunk is None else chunk)
    check_whole("monte_carlo", 0, seed=seed)
    if not isinstance(allowed_failures, Real) or not 0 <= float(allowed_failures) < 1:
        problem = "must be a share of the samples, from 0 to below 1"
        raise ModelError(
            problem, element="monte_carlo", field="allowed_failures", value=allowed_failures
        )
    if sampling == "sobol":
        if chunk is not None and chunk & (chunk - 1):
            problem = "must be a power of two, by which Sobol sequences are even"
            raise ModelError(problem, element="monte_carlo", field="chunk", value=chunk)
        if samples > (most := REPLICATES << SOBOL_BITS):
            problem = f"are more than Sobol sequences have ({most})"
            remedy = Message("use {sampling}", sampling="random")
            raise ModelError(
                problem, element="monte_carlo", field="samples", value=samples, remedy=remedy
            )


def _check_memory(drawing: Sampling, parameters: int, columns: int, kept: int) -> None:
    """Check that a chunk, and samples that are kept, fit into memory."""
    check_memory(
        f"monte_carlo: chunk = {drawing.size} samples of {parameters} parameters with {columns}"
        " values each",
        float(drawing.size) * (drawing.dimension + parameters + columns),
        Message("use a smaller {chunk}, or store fewer times ({output})", chunk=..., output=...),
    )
    check_memory(
        f"monte_carlo: keeping {kept} samples of {columns} values",
        float(kept) * (drawing.dimension + columns),
        Message(
            "give a folder as {checkpoint}, or store fewer times ({output})",
            checkpoint=...,
            output=...,
        ),
    )


def _compiled(task: Task, where: Executor) -> Task:
    """Return the task of samples: compiled if they run in another process; for a GPU without code
    for the CPU.
    """
    if where.on_gpu:
        return replace(task, backend="auto")
    return replace(task, backend="native") if where.elsewhere else task


def _executor(executor: object, backend: str) -> Executor:
    where = executor_of(executor)
    if where.elsewhere and backend == "interpreted":
        problem = Message(
            "{backend} runs in this process only, and {executor} asks for a GPU or a cluster",
            backend="interpreted",
            executor=...,
        )
        raise ModelError(problem, element="monte_carlo", remedy="leave one of them out")
    return where


def _targets(target: Target, named: Mapping[str, Objective]) -> np.ndarray | None:
    """Required half-widths by objective; infinite where there is no target."""
    if target is None:
        return None
    targets = target if isinstance(target, Mapping) else dict.fromkeys(named, target)
    for name, value in targets.items():
        if name not in named:
            raise unknown_name("objective", name, named)
        if not isinstance(value, Real) or isinstance(value, bool) or not value > 0:
            problem = (
                f"for {name!r} must be a positive number in its unit: half of the confidence"
                " interval of its mean at the end"
            )
            raise ModelError(problem, element="monte_carlo", field="target", value=value)
    return np.array([float(targets.get(name, np.inf)) for name in named])


def _centre(
    state: Accumulator, solver: Solver, task: Task, ρ: np.ndarray, columns: int
) -> np.ndarray:
    """Objectives at the means of the parameters, about which the quantile sketch is finest; zeros
    if this run fails. A study that continues keeps its centre.
    """
    if state.summary is not None:
        return state.summary.sketch.centre
    run = rerun_individually(solver, task, ρ, explain=False)
    if isinstance(run, VarimechError) or not np.isfinite(run.objectives).all():
        return np.zeros(columns)
    return run.objectives.ravel()


def _first_order(
    solver: Solver, task: Task, distributions: ParameterDistributions, ρ: np.ndarray
) -> Control:
    """Build the control variate: derivatives at the means of the parameters."""
    check_gradients(solver.equations, task.objectives)
    run, _ = solver.run(
        Task(task.schedule, task.objectives, distributions.indices, task.backend, False), ρ
    )
    assert run.gradients is not None
    gradients = run.gradients.transpose(2, 0, 1).reshape(len(distributions.names), -1)
    return Control(distributions.indices, distributions.mean, np.ascontiguousarray(gradients))


def _run_at_means(s: Simulation, solver: Solver) -> Callable[[], Run]:
    """Return a function that runs the mechanism at the means in this process, with the default
    stored times of a run and the solver of the samples.
    """

    def run() -> Run:
        s.check_unchanged("make the study anew")
        began = time.perf_counter()
        task = Task(s.schedule, {}, None, s.backend, False)
        trajectory, ran = solver.run(task, s.ρ)
        return s.solvers.run(solver, s.schedule, trajectory, s.ρ, [], seconds_of(began, ran))

    return run


def _rerun_individually(solver: Solver, task: Task) -> RerunIndividually:
    def rerun_ones(row: np.ndarray, explain: bool) -> np.ndarray | VarimechError:
        run = rerun_individually(solver, task, row, explain=explain)
        return run if isinstance(run, VarimechError) else run.objectives

    return rerun_ones


def _about(
    solver: Solver,
    task: Task,
    distributions: ParameterDistributions,
    ρ: np.ndarray,
    sampling: Sampling,
    *,
    control: bool,
    keep: bool,
) -> dict[str, object]:
    """Description of everything that determines the numbers of a study except their count; large
    data by a digest.
    """
    s = task.schedule
    program = solver.runner(task.objectives, DerivativeRequest()).program
    functions = [
        f.serialize().encode() if isinstance(f, ca.Function) else pickle.dumps(f)
        for f in program.functions
    ]
    return {
        "mechanism": solver.model.name,
        "objectives": list(task.objectives),
        "bodies, joints, forces or objectives": _digest(*functions),
        "method": repr(solver.method),
        "values of parameters": ρ.tolist(),
        "distributions": distributions.described(),
        "sampling": sampling.kind,
        "seed": sampling.seed,
        "chunk": sampling.size,
        "duration": s.duration,
        "step": s.step,
        "longest step": s.longest_chosen,
        "every": s.every,
        "tolerance": s.tolerance,
        "times": _digest(*(np.zeros(0) if x is None else x for x in (s.outputs, s.ends))),
        "control": bool(control),
        "keep": bool(keep),
        "units of objectives": [o.unit for o in task.objectives.values()],
        "units of parameters": [p.unit for p in solver.model.parameter_set.parameters.values()],
    }


def _digest(*parts: bytes | np.ndarray) -> dict[str, str]:
    total = hashlib.sha256()
    for part in parts:
        total.update(part if isinstance(part, bytes) else np.ascontiguousarray(part).tobytes())
    return {"digest": total.hexdigest()}
