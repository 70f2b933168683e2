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
from .printing import print_json

STARTER = Path(__file__).parent.parent / "files" / "starter.yaml"


def new(
    path: Annotated[Path, typer.Argument(help="File to write, such as my.yaml.")],
    like: Annotated[
        str | None,
        typer.Option(
            help="A benchmark, or a URDF file, to start from; a crank-slider if not given."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    as_json: o.Json = False,
) -> None:
    """Write a model file to start from, with comments that explain it.

    A file that is there already is left as it is, unless --force says otherwise.

    Examples:

      varimech new my.yaml && varimech run my.yaml --out out/run

      varimech new mine.yaml --like five-bar

      varimech new robot.yaml --like robot.urdf
    """
    if path.exists() and not force:
        raise ModelError(f"{path} is there already; choose another name, or --force to replace it")
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
        Path | None, typer.Option(help="File to write to; printed if not given.")
    ] = None,
) -> None:
    """Print the JSON Schema of model files, with which editors complete keys and mark mistakes.

    With the first line "# yaml-language-server: $schema=model.schema.json" in a model file, editors
    find it.

    Example:

      varimech schema --out model.schema.json
    """
    from ..files.document import json_schema

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
        typer.Option(help="Joint to cut instead of the cheapest one; may be repeated."),
    ] = None,
    as_json: o.Json = False,
    out: Annotated[
        Path | None, typer.Option(help="File for a picture: .png, .svg or .pdf.")
    ] = None,
) -> None:
    """Show which bodies hang on which by which joints, and where closed loops are cut: the tree
    that relative coordinates use.

    Each joint of the tree brings its coordinates, each joint that is cut its equations: a good cut
    leaves few of both.

    Examples:

      varimech topology five-bar

      varimech topology bricard --cut P6 --out bricard.png
    """
    found = o.find_model(model).topology(cut or ())
    if out is not None:
        figure = found.draw()
        if out.suffix[1:] not in (known := figure.canvas.get_supported_filetypes()):
            raise typer.BadParameter(
                f"no picture can be written as {out.name!r}; known: {', '.join(known)}",
                param_hint="--out",
            )
        with atomic_write(out) as beside:
            figure.savefig(beside)
    if as_json:
        print_json(found.to_json())
    else:
        typer.echo(str(found))
    if out is not None and not as_json:
        typer.echo(f"\nits picture is {out}")


@o.running("every", "backend", "set_")
def export(
    context: typer.Context,
    model: o.Model,
    out: Annotated[Path, typer.Option(help="Folder to write to.")],
    target: Annotated[str, typer.Option(help="cuda (a kernel, one thread a run) or c.")] = "cuda",
    objective: o.Objective = None,
    as_json: o.Json = False,
) -> None:
    """Write a program for many runs at once on machines without Varimech: its source, a
    description, and a small runner.

    There, python run.py checks the machine against results that come with it, and python run.py
    samples.csv results.csv runs what a file asks for. It needs numpy, and cupy (cuda) or a C
    compiler (c).

    Examples:

      varimech export five-bar --target cuda --integrator dop853 --step 0.16667 --out
      out/five-bar-cuda

      varimech export my.yaml --target c --out out/my-c
    """
    from ..files.study_runner import objectives_of, resolved

    m = o.find_model(model)
    assert m.studies is not None
    seconds, how = resolved(m, m.studies, "simulate", o.settings(context))
    objectives = objectives_of(m.studies, how.pop("objectives", None))
    if how.pop("parameters", None):
        raise ModelError(
            "runs elsewhere get their parameters there; leave studies.simulate.parameters out"
        )
    folder = m.export(out, objectives, target=target, duration=seconds, **how)
    names = sorted(p.name for p in folder.iterdir())
    if as_json:
        print_json(
            {"mechanism": m.name, "target": target, "files": [str(folder / name) for name in names]}
        )
    else:
        typer.echo(f"{', '.join(names)} are in {folder}")
