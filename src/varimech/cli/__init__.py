"""The command line: a thin layer over model files and the analyses of a mechanism."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from ..core.errors import InfeasibleError, VarimechError

INTERRUPTED = 130
"""Exit code after Ctrl-C, by convention 128 + SIGINT."""
TERMINATED = 143
"""Exit code after SIGTERM, by convention 128 + SIGTERM."""
NOTHING_YET = "stopped; nothing was computed yet"


def main() -> None:
    """Entry point. Errors become one line and exit code 2 (1 if no feasible design exists)."""
    try:
        with _terminated_as_by_ctrl_c():
            from .app import app  # slow, so Ctrl-C may arrive meanwhile

            app()
    except VarimechError as error:
        _end(f"error: {error}", 1 if isinstance(error, InfeasibleError) else 2)
    except OSError as error:
        _end(f"error: {error.filename or 'a file'}: {error.strerror or error}", 2)
    except KeyboardInterrupt:
        _end(NOTHING_YET, INTERRUPTED)


@contextmanager
def _terminated_as_by_ctrl_c() -> Iterator[None]:
    """Let SIGTERM end a command as cleanly as Ctrl-C, with its own exit code; where Ctrl-C is
    ignored, SIGTERM ends it at once as usual.
    """
    received = list[int]()

    def end(number: int, frame: FrameType | None) -> None:
        received.append(number)
        signal.raise_signal(signal.SIGINT)

    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    except SystemExit as stop:
        if received and stop.code == INTERRUPTED:
            raise SystemExit(TERMINATED) from None
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def _end(message: str, code: int) -> None:
    """Print a message and exit, without typer, which may not be imported yet."""
    colour = "31" if code != INTERRUPTED else "33"
    print(f"\033[{colour}m{message}\033[0m" if sys.stderr.isatty() else message, file=sys.stderr)
    raise SystemExit(code) from None
