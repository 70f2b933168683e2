"""The command that compares several schemes on a model."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..core.errors import VarimechError
from . import INTERRUPTED
from . import options as o
from .output_files import give_json

if TYPE_CHECKING:
    from ..mechanism import Mechanism
    from ..problem import Problem
    from ..results.run import Run

INTERVALS, POINTS = 100, 40
"""Number of output intervals, and largest number of points, at which runs are compared; round
values.
"""
REFERENCE: dict[str, object] = {"tolerance": 1e-12}
SCHEMES: tuple[dict[str, object], ...] = (
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
    """Result of one scheme."""

    scheme: str
    steps: int = 0
    build: float = 0.0
    run: float = 0.0
    deviation: float = 0.0
    """Largest distance of any point from its reference position (m)."""
    residual: float = 0.0
    error: str = ""


def compare(
    context: typer.Context,
    model: o.Model,
    duration: o.Duration = None,
    set_: o.Set = None,
    as_json: o.Json = False,
    out: o.JsonFile = None,
    backend: Annotated[
        str, typer.Option(help="Execution: native (compiled), interpreted or auto.")
    ] = "auto",
) -> None:
    """Compare run times and deviations (m) of several methods on a model.

    Use it to choose coordinates, formulation, integrator and step; docs/methods.md describes their
    uses. Deviations are the largest distances of points from a reference with a tolerance of 1e-12.

    Exit codes: 0: success, even if some methods fail; 2: the reference failed; 130: stopped by
    Ctrl-C, partial results are kept.

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
    with suppress(KeyboardInterrupt):  # report the completed ones
        for scheme in SCHEMES:
            rows.append(task.row(scheme, reference))
    seconds = float(reference.time[-1])
    data = {"mechanism": m.name, "duration": seconds, "schemes": [row.__dict__ for row in rows]}
    give_json(data, as_json, out)
    if not as_json:
        _print(m.name, seconds, rows)
    if len(rows) < len(SCHEMES):
        typer.secho(f"stopped after {len(rows)} of {len(SCHEMES)} schemes", err=True, fg="yellow")
        raise typer.Exit(INTERRUPTED)


def _print(name: str, seconds: float, rows: list[Row]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=f"{escape(name)}, {seconds:g} s", title_justify="left")
    table.add_column("scheme", no_wrap=True)
    for heading in ("steps", "build\n(s)", "run\n(ms)", "deviation\n(m)", "residual"):
        table.add_column(heading, justify="right")
    for row in rows:
        if row.error:
            table.add_row(escape(row.scheme), "", "", "", "", "[yellow]failed[/]")
        else:
            milliseconds = 1e3 * row.run
            figures = (
                f"{row.steps}",
                f"{row.build:.2f}",
                f"{milliseconds:.0f}" if milliseconds >= 100 else f"{milliseconds:.3g}",
                f"{row.deviation:.1e}",
                f"{row.residual:.1e}",
            )
            table.add_row(escape(row.scheme), *figures)
    console = Console()
    console.print(table)
    for row in rows:
        if row.error:
            console.print(f"[yellow]{escape(row.scheme)}: {escape(row.error)}[/]")


@dataclass(frozen=True)
class _Task:
    """Model and settings, common to all schemes."""

    mechanism: Mechanism
    problem: Problem

    def row(self, scheme: dict[str, object], reference: Run) -> Row:
        """Result of a scheme, or its error."""
        try:
            run = self.executed(scheme)
        except VarimechError as error:
            return Row(_name(scheme), error=error.without_remedy())
        seconds, residual = run.info["seconds"], max(run.info["residuals"])
        return Row(
            _name(scheme),
            int(run.info["steps"]),
            seconds["build"],
            seconds["run"],
            self._deviation(run, reference),
            residual,
        )

    def executed(self, scheme: dict[str, Any]) -> Run:
        options = {key: value for key, value in scheme.items() if key != "steps"}
        duration = self.problem.duration
        if "steps" in scheme:
            options |= {"step": duration / scheme["steps"], "every": scheme["steps"] // INTERVALS}
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


def _name(scheme: dict[str, Any]) -> str:
    parts = [
        f"{key}={value:g}" if isinstance(value, float) else str(value)
        for key, value in scheme.items()
        if key != "steps"
    ]
    return ", ".join([f"{scheme['steps']} steps", *parts] if "steps" in scheme else parts)
