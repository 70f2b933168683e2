"""Conversion of a run that located its events to a schedule that passes them by maps of the state,
for steps of another program, with second derivatives or in complex numbers
(`sensitivity/event_map`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..backends.samples import AT_END, AT_START
from ..backends.trajectory import Trajectory
from ..coordinates.equations import Equations
from ..core.errors import ModelError
from ..core.schedule import Passages, Schedule
from ..model.contact_law import DIRECTION_MODES
from ..sensitivity.event_functions import WATCHED, EventFunctions, has_events
from ..sensitivity.event_map import EventMap
from ..sensitivity.objective import AT_EVENT, PEAK, Objective
from ..sensitivity.switching import jumps_of

FUNCTION, KIND = 6, 7
"""Columns of `Trajectory.notes`: the function that vanishes at an event; 1 for an impact or reset,
2 for the end of the run.
"""


def may_pass(equations: Equations, objectives: Mapping[str, Objective]) -> bool:
    """Whether a run may encounter events, jumps or kinks whose time depends on parameters."""
    return has_events(equations, objectives) or bool(jumps_of(equations, objectives))


def passed(
    equations: Equations,
    objectives: Mapping[str, Objective],
    schedule: Schedule,
    trajectory: Trajectory,
    ρ: np.ndarray,
) -> Schedule:
    """Return the steps and events of a run, with the data of the maps that pass them; equal steps
    are unchanged where there are no events. Events at which nothing happens, and no value is taken,
    are left out.
    """
    t = trajectory
    none = all(x is None or not x.any() for x in (t.triggers, t.crossed))
    if none and t.sample_places is None:
        return schedule.replayed(t.step_ends) if schedule.tolerance else schedule
    again = schedule.until(float(t.step_ends[-1])).replayed(t.step_ends)
    event_map = EventMap(equations, objectives)
    collected = _Passages(equations, objectives, event_map, trajectory, ρ)
    collected.collect()
    passages = Passages(np.array(collected.numbers, dtype=float), np.array(collected.rows))
    return replace(
        again,
        ends=np.array(collected.ends),
        steps=len(collected.ends) - 1,
        outputs=t.time if schedule.outputs is None else again.outputs,
        passages=passages if collected.rows else None,
    )


def refuse_curved_impacts(equations: Equations, schedule: Schedule) -> None:
    """Refuse second derivatives across impacts in space with sliding friction, whose law is
    linearised (`model/contact_law`): first derivatives are exact, second derivatives are not.

    Raises:
        ModelError: with the time of the impact.
    """
    names = list(equations.model.parameter_set.modes)
    curved = [k for k, name in enumerate(names) if name.startswith(DIRECTION_MODES[-1])]
    if schedule.passages is None or schedule.ends is None or not curved:
        return
    after = schedule.passages.rows[:, len(names) : 2 * len(names)]
    hits = schedule.passages.rows[:, -2] != 0
    for row in np.flatnonzero(hits & (after[:, curved] != 0).any(axis=1)):
        time = float(schedule.ends[np.flatnonzero(schedule.passages.numbers == row + 1)[0]])
        raise ModelError(
            f"mechanism {equations.model.name!r}: second derivatives do not cross the impact at"
            f" t = {time:.6g} s, in which friction slides in space",
            remedy="use first derivatives, or differences of gradients",
        )


def with_events_of(trajectory: Trajectory, first: Trajectory) -> Trajectory:
    """Complete a run that passed the events of `first` by the records of these events."""
    return replace(
        trajectory,
        step_ends=first.step_ends,
        crossed=first.crossed,
        triggers=first.triggers,
        notes=first.notes,
        modes=first.modes,
    )


class _Passages:
    """Rows of data, and step ends, collected along a run."""

    def __init__(
        self,
        equations: Equations,
        objectives: Mapping[str, Objective],
        event_map: EventMap,
        trajectory: Trajectory,
        ρ: np.ndarray,
    ):
        self._map, self._layout, self._trajectory = event_map, event_map.layout, trajectory
        self._modes = ρ[ρ.size - self._layout.modes :].copy()
        self._parameters = ρ
        self._events = EventFunctions(equations, objectives, None)
        self.ends, self.numbers = [0.0], [0]
        self.rows: list[np.ndarray] = []

    def collect(self) -> None:
        """Collect passages over all step ends of the run."""
        t = self._trajectory
        places = self._places()
        if (places == AT_START).any():
            self._add(0.0, taken=places == AT_START)
        for k in range(1, t.step_ends.size):
            end = float(t.step_ends[k])
            if t.triggers is not None and t.triggers[k]:
                self._add_event(k, end, places == 2 * k, places == 2 * k + 1)
            elif t.crossed is not None and t.crossed[k]:
                switch = self._map.first_switch + abs(int(t.crossed[k])) - 1
                self._add(end, function=switch)
            else:
                self.ends.append(end)
                self.numbers.append(0)
        if (places == AT_END).any():
            self._add(self.ends[-1], taken=places == AT_END)

    def _places(self) -> np.ndarray:
        """Return the step ends at which samples were taken; the end of the run may be an extremum,
        too.
        """
        t, samples = self._trajectory, self._events.samples
        if samples is None or t.sample_places is None or t.sample_values is None:
            return np.zeros(0)
        places = t.sample_places.copy()
        ρ = t.parameters_at(np.array([np.inf]), self._parameters)[0]
        last = np.ravel(np.array(samples.values(t.states[-1], ρ, t.time[-1])))
        for k, (kind, *_) in enumerate(samples.table):
            kept = t.sample_values[k]
            if kind != AT_EVENT and (last[k] > kept if kind == PEAK else last[k] < kept):
                places[k] = AT_END
        return places

    def _add_event(self, k: int, end: float, taken: np.ndarray, after: np.ndarray) -> None:
        t = self._trajectory
        assert t.triggers is not None and t.notes is not None and t.modes is not None
        function, kind = int(t.notes[k, FUNCTION]), int(t.notes[k, KIND])
        slot = WATCHED * (int(t.triggers[k]) - 1)
        if slot in self._map.extrema:
            function = slot
        changes = not np.array_equal(t.modes[k], self._modes)
        happens = kind > 0 or changes or (t.triggers[k] < 0)
        if not (happens or taken.any() or after.any()):
            return
        modes = self._modes if kind == 2 else t.modes[k]
        self._add(end, function=function, kind=kind, modes=modes, taken=taken, after=after)

    def _add(
        self,
        end: float,
        *,
        function: int = -1,
        kind: int = 0,
        modes: np.ndarray | None = None,
        taken: np.ndarray | None = None,
        after: np.ndarray | None = None,
    ) -> None:
        """Add a passage that begins at the end of the last step."""
        row = np.zeros(self._layout.size)
        before, then, which, of_taken, of_after, numbers = self._layout.parts(row)
        before[:] = self._modes
        if modes is not None:
            self._modes = modes.copy()
        then[:] = self._modes
        if function >= 0:
            which[function] = 1.0
        if taken is not None:
            of_taken[:] = taken
        if after is not None:
            of_after[:] = after
        numbers[:] = end - self.ends[-1], kind == 1, kind == 2
        self.rows.append(row)
        self.ends.append(end)
        self.numbers.append(len(self.rows))
