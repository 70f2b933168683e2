"""Execution of chunks of samples: in threads of this process, by the workers of a Dask cluster, or
on a GPU.

An executor takes one chunk after another and returns the outcomes in the same order; it keeps no more
chunks in progress than it needs to be busy. Chunks do not depend on it and
are added in order, so the results are identical to the last bit; only a GPU, which rounds
differently, differs in the last digits.
"""

from __future__ import annotations

import os
from asyncio import CancelledError
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from numbers import Integral
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
"""Number of times a chunk is repeated if a worker fails."""

ON_THREADS = "omit executor to use threads"
T = TypeVar("T")
R = TypeVar("R")


class Executor(Protocol):
    """Executes chunks."""

    elsewhere: bool
    """Whether it needs a compiled program, however few samples there are: the interpreted loop
    stays in this process.
    """
    on_gpu: bool
    """Whether samples need no code for the CPU."""

    def run(
        self, work: Work, rerun_individually: RerunIndividually, chunks: Iterable[Drawn]
    ) -> Generator[list[Outcome], None, None]:
        """Outcomes of each chunk, in order, as many at a time as belong together. `work` can run
        anywhere; samples that it leaves are rerun individually in this process.
        """


def executor_of(given: object) -> Executor:
    """The executor for a user's argument.

    Args:
        given: None, a number of threads, "cuda", or a dask.distributed.Client.

    Raises:
        ModelError: for anything else.
    """
    if given is None:
        return Threads(os.cpu_count() or 1)
    if isinstance(given, Integral) and not isinstance(given, bool) and int(given) >= 1:
        check_whole("monte_carlo", 1, executor=given)
        return Threads(int(given))
    if isinstance(given, str) and given == "cuda":
        from .gpu_study import OnGpu  # imports this file

        check_gpu()
        return OnGpu()
    if any(
        (kind.__module__.partition(".")[0], kind.__name__) == ("distributed", "Client")
        for kind in type(given).__mro__
    ):
        return Cluster(given)  # recognised by name, so that Dask is not required
    problem = (
        "must be a number of threads, a dask.distributed.Client, 'cuda', or omitted for one thread"
        " on each core"
    )
    raise ModelError(problem, field="executor", value=given)


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
    """The cluster is lost, or cannot run samples; the message is its reason."""


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
        if getattr(client, "asynchronous", False):
            remedy = "make one with Client(…, asynchronous=False)"
            raise ModelError(": this Dask client is asynchronous", field="executor", remedy=remedy)
        if getattr(client, "status", "running") != "running":
            problem = f": this Dask client is {client.status}"
            raise ModelError(problem, field="executor", remedy="make a new one with Client(…)")
        self.client = client

    def run(
        self, work: Work, rerun_individually: RerunIndividually, chunks: Iterable[Drawn]
    ) -> Generator[list[Outcome], None, None]:
        """See `Executor`."""
        compiled(work)
        client = self.client
        # a task and not scattered data: it can be recreated if all workers that hold it are lost
        with _reporting_loss():
            shared_work = client.submit(_itself, work, pure=False, retries=RETRIES)

        in_progress: set[Any] = set()

        def sent() -> Iterator[tuple[np.ndarray, object]]:
            for rows in (each.rows for each in chunks):
                with _reporting_loss():
                    future = client.submit(_done, shared_work, rows, pure=False, retries=RETRIES)
                in_progress.add(future)
                yield rows, future

        def finish(pair: tuple[np.ndarray, object]) -> list[Outcome]:
            rows, future = pair
            try:
                with _reporting_loss():
                    outcome = _result_of(future)
            finally:
                in_progress.discard(future)
            return [work.finished(rows, outcome, rerun_individually, stop)]

        def threads() -> int:
            with _reporting_loss():
                return max(1, sum(client.nthreads().values()))

        def cancel() -> None:
            with suppress(Exception, CancelledError):  # the cluster may be gone
                client.cancel(list(in_progress))

        with ThreadPoolExecutor(os.cpu_count()) as pool, stopping(cancel) as stop:
            yield from in_order(pool, finish, sent(), lambda: AHEAD * threads())


def compiled(work: Work) -> Sampler:
    """The compiled program that other machines need."""
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


def _result_of(future: Any) -> Outcome:
    try:
        outcome: Outcome = future.result()
    except BuildError as error:
        raise VarimechError(
            f"executor: a worker of the cluster cannot build the program: {error}"
        ) from None
    return outcome


def _itself(work: Work) -> Work:
    return work


def _done(work: Work, rows: np.ndarray) -> Outcome:
    return work(rows)


def in_order(
    pool: ThreadPoolExecutor,
    function: Callable[[T], R],
    items: Iterable[T],
    ahead: Callable[[], int],
) -> Generator[R, None, None]:
    """Results of a function for items, in order, with a bounded number in progress."""
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
