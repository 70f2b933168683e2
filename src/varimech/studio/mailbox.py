"""Messages that wait for a page: the newest one of each kind, so that a page that is slow, asleep
or gone costs no more than one message of each kind.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


class Mailbox:
    """Messages to be sent to one page."""

    def __init__(self) -> None:
        self._waiting: dict[str, bytes] = {}
        self._filled = asyncio.Event()

    def put(self, kind: str, message: bytes) -> None:
        """Add a message; it replaces a waiting message of the same kind."""
        self._waiting.pop(kind, None)  # messages are ordered by their last update
        self._waiting[kind] = message
        self._filled.set()

    async def deliver(self, send: Callable[[bytes], Awaitable[None]]) -> None:
        """Send messages in order, as they arrive, until cancelled."""
        while True:
            await self._filled.wait()
            kind = next(iter(self._waiting))
            message = self._waiting.pop(kind)
            if not self._waiting:
                self._filled.clear()
            await send(message)
