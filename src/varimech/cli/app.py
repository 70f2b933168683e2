"""All commands, and their common handling of Ctrl-C and errors."""

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
from .examples import examples
from .kinematics import kinematics
from .linear import campbell, linearize, modes, root_locus
from .models import export, new, schema, topology
from .robust import allocate, robust
from .studies import fit, optimize, reliability, run, sensitivity, uncertainty
from .studio import studio
from .workspace import workspace

ABOUT = (
    "Varimech: differentiable multibody dynamics with exact sensitivities, tolerance analysis and"
    " design optimisation for mechanisms."
)


class _Stoppable(TyperGroup):
    """A command that reports Ctrl-C, which typer would not."""

    def invoke(self, ctx: Any) -> object:
        """Execute a command; report Ctrl-C if there is no result."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            typer.secho(f"stopped; {stop}" if str(stop) else NOTHING_YET, err=True, fg="yellow")
            raise typer.Exit(INTERRUPTED) from None


class _Command(TyperCommand):
    """A command whose errors and warnings name its own options."""

    def invoke(self, ctx: Any) -> object:
        """Execute the command; its errors and warnings name its options and keys of the model file."""
        from .command_syntax import CommandSyntax

        syntax = CommandSyntax.of(self.params)

        def show(message: Warning | str, *_: object, **__: object) -> None:
            """Print a warning without its position in the source."""
            if isinstance(message, VarimechWarning):
                message.syntax = syntax
            typer.secho(f"warning: {message}", err=True, fg="yellow")

        try:
            with warnings.catch_warnings():
                warnings.showwarning = cast(Any, show)
                return super().invoke(ctx)
        except VarimechError as error:
            error.syntax = syntax
            raise


def _flowing(text: str) -> str:
    """Join the lines of each paragraph, so that the terminal wraps them."""
    return re.sub(r"(?<=\S)\n(?=\S)", " ", inspect.cleandoc(text))


app = typer.Typer(
    cls=_Stoppable,
    help=ABOUT,
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
PANELS = {
    "Get started": (new, examples, run, studio),
    "Analyses": (
        sensitivity,
        uncertainty,
        reliability,
        optimize,
        robust,
        allocate,
        fit,
        kinematics,
        workspace,
        certify,
        compare,
    ),
    "Linear analysis": (modes, linearize, root_locus, campbell),
    "Models": (topology, export, schema),
    "Varimech": (benchmark, methods, doctor),
}
for panel, commands in PANELS.items():
    for command in commands:
        app.command(cls=_Command, rich_help_panel=panel, help=_flowing(command.__doc__ or ""))(
            command
        )


def _print_version(requested: bool) -> None:
    if requested:
        from .. import __version__

        typer.echo(f"varimech {__version__}")
        raise typer.Exit


@app.callback()
def _varimech(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Options without a command."""
