"""Derivatives across an event of an interpreted run (saltation). events.c does the same, and
`events` has the equations.
"""

from __future__ import annotations

import numpy as np

from .chain_calls import ChainCalls
from .modes import ModalUnits
from .motion import Motion
from .workspace import Workspace


class EventDerivatives:
    """Derivatives of the time of an event (t*', `shift`), and of the state after the event."""

    def __init__(
        self, workspace: Workspace, units: ModalUnits, impact: ChainCalls | None, motion: Motion
    ):
        self._workspace, self._units = workspace, units
        self._impact, self._motion = impact, motion
        self.shift = np.zeros(workspace.directions)

    def watched_rate(self, time: float, state: np.ndarray, function: int) -> float:
        """Return the rate of a watched function along the motion, and evaluate its gradients."""
        self._units.differentiate(time, state)
        program, gradients = self._workspace.program, self._units.gradients[0][function]
        n = program.coordinates
        whole_state = bool(gradients[2 * n :].any())
        if whole_state and not (program.along_time and self._workspace.directions):
            return np.nan
        motion = self._motion.at(state) if whole_state else np.append(state[n : 3 * n], np.zeros(n))
        count = state.size if whole_state else 2 * n
        return float(self._units.gradients[3][function, 0] + gradients[:count] @ motion[:count])

    def shift_event(self, function: int, rate: float, S: np.ndarray) -> None:
        """Compute the derivatives of the time at which a watched function vanishes; zero if there
        is none.
        """
        p, gradients = self._workspace.directions, self._units.gradients
        self.shift = np.zeros(p)
        if function >= 0 and p:
            along = gradients[1][function] + gradients[0][function] @ S[:, :p]
            self.shift = -along / rate

    @property
    def moved(self) -> float:
        """Largest displacement of the event by a relative change of a parameter, as a share of the
        run.
        """
        w = self._workspace
        if not w.directions:
            return 0.0
        floors = w.inputs.sensitivity_floors
        some = floors > 0
        shares = np.abs(self.shift[some]) / (floors[some] * w.schedule.duration)
        return float(shares.max(initial=0.0))

    def differentiate(
        self, before: np.ndarray, z: np.ndarray, integrands: np.ndarray, *, impacts: bool
    ) -> None:
        """Compute the derivatives of the state after an event, which is the first stage, from those
        before.

        Args:
            before: state before the event.
            z: state after its impact.
            integrands: integrands before the event.
            impacts: whether there is an impact.
        """
        w, shift = self._workspace, self.shift
        n, p = w.program.coordinates, w.directions
        S, after = w.X_[0], w.X[0].copy()
        w.Y_[:] = S[: 2 * n]
        w.Y_[:, :p] += np.outer(before[n : 3 * n], shift)
        if impacts:
            self._pass_impact(before)
        w.Y[:] = z[: 2 * n]
        w.Y_[:, :p] -= np.outer(after[n : 3 * n], shift)
        w.ψ_ += np.outer(integrands - w.G[0], shift)
        w.rates.solve()
        w.new[:] = after
        w.keep(0)

    def _pass_impact(self, before: np.ndarray) -> None:
        """Compute derivatives of positions and velocities across an impact whose time moves."""
        w, along_time = self._workspace, self._workspace.program.along_time
        assert self._impact is not None
        w.Y[:] = before[: w.Y.size]
        if along_time:
            w.seeds[-1, : w.directions] = self.shift
        self._impact.solve()
        if along_time:
            w.seeds[-1] = 0.0
        w.Y_[:] = w.new_[: w.Y.size]

    def end_run(self) -> None:
        """Compute derivatives of the state and the integrals at the time of an event that ends the
        run.
        """
        w = self._workspace
        if w.directions:
            motion = self._motion.at(w.X[0])
            w.X_[0][:, : w.directions] += np.outer(motion, self.shift)
            w.ψ_ += np.outer(w.G[0], self.shift)
        w.restore()
