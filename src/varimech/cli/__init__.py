"""The command line: thin, over the public interface."""

from __future__ import annotations

import typer

from ..errors import InfeasibleError, VarimechError
from .about import doctor, methods
from .benchmark import benchmark
from .certify import certify
from .compare import compare
from .models import export, new, schema, topology
from .results import INTERRUPTED
from .studies import optimize, run, sensitivity, uncertainty

ABOUT = "Varimech: mechanisms, their motion, and how every result changes when a number of the model changes."
app = typer.Typer(help=ABOUT, no_args_is_help=True, add_completion=False, rich_markup_mode="rich")
PANELS = {
    "Begin": (new, run),
    "Studies of a model": (sensitivity, uncertainty, optimize, certify, compare),
    "About a model": (topology, export, schema),
    "About Varimech": (benchmark, methods, doctor),
}
for panel, commands in PANELS.items():
    for command in commands:
        app.command(rich_help_panel=panel)(command)


@app.callback()
def _varimech() -> None:
    """Varimech: mechanisms, their motion, and how every result changes when a number of the model changes."""


def main() -> None:
    """Entry point: errors, and files that cannot be written, become one clear line and exit code 2 (1 where no design was found)."""
    try:
        app()
    except VarimechError as error:
        typer.secho(f"error: {error}", err=True, fg="red")
        raise SystemExit(1 if isinstance(error, InfeasibleError) else 2) from None
    except OSError as error:
        typer.secho(f"error: {error.filename or 'a file'}: {error.strerror or error}", err=True, fg="red")
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        typer.secho("stopped; nothing was computed yet", err=True, fg="yellow")
        raise SystemExit(INTERRUPTED) from None
