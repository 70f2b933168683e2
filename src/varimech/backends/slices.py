"""Slices of compiled work, so that progress can be shown and Ctrl-C works."""

from __future__ import annotations

SLICE_SECONDS = 0.1


def next_slice(size: int, seconds: float, growth: float = 100.0) -> int:
    """Return the size of the next slice, from the size and duration of the last one; at most
    `growth` times as large, because the duration becomes known only afterwards.
    """
    return max(1, int(size * min(growth, SLICE_SECONDS / max(1e-6, seconds))))
