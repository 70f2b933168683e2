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
from ..integrators.sundials import Sundials
from ..schemes import RunOptions, choose
from ..sensitivity.objective import Objective, Objectives, some_objectives
from ..sensitivity.smoothness import check_gradients
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
"""Default output intervals of adaptive runs: enough for smooth curves."""


@dataclass(frozen=True, eq=False)
class _Expanded:
    """Runs at the means of the parameters."""

    path: Trajectory
    curvatures: np.ndarray | None
    """All second derivatives, if known."""
    solver: Solver
    task: Task
    ρ: np.ndarray
    ran: float
    """Run time (s)."""


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
    """Expand objectives about the means of the parameters; `Mechanism.moments` documents the
    arguments.
    """
    began = time.perf_counter()
    named = some_objectives("moments", objectives)
    if order not in (1, 2):
        raise ModelError(f"moments: order = {order!r} must be 1 or 2")
    check_numbers("moments", accuracy=accuracy)
    if not accuracy > 0:
        raise ModelError(
            f"moments: accuracy = {accuracy!r} must be a positive number of standard deviations"
        )
    distributions = distributions_of(mechanism.parameters, given, correlation)
    if order == 2:
        check_second(distributions)
    means, options = at_means(distributions, parameters), sparse_output(duration, how)
    expanded = (_first_order if order == 1 else _second_order)(
        mechanism, named, distributions, duration, means, options
    )
    path = expanded.path
    assert path.gradients is not None
    neighbours, failed, ran = _neighbour_runs(mechanism, expanded, distributions)
    seconds = seconds_of(began, expanded.ran + ran)
    result = Moments(
        order,
        float(accuracy),
        tuple(named),
        tuple(o.unit for o in named.values()),
        distributions,
        path.time,
        path.objectives,
        path.gradients,
        expanded.curvatures,
        _error(order, path, expanded.curvatures, distributions, neighbours, float(accuracy)),
        mechanism._run(
            expanded.solver,
            expanded.task.schedule,
            path,
            expanded.ρ,
            distributions.indices,
            seconds,
        ),
        seconds,
    )
    _warn(result, failed)
    return result


def at_means(
    distributions: ParameterDistributions, parameters: Mapping[str, float] | None
) -> dict[str, float]:
    """Parameter values about which to expand: means of the varying ones, others as given.

    Raises:
        ModelError: if a varying parameter is given a value.
    """
    for name in parameters or {}:
        if name in distributions.names:
            raise ModelError(
                f"parameters names {name!r}, which has its own distribution; give"
                f" spreads={{{name!r}: …}} to change it, or spreads={{{name!r}: None}} to fix it"
            )
    return {
        **(parameters or {}),
        **dict(zip(distributions.names, distributions.mean.tolist(), strict=True)),
    }


def sparse_output(duration: float, options: RunOptions) -> RunOptions:
    """The options, with `OUTPUTS` output intervals for adaptive runs by default."""
    _, schedule = choose(duration, **options)
    return (
        {**options, "output": duration / OUTPUTS}
        if schedule.tolerance and options.get("output") is None
        else options
    )


def _second_order(
    mechanism: TwiceDifferentiable,
    named: Mapping[str, Objective],
    distributions: ParameterDistributions,
    duration: float,
    means: Mapping[str, float],
    options: RunOptions,
) -> _Expanded:
    """A run with second derivatives for each varying parameter."""
    directions = list(
        np.ascontiguousarray(unit_directions(len(mechanism.parameters), distributions.indices).T)
    )
    runs, solver, ρ, task, ran = mechanism._second(
        named, distributions.indices, directions, duration, means, False, options
    )
    H = np.stack([d.gradients_along for d in runs], axis=2)
    return _Expanded(runs[0].trajectory, (H + np.swapaxes(H, -1, -2)) / 2, solver, task, ρ, ran)


def _first_order(
    mechanism: TwiceDifferentiable,
    named: Mapping[str, Objective],
    distributions: ParameterDistributions,
    duration: float,
    means: Mapping[str, float],
    options: RunOptions,
) -> _Expanded:
    """A run with first derivatives."""
    scheme, schedule = choose(duration, **options)
    ρ, solver = mechanism.data.parameter_set.values(means), mechanism._solver(scheme, named)
    check_gradients(solver.equations, named)
    task = Task(
        schedule,
        named,
        distributions.indices,
        options.get("backend", "auto"),
        options.get("progress"),
    )
    run, ran = solver.run(task, ρ)
    if schedule.tolerance and not isinstance(scheme.integrator, Sundials):
        # the choice of steps is not a smooth function of the parameters
        task = replace(task, schedule=schedule.replayed(run.step_ends))
    return _Expanded(run, None, solver, task, ρ, ran)


def _neighbour_runs(
    mechanism: TwiceDifferentiable, expanded: _Expanded, distributions: ParameterDistributions
) -> tuple[NeighbourRuns, list[str], float]:
    """Runs at one standard deviation on both sides of the means, all at once; with messages of
    failed runs and the run time (s).
    """
    assert expanded.path.gradients is not None
    u = directions_of(expanded.path.gradients, distributions)
    rows = distributions.rows(
        np.concatenate([distributions.mean + u, distributions.mean - u]), expanded.ρ
    )
    task = replace(expanded.task, indices=None, progress=False)
    if expanded.curvatures is None:
        _check_sides(mechanism, rows)
    samples, failures, ran = run_many(expanded.solver, task, rows, os.cpu_count() or 1)
    if failures and expanded.curvatures is None:
        raise failures[min(failures)]
    values = samples.values
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
) -> np.ndarray:
    """Error of the mean or standard deviation, in standard deviations: from derivatives at the
    means, or from neighbouring runs if H is not known.
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
    return estimated_error(order, path.time, first_order, curvature, observed, accuracy)


def _check_sides(mechanism: TwiceDifferentiable, rows: np.ndarray) -> None:
    for row in rows:
        try:
            mechanism.data.parameter_set.check(row)
        except ModelError as error:
            raise ModelError(
                "moments: order=1 also runs the mechanism at means ± σ, to estimate its horizon,"
                f" and there {error}; use order=2, which does not need it, or a smaller tolerance"
            ) from None


def _warn(result: Moments, failed: list[str]) -> None:
    end = result.time[-1]
    if failed:
        warnings.warn(
            f"{result.label}: runs at means ± σ, which estimate the horizon, failed"
            f" ({len(failed)} of them; {failed[0]}); the horizon relies on derivatives at the means"
            " only: compare with monte_carlo(…), or use smaller tolerances",
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
        f"{result.label}: moments of order {result.order} are valid within {result.accuracy:g}"
        f" standard deviations for {listed} only, not up to {end:g} s: ignore later results, or"
        f" use a shorter run, smaller tolerances, {better}or monte_carlo(…)",
        HorizonWarning,
        stacklevel=4,
    )
