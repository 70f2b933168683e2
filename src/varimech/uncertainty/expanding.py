"""Moments of objectives over time: runs at the means of the parameters, with first or second
derivatives.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..analyses.hessians import MEMORY, second_derivatives
from ..analyses.simulation import Simulation
from ..analyses.solvers import seconds_of
from ..analyses.stability import StabilityObjectives
from ..backends.trajectory import Trajectory
from ..core.caller_warnings import warn_caller
from ..core.errors import ModelError, check_numbers
from ..core.messages import Call, Message
from ..model.parameter_set import ParameterSet
from ..sensitivity.event_functions import has_events
from ..sensitivity.objective import Objective
from ..sensitivity.smoothness import check_gradients
from ..sensitivity.stability_objective import StabilityObjective
from ..solving.derivative_request import unit_directions
from ..solving.ensemble_runs import run_many
from ..solving.task import Task
from .expansion import check_second, first_variance, squared_curvature
from .horizon import HorizonWarning, estimated_error
from .moments import Moments
from .neighbour_runs import NeighbourRuns, directions_of, unexplained
from .parameter_distributions import Correlation, Given, ParameterDistributions, distributions_of

if TYPE_CHECKING:
    from ..solving.solver import Solver

OUTPUTS = 100
"""Default number of output intervals of adaptive runs: enough for smooth curves."""


@dataclass(frozen=True, eq=False)
class _Expanded:
    """Results of runs at the means of the parameters."""

    path: Trajectory
    curvatures: np.ndarray | None
    """All second derivatives, if they are known."""
    solver: Solver
    task: Task
    ran: float
    """Run time (s)."""


def moments(
    s: Simulation,
    objectives: Mapping[str, Objective],
    small: StabilityObjectives,
    given: Given | None,
    correlation: Correlation | None,
    order: int,
    accuracy: float,
) -> Moments:
    """Expand objectives about the means of the parameters; `Mechanism.moments` documents the
    arguments. Objectives of small motions come last, for order 1 only.
    """
    began = time.perf_counter()
    if order not in (1, 2):
        raise ModelError("must be 1 or 2", element="moments", field="order", value=order)
    check_numbers("moments", accuracy=accuracy)
    if not accuracy > 0:
        problem = "must be a positive number of standard deviations"
        raise ModelError(problem, element="moments", field="accuracy", value=accuracy)
    distributions = distributions_of(s.solvers.data.parameter_set.parameters, given, correlation)
    if order == 2:
        check_second(distributions)
    means = sparse_output(at_means(s, distributions))
    expanded = (_first_order if order == 1 else _second_order)(means, objectives, distributions)
    expanded = _with_small_motions(expanded, small, means.ρ, distributions)
    path = expanded.path
    assert path.gradients is not None
    neighbours, failed, ran = _neighbour_runs(means, expanded, distributions, small)
    seconds = seconds_of(began, expanded.ran + ran)
    schedule = expanded.task.schedule
    every: dict[str, Objective | StabilityObjective] = {**objectives, **small.objectives}
    sampled = np.array([isinstance(o, Objective) and bool(o.samples) for o in every.values()])
    error = _error(
        order, path, expanded.curvatures, distributions, neighbours, float(accuracy), sampled
    )
    result = Moments(
        order,
        float(accuracy),
        tuple(every),
        tuple(o.unit for o in every.values()),
        distributions,
        path.time,
        path.objectives,
        path.gradients,
        expanded.curvatures,
        error,
        s.solvers.run(expanded.solver, schedule, path, means.ρ, distributions.indices, seconds),
        seconds,
    )
    _warn(result, failed)
    return result


def at_means(s: Simulation, distributions: ParameterDistributions) -> Simulation:
    """Return the simulation at the means of the varying parameters; other parameters keep their
    given values.

    Raises:
        ModelError: if a varying parameter is given a value.
    """
    parameters = s.given or {}
    for name in parameters:
        if name in distributions.names:
            remedy = Message(
                "give {distributions} to change it, or {} to fix it",
                f"distributions={{{name!r}: None}}",
                distributions={name: ...},
            )
            raise ModelError(
                f"names {name!r}, which has its own distribution", field="parameters", remedy=remedy
            )
    return s.at(
        {**parameters, **dict(zip(distributions.names, distributions.mean.tolist(), strict=True))}
    )


def sparse_output(s: Simulation) -> Simulation:
    """Return the simulation with `OUTPUTS` output intervals for adaptive runs by default."""
    if s.schedule.tolerance and s.options.get("output") is None:
        return s.with_options(output=s.duration / OUTPUTS)
    return s


def _second_order(
    s: Simulation, objectives: Mapping[str, Objective], distributions: ParameterDistributions
) -> _Expanded:
    """Run with second derivatives for each varying parameter."""
    directions = list(np.ascontiguousarray(unit_directions(s.ρ.size, distributions.indices).T))
    runs = second_derivatives(s, objectives, distributions.indices, directions, False, MEMORY)
    H = np.stack([d.gradients_along for d in runs.along], axis=2)
    symmetric = (H + np.swapaxes(H, -1, -2)) / 2
    path, task = runs.along[0].trajectory, runs.task
    # these runs provide values at events and extrema at their end only
    late = [k for k, o in enumerate(objectives.values()) if o.samples]
    for array in (path.objectives, path.gradients, symmetric):
        assert array is not None
        array[:-1, late] = np.nan
    if task.schedule.passages is not None:  # neighbouring runs have events at other times
        task = replace(task, schedule=s.schedule)
    return _Expanded(path, symmetric, runs.solver, task, runs.seconds)


def _first_order(
    s: Simulation, objectives: Mapping[str, Objective], distributions: ParameterDistributions
) -> _Expanded:
    """Run with first derivatives."""
    solver = s.solver(objectives)
    check_gradients(solver.equations, objectives)
    task = Task(s.schedule, objectives, distributions.indices, s.backend, s.progress)
    run, ran = solver.run(task, s.ρ)
    replays = s.scheme.integrator.traits.given_steps
    if s.schedule.tolerance and replays and not has_events(solver.equations, objectives):
        # replay the steps: the choice of steps is not a smooth function of the parameters
        task = replace(task, schedule=s.schedule.replayed(run.step_ends))
    return _Expanded(run, None, solver, task, ran)


def _with_small_motions(
    expanded: _Expanded,
    small: StabilityObjectives,
    ρ: np.ndarray,
    distributions: ParameterDistributions,
) -> _Expanded:
    """Add objectives of small motions, which are constant over time, to the runs."""
    if not small.objectives:
        return expanded
    path, times = expanded.path, expanded.path.time.size
    assert path.gradients is not None
    values, derivatives = small.evaluate(ρ, distributions.indices)
    joined = replace(
        path,
        objectives=np.hstack([path.objectives, np.tile(values, (times, 1))]),
        gradients=np.concatenate([path.gradients, np.tile(derivatives, (times, 1, 1))], axis=1),
    )
    return replace(expanded, path=joined)


def _neighbour_runs(
    s: Simulation,
    expanded: _Expanded,
    distributions: ParameterDistributions,
    small: StabilityObjectives,
) -> tuple[NeighbourRuns, list[str], float]:
    """Run at one standard deviation on both sides of the means, all in one batch; with messages of
    failed runs and the run time (s).
    """
    assert expanded.path.gradients is not None
    u = directions_of(expanded.path.gradients, distributions)
    rows = distributions.rows(np.concatenate([distributions.mean + u, distributions.mean - u]), s.ρ)
    task = replace(expanded.task, indices=None, progress=False)
    if expanded.curvatures is None:
        _check_sides(s.solvers.data.parameter_set, rows)
    samples, failures, ran = run_many(expanded.solver, task, rows, os.cpu_count() or 1)
    if failures and expanded.curvatures is None:
        raise failures[min(failures)]
    values = samples.values
    if small.objectives:
        more = [small.evaluate(row, distributions.indices, differentiate=False)[0] for row in rows]
        constant = np.repeat(np.array(more)[:, None], values.shape[1], axis=1)
        values = np.concatenate([values, constant], axis=2)
    values[list(failures)] = np.nan
    messages = [f"{type(error).__name__}: {error}" for _, error in sorted(failures.items())]
    return NeighbourRuns(u, values[: len(u)], values[len(u) :]), messages, ran


def _error(
    order: int,
    path: Trajectory,
    H: np.ndarray | None,
    distributions: ParameterDistributions,
    neighbours: NeighbourRuns,
    accuracy: float,
    sampled: np.ndarray,
) -> np.ndarray:
    """Error of the mean or standard deviation, in standard deviations: from derivatives at the
    means, or from neighbouring runs if H is not known. Objectives that are `sampled` at events, or
    extrema, are values of the whole run.
    """
    assert path.gradients is not None
    C, observed = (
        distributions.covariance,
        unexplained(path.objectives, path.gradients, H, distributions.covariance, neighbours),
    )
    if H is not None:
        first_order, curvature = (
            np.sqrt(first_variance(path.gradients, C)),
            np.sqrt(squared_curvature(H, C)),
        )
    else:
        first_order = np.abs(
            neighbours.along(np.einsum("toi,ki->kto", path.gradients, neighbours.directions))
        )
        curvature = np.abs(
            neighbours.along(neighbours.plus - 2 * path.objectives + neighbours.minus)
        )
    for values in (first_order, curvature, observed):
        values[:-1, sampled] = 0.0
    return estimated_error(order, path.time, first_order, curvature, observed, accuracy)


def _check_sides(numbers: ParameterSet, rows: np.ndarray) -> None:
    for row in rows:
        try:
            numbers.check(row)
        except ModelError as error:
            problem = f"1 also runs the mechanism at means ± σ, to estimate its horizon, and there {error}"
            remedy = Message("use {order}, which does not need it, or a smaller tolerance", order=2)
            raise ModelError(problem, element="moments", field="order", remedy=remedy) from None


def _warn(result: Moments, failed: list[str]) -> None:
    end = result.time[-1]
    if failed:
        message = Message(
            "{}: runs at means ± σ, which estimate the horizon, failed ({} of them; {}); the"
            " horizon relies on derivatives at the means only: compare with {}, or use smaller"
            " tolerances",
            result.label,
            len(failed),
            failed[0],
            Call("monte_carlo"),
        )
        warn_caller(HorizonWarning(message))
    short = [
        (name, t)
        for name, t in zip(result.objective_names, result.horizons, strict=True)
        if t < end
    ]
    if not short:
        return
    listed = ", ".join(f"{name!r} up to t = {t:.3g} s" for name, t in short)
    message = Message(
        "{}: moments of order {} are valid within {:g} standard deviations for {} only, not up to"
        " {:g} s: ignore later results, or use a shorter run, smaller tolerances, {}or {}",
        result.label,
        result.order,
        result.accuracy,
        listed,
        end,
        Message("{order} (for means), ", order=2) if result.order == 1 else "",
        Call("monte_carlo"),
    )
    warn_caller(HorizonWarning(message))
