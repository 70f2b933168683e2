"""The command line: thin, over the public interface."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from .benchmarks import BENCHMARKS, find_benchmark
from .doctor import examine
from .errors import VarimechError

app = typer.Typer(
    help="Varimech: mechanisms, their motion, and how every result changes when a number of the model changes.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
)


@app.callback()
def _varimech() -> None:
    """Varimech: mechanisms, their motion, and how every result changes when a number of the model changes."""


@app.command()
def benchmark(
    name: Annotated[str, typer.Argument(help="Name of a benchmark, or [bold]list[/] to see them all.")],
    step: Annotated[float | None, typer.Option(help="Time step in seconds; the benchmark's own if not given.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for result files and pictures.")] = None,
) -> None:
    """Solve a published problem and compare with its reference values.

    Exit code 0: all tolerances met; 1: not met; 2: it could not be run.

    Examples:

      varimech benchmark list

      varimech benchmark five-bar --step 1e-3 --out out/five-bar

      varimech benchmark five-bar --json
    """
    if name == "list":
        _print_list(as_json)
        return
    entry = find_benchmark(name)
    outcome = entry.run(entry.default_step if step is None else step)
    written = [] if out is None else outcome.write(out)
    if as_json:
        typer.echo(json.dumps(outcome.to_json()))
    else:
        _print_outcome(entry.title, outcome.tables(), outcome.to_json()["seconds"], outcome.passed)
        if out is not None:
            pictures = sum(p.suffix == ".png" for p in written)
            typer.echo(f"{len(written) - pictures} result files and {pictures} pictures are in {out}")
    raise typer.Exit(0 if outcome.passed else 1)


@app.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Tell which versions, compiler and cache are there, and what to do about what is not.

    Exit code 0: all is well; 1: something is missing (everything still works, if slower).
    """
    findings = examine()
    if as_json:
        typer.echo(json.dumps({f.what: {"found": f.found, "fine": f.fine, "remedy": f.remedy} for f in findings}))
    else:
        from rich.console import Console
        from rich.table import Table

        table = Table("what", "found", "")
        for f in findings:
            table.add_row(f.what, f.found, "[green]fine[/]" if f.fine else f"[yellow]{f.remedy or 'look at this'}[/]")
        Console().print(table)
    raise typer.Exit(0 if all(f.fine for f in findings) else 1)


def _print_list(as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps([{"benchmark": n, "title": e.title, "step": e.default_step} for n, e in BENCHMARKS.items()]))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("name", "title", "default step (s)")
    for name, entry in BENCHMARKS.items():
        table.add_row(name, entry.title, f"{entry.default_step:g}")
    Console().print(table)


def _print_outcome(title: str, tables: list, seconds: dict[str, float], passed: bool) -> None:
    from rich.console import Console

    console = Console()
    console.print(f"[bold]{title}[/]")
    for table in tables:
        console.print(table)
    verdict = "[bold green]passed[/]" if passed else "[bold red]failed[/]"
    console.print(f"{verdict}; {seconds['build']:.2f} s to build, {seconds['run']:.2f} s to run")


def main() -> None:
    """Entry point: errors of Varimech become one clear line and exit code 2."""
    try:
        app()
    except VarimechError as error:
        typer.secho(f"error: {error}", err=True, fg="red")
        raise SystemExit(2) from None
