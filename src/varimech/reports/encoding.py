"""Numbers and texts as a page carries them: arrays as base64, data as JSON that cannot end its
script, texts escaped.
"""

from __future__ import annotations

import base64
import html
import json
import re
from itertools import pairwise
from typing import Any

import numpy as np

from ..plotting.table import is_number, number

MOST_POINTS = 2000
"""Points of a curve."""


def escaped(text: Any) -> str:
    """Text that is safe between tags and within quotes."""
    return html.escape(str(text), quote=True)


def plot_text(text: Any) -> str:
    """Text for plotly.js, which takes some tags for its own, and what stands between two $ for a
    formula.
    """
    return escaped(text).replace("$", "&#36;")


def script_json(data: Any) -> str:
    """JSON for a script element: no text in it can close that, nor open a comment."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def floats(values: np.ndarray) -> str:
    """Single precision, little endian, base64."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")


def plotted(values: np.ndarray) -> dict[str, str]:
    """Double precision as plotly.js reads it."""
    return {
        "dtype": "f8",
        "bdata": base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode(
            "ascii"
        ),
    }


def printed(value: Any, digits: int = 6) -> str:
    """A number as it is set in print, with a true minus and a short exponent; other things as they
    are.
    """
    text = number(value, digits)
    return re.sub(r"e\+?(-?)0*", r"e\1", text).replace("-", "−") if is_number(value) else text


def worth_plotting(curves: np.ndarray, most: int = MOST_POINTS) -> np.ndarray:
    """Rows to keep of curves over time, (time, curve): all, or ends and extremes within equal
    stretches, so that no peak is lost.

    Each curve has two rows a stretch; several share their rows, and so more of them the fewer
    stretches.
    """
    count = len(curves)
    if count <= most:
        return np.arange(count)
    stretches = max(1, (most - 2) // (2 * curves.shape[1]))
    bounds = np.linspace(0, count, stretches + 1).astype(int)
    kept = {0, count - 1}
    filled = np.nan_to_num(curves)
    for begin, end in pairwise(bounds):
        part = filled[begin:end]
        kept.update((begin + part.argmin(axis=0)).tolist(), (begin + part.argmax(axis=0)).tolist())
    return np.array(sorted(kept))


def thinned(count: int, most: int) -> np.ndarray:
    """Rows of so many, evenly apart, the first and the last among them."""
    return (
        np.arange(count)
        if count <= most
        else np.unique(np.linspace(0, count - 1, max(2, most)).round().astype(int))
    )
