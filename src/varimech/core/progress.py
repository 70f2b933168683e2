"""Progress of anything that takes longer than two seconds, on a terminal; silent elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Tell = Callable[[float], None]
"""Told, now and then, how much is done."""
PATIENCE = 2.0
"""Seconds before a bar appears."""
_ONE_AT_A_TIME = threading.Lock()
"""Held by the bar that is shown: a terminal has room for one, and the outer one tells more."""


@contextmanager
def progress_bar(
    label: str, total: float | None, enabled: bool | None = None
) -> Iterator[Callable[..., None]]:
    """A function to call with the amount done, and a note beside the label, or what makes one if it
    is shown; the bar appears only if the work outlasts the patience. Without a total it only tells
    that something goes on.
    """
    show = sys.stderr.isatty() if enabled is None else enabled
    began = time.monotonic()
    bar: Any = None
    task: Any = None

    def update(done: float, note: str | Callable[[], str] = "") -> None:
        nonlocal bar, task
        if not show or (bar is None and time.monotonic() - began < PATIENCE):
            return
        if bar is None and not _ONE_AT_A_TIME.acquire(blocking=False):
            return
        if bar is None:
            from rich.console import Console
            from rich.progress import Progress

            bar = Progress(console=Console(stderr=True), transient=True)
            bar.start()
            task = bar.add_task(label, total=total)
        text = note if isinstance(note, str) else note()
        bar.update(task, completed=done, description=f"{label}{text and ', '}{text}")

    try:
        yield update
    finally:
        if bar is not None:
            bar.stop()
            _ONE_AT_A_TIME.release()
