"""What can be undone and done again."""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")
MOST = 500
"""States that are kept."""


class History(Generic[T]):
    """States in the order in which they came, and the place among them."""

    def __init__(self, first: T):
        self._states, self._place = [first], 0

    @property
    def now(self) -> T:
        """The present state."""
        return self._states[self._place]

    @property
    def can_undo(self) -> bool:
        """Whether there is a state before this one."""
        return self._place > 0

    @property
    def can_redo(self) -> bool:
        """Whether one was undone."""
        return self._place + 1 < len(self._states)

    def add(self, state: T) -> None:
        """Another state; what was undone is forgotten. The same state again is none."""
        if state == self.now:
            return
        self._states = [*self._states[: self._place + 1], state][-MOST:]
        self._place = len(self._states) - 1

    def undo(self) -> T:
        """One state back, if there is one."""
        self._place = max(0, self._place - 1)
        return self.now

    def redo(self) -> T:
        """One state forwards, if there is one."""
        self._place = min(len(self._states) - 1, self._place + 1)
        return self.now
