"""Warnings that show the line of the user's code that led to them, not one of Varimech's files."""

from __future__ import annotations

import sys
import warnings
from types import FrameType


def warn_caller(warning: Warning) -> None:
    """Issue a warning for the line that called Varimech: the caller of the outermost of its
    functions, since libraries such as functools and SciPy call others in between.
    """
    outermost, level = 1, 1
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_globals["__name__"].startswith("varimech."):
            outermost = level
        level, frame = level + 1, frame.f_back
    warnings.warn(warning, stacklevel=outermost + 1)
