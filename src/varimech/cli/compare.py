"""The command that solves a model in several ways and tells how far they agree."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..core.errors import VarimechError
from . import INTERRUPTED
from . import options as o
from .printing import give_json

if TYPE_CHECKING:
    from ..mechanism import Mechanism
    from ..problem import Problem
    from ..results.run import Run

INTERVALS, POINTS = 100, 40
"""Stored times, and points, at which runs are compared."""
REFERENCE: dict[str, Any] = {"tolerance": 1e-12}
WAYS: tuple[dict[str, Any], ...] = (
    {"tolerance": 1e-8},
    {"tolerance": 1e-6, "integrator": "dopri5"},
    {"tolerance": 1e-8, "coordinates": "rtdyn0"},
    {"tolerance": 1e-8, "coordinates": "rtdyn1"},
    {"tolerance": 1e-8, "formulation": "independent"},
    {"tolerance": 1e-8, "integrator": "cvodes"},
    {"steps": 1000},
    {"steps": 10_000},
    {"steps": 1000, "integrator": "generalised-alpha"},
    {"steps": 1000, "integrator": "rk4"},
)


@dataclass(frozen=True)
class Row:
    """What came of one way."""

    way: str
    steps: int = 0
    build: float = 0.0
    run: float = 0.0
    deviation: float = 0.0
    """Largest distance of any point from where the reference has it (m)."""
    residual: float = 0.0
    error: str = ""


def compare(
    context: typer.Context,
    model: o.Model,
    duration: o.Duration = None,
    set_: o.Set = None,
    as_json: o.Json = False,
    out: o.JsonFile = None,
    backend: Annotated[str, typer.Option(help="native, interpreted or auto.")] = "auto",
) -> None:
    """Solve a model in several ways, and tell how long each takes and how far all points stay from
    a reference (tolerance 1e-12).

    Helps to choose coordinates, formulation, integrator and step for a model; docs/methods.md tells
    what each suits.

    Exit code 0: done, whatever single ways do; 2: the reference could not be computed; 130: stopped
    by Ctrl-C, with the ways up to then.

    Examples:

      varimech compare my.yaml

      varimech compare andrews --duration 0.02 --json
    """
    from ..files.study_runner import resolved

    m = o.find_model(model)
    assert m.studies is not None
    settings = resolved(m.data, m.studies, "simulate", o.settings(context))
    kept = {key: settings[key] for key in ("duration", "parameters", "backend") if key in settings}
    task = _Task(m, m.problem(**kept))
    reference = task.executed(REFERENCE)
    rows: list[Row] = []
    with suppress(KeyboardInterrupt):  # those that are there are told
        for way in WAYS:
            rows.append(task.row(way, reference))
    seconds = float(reference.time[-1])
    data = {"mechanism": m.name, "duration": seconds, "ways": [row.__dict__ for row in rows]}
    give_json(data, as_json, out)
    if not as_json:
        _print(m.name, seconds, rows)
    if len(rows) < len(WAYS):
        typer.secho(f"stopped after {len(rows)} of {len(WAYS)} ways", err=True, fg="yellow")
        raise typer.Exit(INTERRUPTED)


def _print(name: str, seconds: float, rows: list[Row]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=f"{escape(name)}, {seconds:g} s", title_justify="left")
    table.add_column("way")
    for heading in ("steps", "build (s)", "run (ms)", "deviation (m)", "residual"):
        table.add_column(heading, justify="right")
    for row in rows:
        if row.error:
            table.add_row(escape(row.way), "", "", "", "", f"[yellow]{escape(row.error)}[/]")
        else:
            figures = (
                f"{row.steps}",
                f"{row.build:.2f}",
                f"{1e3 * row.run:.3g}",
                f"{row.deviation:.1e}",
                f"{row.residual:.1e}",
            )
            table.add_row(escape(row.way), *figures)
    Console().print(table)


@dataclass(frozen=True)
class _Task:
    """What all ways have in common."""

    mechanism: Mechanism
    problem: Problem

    def row(self, way: dict[str, Any], reference: Run) -> Row:
        """What comes of a way; what cannot be is told."""
        try:
            run = self.executed(way)
        except VarimechError as error:
            return Row(_name(way), error=error.without_remedy()[:100])
        seconds, residual = run.info["seconds"], max(run.info["residuals"])
        return Row(
            _name(way),
            int(run.info["steps"]),
            seconds["build"],
            seconds["run"],
            self._deviation(run, reference),
            residual,
        )

    def executed(self, way: dict[str, Any]) -> Run:
        options = {key: value for key, value in way.items() if key != "steps"}
        duration = self.problem.duration
        if "steps" in way:
            options |= {"step": duration / way["steps"], "every": way["steps"] // INTERVALS}
        else:
            options["output"] = duration / INTERVALS
        return self.problem.with_options(**options).run()

    def _deviation(self, run: Run, reference: Run) -> float:
        points = [p.label for b in self.mechanism.data.moving_bodies for p in b.points.values()][
            :POINTS
        ]
        return max(
            float(abs(run.position(p).to_numpy() - reference.position(p).to_numpy()).max())
            for p in points
        )


def _name(way: dict[str, Any]) -> str:
    words = [
        f"{key}={value:g}" if isinstance(value, float) else str(value)
        for key, value in way.items()
        if key != "steps"
    ]
    return ", ".join([f"{way['steps']} steps", *words] if "steps" in way else words)
