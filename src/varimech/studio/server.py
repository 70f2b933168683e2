"""The server of a studio: one page, its scripts, and a connection that keeps the page up to date.

It listens on the local host only. Every request needs the token, the host and the origin of the
studio, and messages are small and of known kinds: no other page in the browser, and no other user
of the computer, can read or change a model.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from ..web.modules import asset, needed
from .live import Live
from .mailbox import Mailbox
from .page import ENTRY, STYLES, linked_page
from .session import Session

LONGEST = 2_000_000
"""Largest size (bytes) of a message from a page: more than any model file that a person edits."""
HOSTS = ("127.0.0.1", "localhost")
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'"
    " 'unsafe-inline'; img-src data: blob:; connect-src 'self'; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class SocketPage:
    """A page behind a web socket: its messages wait in a mailbox, in the thread of the server."""

    def __init__(self, loop: asyncio.AbstractEventLoop):
        self.mailbox = Mailbox()
        self._loop = loop

    def put(self, kind: str, message: bytes) -> None:
        """Put a message into the mailbox, from any thread."""
        self._loop.call_soon_threadsafe(self.mailbox.put, kind, message)


class Studio:
    """The web application of a live session."""

    def __init__(self, session: Session, port: int, token: str | None = None):
        self.live, self.port = Live(session), port
        self.token = token or secrets.token_urlsafe(24)
        # browsers send cookies of all ports to all of them
        self._cookie = f"varimech-studio-{port}"

    @property
    def address(self) -> str:
        """Address for the browser."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    def application(self) -> Starlette:
        """The web application."""
        routes = [
            Route("/", self._page),
            Route("/{name}", self._script),
            WebSocketRoute("/live", self._live),
        ]
        return Starlette(routes=routes, lifespan=self._lifespan)

    @asynccontextmanager
    async def _lifespan(self, application: Starlette) -> AsyncIterator[None]:
        self.live.begin()
        yield
        await asyncio.to_thread(self.live.end)

    # requests

    def _allowed(self, headers: Mapping[str, str], token: str | None) -> bool:
        """Whether a request comes from a page of this studio."""
        host = headers.get("host", "")
        if host not in {f"{name}:{self.port}" for name in HOSTS}:
            return False
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{name}:{self.port}" for name in HOSTS}:
            return False
        return token is not None and hmac.compare_digest(token.encode(), self.token.encode())

    async def _page(self, request: Request) -> Response:
        supplied = request.query_params.get("token") or request.cookies.get(self._cookie)
        if not self._allowed(request.headers, supplied):
            return PlainTextResponse("not allowed: open the address that the studio printed", 403)
        page = linked_page()
        response = Response(page, media_type="text/html", headers=HEADERS)
        response.set_cookie(self._cookie, self.token, httponly=True, samesite="strict")
        return response

    async def _script(self, request: Request) -> Response:
        if not self._allowed(request.headers, request.cookies.get(self._cookie)):
            return PlainTextResponse("not allowed", 403)
        name = request.path_params["name"]
        kinds = dict.fromkeys(STYLES, "text/css")
        kinds |= dict.fromkeys(needed(ENTRY), "text/javascript")
        if name not in kinds:
            return PlainTextResponse("not found", 404)
        return Response(asset(name), media_type=kinds[name], headers=HEADERS)

    async def _live(self, socket: WebSocket) -> None:
        if not self._allowed(socket.headers, socket.cookies.get(self._cookie)) or (
            "origin" not in socket.headers
        ):
            await socket.close(code=1008)
            return
        await socket.accept()
        page = SocketPage(asyncio.get_running_loop())
        self.live.join(page)
        delivery = asyncio.ensure_future(page.mailbox.deliver(socket.send_bytes))
        try:
            while (received := await socket.receive())["type"] == "websocket.receive":
                await asyncio.to_thread(self.live.receive, page, received.get("text") or "")
        finally:
            self.live.leave(page)
            delivery.cancel()
            await asyncio.gather(delivery, return_exceptions=True)
