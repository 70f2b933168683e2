"""Lost motion of a joint with clearance: how far, how often and how hard it departs from an ideal
joint.

    largest = max |e|,     rms = √(1/T ∫ |e|² dt),     share in contact = 1/T ∫ (closed) dt

with the offset e of the pin in its bore, or of the block across its slot, over the run of duration
T.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import unknown_name

if TYPE_CHECKING:
    from .run import Run


@dataclass(frozen=True)
class LostMotion:
    """Lost motion of one joint with clearance over a run."""

    joint: str
    largest: float
    """Largest offset from the ideal joint (m), at stored times."""
    rms: float
    """Root mean square of the offset over time (m), from stored times."""
    contact: float
    """Share of the time in contact, 0 to 1; the rest is free flight."""
    impacts: int
    """Number of impacts of rigid surfaces; for compliant ones, the number of times they begin to
    touch.
    """
    fastest: float
    """Largest speed at which surfaces approach each other at an impact (m/s); 0 without one."""

    def __str__(self) -> str:
        return (
            f"{self.joint}: offset up to {self.largest:.4g} m, {self.rms:.4g} m rms;"
            f" {100 * self.contact:.3g} % of the time in contact; {self.impacts} impacts, up to"
            f" {self.fastest:.4g} m/s"
        )


def lost_motion(run: Run, joint: str) -> LostMotion:
    """Compute the lost motion of a joint with clearance over a run of this session."""
    model = run.live.equations.model
    if joint not in model.clearance_joints:
        raise unknown_name("joint with clearance", joint, model.clearance_joints)
    t, offset = run.time, np.linalg.norm(run.deviation(joint).to_numpy(), axis=1)
    T = float(t[-1] - t[0])
    rms = np.sqrt(np.trapezoid(offset**2, t) / T) if T > 0 else offset[0]
    rigid = model.clearance_joints[joint].contact_labels()
    contact, impacts, fastest = (
        _rigid(run, [label.name for label in rigid]) if rigid else _compliant(run, joint)
    )
    share = contact / T if T > 0 else 0.0
    return LostMotion(joint, float(offset.max()), float(rms), share, impacts, fastest)


def closed_spans(run: Run, name: str) -> list[tuple[float, float]]:
    """Intervals (s) in which a rigid contact is closed; none for a run that was read from a file."""
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
    return [(begin, end) for begin, end, active in times if active]


def _rigid(run: Run, names: list[str]) -> tuple[float, int, float]:
    """Time in contact (s), number of impacts and largest speed: exact, from events."""
    spans = [span for name in names for span in closed_spans(run, name)]
    speeds = [-e.before for e in run.events if e.name in names and e.what == "impact"]
    return sum(end - begin for begin, end in spans), len(speeds), max(speeds, default=0.0)


def _compliant(run: Run, joint: str) -> tuple[float, int, float]:
    """Time in contact (s), number of impacts and largest speed of compliant surfaces, from stored
    times.
    """
    model = run.live.equations.model
    names = model.clearance_joints[joint].gap_names()
    touching = run.measure(f"in_contact({joint!r})", name="contact").to_numpy()
    begins = np.flatnonzero((touching[1:] > 0) & (touching[:-1] == 0))
    rates = [run.measure(f"rate(gap({name!r}))", name=name).to_numpy() for name in names]
    speeds = [-min(rate[k] for rate in rates) for k in begins]
    time = float(np.trapezoid(np.minimum(touching, 1.0), run.time))
    return time, len(begins), max(speeds, default=0.0)
