"""All commands, and what happens to Ctrl-C before one of them has something to keep."""

from __future__ import annotations

import inspect
import re
import warnings
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from ..core.errors import VarimechError, VarimechWarning
from . import INTERRUPTED, NOTHING_YET
from .about import doctor, methods
from .benchmark import benchmark
from .certify import certify
from .compare import compare
from .models import export, new, schema, topology
from .studies import optimize, run, sensitivity, uncertainty

ABOUT = (
    "Differentiable multibody dynamics: exact sensitivities, tolerance analysis and design"
    " optimisation for mechanisms."
)


class _Stoppable(TyperGroup):
    """Typer would end without a word."""

    def invoke(self, ctx: Any) -> Any:
        """Carry out a command; Ctrl-C that nothing came of is told."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            typer.secho(f"stopped; {stop}" if str(stop) else NOTHING_YET, err=True, fg="yellow")
            raise typer.Exit(INTERRUPTED) from None


class _Command(TyperCommand):
    """A command whose errors and warnings name its own options."""

    def invoke(self, ctx: Any) -> Any:
        """Carry it out; what is said for Python is written with options and keys of the file."""
        from .wording import CommandWords

        words = CommandWords.of(self.params)

        def show(message: Warning | str, *_: Any, **__: Any) -> None:
            """A warning without the place in the source."""
            if isinstance(message, VarimechWarning):
                message.words = words
            typer.secho(f"warning: {message}", err=True, fg="yellow")

        try:
            with warnings.catch_warnings():
                warnings.showwarning = cast(Any, show)
                return super().invoke(ctx)
        except VarimechError as error:
            error.words = words
            raise


def _flowing(text: str) -> str:
    """Paragraphs without the line breaks that they have in the source, where lines are longer than
    a terminal's.
    """
    return re.sub(r"(?<=\S)\n(?=\S)", " ", inspect.cleandoc(text))


app = typer.Typer(
    cls=_Stoppable,
    help=ABOUT,
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
PANELS = {
    "Begin": (new, run),
    "Studies of a model": (sensitivity, uncertainty, optimize, certify, compare),
    "About a model": (topology, export, schema),
    "About Varimech": (benchmark, methods, doctor),
}
for panel, commands in PANELS.items():
    for command in commands:
        app.command(cls=_Command, rich_help_panel=panel, help=_flowing(command.__doc__ or ""))(
            command
        )


def _tell_version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        typer.echo(f"varimech {__version__}")
        raise typer.Exit


@app.callback()
def _varimech(
    version: Annotated[
        bool,
        typer.Option("--version", help="Tell the version.", callback=_tell_version, is_eager=True),
    ] = False,
) -> None:
    """What is asked of no command."""
