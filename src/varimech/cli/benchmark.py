"""The command for published problems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ..benchmarks import BENCHMARKS, Outcome, find_benchmark
from ..errors import VarimechError
from . import options as o


def benchmark(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Name of a benchmark, [bold]all[/], or [bold]list[/] to see their names.")],
    step: o.Step = None,
    tolerance: o.Tolerance = None,
    integrator: o.Integrator = None,
    formulation: o.Formulation = None,
    coordinates: o.Coordinates = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else: an object, or a list for all.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for result files and pictures; for all, with one folder each.")] = None,
    page: Annotated[Path | None, typer.Option(help="Markdown file for accuracy and times.")] = None,
) -> None:
    """Solve a published problem, or all of them, and compare with reference values.

    Settings that are not given are the benchmark's own. Exit code 0: all tolerances met; 1: not met; 2: it could not be run.

    Examples:

      varimech benchmark list

      varimech benchmark five-bar --step 1e-3 --out out/five-bar

      varimech benchmark andrews --coordinates rtdyn1 --json

      varimech benchmark all --page library.md
    """
    if name == "list":
        _print_list(as_json)
        return
    entries = BENCHMARKS if name == "all" else {name: find_benchmark(name)}
    given = {key: value for key, value in o.settings(context).items() if key not in ("name", "page")}
    outcomes: dict[str, Outcome] = {}
    written: list[Path] = []
    for key, entry in entries.items():
        try:
            outcomes[key] = entry.solve(**given)
        except VarimechError as error:
            if name != "all":
                raise
            typer.secho(f"error: {key}: {error}", err=True, fg="red")  # the others go on
            continue
        if out is not None:
            written += _write(outcomes[key], out / key if name == "all" else out)
    if page is not None:
        from ..benchmarks.page import page as page_of

        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(page_of(outcomes), encoding="utf-8")
    if as_json:
        data = [outcome.to_json() for outcome in outcomes.values()]
        typer.echo(json.dumps(data if name == "all" else data[0]))
    else:
        if name == "all":
            _print_overview(outcomes)
        else:
            _print_outcome(entries[name].title, outcomes[name])
        if out is not None:
            pictures = sum(p.suffix == ".png" for p in written)
            reports = [str(p) for p in written if p.suffix == ".html"]
            typer.echo(f"{len(written) - pictures - len(reports)} result files and {pictures} pictures are in {out}")
            if name != "all":
                typer.echo(f"report: {reports[0]}")
    passed = all(outcome.passed for outcome in outcomes.values())
    raise typer.Exit(2 if len(outcomes) < len(entries) else 0 if passed else 1)


def _write(outcome: Outcome, folder: Path) -> list[Path]:
    """Result files, pictures and the report."""
    from .. import report

    return [*outcome.write(folder), report(folder / "report.html", *outcome.results)]


def _print_list(as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps([{"benchmark": n, "title": e.title, "settings": e.settings} for n, e in BENCHMARKS.items()]))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("name", "title", "settings")
    for name, entry in BENCHMARKS.items():
        words = (
            f"{key} = {value:g}" if isinstance(value, float) else f"{key} = {value}" for key, value in entry.settings.items()
        )
        table.add_row(name, entry.title, ", ".join(words))
    Console().print(table)


def _print_outcome(title: str, outcome: Outcome) -> None:
    from rich.console import Console

    console = Console()
    console.print(f"[bold]{title}[/]")
    data = outcome.to_json()
    console.print(data["method"])
    for table in outcome.tables():
        console.print(table)
    seconds = data["seconds"]
    console.print(f"{_verdict(outcome.passed)}; {seconds['build']:.2f} s to build, {seconds['run']:.2f} s to run")


def _print_overview(outcomes: dict[str, Outcome]) -> None:
    from rich.console import Console
    from rich.table import Table

    from ..benchmarks.outcome import worst

    table = Table("benchmark", "worst check")
    for heading in ("share", "build (s)", "run (s)"):
        table.add_column(heading, justify="right")
    table.add_column("")
    for name, outcome in outcomes.items():
        check, seconds = worst(outcome.checks), outcome.to_json()["seconds"]
        numbers = (f"{check.share:.2%}", f"{seconds['build']:.2f}", f"{seconds['run']:.3f}")
        table.add_row(name, check.name, *numbers, _verdict(outcome.passed))
    Console().print(table)


def _verdict(passed: bool) -> str:
    return "[bold green]passed[/]" if passed else "[bold red]failed[/]"
