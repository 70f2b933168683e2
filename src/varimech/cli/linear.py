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
        help="Motion to linearise about: equilibrium, steady or start.",
        autocompletion=c.one_of("equilibrium", "steady", "start"),
    ),
]
Swept = Annotated[
    str, typer.Option(help="Parameter to vary.", autocompletion=c.named("parameters"))
]
Begin = Annotated[
    str,
    typer.Option("--from", help="First value in SI units, or with a unit, such as '10 rpm'."),
]
To = Annotated[
    str, typer.Option(help="Last value in SI units, or with a unit, such as '3000 rpm'.")
]
Count = Annotated[int, typer.Option(help="Number of values.")]
MOST_DRAWN = 12
"""Largest number of modes that are drawn: a round value that keeps folders small."""


def modes(
    model: o.Model,
    at: At = "equilibrium",
    wrt: o.WrtNone = None,
    animate: Annotated[
        bool, typer.Option(help="With --out, also write animations of the shapes (GIF).")
    ] = False,
    set_: o.Set = None,
    as_json: o.Json = False,
    out: o.OutResults = None,
) -> None:
    """Compute vibration modes: growth rates, frequencies, damping ratios and shapes.

    With --out, the command writes modes.nc, modes.csv and a picture of each mode shape.

    Exit codes: 0: success; 2: failed; 130: stopped by Ctrl-C.

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
        typer.Option(help="Input: a force, torque, driver or parameter; may be repeated."),
    ] = None,
    output: Annotated[
        list[str] | None,
        typer.Option(
            help="Output as NAME=EXPRESSION, such as \"tip=position('Q')\"; may be repeated."
            " Default: the states."
        ),
    ] = None,
    wrt: o.WrtNone = None,
    set_: o.Set = None,
    as_json: o.Json = False,
    out: o.OutResults = None,
) -> None:
    """Linearise a model: matrices A, B, C and D, and their derivatives.

    With --out, the command writes linear.nc and linear.mat (MATLAB).

    Exit codes: 0: success; 2: failed; 130: stopped by Ctrl-C.

    Examples:

      varimech linearize my.yaml --input drag --output "angle=angle('rod')"

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
    wrt: o.WrtNone = None,
    set_: o.Set = None,
    as_json: o.Json = False,
    out: o.OutResults = None,
) -> None:
    """Compute eigenvalues over a range of a parameter, and the limits of stability.

    At a limit of stability, a growth rate passes through zero. With --out, the command writes
    root_locus.nc, root_locus.csv and a plot.

    Exit codes: 0: success; 2: failed; 130: stopped by Ctrl-C.

    Examples:

      varimech root-locus bicycle --parameter v --from 1 --to 10 --at start

      varimech root-locus my.yaml --parameter stiffness --from 100 --to 500
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
        typer.Option(
            help="Order: multiple of the rotational frequency; may be repeated. Default: 1."
        ),
    ] = None,
    revolutions: Annotated[
        float | None,
        typer.Option(
            help="Revolutions per second at a speed of one unit; not needed for rad/s and Hz."
        ),
    ] = None,
    at: At = "steady",
    wrt: o.WrtNone = None,
    set_: o.Set = None,
    as_json: o.Json = False,
    out: o.OutResults = None,
) -> None:
    """Compute natural frequencies over a range of speeds, and the critical speeds.

    With --out, the command writes campbell.nc, campbell.csv and the Campbell diagram.

    Exit codes: 0: success; 2: failed; 130: stopped by Ctrl-C.

    Example:

      varimech campbell rotating-pendulum --speed Omega --from 1 --to '100 rpm'
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


def _values(assignments: list[str] | None) -> dict[str, str] | None:
    """Parameter values of --set."""
    return dict(o.assignment(text) for text in assignments or []) or None


def _output(text: str) -> tuple[str, str]:
    """Name and expression of an output; without a name, the expression itself is the name."""
    name, sign, expression = text.partition("=")
    return (name.strip(), expression.strip()) if sign and name.strip() else (text, text)


def _saved(result: Result, out: Path | None, name: str, further: str = "csv") -> list[Path]:
    """Write the files of a result."""
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
