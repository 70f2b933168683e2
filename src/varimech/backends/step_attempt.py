"""Attempts at steps of an interpreted run: the state at the end, jumps ahead, and the error.
driver.c does the same (vm_try).
"""

from __future__ import annotations

from .chain_calls import AttemptFailure
from .explicit import SHORTEST
from .failures import NO_CONVERGENCE, UNDERFLOW, Amplified
from .jumps import Jumps
from .switching import ahead, is_short
from .workspace import Workspace


class StepAttempts:
    """Attempts at steps from the state at the first stage to the last stage."""

    def __init__(self, workspace: Workspace, jumps: Jumps | None):
        self._workspace, self._jumps = workspace, jumps

    def attempt(self, begin: float, h: float, end: float, *, bridge: bool) -> float | None:
        """Attempt a step. Return its error over the allowed one, 0 if that is not known, or None if
        a jump lies ahead.

        Raises:
            AttemptFailure: if it is too short, or has no solution.
            Amplified: if constraints yield.
        """
        w = self._workspace
        if w.chooses and not bridge and not h > SHORTEST * w.schedule.duration:
            raise AttemptFailure(UNDERFLOW)
        self._move(begin, h, end)
        if self._jumps is not None and self._jumps.lie_ahead(begin, h, end, bridge=bridge):
            return None
        return self._judge(h, bridge=bridge)

    def _move(self, begin: float, h: float, end: float) -> None:
        """Compute state and integrands at the stages and the end of a step."""
        w = self._workspace
        w.solved = []
        if w.scheme is not None:
            t = w.scheme.tables
            for k in range(1, t.stages):
                w.evaluate(w.rates, min(begin + t.c[k] * h, end), h, t.a[k])
                w.keep(k)
            w.evaluate(w.finish, end, h, t.b)
        elif is_short(w.program, h, w.schedule):
            n = w.program.coordinates
            w.time[0], w.Y[:], w.Y_[:] = end, ahead(w.X[0], n, h), ahead(w.X_[0], n, h)
            w.solve(w.rates)
        else:
            w.step[0], w.time[0] = h, end
            w.solve(w.finish)
        w.keep(w.last)

    def _judge(self, h: float, *, bridge: bool) -> float:
        """Return the error over the allowed one of a step that no jump prevents."""
        w, program = self._workspace, self._workspace.program
        residuals, error = w.finish.residuals, 0.0
        if w.schedule.tolerance:
            projects = program.rates is not None or program.jacobian is not None
            if projects and w.explicit.projections_failed(residuals):
                raise AttemptFailure(NO_CONVERGENCE)
            if not bridge and not (self._jumps is not None and self._jumps.are_crossed(h)):
                error = w.explicit.error(w.stages, h)
        if error <= 1 and program.sharp and w.explicit.amplified(w.X, residuals):
            raise Amplified
        return error
