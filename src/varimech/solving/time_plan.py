"""The schedule of a run, adapted to the explicit functions of time of its model: steps end at jumps and kinks, and are short where something
happens fast."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..coordinates.equations import Equations
from ..schedule import Schedule
from ..sensitivity.objective import Objective
from .explicit_time import ExplicitTime, explicit_time
from .time_resolution import TimeResolution, resolve

REMEMBERED = 64
"""Sets of objectives, and of parameter values, whose functions of time are not looked at again."""


class TimePlan:
    """Schedules of one model."""

    def __init__(self, equations: Equations):
        self._equations = equations
        self._functions: OrderedDict[tuple[Objective, ...], ExplicitTime | None] = OrderedDict()
        self._resolved: OrderedDict[tuple[object, ...], TimeResolution] = OrderedDict()

    def schedule(self, schedule: Schedule, objectives: Mapping[str, Objective], ρ: np.ndarray) -> Schedule:
        """The same schedule with pieces, where steps are chosen or equal; given steps stay as they are."""
        found = None if schedule.ends is not None else self.resolution(schedule.duration, objectives, ρ)
        if found is None:
            return schedule
        if not schedule.tolerance:
            return schedule
        return replace(schedule, pieces=found.pieces(schedule.longest_chosen), probes=found.probes)

    def resolution(self, duration: float, objectives: Mapping[str, Objective], ρ: np.ndarray) -> TimeResolution | None:
        """Edges and limits over a run; None where the model has no explicit function of time."""
        key = tuple(objectives.values())
        if key not in self._functions:
            _remember(self._functions, key, explicit_time(self._equations, objectives))
        functions = self._functions[key]
        if functions is None:
            return None
        values = (key, duration, *ρ[list(functions.parameters)].tolist())
        if values not in self._resolved:
            _remember(self._resolved, values, resolve(functions, duration, ρ))
        return self._resolved[values]


def _remember(memory: OrderedDict[Any, Any], key: Any, value: Any) -> None:
    memory[key] = value
    while len(memory) > REMEMBERED:
        memory.popitem(last=False)
