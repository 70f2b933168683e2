"""A session with its pages: requests of pages are executed, and their content is computed. The
transport to the pages, web sockets or a notebook, is implemented elsewhere.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any, Protocol

from ..core.errors import ModelError, VarimechError
from .live_actions import LIVE_ACTIONS
from .messages import Message, kind_of
from .session import Session
from .worker import FAST, Worker


class Page(Protocol):
    """A page that shows a session."""

    def put(self, kind: str, message: bytes) -> None:
        """Accept a message, in any thread; it replaces a waiting message of the same kind."""
        ...


class Live:
    """A session with its workers and the pages that are connected."""

    def __init__(self, session: Session):
        self.session = session
        self._lock = threading.RLock()
        self._pages: list[Page] = []
        self._last: dict[str, bytes] = {}
        self._workers: list[Worker] = []

    def begin(self) -> None:
        """Start computing, unless already started."""
        with self._lock:
            if self._workers:
                return
            self.session.notify = self._publish_state
            # gradients of large models, samples and modes may take longer than a frame: they have
            # threads
            # of their own
            self._workers = [
                Worker(self.session, self._publish_motion, FAST[:1], ()),
                Worker(self.session, self.publish, FAST[1:], polite=True),
                Worker(self.session, self.publish, ("samples",), ()),
                Worker(self.session, self.publish, ("modes",), ("locus",)),
            ]

    def end(self) -> None:
        """Stop computing."""
        self.session.jobs.cancel()
        with self._lock:
            workers, self._workers = self._workers, []
        for worker in workers:
            worker.end()

    def join(self, page: Page) -> None:
        """Connect a page: it receives the present state, and from now on every change."""
        with self._lock:
            page.put("state", self._state())
            for kind, message in self._last.items():
                page.put(kind, message)
            self._pages.append(page)

    def leave(self, page: Page) -> None:
        """Disconnect a page."""
        with self._lock:
            if page in self._pages:
                self._pages.remove(page)

    def receive(self, page: Page, text: str) -> None:
        """Execute a request of a page; errors are reported to that page only."""
        try:
            kind, request = _request(text)
            changed = ACTIONS[kind](self.session, **request)
        except VarimechError as error:
            page.put("refused", Message("refused", message=str(error)).encoded())
            return
        except Exception as error:  # no request may end the connection of a page
            reason = f"{type(error).__name__}: {error}"
            page.put("refused", Message("refused", message=reason).encoded())
            return
        if changed is not False:
            self._publish_state()
        for worker in self._workers:
            worker.wake()

    def publish(self, message: bytes) -> None:
        """Send a message to all pages, from any thread."""
        kind = kind_of(message)
        with self._lock:
            if kind == "motion":
                self._last.pop("failed", None)  # pages that connect later do not need it
            if kind != "state":
                self._last.pop(kind, None)
                self._last[kind] = message
            for page in self._pages:
                page.put(kind, message)

    def _publish_motion(self, message: bytes) -> None:
        self.publish(message)
        for worker in self._workers:
            worker.wake()

    def _publish_state(self) -> None:
        with self._lock:  # a state must not overtake a newer one
            self.publish(self._state())

    def _state(self) -> bytes:
        return Message("state", **self.session.state()).encoded()


def _request(text: str) -> tuple[str, dict[str, Any]]:
    """Kind and content of a message from a page."""
    try:
        request = json.loads(text)
    except (ValueError, RecursionError):
        raise ModelError("a message is a JSON text") from None
    if not isinstance(request, dict):
        raise ModelError("a message is a JSON object")
    kind = request.pop("kind", None)
    if not isinstance(kind, str) or kind not in ACTIONS:
        raise ModelError(f"no message is called {kind!r}")
    return kind, request


def _set(session: Session, values: dict[str, float | str], final: bool = False) -> bool:
    if not isinstance(values, dict) or not isinstance(final, bool):
        raise ModelError("set has values by parameter, and final is true or false")
    session.set_values(values, final=final)
    return final


def _edit(session: Session, text: str) -> None:
    if not isinstance(text, str):
        raise ModelError("edit has a text")
    session.edit(text)


def _drawing(session: Session, on: bool) -> None:
    session.drawing = bool(on)


ACTIONS: dict[str, Callable[..., Any]] = {
    "set": _set,
    "edit": _edit,
    "undo": lambda session: session.undo(),
    "redo": lambda session: session.redo(),
    "revert": lambda session: session.revert(),
    "keep": lambda session, name: session.keep(str(name)),
    "take": lambda session, name: session.take(str(name)),
    "save": lambda session: session.save(),
    "drawing": _drawing,
    "draw": lambda session, stroke, arguments: session.draw(str(stroke), **arguments),
    **LIVE_ACTIONS,
}
"""Requests of pages."""
