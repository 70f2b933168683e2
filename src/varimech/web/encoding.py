"""Encoding of numbers and texts in a page: arrays as base64, JSON that cannot close its script
element, escaped texts.
"""

from __future__ import annotations

import base64
import html
import json
import re
from itertools import pairwise

import numpy as np

from ..plotting.table import is_number, number

MOST_POINTS = 2000
"""Largest number of points of a plotted curve: more than a screen resolves."""


def escaped(text: object) -> str:
    """Text that is safe between tags and within quotes."""
    return html.escape(str(text), quote=True)


def script_json(data: object) -> str:
    """JSON for a script element: no text in it can close the element or open a comment."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def floats(values: np.ndarray) -> str:
    """An array in single precision, little endian, base64."""
    return _base64(values, "<f4")


def singles(values: np.ndarray) -> dict[str, str]:
    """An array in single precision, as plots read it."""
    return {"f4": floats(values)}


def doubles(values: np.ndarray) -> dict[str, str]:
    """An array in double precision, as plots read it."""
    return {"f8": _base64(values, "<f8")}


def _base64(values: np.ndarray, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode("ascii")


def printed(value: object, digits: int = 6) -> str:
    """A number with a true minus sign and a short exponent; other values as their text."""
    text = number(value, digits)
    return re.sub(r"e\+?(-?)0*", r"e\1", text).replace("-", "−") if is_number(value) else text


def worth_plotting(curves: np.ndarray, most: int = MOST_POINTS) -> np.ndarray:
    """Rows of curves over time, (time, curve), to plot: all, or the extremes within equal
    intervals, so that no peak is lost.

    Each curve keeps two rows in each interval; several curves share their rows, so more curves get
    fewer intervals.
    """
    count = len(curves)
    if count <= most:
        return np.arange(count)
    intervals = max(1, (most - 2) // (2 * curves.shape[1]))
    bounds = np.linspace(0, count, intervals + 1).astype(int)
    kept = {0, count - 1}
    finite = np.nan_to_num(curves)
    for begin, end in pairwise(bounds):
        part = finite[begin:end]
        kept.update((begin + part.argmin(axis=0)).tolist(), (begin + part.argmax(axis=0)).tolist())
    return np.array(sorted(kept))


def thinned(count: int, most: int) -> np.ndarray:
    """Evenly distributed row indices, at most `most` of `count`, including the first
    and the last.
    """
    return (
        np.arange(count)
        if count <= most
        else np.unique(np.linspace(0, count - 1, max(2, most)).round().astype(int))
    )
