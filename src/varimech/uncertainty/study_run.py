"""Execution of a study: draw chunks, add them in order, save, and decide when to stop."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from ..core.errors import Interrupted, StudyError
from ..core.interrupts import deferred_interrupts
from ..core.messages import Message, Text
from ..core.progress import progress_bar
from .accumulator import Failure
from .checkpoint import Checkpoint
from .chunks import Outcome, RerunIndividually, Work
from .drawing import Drawing, Drawn
from .estimates import LEVEL
from .executors import Executor, Lost
from .sampling import ROUND
from .study import Study
from .study_text import so_far

JUDGED = 50
"""Number of samples after which the fraction of failures is checked; it is always checked at the
end.
"""
CERTAIN = 3.0
"""Number of standard deviations by which the fraction of failures has to exceed the allowed one to
be significant.
"""


@dataclass(frozen=True, eq=False)
class Limits:
    """Stopping criteria of a study."""

    samples: int
    targets: np.ndarray | None
    """Sufficient half-widths of the means at the end of the run, by objective."""
    allowed_failures: float
    """Allowed fraction of failed samples."""


class StudyRunner:
    """Continues a study from its current state."""

    def __init__(
        self,
        study: Study,
        limits: Limits,
        base: np.ndarray,
        folder: Checkpoint | None,
        progress: bool | None,
    ):
        self.study, self.limits = study, limits
        self.drawing = Drawing(study.sampling, study.distributions, base)
        self.folder, self.progress = folder, progress

    def execute(self, where: Executor, work: Work, rerun_individually: RerunIndividually) -> None:
        """Run until the number of samples is reached or the targets are met.

        Raises:
            StudyError: if too many samples fail, or the cluster is lost.
            Interrupted: on Ctrl-C, with the samples so far.
        """
        try:
            self._execute(where, work, rerun_individually)
        except Lost as error:
            raise self._lost(error) from None
        except KeyboardInterrupt:
            if not self.study.accumulator.taken:
                raise KeyboardInterrupt from None
            raise self._stopped() from None

    def _execute(self, where: Executor, work: Work, rerun_individually: RerunIndividually) -> None:
        study, accumulator = self.study, self.study.accumulator
        began, drawn = time.perf_counter() - accumulator.seconds, deque[Drawn]()

        def chunks() -> Iterator[Drawn]:
            for each in self._draw(accumulator.taken):
                drawn.append(each)
                yield each

        with (
            progress_bar(
                f"{study.label}: {self.limits.samples} samples", self.limits.samples, self.progress
            ) as report,
            closing(where.run(work, rerun_individually, chunks())) as outcomes,
        ):
            # check before the first run too: a resumed study that failed before fails again
            while not self._judged(
                ended=accumulator.taken >= self.limits.samples or self._suffices()
            ):
                together = next(outcomes)
                with deferred_interrupts():  # chunks are added completely or not at all
                    accumulator.seconds = time.perf_counter() - began
                    for outcome in together:
                        self._add(drawn.popleft(), outcome)
                    if self.folder is not None:
                        self.folder.save(accumulator)
                report(accumulator.taken, lambda: so_far(study))

    def _draw(self, taken: int) -> Iterator[Drawn]:
        """Yield chunks, starting at a sample."""
        size = self.study.sampling.size
        while taken < self.limits.samples:
            number, begin = divmod(taken, size)
            each = Drawn(
                self.drawing, number, taken, begin, min(size, begin + self.limits.samples - taken)
            )
            yield each
            taken += len(each)

    def _add(self, each: Drawn, outcome: Outcome) -> None:
        """Add the outcome of a chunk; kept samples are saved before the state that refers to
        them.
        """
        study, names, indices = (
            self.study,
            self.study.distributions.names,
            self.study.distributions.indices,
        )
        failures = [
            Failure(
                each.first + k,
                dict(zip(names, each.rows[k, indices].tolist(), strict=True)),
                type(error).__name__,
                str(error),
            )
            for k, error in outcome.failures
        ]
        if outcome.values is not None:
            study.keep(each.first, each.rows[:, indices], outcome.values)
        study.accumulator.add(each.number, len(each), outcome.summary, outcome.comoments, failures)

    def _lost(self, error: Lost) -> StudyError:
        study, n = self.study, self.study.accumulator.taken
        remedy: Text = Message(
            "give {checkpoint} a folder to be able to resume; the partial study is the `study` of"
            " this error",
            checkpoint=...,
        )
        if self.folder is not None:
            remedy = (
                f"its checkpoint {self.folder.folder} has all of them: the same call resumes from"
                " there, with a new Dask client or on threads (omit executor)"
            )
        return StudyError(
            f"{study.label!r}: the Dask cluster was lost after {n:,} of {self.limits.samples:,}"
            f" samples ({error})",
            replace(study, stopped=self.limits.samples),
            remedy=remedy,
        )

    def _stopped(self) -> Interrupted:
        study, n = self.study, self.study.accumulator.taken
        again = "; the same call resumes from its checkpoint" if self.folder is not None else ""
        return Interrupted(
            f"{study.label!r}: stopped after {n:,} of {self.limits.samples:,} samples",
            replace(study, stopped=self.limits.samples),
            f"the partial study is the `result` of this interrupt{again}",
        )

    def _suffices(self) -> bool:
        """Whether the targets are met; checked after whole rounds of replicates only."""
        accumulator, targets, sampling = (
            self.study.accumulator,
            self.limits.targets,
            self.study.sampling,
        )
        if (
            targets is None
            or accumulator.taken == 0
            or accumulator.taken % (max(ROUND, sampling.replicates) * sampling.size)
        ):
            return False
        return (
            bool((self.study.last_mean().half_width(LEVEL) <= targets).all())
            if accumulator.count
            else False
        )

    def _judged(self, *, ended: bool) -> bool:
        """Whether the study has ended.

        Raises:
            StudyError: if too many samples fail: more than allowed at the end, more than chance
                explains before.
        """
        study, accumulator, allowed = (
            self.study,
            self.study.accumulator,
            self.limits.allowed_failures,
        )
        n = accumulator.taken
        chance = 0.0 if ended else CERTAIN * math.sqrt(allowed * (1 - allowed) * n)
        if (n < JUDGED and not ended) or accumulator.failed <= allowed * n + chance:
            return ended
        f = accumulator.failures[0]
        values = ", ".join(f"{name} = {value:.6g}" for name, value in f.parameters.items())
        problem = (
            f"{study.label!r}: {accumulator.failed} of {accumulator.taken} samples failed, more than"
            f" allowed_failures = {allowed:g} of them; for example sample {f.sample}, {values}:"
            f" {f.kind}: {f.message}"
        )
        remedy = Message(
            "narrower or other distributions keep parameters where the mechanism works; a larger"
            " {allowed_failures} accepts more failures. The partial study is the `study` of"
            " this error{}",
            ", and its checkpoint is kept" if self.folder is not None else "",
            allowed_failures=...,
        )
        raise StudyError(problem, study, remedy=remedy)
