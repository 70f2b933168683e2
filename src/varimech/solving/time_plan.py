"""The schedule of a run, adapted to the explicit functions of time of its model: steps end at jumps
and kinks, and are short where functions change fast.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

import numpy as np

from ..coordinates.equations import Equations
from ..core.errors import ModelError
from ..core.messages import Message
from ..core.schedule import LONGEST_GRADUAL, Pieces, Schedule
from ..sensitivity.objective import Objective
from .explicit_time import ExplicitTime, explicit_time
from .gradual_forces import is_gradual_along
from .task import Task
from .time_resolution import TimeResolution, resolve

K = TypeVar("K")
V = TypeVar("V")
REMEMBERED = 64
"""Number of sets of objectives, and of parameter values, whose functions of time are cached."""
ENOUGH = 3.0
"""Number of equal steps within a limit of adaptive steps from which on they resolve a feature: more
than four to the period of a sine. They are then unchanged.
"""
FINER = 16.0
"""Number of steps within a limit that replace equal steps where there are fewer: 25 to the period
of a sine, as no error estimate controls them.
"""
FEW, MANY = 5, 50
"""Where a piece between two edges has fewer equal steps than the first number, it is divided into
the second number.
"""
BRIDGE = 1e-3
"""First step after an edge, over those around it. It carries accelerations across a jump; schemes
with memory of earlier steps forget the jump while steps double from there. A first step of the size
of rounding, as with adaptive steps, is too short for implicit schemes.
"""
KNOWN = ("direct", "adjoint", "complex-step")
"""Derivative methods that include the contributions of jumps."""
SAME = 1e-9
"""Share of a step within which two times are equal."""
EDGE = 1e-14
"""Share of a run that lies between both sides of an edge at most: a few floating-point numbers."""


SLACK = 2.0
"""Factor by which a run may take longer steps than its own functions of time require: these are
resolved with eight intervals per step.
"""
AFAR = (1.1, 2.0, 16.0)
"""Multiples of a parameter for which a shared schedule is tried; runs with other values have their
own schedules.
"""
Ranges = dict[int, tuple[float, float]]
"""Least and greatest values, by index of the parameter."""


class TimePlan:
    """Schedules of one model."""

    def __init__(self, equations: Equations):
        self._equations = equations
        self._functions: OrderedDict[tuple[Objective, ...], ExplicitTime | None] = OrderedDict()
        self._resolved: OrderedDict[tuple[object, ...], TimeResolution] = OrderedDict()
        self._gradual: OrderedDict[tuple[Objective, ...], bool] = OrderedDict()

    def schedule(
        self, schedule: Schedule, objectives: Mapping[str, Objective], ρ: np.ndarray, *, stops: bool
    ) -> Schedule:
        """Divide a schedule into pieces, where steps are adaptive or equal, and limit adaptive
        steps; prescribed steps are unchanged.

        Raises:
            ModelError: if there are edges, and the integrator cannot stop at them.
        """
        if schedule.ends is not None:
            return schedule
        schedule = self._limited(schedule, objectives)
        resolution = self.resolution(schedule.duration, objectives, ρ)
        if resolution is None:
            return schedule
        if not stops:
            return self._bounded(schedule, resolution)
        if schedule.tolerance:
            return replace(
                schedule,
                pieces=resolution.pieces(schedule.longest_chosen),
                probes=resolution.probes,
            )
        pieces = resolution.pieces(ENOUGH * schedule.step)
        return schedule if pieces is None else _refined(schedule, pieces)

    def _bounded(self, schedule: Schedule, resolution: TimeResolution) -> Schedule:
        """Limit the steps of a schedule to resolve every feature; for integrators that choose their
        own steps.
        """
        if resolution.edges.size:
            raise ModelError(
                f"mechanism {self._equations.model.name!r}: a force, driver or integrand jumps or"
                f" has a kink at t = {resolution.edges[0, 1]:.6g} s, where CVODES and IDAS cannot be"
                " made to end a step",
                remedy=Message(
                    "use {integrator}, or equal steps ({step})", integrator=("dop853", "dopri5")
                ),
            )
        return replace(
            schedule, longest_step=min(schedule.longest_step, float(resolution.limits.min()))
        )

    def shared(
        self, schedule: Schedule, objectives: Mapping[str, Objective], ρ: np.ndarray
    ) -> Ranges:
        """Return the ranges of parameters within which runs share the schedule for the values ρ: a
        single value for parameters that move edges or narrow features; for all others on which
        functions of time depend, the range in which steps need not be shorter.
        """
        resolution = (
            None if schedule.ends is not None else self.resolution(schedule.duration, objectives, ρ)
        )
        if resolution is None:
            return {}
        limited = self._limited(schedule, objectives)
        longest = limited.longest_chosen if schedule.tolerance else ENOUGH * schedule.step
        pieces = resolution.pieces(longest)
        apart = pieces is not None and pieces.stops.size > 1
        points = {k: (float(ρ[k]), float(ρ[k])) for k in sorted(resolution.parameters) if apart}
        functions = self._functions[tuple(objectives.values())]
        assert functions is not None
        whole = Pieces(np.array([schedule.duration]), np.array([longest]))

        def suffices(k: int, value: float) -> bool:
            other = ρ.copy()
            other[k] = value
            its = resolve(functions, schedule.duration, other).pieces(longest)
            return _serves(pieces or whole, its or whole)

        others = {
            k: _range(float(ρ[k]), lambda x, k=k: suffices(k, x))  # type: ignore[misc]
            for k in functions.parameters
            if k not in points
        }
        return points | others

    def _limited(self, schedule: Schedule, objectives: Mapping[str, Objective]) -> Schedule:
        """Allow longer steps where forces and integrands vary no faster than the motion; explicit
        functions of time have their own limits.
        """
        if not schedule.tolerance:
            return schedule
        gradual = _remembered(
            self._gradual,
            tuple(objectives.values()),
            lambda: is_gradual_along(self._equations.model, objectives),
        )
        return replace(schedule, longest_share=LONGEST_GRADUAL) if gradual else schedule

    def check_derivatives(self, task: Task, ρ: np.ndarray) -> None:
        """Refuse derivatives with respect to parameters that move a jump, where the method would
        omit the contribution of the jump.
        """
        if task.method not in KNOWN:
            self.refuse_moved_jumps(task, ρ)

    def refuse_moved_jumps(self, task: Task, ρ: np.ndarray) -> None:
        """Refuse derivatives, of any order, that omit the contributions of such jumps."""
        if task.schedule.passages is not None:  # maps over events include them
            return
        resolution = self.resolution(task.schedule.duration, task.objectives, ρ)
        for jump in () if resolution is None else resolution.jumps:
            moving = jump.parameters & set(task.indices or ())
            names = [
                name
                for k, name in enumerate(self._equations.model.parameter_set.parameters)
                if k in moving
            ]
            if names:
                raise ModelError(
                    f"derivatives with respect to {', '.join(map(repr, names))} are not known:"
                    f" {jump.owner!r} jumps at t = {jump.time:.6g} s, and the parameter moves that"
                    " time",
                    remedy=Message(
                        "use {method}, or a steep smooth function in place of the jump, such as"
                        " varimech.tanh((t - t0) / width)",
                        method="finite-difference",
                    ),
                )

    def resolution(
        self, duration: float, objectives: Mapping[str, Objective], ρ: np.ndarray
    ) -> TimeResolution | None:
        """Return edges and limits over a run; None where the model has no explicit function of
        time.
        """
        key = tuple(objectives.values())
        functions = _remembered(
            self._functions, key, lambda: explicit_time(self._equations, objectives)
        )
        if functions is None:
            return None
        values = (key, duration, *ρ[list(functions.parameters)].tolist())
        return _remembered(self._resolved, values, lambda: resolve(functions, duration, ρ))


def _serves(own: Pieces, other: Pieces) -> bool:
    """Whether pieces of one run are short enough for another."""
    if own.stops.size != other.stops.size:
        return False
    same = np.allclose(own.stops, other.stops, rtol=SAME)
    return same and bool((other.limits >= own.limits / SLACK).all())


def _range(value: float, suffices: Callable[[float], bool]) -> tuple[float, float]:
    """Return the range around a value for which `suffices` holds, as far as it is tried."""
    if value == 0:
        tried = [[sign * factor for factor in (1.0, *AFAR)] for sign in (-1, 1)]
    else:  # zero, and values beyond it, may mean something else, such as a width
        tried = [[value / factor for factor in AFAR], [value * factor for factor in AFAR]]
    ends = []
    for values in tried:
        end = value
        for further in values:
            if not suffices(further):
                break
            end = further
        ends.append(end)
    return min(ends), max(ends)


def _refined(schedule: Schedule, pieces: Pieces) -> Schedule:
    """Refine equal steps where pieces require it: steps end at the near side of each edge, and at
    stored times as before.
    """
    stretches = list(_stretches(schedule, pieces))
    parts = [np.zeros(1)]
    for k, (begin, stop, step, after_edge) in enumerate(stretches):
        before, after = (
            stretches[j][2] if 0 <= j < len(stretches) else step for j in (k - 1, k + 1)
        )
        if step < schedule.step:
            parts.append(np.linspace(begin, stop, 1 + math.ceil((stop - begin) / step)))
        parts.append(np.array([begin, stop]))
        rising = begin + _ramp(BRIDGE * min(step, before) if after_edge else before, step)
        falling = stop - _ramp(after, step)
        parts += [rising[rising < stop], falling[falling > begin]]
    fixed = np.unique(np.concatenate(parts))
    grid = schedule.known_ends
    near = fixed[np.clip(np.searchsorted(fixed, grid), 1, fixed.size - 1) - np.array([[0], [1]])]
    snapped = np.where(np.abs(near - grid) <= SAME * schedule.step, near, np.nan)
    grid = np.where(
        np.isnan(snapped[0]), np.where(np.isnan(snapped[1]), grid, snapped[1]), snapped[0]
    )
    ends = np.unique(np.concatenate([fixed, grid]))
    stored = grid[[*range(0, schedule.steps, schedule.every), schedule.steps]]
    return replace(schedule, step=0.0, steps=ends.size - 1, ends=ends, every=1, outputs=stored)


def _stretches(schedule: Schedule, pieces: Pieces) -> Iterator[tuple[float, float, float, bool]]:
    """Yield begin, end and step of each piece, and whether it follows an edge, which its first step
    crosses.
    """
    begin, after_edge = 0.0, False
    edges = np.append(np.diff(pieces.stops, prepend=0.0) <= EDGE * schedule.duration, False)
    for k, (stop, limit) in enumerate(
        zip(pieces.stops.tolist(), pieces.limits.tolist(), strict=True)
    ):
        if edges[k]:
            after_edge = True
            continue
        step = schedule.step if limit >= ENOUGH * schedule.step else limit / FINER
        if (after_edge or edges[k + 1]) and stop - begin < FEW * step:
            step = (stop - begin) / MANY
        yield begin, stop, step, after_edge
        begin, after_edge = stop, False


def _ramp(first: float, step: float) -> np.ndarray:
    """Return the ends of steps that double from `first` until they reach `step`; none if `first` is
    as long.
    """
    count = math.ceil(math.log2(step / first))
    return first * (2.0 ** np.arange(1, 1 + max(0, count)) - 1)


def _remembered(memory: OrderedDict[K, V], key: K, compute: Callable[[], V]) -> V:
    """Return a cached value, computing it if necessary; other threads may drop it meanwhile."""
    if key in memory:
        with suppress(KeyError):
            return memory[key]
    value = memory[key] = compute()
    while len(memory) > REMEMBERED:
        memory.popitem(last=False)
    return value
