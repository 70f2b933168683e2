"""Deferred Ctrl-C: critical sections postpone it. Cancellation of threads, which never receive
Ctrl-C: they poll an event.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import FrameType


class DeferredInterrupt:
    """A deferred Ctrl-C; `armed` if this thread receives Ctrl-C at all."""

    def __init__(self, previous: Callable[[int, FrameType | None], object], *, armed: bool):
        self._armed = armed
        self.delivered = False
        """Whether it was raised where it is allowed: libraries that call Python may convert it to
        another error.
        """
        self._previous = previous
        self._pending = False
        self._allowed = False

    def receive(self, number: int, frame: FrameType | None) -> None:
        """Handle the signal: now where it is allowed, otherwise later."""
        self._pending = True
        if self._allowed:
            self.delivered = True
            self.deliver()

    def arm(self) -> None:
        """Install the handler. OpenTURNS, for example, installs its own, which fails while Python
        code runs.
        """
        if self._armed:
            signal.signal(signal.SIGINT, self.receive)

    def deliver(self) -> None:
        """Call the previous handler if Ctrl-C was pressed."""
        if self._pending:
            self._pending = False
            self._previous(signal.SIGINT, None)

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Allow Ctrl-C in this block, and deliver a postponed one at once."""
        self.arm()
        try:
            self._allowed = True
            self.deliver()
            yield
        finally:
            self._allowed = False


def no_deferral() -> DeferredInterrupt:
    """A stand-in where Ctrl-C is not received, or not deferred."""
    return DeferredInterrupt(lambda number, frame: None, armed=False)


@contextmanager
def deferred_interrupts() -> Iterator[DeferredInterrupt]:
    """Postpone Ctrl-C until the end of this block, or until it is allowed. Only the main thread
    receives it; other threads are unaffected.
    """
    previous = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(previous):
        yield no_deferral()
        return
    held = DeferredInterrupt(previous, armed=True)
    try:
        held.arm()
        yield held
    finally:
        signal.signal(signal.SIGINT, previous)
        held.deliver()


class Stopped(Exception):
    """The work was cancelled: its result is no longer needed."""


@contextmanager
def stopping(on_stop: Callable[[], object] = lambda: None) -> Iterator[threading.Event]:
    """An event that is set when this block is left by an exception, for worker threads to poll.

    Args:
        on_stop: called after the event is set.
    """
    stop = threading.Event()
    try:
        yield stop
    except BaseException:
        stop.set()
        on_stop()
        raise


@contextmanager
def workers(count: int | None) -> Iterator[tuple[ThreadPoolExecutor, threading.Event]]:
    """A pool of threads that starts nothing new after an error or Ctrl-C, and the event that
    cancels running work.
    """
    with (
        ThreadPoolExecutor(count) as pool,
        stopping(lambda: pool.shutdown(wait=False, cancel_futures=True)) as stop,
    ):
        yield pool, stop
