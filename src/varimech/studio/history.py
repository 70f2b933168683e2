"""Undo and redo."""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")
MOST = 500
"""Number of states that are kept."""


class History(Generic[T]):
    """States in chronological order, and the index of the present one."""

    def __init__(self, first: T):
        self._states, self._place = [first], 0

    @property
    def now(self) -> T:
        """The present state."""
        return self._states[self._place]

    @property
    def can_undo(self) -> bool:
        """Whether there is an earlier state."""
        return self._place > 0

    @property
    def can_redo(self) -> bool:
        """Whether a state was undone."""
        return self._place + 1 < len(self._states)

    def add(self, state: T) -> None:
        """Add a state and discard undone ones; an unchanged state is not added."""
        if state == self.now:
            return
        self._states = [*self._states[: self._place + 1], state][-MOST:]
        self._place = len(self._states) - 1

    def undo(self) -> T:
        """Go back one state, if there is one."""
        self._place = max(0, self._place - 1)
        return self.now

    def redo(self) -> T:
        """Go forward one state, if there is one."""
        self._place = min(len(self._states) - 1, self._place + 1)
        return self.now
