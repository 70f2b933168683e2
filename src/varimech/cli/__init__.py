"""The command line: a thin layer over model files and the analyses of a mechanism."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from ..core.errors import InfeasibleError, VarimechError

INTERRUPTED = 130
"""Exit code of what was stopped by Ctrl-C."""
TERMINATED = 143
"""That of what was stopped by SIGTERM."""
NOTHING_YET = "stopped; nothing was computed yet"


def main() -> None:
    """Entry point: errors, and files that cannot be written, become one clear line and exit code 2
    (1 where no design was found).
    """
    try:
        with _terminated_as_by_ctrl_c():
            from .app import app  # takes a while, and Ctrl-C may come

            app()
    except VarimechError as error:
        _end(f"error: {error}", 1 if isinstance(error, InfeasibleError) else 2)
    except OSError as error:
        _end(f"error: {error.filename or 'a file'}: {error.strerror or error}", 2)
    except KeyboardInterrupt:
        _end(NOTHING_YET, INTERRUPTED)


@contextmanager
def _terminated_as_by_ctrl_c() -> Iterator[None]:
    """SIGTERM ends a command as cleanly as Ctrl-C does, with an exit code of its own; where Ctrl-C
    is ignored, at once as ever.
    """
    came = list[int]()

    def end(number: int, frame: FrameType | None) -> None:
        came.append(number)
        signal.raise_signal(signal.SIGINT)

    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    except SystemExit as stop:
        if came and stop.code == INTERRUPTED:
            raise SystemExit(TERMINATED) from None
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def _end(message: str, code: int) -> None:
    """Without typer, which may not be there yet."""
    colour = "31" if code != INTERRUPTED else "33"
    print(f"\033[{colour}m{message}\033[0m" if sys.stderr.isatty() else message, file=sys.stderr)
    raise SystemExit(code) from None
