"""Passing an event of an interpreted run: impact, modes, samples and derivatives. events.c does the
same (vm_event), and `events` has the equations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .event_derivatives import EventDerivatives
from .events import (
    CONTACT,
    EVENT,
    FRICTION,
    GAP_RATE,
    NONE,
    NORMAL,
    NOTED,
    OVERLAPS,
    QUIET,
    REVISIONS,
    SLIP,
)
from .failures import ENDLESS, OVERLAP
from .modes import EventCalls, EventFailure, ModalUnits
from .motion import Motion
from .records import STOPS, EventRecord
from .sample_events import SampleEvents
from .samples import AT_START, Samples
from .step_log import StepLog
from .workspace import Workspace


@dataclass(eq=False)
class Event:
    """Properties of an event."""

    time: float
    trigger: int
    """The unit whose mode ends; `NONE` where contacts that touch at the start are resolved."""
    stated: bool
    """Whether it is a stated event."""
    fires: bool
    """Whether something happens."""
    impacts: bool
    """Whether there is an impact, or a reset of velocities or states."""
    halts: bool
    """Whether an impact removes the remaining slip."""
    function: int = -1
    """Number of the function that vanishes at the event; −1 if none does."""
    rate: float = 1.0
    """Rate of this function along the motion."""
    stops: bool = False
    """Whether it ends the run."""
    impulse: float = 0.0
    together: int = 0
    """Normal impulse of the triggering contact."""

    @property
    def kind(self) -> int:
        """See `EventRecord`."""
        return STOPS if self.stops else int(self.impacts or self.halts)


class EventPassing:
    """Executes the events of a run."""

    def __init__(
        self, workspace: Workspace, log: StepLog, units: ModalUnits, samples: Samples | None
    ):
        self._workspace, self._log, self._units = workspace, log, units
        w = workspace
        chain = w.program.impact
        impact = None if chain is None else w.bind_chain(chain, w.bare_settings)
        self._calls = EventCalls(units, impact, w.rates, w.Y)
        motion = Motion(w.program, w.settings, w.inputs)
        self.derivatives = EventDerivatives(w, units, impact, motion)
        self._samples = None if samples is None else SampleEvents(w, samples, motion)
        if self._samples is not None:
            units.sample_rate = self._samples.rate
        self._last_time, self._events_there = 0.0, 0

    def begin(self) -> None:
        """Evaluate values, sides and samples at the start of a run."""
        self._units.before = self._units.at(0.0, self._workspace.X[0])
        self._raise_scales()
        self._units.first_sides()
        if self._samples is not None:
            self._samples.take(0.0, NONE, AT_START, None)
        self._workspace.restore()

    def touch_at_start(self) -> bool:
        """Return whether modes must be determined at the start of a run.

        Raises:
            StepFailure: if shapes overlap.
        """
        units = self._units
        gaps = np.where(units.kind == CONTACT, units.before[:, 0], np.inf)
        if (gaps < -OVERLAPS * units.length).any():
            raise self._workspace.failure(1, 0.0, 0.0, OVERLAP, int(np.argmin(gaps)))
        return units.any_at_start

    def accept_step(self) -> None:
        """Make the values at the end of a step those at the beginning of the next."""
        self._units.before, self._units.sought = self._units.after, NONE
        self._raise_scales()

    def _raise_scales(self) -> None:
        """Raise the scales of contacts to the state at the beginning of a step."""
        w, x = self._workspace, self._workspace.X[0]
        n, sizes = w.program.coordinates, w.inputs.sizes
        lengths = x[:n] if sizes is None else np.append(x[:n][sizes.turns == 0], sizes.length)
        length = float(np.abs(lengths).max(initial=0.0))
        self._units.scale(length, float(np.abs(x[n : 2 * n]).max(initial=0.0)))

    def pass_event(self, trigger: int) -> None:
        """Pass an event at the beginning of a step: the mode of `trigger` ends; for `NONE`, the
        modes of contacts that touch at the start of a run are determined.

        Raises:
            EventFailure: if no consistent modes are found, or events do not end.
            AttemptFailure: if a chain has no solution.
        """
        w, units, number = self._workspace, self._units, len(self._log.ends)
        before, S, modes = w.X[0].copy(), w.X_[0].copy(), units.modes.copy()
        event = self._event_of(trigger, before)
        self.derivatives.shift_event(event.function, event.rate, S)
        self._take_samples(event, trigger if event.fires else NONE, 2 * number)
        if event.stated and event.fires:
            event.stops = self._log.stopped = units.act(trigger)
        z, after = (before, before) if event.stops else self._settled(event, before)
        if self._log.records is not None:
            function, rate, states = event.function, event.rate, np.array([before, z])
            record = EventRecord(event.time, states, function, rate, event.kind, modes, number)
            self._log.records.append(record)
        if event.stops:
            self.derivatives.end_run()
        else:
            integrands, w.X[0] = w.G[0].copy(), after
            w.new[:], w.new_[:] = after, S
            w.keep(0)
            if w.directions:
                impacts = event.impacts or event.halts
                self.derivatives.differentiate(before, z, integrands, impacts=impacts)
            self._take_samples(event, NONE, 2 * number + 1)
        self._conclude(event)

    def _event_of(self, trigger: int, state: np.ndarray) -> Event:
        """Determine which mode ends, and whether anything happens at the event."""
        w, units, time = self._workspace, self._units, self._log.time
        ends = trigger >= 0
        stated = ends and bool(units.kind[trigger] >= EVENT)
        fires = ends and units.fires(trigger)
        if stated:
            impacts = fires and bool(units.resets[trigger])
        elif ends:
            impacts = fires and bool(units.kind[trigger] == CONTACT)
        else:
            impacts = units.first_impacts()
        event = Event(time, trigger, stated, fires, impacts, ends and units.halts(trigger))
        w.time[0] = time
        if ends and (fires or not stated) and not units.turns(trigger):
            event.function = units.function_of(trigger)
            if w.directions or w.program.adjoint:
                event.rate = self.derivatives.watched_rate(time, state, event.function)
        return event

    def _take_samples(self, event: Event, trigger: int, place: int) -> None:
        if self._samples is not None:
            shift = self.derivatives.shift if event.function >= 0 else None
            self._samples.take(event.time, trigger, place, shift)

    def _settled(self, event: Event, before: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the states after the impact of an event, and after the event."""
        calls, units, new = self._calls, self._units, self._workspace.new
        time, trigger = event.time, event.trigger
        z = after = before
        if event.impacts:
            z = calls.impact(before, trigger, time, new)
            event.together = units.closing
            if trigger >= 0 and not event.stated:
                event.impulse = float(units.after[trigger, NORMAL])
        if event.halts:
            z = calls.halt(before, trigger, new)
        # otherwise nothing happens: modes that are about to end have their own event
        if not event.stated or event.fires:
            after = calls.settle(z, trigger, time, new)
        return z, after

    def _conclude(self, event: Event) -> None:
        """Update the values of all units, and log the event."""
        units, trigger, time = self._units, event.trigger, event.time
        values = units.at(time, self._workspace.X[0])
        note, speed = self._note(event, values), units.before[trigger, GAP_RATE]
        units.before, units.sought = values, NONE
        self._raise_scales()
        if not event.stops:
            units.renew_sides(trigger, jumps=event.fires or not event.stated)
        self._log.add_event(time, trigger, note)
        self._check_end(event, float(speed))

    def _note(self, event: Event, values: np.ndarray) -> np.ndarray:
        """Return the row of `Trajectory.notes` for an event; `values` are those after it."""
        units, i = self._units, event.trigger
        speed = speed_after = mode = 0.0
        if i >= 0:
            friction = units.kind[i] == FRICTION
            which = SLIP if friction else GAP_RATE
            speed, speed_after = units.before[i, which], values[i, which]
            mode = float(event.fires) if event.stated else units.mode(i, 0)
            if friction and not event.fires:
                mode = QUIET
        note, moved = np.zeros(NOTED), self.derivatives.moved
        note[:5] = speed, speed_after, event.impulse, event.rate, moved
        note[5:] = event.together, event.function, event.kind, mode
        return note

    def _check_end(self, event: Event, speed: float) -> None:
        """Raise an error if events at one instant, or resets whose speeds fall to zero, do not end."""
        units, time, trigger = self._units, event.time, event.trigger
        if time > self._last_time + units.instant:
            self._events_there = 0
        self._last_time, self._events_there = time, self._events_there + 1
        endless = self._events_there > REVISIONS * (units.count + 1)
        if event.stated and event.impacts and not event.stops:
            endless = endless or units.accumulates(trigger, speed)
        if endless:
            raise EventFailure(ENDLESS, trigger)
