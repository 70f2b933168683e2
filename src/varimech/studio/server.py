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
from starlette.websockets import WebSocket

from ..core.errors import ModelError, VarimechError
from ..web.modules import asset, needed
from .live_actions import LIVE_ACTIONS
from .mailbox import Mailbox
from .messages import Message
from .session import Session
from .worker import FAST, Worker

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


class Studio:
    """A session with its worker and the pages that are connected."""

    def __init__(self, session: Session, port: int, token: str | None = None):
        self.session, self.port = session, port
        self.token = token or secrets.token_urlsafe(24)
        self._cookie = f"varimech-studio-{port}"  # cookies of all ports are sent to all of them
        self._pages: set[Mailbox] = set()
        self._last: dict[str, bytes] = {}
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
        # gradients of large models, and samples, take longer than a frame: threads of their own
        self._workers = [
            Worker(self.session, self._publish, FAST[:1], ()),
            Worker(self.session, self._publish, FAST[1:]),
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
        given = request.query_params.get("token") or request.cookies.get(self._cookie)
        if not self._allowed(request.headers, given):
            return PlainTextResponse("not allowed: open the address that the studio printed", 403)
        motion = Template(asset("motion.html")).substitute(
            name="the mechanism", warning="", sigmas="3"
        )
        page = Template(asset("studio.html")).substitute(motion=motion)
        response = Response(page, media_type="text/html", headers=HEADERS)
        response.set_cookie(self._cookie, self.token, httponly=True, samesite="strict")
        return response

    async def _script(self, request: Request) -> Response:
        if not self._allowed(request.headers, request.cookies.get(self._cookie)):
            return PlainTextResponse("not allowed", 403)
        name = request.path_params["name"]
        kinds = {"style.css": "text/css", "studio.css": "text/css"}
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
        mailbox = Mailbox()
        mailbox.put("state", self._state())
        for kind, message in self._last.items():
            mailbox.put(kind, message)
        self._pages.add(mailbox)
        delivery = asyncio.ensure_future(mailbox.deliver(socket.send_bytes))
        try:
            while (received := await socket.receive())["type"] == "websocket.receive":
                await self._receive(mailbox, received.get("text") or "")
        finally:
            self._pages.discard(mailbox)
            delivery.cancel()
            await asyncio.gather(delivery, return_exceptions=True)

    async def _receive(self, mailbox: Mailbox, text: str) -> None:
        """Execute what a page asks for; errors are reported to that page only."""
        try:
            kind, request = _request(text)
            changed = await asyncio.to_thread(ACTIONS[kind], self.session, **request)
        except VarimechError as error:
            mailbox.put("refused", Message("refused", message=str(error)).encoded())
            return
        except Exception as error:  # a page goes on, whatever it has asked for
            reason = f"{type(error).__name__}: {error}"
            mailbox.put("refused", Message("refused", message=reason).encoded())
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
        if kind == "motion":
            self._last.pop("failed", None)  # pages that come later need not hear of it
        if kind != "state":
            self._last.pop(kind, None)
            self._last[kind] = message
        for page in self._pages:
            page.put(kind, message)


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
"""What pages may ask for."""
