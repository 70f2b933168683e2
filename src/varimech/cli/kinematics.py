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
            help="Rotating or sliding joint, planar body, or driver.",
            autocompletion=c.named("joints"),
        ),
    ],
    begin: Annotated[
        str,
        typer.Option("--from", help="First value in rad or m, or with a unit, such as '30 deg'."),
    ],
    to: Annotated[
        str, typer.Option(help="Last value in rad or m, or with a unit, such as '360 deg'.")
    ],
    count: Annotated[int, typer.Option(help="Number of values.")] = 181,
    rate: Annotated[
        str | None,
        typer.Option(
            help="Rate of the driver in rad/s or m/s, or with a unit, such as '10 rpm'. Default:"
            " velocities are derivatives with respect to the driver."
        ),
    ] = None,
    wrt: o.WrtNone = None,
    truncate: Annotated[
        bool, typer.Option(help="Stop at a value that cannot be reached, without an error.")
    ] = False,
    set_: o.Set = None,
    as_json: o.Json = False,
    out: o.OutResults = None,
) -> None:
    """Compute positions for given values of a driver; masses are not needed.

    With --out, the command writes kinematics.nc, kinematics.csv and a plot.

    Exit codes: 0: success; 2: failed; 130: stopped by Ctrl-C.

    Examples:

      varimech kinematics my.yaml --driver crank --from 0 --to '360 deg'

      varimech kinematics my.yaml --driver crank --from 0 --to 6.28 --wrt rod
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
    """Write the files of a result."""
    if out is None:
        return []
    written = [result.save(out / "kinematics.nc"), result.save(out / "kinematics.csv")]
    result.plot().savefig(out / "kinematics.png", dpi=150)
    return [*written, out / "kinematics.png"]
