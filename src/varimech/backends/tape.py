"""Reverse sweeps over compiled runs: records of steps, within a memory limit.

A run is divided into segments of some steps. Each is recorded while it is executed; when the
records exceed the limit, those of the oldest segments are discarded, and only the state at their
beginning is kept, from which they are executed, and recorded, again when the sweep reaches them.
When even these states are too many, neighbouring segments are merged, and divided again when it is
their turn. So a run that fits is executed once, a longer one twice, and any other a few times.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import ModelError
from ..core.progress import ProgressCallback
from .native_run import NativeRun
from .slices import next_slice
from .trajectory import Trajectory

if TYPE_CHECKING:
    from .native import NativeProgram

SHARE = 4
"""Number of segments whose records fill the memory."""
KEPT = ("state", "chosen", "values", "event_sides")
"""Arrays from which a segment begins."""
OVERHEAD = 500
"""Size of a segment besides its arrays (bytes), roughly."""
STORED = ("times", "states_stored", "objectives_stored", "sensitivities", "gradients")
"""Arrays that a run writes row by row."""


@dataclass(frozen=True, eq=False)
class _Segment:
    """Steps from number `first` to `last`: the data from which they begin, and their records unless
    those were discarded.
    """

    first: int
    last: int
    time: float
    state: np.ndarray
    chosen: np.ndarray
    values: np.ndarray
    """Parameters, with the modes at the beginning of the segment."""
    event_sides: np.ndarray
    records: np.ndarray | None

    @property
    def memory(self) -> int:
        records = 0 if self.records is None else self.records.nbytes
        arrays = sum(getattr(self, name).nbytes for name in KEPT)
        return arrays + records + OVERHEAD


class Tape:
    """One run of an adjoint program, forwards and backwards."""

    def __init__(self, native: NativeProgram, run: NativeRun):
        self._native, self._run, self._record = native, run, run.record
        self._size = native.program.record_size
        self._bound = run.inputs.memory
        least = 2 * SHARE * (8 * self._size + OVERHEAD)
        if self._bound < least:
            raise ModelError(
                f"memory = {self._bound / 1e6:g} MB is too little for this mechanism's adjoint:"
                f" give {1.1 * least / 1e6:.2g} MB or more"
            )
        self._longest = int(self._bound / (SHARE * 8 * self._size))
        self._segments: list[_Segment] = []
        self.taken = 0
        self._slice = 64

    def execute(self, progress: ProgressCallback | None) -> Trajectory:
        """Return values as of any other run; gradients at the end only, with respect to all
        parameters.
        """
        run, r, report = self._run, self._record, progress or (lambda share: None)
        while not run.finished:
            run.allocate(int(r["done"]) + self._next())
            self._advance(int(r["done"]) + self._next())
            report(0.5 * run.share_done)
        trajectory = run.trajectory
        steps = trajectory.step_ends.size - 1
        self._replay(trajectory.step_ends)
        state, following = run.arrays["state"], run.arrays["state"].copy()
        r["to_end"], samples = 1, int(r["samples"])
        while self._segments:
            segment = self._segments.pop()
            self.taken -= segment.memory
            if segment.records is None:
                self._return_to(segment)
                r["samples"] = 0  # the first execution has taken them
                while int(r["done"]) < segment.last:
                    self._advance(min(segment.last, int(r["done"]) + self._next()))
                continue
            state[:] = following
            r["records"], r["first_recorded"] = segment.records.ctypes.data, segment.first
            r["done"], r["time"], r["from_start"] = (
                segment.last,
                trajectory.step_ends[segment.last],
                segment.first == 0,
            )
            r["samples"] = samples
            self._native.go_back(run)
            r["to_end"] = 0
            following = segment.state
            report(1 - 0.5 * segment.first / steps)
        return replace(trajectory, sensitivities=None, gradients=run.adjoint_gradient[None])

    def _next(self) -> int:
        return min(self._slice, self._longest)

    def _advance(self, last: int) -> None:
        """Execute and record steps up to a number, or to the end."""
        run, r = self._run, self._record
        first, begin = int(r["done"]), float(r["time"])
        kept = [run.arrays[name].copy() for name in KEPT]
        # an event may follow the last step
        self._allocate(8 * self._size * (last + 1 - first) + sum(x.nbytes for x in kept) + OVERHEAD)
        records = np.empty((last + 1 - first, self._size))
        r["records"], r["first_recorded"] = records.ctypes.data, first
        began = time.perf_counter()
        self._native.advance(run, last)
        self._slice = next_slice(last - first, time.perf_counter() - began)
        done = int(r["done"])
        records.resize((done - first, self._size), refcheck=False)
        arrays = dict(zip(KEPT, kept, strict=True))
        self._segments.append(_Segment(first, done, begin, records=records, **arrays))
        self.taken += self._segments[-1].memory

    def _allocate(self, ahead: int) -> None:
        """Free memory for a number of bytes: discard records of all but the last segment, the
        oldest first; then merge segments in pairs.
        """
        for k, segment in enumerate(self._segments[:-1]):
            if self.taken + ahead <= self._bound:
                return
            if segment.records is not None:
                self._exchange(k, replace(segment, records=None))
        while self.taken + ahead > self._bound and len(self._segments) > 2:
            *unrecorded, last = self._segments
            pairs = [
                (unrecorded[k], unrecorded[min(k + 1, len(unrecorded) - 1)])
                for k in range(0, len(unrecorded), 2)
            ]
            self._segments = [*[replace(a, last=b.last) for a, b in pairs], last]
            self.taken = sum(s.memory for s in self._segments)

    def _exchange(self, k: int, segment: _Segment) -> None:
        self.taken += segment.memory - self._segments[k].memory
        self._segments[k] = segment

    def _replay(self, ends: np.ndarray) -> None:
        """Repeat the same steps from now on, and store no results: those of the start are written
        to separate arrays.
        """
        r, arrays = self._record, self._run.arrays
        aside = {name: np.zeros_like(arrays[name][:1]) for name in STORED} | {
            "residuals": np.zeros(3)
        }
        for name, array in aside.items():
            r[name] = array.ctypes.data
        self._kept = ends, np.full(2, np.inf), aside
        if self._run.inputs.schedule.tolerance or r["watches"]:
            r["ends"] = ends.ctypes.data
        r["watches"] = 0
        r["outputs"] = self._kept[1].ctypes.data
        r["tolerance"], r["total"], r["taken"], r["passed"] = 0.0, ends.size - 1, 0, 0
        r["notes"] = r["mode_log"] = 0

    def _return_to(self, segment: _Segment) -> None:
        run, r = self._run, self._record
        for name in KEPT:
            run.arrays[name][:] = getattr(segment, name)
        r["done"], r["time"], r["stored"], r["stopped"] = segment.first, segment.time, 0, 0
        if segment.first == 0:  # the first selection of coordinates may happen here
            r["selections"] = int(run.inputs.chosen is not None)
