"""Execution of chunks of samples: in threads of this process, by the workers of a Dask cluster, on
a GPU, or on the GPUs of workers.

An executor takes one chunk after another and returns the outcomes in the same order; it keeps no
more chunks in progress than it needs to be busy. Chunks do not depend on the executor and are added
in order, so the results are identical to the last bit; only a GPU, which rounds differently, yields
different last digits.
"""

from __future__ import annotations

import os
from asyncio import CancelledError
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from numbers import Integral
from threading import Event
from typing import Any, Protocol, TypeVar

import numpy as np

from ..backends.compiler import NO_COMPILER, BuildError, find_compiler
from ..backends.cuda import check_gpu
from ..backends.sampler import Sampler
from ..core.errors import ModelError, VarimechError, check_whole
from ..core.interrupts import stopping, workers
from .chunks import Outcome, RerunIndividually, Work
from .drawing import Drawn

AHEAD = 2
"""Chunks in progress for each thread or worker: one runs while the next waits."""
RETRIES = 3
"""Number of times that a chunk is repeated if a worker fails."""

ON_THREADS = "omit executor to use threads"
S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")


class Executor(Protocol):
    """Executes chunks."""

    elsewhere: bool
    """Whether the executor needs a compiled program for any number of samples, because the
    interpreted loop stays in this process.
    """
    on_gpu: bool
    """Whether samples need no compiled code for the CPU."""

    def run(
        self, work: Work, rerun_individually: RerunIndividually, chunks: Iterable[Drawn]
    ) -> Generator[list[Outcome], None, None]:
        """Yield the outcomes of the chunks in order, in groups that complete together. `work` can
        run anywhere; samples that it leaves are rerun individually in this process.
        """


def executor_of(executor: object) -> Executor:
    """Return the executor for a user's argument.

    Args:
        executor: None, a number of threads, "cuda", a dask.distributed.Client, or `GpuWorkers`.

    Raises:
        ModelError: for anything else.
    """
    if executor is None:
        return Threads(os.cpu_count() or 1)
    if isinstance(executor, Integral) and not isinstance(executor, bool) and int(executor) >= 1:
        check_whole("monte_carlo", 1, executor=executor)
        return Threads(int(executor))
    if isinstance(executor, str) and executor == "cuda":
        from .gpu_study import OnGpu  # imports this file

        check_gpu()
        return OnGpu()
    if is_dask_client(executor):
        return Cluster(executor)
    from .gpu_cluster import GpuWorkers, OnWorkerGpus  # imports this file

    if isinstance(executor, GpuWorkers):
        return OnWorkerGpus(executor)
    problem = (
        "must be a number of threads, a dask.distributed.Client, 'cuda', varimech.GpuWorkers(client),"
        " or omitted for one thread on each core"
    )
    raise ModelError(problem, field="executor", value=executor)


class Threads:
    """Threads of this process; compiled runs release the interpreter."""

    elsewhere, on_gpu = False, False

    def __init__(self, count: int):
        self.count = count

    def run(
        self, work: Work, rerun_individually: RerunIndividually, chunks: Iterable[Drawn]
    ) -> Generator[list[Outcome], None, None]:
        """See `Executor`."""
        with workers(self.count) as (pool, stop):
            yield from in_order(
                pool,
                lambda rows: [work.finished(rows, work(rows, stop), rerun_individually, stop)],
                (each.rows for each in chunks),
                lambda: AHEAD * self.count,
            )


class Lost(Exception):
    """Error: the cluster is lost or cannot run samples; the message states the reason."""


@contextmanager
def _reporting_loss() -> Iterator[None]:
    """Convert the many kinds of Dask errors to `Lost`."""
    try:
        yield
    except (VarimechError, Lost):
        raise
    except (Exception, CancelledError) as error:  # CancelledError is not an Exception
        raise Lost(f"{type(error).__name__}: {' '.join(str(error).split())[:300]}") from None


