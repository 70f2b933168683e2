"""Where chunks of samples are carried out: in threads of this process, by the workers of a Dask
cluster, or on a card.

An executor takes the rows of parameter values of one chunk after the other and gives what came of
them in the same order; it keeps no more chunks under way than it needs to be busy. Chunks do not
depend on it and are added up in their order, so neither do the results, to the last bit; only a
card, which rounds differently, gives others in the last digits.
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
from ..backends.cuda import check_gpu, gpu_for
from ..backends.sampler import Sampler, Samples
from ..core.errors import ModelError, VarimechError, check_whole
from ..core.interrupts import stopping, workers
from .chunks import LookAfter, Outcome, Work

AHEAD = 2
"""Chunks under way for each thread or worker."""
LAUNCHED = 1 << 18
"""Samples at a launch on a card: several times as many as it carries out at a time."""
SUMMING = 2
"""Threads that sum up what a card yields: more of them wait for the interpreter."""
RETRIES = 3
"""How often a chunk is tried again where a worker breaks down."""

T = TypeVar("T")
R = TypeVar("R")


class Executor(Protocol):
    """Carries out chunks."""

    elsewhere: bool
    """Whether it needs a compiled program, however few samples there are: Python's own loop stays
    in this process.
    """

    def run(
        self, work: Work, rerun_individually: LookAfter, chunks: Iterable[np.ndarray]
    ) -> Generator[Outcome, None, None]:
        """What comes of the rows of each chunk, in order. `work` can be done anywhere; what it
        leaves is looked after in this process.
        """


def executor_of(given: Any) -> Executor:
    """The executor for what a user says."""
    if given is None:
        return Threads(os.cpu_count() or 1)
    if isinstance(given, Integral) and not isinstance(given, bool) and int(given) >= 1:
        check_whole("monte_carlo", 1, executor=given)
        return Threads(int(given))
    if isinstance(given, str) and given == "cuda":
        check_gpu()
        return OnGpu()
    if any(
        (kind.__module__.partition(".")[0], kind.__name__) == ("distributed", "Client")
        for kind in type(given).__mro__
    ):
        return Cluster(given)  # told by its name, so that nobody else needs Dask
    raise ModelError(
        f"executor = {given!r} must be a number of threads, a dask.distributed.Client, 'cuda', or"
        " left out for a thread on each core"
    )


class Threads:
    """Threads of this process; compiled runs leave the interpreter to others."""

    elsewhere = False

    def __init__(self, count: int):
        self.count = count

    def run(
        self, work: Work, rerun_individually: LookAfter, chunks: Iterable[np.ndarray]
    ) -> Generator[Outcome, None, None]:
        """See `Executor`."""
        with workers(self.count) as (pool, stop):
            yield from _in_order(
                pool,
                lambda rows: work.finished(rows, work(rows, stop), rerun_individually, stop),
                chunks,
                lambda: AHEAD * self.count,
            )


class Lost(Exception):
    """Whatever was to run samples is gone, or cannot run them; the message is its own reason."""


@contextmanager
def _reporting_loss() -> Iterator[None]:
    """Errors of Dask, of which there are many kinds, as one."""
    try:
        yield
    except (VarimechError, Lost):
        raise
    except (Exception, CancelledError) as error:  # a future that is cancelled is no Exception
        raise Lost(f"{type(error).__name__}: {' '.join(str(error).split())[:300]}") from None


class Cluster:
    """Workers of a Dask cluster. One that is lost does no harm: what it had to do is done by
    another.
    """

    elsewhere = True

    def __init__(self, client: Any):
        if getattr(client, "asynchronous", False):
            raise ModelError(
                "executor: this Dask client is asynchronous; make one with Client(…,"
                " asynchronous=False)"
            )
        if getattr(client, "status", "running") != "running":
            raise ModelError(
                f"executor: this Dask client is {client.status}; make a new one with Client(…)"
            )
        self.client = client

    def run(
        self, work: Work, rerun_individually: LookAfter, chunks: Iterable[np.ndarray]
    ) -> Generator[Outcome, None, None]:
        """See `Executor`."""
        _compiled(work)
        client = self.client
        # a task and not scattered data: where all workers that hold it are lost, it can be made
        # again
        with _reporting_loss():
            everywhere = client.submit(_itself, work, pure=False, retries=RETRIES)

        under_way: set[Any] = set()

        def sent() -> Iterator[tuple[np.ndarray, Any]]:
            for rows in chunks:
                with _reporting_loss():
                    future = client.submit(_done, everywhere, rows, pure=False, retries=RETRIES)
                under_way.add(future)
                yield rows, future

        def finish(pair: tuple[np.ndarray, Any]) -> Outcome:
            rows, future = pair
            try:
                with _reporting_loss():
                    found = _result_of(future)
            finally:
                under_way.discard(future)
            return work.finished(rows, found, rerun_individually, stop)

        def threads() -> int:
            with _reporting_loss():
                return max(1, sum(client.nthreads().values()))

        def give_up() -> None:
            with suppress(Exception, CancelledError):  # where nothing is left to be told so
                client.cancel(list(under_way))

        with ThreadPoolExecutor(os.cpu_count()) as pool, stopping(give_up) as stop:
            yield from _in_order(pool, finish, sent(), lambda: AHEAD * threads())


class OnGpu:
    """One thread of a card a sample, many chunks at a launch; they are summed up in threads of this
    process.
    """

    elsewhere = True

    def run(
        self, work: Work, rerun_individually: LookAfter, chunks: Iterable[np.ndarray]
    ) -> Generator[Outcome, None, None]:
        """See `Executor`."""
        sampler = _compiled(work)
        card = gpu_for(sampler)

        def launched(group: list[np.ndarray]) -> tuple[list[np.ndarray], Samples]:
            return group, sampler.by(card, np.concatenate(group))

        def summed_up(rows: np.ndarray, values: np.ndarray, done: np.ndarray) -> Outcome:
            return work.finished(
                rows,
                work.summed_up(rows, values.reshape(len(rows), -1), done),
                rerun_individually,
                stop,
            )

        with (
            ThreadPoolExecutor(1) as launching,
            ThreadPoolExecutor(SUMMING) as pool,
            stopping() as stop,
        ):
            for group, found in _in_order(
                launching, launched, _gathered(chunks, min(card.most, LAUNCHED)), lambda: AHEAD
            ):
                ends = np.cumsum([len(rows) for rows in group])[:-1]
                yield from pool.map(
                    summed_up, group, np.split(found.values, ends), np.split(found.done, ends)
                )


def _compiled(work: Work) -> Sampler:
    """What carries out samples elsewhere than in this process."""
    if work.sampler is None and find_compiler() is None:
        raise ModelError(
            f"executor: a card or a cluster needs a compiled program: {NO_COMPILER}; leave executor"
            " out to use threads"
        )
    if work.sampler is None:
        raise ModelError(
            "executor: this mechanism has no compiled program that finds its own start, as a card"
            " or a cluster needs it; leave executor out to use threads"
        )
    return work.sampler


def _result_of(future: Any) -> Outcome:
    try:
        outcome: Outcome = future.result()
    except BuildError as error:
        raise VarimechError(
            f"executor: a worker of the cluster cannot build the program: {error}"
        ) from None
    return outcome


def _gathered(chunks: Iterable[np.ndarray], most: int) -> Iterator[list[np.ndarray]]:
    """Several chunks at a time, of so many samples altogether; a single chunk may have more."""
    group: list[np.ndarray] = []
    for rows in chunks:
        if group and sum(map(len, group)) + len(rows) > most:
            yield group
            group = []
        group.append(rows)
    if group:
        yield group


def _itself(work: Work) -> Work:
    return work


def _done(work: Work, rows: np.ndarray) -> Outcome:
    return work(rows)


def _in_order(
    pool: ThreadPoolExecutor,
    function: Callable[[T], R],
    items: Iterable[T],
    ahead: Callable[[], int],
) -> Generator[R, None, None]:
    """What a function makes of items, in their order, a bounded number at a time."""
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
