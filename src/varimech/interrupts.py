"""Ctrl-C where it must not come at any moment: it is held back, and let through where it does no harm."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


class HeldBack:
    """Ctrl-C that is held back."""

    def __init__(self, before: Callable[[int, FrameType | None], object]):
        self._before = before
        self._came = False
        self._open = False

    def note(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal: now where it may come, else later."""
        self._came = True
        if self._open:
            self.deliver()

    def deliver(self) -> None:
        """Do what Ctrl-C would have done before."""
        if self._came:
            self._came = False
            self._before(signal.SIGINT, None)

    @contextmanager
    def let_through(self) -> Iterator[None]:
        """Here it may come, and what came before comes at once."""
        try:
            self._open = True
            self.deliver()
            yield
        finally:
            self._open = False


@contextmanager
def held_back() -> Iterator[HeldBack]:
    """Ctrl-C waits until this is left, or until it is let through. Only the main thread meets it; in others nothing changes."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield HeldBack(lambda number, frame: None)
        return
    held = HeldBack(before)
    try:
        signal.signal(signal.SIGINT, held.note)
        yield held
    finally:
        signal.signal(signal.SIGINT, before)
        held.deliver()
