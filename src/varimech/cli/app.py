"""All commands, and what happens to Ctrl-C before one of them has something to keep."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from . import INTERRUPTED, NOTHING_YET
from .about import doctor, methods
from .benchmark import benchmark
from .certify import certify
from .compare import compare
from .models import export, new, schema, topology
from .studies import optimize, run, sensitivity, uncertainty

ABOUT = "Varimech: mechanisms, their motion, and how every result changes when a number of the model changes."


class _Stoppable(TyperGroup):
    """Typer would end without a word."""

    def invoke(self, ctx: Any) -> Any:
        """Carry out a command; Ctrl-C that nothing came of is told."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            typer.secho(f"stopped; {stop}" if str(stop) else NOTHING_YET, err=True, fg="yellow")
            raise typer.Exit(INTERRUPTED) from None


app = typer.Typer(cls=_Stoppable, help=ABOUT, no_args_is_help=True, add_completion=False, rich_markup_mode="rich")
PANELS = {
    "Begin": (new, run),
    "Studies of a model": (sensitivity, uncertainty, optimize, certify, compare),
    "About a model": (topology, export, schema),
    "About Varimech": (benchmark, methods, doctor),
}
for panel, commands in PANELS.items():
    for command in commands:
        app.command(rich_help_panel=panel)(command)
