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
            help="Driver and its range, such as elbow='0:150 deg'; once for each driver.",
            autocompletion=c.named("joints", ending="="),
        ),
    ],
    count: Annotated[
        int | None,
        typer.Option(help="Values of each driver; 25 of two drivers and 11 of three if not given."),
    ] = None,
    wrt: o.Wrt = None,
    set_: o.Set = None,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """Compute the positions that a point reaches over ranges of two or three drivers, with their boundary and area; it needs no masses.

    With --out it writes workspace.nc and workspace.csv, and a plot.

    Exit code 0: done; 2: it could not be computed.

    Examples:

      varimech workspace arm.yaml --point P --range shoulder='0:180 deg' --range elbow='0:2.5'

      varimech workspace arm.yaml --point P --range A=0:3 --range B=0:2 --wrt L1 --out out/workspace
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
    """A driver and its range, of --range."""
    name, sign, span = text.partition("=")
    first, colon, last = span.partition(":")
    if not (sign and colon and name.strip() and first.strip() and last.strip()):
        raise ModelError(
            f"--range {text!r} must be a driver and its range, such as elbow='0 deg:150 deg'",
            value=text,
        )
    return name.strip(), (first.strip(), last.strip())


def _written(result: Workspace, out: Path | None) -> list[Path]:
    """Files of a result."""
    if out is None:
        return []
    written = [result.save(out / "workspace.nc"), result.save(out / "workspace.csv")]
    result.plot().savefig(out / "workspace.png", dpi=150)
    return [*written, out / "workspace.png"]
