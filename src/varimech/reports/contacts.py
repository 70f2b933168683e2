"""When contacts are active, for the animation: while they are closed, and for a moment after each
impact.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..results.run import Run

FLASH = 0.02
"""Share of the run for which an impact is shown."""


def contact_spans(run: Run, index: Mapping[str, int]) -> list[dict[str, object]]:
    """Point and spans of time (s) of each contact that has a point."""
    contacts: Mapping[str, str] = run.drawing_plan.get("contacts", {})
    flash = FLASH * float(run.time[-1] - run.time[0])
    return [
        {
            "point": index[point],
            "spans": [
                *[[t, t + flash] for t in run.events[name].times.tolist()],
                *_closed(run, name),
            ],
        }
        for name, point in contacts.items()
        if point in index
    ]


def _closed(run: Run, name: str) -> list[list[float]]:
    """Spans in which a contact is closed; unknown of a run that was read from a file."""
    if not run.is_live:
        return []
    e, T = run.live.equations, run.live.computed
    place = next((u.first_mode for _, u in e.units if u.label == name), None)
    if place is None or T.modes is None or T.triggers is None:
        return []
    first = e.ρ.numel() - T.modes.shape[1]
    events = np.flatnonzero(T.triggers)
    closed = T.modes[events, place - first] > 0
    ends = [*T.step_ends[events[1:]].tolist(), float(run.time[-1])]
    times = zip(T.step_ends[events].tolist(), ends, closed, strict=True) if events.size else []
    return [[begin, end] for begin, end, active in times if active]
