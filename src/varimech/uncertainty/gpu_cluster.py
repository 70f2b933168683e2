"""Studies on several GPUs: those of the workers of a Dask cluster.

A task is a group of chunks, which a worker draws, runs and summarises on its GPU; outcomes are
returned and merged in order. Samples do not depend on the number of workers.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from itertools import chain
from threading import Event, Lock
from typing import Any

from ..backends.cuda import check_gpu, gpu_for
from ..core.errors import ModelError
from .chunks import Outcome, RerunIndividually, Work
from .drawing import Drawing, Drawn
from .executors import checked_client, compiled, is_dask_client, on_workers
from .gpu_drawing import GpuDrawing
from .gpu_study import Launch, finished, gathered

GROUPED = 1 << 17
"""Samples of a task: about as many as a large GPU processes at once (an H200 up to 270,000
threads), and few enough to distribute a study.
"""


class GpuWorkers:
    """The GPUs of the workers of a Dask cluster, for `executor=` of `monte_carlo`.

    A worker uses the first GPU that is visible to it. `dask_cuda.LocalCUDACluster` starts a worker for each GPU of
    a machine and makes only this GPU visible to it; otherwise set CUDA_VISIBLE_DEVICES for each worker.

    Args:
        client: a `dask.distributed.Client`.

    Raises:
        ModelError: if `client` is something else, or an asynchronous or closed client.
    """

    def __init__(self, client: Any):
        if not is_dask_client(client):
            problem = "must be a dask.distributed.Client"
            raise ModelError(problem, element="GpuWorkers", field="client", value=client)
        self.client = checked_client(client)


class OnWorkerGpus:
    """Executes groups of chunks as tasks of a cluster."""

    elsewhere, on_gpu = True, True

    def __init__(self, workers: GpuWorkers):
        self.client = checked_client(workers.client)

    def run(
        self, work: Work, rerun_individually: RerunIndividually, chunks: Iterable[Drawn]
    ) -> Generator[list[Outcome], None, None]:
        """See `Executor`."""
        compiled(work)
        groups = gathered(chunks, GROUPED)
        first = next(groups, None)
        if first is None:
            return
        drawing = first[0].drawing

        def finish(parts: list[Part], outcomes: list[Outcome], stop: Event) -> list[Outcome]:
            return finished(work, _drawn(drawing, parts), outcomes, rerun_individually, stop)

        parts = (
            [(each.number, each.first, each.begin, each.end) for each in group]
            for group in chain([first], groups)
        )
        shared = WorkerGpu(work, drawing)
        yield from on_workers(self.client, shared, WorkerGpu.__call__, parts, finish)


Part = tuple[int, int, int, int]
"""Fields of a `Drawn` without its drawing, which workers already have."""


def _drawn(drawing: Drawing, parts: list[Part]) -> list[Drawn]:
    return [Drawn(drawing, *part) for part in parts]


class WorkerGpu:
    """Executes groups of chunks, one at a time, on the GPU of the process that it is sent to."""

    def __init__(self, work: Work, drawing: Drawing):
        self.work, self.drawing = work, drawing
        self._lock = Lock()
        self._launch: Launch | None = None

    def __call__(self, parts: list[Part]) -> list[Outcome]:
        """Outcomes of the chunks of a group; failed samples are left for individual reruns."""
        with self._lock:  # a worker may have several threads
            if self._launch is None:
                check_gpu()
                sampler = compiled(self.work)
                drawing = GpuDrawing(self.drawing)
                self._launch = Launch(self.work, sampler, gpu_for(sampler), drawing)
            return self._launch(_drawn(self.drawing, parts))

    def __reduce__(self) -> tuple[type, tuple[Work, Drawing]]:
        return WorkerGpu, (self.work, self.drawing)
