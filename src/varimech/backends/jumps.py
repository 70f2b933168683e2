"""Steps of an interpreted run across jumps of forces and integrands: whether a step may be taken,
and the contribution of a jump to derivatives. switching.c does the same, operation by operation;
`switching` has the functions and the constants.

A step across a jump ends with the derivatives of the other side: velocities gain (a⁻ − a⁺) t',
integrals (g⁻ − g⁺) t', where t' is the derivative of the time of the jump.
"""

from __future__ import annotations

import numpy as np

from .switching import Switches, ahead, integrands_jump, is_short, jumps
from .workspace import Workspace


class Jumps:
    """Jumps along a run."""

    def __init__(self, workspace: Workspace, switches: Switches):
        self._workspace, self._switches = workspace, switches
        self._velocity_scale = 0.0
        self._integrand_scales = np.zeros(workspace.program.objective_count)

    def lie_ahead(self, begin: float, h: float, end: float, *, bridge: bool) -> bool:
        """Return whether a step has to end before a jump."""
        w, switches = self._workspace, self._switches
        across = switches.is_across(h)
        looks = w.watches and not across
        peeks = looks and self._peeks(begin, h, end)
        switches.after = switches.at(end, w.X[w.last])
        crossing = switches.changed.size > 0
        beyond = crossing or peeks or (looks and switches.hidden(h) > 0)
        return beyond and not (crossing and across) and not bridge and w.chooses

    def are_crossed(self, h: float) -> bool:
        """Return whether a step passes a jump."""
        return self._switches.changed.size > 0 and self._switches.is_across(h)

    def _peeks(self, begin: float, h: float, end: float) -> bool:
        """Return whether a stage of an explicit step of given length lies beyond a change of sides,
        which no error estimate would see.

        For an implicit step, check the positions and velocities that its initial accelerations lead
        to: if its end has not changed sides, the accelerations there may already be those beyond.
        """
        w, changes_at = self._workspace, self._switches.changes_at
        if w.scheme is None:
            n, state = w.program.coordinates, w.X[0].copy()
            if is_short(w.program, h, w.schedule):
                return False
            state[: 2 * n] = ahead(state, n, h)
            return changes_at(end, state)
        t = w.scheme.tables
        return any(changes_at(min(begin + t.c[k] * h, end), w.X[k]) for k in range(1, t.stages))

    def pass_step(self, begin: float, h: float, end: float) -> int:
        """Pass the jump that an accepted step crosses. Return the number of its switch, negative if
        nothing jumps, or 0 if the step crosses none.

        Raises:
            AttemptFailure: if the accelerations beyond the jump have no solution.
        """
        switches, crossed = self._switches, 0
        if self.are_crossed(h):
            changed, jump = switches.changed, self._is_jump()
            first = int((switches.moving if switches.moving.size else changed)[0])
            crossed = (1 if jump else -1) * (first + 1)
            if self._workspace.directions and jump:
                self._differentiate(begin, end)
        switches.before = switches.after
        return crossed

    def _is_jump(self) -> bool:
        """Return whether accelerations or integrands jump, and not only their derivatives."""
        w, switches = self._workspace, self._switches
        n, k = w.program.coordinates, w.last
        speed, scales = self._velocity_scale, self._integrand_scales
        if w.schedule.tolerance:
            speed, scales = w.explicit.velocity_scale, w.explicit.integrand_scales
        a, b = w.X[0, 2 * n : 3 * n], w.X[k, 2 * n : 3 * n]
        return jumps(a, b, speed / w.schedule.duration) or bool(
            switches.changed[-1] >= switches.of_forces and integrands_jump(w.G[0], w.G[k], scales)
        )

    def _differentiate(self, begin: float, end: float) -> None:
        """Compute the derivatives at the end of a step across a jump."""
        w, switches = self._workspace, self._switches
        n, k = w.program.coordinates, w.last
        switches.differentiate(begin, w.X[0])
        shifts = switches.shifts(w.X_[0, :, : w.directions])
        height = w.X[0, 2 * n : 3 * n] - w.X[k, 2 * n : 3 * n]
        w.X_[k, n : 2 * n, : w.directions] += np.outer(height, shifts)
        w.ψ_ += np.outer(w.G[0] - w.G[k], shifts)
        w.time[0], w.Y[:], w.Y_[:] = end, w.X[k, : 2 * n], w.X_[k, : 2 * n]
        kept = w.X[k].copy()
        w.rates.solve()
        w.new[:] = kept
        w.keep(k)

    def raise_scales(self) -> None:
        """Raise the scales of runs with given steps to the state at the beginning of a step."""
        w, n = self._workspace, self._workspace.program.coordinates
        speed = float(np.abs(w.X[0, n : 2 * n]).max(initial=0.0))
        self._velocity_scale = max(self._velocity_scale, speed)
        np.maximum(self._integrand_scales, np.abs(w.G[0]), out=self._integrand_scales)
