"""Work in the background: one thing after the other, on one core, abandoned when Python ends."""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
from collections.abc import Callable

from ..core.progress import show_beside_bars

_log = logging.getLogger("varimech")


class Work(threading.Event):
    """Something that is done in the background; set when it is done, whether it worked or not.

    Args:
        task: what is to be done.
        estimated: seconds that it will take.
    """

    def __init__(self, task: Callable[[], None], estimated: float):
        super().__init__()
        self._task = task
        self.estimated = estimated
        self._began: float | None = None

    @property
    def seconds(self) -> float:
        """That it has taken so far; 0 while it waits for others."""
        return 0.0 if self._began is None else time.monotonic() - self._began

    def execute(self) -> None:
        """Do it; an error must not end the thread that others wait for."""
        self._began = time.monotonic()
        try:
            self._task()
        except Exception:
            _log.exception("varimech: work in the background failed")
        finally:
            self.set()


class _Worker:
    """A thread that does what is put into its queue."""

    def __init__(self) -> None:
        self.waiting: queue.SimpleQueue[Work] = queue.SimpleQueue()
        self.current: Work | None = None
        threading.Thread(target=self._work, name="varimech builds", daemon=True).start()

    def _work(self) -> None:
        while True:
            self.current = self.waiting.get()
            self.current.execute()


_worker: _Worker | None = None


def in_background(task: Callable[[], None], estimated: float = 0.0) -> Work:
    """Do something when what was asked for before is done.

    Args:
        task: what is to be done.
        estimated: seconds that it will take.
    """
    global _worker
    if _worker is None:
        _worker = _Worker()
    work = Work(task, estimated)
    _worker.waiting.put(work)
    return work


def after_fork(reset: Callable[[], None]) -> None:
    """Call something in forked processes, which have no such thread."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=reset)


@after_fork
def _begin_anew() -> None:
    global _worker
    _worker = None


@show_beside_bars
def _build_text() -> str:
    """The build that is under way, if any."""
    work = None if _worker is None else _worker.current
    if work is None or work.is_set():
        return ""
    return f"compiling in the background for {work.seconds:.0f} of about {work.estimated:.0f} s"
