"""Options that commands share, and loading of their model."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Mapping
from functools import wraps
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..benchmarks import BENCHMARKS
from ..core.errors import ModelError, unknown_name
from ..core.units import split_quantity
from . import completion as c

if TYPE_CHECKING:
    from ..mechanism import Mechanism

Model = Annotated[
    str,
    typer.Argument(
        help="Model file (YAML), or the name of a benchmark. [bold]varimech new my.yaml[/] writes a file.",
        autocompletion=c.models,
    ),
]
Duration = Annotated[
    str | None,
    typer.Option(help="Duration of the run in seconds, or with a unit, such as '200 ms'."),
]
Step = Annotated[
    str | None,
    typer.Option(help="Equal time steps in seconds, or with a unit, such as '1 ms'."),
]
Every = Annotated[int | None, typer.Option(help="Store every n-th of the equal steps.")]
Tolerance = Annotated[
    float | None,
    typer.Option(help="Relative error tolerance of adaptive steps, such as 1e-8."),
]
LongestStep = Annotated[
    str | None,
    typer.Option(help="Longest adaptive step in seconds, or with a unit, such as '1 ms'."),
]
Integrator = Annotated[
    str | None,
    typer.Option(
        help="Integrator, such as dopri5; [bold]varimech methods[/] lists them.",
        autocompletion=c.schemes("integrators"),
    ),
]
Formulation = Annotated[
    str | None,
    typer.Option(
        help="Formulation, such as index1; [bold]varimech methods[/] lists them.",
        autocompletion=c.schemes("formulations"),
    ),
]
Coordinates = Annotated[
    str | None,
    typer.Option(
        help="Coordinates: auto, natural, rtdyn0 or rtdyn1.",
        autocompletion=c.schemes("coordinates"),
    ),
]
Backend = Annotated[
    str | None,
    typer.Option(
        help="Execution: native (compiled), interpreted or auto.",
        autocompletion=c.one_of(*c.BACKENDS),
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Set a parameter: L=0.03 (SI units) or L='30 mm'; may be repeated.",
        autocompletion=c.named("parameters", ending="="),
    ),
]
Objective = Annotated[
    list[str] | None,
    typer.Option(
        help="Name of an objective; may be repeated. Default: all.",
        autocompletion=c.named("studies", "objectives"),
    ),
]
Wrt = Annotated[
    list[str] | None,
    typer.Option(
        help="Parameter to differentiate with respect to; may be repeated. Default: all.",
        autocompletion=c.named("parameters"),
    ),
]
WrtNone = Annotated[
    list[str] | None,
    typer.Option(
        help="Parameter to differentiate with respect to; may be repeated. Default: none.",
        autocompletion=c.named("parameters"),
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
JsonFile = Annotated[Path | None, typer.Option(help="File for the output of --json.")]
Out = Annotated[
    Path | None,
    typer.Option(help="Folder for the report (report.html), the results and the model."),
]
OutResults = Annotated[Path | None, typer.Option(help="Folder for the results and figures.")]


_RUNNING = {
    "duration": Duration,
    "step": Step,
    "every": Every,
    "tolerance": Tolerance,
    "longest_step": LongestStep,
    "integrator": Integrator,
    "formulation": Formulation,
    "coordinates": Coordinates,
    "backend": Backend,
    "set_": Set,
}
"""Options of a run, by their names in `settings`."""
_OUTPUT: dict[str, tuple[object, object]] = {"as_json": (Json, False), "out": (Out, None)}
"""Types and defaults of options for results."""


def running(*without: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add to a command its model, the options of a run except some, --json and --out, unless the
    command defines them itself; `settings` and `StudyRequest` read them.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True)
        context, *rest = own.parameters.values()
        before = [*takewhile(lambda p: p.name != "as_json", rest)]
        shared = {"model": (Model, context.empty)} if "model" not in without else {}
        running = {name: (kind, None) for name, kind in _RUNNING.items() if name not in without}
        output = {n: given for n, given in _OUTPUT.items() if n not in own.parameters}
        ordered = [
            *(context, *_parameters(shared), *before, *_parameters(running)),
            *(*rest[len(before) :], *_parameters(output)),
        ]

        @wraps(command)
        def with_options(**given: object) -> None:
            command(**{name: given[name] for name in own.parameters})

        with_options.__signature__ = own.replace(parameters=ordered)  # type: ignore[attr-defined]
        with_options.__annotations__ = {p.name: p.annotation for p in ordered}
        return with_options

    return decorate


def _parameters(given: Mapping[str, tuple[object, object]]) -> list[inspect.Parameter]:
    """Parameters of commands, from their names, types and defaults."""
    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [
        inspect.Parameter(name, positional, default=default, annotation=kind)
        for name, (kind, default) in given.items()
    ]


def find_model(name: str) -> Mechanism:
    """Load a mechanism with its studies from a model file or a benchmark.

    Raises:
        ModelError: if there is no such model."""
    from ..mechanism import Mechanism

    path = Path(name)
    if path.suffix.lower() == ".urdf":
        remedy = f"`varimech new {path.stem}.yaml --like {name}` converts it to a model file"
        raise ModelError(f"{name!r} is a URDF file", remedy=remedy)
    if path.is_file():
        return Mechanism.from_file(path)
    if name in BENCHMARKS:
        return Mechanism.from_file(BENCHMARKS[name].model_file)
    if path.is_dir():
        models = sorted(path.glob("*.y*ml"))
        example = f", such as {str(models[0])!r}" if models else ""
        raise ModelError(f"{name!r} is a folder", remedy=f"name a model file{example}")
    if path.suffix in (".yaml", ".yml") or len(path.parts) > 1:
        remedy = _similar_model(path) or f"`varimech new {name}` writes one to start from"
        raise ModelError(f"there is no file {name!r}", remedy=remedy)
    raise unknown_name("model file or benchmark", name, BENCHMARKS)


def _similar_model(path: Path) -> str:
    """A model file with a similar name in the folder, as a suggestion."""
    near = difflib.get_close_matches(
        path.name, (p.name for p in path.parent.glob("*.y*ml")), n=1, cutoff=0.75
    )
    return f"did you mean {str(path.with_name(near[0]))!r}?" if near else ""


NOT_SETTINGS = (
    *("model", "name", "as_json", "out", "page", "certify", "wanted"),
    *("set_", "objective", "target", "limit", "curve"),
)
"""Options that commands handle themselves, or under another name."""


def settings(context: typer.Context) -> dict[str, Any]:
    """Settings of the command line, for `Mechanism.study`; the file defines the others."""
    from ..core.expressions import fixed_number  # imports CasADi, which --help does not need

    options = context.params
    given = {
        name: value
        for name, value in options.items()
        if name not in NOT_SETTINGS and value not in (None, [], ())
    }
    for time in ("duration", "step", "longest_step"):
        if isinstance(text := given.get(time), str):
            given[time] = fixed_number(text, "s", time)
    if options.get("objective"):
        given["objectives"] = options["objective"]
    if options.get("limit"):
        given["limits"] = _limits(options["limit"])
    if options.get("set_"):
        given["parameters"] = dict(assignment(text) for text in options["set_"])
    return given


def assignment(text: str) -> tuple[str, str]:
    """Parameter and value of a --set option."""
    name, sign, value = text.partition("=")
    if not sign or not name.strip() or not value.strip():
        raise ModelError(
            f"--set {text!r} must be a parameter and its value, such as L=0.3 or L='30 mm'",
            value=text,
        )
    return name.strip(), value.strip()


def _limits(texts: list[str]) -> dict[str, dict[str, float | str]]:
    """Limits of --limit options, in the form of a model file."""
    limits: dict[str, dict[str, float | str]] = {}
    for text in texts:
        match = re.fullmatch(r"(.*?)(>=|<=|>|<)\s*([^<>=]+)", text.strip())
        problem = (
            f"--limit {text!r} must be an objective and a number, such as 'force>=500' or"
            " 'force>=0.5 kN'"
        )
        if match is None or not match[1].strip():
            raise ModelError(problem, value=text)
        value: float | str
        try:
            value = float(match[3])
        except ValueError:
            value = match[3].strip()
            if split_quantity(value) is None:
                raise ModelError(problem, value=text) from None
        side = "above" if match[2][0] == ">" else "below"
        of = limits.setdefault(match[1].strip(), {})
        if side in of:
            raise ModelError(f"--limit {text!r}: {match[1].strip()!r} has a limit {side} already")
        of[side] = value
    return limits
