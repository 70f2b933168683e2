"""Detection of a notebook that shows widgets."""

from __future__ import annotations

import sys
from importlib.util import find_spec


def shows_widgets() -> bool:
    """Whether Python runs for a notebook, and the package for widgets is installed."""
    interactive = sys.modules.get("IPython")
    shell = None if interactive is None else interactive.get_ipython()
    return getattr(shell, "kernel", None) is not None and find_spec("anywidget") is not None
