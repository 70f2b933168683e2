"""Renaming of a body or a point, wherever the text of a model file refers to it."""

from __future__ import annotations

import re

from ..files.editing import quoted, scalars
from .sketch import GROUND


def renamed(text: str, old: str, new: str, *, is_point: bool) -> str:
    """Rename a body or a point, and joints and parameters named after it."""
    dotted = re.compile(
        rf"(\w[^.\s\"]*)\.{re.escape(old)}" if is_point else rf"{re.escape(old)}\.(.+)"
    )
    own = (GROUND, "joints") if is_point else ("bodies", "parameters")
    for where, is_key, node in reversed(scalars(text)):
        value, section = str(node.value), where[0] if where else ""
        if section in ("studies", "name"):
            continue
        match = dotted.fullmatch(value)
        if match is not None:
            value = f"{match[1]}.{new}" if is_point else f"{new}.{match[1]}"
        elif value == old and _refers(where, is_key, own, is_point=is_point):
            value = new
        if value != node.value:
            begin, end = node.start_mark.index, node.end_mark.index
            text = text[:begin] + quoted(value) + text[end:]
    return text


def _refers(where: tuple[str, ...], is_key: bool, own: tuple[str, ...], *, is_point: bool) -> bool:
    if is_key:
        return (
            (len(where) == 1 and where[0] in own)
            or (where[:1] == ("start",) and len(where) == 2)
            or (where[:1] == ("points",) and len(where) == (2 if is_point else 1))
            or (is_point and where[-1:] == ("points",))
        )
    if is_point:
        return "bar" in where or where[0] in ("joints", "forces")
    return where[0] in ("drivers", "forces") or where[-1:] == ("length",)
