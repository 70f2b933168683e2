"""Sentences: the words of a model as they were said. They are what model files are written from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .element import Element


@dataclass(frozen=True)
class CallRecord:
    """A word with the arguments that were given: all there is to know about a part of a model."""

    word: str
    arguments: dict[str, Any]
    element: type[Element] | None = None
    """What it made, if that is an element."""


def said(word: str, arguments: dict[str, Any], element: type[Element] | None) -> CallRecord:
    """A sentence that stays as it is when lists and arrays that were given change."""
    return CallRecord(word, {name: _kept(value) for name, value in arguments.items()}, element)


def _kept(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _kept(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_kept(each) for each in value]
    return value.copy() if isinstance(value, np.ndarray) else value
