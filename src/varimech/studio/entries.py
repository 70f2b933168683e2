"""Entries of a drawn mechanism in its text, and positions in them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from ..core.errors import ModelError
from ..files.editing import quoted, shortest
from .sketch import Member, Node, Place

BOUNDS = (0.5, 2.0)
"""Bounds of a new parameter relative to its value: the ends of its slider."""
PLACES = 7
"""Decimals of coordinates (m)."""


def revolute(ends: Iterable[Member]) -> str:
    """Entry of a revolute joint between two points."""
    return f"{{revolute: [{', '.join(quoted('.'.join(end)) for end in ends)}]}}"


def bounded(value: float, unit: str) -> str:
    """Entry of a parameter with the bounds of its slider."""
    low, high = (f"{shortest(float(f'{value * share:.3g}'))} {unit}" for share in BOUNDS)
    return f"{{value: {shortest(value)} {unit}, bounds: [{low}, {high}]}}"


def row(place: Iterable[Any]) -> str:
    """Coordinates as a list; texts stay unchanged."""
    numbers = (shortest(round(p, PLACES)) if isinstance(p, float) else str(p) for p in place)
    return f"[{', '.join(numbers)}]"


def mapping(values: Mapping[str, object]) -> str:
    """Names and values as a mapping in one line."""
    return "{" + ", ".join(f"{quoted(str(k))}: {v}" for k, v in values.items()) + "}"


def place_of(pair: Iterable[Any]) -> Place:
    """Two coordinates (m) that a page has sent."""
    x, y = (float(c) for c in pair)
    if not (math.isfinite(x) and math.isfinite(y)):
        raise ModelError(f"({x}, {y}) is not a position", remedy="give two finite numbers in m")
    return x, y


def position_of_node(node: Node) -> Place:
    """Position of a node, which must be known."""
    if node.place is None:
        raise ModelError(
            f"the position of {node.name!r} is unknown",
            remedy=f"give near: {{{node.name}: [x, y]}}",
        )
    return node.place


def is_number(text: str) -> bool:
    """Whether a text is a finite number without a unit."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
