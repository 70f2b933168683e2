"""Stored results of an interpreted run: at ends of steps, and between them by dense output.
driver.c does the same (vm_store).
"""

from __future__ import annotations

import numpy as np

from .bound import evaluated
from .explicit import added
from .samples import Samples
from .workspace import Workspace


class Outputs:
    """Rows of results at output times."""

    def __init__(self, workspace: Workspace, samples: Samples | None):
        self._workspace, self._samples = workspace, samples
        w = workspace
        n, o, p = w.program.state_size, w.program.objective_count, w.directions
        rows = w.schedule.stored_count
        self.times, self.states = np.zeros(rows), np.zeros((rows, n))
        self.objectives = np.zeros((rows, o))
        self.sensitivities, self.gradients = np.zeros((rows, n, p)), np.zeros((rows, o, p))
        self.stored, self._passed = 0, 1

    def is_due(self, time: float, number: int) -> bool:
        """Return whether the end of a step is stored; `number` is that of the given step, if steps
        are given.
        """
        w, s = self._workspace, self._workspace.schedule
        if w.watches and time != w.given_end(number):
            return False
        if s.outputs is None:
            return number % s.every == 0 or number == s.steps
        if not s.at_steps:
            return bool(time == s.outputs[self.stored])
        due = bool(s.outputs[self._passed] <= time)
        self._passed = int(np.searchsorted(s.outputs[:-1], time, side="right"))
        return due

    def store(self, time: float, ψ: np.ndarray, ψ_: np.ndarray, *, stopped: bool = False) -> None:
        """Store the new state with the integrals at this time; `stopped` if an event has ended the
        run.
        """
        w, k = self._workspace, self.stored
        w.finals()
        self.times[k], self.states[k], self.objectives[k] = time, w.new, w.value + ψ
        self.sensitivities[k], self.gradients[k] = w.new_[:, : w.directions], w.derivative + ψ_
        if self._samples is not None:
            early = time < w.schedule.duration and not stopped
            self._add_samples(self._samples, time, k, early=early)
        self.stored = k + 1  # only now: Ctrl-C may come before

    def _add_samples(self, samples: Samples, time: float, row: int, *, early: bool) -> None:
        """Add samples to the objectives at a stored state, which may be an extremum itself."""
        w = self._workspace
        values, gradient = samples.values.copy(), samples.gradient.copy()
        present = samples.at(time, w.new)
        if early:  # samples without an event so far
            values[np.isnan(values)] = 0.0
        for k in range(samples.count):
            if samples.exceeds(k, float(present[k])):
                values[k] = present[k]
                if w.directions:
                    samples.differentiate(time, w.new)
                    gradient[k] = samples.derivative(k, w.new_[:, : w.directions])
        for i, factors in enumerate(samples.factors):
            for k in np.flatnonzero(factors).tolist():
                self.objectives[row, i] += factors[k] * values[k]
                self.gradients[row, i] += factors[k] * gradient[k]

    def store_within(self, begin: float, h: float, end: float) -> None:
        """Store dense output at all output times before the end of an explicit step.

        Raises:
            AttemptFailure: if a further stage has no solution.
        """
        w = self._workspace
        outputs, t = w.schedule.outputs, w.explicit.tables
        assert outputs is not None
        first = True
        while outputs[self.stored] < end:
            time = float(outputs[self.stored])
            for k in range(t.extra if first else 0):
                stage = t.stages + 1 + k
                w.evaluate(w.rates, min(begin + t.more_c[k] * h, end), h, t.more[k][:stage])
                w.keep(stage)
            first = False
            weights = w.explicit.dense_weights((time - begin) / h)
            w.evaluate(w.finish, time, h, weights)
            self.store(time, w.ψ + added(w.G, h, weights), w.ψ_ + added(w.G_, h, weights))

    def store_again(self, time: float) -> None:
        """Store the initial state again, after the events there."""
        w = self._workspace
        w.restore()
        self.stored = 0
        self.store(time, w.ψ, w.ψ_)

    def store_stop(self, time: float, shift: np.ndarray) -> None:
        """Store the state at which an event has ended the run. It replaces the state at the end of
        the last step, if that was stored. `shift` has the derivatives of the time of the event.
        """
        w = self._workspace
        if self.stored and self.times[self.stored - 1] == time:
            self.stored -= 1
        k, w.time[0] = self.stored, time
        w.restore()
        self.store(time, w.ψ, w.ψ_, stopped=True)
        final_time = w.program.objectives.final_time
        if w.directions and final_time is not None:
            rate = evaluated(final_time, w.X[0], w.parameters, w.time)[0]
            self.gradients[k] += np.outer(rate, shift)
