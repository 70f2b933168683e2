"""Concurrent searches from several initial designs.

Each search runs in its own thread and waits at its next design until all other searches have
reached theirs; then all designs are run at once, in one batch. Solvers are not affected, so any
solver can be used, and results do not depend on which searches run together.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Protocol, TypeVar

import numpy as np

from ..core.errors import VarimechError
from .design_problem import DesignProblem
from .evaluation import Evaluator, Outcome, Second

FEWEST = 3
"""Number of designs from which a batch is faster: a batch of eight takes as long as two to three
single runs.
"""
MOST = 16
"""Maximum number of concurrent searches: two full batches of eight."""

T = TypeVar("T")


class ManyEvaluator(Evaluator, Protocol):
    """An evaluator that may run many designs at once."""

    @property
    def has_vectors(self) -> bool:
        """Whether the evaluator can run designs in batches."""
        ...

    def run_all(self, designs: Sequence[np.ndarray]) -> list[Outcome | VarimechError]:
        """Return what `run` would return or raise, for each design."""
        ...


class _Waiting:
    """A search that waits for the run at its next design."""

    def __init__(self, x: np.ndarray):
        self.x = x
        self.outcome: Outcome | BaseException | None = None


class Lockstep:
    """Evaluator of searches in several threads; a batch is run by the thread that completes it."""

    def __init__(self, evaluator: ManyEvaluator, searches: int):
        self._evaluator, self._searches = evaluator, searches
        self._changed, self._waiting = threading.Condition(), list[_Waiting]()
        self._stopped = False

    @property
    def roughness(self) -> float:
        """See `Evaluator`."""
        return self._evaluator.roughness

    def second(self, x: np.ndarray) -> Second:
        """See `Evaluator`; each search computes its own."""
        return self._evaluator.second(x)

    def run(self, x: np.ndarray) -> Outcome:
        """See `Evaluator`."""
        mine = _Waiting(x)
        with self._changed:
            self._waiting.append(mine)
            self._run_complete_batch()
            while mine.outcome is None:
                self._changed.wait()
        if isinstance(mine.outcome, BaseException):
            raise mine.outcome
        return mine.outcome

    def leave(self) -> None:
        """Remove one search, which has ended."""
        with self._changed:
            self._searches -= 1
            self._run_complete_batch()

    def stop(self) -> None:
        """End all searches with a KeyboardInterrupt at their next design."""
        self._stopped = True

    def _run_complete_batch(self) -> None:
        batch = self._waiting
        if not batch or len(batch) < self._searches:
            return
        self._waiting = []
        try:
            for each, outcome in zip(batch, self._outcomes(batch), strict=True):
                each.outcome = outcome
        except BaseException as error:  # an internal error ends all searches; none may keep waiting
            for each in batch:
                each.outcome = error
        self._changed.notify_all()

    def _outcomes(self, batch: list[_Waiting]) -> Sequence[Outcome | BaseException]:
        if self._stopped:
            return [KeyboardInterrupt() for _ in batch]
        if len(batch) >= FEWEST:
            return self._evaluator.run_all([each.x for each in batch])
        return [self._single(each.x) for each in batch]

    def _single(self, x: np.ndarray) -> Outcome | VarimechError:
        try:
            return self._evaluator.run(x)
        except VarimechError as error:
            return error


def side_by_side(
    problem: DesignProblem,
    evaluator: ManyEvaluator,
    starts: Sequence[np.ndarray],
    search: Callable[[DesignProblem, int], T],
) -> list[T | BaseException]:
    """Return what a search returns or raises for each initial design, in their order.

    On Ctrl-C, all searches end with a KeyboardInterrupt or a subclass at their next design.
    """
    threads = min(MOST, len(starts))
    lockstep, results = Lockstep(evaluator, threads), dict[int, T | BaseException]()
    numbers, choosing = iter(range(len(starts))), threading.Lock()

    def one_after_another() -> None:
        try:
            for k in _shared(numbers, choosing):
                own = problem._separate(lockstep)
                try:
                    results[k] = search(own, k)
                except BaseException as error:  # raised where results are used
                    results[k] = error
                own.evaluator = evaluator  # for evaluations after the search
        finally:
            lockstep.leave()

    with ThreadPoolExecutor(threads) as pool:
        running = [pool.submit(one_after_another) for _ in range(threads)]
        try:
            wait(running)
        except KeyboardInterrupt:
            lockstep.stop()
            wait(running)
    return [results[k] for k in range(len(starts))]


def _shared(numbers: Iterator[int], choosing: threading.Lock) -> Iterator[int]:
    """Yield numbers, each to one thread only."""
    while True:
        with choosing:
            k = next(numbers, None)
        if k is None:
            return
        yield k
