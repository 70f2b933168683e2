"""Studios in a thread, and pages without a browser."""

from __future__ import annotations

import http.client
import json
import struct
import time
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import numpy as np
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

import varimech as vm
from varimech.studio.launch import OpenStudio, prepared

CRANK = """\
varimech: 1
name: crank
gravity: [0, -9.81]
# what may be changed
parameters:
  crank: {value: 100 mm, unit: m, bounds: [0.05, 0.2]}  # the short one
  rod: {value: 250 mm, unit: m, tolerance: 0.3 mm}
ground:
  O: [0, 0]
bodies:
  crank: {bar: [O, P], length: crank, mass: 0.5}
  rod: {bar: [P, S], length: rod, mass: 0.8}
  slider: {mass: 1.2, inertia: 1e-3, points: {S: [0, 0]}}
joints:
  O: revolute
  P: revolute
  S: revolute
  guide: {prismatic: [ground.O, slider.S], axis: [1, 0]}
start:
  angle: {crank: 1.0}
  near: {S: [0.3, 0]}
studies:
  simulate: {duration: 0.2, step: 0.01}
  objectives:
    travel: {final: displacement("guide"), unit: m}
"""
PATIENCE = 60.0
"""Timeout (s): on a machine loaded with ten times as many processes as cores, a browser takes more
than 20.
"""


def served(text: str, path: Path | None = None, port: int = 0) -> OpenStudio:
    """Serve a studio of a text, which is written to the path as the opened file."""
    if path is not None:
        path.write_text(text, encoding="utf-8")
    studio = prepared(vm.Mechanism, text, path, port)
    studio.serve_in_background()
    return studio


class Page:
    """A page that is connected to a studio, as scripts in a browser are."""

    def __init__(self, address: str, *, origin: str | None = "own", cookie: str | None = None):
        self._parts = urlsplit(address)
        self._origin = f"http://{self._parts.netloc}" if origin == "own" else origin
        self._cookie = self._own_cookie() if cookie is None else cookie
        self._socket: ClientConnection | None = None
        self._open = ExitStack()

    def _own_cookie(self) -> str:
        connection = http.client.HTTPConnection(self._parts.netloc, timeout=PATIENCE)
        connection.request("GET", f"/?{self._parts.query}")
        response = connection.getresponse()
        response.read()
        connection.close()
        return str(response.headers["set-cookie"]).split(";")[0]

    def __enter__(self) -> Self:
        try:
            connection = connect(
                f"ws://{self._parts.netloc}/live",
                origin=None if self._origin is None else Origin(self._origin),
                additional_headers={"Cookie": self._cookie} if self._cookie else {},
                max_size=None,
            )
            self._socket = self._open.enter_context(connection)
        except InvalidStatus as error:
            raise PermissionError(str(error)) from None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._open.close()

    def send_raw(self, message: str | bytes) -> None:
        assert self._socket is not None
        self._socket.send(message)

    def send(self, kind: str, **content: object) -> None:
        self.send_raw(json.dumps({"kind": kind, **content}))

    def next(self, *kinds: str, after_first: bool = False) -> dict[str, Any]:
        """Return the next message of the given kinds; skip all others."""
        assert self._socket is not None
        try:
            if after_first:
                self.next(*kinds)
            while (message := unpacked(self._socket.recv(timeout=PATIENCE)))["kind"] not in kinds:
                pass
        except ConnectionClosed as error:
            raise ConnectionError(str(error)) from None
        return message

    def ask(self, kind: str, **content: object) -> dict[str, Any]:
        """Return the state after a request that changes it."""
        self._drain()
        self.send(kind, **content)
        return self.next("state")

    def session_state(self) -> dict[str, Any]:
        """Current state, as a newly connected page receives it."""
        with Page(f"{self._parts.scheme}://{self._parts.netloc}/?{self._parts.query}") as other:
            return other.next("state")

    def _drain(self) -> None:
        """Skip messages that have already arrived."""
        assert self._socket is not None
        try:
            while True:
                self._socket.recv(timeout=0.02)
        except TimeoutError:
            pass


def unpacked(message: str | bytes) -> dict[str, Any]:
    """Plain data with arrays; decodes the layout of studio/messages.py independently."""
    assert isinstance(message, bytes)
    (length,) = struct.unpack_from("<I", message)
    header: dict[str, Any] = json.loads(message[4 : 4 + length])
    arrays = [
        np.frombuffer(message, f"<{a['type']}", a["length"], 4 + length + a["at"])
        for a in header.pop("arrays")
    ]

    def filled(value: Any) -> Any:
        if isinstance(value, list):
            return [filled(item) for item in value]
        if isinstance(value, dict):
            return arrays[value[""]] if "" in value else {k: filled(v) for k, v in value.items()}
        return value

    return dict(filled(header))


def wait_until(page: Any, expression: str) -> None:
    """Wait until an expression is true on a page in a browser whose policy forbids playwright's own
    `wait_for_function`.
    """
    end = time.monotonic() + PATIENCE
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"{expression} does not become true"
        page.wait_for_timeout(10)
