"""The command for the workspace of a point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..core.errors import ModelError
from . import completion as c
from . import options as o
from .output_files import make_folder, print_json

if TYPE_CHECKING:
    from pathlib import Path

    from ..results.workspace import Workspace


def workspace(
    model: o.Model,
    point: Annotated[str, typer.Option(help="Point, such as P or rod.P.")],
    range_: Annotated[
        list[str],
        typer.Option(
            "--range",
            help="Driver and its range in rad or m, or with a unit, such as elbow='0:150 deg'; once"
            " for each driver.",
            autocompletion=c.named("joints", ending="="),
        ),
    ],
    count: Annotated[
        int | None,
        typer.Option(
            help="Number of values of each driver. Default: 25 for two drivers, 11 for three."
        ),
    ] = None,
    wrt: o.WrtNone = None,
    set_: o.Set = None,
    as_json: o.Json = False,
    out: o.OutResults = None,
) -> None:
    """Compute the positions that a point can reach, with their boundary and area; masses are not
    needed.

    Two or three drivers vary over their ranges. With --out, the command writes workspace.nc,
    workspace.csv and a plot.

    Exit codes: 0: success; 2: failed; 130: stopped by Ctrl-C.

    Example:

      varimech workspace five-bar --point 2 --range A=-2:-1.6 --range B=-1:-0.5
    """
    mechanism = o.find_model(model)
    if out is not None:
        make_folder(out)
    result = mechanism.workspace(
        point,
        dict(_range(text) for text in range_),
        count=count,
        wrt=wrt or None,
        parameters=dict(o.assignment(text) for text in set_ or []) or None,
    )
    written = _written(result, out)
    if as_json:
        print_json({**result.to_json(), "files": [str(path) for path in written]})
        return
    typer.echo(str(result))
    for path in written:
        typer.echo(f"wrote {path}")


def _range(text: str) -> tuple[str, tuple[str, str]]:
    """Driver and range of a --range option."""
    name, sign, span = text.partition("=")
    first, colon, last = span.partition(":")
    if not (sign and colon and name.strip() and first.strip() and last.strip()):
        raise ModelError(
            f"--range {text!r} must be a driver and its range, such as elbow='0 deg:150 deg'",
            value=text,
        )
    return name.strip(), (first.strip(), last.strip())


def _written(result: Workspace, out: Path | None) -> list[Path]:
    """Write the files of a result."""
    if out is None:
        return []
    written = [result.save(out / "workspace.nc"), result.save(out / "workspace.csv")]
    result.plot().savefig(out / "workspace.png", dpi=150)
    return [*written, out / "workspace.png"]
