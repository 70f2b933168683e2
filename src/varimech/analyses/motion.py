"""Simulation of one motion from t = 0."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ..backends.trajectory import BrokenOff, Trajectory
from ..core.errors import Interrupted
from ..results.run import Run
from ..solving.task import Task
from .simulation import Simulation
from .solvers import seconds_of


def simulate(s: Simulation) -> Run:
    """Execute the simulation.

    Raises:
        AssemblyError: if the mechanism cannot be assembled in its initial position.
        SimulationError: if a step fails.
        Interrupted: on Ctrl-C; its `result` is the run up to then.
    """
    began = time.perf_counter()
    solver = s.solver()

    def result(trajectory: Trajectory, ran: float) -> Run:
        seconds = seconds_of(began, ran)
        return s.solvers.run(solver, s.schedule, trajectory, s.ρ, [], seconds)

    try:
        return result(*solver.run(Task(s.schedule, {}, None, s.backend, s.progress), s.ρ))
    except BrokenOff as stopped:
        raise interrupted(s, stopped, result) from None


def interrupted(
    s: Simulation, stopped: BrokenOff, result: Callable[[Trajectory, float], Any]
) -> Interrupted:
    """Build the error of Ctrl-C, with the partial result of the run."""
    partial, last = (
        result(stopped.trajectory, stopped.seconds),
        float(stopped.trajectory.time[-1]),
    )
    (partial if isinstance(partial, Run) else partial.run).info["stopped"] = {
        "time": last,
        "duration": s.schedule.duration,
    }
    return Interrupted(
        f"{s.name!r}: stopped at t = {last:.6g} s of {s.schedule.duration:g} s; what was"
        " stored up to then is the `result` of this interrupt",
        partial,
    )
