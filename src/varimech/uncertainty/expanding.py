"""Moments of objectives over time: runs at the means of the parameters, with first or second
derivatives.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..analyses.hessians import TwiceDifferentiable
from ..analyses.solved import seconds_of
from ..backends.trajectory import Trajectory
from ..core.errors import ModelError, check_numbers
from ..schemes import RunOptions, choose
from ..sensitivity.objective import Objective, Objectives, some_objectives
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
    ρ: np.ndarray
    ran: float
    """Seconds."""


def moments(
    mechanism: TwiceDifferentiable,
    objectives: Objectives,
    given: Given | None,
    correlation: Correlation | None,
    duration: float,
    *,
    order: int,
    accuracy: float,
    parameters: Mapping[str, float] | None,
    how: RunOptions,
) -> Moments:
    """Expand objectives about the means of the spreads."""
    began = time.perf_counter()
    named = some_objectives("moments", objectives)
    if order not in (1, 2):
        raise ModelError(f"moments: order = {order!r} must be 1 or 2")
    check_numbers("moments", accuracy=accuracy)
    if not accuracy > 0:
        raise ModelError(
            f"moments: accuracy = {accuracy!r} must be a positive number of standard deviations"
        )
    spreads = distributions_of(mechanism.parameters, given, correlation)
    if order == 2:
        check_second(spreads)
    means, options = at_means(spreads, parameters), sparse_output(duration, how)
    found = (_first_order if order == 1 else _second_order)(
        mechanism, named, spreads, duration, means, options
    )
    path = found.path
    assert path.gradients is not None
    beside, failed, ran = _beside(mechanism, found, spreads)
    seconds = seconds_of(began, found.ran + ran)
    result = Moments(
        order,
        float(accuracy),
        tuple(named),
        tuple(o.unit for o in named.values()),
        spreads,
        path.time,
        path.objectives,
        path.gradients,
        found.curvatures,
        _error(order, path, found.curvatures, spreads, beside, float(accuracy)),
        mechanism._run(found.solver, found.task.schedule, path, found.ρ, spreads.indices, seconds),
        seconds,
    )
    _warn(result, failed)
    return result


def at_means(
    spreads: ParameterDistributions, parameters: Mapping[str, float] | None
) -> dict[str, float]:
    """Values of the parameters about which to expand: means of those that vary, others as given."""
    for name in parameters or {}:
        if name in spreads.names:
            raise ModelError(
                f"parameters names {name!r}, which has a spread about a mean of its own; give"
                f" spreads={{{name!r}: …}} to move it, or spreads={{{name!r}: None}} to hold it"
            )
    return {**(parameters or {}), **dict(zip(spreads.names, spreads.mean.tolist(), strict=True))}


def sparse_output(duration: float, how: RunOptions) -> RunOptions:
    """The options, with a hundred intervals between stored results where steps are chosen and
    nothing is said.
    """
    _, schedule = choose(duration, **how)
    return (
        {**how, "output": duration / OUTPUTS}
        if schedule.tolerance and how.get("output") is None
        else how
    )


def _second_order(
    mechanism: TwiceDifferentiable,
    named: Mapping[str, Objective],
    spreads: ParameterDistributions,
    duration: float,
    means: Mapping[str, float],
    how: RunOptions,
) -> _Expanded:
    """A run with second derivatives for each parameter that varies."""
    directions = list(
        np.ascontiguousarray(unit_directions(len(mechanism.parameters), spreads.indices).T)
    )
    found, solver, ρ, task, ran = mechanism._second(
        named, spreads.indices, directions, duration, means, False, how
    )
    H = np.stack([d.gradients_along for d in found], axis=2)
    return _Expanded(found[0].trajectory, (H + np.swapaxes(H, -1, -2)) / 2, solver, task, ρ, ran)


def _first_order(
    mechanism: TwiceDifferentiable,
    named: Mapping[str, Objective],
    spreads: ParameterDistributions,
    duration: float,
    means: Mapping[str, float],
    how: RunOptions,
) -> _Expanded:
    """A run with first derivatives."""
    way, schedule = choose(duration, **how)
    ρ, solver = mechanism.data.parameter_set.values(means), mechanism._solver(way, named)
    check_gradients(solver.equations, named)
    task = Task(schedule, named, spreads.indices, how.get("backend", "auto"), how.get("progress"))
    run, ran = solver.run(task, ρ)
    if schedule.tolerance and way.integrator.traits.given_steps:
        task = replace(
            task, schedule=schedule.replayed(run.step_ends)
        )  # choices of steps are no smooth function of parameters
    return _Expanded(run, None, solver, task, ρ, ran)


def _beside(
    mechanism: TwiceDifferentiable, found: _Expanded, spreads: ParameterDistributions
) -> tuple[Beside, list[str], float]:
    """Runs one standard deviation to either side of the means, all at once; those that failed, in
    words, and the seconds they took.
    """
    assert found.path.gradients is not None
    u = directions_of(found.path.gradients, spreads)
    rows = spreads.rows(np.concatenate([spreads.mean + u, spreads.mean - u]), found.ρ)
    task = replace(found.task, indices=None, progress=False)
    if found.curvatures is None:
        _check_sides(mechanism, rows)
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


def _check_sides(mechanism: TwiceDifferentiable, rows: np.ndarray) -> None:
    for row in rows:
        try:
            mechanism.data.parameter_set.check(row)
        except ModelError as error:
            raise ModelError(
                "moments: order=1 runs the mechanism at means ± σ, too, to see how long it holds,"
                f" and there {error}; order=2 does without, or take a smaller spread"
            ) from None


def _warn(result: Moments, failed: list[str]) -> None:
    end = result.time[-1]
    if failed:
        warnings.warn(
            f"{result.label}: runs at means ± σ, which show how long moments hold, failed"
            f" ({len(failed)} of them; {failed[0]}); the horizon knows of derivatives at the means"
            " only: compare with monte_carlo(…), or take smaller spreads",
            HorizonWarning,
            stacklevel=4,
        )
    short = [
        (name, t)
        for name, t in zip(result.objective_names, result.horizons, strict=True)
        if t < end
    ]
    if not short:
        return
    listed = ", ".join(f"{name!r} up to t = {t:.3g} s" for name, t in short)
    better = "order=2 (for means), " if result.order == 1 else ""
    warnings.warn(
        f"{result.label}: moments of order {result.order} hold to {result.accuracy:g} standard"
        f" deviations for {listed} only, not up to {end:g} s: look at nothing later, or take a"
        f" shorter run, smaller spreads, {better}or monte_carlo(…)",
        HorizonWarning,
        stacklevel=4,
    )
