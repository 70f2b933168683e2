"""Many compiled runs that differ in parameter values only: objectives at stored times, and nothing
else, are kept of each.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any

import numpy as np

from ..core.interrupts import Stopped
from .batch import DONE, Batch, Processor
from .inputs import Inputs
from .machine import lane_machine
from .native import NativeProgram
from .native_run import FIELDS, settings_of, shared_arrays
from .slices import next_slice

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


class Sampler:
    """Carries out a compiled program for rows of parameter values. It can be sent to other
    processes: they build the library themselves.
    """

    def __init__(
        self,
        native: NativeProgram,
        inputs: Inputs,
        reach: np.ndarray,
        conditions: Sequence[Callable[[np.ndarray], np.ndarray]],
        limits: tuple[float, float],
        fixed: Sequence[int] = (),
    ):
        self.native, self.inputs = native, inputs
        self._kept: tuple[object, Processor] | None = None
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
        self.fixed = list(fixed)
        """Parameters that move edges in time, which the schedule meets for nominal values only;
        rows with other values are not done.
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
            "arrays": arrays,
        }

    def __call__(self, rows: np.ndarray) -> Samples:
        """Runs for rows of values of all parameters, on one core."""
        return self.by(self._lanes if self.native.has_lanes else self._processor, rows)

    def by(
        self, execute: Callable[[np.ndarray], dict[str, np.ndarray]], rows: np.ndarray
    ) -> Samples:
        """Runs that a processor or a card carries out, as far as rows make sense."""
        fit = np.isfinite(rows).all(axis=1)
        for holds in self.conditions:
            fit &= holds(rows)
        fit &= (rows[:, self.fixed] == self.inputs.nominal[self.fixed]).all(axis=1)
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
            batch = Batch(self.description(self.native, self.native.lane_sizes), FIELDS)
            processor = Processor(batch, lane_machine(), self.native.lane_tables, "vm_sample_lanes")
            self._kept_lanes = kept = state, processor
        return kept[1]

    @property
    def _processor(self) -> Processor:
        """By the library there is now: compiled code takes over from the machine."""
        kept = self._kept
        if kept is None or kept[0] is not self.native.library:
            batch = Batch(self.description(self.native, self.native.sizes), FIELDS)
            tables = self.native.tables
            library = self.native.library  # after the tables: those for bytecode serve both
            self._kept = kept = library, Processor(batch, library, tables)
        return kept[1]

    def _sorted_out(
        self,
        objectives: np.ndarray,
        gradients: np.ndarray,
        residuals: np.ndarray,
        status: np.ndarray,
    ) -> Samples:
        """Good runs are those that came to their end, held together and are finite."""
        position, velocity = self.limits
        done = (status == DONE) & (residuals[:, 0] <= position) & (residuals[:, 1] <= velocity)
        # values at events are there after these only
        rows = slice(None) if self.native.program.samples is None else slice(-1, None)
        for found in (objectives[:, rows], gradients[:, rows]):
            done &= np.isfinite(found).all(axis=tuple(range(1, found.ndim)))
        objectives[~done] = gradients[~done] = np.nan
        return Samples(
            objectives, done, None if self.native.program.direction_count is None else gradients
        )

    def __getstate__(self) -> dict[str, Any]:
        kept = {"_kept": None, "_kept_lanes": None}
        return {**self.__dict__, **kept, "native": self.native.program}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, native=NativeProgram(state["native"]))
        if not self.native.load():
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

    def among_all(array: np.ndarray) -> np.ndarray:
        whole = np.full((len(fit), *array.shape[1:]), np.nan)
        whole[fit] = array
        return whole

    done = np.zeros(len(fit), dtype=bool)
    done[fit] = found.done
    return Samples(
        among_all(found.values),
        done,
        None if found.gradients is None else among_all(found.gradients),
    )


def joined(parts: Sequence[Samples]) -> Samples:
    """One after the other."""
    gradients = [p.gradients for p in parts if p.gradients is not None]
    return Samples(
        np.concatenate([p.values for p in parts]),
        np.concatenate([p.done for p in parts]),
        np.concatenate(gradients) if gradients else None,
    )


def in_slices(sampler: Sampler, rows: np.ndarray, stop: Event | None) -> Samples:
    """All runs, a tenth of a second of them at a time; they do not depend on which are run
    together.
    """
    parts, at, size = [], 0, sampler.width
    while at < len(rows):
        if stop is not None and stop.is_set():
            raise Stopped
        began = time.perf_counter()
        parts.append(sampler(rows[at : at + size]))
        at += size
        size = next_slice(size, time.perf_counter() - began, GROWTH)
    return joined(parts)
