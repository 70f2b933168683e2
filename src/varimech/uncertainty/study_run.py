"""The course of a study: draw chunks, add them up in their order, save, and know when to stop."""

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
from ..core.progress import progress_bar
from .accumulator import Failure
from .checkpoint import Checkpoint
from .chunks import LookAfter, Outcome, Work
from .estimates import LEVEL
from .executors import Executor, Lost
from .sampling import ROUND
from .study import Study
from .study_text import so_far

JUDGED = 50
"""Samples after which the share of failures is judged; at the end in any case."""
CERTAIN = 3.0
"""Standard deviations of that share beyond which it is no chance."""


@dataclass(frozen=True, eq=False)
class Limits:
    """When a study ends."""

    samples: int
    targets: np.ndarray | None
    """Half-widths of the means at the end of the run, by objective, that are good enough."""
    allowed_failures: float
    """Share of the samples."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """The samples of a chunk, or of a part of it."""

    number: int
    """Of the chunk."""
    first: int
    """Number of its first sample in the study."""
    rows: np.ndarray
    """Values of all parameters, a row a sample."""


class Conduct:
    """Carries a study on from where it is."""

    def __init__(
        self,
        study: Study,
        limits: Limits,
        base: np.ndarray,
        folder: Checkpoint | None,
        progress: bool | None,
    ):
        self.study, self.limits, self.base = study, limits, base
        self.folder, self.progress = folder, progress

    def execute(self, where: Executor, work: Work, rerun_individually: LookAfter) -> None:
        """Until there are as many samples as wanted, or they suffice.

        Raises:
            StudyError: if too many fail, or the cluster is lost.
            Interrupted: on Ctrl-C, with what is counted in.
        """
        try:
            self._execute(where, work, rerun_individually)
        except Lost as error:
            raise self._lost(error) from None
        except KeyboardInterrupt:
            if not self.study.tally.taken:
                raise KeyboardInterrupt from None
            raise self._stopped() from None

    def _execute(self, where: Executor, work: Work, rerun_individually: LookAfter) -> None:
        study, tally = self.study, self.study.tally
        began, drawn = time.perf_counter() - tally.seconds, deque[Drawn]()

        def chunks() -> Iterator[np.ndarray]:
            for each in self._draw(tally.taken):
                drawn.append(each)
                yield each.rows

        with (
            progress_bar(
                f"{study.label}: {self.limits.samples} samples", self.limits.samples, self.progress
            ) as tell,
            closing(where.run(work, rerun_individually, chunks())) as outcomes,
        ):
            # judged before anything is run, too: what was refused once is not accepted because it
            # is asked for again
            while not self._judged(ended=tally.taken >= self.limits.samples or self._suffices()):
                outcome = next(outcomes)
                with deferred_interrupts():  # a chunk is counted in as a whole
                    tally.seconds = time.perf_counter() - began
                    self._add(drawn.popleft(), outcome)
                tell(tally.taken, lambda: so_far(study))

    def _draw(self, taken: int) -> Iterator[Drawn]:
        """Chunks from a sample on."""
        s, sampling = self.study.spreads, self.study.sampling
        while taken < self.limits.samples:
            number, begin = divmod(taken, sampling.size)
            end = min(sampling.size, begin + self.limits.samples - taken)
            rows = s.rows(s.from_uniform(sampling.points(number)[begin:end]), self.base)
            yield Drawn(number, taken, rows)
            taken += len(rows)

    def _add(self, each: Drawn, outcome: Outcome) -> None:
        """Count in what came of a chunk, and save it: first samples that are kept, then the state
        that knows of them.
        """
        study, names, indices = self.study, self.study.spreads.names, self.study.spreads.indices
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
        study.tally.add(each.number, len(each.rows), outcome.summary, outcome.comoments, failures)
        if self.folder is not None:
            self.folder.save(study.tally)

    def _lost(self, error: Lost) -> StudyError:
        study, n = self.study, self.study.tally.taken
        remedy = (
            "Give checkpoint=… a folder to be able to resume; what was found so far is the `study`"
            " of this error"
        )
        if self.folder is not None:
            remedy = (
                f"Its checkpoint {self.folder.folder} has all of them: the same call resumes from"
                " there, with a new Dask client or on threads (leave executor out)"
            )
        return StudyError(
            f"{study.label!r}: the Dask cluster was lost after {n:,} of {self.limits.samples:,}"
            f" samples ({error}). {remedy}",
            replace(study, stopped=self.limits.samples),
        )

    def _stopped(self) -> Interrupted:
        study, n = self.study, self.study.tally.taken
        again = "; the same call goes on from its checkpoint" if self.folder is not None else ""
        return Interrupted(
            f"{study.label!r}: stopped after {n:,} of {self.limits.samples:,} samples; the study of"
            f" these is the `result` of this interrupt{again}",
            replace(study, stopped=self.limits.samples),
        )

    def _suffices(self) -> bool:
        """Whether means are known well enough, looked at after whole rounds of replicates only."""
        tally, targets, sampling = self.study.tally, self.limits.targets, self.study.sampling
        if (
            targets is None
            or tally.taken == 0
            or tally.taken % (max(ROUND, sampling.replicates) * sampling.size)
        ):
            return False
        return (
            bool((self.study.last_mean().half_width(LEVEL) <= targets).all())
            if tally.count
            else False
        )

    def _judged(self, *, ended: bool) -> bool:
        """Whether it has ended; an error where too many fail: more than allowed at the end, more
        than chance explains before.
        """
        study, tally, allowed = self.study, self.study.tally, self.limits.allowed_failures
        n = tally.taken
        chance = 0.0 if ended else CERTAIN * math.sqrt(allowed * (1 - allowed) * n)
        if (n < JUDGED and not ended) or tally.failed <= allowed * n + chance:
            return ended
        f = tally.failures[0]
        values = ", ".join(f"{name} = {value:.6g}" for name, value in f.parameters.items())
        raise StudyError(
            f"{study.label!r}: {tally.failed} of {tally.taken} samples failed, more than"
            f" allowed_failures = {allowed:g} of them; sample {f.sample}, for one, with {values}:"
            f" {f.kind}: {f.message}. Narrower spreads, or other distributions, keep parameters"
            " where the mechanism works; allowed_failures=… lets more of them fail. What was found"
            " so far is the `study` of this error"
            + (", and its checkpoint is kept" if self.folder is not None else ""),
            study,
        )
