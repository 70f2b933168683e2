"""Results of a run of a program."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Trajectory:
    """States at stored times, objectives up to those times, and the log of the run."""

    time: np.ndarray
    states: np.ndarray
    """(time, state)"""
    objectives: np.ndarray
    """(time, objective): the integral so far plus the final term as if the run ended there."""
    residuals: np.ndarray
    """Largest constraint residuals over the run: position, velocity, acceleration."""
    iterations: int
    step_ends: np.ndarray
    """Times between steps, from 0 on."""
    rejected: int = 0
    """Number of attempted steps that were too long."""
    selections: int = 0
    """Number of selections of independent coordinates."""
    steps: int | None = None
    """Number of steps if their ends are not known; `step_ends` then has the times of the stored
    results.
    """
    sensitivities: np.ndarray | None = None
    """(time, state, parameter)"""
    gradients: np.ndarray | None = None
    """(time, objective, parameter); for an adjoint program with all parameters, and only at the
    end, else NaN.
    """

    crossed: np.ndarray | None = None
    """For each step end, the switch whose side the step has changed, from 1 on, negative if nothing
    jumps, or 0; None without switches.
    """
    triggers: np.ndarray | None = None
    """For each step end, the contact or friction whose mode ends there, from 1 on, −1 if a run
    begins with an event, or 0; None without units.
    """
    notes: np.ndarray | None = None
    """(step end, …): for each event the speed before and after it, its impulse, the rate of the
    function that vanishes there, the largest displacement of the event by a relative change of a
    parameter (as a share of the run), the number of contacts that close at the same time, the
    number of that function (−1 if none moves the event), 1 for an impact or reset and 2 for the end
    of the run, and the mode that follows, or whether a stated event occurs in its direction.
    """
    modes: np.ndarray | None = None
    """(step end, mode): modes after each event."""
    sample_values: np.ndarray | None = None
    """Values of objectives at events, and extrema so far, without the end of the run; None without
    samples.
    """
    sample_places: np.ndarray | None = None
    """Places where they were taken: −1 at the start; else twice the number of the step end of the
    event, plus 1 after it.
    """
    execution: dict[str, Any] = field(default_factory=lambda: {"by": "interpreter"})
    """The code that executed the run, and the background build that was in progress at its end:
    elapsed and estimated seconds.
    """

    @property
    def sampled(self) -> tuple[np.ndarray, np.ndarray]:
        """States at the first, the middle and the last stored time, and these times."""
        rows = sorted({0, self.time.size // 2, self.time.size - 1})
        return self.states[rows], self.time[rows]

    def beginning(self, rows: int) -> Trajectory:
        """Return the first stored results, with the steps that lead to them."""
        steps = 1 + int(np.searchsorted(self.step_ends, self.time[rows - 1]))
        kept = self.at_rows(np.arange(rows))
        triggers, notes, modes = (
            None if x is None else x[:steps] for x in (self.triggers, self.notes, self.modes)
        )
        ends = self.step_ends[:steps]
        return replace(kept, step_ends=ends, triggers=triggers, notes=notes, modes=modes)

    def parameters_at(self, time: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """Return parameters with the modes at some times as last entries: (time, parameter). At the
        time of an event itself, modes are those before it, except at the start.
        """
        rows = np.tile(parameters, (time.size, 1))
        if self.modes is None or self.triggers is None or not self.modes.shape[1]:
            return rows
        events = np.flatnonzero(self.triggers)
        last = np.searchsorted(self.step_ends[events], time) - 1
        if events.size and self.triggers[events[0]] < 0:
            last = np.maximum(last, 0)
        rows[last >= 0, -self.modes.shape[1] :] = self.modes[events[last[last >= 0]]]
        return rows

    def at_rows(self, rows: np.ndarray) -> Trajectory:
        """Return the same run with some of its stored results only."""
        return replace(
            self,
            time=self.time[rows],
            states=self.states[rows],
            objectives=self.objectives[rows],
            sensitivities=None if self.sensitivities is None else self.sensitivities[rows],
            gradients=None if self.gradients is None else self.gradients[rows],
        )


class BrokenOff(KeyboardInterrupt):
    """Ctrl-C interrupted a run after some results were stored."""

    def __init__(self, trajectory: Trajectory, seconds: float = 0.0):
        super().__init__(f"t = {trajectory.time[-1]:g} s")
        self.trajectory = trajectory
        """Results up to the last stored one."""
        self.seconds = seconds
        """Time that the run took (s)."""


def broken_off(trajectory: Trajectory, rows: int) -> KeyboardInterrupt:
    """Create the interrupt for a run that has stored this number of results; for the start alone, a
    plain one.
    """
    return BrokenOff(trajectory.beginning(rows)) if rows > 1 else KeyboardInterrupt()
