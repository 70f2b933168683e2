"""Whether Python runs for a notebook that shows widgets."""

from __future__ import annotations

import sys
from importlib.util import find_spec


def shows_widgets() -> bool:
    """Whether a notebook asks, and the package for widgets is there."""
    interactive = sys.modules.get("IPython")
    shell = None if interactive is None else interactive.get_ipython()
    return getattr(shell, "kernel", None) is not None and find_spec("anywidget") is not None
