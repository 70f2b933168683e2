"""Step and output times of a run: equal steps, steps chosen by a tolerance, or given steps."""

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
"""Step of fixed-step integrators (s), a round value."""
DEFAULT_TOLERANCE = 1e-8
"""Relative tolerance of adaptive integrators, a round value."""
DEFAULT_OUTPUTS = 500
"""Output intervals of an adaptive run: enough for smooth plots."""
LONGEST = 0.02
"""Longest adaptive step, as a share of the duration, unless given: shorter events may be missed."""
LONGEST_GRADUAL = 0.04
"""`LONGEST` where forces and integrands vary no faster than the motion, so that the error estimate
misses nothing but singular positions: with 0.05, the N four-bar in relative coordinates passes one
with an error of 13 tolerances.
"""
SMALLEST_TOLERANCE = 1e-13
"""Smallest relative tolerance, near the rounding error of double precision."""
MOST_STEPS, MOST_STORED = 1e12, 1e7
"""Largest numbers of steps and of stored states of one run."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """Pieces of a run. Each piece ends at a step end; its steps are at most its limit (s)."""

    stops: np.ndarray
    limits: np.ndarray


@dataclass(frozen=True, eq=False)
class Passages:
    """Given steps that pass an event, and the data of each event."""

    numbers: np.ndarray
    """For each step end the row of its event, counted from 1; 0 for steps that pass none."""
    rows: np.ndarray
    """Data of the events, (event, datum)."""


@dataclass(frozen=True, eq=False)
class Schedule:
    """Step and output times of a run (s)."""

    duration: float
    step: float = 0.0
    """Length of equal steps; 0 for chosen or given steps."""
    steps: int = 0
    """Number of steps; 0 if it is not known in advance."""
    every: int = 1
    """Store every n-th state and the last one; `outputs` takes precedence."""
    tolerance: float = 0.0
    """Relative tolerance of chosen steps; 0 for equal or given steps."""
    outputs: np.ndarray | None = None
    """Output times, from 0 to the duration."""
    at_steps: bool = False
    """Whether states are stored at ends of steps only, the first one at or after each output time:
    they need no evaluation beyond those of the steps.
    """
    ends: np.ndarray | None = None
    """Given step ends, from 0 to the duration."""
    triggers: np.ndarray | None = None
    """With given step ends, the step ends that are events (`Trajectory.triggers`)."""
    passages: Passages | None = None
    """With given step ends, those that pass an event by an event map of the state."""
    given_tolerance: float = 0.0
    """Tolerance with which the given steps were chosen."""
    longest_step: float = math.inf
    """Longest chosen step."""
    longest_share: float = LONGEST
    """Longest chosen step, as a share of the duration."""
    pieces: Pieces | None = None
    """Pieces with their own step limits, if the model has explicit functions of time that need
    them.
    """
    probes: np.ndarray | None = None
    """Sampling times of explicit functions of time, followed by the duration that each represents.
    """

    def passage(self, step: int) -> np.ndarray | None:
        """Return the data of a step that passes an event, by the number of its end; None for other
        steps.
        """
        number = 0 if self.passages is None else int(self.passages.numbers[step])
        return self.passages.rows[number - 1] if self.passages is not None and number else None

    @property
    def longest_chosen(self) -> float:
        """Longest chosen step, including the default limit."""
        return min(self.longest_step, self.longest_share * self.duration)

    @property
    def rest_tolerance(self) -> float:
        """Share of the largest speed below which an impact has no restitution, so that accumulating
        impacts end in permanent contact: the tolerance.
        """
        return self.tolerance or self.given_tolerance or DEFAULT_TOLERANCE

    @property
    def stored_count(self) -> int:
        """Number of stored states."""
        if self.outputs is not None:
            return self.outputs.size
        return 1 + self.steps // self.every + (1 if self.steps % self.every else 0)

    @property
    def stored_times(self) -> np.ndarray:
        """Times of the stored states."""
        if self.outputs is not None:
            return self.outputs
        stored = np.append(np.arange(0, self.steps, self.every), self.steps)
        return stored * self.step if self.ends is None else self.ends[stored]

    @property
    def estimated_steps(self) -> int:
        """Number of steps, or a round estimate (200) if it is unknown."""
        return self.steps or 200

    @property
    def known_ends(self) -> np.ndarray:
        """Step ends, if they are known in advance."""
        return np.arange(self.steps + 1) * self.step if self.ends is None else self.ends

    def replayed(self, ends: np.ndarray, triggers: np.ndarray | None = None) -> Schedule:
        """Return this schedule with the step ends, and events, of another run."""
        return replace(
            self,
            triggers=triggers,
            given_tolerance=self.tolerance or self.given_tolerance,
            tolerance=0.0,
            steps=ends.size - 1,
            ends=ends,
            pieces=None,
            probes=None,
            at_steps=False,
        )

    def until(self, time: float) -> Schedule:
        """Return this schedule up to a time, which becomes its last output time."""
        if self.outputs is None or time == self.duration:
            return self
        return replace(
            self, duration=time, outputs=np.append(self.outputs[self.outputs < time], time)
        )

    def stored_at_steps(self) -> Schedule:
        """Return this schedule with states stored at ends of steps, not between them."""
        return replace(self, at_steps=self.outputs is not None)

    def last_only(self) -> Schedule:
        """Return this schedule with only the initial and the final state stored."""
        if self.outputs is not None:
            return replace(self, outputs=np.array([0.0, self.duration]))
        return replace(self, every=self.steps)

    def shortened(self) -> Schedule:
        """Return a schedule of the same kind with a very short duration."""
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


def check_every(every: object) -> None:
    """Raise a ModelError unless `every` is a valid number of steps."""
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
    """Schedule of equal steps; they are shortened slightly if they do not divide the duration.

    Args:
        duration: of the run (s).
        step: step (s).
        every: store every n-th state.

    Raises:
        ModelError: if a value is not usable.
    """
    _check_seconds(duration=duration, step=step)
    if step > duration:
        problem = f"s is longer than the whole run of {duration:g} s"
        raise ModelError(problem, field="step", value=step)
    steps = _intervals(duration, "step", step, MOST_STEPS)
    schedule = Schedule(float(duration), float(duration) / steps, steps, int(every))
    if schedule.stored_count > MOST_STORED:
        problem = f"s with every = {every!r} would store more than {MOST_STORED:g} results"
        raise ModelError(
            problem, field="step", value=step, remedy=Message("a larger {every} stores fewer")
        )
    return schedule


def chosen_steps(
    duration: float, tolerance: float, output: Output, longest_step: float | None = None
) -> Schedule:
    """Schedule of steps chosen by a tolerance.

    Args:
        duration: of the run (s).
        tolerance: relative error tolerance.
        output: interval between stored states (s), or their times; both ends are always stored.
        longest_step: longest step (s).

    Raises:
        ModelError: if a value is not usable.
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


