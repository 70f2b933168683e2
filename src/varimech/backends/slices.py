"""Compiled code works in slices, so that progress can be shown and Ctrl-C works."""

from __future__ import annotations

SLICE_SECONDS = 0.1


def next_slice(size: int, seconds: float, growth: float = 100.0) -> int:
    """How much to do next, where so much took so long; at most `growth` times as much, as how long
    it takes shows only on the way.
    """
    return max(1, int(size * min(growth, SLICE_SECONDS / max(1e-6, seconds))))
