"""When a run steps and when it stores: equal steps, steps that a tolerance chooses, or steps at
given times.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from .errors import MOST, ModelError
from .messages import Message

Output = float | Sequence[float] | np.ndarray | None
"""Time between stored results, or their times themselves (s)."""
DEFAULT_STEP = 1e-3
"""s, of integrators that take equal steps."""
DEFAULT_TOLERANCE = 1e-8
"""Of integrators that choose their steps."""
DEFAULT_OUTPUTS = 500
"""Intervals between stored results of a run that chooses its steps."""
LONGEST = 0.02
"""Share of a run that one chosen step may take, if nothing else is given: what happens within less
may be missed.
"""
SMALLEST_TOLERANCE = 1e-13
MOST_STEPS, MOST_STORED = 1e12, 1e7
"""Steps, and stored results, of one run."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """Pieces of a run: a step ends where a piece does, and is no longer than its limit (s)."""

    stops: np.ndarray
    limits: np.ndarray


@dataclass(frozen=True, eq=False)
class Schedule:
    """Times of a run, in s."""

    duration: float
    step: float = 0.0
    """Of equal steps; 0 where they are chosen or given."""
    steps: int = 0
    """Number of steps, where it is known before."""
    every: int = 1
    """Every so many steps one is stored, and the last; with `outputs` those are stored instead."""
    tolerance: float = 0.0
    """Relative error that steps are chosen for; 0 where they are equal or given."""
    outputs: np.ndarray | None = None
    """When to store, from 0 to the duration."""
    ends: np.ndarray | None = None
    """Given times between steps, from 0 to the duration."""
    longest_step: float = math.inf
    """Longest step, where they are chosen."""
    pieces: Pieces | None = None
    """Pieces with limits of their own, where the model's explicit functions of time
    ask for them.
    """
    probes: np.ndarray | None = None
    """Times that show what explicit functions of time do, followed by the time that each stands
    for.
    """

    @property
    def longest_chosen(self) -> float:
        """Longest step, where they are chosen."""
        return min(self.longest_step, LONGEST * self.duration)

    @property
    def stored_count(self) -> int:
        """How many states are stored."""
        if self.outputs is not None:
            return self.outputs.size
        return 1 + self.steps // self.every + (1 if self.steps % self.every else 0)

    @property
    def stored_times(self) -> np.ndarray:
        """When."""
        if self.outputs is not None:
            return self.outputs
        stored = np.append(np.arange(0, self.steps, self.every), self.steps)
        return stored * self.step if self.ends is None else self.ends[stored]

    @property
    def estimated_steps(self) -> int:
        """Number of steps, guessed where it is not known."""
        return self.steps or 200

    @property
    def known_ends(self) -> np.ndarray:
        """Times between steps, where they are known before."""
        return np.arange(self.steps + 1) * self.step if self.ends is None else self.ends

    def replayed(self, ends: np.ndarray) -> Schedule:
        """The same with steps that another run has chosen."""
        return replace(
            self, tolerance=0.0, steps=ends.size - 1, ends=ends, pieces=None, probes=None
        )

    def last_only(self) -> Schedule:
        """The same with nothing stored but beginning and end."""
        if self.outputs is not None:
            return replace(self, outputs=np.array([0.0, self.duration]))
        return replace(self, every=self.steps)

    def shortened(self) -> Schedule:
        """A run of the same kind that is over soon."""
        if self.tolerance:
            end = 1e-6 * self.duration
            return replace(
                self, duration=end, outputs=np.array([0.0, end]), pieces=None, probes=None
            )
        if self.ends is not None:
            first = self.ends[:2]
            return replace(
                self,
                duration=float(first[-1]),
                steps=1,
                every=1,
                ends=first,
                outputs=None if self.outputs is None else first,
            )
        return replace(self, duration=self.step, steps=1, every=1)


def check_every(every: Any) -> None:
    """It has to be a number of steps."""
    if (
        not isinstance(every, Integral)
        or isinstance(every, bool)
        or not 1 <= int(every) <= MOST["every"]
    ):
        raise ModelError(
            f"must be a whole number of steps, 1 or more, {MOST['every']} at most",
            field="every",
            value=every,
        )


def equal_steps(duration: float, step: float, every: int) -> Schedule:
    """Checked equal steps; they are shortened a little where they do not divide the duration."""
    _check_seconds(duration=duration, step=step)
    if step > duration:
        problem = f"s is longer than the whole run of {duration:g} s"
        raise ModelError(problem, field="step", value=step)
    steps = _intervals(duration, "step", step, MOST_STEPS)
    schedule = Schedule(float(duration), float(duration) / steps, steps, int(every))
    if schedule.stored_count > MOST_STORED:
        raise ModelError(
            f"s with every = {every!r} would store more than {MOST_STORED:g} results",
            field="step",
            value=step,
            remedy=Message("a larger {every} stores fewer"),
        )
    return schedule


def chosen_steps(
    duration: float, tolerance: float, output: Output, longest_step: float | None = None
) -> Schedule:
    """Checked steps that a tolerance chooses, with results stored every `output` seconds, or at
    those times (and at both ends).
    """
    _check_seconds(duration=duration)
    longest = math.inf
    if longest_step is not None:
        _check_seconds(longest_step=longest_step)
        _intervals(duration, "longest_step", longest_step, MOST_STEPS)
        longest = float(longest_step)
    if not _is_number(tolerance) or not SMALLEST_TOLERANCE <= tolerance <= 0.1:
        problem = f"must be a number between {SMALLEST_TOLERANCE:g} and 0.1"
        raise ModelError(problem, field="tolerance", value=tolerance)
    if isinstance(output, (Sequence, np.ndarray)) and not isinstance(output, str):
        times = _given_times(duration, output)
        return Schedule(
            float(duration), tolerance=float(tolerance), outputs=times, longest_step=longest
        )
    count = DEFAULT_OUTPUTS
    if output is not None:
        _check_seconds(output=output)
        if output > duration:
            problem = f"s is longer than the whole run of {duration:g} s"
            raise ModelError(problem, field="output", value=output)
        count = _intervals(duration, "output", output, MOST_STORED)
    outputs = np.linspace(0.0, duration, count + 1)
    outputs[-1] = duration
    return Schedule(
        float(duration), tolerance=float(tolerance), outputs=outputs, longest_step=longest
    )


def given_ends(ends: Any, duration: float) -> np.ndarray:
    """Checked times between steps, from 0 to the duration."""
    times = np.array(ends, dtype=float)
    if (
        times.ndim != 1
        or times.size < 2
        or times[0] != 0
        or times[-1] != duration
        or not (np.diff(times) > 0).all()
    ):
        raise ModelError(
            Message(
                "{ends} must rise from 0 to the duration, {:g} s, as `step_ends` of another run"
                " does",
                duration,
            )
        )
    return times


def _given_times(duration: float, output: Sequence[float] | np.ndarray) -> np.ndarray:
    try:
        times = np.asarray(output, dtype=float)
    except (TypeError, ValueError):
        times = np.full(1, np.nan)
    if times.ndim != 1 or not np.isfinite(times).all():
        raise ModelError(f"output = {output!r} must be a number of seconds or a list of times")
    if times.size and (times.min() < 0 or times.max() > duration):
        raise ModelError(
            f"output: time {times[(times < 0) | (times > duration)][0]:g} s is outside the run, 0"
            f" to {duration:g} s"
        )
    return np.unique([0.0, *times, float(duration)])


def _intervals(duration: float, label: str, length: float, most: float) -> int:
    """How many of a length there are in the duration, rounded up."""
    count = duration / length
    if count > most:
        raise ModelError(
            f"{label} = {length!r} s is too short: a run of {duration:g} s would have more than"
            f" {most:g} of them"
        )
    return max(1, math.ceil(count - 1e-9))


def _check_seconds(**values: Any) -> None:
    for label, value in values.items():
        if not _is_number(value) or not value > 0:
            raise ModelError(f"{label} = {value!r} must be a positive finite number of seconds")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
