"""Work in the background: one thing after the other, on one core, abandoned when Python ends."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable


class _Worker:
    """A thread that does what is put into its queue."""

    def __init__(self) -> None:
        self.tasks: queue.SimpleQueue[tuple[Callable[[], None], threading.Event]] = (
            queue.SimpleQueue()
        )
        threading.Thread(target=self._work, name="varimech builds", daemon=True).start()

    def _work(self) -> None:
        while True:
            task, done = self.tasks.get()
            try:
                task()
            finally:
                done.set()


_worker: _Worker | None = None


def in_background(task: Callable[[], None]) -> threading.Event:
    """Do something when what was asked for before is done.

    Returns:
        An event that is set when it is done, whether it worked or not.
    """
    global _worker
    if _worker is None:
        _worker = _Worker()
    done = threading.Event()
    _worker.tasks.put((task, done))
    return done


def after_fork(reset: Callable[[], None]) -> None:
    """Call something in forked processes, which have no such thread."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=reset)


@after_fork
def _begin_anew() -> None:
    global _worker
    _worker = None
