"""Studies on a GPU: samples are drawn, run (one thread for each) and summarised on the GPU, which
returns only statistics.

A launch takes as many whole chunks as the GPU runs efficiently at once. If a sample of a launch
fails, if samples are kept, or if parameters have requirements that only the CPU can check, the
values are returned and summarised on the CPU, chunk by chunk, as with threads.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import numpy as np

from ..backends.batch import DONE, Gpu, lacks_memory
from ..backends.cuda import LAUNCHED, gpu_for
from ..backends.sampler import Sampler
from ..core.array_modules import NotElementwise, on_host
from ..core.interrupts import stopping
from ..model.requirements import Allowed
from .chunks import Outcome, RerunIndividually, Work
from .drawing import Drawn
from .executors import AHEAD, compiled, in_order
from .gpu_drawing import GpuDrawing
from .statistics import CoMoments, Summary


class OnGpu:
    """One GPU thread for each sample, many chunks in one launch."""

    elsewhere, on_gpu = True, True

    def run(
        self, work: Work, rerun_individually: RerunIndividually, chunks: Iterable[Drawn]
    ) -> Generator[list[Outcome], None, None]:
        """See `Executor`."""
        sampler = compiled(work)
        gpu = gpu_for(sampler)
        with ThreadPoolExecutor(1) as launching, stopping() as stop:
            launch: Launch | None = None

            def launched(group: list[Drawn]) -> tuple[list[Drawn], list[Outcome]]:
                nonlocal launch
                if launch is None:
                    launch = Launch(work, sampler, gpu, GpuDrawing(group[0].drawing))
                return group, launch(group)

            groups = gathered(chunks, min(gpu.most, LAUNCHED))
            for item in in_order(launching, launched, groups, lambda: AHEAD):
                yield finished(work, *item, rerun_individually, stop)


def finished(
    work: Work,
    chunks: list[Drawn],
    outcomes: list[Outcome],
    rerun_individually: RerunIndividually,
    stop: Event,
) -> list[Outcome]:
    """Outcomes of chunks, with the remaining samples rerun individually."""
    return [
        work.finished(each.rows, outcome, rerun_individually, stop) if outcome.left else outcome
        for each, outcome in zip(chunks, outcomes, strict=True)
    ]


class Launch:
    """Executes chunks in one launch."""

    def __init__(self, work: Work, sampler: Sampler, gpu: Gpu, drawing: GpuDrawing):
        self.work, self.sampler, self.gpu, self.drawing = work, sampler, gpu, drawing
        self.replicates = drawing.drawing.sampling.replicates

    def __call__(self, chunks: list[Drawn]) -> list[Outcome]:
        """Outcomes of chunks; failed samples are left for individual reruns.

        Raises:
            VarimechError: if the memory of the GPU is too small even for few samples at once.
        """
        try:
            return self._there(chunks)
        except Exception as error:
            if not lacks_memory(error):
                raise
        # other processes use the GPU, too: draw on the CPU, use smaller launches and return values
        return self._here(chunks, np.concatenate([each.rows for each in chunks]))

    def _there(self, chunks: list[Drawn]) -> list[Outcome]:
        """Draw and summarise on the GPU, as far as possible."""
        rows = self.drawing.rows(chunks)
        allowed = self._allowed(rows)
        if allowed is None:
            return self._here(chunks, on_host(rows))
        results = self.gpu.launch(rows)
        done = allowed & self._done(results)
        values = results["objectives"].reshape(len(rows), -1)
        if self.work.keep or not bool(done.all()):
            good = on_host(done)
            kept = np.where(good[:, None], on_host(values), np.nan)
            return self._chunk_by_chunk(chunks, on_host(rows), kept, good)
        return self._summed_up(chunks, rows, values)

    def _allowed(self, rows: Any) -> Any:
        """Mask of valid rows; None if only the CPU can check them."""
        good = None
        for condition in self.sampler.conditions:
            if isinstance(condition, Allowed):
                try:
                    good = condition.on_gpu(rows)
                except NotElementwise:
                    return None
            elif getattr(condition, "owners", True):
                return None
        for k, (least, greatest) in self.sampler.ranges.items():
            good &= (least <= rows[:, k]) & (rows[:, k] <= greatest)
        return good

    def _done(self, results: dict[str, Any]) -> Any:
        """Mask of runs that reached their end, satisfy the constraints and are finite."""
        position, velocity = self.sampler.limits
        residuals, objectives = results["residuals"], results["objectives"]
        if self.sampler.native.program.samples is not None:
            objectives = objectives[:, -1:]
        done = (results["status"] == DONE) & (residuals[:, 0] <= position)
        finite = np.isfinite(objectives).all(axis=(1, 2))
        return done & (residuals[:, 1] <= velocity) & finite

    def _here(self, chunks: list[Drawn], rows: np.ndarray) -> list[Outcome]:
        """Evaluate rows that the CPU checks and summarises."""
        samples = self.sampler.by(self.gpu, rows)
        values = samples.values.reshape(len(rows), -1)
        return self._chunk_by_chunk(chunks, rows, values, samples.done)

    def _chunk_by_chunk(
        self, chunks: list[Drawn], rows: np.ndarray, values: np.ndarray, done: np.ndarray
    ) -> list[Outcome]:
        ends = np.cumsum([len(each) for each in chunks])[:-1]
        parts = zip(np.split(rows, ends), np.split(values, ends), np.split(done, ends), strict=True)
        return [self.work.summed_up(*part) for part in parts]

    def _summed_up(self, chunks: list[Drawn], rows: Any, values: Any) -> list[Outcome]:
        """Compute statistics on the GPU. The outcome of the last chunk contains the summary of all
        chunks, and also all co-moments unless chunks belong to different replicates.
        """
        summary = Summary.of(values, self.work.centre)
        control = None if self.work.control is None else self.work.control(rows)
        groups: list[CoMoments | None] = [None] * len(chunks)
        if self.replicates > 1:
            groups = list(CoMoments.of_parts(values, control, [len(each) for each in chunks]))
        elif control is None:
            groups[-1] = CoMoments.without_control(summary)
        else:
            groups[-1] = CoMoments.of(values, control)
        summaries = [*[None] * (len(chunks) - 1), summary]
        return [Outcome(s, g, (), None) for s, g in zip(summaries, groups, strict=True)]


def gathered(chunks: Iterable[Drawn], most: int) -> Iterator[list[Drawn]]:
    """Yield groups of chunks with at most `most` samples; a single chunk may have more."""
    group: list[Drawn] = []
    for each in chunks:
        if group and sum(map(len, group)) + len(each) > most:
            yield group
            group = []
        group.append(each)
    if group:
        yield group
