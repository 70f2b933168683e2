"""Samples at the events of an interpreted run; events.c does the same (vm_take_samples), and
`samples` has the equations.
"""

from __future__ import annotations

import numpy as np

from .chain_calls import AttemptFailure
from .events import CHANGED, NUDGE
from .motion import Motion
from .samples import Samples
from .workspace import Workspace


class SampleEvents:
    """Takes the samples of a run at its events."""

    def __init__(self, workspace: Workspace, samples: Samples, motion: Motion):
        self._workspace, self._samples, self._motion = workspace, samples, motion

    def take(self, time: float, trigger: int, place: int, shift: np.ndarray | None) -> None:
        """Take the samples that are due at the beginning of a step; `shift` has the derivatives of
        the time of the event if parameters move it.
        """
        w, samples = self._workspace, self._samples
        state, S = w.X[0], w.X_[0][:, : w.directions]
        values, motion, known = samples.at(time, state), None, False
        for k in range(samples.count):
            if not samples.due(k, float(values[k]), trigger):
                continue
            samples.values[k], samples.places[k] = values[k], place
            if not w.directions:
                continue
            if not known:
                motion = None if shift is None else self._motion.at(state)
                samples.differentiate(time, state)
                known = True
            samples.gradient[k] = samples.derivative(k, S)
            if motion is not None and shift is not None:
                samples.gradient[k] += samples.rate(k, motion) * shift

    def rate(self, time: float, state: np.ndarray, k: int) -> float:
        """Return the rate of a sampled function along the motion, by a central difference."""
        w = self._workspace
        n, short = w.program.coordinates, NUDGE * w.schedule.duration
        q, v, a = state[:n].copy(), state[n : 2 * n].copy(), state[2 * n : 3 * n].copy()
        kept, values = (w.new.copy(), w.new_.copy(), float(w.time[0])), []
        residuals = w.rates.residuals.copy()  # those of the step, if it ends with the same chain
        for dt in (-short, short):
            w.time[0] = time + dt
            w.Y[:] = np.concatenate([q + dt * (v + dt / 2 * a), v + dt * a])
            try:
                w.rates.solve()
            except AttemptFailure:
                values.append(np.nan)
                continue
            values.append(float(self._samples.at(time + dt, w.new)[k]))
        w.new[:], w.new_[:], w.time[0] = kept
        w.rates.residuals[:] = residuals
        change = values[1] - values[0]
        size = abs(values[0]) + abs(values[1])
        return 0.0 if abs(change) <= CHANGED * size else change / (2 * short)
