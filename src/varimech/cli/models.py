"""Commands about a model itself: new, schema, topology, export."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ..benchmarks import BENCHMARKS
from ..core.atomic_files import atomic_write, write_text
from ..core.errors import ModelError, unknown_name
from . import options as o
from .output_files import print_json

STARTER = Path(__file__).parent.parent / "files" / "starter.yaml"


def new(
    path: Annotated[Path, typer.Argument(help="File to write, such as my.yaml.")],
    like: Annotated[
        str | None,
        typer.Option(help="Benchmark or URDF file to start from. Default: a crank-slider."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    as_json: o.Json = False,
) -> None:
    """Write a commented model file to start from.

    An existing file is not replaced, unless --force is given.

    Examples:

      varimech new my.yaml && varimech run my.yaml --out out/run

      varimech new mine.yaml --like five-bar

      varimech new robot.yaml --like robot.urdf
    """
    if path.exists() and not force:
        remedy = "choose another name, or use --force to replace it"
        raise ModelError(f"{path} exists already", remedy=remedy)
    if like is None:
        text = STARTER.read_text(encoding="utf-8")
    elif like in BENCHMARKS:
        text = BENCHMARKS[like].model_file.read_text(encoding="utf-8")
    elif Path(like).suffix.lower() == ".urdf":
        from ..mechanism import Mechanism

        text = Mechanism.from_urdf(like).to_text(studies={"simulate": {"duration": 1.0}})
    else:
        raise unknown_name("benchmark or URDF file", like, BENCHMARKS)
    write_text(path, text)
    if as_json:
        print_json({"files": [str(path)]})
    else:
        typer.echo(f"wrote {path}; next: varimech run {path} --out out/run")


def schema(
    out: Annotated[
        Path | None, typer.Option(help="File for the schema. Default: print it.")
    ] = None,
) -> None:
    """Print the JSON Schema of model files, for completion and validation in editors.

    To use it, start your model file with the line "# yaml-language-server:
    $schema=model.schema.json".

    Example:

      varimech schema --out model.schema.json
    """
    from ..core.registry import load_plugins
    from ..files.document import json_schema

    load_plugins()
    text = json.dumps(json_schema(), indent=1, ensure_ascii=False)
    if out is None:
        typer.echo(text)
    else:
        write_text(out, text + "\n")
        typer.echo(f"wrote {out}")


def topology(
    model: o.Model,
    cut: Annotated[
        list[str] | None,
        typer.Option(
            help="Joint to cut, instead of the joint chosen automatically; may be repeated."
        ),
    ] = None,
    as_json: o.Json = False,
    out: Annotated[
        Path | None, typer.Option(help="Image file for the drawing: .png, .svg or .pdf.")
    ] = None,
) -> None:
    """Show the kinematic tree and the cut joints of relative coordinates.

    Each joint of the tree adds its coordinates, and each cut joint adds its constraint equations. A
    good choice needs few of both.

    Examples:

      varimech topology five-bar

      varimech topology bricard --cut P6 --out bricard.png
    """
    tree = o.find_model(model).topology(cut or ())
    if out is not None:
        figure = tree.draw()
        if out.suffix[1:] not in (formats := figure.canvas.get_supported_filetypes()):
            raise typer.BadParameter(
                f"unknown image format of {out.name!r}; known: {', '.join(formats)}",
                param_hint="--out",
            )
        with atomic_write(out) as temporary:
            figure.savefig(temporary)
    if as_json:
        print_json(tree.to_json())
    else:
        typer.echo(str(tree))
    if out is not None and not as_json:
        typer.echo(f"\ndrawing: {out}")


@o.running("every", "backend", "set_")
def export(
    context: typer.Context,
    out: Annotated[Path, typer.Option(help="Folder for the program.")],
    target: Annotated[
        str, typer.Option(help="Language: cuda (one GPU thread for each run) or c.")
    ] = "cuda",
    objective: o.Objective = None,
) -> None:
    """Write a C or CUDA program for many simultaneous runs on machines without Varimech.

    The folder contains the source, a description (bundle.json) and run.py. On the other machine,
    python run.py compares its results with the enclosed ones, and python run.py samples.csv
    results.csv runs the samples of a file. It needs NumPy, and CuPy (cuda) or a C compiler (c).

    Examples:

      varimech export five-bar --target c --out out/five-bar-c

      varimech export five-bar --step 1e-2 --out out/five-bar-cuda
    """
    from ..files.study_runner import objectives_of, problem_of, resolved

    m = o.find_model(context.params["model"])
    assert m.studies is not None
    settings = resolved(m.data, m.studies, "simulate", o.settings(context))
    objectives = objectives_of(m.studies, settings.pop("objectives", None))
    folder = problem_of(m, objectives, settings).export(out, target=target)
    names = sorted(p.name for p in folder.iterdir())
    if context.params["as_json"]:
        print_json(
            {"mechanism": m.name, "target": target, "files": [str(folder / name) for name in names]}
        )
    else:
        typer.echo(f"{', '.join(names)} are in {folder}")
