"""Monte Carlo studies: what is asked for, checked, and what is needed to carry it out."""

from __future__ import annotations

import hashlib
import os
import pickle
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from numbers import Real
from typing import Any

import casadi as ca
import numpy as np

from ..analyses.hessians import TwiceDifferentiable
from ..analyses.solved import seconds_of
from ..core.errors import ModelError, VarimechError, check_whole, unknown_name
from ..core.memory import check_memory
from ..results.run import Run
from ..schemes import RunOptions, choose
from ..sensitivity.objective import Objective, Objectives, some_objectives
from ..sensitivity.smoothness import check_gradients
from ..solving.derivative_request import DerivativeRequest
from ..solving.ensemble_runs import rerun_individually, sampler_for
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


def monte_carlo(
    mechanism: TwiceDifferentiable,
    objectives: Objectives,
    given: Given | None,
    correlation: Correlation | None,
    duration: float,
    *,
    samples: int,
    sampling: str,
    seed: int,
    chunk: int | None,
    executor: Any,
    control: bool,
    target: Target,
    keep: bool,
    allowed_failures: float,
    checkpoint: str | os.PathLike[str] | None,
    parameters: Mapping[str, float] | None,
    how: RunOptions,
) -> Study:
    """Carry out a study, or go on with one."""
    began = time.perf_counter()
    named = some_objectives("monte_carlo", objectives)
    _check(samples, sampling, seed, chunk, allowed_failures, control=control, keep=keep)
    limits, where = (
        Limits(samples, _targets(target, named), float(allowed_failures)),
        executor_of(executor),
    )
    spreads = distributions_of(mechanism.parameters, given, correlation)
    backend = _backend(how, where)
    method, schedule = choose(duration, **sparse_output(duration, how))
    ρ, solver = (
        mechanism.data.parameter_set.values(at_means(spreads, parameters)),
        mechanism._solver(method, named),
    )
    task, columns = (
        Task(schedule, named, None, backend, False, runs=samples),
        schedule.stored_count * len(named),
    )

    folder = None if checkpoint is None else Checkpoint(checkpoint)
    with nullcontext() if folder is None else folder.alone():
        before = None if folder is None else folder.load()
        size = chunk or (
            before[0]["chunk"]
            if before
            else chunk_size(sampling, int(samples), columns, target=target is not None)
        )
        drawing = Sampling(sampling, int(seed), int(size), len(spreads.names))
        _check_memory(drawing, len(ρ), columns, int(samples) if keep and folder is None else 0)
        if folder is not None:
            _take_up(
                folder,
                before,
                _about(solver, task, spreads, ρ, drawing, control=control, keep=keep),
            )
        model = _first_order(solver, task, spreads, ρ) if control else None
        together = replace(task, backend="native") if where.elsewhere else task
        state = before[1] if before else Accumulator([None] * drawing.replicates)
        centre = (
            _centre(solver, task, ρ, columns)
            if state.summary is None
            else state.summary.sketch.centre
        )
        work = Work(sampler_for(solver, together, samples), columns, centre, model, keep)
        study = Study(
            mechanism.name,
            tuple(named),
            tuple(o.unit for o in named.values()),
            spreads,
            schedule.stored_times,
            drawing,
            bool(control),
            state,
            (folder or []) if keep else None,
            time.perf_counter() - began,
            _at_means(
                mechanism, solver, Task(choose(duration, **how)[1], {}, None, backend, False), ρ
            ),
        )
        StudyRunner(study, limits, ρ, folder, how.get("progress")).execute(
            where, work, _rerun_individually(solver, task)
        )
        return study


def _check(
    samples: Any, sampling: str, seed: Any, chunk: Any, allowed_failures: Any, **switches: Any
) -> None:
    for label, switch in switches.items():
        if not isinstance(switch, bool):
            raise ModelError(f"monte_carlo: {label} = {switch!r} must be True or False")
    if sampling not in KINDS:
        raise unknown_name("kind of sampling", sampling, KINDS)
    check_whole("monte_carlo", 1, samples=samples, chunk=1 if chunk is None else chunk)
    check_whole("monte_carlo", 0, seed=seed)
    if not isinstance(allowed_failures, Real) or not 0 <= float(allowed_failures) < 1:
        raise ModelError(
            f"monte_carlo: allowed_failures = {allowed_failures!r} must be a share of the samples,"
            " from 0 to below 1"
        )
    if sampling == "sobol":
        if chunk is not None and chunk & (chunk - 1):
            raise ModelError(
                f"monte_carlo: chunk = {chunk!r} must be a power of two, by which Sobol sequences"
                " are even"
            )
        if samples > (most := REPLICATES << SOBOL_BITS):
            raise ModelError(
                f"monte_carlo: samples = {samples!r} are more than Sobol sequences have ({most});"
                " use sampling='random'"
            )


