"""What the study commands have in common: they run, tell, write files and a report, and stop cleanly."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from ..mechanism import Mechanism
from ..results.run import Run

INTERRUPTED = 130
"""Exit code of what was stopped by Ctrl-C."""


@dataclass
class Told:
    """What came of a study: a text for people, plain data for programs, and what to write and to show."""

    text: str
    data: dict[str, Any]
    results: tuple[Any, ...]
    """For the report."""
    files: dict[str, Callable[[Path], Any]] = field(default_factory=dict)
    """File name → what writes it."""
    certificate: Any = None
    code: int = 0
    title: str | None = None


def conduct(
    mechanism: Mechanism, study: Callable[[], Any], tell: Callable[[Any], Told], *, as_json: bool, out: Path | None
) -> None:
    """Run a study, tell what came of it, and write its files; what was computed before Ctrl-C is told and written too.

    Raises:
        typer.Exit: with the code that the result asks for.
    """
    began, stopped = time.perf_counter(), ""
    try:
        result = study()
    except KeyboardInterrupt as stop:
        result, stopped = getattr(stop, "result", None), str(stop).split(";")[0]  # the rest speaks to Python
        if result is None:
            raise
    told = tell(result)
    written = [] if out is None else write(mechanism, told, out)
    seconds = time.perf_counter() - began
    if as_json:
        data = {"mechanism": mechanism.name, **told.data, "seconds_in_all": seconds, "files": [str(p) for p in written]}
        typer.echo(json.dumps({**data, "stopped": stopped} if stopped else data))
    else:
        typer.echo(told.text)
        if written:
            others = ", ".join(p.name for p in written[1:])
            typer.echo(f"\nreport: {written[0]}\n{others} beside it; {seconds:.1f} s in all")
        if stopped:
            typer.secho(stopped, err=True, fg="yellow")
    raise typer.Exit(INTERRUPTED if stopped else told.code)


def write(mechanism: Mechanism, told: Told, out: Path) -> list[Path]:
    """The report first, then the model and all results."""
    from .. import report

    if sys.stderr.isatty():
        typer.echo("writing the report …", err=True)
    text = mechanism.to_text()
    show = None if mechanism.studies is None else mechanism.studies.show
    out.mkdir(parents=True, exist_ok=True)
    page = report(out / "report.html", *told.results, title=told.title, model=text, certificate=told.certificate, show=show)
    written = [page]
    for name, writer in {"model.yaml": lambda path: path.write_text(text, encoding="utf-8"), **told.files}.items():
        writer(out / name)
        written.append(out / name)
    return written


def run_files(run: Run) -> dict[str, Callable[[Path], Any]]:
    """A run as netCDF, which `varimech.load_run` reads, and as a table."""
    return {"run.nc": run.save, "run.csv": run.save}


def run_data(run: Run) -> dict[str, Any]:
    """The figures of a run as plain data."""
    kept = ("method", "steps", "step", "tolerance", "residuals", "iterations", "seconds", "parameters")
    return {"duration": float(run.time[-1]), **{key: run.info[key] for key in kept if key in run.info}}
