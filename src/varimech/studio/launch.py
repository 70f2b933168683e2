"""Start of a studio on this computer."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from ..core.errors import ModelError
from .live import Live
from .session import Session

HOST = "127.0.0.1"


class OpenStudio:
    """A studio that is being served; as a context manager it is stopped on exit.

    Attributes:
        address: of its page, with the token that grants access.
    """

    def __init__(self, server: Any, listening: socket.socket, address: str, live: Live):
        self._server, self._listening, self._live = server, listening, live
        self.address = address
        self._frame: Any = None
        self._thread: threading.Thread | None = None

    @property
    def text(self) -> str:
        """Text of the model file of the current design."""
        return self._live.session.text

    def serve(self) -> None:
        """Serve until Ctrl-C, or `stop`."""
        self._server.run(sockets=[self._listening])

    def serve_in_background(self) -> None:
        """Serve in a daemon thread."""
        self._thread = threading.Thread(target=self.serve, name="studio server", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Wait until the studio is stopped; Ctrl-C stops it."""
        try:
            while self._thread is not None and self._thread.is_alive():
                self._thread.join(timeout=0.2)
        except KeyboardInterrupt:
            self.stop()

    def stop(self) -> None:
        """Stop the studio; pages report that the connection is lost."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(timeout=10)
        self._listening.close()

    def __enter__(self) -> OpenStudio:
        return self

    def __exit__(self, *problem: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<Studio at {self.address}>"

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """The studio itself in notebooks that show widgets, and a link to it."""
        link = (
            f'<a href="{escape(self.address)}" target="_blank" rel="noreferrer">Open the studio</a>'
        )
        try:
            from .notebook import StudioFrame
        except ImportError:  # without anywidget, only a link can be shown
            return {"text/plain": repr(self), "text/html": link}, {}
        if self._frame is None:
            self._frame = StudioFrame(self._live, link)
        return self._frame._repr_mimebundle_(**options)


def start(
    make: Callable[..., Any],
    text: str,
    path: Path | None = None,
    *,
    port: int = 0,
    browser: bool = True,
    tell: Callable[[str], None] = print,
) -> None:
    """Serve a studio until Ctrl-C.

    Args:
        make: class of mechanisms.
        text: of a model file.
        path: the file, which is written on request only; None if there is none.
        port: 0 for any that is free.
        browser: whether to open the page.
        tell: prints the address.
    """
    studio = prepared(make, text, path, port)
    tell(f"Studio: {studio.address}  (Ctrl-C ends it)")
    if browser:
        show(studio)
    studio.serve()


def show(studio: OpenStudio) -> None:
    """Open the page in the browser, as soon as the server answers."""
    threading.Timer(0.3, webbrowser.open, [studio.address]).start()


def prepared(
    make: Callable[..., Any], text: str, path: Path | None = None, port: int = 0
) -> OpenStudio:
    """Create a studio that is not being served yet.

    Raises:
        ModelError: if the packages for it are not installed, or the port is taken.
    """
    try:
        import uvicorn

        from .server import LONGEST, Studio
    except ImportError:
        raise ModelError(
            "the studio needs packages that are not installed",
            remedy="pip install 'varimech[studio]'",
        ) from None
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
    except OSError:
        listening.close()
        raise ModelError(f"port {port} is in use", remedy="choose another, or 0 for any") from None
    listening.listen()  # so that requests wait instead of being refused until it is served
    session = Session(make, text, path)
    studio = Studio(session, listening.getsockname()[1])
    config = uvicorn.Config(
        studio.application(),
        log_level="warning",
        ws_max_size=LONGEST,
        ws="websockets-sansio",
        timeout_graceful_shutdown=1,
    )
    return OpenStudio(uvicorn.Server(config), listening, studio.address, studio.live)
