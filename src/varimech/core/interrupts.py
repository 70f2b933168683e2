"""Ctrl-C where it must not come at any moment: it is held back, and let through where it does no
harm. And threads, which never meet it: they look now and then whether somebody still waits for
them.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import FrameType


class HeldBack:
    """Ctrl-C that is held back; `armed` where it comes at all."""

    def __init__(self, before: Callable[[int, FrameType | None], object], *, armed: bool):
        self._armed = armed
        self.came_through = False
        """Whether it came where it was let through: those that call Python may make another error
        of it.
        """
        self._before = before
        self._came = False
        self._open = False

    def note(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal: now where it may come, else later."""
        self._came = True
        if self._open:
            self.came_through = True
            self.deliver()

    def arm(self) -> None:
        """Have it come here. OpenTURNS, for one, puts a handler of its own in place, which breaks
        down where Python runs.
        """
        if self._armed:
            signal.signal(signal.SIGINT, self.note)

    def deliver(self) -> None:
        """Do what Ctrl-C would have done before."""
        if self._came:
            self._came = False
            self._before(signal.SIGINT, None)

    @contextmanager
    def let_through(self) -> Iterator[None]:
        """Here it may come, and what came before comes at once."""
        self.arm()
        try:
            self._open = True
            self.deliver()
            yield
        finally:
            self._open = False


def nothing_held() -> HeldBack:
    """Where Ctrl-C does not come, or comes as ever."""
    return HeldBack(lambda number, frame: None, armed=False)


@contextmanager
def held_back() -> Iterator[HeldBack]:
    """Ctrl-C waits until this is left, or until it is let through. Only the main thread meets it;
    in others nothing changes.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield nothing_held()
        return
    held = HeldBack(before, armed=True)
    try:
        held.arm()
        yield held
    finally:
        signal.signal(signal.SIGINT, before)
        held.deliver()


class Stopped(Exception):
    """Work was given up, because nobody waits for it any more."""


@contextmanager
def stopping(besides: Callable[[], object] = lambda: None) -> Iterator[threading.Event]:
    """What is set when work is broken off (Ctrl-C, an error, enough of it), for those at work to
    see.
    """
    stop = threading.Event()
    try:
        yield stop
    except BaseException:
        stop.set()
        besides()
        raise


@contextmanager
def workers(count: int | None) -> Iterator[tuple[ThreadPoolExecutor, threading.Event]]:
    """Threads that take up nothing new when work is broken off, and what tells them to give up what
    they have.
    """
    with (
        ThreadPoolExecutor(count) as pool,
        stopping(lambda: pool.shutdown(wait=False, cancel_futures=True)) as stop,
    ):
        yield pool, stop
