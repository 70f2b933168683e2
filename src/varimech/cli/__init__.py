"""The command line: thin, over the public interface."""

from __future__ import annotations

import sys

from ..errors import InfeasibleError, VarimechError

INTERRUPTED = 130
"""Exit code of what was stopped by Ctrl-C."""
NOTHING_YET = "stopped; nothing was computed yet"


def main() -> None:
    """Entry point: errors, and files that cannot be written, become one clear line and exit code 2 (1 where no design was found)."""
    try:
        from .app import app  # takes a while, and Ctrl-C may come

        app()
    except VarimechError as error:
        _end(f"error: {error}", 1 if isinstance(error, InfeasibleError) else 2)
    except OSError as error:
        _end(f"error: {error.filename or 'a file'}: {error.strerror or error}", 2)
    except KeyboardInterrupt:
        _end(NOTHING_YET, INTERRUPTED)


def _end(message: str, code: int) -> None:
    """Without typer, which may not be there yet."""
    colour = "31" if code != INTERRUPTED else "33"
    print(f"\033[{colour}m{message}\033[0m" if sys.stderr.isatty() else message, file=sys.stderr)
    raise SystemExit(code) from None
