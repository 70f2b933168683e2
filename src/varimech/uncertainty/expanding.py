"""Moments of objectives over time: runs at the means of the parameters, with first or second derivatives."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..backends.trajectory import Trajectory
from ..errors import ModelError, check_numbers
from ..integrators.sundials import Sundials
from ..methods import RunOptions, choose
from ..sensitivity.objective import Objective, Objectives, some_objectives
from ..sensitivity.smoothness import check_gradients
from ..solving.task import Task
from ..verbs.hessians import TwiceDifferentiable
from ..verbs.solved import seconds_of
from .expansion import check_second, first_variance, squared_curvature
from .horizon import HorizonWarning, estimated_error
from .moments import Moments
from .spreads import Correlation, Given, Spreads, spreads_of

if TYPE_CHECKING:
    from ..solving.solver import Solver

OUTPUTS = 100
"""Intervals between stored results where steps are chosen and nothing is said."""


@dataclass(frozen=True, eq=False)
class _Expanded:
    """What runs at the means of the parameters tell."""

    path: Trajectory
    slope: np.ndarray
    """Of each objective in the direction in which it varies most, by one standard deviation: (time, objective)."""
    curvature: np.ndarray
    """Likewise."""
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
        raise ModelError(f"moments: accuracy = {accuracy!r} must be a positive number of standard deviations")
    spreads = spreads_of(mechanism.parameters, given, correlation)
    if order == 2:
        check_second(spreads)
    means, options = at_means(spreads, parameters), sparse_output(duration, how)
    found = (_first_order if order == 1 else _second_order)(mechanism, named, spreads, duration, means, options)
    path, seconds = found.path, seconds_of(began, found.ran)
    assert path.gradients is not None
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
        estimated_error(order, path.time, found.slope, found.curvature, float(accuracy)),
        mechanism._run(found.solver, found.task.schedule, path, found.ρ, spreads.indices, seconds),
        seconds,
    )
    _warn(result)
    return result


def at_means(spreads: Spreads, parameters: Mapping[str, float] | None) -> dict[str, float]:
    """Values of the parameters about which to expand: means of those that vary, others as given."""
    for name in parameters or {}:
        if name in spreads.names:
            raise ModelError(
                f"parameters names {name!r}, which has a spread about a mean of its own; give spreads={{{name!r}: …}} to move it, "
                f"or spreads={{{name!r}: None}} to hold it"
            )
    return {**(parameters or {}), **dict(zip(spreads.names, spreads.mean.tolist(), strict=True))}


def sparse_output(duration: float, how: RunOptions) -> RunOptions:
    """The options, with a hundred intervals between stored results where steps are chosen and nothing is said."""
    _, schedule = choose(duration, **how)
    return {**how, "output": duration / OUTPUTS} if schedule.tolerance and how.get("output") is None else how


def _second_order(
    mechanism: TwiceDifferentiable,
    named: Mapping[str, Objective],
    spreads: Spreads,
    duration: float,
    means: Mapping[str, float],
    how: RunOptions,
) -> _Expanded:
    """A run with second derivatives for each parameter that varies."""
    directions = list(np.eye(len(mechanism.parameters))[spreads.indices])
    found, solver, ρ, task, ran = mechanism._second(named, spreads.indices, directions, duration, means, False, how)
    H, C = np.stack([d.gradients_along for d in found], axis=2), spreads.covariance
    H = (H + np.swapaxes(H, -1, -2)) / 2
    slope, curvature = np.sqrt(first_variance(found[0].gradients, C)), np.sqrt(squared_curvature(H, C))
    return _Expanded(found[0].trajectory, slope, curvature, H, solver, task, ρ, ran)


def _first_order(
    mechanism: TwiceDifferentiable,
    named: Mapping[str, Objective],
    spreads: Spreads,
    duration: float,
    means: Mapping[str, float],
    how: RunOptions,
) -> _Expanded:
    """A run with first derivatives; slope and curvature by two more runs for each objective, one standard deviation to either side."""
    way, schedule = choose(duration, **how)
    ρ, solver = mechanism.parts.numbers.values(means), mechanism._solver(way, named)
    check_gradients(solver.equations, named)
    task = Task(schedule, named, spreads.indices, how.get("backend", "auto"), how.get("progress"))
    run, ran = solver.run(task, ρ)
    assert run.gradients is not None
    plain = replace(task, indices=None, progress=False)
    if schedule.tolerance and not isinstance(way.integrator, Sundials):
        plain = replace(plain, schedule=schedule.replayed(run.step_ends))  # choices of steps are no smooth function of parameters
    slope, curvature = np.empty_like(run.objectives), np.empty_like(run.objectives)
    for k, u in enumerate(_directions(run.gradients, spreads)):
        # for one parameter there is one direction, and its runs tell of all objectives
        columns = slice(None) if len(spreads.names) == 1 else slice(k, k + 1)
        rows = spreads.rows(spreads.mean + np.array([u, -u]), ρ)
        _check_sides(mechanism, rows)
        sides = [solver.run(plain, row) for row in rows]
        ran += sum(seconds for _, seconds in sides)
        there, back = (side.objectives for side, _ in sides)
        slope[:, columns] = np.abs(run.gradients[:, columns] @ u)
        curvature[:, columns] = np.abs(there - 2 * run.objectives + back)[:, columns]
        if len(spreads.names) == 1:
            break
    return _Expanded(run, slope, curvature, None, solver, task, ρ, ran)


def _check_sides(mechanism: TwiceDifferentiable, rows: np.ndarray) -> None:
    for row in rows:
        try:
            mechanism.parts.numbers.check(row)
        except ModelError as error:
            raise ModelError(
                f"moments: order=1 runs the mechanism at means ± σ, too, to see how long it holds, and there {error}; "
                "order=2 needs no such runs, or take a smaller spread"
            ) from None


def _directions(g: np.ndarray, spreads: Spreads) -> list[np.ndarray]:
    """For each objective C g/√(g'Cg), when this is largest."""
    σ, found = np.sqrt(first_variance(g, spreads.covariance)), []
    for k in range(g.shape[1]):
        row = int(σ[:, k].argmax())
        found.append(spreads.covariance @ g[row, k] / σ[row, k] if σ[row, k] > 0 else spreads.sigma)
    return found


def _warn(result: Moments) -> None:
    end = result.time[-1]
    short = [(name, t) for name, t in zip(result.objective_names, result.horizons, strict=True) if t < end]
    if not short:
        return
    listed = ", ".join(f"{name!r} up to t = {t:.3g} s" for name, t in short)
    better = "order=2 (for means), " if result.order == 1 else ""
    warnings.warn(
        f"{result.label}: moments of order {result.order} hold to {result.accuracy:g} standard deviations for {listed} only, "
        f"not up to {end:g} s: look at nothing later, or take a shorter run, smaller spreads, {better}or monte_carlo(…)",
        HorizonWarning,
        stacklevel=4,
    )
