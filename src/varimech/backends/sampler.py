"""Many compiled runs that differ in parameter values only; just their objectives at stored times
are kept.
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
"""Names and types of the fields of a record."""
GROWTH = 8
"""Largest growth of the number of runs from one slice to the next."""


@dataclass(frozen=True)
class Samples:
    """Results of some runs."""

    values: np.ndarray
    """(sample, time, objective); NaN where not done."""
    done: np.ndarray
    """Which runs succeeded; the others have to be rerun individually."""
    gradients: np.ndarray | None = None
    """(sample, time, objective, parameter), if the program has derivatives; NaN where not done."""
    states: np.ndarray | None = None
    """(sample, time, state), if requested."""


class Sampler:
    """Executes a compiled program for rows of parameter values. It can be sent to other processes,
    which build the library themselves.
    """

    entry = "vm_sample_all"
    """Function of a library, or kernel, that executes many runs."""
    given_steps = 0
    """Numbers behind the parameters of a row: the number of its steps, and their ends from 0 on,
    padded with zeros; 0 if runs share a schedule.
    """
    kept_steps = 0
    """Largest number of steps whose ends a run keeps; 0 if runs keep none."""

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
        """`reach`: distance of each parameter from its nominal value within which the nominal
        initial state leads to its own in one step; beyond, continuation steps are needed.
        `conditions`: functions that return which rows of values are valid.
        """
        self.limits = limits
        """Residuals of positions and velocities up to which joints hold together; runs beyond need
        a check.
        """
        self.ranges = dict(ranges or {})
        """Least and greatest values of parameters that functions of time depend on, for which the
        schedule is valid; rows with other values are not done.
        """

    @property
    def times(self) -> np.ndarray:
        """Times of stored results (s)."""
        return self.inputs.schedule.stored_times

    def description(self, native: NativeProgram, sizes: dict[str, int]) -> dict[str, Any]:
        """Return the data that its runs share, as plain data.

        Args:
            native: program that executes them: its own, or the variant for a GPU.
            sizes: sizes of the arrays of a run.
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
        """Return the data that its runs share, as the driver reads them.

        Args:
            description: see `description`.
            fields: fields of the record of a run.
            shared: whether runs, one after the other, use the same storage.
        """
        return Batch(description, fields, states=self.states)

    def __call__(self, rows: np.ndarray) -> Samples:
        """Execute runs for rows of values of all parameters, on one core."""
        return self.by(self._lanes if self.native.has_lanes else self._processor, rows)

    def by(
        self, execute: Callable[[np.ndarray], dict[str, np.ndarray]], rows: np.ndarray
    ) -> Samples:
        """Execute runs by a CPU or a GPU for all rows that are valid."""
        fit = np.isfinite(rows).all(axis=1)
        for holds in self.conditions:
            fit &= holds(rows)
        for k, (least, greatest) in self.ranges.items():
            fit &= (least <= rows[:, k]) & (rows[:, k] <= greatest)
        if fit.all():
            return self._without_failed(**execute(rows))
        return _scattered(self._without_failed(**execute(rows[fit])), fit)

    @property
    def width(self) -> int:
        """Number of samples that are executed side by side, in the lanes of a vector."""
        return int(lane_machine().vm_lane_count()) if self.native.has_lanes else 1

    @property
    def _lanes(self) -> Processor:
        """Executes vectors of samples by the code that is compiled now."""
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
        """Executes single runs by the code that is compiled now: generated code replaces bytecode."""
        kept, compiled = self._kept, self.native.compiled
        if kept is None or kept[0] != compiled:
            description = self.description(self.native, self.native.sizes)
            batch = self.batch(description, FIELDS, shared=True)
            # sizes and plans for bytecode serve compiled functions, too
            tables = {**self.native.tables, **self.native.entry_points}
            self._kept = kept = compiled, Processor(batch, machine(), tables, self.entry)
        return kept[1]

    def _without_failed(
        self,
        objectives: np.ndarray,
        gradients: np.ndarray,
        residuals: np.ndarray,
        status: np.ndarray,
        states_stored: np.ndarray | None = None,
    ) -> Samples:
        """Return the results with NaN in runs that did not reach their end, came apart or are not
        finite.
        """
        position, velocity = self.limits
        done = (status == DONE) & (residuals[:, 0] <= position) & (residuals[:, 1] <= velocity)
        # values at events exist only after these events
        rows = slice(None) if self.native.program.samples is None else slice(-1, None)
        for array in (objectives[:, rows], gradients[:, rows]):
            done &= np.isfinite(array).all(axis=tuple(range(1, array.ndim)))
        if states_stored is not None:  # a run that an event has ended stores fewer states
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
    """Return the results of runs that all have to be rerun individually."""
    shape = (count, times, objectives)
    gradients = None if parameters is None else np.full((*shape, parameters), np.nan)
    return Samples(np.full(shape, np.nan), np.zeros(count, dtype=bool), gradients)


def _scattered(results: Samples, fit: np.ndarray) -> Samples:
    """Distribute the results of some rows among all rows; the others are not done."""

    def among_all(array: np.ndarray | None) -> np.ndarray | None:
        if array is None:
            return None
        whole = np.full((len(fit), *array.shape[1:]), np.nan)
        whole[fit] = array
        return whole

    done = np.zeros(len(fit), dtype=bool)
    done[fit] = results.done
    values = among_all(results.values)
    assert values is not None
    return Samples(values, done, among_all(results.gradients), among_all(results.states))


def joined(parts: Sequence[Samples]) -> Samples:
    """Concatenate results."""
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
    """Execute all runs, for a tenth of a second at a time; results do not depend on the slices.
    `report` receives the number of completed runs.
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
