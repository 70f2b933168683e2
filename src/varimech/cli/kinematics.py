"""The command for kinematics: positions over values of a driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from . import completion as c
from . import options as o
from .output_files import make_folder, print_json

if TYPE_CHECKING:
    from pathlib import Path

    from ..results.kinematics import Kinematics


def kinematics(
    model: o.Model,
    driver: Annotated[
        str,
        typer.Option(
            help="Joint that turns or slides, planar body, or driver.",
            autocompletion=c.named("joints"),
        ),
    ],
    begin: Annotated[
        str, typer.Option("--from", help="First value: rad or m, or a text such as '30 deg'.")
    ],
    to: Annotated[str, typer.Option(help="Last value.")],
    count: Annotated[int, typer.Option(help="Number of values.")] = 181,
    rate: Annotated[
        str | None,
        typer.Option(help="Rate of the driver; derivatives with respect to it if not given."),
    ] = None,
    wrt: o.Wrt = None,
    truncate: Annotated[
        bool, typer.Option(help="Stop at a value that is out of reach, in place of an error.")
    ] = False,
    set_: o.Set = None,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """Compute positions of a model over values of a driver; it needs no masses.

    With --out it writes kinematics.nc and kinematics.csv, and a plot.

    Exit code 0: done; 2: it could not be computed.

    Examples:

      varimech kinematics my.yaml --driver crank --from 0 --to '360 deg' --count 73

      varimech kinematics my.yaml --driver crank --from 0 --to 6.28 --wrt rod --out out/kinematics
    """
    mechanism = o.find_model(model)
    if out is not None:
        make_folder(out)
    names = wrt or None
    result = mechanism.kinematics(
        driver,
        (begin, to, count),
        rates=rate,
        wrt=names,
        parameters=dict(o.assignment(text) for text in set_ or []) or None,
        unreachable="truncate" if truncate else "error",
    )
    written = _written(result, out)
    if as_json:
        print_json({**result.to_json(), "files": [str(path) for path in written]})
        return
    typer.echo(str(result))
    for path in written:
        typer.echo(f"wrote {path}")


def _written(result: Kinematics, out: Path | None) -> list[Path]:
    """Files of a result."""
    if out is None:
        return []
    written = [result.save(out / "kinematics.nc"), result.save(out / "kinematics.csv")]
    result.plot().savefig(out / "kinematics.png", dpi=150)
    return [*written, out / "kinematics.png"]