class Cluster:
    """Workers of a Dask cluster. If one is lost, another one takes over its work."""

    elsewhere, on_gpu = True, False

    def __init__(self, client: Any):
        self.client = checked_client(client)

    def run(
        self, work: Work, rerun_individually: RerunIndividually, chunks: Iterable[Drawn]
    ) -> Generator[list[Outcome], None, None]:
        """See `Executor`."""
        compiled(work)

        def finish(rows: np.ndarray, outcome: Outcome, stop: Event) -> list[Outcome]:
            return [work.finished(rows, outcome, rerun_individually, stop)]

        rows = (each.rows for each in chunks)
        yield from on_workers(self.client, work, Work.__call__, rows, finish)


def is_dask_client(client: object) -> bool:
    """Recognise a Dask client by the name of its class, so that Dask is not required."""
    return any(
        (kind.__module__.partition(".")[0], kind.__name__) == ("distributed", "Client")
        for kind in type(client).__mro__
    )


def checked_client(client: Any) -> Any:
    """Return a Dask client after checking that it can be used.

    Raises:
        ModelError: if the client is asynchronous or closed.
    """
    if getattr(client, "asynchronous", False):
        remedy = "make one with Client(…, asynchronous=False)"
        raise ModelError(": this Dask client is asynchronous", field="executor", remedy=remedy)
    if getattr(client, "status", "running") != "running":
        problem = f": this Dask client is {client.status}"
        raise ModelError(problem, field="executor", remedy="make a new one with Client(…)")
    return client


def on_workers(
    client: Any,
    shared: S,
    function: Callable[[S, T], R],
    items: Iterable[T],
    finish: Callable[[T, R, Event], list[Outcome]],
) -> Generator[list[Outcome], None, None]:
    """Yield the outcomes of items in order; each item is processed by a task of a Dask cluster and
    finished in this process.

    Args:
        client: client of the cluster.
        shared: data that all tasks have in common; workers keep it.
        function: (shared, item) → result, on a worker.
        items: items of the tasks; as many tasks at a time are sent as keep the workers busy.
        finish: (item, result, stop event) → outcomes, in this process.
    """
    # a task, not scattered data: it can be recreated if all workers that hold it are lost
    with _reporting_loss():
        kept = client.submit(_itself, shared, pure=False, retries=RETRIES)
    in_progress: set[Any] = set()

    def sent() -> Iterator[tuple[T, object]]:
        for item in items:
            with _reporting_loss():
                future = client.submit(function, kept, item, pure=False, retries=RETRIES)
            in_progress.add(future)
            yield item, future

    def finished(pair: tuple[T, object]) -> list[Outcome]:
        item, future = pair
        try:
            with _reporting_loss():
                result: R = _result_of(future)
        finally:
            in_progress.discard(future)
        return finish(item, result, stop)

    def threads() -> int:
        with _reporting_loss():
            return max(1, sum(client.nthreads().values()))

    def cancel() -> None:
        with suppress(Exception, CancelledError):  # the cluster may be gone
            client.cancel(list(in_progress))

    with ThreadPoolExecutor(os.cpu_count()) as pool, stopping(cancel) as stop:
        yield from in_order(pool, finished, sent(), lambda: AHEAD * threads())


def compiled(work: Work) -> Sampler:
    """Compiled program of the work, which other machines need."""
    if work.sampler is None and find_compiler() is None:
        problem = f": a GPU or a cluster needs a compiled program: {NO_COMPILER}"
        raise ModelError(problem, field="executor", remedy=ON_THREADS)
    if work.sampler is None:
        problem = (
            ": this mechanism has no compiled program that assembles its own initial state, as a"
            " GPU or a cluster needs it"
        )
        raise ModelError(problem, field="executor", remedy=ON_THREADS)
    return work.sampler


def _result_of(future: Any) -> Any:
    try:
        return future.result()
    except BuildError as error:
        raise VarimechError(
            f"executor: a worker of the cluster cannot build the program: {error}"
        ) from None


def _itself(shared: S) -> S:
    return shared


def in_order(
    pool: ThreadPoolExecutor,
    function: Callable[[T], R],
    items: Iterable[T],
    ahead: Callable[[], int],
) -> Generator[R, None, None]:
    """Yield the results of a function for items, in order, with a bounded number in progress."""
    waiting: deque[Future[R]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            while len(waiting) >= ahead():
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()
