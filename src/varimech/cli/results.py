"""What the study commands have in common: they run, tell, write files and a report, and stop
cleanly.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..core.errors import ModelError
from ..core.interrupts import deferred_interrupts
from . import INTERRUPTED
from .printing import print_json
from .writing import make_folder, model_that_ran, write

if TYPE_CHECKING:
    from ..mechanism import Mechanism
    from ..results.run import Run

MOST_NUMBERS, MOST_IN_TABLES = 20_000_000, 5_000_000
"""In a file of a run, and in a table, which is ten times as slow to write."""
FEW = 1000
"""Stored times of a run whose measures can be had at once."""


@dataclass(frozen=True)
class Asked:
    """The study that a command is about."""

    mechanism: Mechanism
    kind: str
    given: Mapping[str, Any]
    """Settings of the command line."""

    def executed(self, **besides: Any) -> Any:
        """What comes of it."""
        return self.mechanism.study(self.kind, **self.given, **besides)


@dataclass
class Told:
    """What came of a study: a text for people, plain data for programs, and what to write and to
    show.
    """

    text: str
    data: dict[str, Any]
    results: tuple[Any, ...]
    """For the report."""
    files: dict[str, Callable[[Path], Any]] = field(default_factory=dict)
    """File name → what writes it."""
    certificate: Any = None
    code: int = 0
    notes: tuple[str, ...] = ()
    """What is to be known about the files."""


def conduct(
    asked: Asked,
    study: Callable[[], Any],
    tell: Callable[[Any], Told],
    *,
    as_json: bool,
    out: Path | None,
) -> None:
    """Run a study, tell what came of it, and write its files; what was computed before Ctrl-C is
    told and written too.

    All that can be known to go wrong with the files does so before anything is computed. Ctrl-C
    while they are written ends that.

    Raises:
        typer.Exit: with the code that the result asks for.
    """
    began, stopped = time.perf_counter(), ""
    text = ""
    if out is not None:
        text = model_that_ran(asked.mechanism, asked.kind, asked.given)
        make_folder(out)
    try:
        result = study()
    except KeyboardInterrupt as stop:
        result, stopped = (
            getattr(stop, "result", None),
            str(stop).split(";")[0],
        )  # the rest speaks to Python
        if result is None:
            raise
    written: list[Path] = []
    failed = None
    try:
        with deferred_interrupts():
            told = tell(result)
        if out is not None:
            show = None if asked.mechanism.studies is None else asked.mechanism.studies.show
            for path in write(
                out, told.files, told.results, model=text, certificate=told.certificate, show=show
            ):
                written.append(path)
    except KeyboardInterrupt:
        stopped = "; ".join(
            filter(
                None,
                (
                    stopped,
                    "stopped before all files were written" if out is not None else "stopped",
                ),
            )
        )
    except ModelError as error:
        failed = error  # what was computed is told all the same
    _print(asked.mechanism, told, written, stopped, time.perf_counter() - began, as_json=as_json)
    if failed is not None:
        raise failed
    raise typer.Exit(INTERRUPTED if stopped else told.code)


def _print(
    mechanism: Mechanism,
    told: Told,
    written: list[Path],
    stopped: str,
    seconds: float,
    *,
    as_json: bool,
) -> None:
    notes = told.notes if written else ()
    if as_json:
        data = {
            "mechanism": mechanism.name,
            **told.data,
            "seconds_in_all": seconds,
            "files": [str(p) for p in written],
        }
        data |= {
            name: value for name, value in (("notes", list(notes)), ("stopped", stopped)) if value
        }
        print_json(data)
        return
    typer.echo(told.text)
    if written:
        *others, last = written  # the report comes last
        if last.suffix == ".html":
            typer.echo(
                f"\nreport: {last}\n{', '.join(p.name for p in others)} beside it; {seconds:.1f} s"
                " in all"
            )
        else:
            typer.echo(
                f"\n{', '.join(p.name for p in written)} are in {last.parent}; {seconds:.1f} s"
                " in all"
            )
    for note in notes:
        typer.echo(note)
    if stopped:
        typer.secho(stopped, err=True, fg="yellow")


def run_files(run: Run) -> tuple[dict[str, Callable[[Path], Any]], tuple[str, ...]]:
    """A run as netCDF, which `varimech.load_run` reads, and as a table; and what is to be said
    where it is so long that some is left out.
    """
    import numpy as np

    from ..reports.encoding import thinned
    from ..results.run import Run

    some = run if run.time.size <= FEW else Run(run.live.at_rows(np.array([0])), run.info)
    width = sum(array.size for array in some.dataset.values()) // some.time.size
    most = max(2, MOST_NUMBERS // width)
    few = run if run.time.size <= most else run.at_rows(thinned(run.time.size, most))
    files: dict[str, Callable[[Path], Any]] = {"run.nc": few.save}
    notes = []
    if few is not run:
        notes.append(
            f"run.nc has {few.time.size:,} of {run.time.size:,} stored times; --every stores fewer"
            " of equal steps"
        )
    if few.time.size * width <= MOST_IN_TABLES:
        files["run.csv"] = few.save
    else:
        notes.append(
            "run.csv would be large and is left out; in Python,"
            " varimech.load_run('run.nc').save('run.csv') writes it"
        )
    if "configuration" in run.info:
        notes.append(run.info["configuration"])
    if run.redundant_reactions:
        notes.append(run.redundant_reactions)
    return files, tuple(notes)


def run_data(run: Run) -> dict[str, Any]:
    """The figures of a run as plain data."""
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
