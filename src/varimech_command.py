"""The command `varimech`: it loads Varimech, which takes a while (but for help), in which Ctrl-C
finds nothing yet to keep.

It stands beside the package, since whatever is imported from there loads all of it first.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

INTERRUPTED = 130


def main() -> None:
    """Load everything, and carry the command out."""
    interruptible = (
        signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )  # else somebody wants it ignored
    if interruptible:
        signal.signal(signal.SIGINT, _end_at_once)
    from varimech.cli import app as _loaded  # noqa: F401
    from varimech.cli import main

    if not _asks_for_text_only():
        from varimech import mechanism as _mechanism  # noqa: F401

    if interruptible:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        main()
    finally:
        if interruptible:  # all is done, and Python only takes itself apart
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            sys.stdout.flush()


def _asks_for_text_only() -> bool:
    """Whether help, the version or completion is asked for, which need nothing that computes."""
    texts = {"-h", "--help", "--version", "--show-completion", "--install-completion"}
    return len(sys.argv) < 2 or not texts.isdisjoint(sys.argv) or "_VARIMECH_COMPLETE" in os.environ


def _end_at_once(number: int, frame: FrameType | None) -> None:
    """Libraries that are half loaded would make other errors of a KeyboardInterrupt."""
    os.write(2, b"stopped; nothing was computed yet\n")
    os._exit(INTERRUPTED)
