"""The server of a studio: one page, its scripts, and a connection over which it is kept up to date.

It listens on the local host only. Every request needs the token of the studio, the host and origin
that the studio has, and messages are small and of known kinds: no other page in the browser, and no
other user of the computer, can look at a model or change it.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from string import Template
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from ..core.errors import ModelError, VarimechError
from ..web.modules import asset, needed
from .live_actions import LIVE_ACTIONS
from .messages import Message
from .session import Session
from .worker import Worker

LONGEST = 2_000_000
"""Bytes of a message from a page: more than any model file that a person edits."""
HOSTS = ("127.0.0.1", "localhost")
ENTRY = "studio.js"
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'"
    " 'unsafe-inline'; img-src data: blob:; connect-src 'self'; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
COOKIE = "varimech-studio"


class Studio:
    """A session with its worker and the pages that are connected."""

    def __init__(self, session: Session, port: int, token: str | None = None):
        self.session, self.port = session, port
        self.token = token or secrets.token_urlsafe(24)
        self._pages: set[WebSocket] = set()
        self._last: dict[str, bytes] = {}
        self._sending: set[asyncio.Future[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._workers: list[Worker] = []

    @property
    def address(self) -> str:
        """To open in a browser."""
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
        self._loop = asyncio.get_running_loop()
        self.session.notify = lambda: self._publish(self._state())
        # samples take longer than a frame: a thread of their own
        self._workers = [
            Worker(self.session, self._publish),
            Worker(self.session, self._publish, ("samples",), ()),
        ]
        yield
        self.session.jobs.cancel()
        for worker in self._workers:
            await asyncio.to_thread(worker.end)

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
        given = request.query_params.get("token") or request.cookies.get(COOKIE)
        if not self._allowed(request.headers, given):
            return PlainTextResponse("not allowed: open the address that the studio printed", 403)
        motion = Template(asset("motion.html")).substitute(
            name="the mechanism", warning="", sigmas="3"
        )
        page = Template(asset("studio.html")).substitute(motion=motion)
        response = Response(page, media_type="text/html", headers=HEADERS)
        response.set_cookie(COOKIE, self.token, httponly=True, samesite="strict")
        return response

    async def _script(self, request: Request) -> Response:
        if not self._allowed(request.headers, request.cookies.get(COOKIE)):
            return PlainTextResponse("not allowed", 403)
        name = request.path_params["name"]
        kinds = {"style.css": "text/css", "studio.css": "text/css"}
        kinds |= dict.fromkeys(needed(ENTRY), "text/javascript")
        if name not in kinds:
            return PlainTextResponse("not found", 404)
        return Response(asset(name), media_type=kinds[name], headers=HEADERS)

    async def _live(self, socket: WebSocket) -> None:
        if not self._allowed(socket.headers, socket.cookies.get(COOKIE)) or (
            "origin" not in socket.headers
        ):
            await socket.close(code=1008)
            return
        await socket.accept()
        self._pages.add(socket)
        try:
            await socket.send_bytes(self._state())
            for message in list(self._last.values()):
                await socket.send_bytes(message)
            while True:
                await self._receive(socket, await socket.receive_text())
        except (WebSocketDisconnect, RuntimeError):
            pass
        finally:
            self._pages.discard(socket)

    async def _receive(self, socket: WebSocket, text: str) -> None:
        """Carry out what a page asks for; what is wrong with it is told to that page only."""
        try:
            request = json.loads(text)
            if not isinstance(request, dict):
                raise ModelError("a message is a JSON object")
            kind = request.pop("kind", None)
            if kind not in ACTIONS:
                raise ModelError(f"no message is called {kind!r}")
            changed = await asyncio.to_thread(ACTIONS[kind], self.session, **request)
        except (VarimechError, ValueError, TypeError, OSError) as error:
            await socket.send_bytes(Message("refused", message=str(error)).encoded())
            return
        if changed is not False:
            self._publish(self._state())
        for worker in self._workers:
            worker.wake()

    # results

    def _state(self) -> bytes:
        return Message("state", **self.session.state()).encoded()

    def _publish(self, message: bytes) -> None:
        """Send a message to all pages, from any thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._spread, message)

    def _spread(self, message: bytes) -> None:
        length = int.from_bytes(message[:4], "little")
        kind = json.loads(message[4 : 4 + length])["kind"]
        if kind != "state":
            self._last[kind] = message
        for page in list(self._pages):
            task = asyncio.ensure_future(self._send(page, message))
            self._sending.add(task)  # a task that nobody holds may be lost
            task.add_done_callback(self._sending.discard)

    async def _send(self, page: WebSocket, message: bytes) -> None:
        try:
            await page.send_bytes(message)
        except (WebSocketDisconnect, RuntimeError):
            self._pages.discard(page)


def _set(session: Session, values: dict[str, float | str], final: bool = False) -> bool:
    session.set_values({str(name): value for name, value in values.items()}, final=final)
    return final


ACTIONS: dict[str, Callable[..., Any]] = {
    "set": _set,
    "edit": lambda session, text: session.edit(str(text)),
    "undo": lambda session: session.undo(),
    "redo": lambda session: session.redo(),
    "revert": lambda session: session.revert(),
    "keep": lambda session, name: session.keep(str(name)),
    "take": lambda session, name: session.take(str(name)),
    "save": lambda session: session.save(),
    **LIVE_ACTIONS,
}
"""What pages may ask for."""
