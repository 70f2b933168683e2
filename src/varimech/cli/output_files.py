"""Output of commands: JSON, in which NaN and infinity are null; and files of a study, prepared before
the computation, each written atomically.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..core.atomic_files import write_text
from ..core.errors import ModelError

if TYPE_CHECKING:
    from ..mechanism import Mechanism


def model_text(
    mechanism: Mechanism,
    kind: str,
    given: Mapping[str, object],
    optimum: Mapping[str, float] | None = None,
) -> str:
    """Text of a model file with the values and settings of a command line, and with optimised
    values.
    """
    from ..files.study_runner import resolved, with_changes

    assert mechanism.studies is not None
    values = resolved(mechanism.data, mechanism.studies, kind, given).get("parameters") or {}
    return mechanism.to_text(
        studies=with_changes(mechanism.studies, kind, given), values={**values, **(optimum or {})}
    )


def tolerances_text(
    mechanism: Mechanism,
    kind: str,
    given: Mapping[str, object],
    nominals: Mapping[str, float],
    widths: Mapping[str, float],
) -> str:
    """Text of the model file with values of the command line, chosen nominal values and chosen
    tolerances; tolerances keep their bounds and costs.

    Args:
        mechanism: the model with its studies.
        kind: of study.
        given: settings of the command line.
        nominals: nominal values that a study chose.
        widths: parameter → tolerance that it chose.
    """
    from ..files.reading import mechanism_of_text
    from ..model.parameter import Tolerance

    changed = mechanism_of_text(type(mechanism), model_text(mechanism, kind, given, nominals))
    for name, width in widths.items():
        if isinstance(changed.parameters[name].distribution, Tolerance):
            changed.tolerance(name, width)
    return changed.to_text()


def make_folder(out: Path) -> None:
    """Create the output folder and check that it is writable."""
    trial = out / f".trial.{os.getpid()}"
    try:
        out.mkdir(parents=True, exist_ok=True)
        trial.touch()
        trial.unlink()
    except OSError as error:
        raise ModelError(
            f"--out {out}: {error.strerror or error}; give a writable folder"
        ) from None


def write(
    out: Path,
    files: Mapping[str, Callable[[Path], object]],
    results: tuple[Any, ...],
    *,
    model: str | None,
    **shown: Any,
) -> Iterator[Path]:
    """Write the model, the results, and last the report, which takes longest; yield each path."""
    from .. import report

    made: dict[str, Callable[[Path], Any]] = (
        {} if model is None else {"model.yaml": lambda path: write_text(path, model)}
    )
    made |= {**files, "report.html": lambda path: report(path, *results, model=model, **shown)}
    for name, writer in made.items():
        if name == "report.html" and sys.stderr.isatty():
            typer.echo("writing the report …", err=True)
        writer(out / name)
        yield out / name


def print_json(data: object) -> None:
    """Print JSON on one line of standard output."""
    typer.echo(_text(data))


def give_json(data: object, as_json: bool, out: Path | None) -> None:
    """Print JSON if requested, and write it to a file if a path is given."""
    if out is not None:
        write_text(out, _text(data) + "\n")
    if as_json:
        print_json(data)


def _text(data: object) -> str:
    """Standard JSON, without NaN and infinity."""
    return json.dumps(_plain(data), allow_nan=False)


def _plain(data: object) -> object:
    if isinstance(data, Mapping):
        return {key: _plain(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_plain(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data
