"""Events of a run: impacts, contacts that open, transitions between sticking and sliding, and
events that a model declares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..coordinates.equations import Equations

if TYPE_CHECKING:
    import pandas as pd

    from ..backends.trajectory import Trajectory


@dataclass(frozen=True)
class Event:
    """One event."""

    time: float
    """s"""
    name: str
    """Name of the contact, friction or event."""
    what: str
    """"impact", "release", "stick", "slip", "contact" of compliant surfaces that store their impact
    speed, or "event".
    """
    before: float
    """Rate of the gap, or slip velocity, before the event (m/s or rad/s); for a declared event, the
    rate of its function.
    """
    after: float
    """The same rate after the event."""
    impulse: float
    """Normal impulse of an impact (N·s or N·m·s)."""


class Events(Sequence[Event]):
    """All events of a run, in order; `run.events["stop"]` returns the events with one name."""

    def __init__(self, events: Sequence[Event]):
        self._events = tuple(events)

    def __len__(self) -> int:
        return len(self._events)

    def __iter__(self) -> Iterator[Event]:
        return iter(self._events)

    def __getitem__(self, which: Any) -> Any:
        """Select events by index, by a slice, or by name."""
        if isinstance(which, str):
            return Events([e for e in self._events if e.name == which])
        selected = self._events[which]
        return Events(selected) if isinstance(which, slice) else selected

    @property
    def times(self) -> np.ndarray:
        """Times of the events (s)."""
        return np.array([e.time for e in self._events])

    def to_dataframe(self) -> pd.DataFrame:
        """All events as a table.

        Returns:
            A row for each event.
        """
        import pandas as pd

        columns = list(Event.__dataclass_fields__)
        return pd.DataFrame([asdict(e) for e in self._events], columns=columns)

    def __repr__(self) -> str:
        if not self._events:
            return "no events"
        lines = [f"{'time (s)':>14}  {'event':<8}  {'of':<24}  {'before':>11}  {'after':>11}"]
        lines += [
            f"{e.time:14.9g}  {e.what:<8}  {e.name:<24}  {e.before:11.5g}  {e.after:11.5g}"
            for e in self._events
        ]
        return "\n".join(lines)


def events_of(equations: Equations, trajectory: Trajectory) -> list[dict[str, object]]:
    """Events that a trajectory recorded, as plain data."""
    if trajectory.triggers is None or trajectory.notes is None:
        return []
    units = [unit for _, unit in equations.units]
    stated = equations.events
    events = []
    for k in np.flatnonzero(trajectory.triggers > 0):
        number = int(trajectory.triggers[k]) - 1
        before, after, impulse, *_, mode = trajectory.notes[k].tolist()
        if number >= len(units):
            own = number - len(units)
            # extrema of objectives are located as events, too
            if own < len(stated) and mode:
                time = float(trajectory.step_ends[k])
                name, what = stated[own].name, stated[own].what
                events.append(asdict(Event(time, name, what, before, after, 0.0)))
            continue
        unit = units[number]
        if mode < 0:  # the direction of sliding was updated
            continue
        what = "stick" if mode else "slip"
        if unit.limit is None:
            what = "impact" if impulse else "release"
        time = float(trajectory.step_ends[k])
        events.append(asdict(Event(time, unit.label, what, before, after, impulse)))
    return events


def listed(events: Sequence[Mapping[str, Any]]) -> Events:
    """Build events from plain data."""
    return Events([Event(**e) for e in events])
