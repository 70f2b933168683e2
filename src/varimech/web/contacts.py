"""Times at which contacts are active, for the animation: while they are closed, and briefly after
each impact.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..results.lost_motion import closed_spans
from ..results.run import Run

FLASH = 0.02
"""Fraction of the run for which an impact is shown."""


def contact_spans(
    run: Run, plan: Mapping[str, Any], index: Mapping[str, int]
) -> list[dict[str, object]]:
    """Point and time intervals (s) of each contact with a known point."""
    contacts: Mapping[str, str] = plan.get("contacts", {})
    flash = FLASH * float(run.time[-1] - run.time[0])
    return [
        {
            "point": index[point],
            "spans": [
                *[[t, t + flash] for t in run.events[name].times.tolist()],
                *[[begin, end] for begin, end in closed_spans(run, name)],
            ],
        }
        for name, point in contacts.items()
        if point in index
    ]
