"""Moments of objectives over time: runs at the means of the parameters, with first or second
derivatives.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..analyses.hessians import MEMORY, second_derivatives
from ..analyses.simulation import Simulation
from ..analyses.solvers import seconds_of
from ..backends.trajectory import Trajectory
from ..core.errors import ModelError, check_numbers
from ..core.messages import Call, Message
from ..model.parameter_set import ParameterSet
from ..sensitivity.objective import Objective
from ..sensitivity.smoothness import check_gradients
from ..solving.derivative_request import unit_directions
from ..solving.ensemble_runs import run_many
from ..solving.task import Task
from .expansion import check_second, first_variance, squared_curvature
from .horizon import HorizonWarning, estimated_error
from .moments import Moments
from .neighbour_runs import Beside, directions_of, unexplained
from .parameter_distributions import Correlation, Given, ParameterDistributions, distributions_of

if TYPE_CHECKING:
    from ..solving.solver import Solver

OUTPUTS = 100
"""Intervals between stored results where steps are chosen and nothing is said."""


@dataclass(frozen=True, eq=False)
class _Expanded:
    """What runs at the means of the parameters tell."""

    path: Trajectory
    curvatures: np.ndarray | None
    """All second derivatives, where they are known."""
    solver: Solver
    task: Task
    ran: float
    """Seconds."""


def moments(
    s: Simulation,
    objectives: Mapping[str, Objective],
    given: Given | None,
    correlation: Correlation | None,
    order: int,
    accuracy: float,
) -> Moments:
    """Expand objectives about the means of the parameters."""
    began = time.perf_counter()
    if order not in (1, 2):
        raise ModelError(f"moments: order = {order!r} must be 1 or 2")
    check_numbers("moments", accuracy=accuracy)
    if not accuracy > 0:
        raise ModelError(
            f"moments: accuracy = {accuracy!r} must be a positive number of standard deviations"
        )
    spreads = distributions_of(s.solvers.data.parameter_set.parameters, given, correlation)
    if order == 2:
        check_second(spreads)
    means = sparse_output(at_means(s, spreads))
    expanded = (_first_order if order == 1 else _second_order)(means, objectives, spreads)
    path = expanded.path
    assert path.gradients is not None
    beside, failed, ran = _beside(means, expanded, spreads)
    seconds = seconds_of(began, expanded.ran + ran)
    schedule = expanded.task.schedule
    result = Moments(
        order,
        float(accuracy),
        tuple(objectives),
        tuple(o.unit for o in objectives.values()),
        spreads,
        path.time,
        path.objectives,
        path.gradients,
        expanded.curvatures,
        _error(order, path, expanded.curvatures, spreads, beside, float(accuracy)),
        s.solvers.run(expanded.solver, schedule, path, means.ρ, spreads.indices, seconds),
        seconds,
    )
    _warn(result, failed)
    return result


def at_means(s: Simulation, spreads: ParameterDistributions) -> Simulation:
    """The simulation at the means of the parameters that vary, with others as given."""
    parameters = s.given or {}
    for name in parameters:
        if name in spreads.names:
            raise ModelError(
                f"parameters names {name!r}, which has a spread about a mean of its own",
                remedy=Message(
                    "give {spreads} to move it, or {} to hold it",
                    f"spreads={{{name!r}: None}}",
                    spreads={name: ...},
                ),
            )
    return s.at({**parameters, **dict(zip(spreads.names, spreads.mean.tolist(), strict=True))})


def sparse_output(s: Simulation) -> Simulation:
    """The simulation with a hundred intervals between stored results where steps are chosen and no
    output is given.
    """
    if s.schedule.tolerance and s.options.get("output") is None:
        return s.with_options(output=s.duration / OUTPUTS)
    return s


def _second_order(
    s: Simulation, objectives: Mapping[str, Objective], spreads: ParameterDistributions
) -> _Expanded:
    """A run with second derivatives for each parameter that varies."""
    directions = list(np.ascontiguousarray(unit_directions(s.ρ.size, spreads.indices).T))
    runs = second_derivatives(s, objectives, spreads.indices, directions, False, MEMORY)
    H = np.stack([d.gradients_along for d in runs.along], axis=2)
    symmetric = (H + np.swapaxes(H, -1, -2)) / 2
    return _Expanded(runs.along[0].trajectory, symmetric, runs.solver, runs.task, runs.seconds)


def _first_order(
    s: Simulation, objectives: Mapping[str, Objective], spreads: ParameterDistributions
) -> _Expanded:
    """A run with first derivatives."""
    solver = s.solver(objectives)
    check_gradients(solver.equations, objectives)
    task = Task(s.schedule, objectives, spreads.indices, s.backend, s.progress)
    run, ran = solver.run(task, s.ρ)
    if s.schedule.tolerance and s.scheme.integrator.traits.given_steps:
        # choices of steps are no smooth function of parameters
        task = replace(task, schedule=s.schedule.replayed(run.step_ends))
    return _Expanded(run, None, solver, task, ran)


def _beside(
    s: Simulation, found: _Expanded, spreads: ParameterDistributions
) -> tuple[Beside, list[str], float]:
    """Runs one standard deviation to either side of the means, all at once; those that failed, in
    words, and the seconds they took.
    """
    assert found.path.gradients is not None
    u = directions_of(found.path.gradients, spreads)
    rows = spreads.rows(np.concatenate([spreads.mean + u, spreads.mean - u]), s.ρ)
    task = replace(found.task, indices=None, progress=False)
    if found.curvatures is None:
        _check_sides(s.solvers.data.parameter_set, rows)
    samples, failures, ran = run_many(found.solver, task, rows, os.cpu_count() or 1)
    if failures and found.curvatures is None:
        raise failures[min(failures)]
    values = samples.values
    values[list(failures)] = np.nan
    words = [f"{type(error).__name__}: {error}" for _, error in sorted(failures.items())]
    return Beside(u, values[: len(u)], values[len(u) :]), words, ran


def _error(
    order: int,
    path: Trajectory,
    H: np.ndarray | None,
    spreads: ParameterDistributions,
    beside: Beside,
    accuracy: float,
) -> np.ndarray:
    """Of mean or standard deviation, in standard deviations: by the derivatives at the means, or
    runs beside them where H is not known.
    """
    assert path.gradients is not None
    C, seen = (
        spreads.covariance,
        unexplained(path.objectives, path.gradients, H, spreads.covariance, beside),
    )
    if H is not None:
        slope, curvature = (
            np.sqrt(first_variance(path.gradients, C)),
            np.sqrt(squared_curvature(H, C)),
        )
    else:
        slope = np.abs(beside.along(np.einsum("toi,ki->kto", path.gradients, beside.directions)))
        curvature = np.abs(beside.along(beside.there - 2 * path.objectives + beside.back))
    return estimated_error(order, path.time, slope, curvature, seen, accuracy)


def _check_sides(numbers: ParameterSet, rows: np.ndarray) -> None:
    for row in rows:
        try:
            numbers.check(row)
        except ModelError as error:
            raise ModelError(
                "moments: order 1 runs the mechanism at means ± σ, too, to see how long it holds,"
                f" and there {error}",
                remedy=Message("{order} does without, or take a smaller spread", order=2),
            ) from None


def _warn(result: Moments, failed: list[str]) -> None:
    end = result.time[-1]
    if failed:
        message = Message(
            "{}: runs at means ± σ, which show how long moments hold, failed ({} of them; {}); the"
            " horizon knows of derivatives at the means only: compare with {}, or take smaller"
            " spreads",
            result.label,
            len(failed),
            failed[0],
            Call("monte_carlo"),
        )
        warnings.warn(HorizonWarning(message), stacklevel=4)
    short = [
        (name, t)
        for name, t in zip(result.objective_names, result.horizons, strict=True)
        if t < end
    ]
    if not short:
        return
    listed = ", ".join(f"{name!r} up to t = {t:.3g} s" for name, t in short)
    message = Message(
        "{}: moments of order {} hold to {:g} standard deviations for {} only, not up to {:g} s:"
        " look at nothing later, or take a shorter run, smaller spreads, {}or {}",
        result.label,
        result.order,
        result.accuracy,
        listed,
        end,
        Message("{order} (for means), ", order=2) if result.order == 1 else "",
        Call("monte_carlo"),
    )
    warnings.warn(HorizonWarning(message), stacklevel=_level_of_caller())


def _level_of_caller() -> int:
    """The stack level, for a warning of the calling function, of the code that uses Varimech."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("varimech."):
        level, frame = level + 1, frame.f_back
    return level
