"""Starting a studio on this computer."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..core.errors import ModelError
from .session import Session

HOST = "127.0.0.1"


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
    serve, address = prepared(make, text, path, port)
    tell(f"Studio: {address}  (Ctrl-C ends it)")
    if browser:
        threading.Timer(0.3, webbrowser.open, [address]).start()
    serve()


def prepared(
    make: Callable[..., Any], text: str, path: Path | None, port: int = 0
) -> tuple[Callable[[], None], str]:
    """What serves a studio until Ctrl-C, and the address of its page.

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
        raise ModelError(f"port {port} is in use", remedy="choose another, or 0 for any") from None
    studio = Studio(Session(make, text, path), listening.getsockname()[1])
    config = uvicorn.Config(
        studio.application(), log_level="warning", ws_max_size=LONGEST, ws="websockets-sansio"
    )
    server = uvicorn.Server(config)
    return (lambda: server.run(sockets=[listening])), studio.address