def given_ends(ends: object, duration: float) -> np.ndarray:
    """Check step ends that the caller gives.

    Raises:
        ModelError: unless they increase from 0 to the duration.
    """
    times = np.array(ends, dtype=float)
    if (
        times.ndim != 1
        or times.size < 2
        or times[0] != 0
        or times[-1] != duration
        or not (np.diff(times) > 0).all()
    ):
        problem = Message(
            "{ends} must increase from 0 to the duration, {:g} s, like `step_ends` of another run",
            duration,
        )
        raise ModelError(problem)
    return times


def _given_times(duration: float, output: Sequence[float] | np.ndarray) -> np.ndarray:
    try:
        times = np.asarray(output, dtype=float)
    except (TypeError, ValueError):
        times = np.full(1, np.nan)
    if times.ndim != 1 or not np.isfinite(times).all():
        raise ModelError(
            "must be a number of seconds or a list of times", field="output", value=output
        )
    if times.size and (times.min() < 0 or times.max() > duration):
        raise ModelError(
            f"output: time {times[(times < 0) | (times > duration)][0]:g} s is outside the run, 0"
            f" to {duration:g} s"
        )
    return np.unique([0.0, *times, float(duration)])


def _intervals(duration: float, label: str, length: float, most: float) -> int:
    """Number of intervals of a length in the duration, rounded up."""
    count = duration / length
    if count > most:
        problem = f"s is too short: a run of {duration:g} s would have more than {most:g} of them"
        raise ModelError(problem, label=label, value=length)
    return max(1, math.ceil(count - 1e-9))


def _check_seconds(**values: Any) -> None:
    for label, value in values.items():
        if not _is_number(value) or not value > 0:
            raise ModelError(
                "must be a positive finite number of seconds", label=label, value=value
            )


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
