"""The command line: thin, over the public interface."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from .benchmarks import BENCHMARKS, Outcome, find_benchmark
from .coordinates.systems import COORDINATES, Coordinates
from .doctor import examine
from .errors import VarimechError
from .methods import FORMULATIONS, INTEGRATORS, SUITS, Formulation, Integrator, choose, formulations_of, integrators_of

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
    name: Annotated[str, typer.Argument(help="Name of a benchmark, [bold]all[/], or [bold]list[/] to see their names.")],
    step: Annotated[float | None, typer.Option(help="Time step in seconds.")] = None,
    tolerance: Annotated[float | None, typer.Option(help="Accuracy to keep instead of a fixed step.")] = None,
    integrator: Annotated[str | None, typer.Option(help="Name of an integrator.")] = None,
    formulation: Annotated[str | None, typer.Option(help="Name of a formulation.")] = None,
    coordinates: Annotated[str | None, typer.Option(help="natural, rtdyn0 or rtdyn1.")] = None,
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
    given = _given(step=step, tolerance=tolerance, integrator=integrator, formulation=formulation, coordinates=coordinates)
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
            written += outcomes[key].write(out / key if name == "all" else out)
    if page is not None:
        from .benchmarks.page import page as page_of

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
            typer.echo(f"{len(written) - pictures} result files and {pictures} pictures are in {out}")
    passed = all(outcome.passed for outcome in outcomes.values())
    raise typer.Exit(2 if len(outcomes) < len(entries) else 0 if passed else 1)


@app.command()
def certify(
    name: Annotated[str, typer.Argument(help="Name of a benchmark with objectives.")],
    objective: Annotated[list[str] | None, typer.Option(help="Objective; may be repeated. All if not given.")] = None,
    wrt: Annotated[list[str] | None, typer.Option(help="Parameter; may be repeated. All if not given.")] = None,
    duration: Annotated[float | None, typer.Option(help="Seconds to simulate.")] = None,
    step: Annotated[float | None, typer.Option(help="Time step in seconds.")] = None,
    tolerance: Annotated[float | None, typer.Option(help="Accuracy to keep instead of a fixed step.")] = None,
    integrator: Annotated[str | None, typer.Option(help="Name of an integrator.")] = None,
    formulation: Annotated[str | None, typer.Option(help="Name of a formulation.")] = None,
    coordinates: Annotated[str | None, typer.Option(help="natural, rtdyn0 or rtdyn1.")] = None,
    wanted: Annotated[float, typer.Option(help="Digits from which on a derivative is trusted.")] = 3.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for certificate.json and certificate.png.")] = None,
) -> None:
    """Tell how many digits of a benchmark's gradient can be trusted, and why no more.

    Every road there is computes it once more, also with shorter steps; and the motion is looked at for what spoils derivatives.

    For a gradient of your own, in Python: print(m.sensitivity(…).certify()).

    Exit code 0: it is trusted; 1: it is not; 2: it could not be computed.

    Examples:

      varimech certify five-bar

      varimech certify five-bar --objective psi2 --wrt m_A1 --tolerance 1e-10 --out out/certificate
    """
    given = _given(step=step, tolerance=tolerance, integrator=integrator, formulation=formulation, coordinates=coordinates)
    gradient = find_benchmark(name).gradient(objective or (), wrt or (), duration, given)
    certificate = gradient.certify(wanted=wanted)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        certificate.save(out / "certificate.json")
        certificate.plot().savefig(out / "certificate.png")
    typer.echo(json.dumps(certificate.to_json()) if as_json else str(certificate))
    if out is not None and not as_json:
        typer.echo(f"\nits data and picture are in {out}")
    raise typer.Exit(0 if certificate.trusted else 1)


@app.command()
def export(
    name: Annotated[str, typer.Argument(help="Name of a benchmark with objectives.")],
    out: Annotated[Path, typer.Option(help="Folder to write to.")],
    target: Annotated[str, typer.Option(help="cuda (a kernel, one thread a run) or c.")] = "cuda",
    objective: Annotated[list[str] | None, typer.Option(help="Objective; may be repeated. All if not given.")] = None,
    duration: Annotated[float | None, typer.Option(help="Seconds to simulate.")] = None,
    step: Annotated[float | None, typer.Option(help="Time step in seconds.")] = None,
    tolerance: Annotated[float | None, typer.Option(help="Accuracy to keep instead of a fixed step.")] = None,
    integrator: Annotated[str | None, typer.Option(help="Name of an integrator.")] = None,
    formulation: Annotated[str | None, typer.Option(help="Name of a formulation.")] = None,
    coordinates: Annotated[str | None, typer.Option(help="natural, rtdyn0 or rtdyn1.")] = None,
) -> None:
    """Write a program for many runs at once on machines without Varimech: its source, a description, and a small runner.

    There, python run.py checks the machine against results that come with it, and python run.py samples.csv results.csv runs what a file
    asks for. It needs numpy, and cupy (cuda) or a C compiler (c).

    For a mechanism of your own, in Python: m.export("folder", objectives, target="cuda", duration=5.0).

    Examples:

      varimech export five-bar --target cuda --integrator dop853 --step 0.16667 --out out/five-bar-cuda

      varimech export spatial-slider-crank --target c --out out/slider-crank-c
    """
    given = _given(step=step, tolerance=tolerance, integrator=integrator, formulation=formulation, coordinates=coordinates)
    folder = find_benchmark(name).export(out, target, objective or (), duration, given)
    typer.echo(f"{', '.join(sorted(p.name for p in folder.iterdir()))} are in {folder}")


@app.command()
def topology(
    name: Annotated[str, typer.Argument(help="Name of a benchmark; [bold]varimech benchmark list[/] tells them.")],
    cut: Annotated[list[str] | None, typer.Option(help="Joint to cut instead of the cheapest one; may be repeated.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    out: Annotated[Path | None, typer.Option(help="File for a picture: .png, .svg or .pdf.")] = None,
) -> None:
    """Show which bodies hang on which by which joints, and where closed loops are cut: the tree that relative coordinates use.

    Each joint of the tree brings its coordinates, each joint that is cut its equations: a good cut leaves few of both.

    For a mechanism of your own, in Python: print(m.topology()), m.topology(cut=["C"]).draw().

    Examples:

      varimech topology five-bar

      varimech topology bricard --cut P6 --out bricard.png
    """
    found = find_benchmark(name).mechanism().topology(cut or ())
    if out is not None:
        figure = found.draw()
        if out.suffix[1:] not in (known := figure.canvas.get_supported_filetypes()):
            raise typer.BadParameter(f"no picture can be written as {out.name!r}; known: {', '.join(known)}", param_hint="--out")
        out.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(out)
    typer.echo(json.dumps(found.to_json()) if as_json else str(found))
    if out is not None and not as_json:
        typer.echo(f"\nits picture is {out}")


@app.command()
def methods(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Tell which formulations, integrators and coordinates there are, what each suits, and which go together.

    In Python: m.simulate(5.0, tolerance=1e-8), m.simulate(5.0, step=1e-3), m.simulate(5.0, integrator="dopri5", formulation="independent"),
    m.simulate(5.0, coordinates="rtdyn1"), …
    """
    kinds: dict[str, Mapping[str, Formulation | Integrator | Coordinates]] = {
        "formulation": FORMULATIONS,
        "integrator": INTEGRATORS,
        "coordinates": COORDINATES,
    }
    pairs = {name: integrators_of(f) for name, f in FORMULATIONS.items()}
    pairs |= {name: formulations_of(i) for name, i in INTEGRATORS.items()}
    pairs |= {name: list(FORMULATIONS) for name in COORDINATES}
    if as_json:
        rows = [
            {"kind": kind, "name": name, "title": entry.title, "suits": SUITS[name], "goes_with": pairs[name]}
            for kind, entries in kinds.items()
            for name, entry in entries.items()
        ]
        chosen = {"nothing": choose(1.0)[0].title, "step": choose(1.0, step=0.1)[0].title}
        typer.echo(json.dumps({"methods": rows, "chosen_for": chosen}))
        return
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for kind, entries in kinds.items():
        table = Table(kind, "suits", "goes with", title_justify="left", show_lines=True)
        for name in entries:
            table.add_row(name, SUITS[name], ", ".join(pairs[name]))
        console.print(table)
    console.print(f"Chosen where nothing is said, or a tolerance: {choose(1.0)[0].title}.")
    console.print(f"Chosen for equal steps (step=…): {choose(1.0, step=0.1)[0].title}.")


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
        from rich.markup import escape
        from rich.table import Table

        table = Table("what", "found", "")
        for f in findings:
            verdict = "[green]fine[/]" if f.fine else f"[yellow]{escape(f.remedy or 'look at this')}[/]"
            table.add_row(f.what, escape(f.found), verdict)
        Console().print(table)
    raise typer.Exit(0 if all(f.fine for f in findings) else 1)


def _given(**options: float | str | None) -> dict[str, float | str]:
    """Settings that were given; a benchmark has its own for the others."""
    return {key: value for key, value in options.items() if value is not None}


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

    from .benchmarks.outcome import worst

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


def main() -> None:
    """Entry point: errors of Varimech become one clear line and exit code 2."""
    try:
        app()
    except VarimechError as error:
        typer.secho(f"error: {error}", err=True, fg="red")
        raise SystemExit(2) from None
