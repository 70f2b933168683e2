"""Objectives and their first derivatives with respect to parameters."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Unpack

import numpy as np

from ..backends.trajectory import BrokenOff, Trajectory
from ..certification.certify import certify
from ..core.caller_warnings import warn_caller
from ..core.errors import ModelError, unknown_name
from ..core.messages import Message
from ..results.event_smoothness import EventWarning, rough_events, sticking_limits
from ..results.gradient import Gradient
from ..schemes import Method, RunOptions
from ..sensitivity.objective import Objective
from ..sensitivity.smoothness import check_gradients
from ..sensitivity.stability_objective import StabilityObjective
from ..solving.task import Task
from .motion import interrupted
from .simulation import Simulation
from .solvers import Labels, Wrt, checked_bytes, seconds_of

if TYPE_CHECKING:
    import xarray as xr

    from ..core.schedule import Schedule
    from ..solving.solver import Solver

ADJOINT_PAYS, ADJOINT_PAYS_IN_THREADS, ADJOINT_PAYS_IN_VECTORS = 8, 14, 40
"""Number of parameters for each objective above which an adjoint is faster: for assembled and
recursive programs; for unrolled programs on a GPU, where one thread computes all columns of a run;
and for unrolled programs whose columns are computed side by side, in vectors of the CPU or, for
equal steps of explicit integrators, by separate threads on a GPU. Measured:
docs/decisions/2026-11-derivatives.md and 2026-11-execution.md.
"""
MOST_WARNINGS = 3
"""Largest number of events without derivatives that are named in warnings."""
REPLAYED = ("direct", "adjoint")
"""Methods that leave results between steps to a second run over the same steps."""
METHODS = ("auto", "direct", "adjoint", "composite", "finite-difference", "complex-step")


def gradient(
    s: Simulation,
    objectives: Mapping[str, Objective],
    indices: list[int],
    method: str,
    relative_steps: Sequence[float],
    memory: float,
    *,
    over_time: bool = False,
) -> Gradient:
    """Run the simulation with derivatives with respect to the parameters at `indices`.

    Args:
        s: the simulation to run.
        objectives: the objectives to differentiate.
        indices: parameters to differentiate for, by position.
        method: derivative method.
        relative_steps: perturbations of finite differences.
        memory: memory that an adjoint may use for its records (MB).
        over_time: whether to compute results at all output times at once; otherwise the direct and
            adjoint methods compute them on demand (`StepReplay`).

    Raises:
        Interrupted: on Ctrl-C with method="direct"; its `result` is the gradient of the motion up
            to then. Other methods have no partial results and raise a plain KeyboardInterrupt.
    """
    began = time.perf_counter()
    check_method(method, s.scheme, len(objectives))
    solver = s.solver(objectives)
    if method == "auto":
        method = faster_method(solver, len(objectives), len(indices))
    perturbations, most = _perturbations(relative_steps), checked_bytes("sensitivity", memory)
    replayed = method in REPLAYED and s.scheme.integrator.coefficients is not None
    schedule = s.schedule.stored_at_steps() if replayed and not over_time else s.schedule
    task = Task(schedule, objectives, indices, s.backend, s.progress, method, most)
    if method != "finite-difference":
        check_gradients(solver.equations, objectives)
    labels = s.solvers.labels(objectives, indices)

    def repeat(
        *,
        wrt: Wrt = None,
        method: str = method,
        relative_steps: Sequence[float] = relative_steps,
        memory: float = memory,
        **options: Unpack[RunOptions],
    ) -> Gradient:
        chosen = indices if wrt is None else s.solvers.indices(wrt)
        again = s.with_options(**options)
        return gradient(again, objectives, chosen, method, relative_steps, memory)

    def result(trajectory: Trajectory, ran: float, sweep: np.ndarray | None) -> Gradient:
        assert trajectory.gradients is not None
        seconds = seconds_of(began, ran)
        replay = None
        if schedule.at_steps or method == "adjoint":
            from ..solving.replay import StepReplay  # imported late: it loads the solver

            replay = StepReplay(solver, task, s.ρ, trajectory)
        run = s.solvers.run(solver, s.schedule, trajectory, s.ρ, indices, seconds, replay)
        return Gradient(
            *labels,
            method,
            run,
            seconds,
            trajectory.objectives[-1],
            trajectory.gradients[-1],
            None if sweep is None else _labelled(sweep, perturbations, labels),
            repeat,
            objectives,
            certify,
        )

    try:
        return result(*_executed(solver, task, s.ρ, perturbations))
    except BrokenOff as stopped:
        if method != "direct":  # other methods have no derivatives before their end
            raise KeyboardInterrupt from None
        raise interrupted(
            s, stopped, lambda partial, ran: replace(result(partial, ran, None), repeat=None)
        ) from None


def with_small_motions(
    of_run: Gradient,
    objectives: Mapping[str, StabilityObjective],
    values: np.ndarray,
    derivatives: np.ndarray,
) -> Gradient:
    """Append objectives of small motions to the gradient of a run."""
    return replace(
        of_run,
        objective_names=(*of_run.objective_names, *objectives),
        units=(*of_run.units, *(o.unit for o in objectives.values())),
        final_values=np.concatenate([of_run.final_values, values]),
        final_gradient=np.concatenate([of_run.final_gradient, derivatives]),
        repeat=None,
        small_motions=tuple(objectives),
    )


def _executed(
    solver: Solver, task: Task, ρ: np.ndarray, perturbations: tuple[float, ...]
) -> tuple[Trajectory, float, np.ndarray | None]:
    """Execute a run with derivatives; return the trajectory, its run time in seconds, and the sweep
    of differences for that method.
    """
    if task.method == "finite-difference":
        from ..solving.differences import run_differences  # imported late: it loads the solver

        return run_differences(solver, task, ρ, perturbations)
    from ..solving.kinks import check_kinks

    trajectory, seconds = (
        solver.run_composite(task, ρ) if task.method == "composite" else solver.run(task, ρ)
    )
    check_kinks(solver, task, ρ, trajectory)
    rough = rough_events(solver.equations, trajectory)
    rough += sticking_limits(solver.equations, trajectory, trajectory, ρ)
    for event in rough[:MOST_WARNINGS]:
        warn_caller(EventWarning(f"{solver.model.name!r}: {event}"))
    return trajectory, seconds, None


def faster_method(
    solver: Solver, objectives: int, parameters: int, *, on_gpu: Schedule | None = None
) -> str:
    """Choose the faster one of the direct and the adjoint method.

    Args:
        solver: solver of the mechanism with its scheme.
        objectives: number of objectives.
        parameters: number of parameters.
        on_gpu: steps of runs that a GPU executes; None on the CPU.
    """
    integrator = solver.method.integrator
    if solver.programs.large:
        pays = ADJOINT_PAYS
    elif on_gpu is None or (on_gpu.step > 0 and integrator.coefficients is not None):
        pays = ADJOINT_PAYS_IN_VECTORS
    else:
        pays = ADJOINT_PAYS_IN_THREADS
    adjoint_can = objectives > 0 and integrator.traits.adjoint
    return "adjoint" if adjoint_can and parameters > pays * objectives else "direct"


def check_method(method: str, scheme: Method, objectives: int) -> None:
    """Refuse unknown methods, and adjoints where the integrator or the objectives allow none."""
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    if method == "adjoint" and not objectives:
        problem = "method 'adjoint' differentiates objectives, and there are none"
        raise ModelError(
            problem, remedy=Message("outputs over time need {method}", method="direct")
        )
    if method == "adjoint" and not scheme.integrator.traits.adjoint:
        raise ModelError(
            "method 'adjoint' is the adjoint of the steps taken, which"
            f" {scheme.integrator.title} does not report",
            remedy=Message("use {method}, or another integrator", method="direct"),
        )


def _perturbations(steps: object) -> tuple[float, ...]:
    """Return the checked relative perturbations of a sweep."""
    perturbations = (
        list(steps)
        if isinstance(steps, (Sequence, np.ndarray)) and not isinstance(steps, str)
        else []
    )
    if not perturbations or not all(isinstance(h, Real) and float(h) > 0 for h in perturbations):
        raise ModelError(
            "must be one or more positive numbers, such as (1e-4, 1e-6)",
            field="relative_steps",
            value=steps,
        )
    return tuple(float(h) for h in perturbations)


def _labelled(sweep: np.ndarray, perturbations: tuple[float, ...], labels: Labels) -> xr.DataArray:
    import xarray as xr

    coords = {
        "relative_step": list(perturbations),
        "objective": list(labels[0]),
        "parameter": list(labels[2]),
    }
    return xr.DataArray(sweep, coords=coords, dims=list(coords))
