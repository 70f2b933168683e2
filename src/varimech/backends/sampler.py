"""Many compiled runs that differ in parameter values only: objectives at stored times, and nothing
else, are kept of each.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any

import numpy as np

from ..core.interrupts import Stopped
from .batch import DONE, Batch, Processor
from .inputs import Inputs
from .machine import lane_machine, machine
from .native import NativeProgram
from .native_run import FIELDS, settings_of, shared_arrays
from .slices import next_slice

Fields = list[tuple[str, str]]
"""Of a record: names and types."""
GROWTH = 8
"""Times as many runs as in the slice before, at most."""


@dataclass(frozen=True)
class Samples:
    """What some runs yield."""

    values: np.ndarray
    """(sample, time, objective); not a number where not done"""
    done: np.ndarray
    """Which runs went well; the others have to be looked after one by one."""
    gradients: np.ndarray | None = None
    """(sample, time, objective, parameter), where the program has derivatives; not a number where not
    done
    """
    states: np.ndarray | None = None
    """(sample, time, state), where they are wanted"""


class Sampler:
    """Carries out a compiled program for rows of parameter values. It can be sent to other
    processes: they build the library themselves.
    """

    entry = "vm_sample_all"
    """Function of a library, or kernel, that executes many runs."""
    given_steps = 0
    """Numbers behind the parameters of a row: the number of its steps, and their ends from 0 on, filled
    up with zeros; none where runs share a schedule.
    """
    kept_steps = 0
    """Most steps of runs that keep their ends."""

    def __init__(
        self,
        native: NativeProgram,
        inputs: Inputs,
        reach: np.ndarray,
        conditions: Sequence[Callable[[np.ndarray], np.ndarray]],
        limits: tuple[float, float],
        ranges: Mapping[int, tuple[float, float]] | None = None,
        *,
        states: bool = False,
    ):
        self.native, self.inputs = native, inputs
        self.states = states
        """Whether states at stored times are kept, too."""
        self._kept: tuple[bool, Processor] | None = None
        self._kept_lanes: tuple[tuple[bool, bool], Processor] | None = None
        self.reach, self.conditions = reach, conditions
        """How far from its nominal value each parameter may be for the nominal start to lead to its
        own at once; further away, it is followed on the way there. What tells which rows of values
        make sense.
        """
        self.limits = limits
        """Residuals of positions and velocities up to which joints hold together, without a further
        look.
        """
        self.ranges = dict(ranges or {})
        """Least and greatest values of parameters on which functions of time depend, for which the
        schedule suits; rows with other values are not done.
        """

    @property
    def times(self) -> np.ndarray:
        """When results are stored, s."""
        return self.inputs.schedule.stored_times

    def description(self, native: NativeProgram, sizes: dict[str, int]) -> dict[str, Any]:
        """What its runs share, as plain data.

        Args:
            native: what executes them: its own program, or the same for a GPU.
            sizes: of the arrays of a run.
        """
        i, p = self.inputs, native.program
        arrays = {**shared_arrays(p, i), "reach": self.reach} | (
            {} if i.chosen is None else {"independent": i.chosen}
        )
        return {
            "rows": i.schedule.stored_count,
            "sizes": sizes,
            "settings": settings_of(p, i),
            "given_steps": self.given_steps,
            "kept_steps": self.kept_steps,
            "arrays": arrays,
        }

    def batch(self, description: dict[str, Any], fields: Fields, *, shared: bool) -> Batch:
        """What its runs share, as the driver reads it.

        Args:
            description: see `description`.
            fields: of the record of a run.
            shared: whether runs, one after the other, use the same storage.
        """
        return Batch(description, fields, states=self.states)

    def __call__(self, rows: np.ndarray) -> Samples:
        """Runs for rows of values of all parameters, on one core."""
        return self.by(self._lanes if self.native.has_lanes else self._processor, rows)

    def by(
        self, execute: Callable[[np.ndarray], dict[str, np.ndarray]], rows: np.ndarray
    ) -> Samples:
        """Runs that a CPU or a GPU executes, as far as rows are valid."""
        fit = np.isfinite(rows).all(axis=1)
        for holds in self.conditions:
            fit &= holds(rows)
        for k, (least, greatest) in self.ranges.items():
            fit &= (least <= rows[:, k]) & (rows[:, k] <= greatest)
        if fit.all():
            return self._sorted_out(**execute(rows))
        return _scattered(self._sorted_out(**execute(rows[fit])), fit)

    @property
    def width(self) -> int:
        """Samples that are executed side by side, in the lanes of a vector."""
        return int(lane_machine().vm_lane_count()) if self.native.has_lanes else 1

    @property
    def _lanes(self) -> Processor:
        """Vectors of samples, by what is compiled now."""
        state = (self.native.compiled, self.native.lanes_compiled)
        kept = self._kept_lanes
        if kept is None or kept[0] != state:
            description = self.description(self.native, self.native.lane_sizes)
            batch = self.batch(description, FIELDS, shared=False)
            processor = Processor(batch, lane_machine(), self.native.lane_tables, "vm_sample_lanes")
            self._kept_lanes = kept = state, processor
        return kept[1]

    @property
    def _processor(self) -> Processor:
        """By what is compiled now: generated code takes over from bytecode."""
        kept, compiled = self._kept, self.native.compiled
        if kept is None or kept[0] != compiled:
            description = self.description(self.native, self.native.sizes)
            batch = self.batch(description, FIELDS, shared=True)
            # sizes and plans for bytecode serve compiled functions, too
            tables = {**self.native.tables, **self.native.entry_points}
            self._kept = kept = compiled, Processor(batch, machine(), tables, self.entry)
        return kept[1]

    def _sorted_out(
        self,
        objectives: np.ndarray,
        gradients: np.ndarray,
        residuals: np.ndarray,
        status: np.ndarray,
        states_stored: np.ndarray | None = None,
    ) -> Samples:
        """Good runs are those that came to their end, held together and are finite."""
        position, velocity = self.limits
        done = (status == DONE) & (residuals[:, 0] <= position) & (residuals[:, 1] <= velocity)
        # values at events are there after these only
        rows = slice(None) if self.native.program.samples is None else slice(-1, None)
        for found in (objectives[:, rows], gradients[:, rows]):
            done &= np.isfinite(found).all(axis=tuple(range(1, found.ndim)))
        if states_stored is not None:  # a run that an event has ended stores fewer
            done &= np.isfinite(states_stored).all(axis=(1, 2))
        objectives[~done] = gradients[~done] = np.nan
        p = self.native.program
        differentiated = p.adjoint or p.direction_count is not None
        return Samples(objectives, done, gradients if differentiated else None, states_stored)

    def __getstate__(self) -> dict[str, Any]:
        kept = {"_kept": None, "_kept_lanes": None}
        return {**self.__dict__, **kept, "native": self.native.program}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, native=NativeProgram(state["native"]))
        if not self.native.load() and not self.native.has_lanes:
            self.native.build_in_background()
        if self.native.has_lanes and not self.native.load_lanes():
            self.native.build_lanes_in_background()


def nothing(count: int, times: int, objectives: int, parameters: int | None) -> Samples:
    """Of runs that are all to be looked after one by one."""
    shape = (count, times, objectives)
    gradients = None if parameters is None else np.full((*shape, parameters), np.nan)
    return Samples(np.full(shape, np.nan), np.zeros(count, dtype=bool), gradients)


def _scattered(found: Samples, fit: np.ndarray) -> Samples:
    """Runs of some rows among all, the others not done."""

    def among_all(array: np.ndarray | None) -> np.ndarray | None:
        if array is None:
            return None
        whole = np.full((len(fit), *array.shape[1:]), np.nan)
        whole[fit] = array
        return whole

    done = np.zeros(len(fit), dtype=bool)
    done[fit] = found.done
    values = among_all(found.values)
    assert values is not None
    return Samples(values, done, among_all(found.gradients), among_all(found.states))


def joined(parts: Sequence[Samples]) -> Samples:
    """One after the other."""
    gradients = [p.gradients for p in parts if p.gradients is not None]
    states = [p.states for p in parts if p.states is not None]
    return Samples(
        np.concatenate([p.values for p in parts]),
        np.concatenate([p.done for p in parts]),
        np.concatenate(gradients) if gradients else None,
        np.concatenate(states) if states else None,
    )


def in_slices(
    sampler: Sampler,
    rows: np.ndarray,
    stop: Event | None,
    report: Callable[[int], None] = lambda done: None,
) -> Samples:
    """All runs, a tenth of a second of them at a time; they do not depend on which are run
    together. `report` is called with how many are done.
    """
    parts, at, size = [], 0, sampler.width
    while at < len(rows):
        if stop is not None and stop.is_set():
            raise Stopped
        began = time.perf_counter()
        parts.append(sampler(rows[at : at + size]))
        at += size
        report(min(at, len(rows)))
        size = next_slice(size, time.perf_counter() - began, GROWTH)
    return joined(parts)
