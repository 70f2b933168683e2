"""Execution of study commands: run, print, write files and a report, and stop cleanly."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..core.errors import Interrupted, ModelError, VarimechError
from ..core.interrupts import deferred_interrupts
from . import INTERRUPTED, options
from .output_files import make_folder, model_text, print_json, write

if TYPE_CHECKING:
    from ..mechanism import Mechanism
    from ..results.run import Run

MOST_NUMBERS, MOST_IN_TABLES = 20_000_000, 5_000_000
"""Largest number of values in the netCDF file of a run, and in its table, which is ten times slower
to write; round values.
"""
FEW = 1000
"""Stored times up to which all outputs of a run are evaluated to count them; a round value."""


@dataclass(frozen=True)
class StudyRequest:
    """The study that a command requests."""

    mechanism: Mechanism
    kind: str
    given: Mapping[str, Any]
    """Settings of the command line."""
    as_json: bool
    out: Path | None
    """Folder for files."""

    @classmethod
    def of(cls, context: typer.Context, kind: str) -> StudyRequest:
        """The request of a command with the options of `options.running`."""
        model, as_json, out = (context.params[name] for name in ("model", "as_json", "out"))
        return cls(options.find_model(model), kind, options.settings(context), as_json, out)

    def executed(self, **extra: object) -> Any:
        """Execute the study."""
        return self.mechanism.study(self.kind, **self.given, **extra)


@dataclass
class StudyOutput:
    """Output of a study: a text, plain data, and the contents of files and report."""

    text: str
    data: dict[str, object]
    results: tuple[object, ...]
    """Results for the report."""
    files: dict[str, Callable[[Path], Any]] = field(default_factory=dict)
    """File name → function that writes it."""
    certificate: Any = None
    code: int = 0
    run: Run | None = None
    """Run that is written to files, too."""
    notes: tuple[str, ...] = ()
    """Remarks on the files."""


def conduct(
    request: StudyRequest, study: Callable[[], object], describe: Callable[[Any], StudyOutput]
) -> None:
    """Run a study, print its output, and write its files, also for partial results after Ctrl-C and
    for results that were complete before an error, which is raised afterwards.

    Problems with the output folder are detected before the computation. Ctrl-C stops writing.

    Raises:
        typer.Exit: with the exit code of the result.
    """
    began, stopped, out = time.perf_counter(), "", request.out
    text = ""
    if out is not None:
        text = model_text(request.mechanism, request.kind, request.given)
        make_folder(out)
    failed: VarimechError | None = None
    try:
        result = study()
    except Interrupted as stop:
        result, stopped = stop.result, stop.reached
    except VarimechError as error:
        if error.result is None:
            raise
        result, failed = error.result, error
    written: list[Path] = []
    try:
        with deferred_interrupts():
            output = describe(result)
        if out is not None:
            if output.run is not None:
                output.files, output.notes = run_files(output.run)
            show = None if request.mechanism.studies is None else request.mechanism.studies.show
            for path in write(
                out,
                output.files,
                output.results,
                model=text,
                certificate=output.certificate,
                show=show,
            ):
                written.append(path)
    except KeyboardInterrupt:
        now = "stopped before all files were written" if out is not None else "stopped"
        stopped = f"{stopped}; {now}" if stopped else now
    except ModelError as error:
        failed = error  # print the results first
    _print(request, output, written, stopped, time.perf_counter() - began)
    if failed is not None:
        raise failed
    raise typer.Exit(INTERRUPTED if stopped else output.code)


def _print(
    request: StudyRequest, output: StudyOutput, written: list[Path], stopped: str, seconds: float
) -> None:
    notes = output.notes if written else ()
    if request.as_json:
        data = {
            "mechanism": request.mechanism.name,
            **output.data,
            "seconds_in_all": seconds,
            "files": [str(p) for p in written],
        }
        data |= {
            name: value for name, value in (("notes", list(notes)), ("stopped", stopped)) if value
        }
        print_json(data)
        return
    typer.echo(output.text)
    if written:
        *others, last = written  # the report comes last
        if last.suffix == ".html":
            place = f"report: {last}\n{', '.join(p.name for p in others)} beside it"
        else:
            place = f"{', '.join(p.name for p in written)} are in {last.parent}"
        typer.echo(f"\n{place}; {seconds:.1f} s in all")
    for note in notes:
        typer.echo(note)
    if stopped:
        typer.secho(stopped, err=True, fg="yellow")


def run_files(run: Run) -> tuple[dict[str, Callable[[Path], object]], tuple[str, ...]]:
    """A run as netCDF, which `varimech.load_run` reads, and as a table; with notes if it is too
    long to be written completely.
    """
    import numpy as np

    from ..results.run import Run
    from ..web.encoding import thinned

    sample = run if run.time.size <= FEW else Run(run.live.at_rows(np.array([0])), run.info)
    width = sum(array.size for array in sample.dataset.values()) // sample.time.size
    most = max(2, MOST_NUMBERS // width)
    reduced = run if run.time.size <= most else run.at_rows(thinned(run.time.size, most))
    files: dict[str, Callable[[Path], object]] = {"run.nc": reduced.save}
    notes = []
    if reduced is not run:
        notes.append(
            f"run.nc has {reduced.time.size:,} of {run.time.size:,} stored times; --every stores"
            " fewer"
            " of equal steps"
        )
    if reduced.time.size * width <= MOST_IN_TABLES:
        files["run.csv"] = reduced.save
    else:
        notes.append(
            "run.csv would be large and is not written; in Python,"
            " varimech.load_run('run.nc').save('run.csv') writes it"
        )
    if "configuration" in run.info:
        notes.append(run.info["configuration"])
    if run.redundant_reactions:
        notes.append(run.redundant_reactions)
    return files, tuple(notes)


def run_data(run: Run) -> dict[str, object]:
    """The numbers of a run as plain data."""
    kept = (
        "method",
        "configuration",
        "steps",
        "step",
        "tolerance",
        "residuals",
        "iterations",
        "seconds",
        "parameters",
    )
    return {
        "duration": float(run.time[-1]),
        **{key: run.info[key] for key in kept if key in run.info},
    }
