"""Step lengths of an interpreted run: given ones, which events and jumps may divide, or those that
the error of the last step allows. driver.c does the same (vm_next_step).
"""

from __future__ import annotations

from .chain_calls import AttemptFailure
from .events import NEVER, NONE
from .explicit import BRIDGE, PROGRESS, TRIES
from .failures import NO_CONVERGENCE, NOT_FINITE, STALLED, UNDERFLOW
from .step_log import StepLog
from .switching import PATIENCE, Switches, is_short
from .units import Units
from .workspace import Workspace


class StepLengths:
    """Proposes the next step of a run from the outcomes of the steps before."""

    def __init__(
        self, workspace: Workspace, log: StepLog, units: Units | None, switches: Switches | None
    ):
        self._workspace, self._schedule, self._log = workspace, workspace.schedule, log
        self._units, self._switches = units, switches
        self.proposal = NEVER
        self._kept_proposal = 0.0
        self._longer = 0.0
        """The longest attempt since an event or a jump was found ahead."""
        self._approaches = 0
        """Attempts to end a step before the same change of sides."""
        self._grid, self._piece = 0, 0
        self._check_time, self._check_tries = 0.0, 0

    @property
    def number(self) -> int:
        """Number of completed given steps, or of completed steps."""
        return self._grid if self._workspace.watches else self._log.done

    @property
    def go_on(self) -> bool:
        """Whether the run takes more steps."""
        schedule, log = self._schedule, self._log
        if log.stopped:
            return False
        return self.number < schedule.steps if schedule.steps else log.time < schedule.duration

    def next_step(self) -> tuple[float, float]:
        """Return length and end of the next step."""
        schedule, time = self._schedule, self._log.time
        if self._workspace.watches:  # continue a divided given step to its end
            stop = self._workspace.given_end(self._grid + 1)
            end = time + self.proposal if self.proposal < stop - time else stop
            return end - time, end
        if schedule.tolerance:
            return self._chosen_step()
        end = self._workspace.given_end(self._log.done + 1)
        return (end - time if schedule.ends is not None else schedule.step), end

    def _chosen_step(self) -> tuple[float, float]:
        schedule, time = self._schedule, self._log.time
        stop, longest, pieces = schedule.duration, schedule.longest_chosen, schedule.pieces
        if pieces is not None:
            while pieces.stops[self._piece] <= time:
                self._piece += 1
            stop, longest = float(pieces.stops[self._piece]), float(pieces.limits[self._piece])
        left = stop - time
        h = self._kept_proposal = min(self.proposal, longest)
        # with an event or a jump ahead, the proposed length is taken exactly
        sought = self._units is not None and self._units.sought >= 0
        sought = sought or (self._switches is not None and self._longer > 0)
        if h >= left * (1 if sought else 1 - 1e-10):
            h = left
        elif 2 * h > left and not sought:
            h = left / 2
        end = stop if h == left else time + h
        return end - time, end  # as rounded, so that a run over the same ends takes the same steps

    def bridges(self, h: float, end: float) -> bool:
        """Return whether a step goes from one side of a jump to the other, or is the remainder of a
        given step.
        """
        return h <= BRIDGE * self._schedule.duration and (
            end == self._workspace.given_end(self._grid + 1)
            if self._workspace.watches
            else self._ends_piece(end)
        )

    def _ends_piece(self, end: float) -> bool:
        pieces = self._schedule.pieces
        return pieces is not None and bool(end == pieces.stops[self._piece])

    def check_progress(self) -> None:
        """Check that a run that chooses its steps makes progress.

        Raises:
            AttemptFailure: if it makes almost no progress.
        """
        time, tries = self._log.time, self._log.done + self._log.rejected
        if tries < self._check_tries + TRIES:
            return
        if time < self._check_time + PROGRESS * self._schedule.duration:
            raise AttemptFailure(STALLED)
        self._check_time, self._check_tries = time, tries

    def reject(self, length: float) -> None:
        """Reject a step and propose another length."""
        self.proposal = length
        self._log.rejected += 1

    def reject_failed(self, h: float, reason: str) -> bool:
        """Reject a failed step; return False if no shorter one is tried."""
        if self._may_lie_before_a_jump(h, reason):
            self.reject(h / 2)
            return True
        if not self._schedule.tolerance or reason in (UNDERFLOW, STALLED):
            return False
        self._forget_event()
        self.reject(0.25 * h)
        return True

    def _may_lie_before_a_jump(self, h: float, reason: str) -> bool:
        """Return whether a shorter step may have a solution: just before a jump, an implicit step
        may have none.
        """
        w = self._workspace
        if not w.watches or self._switches is None or w.scheme is not None:
            return False
        failed = reason in (NO_CONVERGENCE, NOT_FINITE)
        return failed and not is_short(w.program, h, self._schedule)

    def reject_inaccurate(self, h: float, error: float) -> None:
        """Reject a step whose error is too large, or NaN."""
        self._forget_event()
        self.reject(h * (self._workspace.explicit.growth(error) if error > 1 else 0.25))

    def _forget_event(self) -> None:
        """Forget the event that was sought: it may have been an artefact of a step that was too
        long.
        """
        if self._units is not None:
            self._units.sought = NONE

    def approach(self, h: float, length: float) -> None:
        """Reject a step because an event or a jump lies ahead, and propose the length that reaches
        it.
        """
        self._longer = max(self._longer, h)
        self.reject(length)

    def approach_jump(self, h: float, length: float) -> None:
        """Reject a step because a jump lies ahead, and propose the length that reaches it; at most half
        of the last one where interpolation does not get there.
        """
        self._approaches += 1
        self.approach(h, min(length, h / 2) if self._approaches % PATIENCE == 0 else length)

    def continue_given(self) -> None:
        """Propose to continue a given step to its end."""
        self.proposal = NEVER

    def accept(self, h: float, end: float, error: float, *, shortened: bool) -> None:
        """Propose the next step after an accepted one, which an event or a jump may have shortened."""
        self._approaches = 0
        if self._workspace.watches:
            self.continue_given()
            return
        scheme = self._workspace.explicit
        scheme.scale(self._workspace.stages)
        self.proposal = h * scheme.growth(error)
        if self._ends_piece(end):  # it was not shortened by its error
            self.proposal = max(self.proposal, self._kept_proposal)
        if shortened:
            self.proposal, self._longer = max(self.proposal, self._longer), 0.0

    def pass_grid(self, end: float) -> None:
        """Count a given step if it is completed."""
        self._grid += end == self._workspace.given_end(self._grid + 1)
