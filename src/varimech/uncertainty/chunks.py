"""What is done with the samples of a chunk, here or on another machine, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Event

import numpy as np

from ..backends.sampler import Sampler, in_slices
from ..core.errors import VarimechError
from ..core.interrupts import Stopped
from .statistics import CoMoments, Summary, both

LookAfter = Callable[[np.ndarray, bool], np.ndarray | VarimechError]
"""One sample by itself: parameter values → objectives (time, objective), or why there are none,
explained or in short.
"""
EXPLAINED = 2
"""Failures of a chunk that are explained; each may take as long as thousands of samples."""


@dataclass(frozen=True, eq=False)
class Control:
    """The first-order model  ψ(μ) + g (x − μ)  beside each sample, less its mean, which is ψ(μ)."""

    indices: list[int]
    mean: np.ndarray
    """μ, of the parameters that vary."""
    slopes: np.ndarray
    """g: (parameter, time × objective)"""

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """g (x − μ) for each sample. Summed up parameter by parameter, which gives the same bits
        however many samples and cores there are.
        """
        total = np.zeros((len(rows), self.slopes.shape[1]))
        for k, (index, μ) in enumerate(zip(self.indices, self.mean, strict=True)):
            total += (rows[:, index, None] - μ) * self.slopes[k]
        return total


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of the samples of a chunk."""

    summary: Summary | None
    """Of those that are done; None if there are none."""
    comoments: CoMoments | None
    left: tuple[int, ...]
    """Places, among the rows, of samples that have to be looked after one by one."""
    values: np.ndarray | None
    """(sample, time × objective), NaN where there are none; only where samples are kept."""
    failures: tuple[tuple[int, VarimechError], ...] = ()
    """Places of samples that failed for good, and why."""


@dataclass(frozen=True, eq=False)
class Work:
    """Runs the samples of a chunk and sums them up. Can be sent anywhere: it holds no model, only
    functions and numbers.
    """

    sampler: Sampler | None
    columns: int
    """Times × objectives."""
    centre: np.ndarray
    """About which quantiles are counted, of each column."""
    control: Control | None
    keep: bool

    def __call__(self, rows: np.ndarray, stop: Event | None = None) -> Outcome:
        """For values of all parameters, a row a sample."""
        if self.sampler is None or not len(rows):
            return Outcome(
                None,
                None,
                tuple(range(len(rows))),
                np.full((len(rows), self.columns), np.nan) if self.keep else None,
            )
        found = in_slices(self.sampler, rows, stop)
        return self.summed_up(rows, found.values.reshape(len(rows), -1), found.done)

    def summed_up(self, rows: np.ndarray, values: np.ndarray, done: np.ndarray) -> Outcome:
        """What values of samples, (sample, time × objective), come to."""
        left = tuple(np.flatnonzero(~done).tolist())
        summary = comoments = None
        if done.any():
            good, x = (values, rows) if done.all() else (values[done], rows[done])
            summary = Summary.of(good, self.centre)
            comoments = (
                CoMoments.without_control(summary)
                if self.control is None
                else CoMoments.of(good, self.control(x))
            )
        return Outcome(summary, comoments, left, values if self.keep else None)

    def finished(
        self, rows: np.ndarray, outcome: Outcome, rerun_individually: LookAfter, stop: Event
    ) -> Outcome:
        """The same with the rest looked after; what becomes of it is added to that of
        the others.
        """
        if not outcome.left:
            return outcome
        values, failures = (
            np.full((len(rows), self.columns), np.nan),
            list[tuple[int, VarimechError]](),
        )
        for k in outcome.left:
            if stop.is_set():
                raise Stopped
            found = rerun_individually(rows[k], len(failures) < EXPLAINED)
            if isinstance(found, VarimechError):
                failures.append((k, found))
            else:
                values[k] = found.ravel()
        rest = self.summed_up(rows, values, np.isfinite(values).all(axis=1))
        kept = (
            None
            if outcome.values is None
            else np.where(np.isfinite(values), values, outcome.values)
        )
        return replace(
            outcome,
            summary=both(outcome.summary, rest.summary),
            comoments=both(outcome.comoments, rest.comoments),
            left=(),
            values=kept,
            failures=tuple(failures),
        )
