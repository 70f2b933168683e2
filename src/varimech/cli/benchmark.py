"""The benchmark command."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from ..benchmarks import BENCHMARKS, Entry, Outcome, find_benchmark
from ..core.atomic_files import write_text
from ..core.errors import VarimechError
from . import INTERRUPTED
from . import completion as c
from . import options as o
from .output_files import make_folder, print_json


@o.running("model", "duration", "every", "backend", "set_")
def benchmark(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            help="Name of a benchmark, [bold]all[/], or [bold]list[/] to list their names.",
            autocompletion=c.benchmarks,
        ),
    ],
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print one JSON object (a list for all and list) and nothing else."
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the report (report.html), the results and figures; for all, a subfolder"
            " for each."
        ),
    ] = None,
    page: Annotated[
        Path | None, typer.Option(help="Markdown file for the errors and times.")
    ] = None,
) -> None:
    """Solve one benchmark or all of them, and compare with reference values.

    Options override the settings of the benchmark.

    Exit codes: 0: success; 1: a tolerance is not met; 2: failed; 130: stopped by Ctrl-C.

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
    given = o.settings(context)
    if out is not None:
        make_folder(out)
    outcomes, written, stopped = _solved(entries, given, out, alone=name != "all")
    if page is not None:
        from ..benchmarks.page import page as page_of

        write_text(page, page_of(outcomes))
    if as_json:
        data = [outcome.to_json() for outcome in outcomes.values()]
        print_json(data if name == "all" else data[0])
    elif name == "all":
        _print_overview(outcomes)
    else:
        _print_outcome(entries[name].title, outcomes[name])
    if out is not None and not as_json:
        _print_files(out, written)
    if stopped:
        typer.secho(stopped, err=True, fg="yellow")
        raise typer.Exit(INTERRUPTED)
    passed = all(outcome.passed for outcome in outcomes.values())
    raise typer.Exit(2 if len(outcomes) < len(entries) else 0 if passed else 1)


def _solved(
    entries: Mapping[str, Entry], given: Mapping[str, Any], out: Path | None, *, alone: bool
) -> tuple[dict[str, Outcome], list[Path], str]:
    """Solve benchmarks; return outcomes, written files, and a message after Ctrl-C. A benchmark
    that fails does not stop the others.
    """
    outcomes: dict[str, Outcome] = {}
    written: list[Path] = []
    for key, entry in entries.items():
        try:
            outcome = entry.solve(**given)
            if out is not None:
                written += _write(entry, outcome, out if alone else out / key)
            outcomes[key] = outcome
        except VarimechError as error:
            if alone:
                raise
            typer.secho(f"error: {key}: {error}", err=True, fg="red")
        except KeyboardInterrupt:
            if not outcomes:
                raise
            return outcomes, written, f"stopped after {len(outcomes)} of {len(entries)} benchmarks"
    return outcomes, written, ""


def _write(entry: Entry, outcome: Outcome, folder: Path) -> list[Path]:
    """Write result files, figures and the report, with the checks and the model."""
    from .. import report

    head = ("quantity", "computed", "reference", "difference", "tolerance", "share of it", "")
    rows = [
        (
            c.name,
            c.value,
            c.reference,
            f"{c.error:.2g}",
            f"{c.tolerance:.2g}",
            f"{100 * c.share:.2g} %",
            "passed" if c.passed else "failed",
        )
        for c in outcome.checks
    ]
    model = entry.model_file.read_text(encoding="utf-8")
    make_folder(folder)
    with tempfile.TemporaryDirectory(prefix=".", dir=folder) as temporary:  # all files or none
        files = [path.replace(folder / path.name) for path in outcome.write(Path(temporary))]
    page = report(
        folder / "report.html",
        *outcome.results,
        title=entry.title,
        model=model,
        tables={"Compared with reference values": (head, rows)},
    )
    return [*files, page]


def _print_files(out: Path, written: list[Path]) -> None:
    figures = sum(p.suffix == ".png" for p in written)
    reports = [str(p) for p in written if p.suffix == ".html"]
    typer.echo(
        f"{len(written) - figures - len(reports)} result files and {figures} figures are in {out}"
    )
    for report in reports:
        typer.echo(f"report: {report}")


def _print_list(as_json: bool) -> None:
    if as_json:
        print_json(
            [
                {"benchmark": n, "title": e.title, "settings": e.settings}
                for n, e in BENCHMARKS.items()
            ]
        )
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("name", "title", "settings")
    for name, entry in BENCHMARKS.items():
        summary = (
            f"{key} = {value:g}" if isinstance(value, float) else f"{key} = {value}"
            for key, value in entry.settings.items()
        )
        table.add_row(name, entry.title, ", ".join(summary))
    Console().print(table)


def _print_outcome(title: str, outcome: Outcome) -> None:
    from rich.console import Console

    console = Console()
    console.print(f"[bold]{title}[/]")
    data = outcome.to_json()
    console.print(data["method"], markup=False)
    for table in outcome.tables():
        console.print(table)
    seconds = data["seconds"]
    console.print(
        f"{_verdict(outcome.passed)}; {seconds['build']:.2f} s to build, {seconds['run']:.2f} s"
        " to run"
    )


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
