"""The interpreted backend: the loop is Python, each function is evaluated by CasADi's virtual
machine. It needs no compiler. driver.c has the same loop:

    find the initial state
    until the end of the run:
        pass the event that is due, or
        attempt a step; reject it, or accept it and pass the event that it ends at
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core.progress import ProgressCallback
from .assembly import Assembly
from .backward import Backward
from .chain_calls import AttemptFailure
from .event_passing import EventPassing
from .events import NONE
from .explicit import added
from .inputs import Inputs
from .jumps import Jumps
from .modes import EventFailure, ModalUnits
from .outputs import Outputs
from .passage import PassageCalls, PassageRecord
from .program import Program
from .records import Record, Records
from .samples import Samples
from .selection import IndependentCoordinates
from .step_attempt import StepAttempts
from .step_length import StepLengths
from .step_log import StepLog
from .switching import Switches
from .trajectory import Trajectory, broken_off
from .workspace import Workspace


def run_interpreted(
    program: Program,
    inputs: Inputs,
    progress: ProgressCallback | None = None,
) -> Trajectory:
    """Execute a program; `progress` receives the completed share of the duration from time to time.

    Raises:
        StartFailure: if no initial state is found from the guess.
        StepFailure: if a step fails.
        BrokenOff: on Ctrl-C, with the stored results, unless there is a reverse sweep.
    """
    # values that are not finite are detected and reported, as with compiled code
    with np.errstate(all="ignore"):
        return _Run(program, inputs).execute(progress)


class _Run:
    """The loop over the steps of one run, and its parts."""

    def __init__(self, program: Program, inputs: Inputs):
        self.program, self.schedule = program, inputs.schedule
        self.workspace = w = Workspace(program, inputs)
        self.units: ModalUnits | None = None
        self.events: EventPassing | None = None
        self.switches: Switches | None = None
        self.jumps: Jumps | None = None
        self.samples = None if program.samples is None else Samples(program, w.parameters)
        if program.units is not None:
            self.units = ModalUnits(program, w.parameters, inputs.schedule)
        self.log = StepLog(program, inputs, self.units)
        if self.units is not None:
            self.events = EventPassing(w, self.log, self.units, self.samples)
        if program.switching is not None:
            self.switches = Switches(program, w.parameters, inputs.schedule)
            self.jumps = Jumps(w, self.switches)
        self.passage: PassageCalls | None = None
        if program.passage is not None:
            self.passage = PassageCalls(program, w.parameters, w.penalty, inputs.max_iterations)
        self.assembly, self.coordinates = Assembly(w), IndependentCoordinates(w)
        self.lengths = StepLengths(w, self.log, self.units, self.switches)
        self.attempts = StepAttempts(w, self.jumps)
        self.outputs = Outputs(w, self.samples)

    def execute(self, progress: ProgressCallback | None) -> Trajectory:
        """Take all steps, then sweep backwards if the program is an adjoint one."""
        try:
            self._begin()
            given_events = self.passage is not None or self.schedule.triggers is not None
            while self.lengths.go_on:
                if given_events and self._pass_given_event():
                    continue
                if self._take_step() and progress is not None and self.log.done % 64 == 0:
                    progress(self.log.time / self.schedule.duration)
            if self.events is not None and self.log.stopped:
                self.outputs.store_stop(self.log.time, self.events.derivatives.shift)
        except KeyboardInterrupt:
            if self.program.adjoint:
                raise
            raise broken_off(self._trajectory, self.outputs.stored) from None
        trajectory = self._trajectory
        if self.log.records is None:
            return trajectory
        gradient = self._sweep_back(self.log.records)
        return replace(trajectory, sensitivities=None, gradients=gradient[None])

    def _begin(self) -> None:
        """Find the initial state, and determine the modes of contacts that touch there."""
        w = self.workspace
        self.assembly.begin(self.log)
        self._renew_sides()
        if self.events is not None:
            self.events.begin()
        self.coordinates.renew(self.log)
        self.outputs.store(0.0, w.ψ, w.ψ_)
        if self.schedule.tolerance:
            self.lengths.proposal = w.explicit.first_step(
                w.stages, w.integrands_at, w.accelerations_at
            )
        if self.events is not None and w.chooses and self.events.touch_at_start():
            self._settle_start(self.events)

    def _settle_start(self, events: EventPassing) -> None:
        """Determine the modes of contacts that touch at the start, and store the initial state
        again.
        """
        self._pass_event(events, NONE)
        self.outputs.store_again(0.0)

    def _pass_event(self, events: EventPassing, trigger: int) -> None:
        """Pass an event at the beginning of a step."""
        try:
            events.pass_event(trigger)
        except AttemptFailure as failure:
            culprit = failure.culprit if isinstance(failure, EventFailure) else trigger
            raise self._failure(0.0, self.log.time, failure, culprit) from None
        self._renew_sides()

    def _renew_sides(self) -> None:
        """Evaluate the switching functions at the beginning of a step, where an event may have changed
        the modes and the state that they depend on.
        """
        if self.switches is not None:
            self.switches.before = self.switches.at(self.log.time, self.workspace.X[0])

    def _pass_given_event(self) -> bool:
        """Pass the event that replaces the next given step; return whether there was one."""
        schedule, number = self.schedule, self.log.done + 1
        row = schedule.passage(number)
        if self.passage is not None and row is not None:
            self._pass_by_map(self.passage, row)
            return True
        trigger = 0.0 if schedule.triggers is None else schedule.triggers[number]
        if self.events is None or not trigger:
            return False
        if trigger < 0:
            self._settle_start(self.events)
        else:
            self._pass_event(self.events, int(trigger) - 1)
        return True

    def _take_step(self) -> bool:
        """Attempt a step; return whether it was accepted."""
        lengths = self.lengths
        h, end = lengths.next_step()
        error = self._attempt(h, end)
        if error is None:
            return False
        event = NONE
        if self.units is not None:
            self.units.after = self.units.at(end, self.workspace.X[self.workspace.last])
        if self.events is not None and self.units is not None and self.workspace.chooses:
            event, length = self.units.first_event(h)
            if event >= 0 and 0 < length <= self.units.shortest:  # immediately
                if self.workspace.watches:
                    lengths.continue_given()
                self._pass_event(self.events, event)
                return False
            if event != NONE and length > 0:
                lengths.approach(h, length)
                return False
        self._accept(h, end)
        if self.workspace.chooses:
            across = self.switches is not None and self.switches.is_across(h)
            lengths.accept(h, end, error, shortened=across or event >= 0)
        if self.events is not None and event >= 0:
            self._pass_event(self.events, event)
        return True

    def _attempt(self, h: float, end: float) -> float | None:
        """Attempt a step; return its error over the allowed one, or None if it is rejected."""
        lengths, begin, bridge = self.lengths, self.log.time, False
        try:
            if self.workspace.chooses:
                lengths.check_progress()
                bridge = lengths.bridges(h, end)
            error = self.attempts.attempt(begin, h, end, bridge=bridge)
        except AttemptFailure as failure:
            if lengths.reject_failed(h, str(failure)):
                return None
            raise self._failure(h, end, failure) from None
        if error is None:
            assert self.switches is not None
            lengths.approach_jump(h, self.switches.approach(h))
        elif not error <= 1:
            lengths.reject_inaccurate(h, error)
            return None
        return error

    def _accept(self, h: float, end: float) -> None:
        """Accept a step: its end becomes the beginning of the next."""
        w, log, begin = self.workspace, self.log, self.log.time
        log.keep_largest(w.finish.residuals)
        if log.records is not None:
            states = w.X[: 1 if w.scheme is None else w.last].copy()
            log.records.append(Record(begin, h, end, states, w.solved, w.chosen.copy()))
        schedule = self.schedule
        if schedule.outputs is not None and w.scheme is not None and not schedule.at_steps:
            try:
                self.outputs.store_within(begin, h, end)
            except AttemptFailure as failure:
                raise self._failure(h, end, failure) from None
        if w.scheme is None:
            w.ψ += h / 2 * (w.G[0] + w.G[1])
            w.ψ_ += h / 2 * (w.G_[0] + w.G_[1])
        else:
            w.ψ += added(w.G, h, w.scheme.tables.b)
            w.ψ_ += added(w.G_, h, w.scheme.tables.b)
        crossed = 0 if self.jumps is None else self._cross(self.jumps, h, end)
        for stages in (w.X, w.X_, w.G, w.G_):
            stages[0] = stages[w.last]
        log.add_step(end, crossed)
        if w.watches:
            self.lengths.pass_grid(end)
            if self.jumps is not None:
                self.jumps.raise_scales()
        if self.events is not None:
            self.events.accept_step()
        w.time[0] = end
        w.restore()
        if self.outputs.is_due(end, self.lengths.number):
            self.outputs.store(end, w.ψ, w.ψ_)
        self.coordinates.renew(log)

    def _cross(self, jumps: Jumps, h: float, end: float) -> int:
        """See `Jumps.pass_step`."""
        try:
            return jumps.pass_step(self.log.time, h, end)
        except AttemptFailure as failure:
            raise self._failure(h, end, failure) from None

    def _pass_by_map(self, passage: PassageCalls, row: np.ndarray) -> None:
        """Pass an event at a given step by the event map of the state; passage.c does the same."""
        w, log, begin, n = self.workspace, self.log, self.log.time, self.program.state_size
        end = w.given_end(log.done + 1)
        if log.records is not None:
            log.records.append(PassageRecord(begin, end, w.X[:1].copy(), row))
        try:
            result, sensitivities = passage.execute(begin, row, w.X[0], w.X_[0])
        except AttemptFailure as failure:
            raise self._failure(0.0, end, failure) from None
        w.new[:], w.new_[:], w.time[0] = result[:n], sensitivities[:n], end
        w.keep(0)
        w.ψ += result[n:]
        w.ψ_ += sensitivities[n:, : w.directions]
        log.add_step(end)
        self._renew_sides()
        again = begin == end and (end == 0 or log.done == self.schedule.steps)
        if again:  # replace the result stored at this time
            self.outputs.stored -= 1
        if again or self.outputs.is_due(end, self.lengths.number):
            self.outputs.store(end, w.ψ, w.ψ_)
        self.coordinates.renew(log)

    def _failure(
        self, h: float, end: float, failure: AttemptFailure, culprit: int = NONE
    ) -> Exception:
        """Describe the failure of the next step, or of an event before it."""
        return self.workspace.failure(self.lengths.number + 1, end, h, str(failure), culprit)

    def _sweep_back(self, records: Records) -> np.ndarray:
        """dψ/dρ, from the last record back to the initial state."""
        w, assembly = self.workspace, self.assembly
        inputs = replace(w.inputs, parameters=w.parameters)  # with the modes at the end of the run
        back = Backward(self.program, inputs, w.penalty, assembly.guess, assembly.unknowns)
        back.crossed, back.samples = self.log.crossed, self.samples
        back.chosen[:] = w.chosen
        return back.sweep(records.list, w.X[0])

    @property
    def _trajectory(self) -> Trajectory:
        """The stored results, and the log of the run so far."""
        log, outputs, samples = self.log, self.outputs, self.samples
        rows = slice(outputs.stored if self.schedule.at_steps or log.stopped else None)
        direct, modal = self.program.direction_count is not None, self.units is not None
        return Trajectory(
            outputs.times[rows],
            outputs.states[rows],
            outputs.objectives[rows],
            log.residuals,
            self.workspace.iterations,
            np.array(log.ends) if self.workspace.chooses else self.schedule.known_ends,
            log.rejected,
            self.coordinates.selections,
            sensitivities=outputs.sensitivities[rows] if direct else None,
            gradients=outputs.gradients[rows] if direct else None,
            crossed=None if self.switches is None else np.array(log.crossed),
            triggers=np.array(log.triggers) if modal else None,
            notes=np.array(log.notes) if modal else None,
            modes=np.array(log.modes) if modal else None,
            sample_values=None if samples is None else samples.values.copy(),
            sample_places=None if samples is None else np.array(samples.places),
        )
