"""Gallery examples and tutorial notebooks: list them, or copy one for editing."""

from __future__ import annotations

import ast
import json
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Annotated

import typer

from ..core.atomic_files import write_text
from ..core.errors import ModelError, unknown_name
from . import options as o
from .output_files import print_json

FOLDERS = ("examples", "notebooks")
STARTS = {".py": "python {}", ".yaml": "varimech run {}", ".ipynb": "jupyter lab {}"}
"""Command that opens a copy, by suffix."""


def examples(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Name of the example or notebook to copy. Default: list all.",
            autocompletion=lambda incomplete: [n for n in available() if n.startswith(incomplete)],
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the copy.")] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    as_json: o.Json = False,
) -> None:
    """List the example scripts and tutorial notebooks, or copy one.

    An existing file is not replaced, unless --force is given.

    Examples:

      varimech examples

      varimech examples cardan_shaft && python cardan_shaft.py

      varimech examples 1_first_mechanism --out notebooks
    """
    paths = available()
    if name is None:
        _print_list(paths, as_json)
        return
    if name not in paths:
        raise unknown_name("example", name, paths)
    source = paths[name]
    path = out / source.name
    if path.exists() and not force:
        raise ModelError(
            f"{path} exists already",
            remedy="choose another folder with --out, or use --force to replace it",
        )
    out.mkdir(parents=True, exist_ok=True)
    write_text(path, source.read_text(encoding="utf-8"))
    if as_json:
        print_json({"files": [str(path)]})
    else:
        typer.echo(f"wrote {path}; next: {STARTS[path.suffix].format(path)}")


def available() -> dict[str, Path]:
    """Available files by name, examples first."""
    paths = {p.stem: p for p in _files() if p.suffix in STARTS and p.parent.name in FOLDERS}
    return dict(sorted(paths.items(), key=lambda item: (item[1].parent.name, item[0])))


def _files() -> list[Path]:
    """Files of the source tree if Varimech runs from it, otherwise the installed files."""
    source = Path(__file__).parents[3]
    if (source / "pyproject.toml").is_file():
        return [*(source / "examples").iterdir(), *(source / "docs" / "notebooks").iterdir()]
    try:
        installed = files("varimech") or []
    except PackageNotFoundError:
        return []
    return [Path(str(f.locate())) for f in installed if f.parent.parent.name == "varimech"]


def title(path: Path) -> str:
    """The first paragraph of an example, or the first heading of a notebook."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".yaml":
        return text.splitlines()[0].removeprefix("# ")
    if path.suffix == ".py":
        return " ".join((ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0].split())
    cells = ["".join(cell["source"]) for cell in json.loads(text)["cells"]]
    heading = next(line for cell in cells for line in cell.splitlines() if line.startswith("# "))
    return heading.removeprefix("# ")


def _print_list(paths: dict[str, Path], as_json: bool) -> None:
    if as_json:
        rows = [
            {"name": name, "kind": path.parent.name.removesuffix("s"), "title": title(path)}
            for name, path in paths.items()
        ]
        print_json({"examples": rows})
        return
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for kind in FOLDERS:
        table = Table("name", "title", title=kind, title_justify="left")
        for name, path in paths.items():
            if path.parent.name == kind:
                table.add_row(name, title(path))
        console.print(table)
    console.print("copy one: varimech examples NAME")
