"""The studio in a notebook: the same page and the same session, in a frame that the kernel serves.
It works wherever the kernel runs, also on another computer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from ..notebook.frame import Frame
from .live import Live
from .page import whole_page

HEIGHT = 860
"""Height of the frame in pixels: the mechanism, sliders and a plot without scrolling at usual
widths.
"""


class FramedPage:
    """A page in a frame: it gets a message when it has received the previous one, so that only the
    newest message of each kind waits, however slow the connection to the kernel is.
    """

    def __init__(self, send: Callable[[bytes], None]):
        self._send = send
        self._lock, self._busy = threading.Lock(), False
        self._waiting: dict[str, bytes] = {}

    def put(self, kind: str, message: bytes) -> None:
        """Add a message, from any thread."""
        with self._lock:
            self._waiting.pop(kind, None)  # messages are ordered by their last update
            self._waiting[kind] = message
            self._pass_on()

    def received(self) -> None:
        """Record that the page has received the last message."""
        with self._lock:
            self._busy = False
            self._pass_on()

    def _pass_on(self) -> None:
        if self._busy or not self._waiting:
            return
        self._busy = True
        self._send(self._waiting.pop(next(iter(self._waiting))))


class StudioFrame(Frame):
    """A live session as a widget; each place at which it is displayed is a separate page."""

    def __init__(self, live: Live, instead: str):
        super().__init__(whole_page(), "the studio", instead, height=HEIGHT)
        self._live = live
        self._pages: dict[str, FramedPage] = {}
        self.on_msg(self._take)

    def _take(self, widget: object, content: dict[str, Any], buffers: object) -> None:
        """Handle a report or a request of a page."""
        name, what = str(content["page"]), content["what"]
        if what == "opened":
            self._leave(name)
            page = self._pages[name] = FramedPage(partial(self._pass, name))
            self._live.join(page)
            return
        page_there = self._pages.get(name)
        if page_there is None:
            return  # from a frame that no longer exists
        if what == "received":
            page_there.received()
        elif what == "request":
            self._live.receive(page_there, str(content["text"]))
        elif what == "closed":
            self._leave(name)

    def _leave(self, name: str) -> None:
        if (page := self._pages.pop(name, None)) is not None:
            self._live.leave(page)

    def _pass(self, name: str, message: bytes) -> None:
        self.send({"page": name}, [message])
