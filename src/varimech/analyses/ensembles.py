"""Runs of one mechanism for many sets of parameter values at once."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import ModelError, check_named, check_whole, unknown_name
from ..core.messages import Message
from ..model.parameter import Parameter
from ..model.parameter_set import ParameterSet
from ..results.ensemble import Ensemble
from ..sensitivity.objective import Objective
from ..solving.task import Task
from .gradients import check_method, faster_method
from .simulation import Simulation
from .solvers import seconds_of

if TYPE_CHECKING:
    import pandas as pd

    Samples = Mapping[str, Any] | pd.DataFrame
    """Parameter → values, one for each sample; or a table with a column for each parameter."""

METHODS = ("auto", "direct", "adjoint")


def ensemble(
    s: Simulation,
    objectives: Mapping[str, Objective],
    samples: Samples,
    indices: list[int] | None,
    threads: int | None,
    executor: str | None,
    method: str = "auto",
) -> Ensemble:
    """Run all samples; `indices` are the parameters to differentiate for, None for no derivatives."""
    if not objectives:
        problem = "there is no objective, and trajectories are not kept"
        raise ModelError(problem, element="ensemble", remedy="give at least one objective")
    check_whole("ensemble", 1, threads=1 if threads is None else threads)
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    check_method(method, s.scheme, len(objectives))
    if executor is not None:
        _check_executor(executor, s.backend)
    numbers = s.solvers.data.parameter_set
    columns = _columns(numbers, samples)
    rows = np.tile(s.ρ, (len(next(iter(columns.values()))), 1))
    for name, column in columns.items():
        rows[:, numbers.indices([name])[0]] = column
    began = time.perf_counter()
    solver = s.solver(objectives)
    if indices is None:
        method = "direct"
    elif method == "auto":
        on_gpu = None if executor is None else s.schedule
        method = faster_method(solver, len(objectives), len(indices), on_gpu=on_gpu)
    task = Task(s.schedule.last_only(), objectives, indices, s.backend, s.progress, method)
    from ..solving.ensemble_runs import run_many  # imported late: it loads the solver
    from ..solving.gpu_runs import run_many_on_gpu

    execute = run_many if executor is None else run_many_on_gpu
    runs, failures, ran = execute(solver, task, rows, threads or os.cpu_count() or 1)
    every = range(len(numbers.parameters)) if indices is None else indices
    names = tuple(p.name for p in s.solvers.parameters(every))
    gradients = None if runs.gradients is None else runs.gradients[:, -1]
    return Ensemble(
        tuple(objectives),
        names,
        columns,
        runs.values[:, -1],
        gradients,
        failures,
        seconds_of(began, ran),
    )


def _check_executor(executor: object, backend: str) -> None:
    if executor != "cuda":
        problem = "must be 'cuda', or omitted for threads"
        raise ModelError(problem, element="ensemble", field="executor", value=executor)
    if backend == "interpreted":
        refused = Message(
            "{backend} runs in this process only, and {executor} asks for a GPU",
            backend="interpreted",
            executor="cuda",
        )
        raise ModelError(refused, element="ensemble", remedy="leave one of them out")
    from ..backends.cuda import check_gpu

    check_gpu()


def _columns(numbers: ParameterSet, samples: Samples) -> dict[str, np.ndarray]:
    """Return checked values of each named parameter, one for each sample."""
    if not hasattr(samples, "columns"):  # a table
        check_named("ensemble: parameters", samples, "{'L': [0.3, 0.4]}")
    columns: dict[str, np.ndarray] = {}
    for name, values in samples.items():
        parameter = list(numbers.parameters.values())[numbers.indices([name])[0]]
        column = np.asarray(values)
        if column.ndim != 1 or column.size == 0:
            problem = f"parameter {parameter.name!r} needs a list of values, one for each sample"
            raise ModelError(problem, element="ensemble", value=values)
        columns[parameter.name] = _checked(parameter, column)
    sizes = {name: column.size for name, column in columns.items()}
    if not sizes:
        raise ModelError(
            "no parameter varies",
            element="ensemble",
            remedy="name at least one parameter with its values",
        )
    if len(set(sizes.values())) > 1:
        raise ModelError(
            f"parameters have different numbers of samples: {sizes}",
            element="ensemble",
            value=sizes,
        )
    return columns


def _checked(parameter: Parameter, column: np.ndarray) -> np.ndarray:
    """Return the values of a parameter as numbers. Of finite values only the extremes are checked:
    checking a million values one by one takes longer than their runs on a GPU.
    """
    if column.dtype.kind != "f" or not np.isfinite(column).all():
        return np.array([parameter.check(value) for value in column.tolist()])
    for extreme in (column.min(), column.max()):
        parameter.check(float(extreme))
    return column.astype(float)
