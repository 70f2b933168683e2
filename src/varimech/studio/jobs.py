"""Long computations of a studio, each in a separate process: cancelling a computation ends its
process, and a crash loses nothing.
"""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ..core.errors import ModelError, VarimechError
from ..core.progress import report_progress_to
from ..files.reading import mechanism_of_text
from ..files.study_runner import conduct

SHORTEST = 0.2
"""Shortest time (s) between two reports of progress."""
KINDS = ("optimize", "allocate", "fit", "certify")


@dataclass
class Job:
    """A computation, its progress and its result."""

    kind: str
    began: float = field(default_factory=time.monotonic)
    ended: float | None = None
    status: str = "running"
    """"running", "done", "failed" or "cancelled"."""
    note: str = ""
    share: float | None = None
    """Completed fraction of the work, at most 1; None if it is unknown."""
    result: dict[str, Any] = field(default_factory=dict)

    def state(self) -> dict[str, Any]:
        """State that pages show."""
        return {
            "kind": self.kind,
            "status": self.status,
            "note": self.note,
            "share": self.share,
            "seconds": (time.monotonic() if self.ended is None else self.ended) - self.began,
            **self.result,
        }


class Jobs:
    """One job at a time."""

    def __init__(self) -> None:
        self.job: Job | None = None
        self._process: Any = None
        self._lock = threading.Lock()

    def state(self) -> dict[str, Any] | None:
        """State of the last job, None before the first one."""
        return None if self.job is None else self.job.state()

    def start(
        self,
        kind: str,
        make: Callable[..., Any],
        text: str,
        path: Path | None,
        changed: Callable[[], None],
    ) -> None:
        """Begin a job; `changed` is called, in a thread, whenever its state changes.

        Raises:
            ModelError: for an unknown kind, or while another job is running.
        """
        if kind not in KINDS:
            raise ModelError(f"no job is called {kind!r}", remedy=f"one of {', '.join(KINDS)}")
        with self._lock:
            if self.job is not None and self.job.status == "running":
                raise ModelError(f"{self.job.kind} is running", remedy="wait for it, or cancel it")
            self.job = job = Job(kind)
            context = multiprocessing.get_context("spawn")
            ours, theirs = context.Pipe(duplex=False)
            self._process = process = context.Process(
                target=work, args=(theirs, kind, make, text, path), daemon=True
            )
            process.start()
        theirs.close()
        threading.Thread(
            target=self._listen, args=(job, process, ours, changed), name="job", daemon=True
        ).start()

    def cancel(self) -> None:
        """End the process of the running job, if there is one."""
        with self._lock:
            if self.job is None or self.job.status != "running":
                return
            self.job.status = "cancelled"
            self._process.terminate()

    def _listen(
        self, job: Job, process: Any, news: Connection, changed: Callable[[], None]
    ) -> None:
        while True:
            try:
                kind, content = news.recv()
            except (EOFError, OSError):
                break
            with self._lock:
                if job.status == "running":
                    _take(job, kind, content)
            changed()
        process.join()
        with self._lock:
            job.ended = time.monotonic()
            if job.status == "running":  # it ended without a report
                job.status = "failed"
                job.note = f"its process has ended with code {process.exitcode}"
        changed()


def _take(job: Job, kind: str, content: Any) -> None:
    if kind == "progress":
        job.share, job.note = content
    elif kind == "done":
        job.status, job.note, job.share, job.result = "done", "", 1.0, content
    else:
        job.status, job.note = "failed", content


def work(
    news: Connection, kind: str, make: Callable[..., Any], text: str, path: Path | None
) -> None:
    """Execute a job in a separate process, which reports over `news`."""
    last = 0.0

    def report(label: str, done: float, total: float | None, note: str) -> None:
        nonlocal last
        if time.monotonic() - last < SHORTEST:
            return
        last = time.monotonic()
        news.send(("progress", (min(1.0, done / total) if total else None, note or label)))

    try:
        with report_progress_to(report):
            result = _RESULTS[kind](mechanism_of_text(make, text, path))
        news.send(("done", result))
    except VarimechError as error:
        news.send(("failed", str(error)))
    finally:
        news.close()


def _optimised(mechanism: Any, kind: str) -> dict[str, Any]:
    """Parameter values that a search found."""
    result = conduct(mechanism, _studies(mechanism), kind, {"progress": False})
    values: Mapping[str, Any] = result.parameters  # type: ignore[union-attr]
    return {
        "values": {str(name): float(value) for name, value in values.items()},
        "text": str(result),
    }


def _allocated(mechanism: Any) -> dict[str, Any]:
    """Tolerances of least cost, and nominal values if they may change."""
    allocation: Any = conduct(mechanism, _studies(mechanism), "allocate", {"progress": False})
    return {
        "values": {name: float(after) for name, (_, after) in allocation.nominals.items()},
        "tolerances": allocation.tolerances,
        "text": str(allocation),
    }


def _certified(mechanism: Any) -> dict[str, Any]:
    gradient = conduct(mechanism, _studies(mechanism), "sensitivity", {"progress": False})
    return {"text": str(gradient.certify(progress=False))}  # type: ignore[union-attr]


def _studies(mechanism: Any) -> Any:
    if mechanism.studies is None:
        raise ModelError("the model has no studies", remedy="state them under studies: in its text")
    return mechanism.studies


_RESULTS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "optimize": partial(_optimised, kind="optimize"),
    "allocate": _allocated,
    "fit": partial(_optimised, kind="fit"),
    "certify": _certified,
}