def _check_memory(drawing: Sampling, parameters: int, columns: int, kept: int) -> None:
    """A chunk, and samples that are kept in memory, have to fit into it."""
    check_memory(
        f"monte_carlo: chunk = {drawing.size} samples of {parameters} parameters with {columns}"
        " values each",
        float(drawing.size) * (drawing.dimension + parameters + columns),
        "use a smaller chunk=…, or store fewer times (output=…)",
    )
    check_memory(
        f"monte_carlo: keep=True with {kept} samples of {columns} values",
        float(kept) * (drawing.dimension + columns),
        "give a folder as checkpoint=…, or store fewer times (output=…)",
    )


def _backend(how: RunOptions, where: Executor) -> str:
    backend = how.get("backend", "auto")
    if where.elsewhere and backend == "interpreted":
        raise ModelError(
            "backend='interpreted' runs in this process only, and executor=… asks for a card or a"
            " cluster: leave one of them out"
        )
    return backend


def _take_up(
    folder: Checkpoint, before: tuple[dict[str, Any], Accumulator] | None, about: dict[str, Any]
) -> None:
    """Go on with the study of a folder, if it is the same, or begin one there."""
    if before is not None:
        check_same(folder.folder, before[0], about)
    folder.begin(about)


def _targets(target: Target, named: Mapping[str, Objective]) -> np.ndarray | None:
    """Half-widths to be met, by objective; infinite where anything will do."""
    if target is None:
        return None
    wanted = target if isinstance(target, Mapping) else dict.fromkeys(named, target)
    for name, value in wanted.items():
        if name not in named:
            raise unknown_name("objective", name, named)
        if not isinstance(value, Real) or isinstance(value, bool) or not value > 0:
            raise ModelError(
                f"monte_carlo: target = {value!r} for {name!r} must be a positive number in its"
                " unit: half of the confidence interval of its mean at the end"
            )
    return np.array([float(wanted.get(name, np.inf)) for name in named])


def _centre(solver: Solver, task: Task, ρ: np.ndarray, columns: int) -> np.ndarray:
    """Objectives at the means of the parameters, about which quantiles are counted most finely;
    zeros where there is no such run.
    """
    found = rerun_individually(solver, task, ρ, explain=False)
    if isinstance(found, VarimechError) or not np.isfinite(found.objectives).all():
        return np.zeros(columns)
    return found.objectives.ravel()


def _first_order(
    solver: Solver, task: Task, spreads: ParameterDistributions, ρ: np.ndarray
) -> Control:
    """The control: slopes at the means of the parameters."""
    check_gradients(solver.equations, task.objectives)
    run, _ = solver.run(
        Task(task.schedule, task.objectives, spreads.indices, task.backend, False), ρ
    )
    assert run.gradients is not None
    slopes = run.gradients.transpose(2, 0, 1).reshape(len(spreads.names), -1)
    return Control(spreads.indices, spreads.mean, np.ascontiguousarray(slopes))


def _at_means(
    mechanism: TwiceDifferentiable, solver: Solver, task: Task, ρ: np.ndarray
) -> Callable[[], Run]:
    """One more run, here and with as many stored times as a run has by itself."""
    revision = mechanism.data.revision

    def run() -> Run:
        if mechanism.data.revision != revision:
            raise ModelError(
                f"mechanism {mechanism.name!r} has been changed since this study was made; make it"
                " anew"
            )
        began = time.perf_counter()
        found, ran = solver.run(task, ρ)
        return mechanism._run(solver, task.schedule, found, ρ, [], seconds_of(began, ran))

    return run


def _rerun_individually(solver: Solver, task: Task) -> RerunIndividually:
    def rerun_ones(row: np.ndarray, explain: bool) -> np.ndarray | VarimechError:
        found = rerun_individually(solver, task, row, explain=explain)
        return found if isinstance(found, VarimechError) else found.objectives

    return rerun_ones


def _about(
    solver: Solver,
    task: Task,
    spreads: ParameterDistributions,
    ρ: np.ndarray,
    sampling: Sampling,
    *,
    control: bool,
    keep: bool,
) -> dict[str, Any]:
    """Everything that decides the numbers of a study, but for how many there are; long things by a
    digest.
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
        "bodies, joints, forces or objectives (digest)": _digest(*functions),
        "method": repr(solver.method),
        "values of parameters": ρ.tolist(),
        "spreads": spreads.described(),
        "sampling": sampling.kind,
        "seed": sampling.seed,
        "chunk": sampling.size,
        "duration": s.duration,
        "step": s.step,
        "longest step": s.longest_chosen,
        "every": s.every,
        "tolerance": s.tolerance,
        "times (digest)": _digest(*(np.zeros(0) if x is None else x for x in (s.outputs, s.ends))),
        "control": bool(control),
        "keep": bool(keep),
        "units of objectives": [o.unit for o in task.objectives.values()],
        "units of parameters": [p.unit for p in solver.model.parameter_set.parameters.values()],
    }


def _digest(*parts: bytes | np.ndarray) -> str:
    total = hashlib.sha256()
    for part in parts:
        total.update(part if isinstance(part, bytes) else np.ascontiguousarray(part).tobytes())
    return total.hexdigest()
