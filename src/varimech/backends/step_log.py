"""Log of the steps and events of an interpreted run."""

from __future__ import annotations

import numpy as np

from .events import NOTED
from .inputs import Inputs
from .program import Program
from .records import Records
from .units import Units


class StepLog:
    """Ends of steps, and the events there; see `Trajectory`."""

    def __init__(self, program: Program, inputs: Inputs, units: Units | None):
        self._units = units
        self.done, self.time = 0, 0.0
        """Number of steps and events, and the end of the last one."""
        self.ends, self.crossed = [0.0], [0]
        self.triggers, self.notes = [0.0], [np.zeros(NOTED)]
        self.modes = [] if units is None else [units.modes.copy()]
        self.rejected = 0
        self.stopped = False
        """Whether an event has ended the run."""
        self.residuals = np.zeros(3)
        """Largest residuals so far at position, velocity and acceleration level."""
        self.records = Records(program, inputs) if program.adjoint else None

    def keep_largest(self, residuals: np.ndarray) -> None:
        """Update the largest residuals."""
        np.maximum(self.residuals, residuals, out=self.residuals)

    def add_step(self, end: float, crossed: int = 0) -> None:
        """Add a step, with the switch that it has passed."""
        self.done, self.time = self.done + 1, end
        self.ends.append(end)
        self.crossed.append(crossed)
        if self._units is not None:
            self.triggers.append(0.0)
            self.notes.append(np.zeros(NOTED))
            self.modes.append(self._units.modes.copy())

    def add_event(self, time: float, trigger: int, note: np.ndarray) -> None:
        """Add an event, with its row of notes."""
        self.add_step(time)
        self.triggers[-1], self.notes[-1] = -1.0 if trigger < 0 else trigger + 1.0, note
