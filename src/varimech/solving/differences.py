"""Derivatives of runs by central differences, one sweep of perturbations a parameter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..backends.trajectory import Trajectory
from ..core.errors import VarimechError
from ..core.progress import progress_bar
from ..sensitivity.finite_difference import central_differences
from ..sensitivity.switching import jumps_of
from .solver import Solver
from .task import Task


def run_differences(
    solver: Solver, task: Task, ρ: np.ndarray, relative_steps: tuple[float, ...]
) -> tuple[Trajectory, float, np.ndarray]:
    """A run with derivatives by differences, the seconds that all runs took, and the gradients at
    its end by all perturbations, (perturbation, objective, parameter).
    """
    assert task.indices is not None
    count = len(relative_steps) * len(task.indices)
    plain = replace(task, indices=None, progress=False, runs=2 * count)
    ran = 0.0
    moved = set(task.indices) & set(solver.time_plan.fixed(task.schedule, task.objectives, ρ))
    # their times differ between the runs
    sampled = any(objective.samples for objective in task.objectives.values())
    events = solver.equations.has_events or sampled or jumps_of(solver.equations, task.objectives)
    replayed = solver.method.integrator.traits.given_steps and not moved and not events
    if task.schedule.tolerance and replayed:
        # all runs take the steps of one with derivatives: a choice of steps is no smooth function
        # of the parameters
        first, ran = solver.run(replace(task, method="direct"), ρ)
        plain = replace(plain, schedule=task.schedule.replayed(first.step_ends))
    trajectory, seconds = solver.run(plain, ρ)
    ran += seconds
    errors: list[VarimechError] = []

    def outcome(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        nonlocal ran
        try:
            other, seconds = solver.run(plain, values)
        except VarimechError as error:  # one perturbation may fail where others do not
            errors.append(error)
            return np.full_like(trajectory.objectives, np.nan), np.full_like(
                trajectory.states, np.nan
            )
        ran += seconds
        return other.objectives, other.states

    with progress_bar(f"{solver.model.name}: differences", count, task.progress) as tell:
        found = central_differences(outcome, ρ, task.indices, relative_steps, tell)
    if (
        not np.isfinite(found.gradient_history[-1]).all()
        or not np.isfinite(found.sensitivities).all()
    ):
        raise errors[0] if errors else VarimechError("differences are not finite")
    whole = replace(trajectory, sensitivities=found.sensitivities, gradients=found.gradient_history)
    return whole, ran, found.gradients[:, -1]
