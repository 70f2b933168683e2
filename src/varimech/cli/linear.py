"""Commands for small motions about a motion: modes, linear equations, eigenvalues over a parameter."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import completion as c
from . import options as o
from .output_files import make_folder, print_json

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..results.result import Result

At = Annotated[
    str,
    typer.Option(
        help="Motion: equilibrium, steady or start.",
        autocompletion=c.one_of("equilibrium", "steady", "start"),
    ),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        help="Parameter to differentiate for; may be repeated. None if not given.",
        autocompletion=c.named("parameters"),
    ),
]
Swept = Annotated[
    str, typer.Option(help="Parameter that takes the values.", autocompletion=c.named("parameters"))
]
Begin = Annotated[
    str, typer.Option("--from", help="First value, or a text with a unit such as '10 rpm'.")
]
To = Annotated[str, typer.Option(help="Last value.")]
Count = Annotated[int, typer.Option(help="Number of values.")]
Folder = Annotated[Path | None, typer.Option(help="Folder for results and pictures.")]
MOST_DRAWN = 12
"""Modes that are drawn: a round value that keeps folders small."""


def modes(
    model: o.Model,
    at: At = "equilibrium",
    wrt: Parameters = None,
    animate: Annotated[
        bool, typer.Option(help="With --out, also write animations of the shapes (GIF).")
    ] = False,
    set_: o.Set = None,
    as_json: o.Json = False,
    out: Folder = None,
) -> None:
    """Compute modes of small motions: growth rates, frequencies, damping, shapes, and derivatives.

    With --out it writes modes.nc and modes.csv, and a picture of each shape.

    Exit code 0: done; 2: it could not be computed.

    Examples:

      varimech modes my.yaml --out out/modes

      varimech modes rotating-pendulum --at steady --wrt a --wrt L
    """
    mechanism = o.find_model(model)
    if out is not None:
        make_folder(out)
    result = mechanism.modes(at, wrt=wrt or None, parameters=_values(set_))
    written = _saved(result, out, "modes")
    if out is not None:
        moving = abs(result.shape_array).max(axis=(1, 2), initial=0.0) > 0
        for k in [k + 1 for k, moves in enumerate(moving) if moves][:MOST_DRAWN]:
            written.append(_drawn(result.draw(k), out / f"mode_{k}.png"))
            if animate:
                written.append(result.animate(k, out / f"mode_{k}.gif"))
    _shown(result, written, as_json)


def linearize(
    model: o.Model,
    at: At = "equilibrium",
    input: Annotated[
        list[str] | None,
        typer.Option(help="Force, torque, driver or parameter that is an input; may be repeated."),
    ] = None,
    output: Annotated[
        list[str] | None,
        typer.Option(
            help="Output as NAME=EXPRESSION, such as \"tip=position('Q')\"; may be repeated. The"
            " states if not given."
        ),
    ] = None,
    wrt: Parameters = None,
    set_: o.Set = None,
    as_json: o.Json = False,
    out: Folder = None,
) -> None:
    """Compute linear equations of small motions: A, B, C and D with names, and their derivatives.

    With --out it writes linear.nc and linear.mat.

    Exit code 0: done; 2: it could not be computed.

    Examples:

      varimech linearize my.yaml --input push --output "angle=angle('rod')"

      varimech linearize rotating-pendulum --at steady --input motor --json
    """
    mechanism = o.find_model(model)
    if out is not None:
        make_folder(out)
    outputs = dict(_output(text) for text in output or [])
    result = mechanism.linearize(
        at,
        inputs=input or (),
        outputs=outputs or None,
        wrt=wrt or None,
        parameters=_values(set_),
    )
    _shown(result, _saved(result, out, "linear", "mat"), as_json)


def root_locus(
    model: o.Model,
    parameter: Swept,
    begin: Begin,
    to: To,
    count: Count = 41,
    at: At = "equilibrium",
    wrt: Parameters = None,
    set_: o.Set = None,
    as_json: o.Json = False,
    out: Folder = None,
) -> None:
    """Compute eigenvalues of small motions over a parameter, and where growth rates pass zero.

    With --out it writes root_locus.nc and root_locus.csv, and a plot.

    Exit code 0: done; 2: it could not be computed.

    Examples:

      varimech root-locus bicycle --parameter v --from 0 --to 10 --at start --set tap=0

      varimech root-locus my.yaml --parameter gain --from 0 --to 20 --wrt mass --out out/locus
    """
    mechanism = o.find_model(model)
    if out is not None:
        make_folder(out)
    result = mechanism.root_locus(
        parameter, (begin, to, count), at=at, wrt=wrt or None, parameters=_values(set_)
    )
    written = _saved(result, out, "root_locus")
    if out is not None:
        written.append(_drawn(result.plot(), out / "root_locus.png"))
    _shown(result, written, as_json)


def campbell(
    model: o.Model,
    speed: Swept,
    begin: Begin,
    to: To,
    count: Count = 41,
    order: Annotated[
        list[float] | None,
        typer.Option(help="Multiple of the rotational frequency; may be repeated. 1 if not given."),
    ] = None,
    revolutions: Annotated[
        float | None,
        typer.Option(help="Revolutions per second at a speed of one unit; known for rad/s and Hz."),
    ] = None,
    at: At = "steady",
    wrt: Parameters = None,
    set_: o.Set = None,
    as_json: o.Json = False,
    out: Folder = None,
) -> None:
    """Compute frequencies of small motions over a speed, and the critical speeds of its orders.

    With --out it writes campbell.nc and campbell.csv, and the diagram.

    Exit code 0: done; 2: it could not be computed.

    Examples:

      varimech campbell my.yaml --speed Omega --from 0 --to '3000 rpm' --order 1 --order 2
    """
    mechanism = o.find_model(model)
    if out is not None:
        make_folder(out)
    result = mechanism.campbell(
        speed,
        (begin, to, count),
        orders=order or (1,),
        revolutions=revolutions,
        at=at,
        wrt=wrt or None,
        parameters=_values(set_),
    )
    written = _saved(result, out, "campbell")
    if out is not None:
        written.append(_drawn(result.plot(), out / "campbell.png"))
    _shown(result, written, as_json)


def _values(given: list[str] | None) -> dict[str, str] | None:
    """Parameter values of --set."""
    return dict(o.assignment(text) for text in given or []) or None


def _output(text: str) -> tuple[str, str]:
    """Name and expression of an output; the expression itself is the name where none is given."""
    name, sign, expression = text.partition("=")
    return (name.strip(), expression.strip()) if sign and name.strip() else (text, text)


def _saved(result: Result, out: Path | None, name: str, further: str = "csv") -> list[Path]:
    """Files of a result."""
    if out is None:
        return []
    return [result.save(out / f"{name}.{ending}") for ending in ("nc", further)]


def _drawn(figure: Figure, path: Path) -> Path:
    figure.savefig(path, dpi=150)
    return path


def _shown(result: Result, written: list[Path], as_json: bool) -> None:
    """Print a result, or its data."""
    if as_json:
        print_json({**result.to_json(), "files": [str(path) for path in written]})
        return
    typer.echo(str(result))
    for path in written:
        typer.echo(f"wrote {path}")
