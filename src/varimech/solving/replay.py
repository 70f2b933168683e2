"""Repetition of a run over the steps that it took, for results that it did not store.

A gradient at the end of a run needs no states between the steps. Each stored state takes an
evaluation of the equations of motion with all derivatives, and a default run has 500; so they are
left to a second run, which takes the same steps to the same end, bit by bit, when results are
requested.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..backends.trajectory import Trajectory
from ..core.lazy import lazy
from ..core.schedule import Schedule
from .solver import Solver
from .task import Task


class StepReplay:
    """Results at the output times of a completed run, with and without derivatives."""

    def __init__(self, solver: Solver, task: Task, ρ: np.ndarray, computed: Trajectory):
        """Keep the run's task and its stored results."""
        self._solver, self._task, self._ρ, self._computed = solver, task, ρ, computed

    @property
    def time(self) -> np.ndarray:
        """Output times (s)."""
        return self._schedule.stored_times

    @lazy
    def motion(self) -> Trajectory:
        """States and objectives at the output times."""
        if not self._task.schedule.at_steps:
            return self._computed
        return self.derivatives if self._task.method == "direct" else self._run(None)

    @lazy
    def derivatives(self) -> Trajectory:
        """States and objectives at the output times with their derivatives, by direct
        differentiation.
        """
        return self._run(self._task.indices)

    def _run(self, indices: list[int] | None) -> Trajectory:
        again = replace(self._task, schedule=self._schedule, indices=indices, repeated=True)
        return self._solver.run(replace(again, method="direct"), self._ρ)[0]

    @lazy
    def _schedule(self) -> Schedule:
        """The output times over the same steps; equal steps need no change."""
        schedule, ends = self._task.schedule, self._computed.step_ends
        if schedule.outputs is None:
            return schedule
        return schedule.until(float(ends[-1])).replayed(ends, self._computed.triggers)
