"""Progress bars on a terminal, for work that takes longer than two seconds."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

ProgressCallback = Callable[[float], None]
"""Called from time to time with the amount of work that is done."""
PATIENCE = 2.0
"""Delay before a bar appears (s): shorter work needs none."""
_ONE_AT_A_TIME = threading.Lock()
"""Held by the visible bar: a terminal shows one at a time, and the outer one is more
informative.
"""
_listeners: list[Callable[[str, float, float | None, str], None]] = []
"""Called with label, amount done, total and note of all work, also where no bar is shown."""
_beside: list[Callable[[], str]] = []
"""Texts beside every bar, empty where there is nothing to show."""


def show_beside_bars(text: Callable[[], str]) -> Callable[[], str]:
    """Show a text beside every bar while it is not empty."""
    _beside.append(text)
    return text


@contextmanager
def report_progress_to(
    listener: Callable[[str, float, float | None, str], None],
) -> Iterator[None]:
    """Call a function with the label, the amount done, the total amount (None if unknown) and a note
    of all work inside.
    """
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


@contextmanager
def progress_bar(
    label: str, total: float | None, enabled: bool | None = None
) -> Iterator[Callable[..., None]]:
    """Show a progress bar if the work takes longer than `PATIENCE`.

    Args:
        label: text before the bar.
        total: total amount of work; None for an indefinite bar.
        enabled: whether to show it; by default, whether stderr is a terminal.

    Yields:
        A function of the amount done and of a note beside the label, or of a callable that returns
        the note.
    """
    show = sys.stderr.isatty() if enabled is None else enabled
    began = time.monotonic()
    bar: Any = None
    task: object = None

    def update(done: float, note: str | Callable[[], str] = "") -> None:
        nonlocal bar, task
        for listener in _listeners:
            listener(label, done, total, note if isinstance(note, str) else note())
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
        own = note if isinstance(note, str) else note()
        texts = (label, own, *(text() for text in _beside))
        bar.update(task, completed=done, description=", ".join(filter(None, texts)))

    try:
        yield update
    finally:
        if bar is not None:
            bar.stop()
            _ONE_AT_A_TIME.release()
