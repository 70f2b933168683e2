"""Drawing of a planar mechanism: each stroke is one change to the text of its model file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..core.errors import ModelError, unknown_name
from . import strokes
from .deletion import delete
from .drawn_text import DrawnText
from .pose import posed
from .sketch import Sketch

STROKES: dict[str, Callable[..., None]] = {
    "ground": strokes.ground,
    "link": strokes.link,
    "slider": strokes.slider,
    "spring": strokes.spring,
    "damper": strokes.damper,
    "driver": strokes.driver,
    "point": strokes.point,
    "move": strokes.move,
    "carry": strokes.carry,
    "delete": delete,
    "value": strokes.value,
    "rename": strokes.rename,
}
UNPOSED = ("value", "rename")
"""Strokes after which assembly determines the pose."""


def changed(text: str, sketch: Sketch, stroke: str, arguments: Mapping[str, Any]) -> str:
    """Return the text after a stroke.

    Args:
        text: of a model file.
        sketch: the drawing of the model.
        stroke: one of `STROKES`.
        arguments: of the stroke.

    Raises:
        ModelError: if the stroke is impossible in this drawing.
    """
    if stroke not in STROKES:
        raise unknown_name("stroke", stroke, STROKES)
    if sketch.spatial:
        raise ModelError("only planar mechanisms are drawn", remedy="change values in the text")
    drawn = DrawnText(text, sketch)
    STROKES[stroke](drawn, **arguments)
    return drawn.text if stroke in UNPOSED else posed(drawn)
