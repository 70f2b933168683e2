"""Messages that wait for a page: of each kind the newest, so that a page that is slow, asleep or
gone costs no more than one message of each kind.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


class Mailbox:
    """What is to be sent to one page."""

    def __init__(self) -> None:
        self._waiting: dict[str, bytes] = {}
        self._filled = asyncio.Event()

    def put(self, kind: str, message: bytes) -> None:
        """Another message; an earlier one of its kind that still waits is out of date."""
        self._waiting.pop(kind, None)  # the order is that of the newest messages
        self._waiting[kind] = message
        self._filled.set()

    async def deliver(self, send: Callable[[bytes], Awaitable[None]]) -> None:
        """Send what comes, one after the other, until cancelled."""
        while True:
            await self._filled.wait()
            kind = next(iter(self._waiting))
            message = self._waiting.pop(kind)
            if not self._waiting:
                self._filled.clear()
            await send(message)
