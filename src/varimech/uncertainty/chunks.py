"""Evaluation of the samples of a chunk, in this process or on another machine, and its outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Event
from typing import Any

import numpy as np

from ..backends.sampler import Sampler, in_slices
from ..core.array_modules import module_of
from ..core.errors import VarimechError
from ..core.interrupts import Stopped
from .statistics import CoMoments, Summary, both

RerunIndividually = Callable[[np.ndarray, bool], np.ndarray | VarimechError]
"""Rerun one sample individually: (parameter values, whether to explain a failure) → objectives
(time, objective), or the error.
"""
EXPLAINED = 2
"""Maximum number of failures of a chunk that are explained; each explanation may take as long as
thousands of samples.
"""


@dataclass(frozen=True, eq=False)
class Control:
    """Control variate: the first-order model  ψ(μ) + g (x − μ)  at each sample, minus its mean
    ψ(μ).
    """

    indices: list[int]
    mean: np.ndarray
    """Means μ of the varying parameters."""
    derivatives: np.ndarray
    """Derivatives g, (parameter, time × objective)."""

    def __call__(self, rows: Any) -> Any:
        """Compute g (x − μ) for each sample, on the CPU or a GPU. The sum is taken parameter by
        parameter, which gives identical bits for any number of samples and cores.
        """
        module = module_of(rows)
        total = module.zeros((len(rows), self.derivatives.shape[1]))
        derivatives = module.asarray(self.derivatives)
        for k, (index, μ) in enumerate(zip(self.indices, self.mean.tolist(), strict=True)):
            total += (rows[:, index, None] - μ) * derivatives[k]
        return total


@dataclass(frozen=True, eq=False)
class Outcome:
    """Outcome of the samples of a chunk."""

    summary: Summary | None
    """Statistics of the completed samples; None if there are none."""
    comoments: CoMoments | None
    left: tuple[int, ...]
    """Row indices of samples that have to be rerun individually."""
    values: np.ndarray | None
    """Values, (sample, time × objective), NaN for missing ones; None unless samples are kept."""
    failures: tuple[tuple[int, VarimechError], ...] = ()
    """Row indices of samples that also failed individually, with their errors."""


@dataclass(frozen=True, eq=False)
class Work:
    """Evaluate the samples of a chunk and accumulate their statistics. An instance can be sent to
    any machine: it contains no model, only functions and numbers.
    """

    sampler: Sampler | None
    columns: int
    """Number of columns: times × objectives."""
    centre: np.ndarray
    """Centre of the quantile sketch of each column."""
    control: Control | None
    keep: bool

    def __call__(self, rows: np.ndarray, stop: Event | None = None) -> Outcome:
        """Evaluate samples.

        Args:
            rows: values of all parameters, one row for each sample.
            stop: event that cancels the evaluation.
        """
        if self.sampler is None or not len(rows):
            return Outcome(
                None,
                None,
                tuple(range(len(rows))),
                np.full((len(rows), self.columns), np.nan) if self.keep else None,
            )
        samples = in_slices(self.sampler, rows, stop)
        return self.summed_up(rows, samples.values.reshape(len(rows), -1), samples.done)

    def summed_up(self, rows: np.ndarray, values: np.ndarray, done: np.ndarray) -> Outcome:
        """Compute the statistics of sample values, (sample, time × objective)."""
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
        self, rows: np.ndarray, outcome: Outcome, rerun_individually: RerunIndividually, stop: Event
    ) -> Outcome:
        """Rerun the remaining samples individually and return the outcome with them added."""
        if not outcome.left:
            return outcome
        values, failures = (
            np.full((len(rows), self.columns), np.nan),
            list[tuple[int, VarimechError]](),
        )
        for k in outcome.left:
            if stop.is_set():
                raise Stopped
            result = rerun_individually(rows[k], len(failures) < EXPLAINED)
            if isinstance(result, VarimechError):
                failures.append((k, result))
            else:
                values[k] = result.ravel()
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
