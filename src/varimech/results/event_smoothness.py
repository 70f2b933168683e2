"""Events at which derivatives do not exist, or are one-sided.

grazing        a surface is touched, or just missed, with hardly any speed: the time of the event,
           and whether there is one, changes without bound with the parameters
simultaneous   several contacts close at one time: neighbouring motions close one before the other
limit          friction sticks at the limit of its force: with slightly other parameters it slides
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..backends.trajectory import Trajectory
from ..coordinates.equations import Equations
from ..core.errors import VarimechWarning

GRAZING = 1e4
"""Sensitivity above which an event grazes: the shift of the event, as a fraction of the run, per
relative change of a parameter. An impact at an ordinary speed has about one.
"""
NEAR = 1e-7
"""Largest gap, relative to the size of the mechanism, of a surface that is just missed."""
AT_LIMIT = 1e-7
"""Margin of the friction force before sliding begins, relative to its limit: a relative change of a
parameter by this much ends sticking, as for `NEAR`.
"""


class EventWarning(VarimechWarning):
    """A derivative across an event does not exist, or is one-sided."""


@dataclass(frozen=True)
class RoughEvent:
    """An event at which derivatives are not valid."""

    time: float
    name: str
    kind: str
    """"grazing", "simultaneous" or "limit"."""

    def __str__(self) -> str:
        when = f"{self.name!r} at t = {self.time:.6g} s"
        if self.kind == "grazing":
            return (
                f"{when} grazes: whether and when it occurs changes without bound with parameters"
            )
        if self.kind == "limit":
            return f"{when} sticks at the limit of its force: derivatives hold on one side only"
        return (
            f"{when} occurs together with other impacts: derivatives hold as long as these stay"
            " together"
        )


def rough_events(equations: Equations, trajectory: Trajectory) -> list[RoughEvent]:
    """Events of this sort that the run recorded."""
    if trajectory.triggers is None or trajectory.notes is None:
        return []
    names = [unit.label for _, unit in equations.units]
    names += [event.name for event in equations.events]
    rough = []
    for k in np.flatnonzero(trajectory.triggers > 0):
        number = int(trajectory.triggers[k]) - 1
        moved, together = trajectory.notes[k, 4:6]
        kinds = ["grazing"] * bool(moved > GRAZING) + ["simultaneous"] * bool(together > 1)
        if number < len(names):
            time = float(trajectory.step_ends[k])
            rough += [RoughEvent(time, names[number], kind) for kind in kinds]
    return rough


def near_misses(equations: Equations, trajectory: Trajectory, ρ: np.ndarray) -> list[RoughEvent]:
    """Surfaces that approach each other between two stored times without touching."""
    e, T = equations, trajectory
    contacts = [unit for _, unit in e.units if unit.limit is None]
    if not contacts or T.time.size < 3:
        return []
    gaps = ca.vertcat(*[unit.watched for unit in contacts])
    both = ca.Function("gaps", [e.packed, e.ρ, e.t], [gaps, e.differentiate(gaps)])
    g, rate = (np.array(x).T for x in both(T.states.T, ρ, T.time[None]))
    n = e.q.numel()
    size = max(float(np.abs(T.states[:, :n]).max()), 0.0 if e.sizes is None else e.sizes.length)
    misses = []
    for k, unit in enumerate(contacts):
        h = np.diff(T.time)
        falls = (rate[:-1, k] < 0) & (rate[1:, k] > 0) & (g[:-1, k] > 0) & (g[1:, k] > 0)
        for row in np.flatnonzero(falls):
            x = np.linspace(0, 1, 101)
            y, d = 1 - x, h[row] * rate[row : row + 2, k]
            cubic = y * y * (g[row, k] * (1 + 2 * x) + d[0] * x)
            cubic += x * x * (g[row + 1, k] * (1 + 2 * y) - d[1] * y)
            # if an impact between them reversed the rate, it is no near miss
            times = T.step_ends[(T.triggers if T.triggers is not None else 0 * T.step_ends) > 0]
            hit = ((times >= T.time[row]) & (times <= T.time[row + 1])).any()
            if not hit and abs(cubic.min()) < NEAR * size:
                time = float(T.time[row] + x[cubic.argmin()] * h[row])
                misses.append(RoughEvent(time, unit.label, "grazing"))
    return misses


def sticking_limits(
    equations: Equations, trajectory: Trajectory, computed: Trajectory, ρ: np.ndarray
) -> list[RoughEvent]:
    """Friction contacts that stick at the limit of their force at stored times, each once;
    `computed` is the run computed first, which stores the modes.
    """
    e, T = equations, trajectory
    frictions = [unit for _, unit in e.units if unit.limit is not None]
    if not frictions:
        return []
    parameters = computed.parameters_at(T.time, ρ)
    values = e.friction_forces(T.states.T, parameters.T, T.time[None])
    limit, force = (np.array(x).T for x in values)
    rough = []
    for k, unit in enumerate(frictions):
        sticks = parameters[:, unit.first_mode] != 0
        at_limit = sticks & (limit[:, k] > 0) & (limit[:, k] - force[:, k] < AT_LIMIT * limit[:, k])
        # if it slides soon afterwards, it has just reached the limit, as expected
        sliding = np.append(~sticks[1:], False)
        for row in np.flatnonzero(at_limit & ~sliding)[:1]:
            rough.append(RoughEvent(float(T.time[row]), unit.label, "limit"))
    return rough
