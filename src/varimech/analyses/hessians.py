"""Second derivatives of objectives: Hessians, and their products with a vector."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import ModelError, check_numbers, unknown_name
from ..core.interrupts import workers
from ..core.messages import Message
from ..core.progress import progress_bar
from ..results.hessian import Hessian
from ..sensitivity.objective import Objective
from ..sensitivity.smoothness import check_gradients
from ..solving.derivative_request import unit_directions
from ..solving.passages import may_pass, passed, refuse_curved_impacts, with_events_of
from ..solving.task import Task
from .simulation import Simulation
from .solvers import checked_bytes, seconds_of

if TYPE_CHECKING:
    import xarray as xr

    from ..solving.second_order import SecondDerivatives
    from ..solving.solver import Solver

BACKWARD_PAYS = 4
"""Number of parameters for each objective above which second derivatives are faster backward over
forward; see docs/decisions/2026-11-derivatives.md.
"""
METHODS = ("auto", "forward", "backward")
MEMORY = 500.0
"""Default memory (MB) that each adjoint may use for its records."""


@dataclass(frozen=True, eq=False)
class DirectionalRuns:
    """Runs with second derivatives, one along each direction, with their solver and task."""

    along: list[SecondDerivatives]
    solver: Solver
    task: Task
    seconds: float


def hessian(
    s: Simulation,
    objectives: Mapping[str, Objective],
    indices: list[int],
    method: str,
    memory: float,
) -> Hessian:
    """Compute second derivatives of the discrete solution for the parameters at `indices`."""
    began = time.perf_counter()
    adjoint = _backward(method, len(objectives), len(indices))
    directions = np.ascontiguousarray(unit_directions(s.ρ.size, indices).T)
    runs = second_derivatives(s, objectives, indices, list(directions), adjoint, memory)
    first = runs.along[0].trajectory
    seconds = seconds_of(began, runs.seconds)
    states = [d.states_along for d in runs.along if d.states_along is not None]
    return Hessian(
        *s.solvers.labels(objectives, indices),
        "backward over forward" if adjoint else "forward over forward",
        s.solvers.run(runs.solver, runs.task.schedule, first, s.ρ, indices, seconds),
        seconds,
        first.objectives[-1],
        runs.along[0].gradients[-1],
        np.stack([d.gradients_along[-1] for d in runs.along], axis=1),
        np.stack(states, axis=2) if states else None,
    )


def hessian_product(
    s: Simulation,
    objectives: Mapping[str, Objective],
    along: Mapping[str, float],
    indices: list[int],
    method: str,
) -> xr.DataArray:
    """Compute Hessians times the vector `along`, (objective, parameter), by one run."""
    import xarray as xr

    if not objectives:
        raise ModelError(
            "there is no objective", element="hessian_product", remedy="give at least one objective"
        )
    adjoint = _backward(method, len(objectives), len(indices))
    if not isinstance(along, Mapping):
        problem = "must be parameters with numbers, such as {'L': 1.0}"
        raise ModelError(problem, element="hessian_product", field="along", value=along)
    check_numbers("hessian_product: along", **{str(name): value for name, value in along.items()})
    if any(value != value for value in along.values()):
        problem = "has values that are not a number"
        raise ModelError(problem, element="hessian_product", field="along", value=along)
    direction = np.zeros(s.ρ.size)
    direction[s.solvers.data.parameter_set.indices(list(along))] = list(along.values())
    runs = second_derivatives(s, objectives, indices, [direction], adjoint, MEMORY)
    names = [p.name for p in s.solvers.parameters(indices)]
    coords = {"objective": list(objectives), "parameter": names}
    return xr.DataArray(
        runs.along[0].gradients_along[-1], coords=coords, dims=["objective", "parameter"]
    )


def second_derivatives(
    s: Simulation,
    objectives: Mapping[str, Objective],
    indices: list[int],
    directions: list[np.ndarray],
    adjoint: bool,
    memory: float,
) -> DirectionalRuns:
    """Execute runs with second derivatives along the given directions, with the steps of a run with
    first derivatives.
    """
    most, by = checked_bytes("hessian", memory), "adjoint" if adjoint else "direct"
    solver = s.solver(objectives)
    check_gradients(solver.equations, objectives)
    task = Task(s.schedule, objectives, indices, s.backend, s.progress, by, most)
    chosen, trajectory = 0.0, None
    if s.schedule.tolerance or may_pass(solver.equations, objectives):
        trajectory, chosen = solver.run(task, s.ρ)
        steps = passed(solver.equations, objectives, s.schedule, trajectory, s.ρ)
        refuse_curved_impacts(solver.equations, steps)
        task = replace(task, schedule=steps)
    many = replace(task, runs=len(directions))
    along, ran = _side_by_side(solver, many, s.ρ, directions)
    if trajectory is not None and task.schedule.passages is not None:
        path = with_events_of(along[0].trajectory, trajectory)
        along[0] = replace(along[0], trajectory=path)
    return DirectionalRuns(along, solver, task, chosen + ran)


def _backward(method: str, objectives: int, parameters: int) -> bool:
    """Whether second derivatives are computed backward over forward: if requested, or if `method`
    is "auto" and this is faster.
    """
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    if method == "backward" and not objectives:
        problem = "method 'backward' differentiates objectives, and there are none"
        raise ModelError(
            problem, remedy=Message("outputs over time need {method}", method="forward")
        )
    return method == "backward" or (method == "auto" and faster_backward(objectives, parameters))


def faster_backward(objectives: int, parameters: int) -> bool:
    """Whether second derivatives are faster backward over forward than forward over forward."""
    return 0 < objectives * BACKWARD_PAYS < parameters


def _side_by_side(
    solver: Solver, task: Task, ρ: np.ndarray, directions: list[np.ndarray]
) -> tuple[list[SecondDerivatives], float]:
    """Execute a run for each direction; return the results and the run time in seconds. The first
    run compiles the code that the others share.
    """
    with (
        progress_bar(
            f"{solver.model.name}: second derivatives", len(directions), task.progress
        ) as report,
        workers(os.cpu_count()) as (pool, stop),
    ):
        first, seconds = solver.run_second(task, ρ, directions[0])
        derivatives = [first]
        report(1)
        began, stoppable = time.perf_counter(), replace(task, stop=stop)
        for each, _ in pool.map(lambda d: solver.run_second(stoppable, ρ, d), directions[1:]):
            derivatives.append(each)
            report(len(derivatives))
        return derivatives, seconds + time.perf_counter() - began
