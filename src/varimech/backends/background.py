"""A queue of background tasks, executed one after the other by one thread and abandoned when Python
ends.
"""

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
    """A background task; the event is set when the task has ended, whether it succeeded or not.

    Args:
        task: function to execute.
        estimated: its estimated duration (s).
    """

    def __init__(self, task: Callable[[], None], estimated: float):
        super().__init__()
        self._task = task
        self.estimated = estimated
        self._began: float | None = None

    @property
    def seconds(self) -> float:
        """Time that the task has taken so far (s); 0 while it waits for others."""
        return 0.0 if self._began is None else time.monotonic() - self._began

    def execute(self) -> None:
        """Execute the task; an error must not end the thread that other tasks wait for."""
        self._began = time.monotonic()
        try:
            self._task()
        except Exception:
            _log.exception("varimech: work in the background failed")
        finally:
            self.set()


class _Worker:
    """A thread that executes the tasks of its queue."""

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
    """Queue a task, to be executed when all tasks queued before have ended.

    Args:
        task: function to execute.
        estimated: its estimated duration (s).
    """
    global _worker
    if _worker is None:
        _worker = _Worker()
    work = Work(task, estimated)
    _worker.waiting.put(work)
    return work


def after_fork(reset: Callable[[], None]) -> None:
    """Call a function in forked processes, which do not inherit the thread."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=reset)


@after_fork
def _begin_anew() -> None:
    global _worker
    _worker = None


@show_beside_bars
def _build_text() -> str:
    """Describe the build in progress, if there is one."""
    work = None if _worker is None else _worker.current
    if work is None or work.is_set():
        return ""
    return f"compiling in the background for {work.seconds:.0f} of about {work.estimated:.0f} s"
